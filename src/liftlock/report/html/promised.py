"""What is promised about a column: in words, in exact numbers, and where they are attained."""

from __future__ import annotations

from liftlock.exact.budget import Budget
from liftlock.exact.decimals import rounded_down, rounded_up
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.notions.certificate import Claim
from liftlock.notions.lift import extremes
from liftlock.notions.reading import Witness
from liftlock.protection.result import ProtectedColumn
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
from liftlock.report.html.figures import compared, enclosed
from liftlock.report.html.guarantee import holds_for, promise
from liftlock.report.html.keeping import Kept

_QUANTITIES = {
    "max-lift": "Largest factor by which a probability rises (max-lift)",
    "min-lift": "Smallest share of a probability that is left (min-lift)",
    "eps_upper": "Largest rise, as a logarithm (eps_upper, nats)",
    "eps_lower": "Largest fall, as a logarithm (eps_lower, nats)",
    "ldp": "Largest ratio of two likelihoods, as a logarithm (LDP, nats)",
    "delta_ediv": "Largest probability of an exception (delta, ediv)",
    "delta_def5": "Largest probability of an exception (delta, def5)",
    "delta_joint": "Largest probability of an exception (delta, joint)",
    "delta_ldp": "Largest probability of an exception (delta)",
}


def guarantee_section(column: ProtectedColumn, made: Mechanism) -> Markup:
    """Say what is promised, in words and in numbers, and how it was proved."""
    certificate = made.certificate
    parts: list[Content] = [
        tag("h3", "What is promised"),
        tag(
            "div",
            tag("p", promise(made, column.name, column.secret), class_="promise"),
            tag("p", holds_for(column, made)),
            class_="promised",
        ),
    ]
    if column.secret is not None:
        kept = Kept.of(made)
        parts.append(
            tag(
                "p",
                "The promise is about ",
                named(column.secret),
                ". It does not hide ",
                named(column.name),
                " itself, which is released as it is: that keeps the promise without noise."
                if kept is not None and kept.unchanged()
                else " itself, which may often be released as it is.",
            )
        )
    if certificate.unprotected:
        parts.append(
            warned(
                "Nothing is promised about ",
                listed(certificate.unprotected),
                ": according to what is assumed these values never occur.",
            )
        )
    parts.append(_numbers(made))
    parts.append(
        tag(
            "p",
            tag("strong", "Proved. "),
            "Decided with exact arithmetic on the integers that were sampled, not on rounded "
            "numbers: ",
            tag("code", certificate.guarantee),
            f" for {certificate.context_kind}.",
        )
    )
    return markup(*parts)


def _numbers(made: Mechanism) -> Markup:
    certificate = made.certificate
    rows: list[list[Content]] = [_claim_row(claim) for claim in certificate.claims]
    stated = {claim.quantity for claim in certificate.claims}
    budgets = _nats_budgets(made)
    for name, value in certificate.nats.items():
        if name not in stated:
            budget = budgets.get(name)
            rows.append(
                [
                    _QUANTITIES.get(name, name),
                    *(
                        [enclosed(value, 10), "not limited"]
                        if budget is None
                        else _beside(value, "at most", budget.nats())
                    ),
                    "",
                ]
            )
    if "max-lift" not in stated:
        rows += _measured_lifts(made, stated)
    return table(
        "The guarantee in numbers",
        ["What", "Measured exactly", "Allowed", "Attained at"],
        rows,
        numbers=(1, 2),
    )


def _claim_row(claim: Claim) -> list[Content]:
    words = "at most" if claim.relation == "<=" else "at least"
    return [
        _QUANTITIES.get(claim.quantity, claim.quantity),
        *_beside(claim.measured, words, claim.bound),
        witnessed(claim.witness),
    ]


def _beside(measured: Enclosure, words: str, bound: Enclosure) -> list[Content]:
    """Write what was measured and what is allowed, and how little is left where it is little."""
    found, allowed, left = compared(measured, bound)
    more = tag("small", f"{left} left") if left and not left.startswith("0") else None
    return [found, [f"{words} {allowed}", tag("br") if more else None, more]]


def _nats_budgets(made: Mechanism) -> dict[str, Budget]:
    limits = made.notion.belief_limits()
    found = {"eps_upper": limits.upper, "eps_lower": limits.lower}
    return {name: budget for name, budget in found.items() if budget is not None}


def _measured_lifts(made: Mechanism, stated: set[str]) -> list[list[Content]]:
    """Return the extreme lifts, for guarantees that speak of something else."""
    found = extremes(made.channel, made.context)
    rows: list[list[Content]] = []
    for name, extreme in (("max-lift", found.largest), ("min-lift", found.smallest)):
        lift = extreme.lift
        value = Enclosure.infinity() if lift is None else Enclosure.of(lift)
        side = {"max-lift": "eps_upper", "min-lift": "eps_lower"}[name]
        limit = "as above" if side in stated else _follows(made, side)
        rows.append([_QUANTITIES[name], enclosed(value, 7), limit, witnessed(extreme.witness)])
    return rows


def _follows(made: Mechanism, side: str) -> str:
    """Say what limit of a lift follows from a guarantee about something else."""
    limits = made.notion.belief_limits()
    if side == "eps_upper" and limits.most is not None:
        return f"at most {rounded_up(limits.most, 7)}, as follows"
    if side == "eps_lower" and limits.least is not None:
        return f"at least {rounded_down(limits.least, 7)}, as follows"
    return "not limited by itself"


def witnessed(witness: Witness | None) -> Content:
    """Say where a number is attained."""
    if witness is None:
        return ""
    parts: list[Content] = []
    if witness.secret is not None:
        parts += ["secret ", named(witness.secret, 60)]
    if witness.other is not None:
        parts += [" against ", named(witness.other, 60)]
    if witness.secrets is not None:
        parts += ["secrets ", listed(witness.secrets, 3)]
    if witness.output is not None:
        parts += [", released ", named(witness.output, 60)]
    if witness.outputs is not None:
        parts += [", released ", listed(witness.outputs, 3)]
    if witness.prior is not None:
        parts.append(", under the worst of the priors")
    return markup(*parts)
