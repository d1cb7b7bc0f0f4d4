"""Write the table of what an audit measures, and the names in its schema, from the registry.

The page "Check in CI" has a line ``<!-- measures -->``; the table that replaces it is made while
the site is built. After a notion was added, store the names in the schema:

    python -m docs.hooks.measures
"""

from __future__ import annotations

import json
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from liftlock.notions.registry import AUDITED

PAGE = "howto/check-in-ci.md"
MARK = "<!-- measures -->"
SCHEMA = Path(__file__).parents[1] / "schemas" / "audit.schema.json"


def table() -> str:
    """Return the measures as a Markdown table.

    >>> print(table().splitlines()[2])
    | `lip` | [LIP](../notions/lip.md) | always |
    """
    lines = ["| Key | Notion | When |", "| --- | --- | --- |"]
    for key, (kind, when) in AUDITED.items():
        lines.append(f"| `{key}` | [{kind.title}](../notions/{kind.page}.md) | {when} |")
    return "\n".join(lines)


def names() -> list[str]:
    """Return the keys of the measurements of an audit."""
    return list(AUDITED)


def stored(text: str) -> str:
    """Return the schema with these names."""
    schema = json.loads(text)
    schema["$defs"]["name"]["enum"] = names()
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: the text of a page has been read."""
    return markdown.replace(MARK, table()) if page.file.src_uri == PAGE else markdown


if __name__ == "__main__":
    SCHEMA.write_text(stored(SCHEMA.read_text(encoding="utf-8")), encoding="utf-8")
