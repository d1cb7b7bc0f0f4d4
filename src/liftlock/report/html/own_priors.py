"""A column whose people each have a prior of their own: what holds for every one of them."""

from __future__ import annotations

from liftlock.errors import InputError
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import down_to, fold
from liftlock.exact.enclosure import Enclosure
from liftlock.local.mechanism import LocalMechanism
from liftlock.protection.result import ProtectedColumn
from liftlock.report.html.elements import Content, Markup, markup, named, table, tag
from liftlock.report.html.figures import enclosed


def own_prior_section(column: ProtectedColumn, made: LocalMechanism) -> Markup:
    """Say what is promised to every user; checked exactly against the budgets."""
    check_law(made)
    law = made.law
    lower, upper = _budgets(made)
    rows: list[list[Content]] = [
        [
            "Largest factor by which a probability rises",
            enclosed(Enclosure.of(law.largest), 10),
            f"at most e^{upper}",
        ],
        [
            "Smallest share of a probability that is left",
            enclosed(Enclosure.of(law.smallest), 10),
            f"at least e^-{lower}",
        ],
    ]
    way = {
        "arc": "Each report is a number of 32 bits. It means something only together with the "
        "prior of its user.",
        "safe-response": "Each report is a value: the true one with a probability that suits the "
        "prior of its user, and otherwise another.",
    }.get(made.method, "")
    return markup(
        tag("h3", "What is promised"),
        tag(
            "div",
            tag("p", own_promise(column, made), class_="promise"),
            tag(
                "p",
                "This holds for every user, under the prior of that user, whatever it is. A value "
                "to which it gives probability 0 is refused, not released.",
            ),
            class_="promised",
        ),
        table(
            "The guarantee in numbers",
            ["What", "By the law of the method", "Allowed"],
            rows,
            numbers=(1, 2),
        ),
        tag(
            "p",
            tag("strong", "Proved. "),
            "Compared with exact arithmetic on the integers of the law that is sampled: ",
            tag("code", made.guarantee),
            ".",
        ),
        tag("p", way) if way else None,
    )


def own_promise(column: ProtectedColumn, made: LocalMechanism) -> Markup:
    """Say the promise in one sentence."""
    law = made.law
    return markup(
        "Whoever sees the released ",
        named(column.name),
        " of a person, and knows that person's own prior, may raise the probability of any true ",
        named(column.name),
        f" at most {fold(law.largest)}, and lower it at most to {down_to(law.smallest)} of what it "
        "was.",
    )


def check_law(made: LocalMechanism) -> None:
    """Refuse to print a promise that the integers of the law do not keep."""
    lower, upper = _budgets(made)
    law = made.law
    if not upper.allows(law.largest) or law.smallest <= 0 or not lower.allows(1 / law.smallest):
        raise InputError(
            f"the law of {made.method} does not keep {made.guarantee}",
            value=f"{float(law.smallest):.10g} to {float(law.largest):.10g}",
            remedy="make the mechanism again",
        )


def _budgets(made: LocalMechanism) -> tuple[Budget, Budget]:
    limits = made.notion.lift_limits()
    assert limits is not None
    lower, upper = limits
    assert lower is not None
    assert upper is not None
    return lower, upper
