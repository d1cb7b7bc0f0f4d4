"""Put into a page what its commands print, where every notion has a line.

A line ``<!-- printed -->`` below a command stands for all that it prints: the page is run while the
site is built, as the tests of the documentation run it. So a new notion edits no page but its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from tests.docs.pages import PRINTED, has_marks, run, without_fingerprints


def printed(path: Path) -> Iterator[tuple[str, str]]:
    """Run a page; return its commands that are to be filled in, each with what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        for shown in run(path, Path(folder)):
            if shown.expected.strip() == PRINTED:
                yield f"$ {shown.what}\n", without_fingerprints(shown.printed)


def filled(markdown: str, path: Path) -> str:
    """Return the text of a page with what its commands print."""
    for command, text in printed(path) if has_marks(markdown) else ():
        markdown = markdown.replace(command + PRINTED, command + text, 1)
    return markdown


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: the text of a page has been read."""
    path = page.file.abs_src_path  # pages that are made have none
    return markdown if path is None else filled(markdown, Path(path))
