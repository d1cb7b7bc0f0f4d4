"""What a guarantee promises, in plain words: never more than its certificate proves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from liftlock.context import Joint, PriorSet
from liftlock.errors import NotCertified
from liftlock.exact.budget import Budget
from liftlock.exact.numbers import exact
from liftlock.mechanism import Mechanism
from liftlock.notions.notion import Notion
from liftlock.notions.registry import REGISTRY
from liftlock.protection.result import ProtectedColumn
from liftlock.report.html.elements import Content, Markup, markup, named
from liftlock.report.html.figures import down_to, fold, rounded_up


@dataclass(frozen=True)
class Sides:
    """How far a guarantee lets beliefs move, as factors; None where it sets no limit."""

    most: Budget | None
    """The belief in a secret rises by at most this factor."""
    least: Budget | None
    """It falls by at most this factor."""

    @property
    def up(self) -> Fraction | None:
        """The largest factor, on the safe side."""
        return None if self.most is None else self.most.exp().upper

    @property
    def down(self) -> Fraction | None:
        """The smallest share that is left, on the safe side."""
        if self.least is None:
            return None
        top = self.least.exp().upper
        return None if top is None else 1 / top


def sides_of(notion: Notion) -> Sides:
    """Return the limits that a guarantee sets to beliefs; none for one that is about other things.

    >>> from liftlock.notions.alip import ALIP
    >>> found = sides_of(ALIP(lower="1.3", upper="0.7"))
    >>> round(float(found.up), 4), round(float(found.down), 4)
    (2.0138, 0.2725)
    """
    budgets = notion.budgets
    if notion.name == "lip":
        both = Budget.of(budgets["epsilon"])
        return Sides(both, both)
    if notion.name == "alip":
        return Sides(Budget.of(budgets["upper"]), Budget.of(budgets["lower"]))
    if notion.name == "eps_upper":
        return Sides(Budget.of(budgets["budget"]), None)
    if notion.name == "eps_lower":
        return Sides(None, Budget.of(budgets["budget"]))
    if notion.name == "ldp":
        # The belief after is at most e^epsilon times the one before, under every prior.
        both = Budget.of(budgets["budget"])
        return Sides(both, both)
    return Sides(None, None)


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

    >>> from liftlock.notions.alip import MaxLift
    >>> print(promise_of(MaxLift("ln 2"), "job", "home").replace("bdi>", "b>"))
    Whoever sees the released “<b>job</b>” of a person may raise the probability of any
    “<b>home</b>” at most 2-fold. How far it may fall is not limited: a value may be ruled out.
    """
    write = _PROMISES.get(notion.name, _other)
    return write(notion, named(column), _about(column, secret))


def _about(column: str, secret: str | None) -> Markup:
    return markup("true ", named(column)) if secret is None else named(secret)


def moves(up: Fraction | None, down: Fraction | None) -> str:
    """Say how far a probability may move, as the end of a sentence.

    >>> moves(Fraction(2), Fraction(1, 4)).replace(chr(160), " ")
    'at most 2-fold, and lower it at most to 25 % of what it was'
    """
    most = "without limit" if up is None else f"at most {fold(up)}"
    if down is None or down == 0:
        return f"{most}, and may rule it out"
    return f"{most}, and lower it at most to {down_to(down)} of what it was"


def _lift(notion: Notion, column: Markup, secret: Markup) -> Markup:
    limits = sides_of(notion)
    start: list[Content] = ["Whoever sees the released ", column, " of a person may "]
    if limits.most is not None and limits.least is not None:
        return markup(
            *start,
            "raise the probability of any ",
            secret,
            f" {moves(limits.up, limits.down)}.",
        )
    if limits.most is not None:
        return markup(
            *start,
            "raise the probability of any ",
            secret,
            f" at most {fold(limits.up)}. How far it may fall is not limited: a value may be "
            "ruled out.",
        )
    assert limits.down is not None
    return markup(
        *start,
        "lower the probability of any ",
        secret,
        f" at most to {down_to(limits.down)} of what it was. How far it may rise is not limited "
        "directly, only through what the falls of all the others leave.",
    )


def _ldp(notion: Notion, column: Markup, secret: Markup) -> Markup:
    most = fold(Budget.of(notion.budgets["budget"]).exp().upper)
    return markup(
        "Every value that may be released as ",
        column,
        " is at most ",
        most.replace("-fold", " times"),
        " as likely for people with one ",
        secret,
        " as for people with any other.",
    )


_BEYOND = "Single values may go beyond the factor, and nothing is said of how far."


def _chance(notion: Notion) -> tuple[str, str]:
    """Return the factor and delta of a notion with both, as text on the safe side."""
    top = Budget.of(notion.budgets["epsilon"]).exp().upper
    assert top is not None
    return rounded_up(top), rounded_up(exact(notion.budgets["delta"]))


def _ediv(notion: Notion, column: Markup, secret: Markup) -> Markup:
    factor, delta = _chance(notion)
    return markup(
        "Take any set of values that may be released as ",
        column,
        ". Among people with any one ",
        secret,
        f" it is at most {factor} times as likely as among everybody, plus {delta}; and among "
        f"everybody at most {factor} times as likely as among them, plus {delta}. {_BEYOND}",
    )


def _def5(notion: Notion, column: Markup, secret: Markup) -> Markup:
    factor, delta = _chance(notion)
    return markup(
        "Take any set of values that may be released as ",
        column,
        ", and its probability among everybody. Among people with any one ",
        secret,
        f" it is at most {factor} times that probability with {delta} added to it; and among "
        f"everybody it is at most {factor} times what it is among them, plus {delta}. {_BEYOND}",
    )


def _joint(notion: Notion, column: Markup, secret: Markup) -> Markup:
    factor, delta = _chance(notion)
    return markup(
        "Take any set of values that may be released as ",
        column,
        " and any one ",
        secret,
        ": the probability that both occur is, up to ",
        f"{delta}, at most {factor} times what it would be if they had nothing to do with each "
        f"other, and the other way round. For a rare ",
        secret,
        " this promises little.",
    )


def _ldp_delta(notion: Notion, column: Markup, secret: Markup) -> Markup:
    factor, delta = _chance(notion)
    return markup(
        "Take any set of values that may be released as ",
        column,
        f": it is at most {factor} times as likely, plus {delta}, for people with one ",
        secret,
        f" as for people with any other. {_BEYOND}",
    )


def _other(notion: Notion, column: Markup, secret: Markup) -> Markup:
    said = REGISTRY[notion.name].says if notion.name in REGISTRY else notion.name
    budgets = ", ".join(f"{name} {value}" for name, value in notion.budgets.items())
    return markup(
        "What the released ",
        column,
        " tells about ",
        secret,
        f" is limited in this sense: {said} ({budgets}). This is a limit on average or of another "
        "kind; it does not by itself limit the change of every single belief.",
    )


_PROMISES: dict[str, Callable[[Notion, Markup, Markup], Markup]] = {
    "lip": _lift,
    "alip": _lift,
    "eps_upper": _lift,
    "eps_lower": _lift,
    "ldp": _ldp,
    "lip_ediv": _ediv,
    "lip_def5": _def5,
    "lip_joint": _joint,
    "ldp_delta": _ldp_delta,
}


def needs_prior(made: Mechanism) -> bool:
    """Tell whether a promise depends on what an observer expects beforehand."""
    return made.notion.name not in ("ldp", "ldp_delta") or isinstance(made.context, Joint)


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
