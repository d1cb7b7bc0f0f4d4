"""Write the table of notions, and list their pages in the navigation, from the registry.

The page of a notion says in its front matter, under ``overview``, what the table on the page "The
notions" shows of it; the first name is that of the page in the navigation. Both are in the order
of the registry while the site is built, so a notion is added without editing either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils.meta import get_data

from liftlock.notions.registry import REGISTRY

FOLDER = Path(__file__).parents[1] / "notions"
PAGE = "notions/overview.md"
MARK = "<!-- notions -->"
SECTION = "Notions"


def pages() -> list[str]:
    """Return the page of each notion.

    >>> pages()[:3]
    ['lip', 'alip', 'approximate_lip']
    """
    return list(dict.fromkeys(kind.page for kind in REGISTRY.values()))


def rows(page: str) -> list[dict[str, Any]]:
    """Return what the table shows of the notions of one page."""
    _, meta = get_data((FOLDER / f"{page}.md").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = meta.get("overview", [])
    return found


def table() -> str:
    """Return the notions as a Markdown table; what is made of several notions comes last."""
    lines = [
        "| Notion | written | over secrets | over outputs | prior | counts |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for page in (*pages(), "bounded_prior"):
        for row in rows(page):
            written = ", ".join(f"`{key}`" for key in row["written"])
            words = (row[name] for name in ("secrets", "outputs", "prior", "counts"))
            lines.append(f"| [{row['name']}]({page}.md) | {written} | {' | '.join(words)} |")
    return "\n".join(lines)


def navigation() -> list[dict[str, str]]:
    """Return the pages of the notions with their names, as the navigation lists them."""
    return [{rows(page)[0]["name"]: f"notions/{page}.md"} for page in pages()]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """MkDocs event: the settings have been read."""
    for section in config.nav or []:
        section.get(SECTION, []).extend(navigation())
    return config


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: the text of a page has been read."""
    return markdown.replace(MARK, table()) if page.file.src_uri == PAGE else markdown
