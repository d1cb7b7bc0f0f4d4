"""Write the tables of designs, utilities and ways of solving from their registries.

A page has a line ``<!-- designs -->``, ``<!-- profile designs -->`` or ``<!-- utilities -->``, ...;
the table that replaces it is made while the site is built, so it cannot be out of date.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from liftlock._solver.reductions import REDUCTIONS
from liftlock._solver.strategies import STRATEGIES
from liftlock.designs.base import Design
from liftlock.designs.catalogue import DESIGNS, designs_for
from liftlock.utility.registry import REGISTRY

PAGES = Path(__file__).parents[1] / "designs"


def page_of(entry: Design) -> str:
    """Return the name of the page that explains a design: its own, or that of its module.

    >>> page_of(DESIGNS["safe-response"]), page_of(DESIGNS["oue"])
    ('safe_response.md', 'unary_encoding.md')
    """
    own = f"{entry.make.__name__}.md"
    return own if (PAGES / own).exists() else f"{entry.make.__module__.rpartition('.')[2]}.md"


def navigation(settings: str) -> dict[str, list[dict[str, str]]]:
    """Return by section the pages of designs that the settings of the site do not list.

    >>> navigation("designs/")["Designs"][0]
    {'Optimal': 'designs/optimal.md'}
    """
    found: dict[str, list[dict[str, str]]] = {"Designs": [], "Designs for profiles": []}
    for entry in DESIGNS.values():
        page = f"designs/{page_of(entry)}"
        section = found["Designs for profiles" if "profiles" in entry.contexts else "Designs"]
        title = (PAGES.parent / page).read_text(encoding="utf-8").partition("\n")[0]
        line = {title.removeprefix("# "): page}
        if f": {page}\n" not in settings and line not in section:
            section.append(line)
    return found


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """MkDocs event: the settings have been read."""
    settings = Path(config.config_file_path).read_text(encoding="utf-8")
    for name, pages in navigation(settings).items():
        for section in config.nav or []:
            section.get(name, []).extend(pages)
    return config


def designs() -> str:
    """Return the designs as a Markdown table."""
    lines = [
        "| Method | What it does | Promises | Notions | Contexts | Source |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for key, entry in DESIGNS.items():
        if "profiles" in entry.contexts:
            continue
        cells = [
            f"[`{key}`]({page_of(entry)})" + ("" if entry.keeps else " \\*"),
            entry.summary + (f" (needs {entry.needs})" if entry.needs else ""),
            entry.promises,
            ", ".join(f"`{name}`" for name in entry.notions),
            ", ".join(entry.contexts),
            entry.source,
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def profile_designs() -> str:
    """Return the designs for graphs of profiles as a Markdown table."""
    lines = ["| Method | What it does | Promises | Source |", "| --- | --- | --- | --- |"]
    for key, entry in designs_for("profiles").items():
        cells = [
            f"[`{key}`]({page_of(entry)})",
            entry.summary + (f" (needs {entry.needs})" if entry.needs else ""),
            entry.promises,
            entry.source,
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def utilities() -> str:
    """Return the utilities as a Markdown table."""
    lines = ["| `--utility` | What it is |", "| --- | --- |"]
    lines += [f"| `{name}` | {entry.summary} |" for name, entry in REGISTRY.items()]
    return "\n".join(lines)


def reductions() -> str:
    """Return the reductions of the solver as a Markdown table."""
    lines = ["| Reduction | What it does | Where | The bound |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{each.name}` | {each.summary} | {each.when} | {each.loses} |" for each in REDUCTIONS
    ]
    return "\n".join(lines)


def strategies() -> str:
    """Return the strategies of the solver as a Markdown table."""
    lines = ["| `how` | What it does | Where it is the best |", "| --- | --- | --- |"]
    lines += [f"| `{each.name}` | {each.summary} | {each.when} |" for each in STRATEGIES]
    return "\n".join(lines)


TABLES: dict[str, Callable[[], str]] = {
    "<!-- designs -->": designs,
    "<!-- profile designs -->": profile_designs,
    "<!-- utilities -->": utilities,
    "<!-- reductions -->": reductions,
    "<!-- strategies -->": strategies,
}
"""The marks, and what they stand for."""


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """MkDocs event: the text of a page has been read."""
    for mark, table in TABLES.items():
        if mark in markdown:
            markdown = markdown.replace(mark, table())
    return markdown
