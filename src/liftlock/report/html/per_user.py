"""A column whose people each have a prior of their own: what holds for every one of them."""

from __future__ import annotations

from liftlock.errors import InputError
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import down_to, fold
from liftlock.exact.enclosure import Enclosure
from liftlock.forms import UserChannel
from liftlock.forms.user_channel import budget_text
from liftlock.mechanism import Mechanism
from liftlock.protection.result import ProtectedColumn
from liftlock.report.html.elements import Content, Markup, markup, named, table, tag
from liftlock.report.html.figures import enclosed


def own_prior_section(column: ProtectedColumn, made: Mechanism) -> Markup:
    """Say what is promised to every user; checked exactly against the budgets."""
    channel = check_law(made)
    rows: list[list[Content]] = []
    for (lower, upper), law in zip(channel.limits, channel.laws, strict=True):
        who = "" if len(channel.laws) == 1 else f", budget {budget_text((lower, upper))}"
        rows += [
            [
                f"Largest factor by which a probability rises{who}",
                enclosed(Enclosure.of(law.largest), 10),
                f"at most e^{upper}",
            ],
            [
                f"Smallest share of a probability that is left{who}",
                enclosed(Enclosure.of(law.smallest), 10),
                f"at least e^-{lower}",
            ],
        ]
    way = {
        "arc": "Each report is a number of 32 bits. It means something only together with the "
        "prior of its user.",
        "safe-response": "Each report is a value: the true one with a probability that suits the "
        "prior of its user, and otherwise another.",
    }.get(channel.form, "")
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
            tag("code", made.certificate.guarantee),
            ".",
        ),
        tag("p", way) if way else None,
    )


def own_promise(column: ProtectedColumn, made: Mechanism) -> Markup:
    """Say the promise in one sentence."""
    law = _channel(made)
    return markup(
        "Whoever sees the released ",
        named(column.name),
        " of a person, and knows that person's own prior, may raise the probability of any true ",
        named(column.name),
        f" at most {fold(law.largest)}, and lower it at most to {down_to(law.smallest)} of what it "
        "was.",
    )


def check_law(made: Mechanism) -> UserChannel:
    """Return the laws of a mechanism, or refuse to print a promise that their integers break."""
    channel = _channel(made)
    asked = [(_budgets(made), channel), *zip(channel.limits, channel.laws, strict=True)]
    for (lower, upper), law in asked:
        if not upper.allows(law.largest) or law.smallest <= 0 or not lower.allows(1 / law.smallest):
            raise InputError(
                f"the law of {channel.form} does not keep {made.certificate.guarantee}",
                value=f"{float(law.smallest):.10g} to {float(law.largest):.10g}",
                remedy="make the mechanism again",
            )
    return channel


def _channel(made: Mechanism) -> UserChannel:
    assert isinstance(made.channel, UserChannel)
    return made.channel


def _budgets(made: Mechanism) -> tuple[Budget, Budget]:
    limits = made.notion.lift_limits()
    assert limits is not None
    lower, upper = limits
    assert lower is not None
    assert upper is not None
    return lower, upper
