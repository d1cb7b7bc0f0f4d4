"""Write the table of rules on the page "Relations" from the rules themselves.

The page has a line ``<!-- rules -->``; the table that replaces it is made from
`liftlock.notions.rules.RULES` while the site is built, so it cannot be out of date.
"""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from liftlock.notions.registry import REGISTRY, TITLES
from liftlock.notions.rules import RULES

PAGE = "notions/relations.md"
MARK = "<!-- rules -->"


def link(key: str) -> str:
    """Name a notion and link to its page.

    >>> link("eps_upper")
    '[eps_upper (max-lift)](alip.md)'
    """
    return f"[{TITLES[key]}]({REGISTRY[key].page}.md)"


def table() -> str:
    """Return the rules as a Markdown table."""
    lines = [
        "| A bound on | follows from | by | prior needed | source |",
        "| --- | --- | --- | --- | --- |",
    ]
    for rule in RULES:
        needs = " and ".join(link(key) for key in rule.needs) or "nothing"
        prior = "yes" if rule.needs_prior else ""
        formula = rule.formula.replace("|", "\\|")
        source = rule.source.replace("|", "\\|")
        lines.append(f"| {link(rule.gives)} | {needs} | `{formula}` | {prior} | {source} |")
    return "\n".join(lines)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: the text of a page has been read."""
    return markdown.replace(MARK, table()) if page.file.src_uri == PAGE else markdown
