"""Keep a number and its percent sign on one line."""

from __future__ import annotations

import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

CODE = re.compile(r"(<(pre|code|script|style|math)\b.*?</\2>|<[^>]*>)", re.DOTALL)


def render(text: str) -> str:
    """Put a no-break space before every percent sign outside of code.

    >>> render("<p>10 % <code>10 %</code></p>")
    '<p>10&nbsp;% <code>10 %</code></p>'
    """
    parts = CODE.split(text)
    # Three parts for each match: the text before it, the match, and the name of its element.
    for place in range(0, len(parts), 3):
        parts[place] = re.sub(r"(\d) %", r"\1&nbsp;%", parts[place])
    return "".join(part or "" for place, part in enumerate(parts) if place % 3 != 2)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: a page has been turned into HTML."""
    return render(html)
