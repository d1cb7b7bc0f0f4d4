"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from liftlock._runtime.storage import check_writable, write_atomically
from liftlock.report.format import percent
from liftlock.report.html.charts import place
from liftlock.report.html.markup import breakable, finished, listed, named
from liftlock.report.html.tones import tone_rules
from liftlock.report.html.view import PageView

if TYPE_CHECKING:
    from liftlock.tables.protect.result import Protection


def html_report(protection: Protection) -> str:
    """Write what protecting a table came to as one HTML page that needs nothing else.

    It has no script and loads nothing; equal protections give equal pages.
    """
    from liftlock import __version__

    page = _templates().get_template("page.html")
    return page.render(page=PageView(protection, __version__), style=style_sheet())


def write_report(protection: Protection, path: str | os.PathLike[str]) -> None:
    """Write the report to a file; an interrupted write leaves the old file whole."""
    target = Path(path)
    check_writable(target)
    write_atomically(target, html_report(protection))


def style_sheet() -> Markup:
    """Return all rules; paper always gets the light colours."""
    dark = f"@media screen and (prefers-color-scheme:dark){{{tone_rules(dark=True)}}}"
    return Markup(_templates().get_template("style.css").render() + tone_rules(dark=False) + dark)


@cache
def _templates() -> Environment:
    """Return the templates: whatever they are handed is escaped unless it is markup already."""
    made = Environment(
        loader=PackageLoader("liftlock.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: finished(value) if isinstance(value, str) else value,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "breakable": breakable,
        "listed": listed,
        "named": named,
        "percent": percent,
        "place": place,
    }
    return made
