"""The report as one page: head, verdict, contents, and a section for each thing to know."""

from __future__ import annotations

import os
from pathlib import Path

from liftlock.protection.limits import exceeds
from liftlock.protection.result import ProtectedColumn, Protection
from liftlock.report.amounts import counted
from liftlock.report.html.beliefs import lift_section
from liftlock.report.html.elements import (
    Content,
    Markup,
    listed,
    markup,
    named,
    table,
    tag,
    warned,
)
from liftlock.report.html.guarantee import holds_for, promise
from liftlock.report.html.keeping import headline
from liftlock.report.html.limits import limits_section
from liftlock.report.html.marginals import marginal_section
from liftlock.report.html.origins import origin_section
from liftlock.report.html.others import others_section
from liftlock.report.html.outlook import curve_section, trust_section
from liftlock.report.html.per_user import own_prior_section, own_promise
from liftlock.report.html.promised import guarantee_section
from liftlock.report.html.style import style_sheet
from liftlock.report.html.together import together_section
from liftlock.report.html.usefulness import utility_section
from liftlock.storage import check_writable, write_atomically

_MOST_PROMISES = 5
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser may load for this page: nothing."""


def html_report(protection: Protection) -> str:
    """Write what protecting a table came to as one HTML page that needs nothing else.

    It has no script and loads nothing; equal protections give equal pages.
    """
    sections = [
        _column_section(column, place) for place, column in enumerate(protection.columns, start=1)
    ]
    body = markup(
        _head(protection),
        tag(
            "main",
            sections,
            together_section(protection),
            others_section(protection),
            _notes(protection),
            limits_section(protection),
        ),
        _foot(protection),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"Privacy report: {protection.source}"),
        Markup(f"<style>{style_sheet()}</style>"),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', body), lang='en')}\n"


def write_report(protection: Protection, path: str | os.PathLike[str]) -> None:
    """Write the report to a file; an interrupted write leaves the old file whole."""
    place = Path(path)
    check_writable(place)
    write_atomically(place, html_report(protection))


# --- the head -------------------------------------------------------------------------------------


def _head(protection: Protection) -> Markup:
    return tag(
        "header",
        tag("p", "Privacy report", class_="eyebrow"),
        tag("h1", "How ", named(protection.source), " was protected"),
        _verdict(protection),
        _facts(protection),
        _contents(protection),
    )


def _verdict(protection: Protection) -> Markup:
    """Say in a sentence what is promised, and right after it what that does not cover."""
    columns = protection.columns
    said: list[Content] = []
    if len(columns) == 1:
        only = columns[0]
        said.append(tag("p", _promise(only)))
        if not only.mechanism.per_user:
            said.append(tag("p", holds_for(only, only.mechanism)))
        said.append(tag("p", "This was proved with exact arithmetic."))
    else:
        said.append(
            tag(
                "p",
                f"{counted(len(columns), 'column')} are protected: ",
                listed([column.name for column in columns]),
                ". What each of them may tell is limited, and each limit was proved with exact "
                "arithmetic, for the observer that its section describes.",
            )
        )
        if len(columns) <= _MOST_PROMISES:
            said.append(tag("ul", [tag("li", _promise(column)) for column in columns]))
    parts: list[Content] = [tag("div", said, class_="verdict")]
    for place, column in enumerate(columns, start=1):
        if column.in_table is not None and not column.in_table.holds:
            parts.append(
                warned(
                    "By the counts of this table, ",
                    named(column.name),
                    " tells more than is promised: the promise rests on statistics that do not fit "
                    "it. ",
                    tag("a", "See how much", href=f"#column-{place}-trust"),
                    ".",
                )
            )
    beyond = exceeds(protection)
    if beyond:
        parts.append(
            warned(
                "The released columns together may tell more about ",
                listed(beyond),
                " than the budget of one of them. ",
                tag("a", "See how much", href="#together"),
                ".",
            )
        )
    if protection.kept:
        names = listed(dict.fromkeys(column.name for column in protection.kept))
        parts.append(
            warned(
                "Columns that were kept as they are tell more about a secret than the budget "
                "allows: ",
                names,
                ". ",
                tag("a", "See how much", href="#others"),
                ".",
            )
        )
    return markup(*parts)


def _promise(column: ProtectedColumn) -> Markup:
    if column.mechanism.per_user:
        return own_promise(column, column.mechanism)
    return promise(column.mechanism, column.name, column.secret)


def _facts(protection: Protection) -> Markup:
    rows: list[list[Content]] = []
    for column in protection.columns:
        made = column.mechanism
        kept = "" if made.per_user else headline(made)
        rows.append(
            [
                named(column.name),
                "the value itself" if column.secret is None else named(column.secret),
                tag("code", made.certificate.guarantee, class_="whole"),
                kept,
            ]
        )
    about: list[Content] = [f"{counted(protection.rows, 'row')} of ", named(protection.source)]
    if protection.output:
        about += [", released as ", named(protection.output)]
    if protection.day:
        about.append(f" on {protection.day}")
    return table(about, ["Column", "Secret", "Guarantee", "What is kept"], rows)


def _contents(protection: Protection) -> Markup:
    entries: list[tuple[str, Content]] = [
        (f"column-{place}", ["The column ", named(column.name)])
        for place, column in enumerate(protection.columns, start=1)
    ]
    if protection.combined:
        entries.append(("together", "What the columns tell together"))
    if protection.kept or protection.dropped:
        entries.append(("others", "The other columns"))
    if protection.notes:
        entries.append(("notes", "Notes"))
    entries.append(("limits", "What is not promised"))
    items = [tag("li", tag("a", text, href=f"#{key}")) for key, text in entries]
    return tag("nav", tag("ol", items), class_="contents", aria_label="Contents")


# --- sections -------------------------------------------------------------------------------------


def _column_section(column: ProtectedColumn, place: int) -> Markup:
    made = column.mechanism
    key = f"column-{place}"
    parts: list[Content] = [tag("h2", "The column ", named(column.name), id=key)]
    if made.per_user:
        parts.append(own_prior_section(column, made))
    else:
        parts += [
            guarantee_section(column, made),
            lift_section(column, made, f"{key}-lifts"),
            utility_section(column, made, f"{key}-channel"),
            marginal_section(column, made),
        ]
    parts.append(curve_section(column, made.certificate.guarantee, f"{key}-curve"))
    parts.append(trust_section(column, f"{key}-trust"))
    if column.notes:
        parts.append(tag("h3", "Notes"))
        parts.append(tag("ul", [tag("li", note) for note in column.notes]))
    parts.append(origin_section(column, made))
    return tag("section", parts)


def _notes(protection: Protection) -> Markup | None:
    if not protection.notes:
        return None
    return tag(
        "section",
        tag("h2", "Notes", id="notes"),
        tag("ul", [tag("li", note) for note in protection.notes]),
    )


def _foot(protection: Protection) -> Markup:
    from liftlock import __version__

    file: Content = ""
    if protection.sha256:
        file = tag(
            "p",
            "This report is about the file ",
            named(protection.output or "released"),
            " whose SHA-256 is ",
            tag("code", protection.sha256, class_="print"),
            ".",
        )
    return tag(
        "footer",
        file,
        tag(
            "p",
            f"Written by liftlock {__version__}. This page loads nothing and runs no script. A "
            "factor is the probability after a release over the probability before it; nats are "
            "natural logarithms of such factors.",
        ),
    )
