"""What a guarantee promises, in plain words: never more than its certificate proves."""

from __future__ import annotations

from string import Formatter

from liftlock.context import Joint, PriorSet
from liftlock.errors import NotCertified
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.protection.result import ProtectedColumn
from liftlock.report.html.elements import Content, Markup, markup, named


def as_counted(column: ProtectedColumn) -> bool:
    """Tell whether what is assumed is what the table says: counted there, and not smoothed."""
    return column.learned and column.in_table is None


def promise(made: Mechanism, column: str, secret: str | None) -> Markup:
    """Say what is promised about a column, in one or two sentences."""
    if not made.certificate.holds:
        raise NotCertified(made.certificate, "none asked for")
    said = promise_of(made.notion, column, secret)
    if made.column is None or not made.column.keeps_missing:
        return said
    return markup(
        said,
        " This is about people who have a ",
        named(column),
        ", and what was believed of those: who has none can be seen.",
    )


def promise_of(notion: Notion, column: str, secret: str | None) -> Markup:
    """Say what a guarantee promises.

    >>> from liftlock.notions.lip import MaxLift
    >>> print(promise_of(MaxLift("ln 2"), "job", "home").replace("bdi>", "b>"))
    Whoever sees the released “<b>job</b>” of a person may raise the probability of any
    “<b>home</b>” at most 2-fold. How far it may fall is not limited: a value may be ruled out.
    """
    return filled(notion.promise, column=named(column), secret=_about(column, secret))


def filled(text: str, **names: Markup) -> Markup:
    """Put names in the places of a text."""
    parts: list[Content] = []
    for before, name, _, _ in Formatter().parse(text):
        parts += [before, names[name] if name else ""]
    return markup(*parts)


def _about(column: str, secret: str | None) -> Markup:
    return markup("true ", named(column)) if secret is None else named(secret)


def needs_prior(made: Mechanism) -> bool:
    """Tell whether a promise depends on what an observer expects beforehand."""
    return not made.notion.context_free or isinstance(made.context, Joint)


def holds_for(column: ProtectedColumn, made: Mechanism) -> Markup:
    """Say for whom the promise holds: what an observer may know beforehand."""
    context = made.context
    if not needs_prior(made):
        return markup("This holds whatever the observer knows beforehand.")
    if as_counted(column):
        source = "in this table"
    elif column.learned:
        source = "in this table, after its counts were smoothed"
    else:
        source = "in the statistics that were given"
    if isinstance(context, PriorSet):
        return markup(
            "This holds for an observer who has any of these expectations beforehand: ",
            f"{context.describe()}.",
        )
    if column.secret is None:
        return markup(
            "This holds for an observer who knows of the person only how common each ",
            named(column.name),
            f" is {source}.",
        )
    return markup(
        "This holds for an observer who knows of the person only how often each ",
        named(column.secret),
        " goes with each ",
        named(column.name),
        f" {source}.",
    )
