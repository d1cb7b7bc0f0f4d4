"""Write the table of what an audit measures, and the names in its schema, from the registry.

The page "Check in CI" has a line ``<!-- measures -->``; the table that replaces it is made while
the site is built. The schema of an audit is published with the names of the measures.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import indent

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from liftlock.notions.registry import AUDITED

PAGE = "howto/check-in-ci.md"
MARK = "<!-- measures -->"
SCHEMA = Path(__file__).parents[1] / "schemas" / "audit.schema.json"
SHOWN = re.compile(rf'^( *)--8<-- "docs/schemas/{re.escape(SCHEMA.name)}"$', re.MULTILINE)


def table() -> str:
    """Return the measures as a Markdown table.

    >>> print(table().splitlines()[2])
    | `lip` | [LIP](../notions/lip.md) | always |
    """
    lines = ["| Key | Notion | When |", "| --- | --- | --- |"]
    for key, (kind, when) in AUDITED.items():
        lines.append(f"| `{key}` | [{kind.title}](../notions/{kind.page}.md) | {when} |")
    return "\n".join(lines)


def schema() -> str:
    """Return the schema of an audit, with the names of all that it may measure."""
    data = json.loads(SCHEMA.read_text(encoding="utf-8"))
    name = data["$defs"]["name"]
    data["$defs"]["name"] = {"description": name["description"], "enum": list(AUDITED)}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """MkDocs event: the files of the site are known."""
    name = f"schemas/{SCHEMA.name}"
    files.remove(files.src_uris[name])
    files.append(File.generated(config, name, content=schema()))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: the text of a page has been read."""
    markdown = SHOWN.sub(lambda found: indent(schema().rstrip(), found[1]), markdown)
    return markdown.replace(MARK, table()) if page.file.src_uri == PAGE else markdown
