"""What another budget would cost, and how far to trust what was learned."""

from __future__ import annotations

from liftlock.protection.result import InTable, ProtectedColumn, Resampled
from liftlock.report.amounts import amount, nats
from liftlock.report.html.curves import scale_text, trade_off
from liftlock.report.html.elements import (
    Content,
    Markup,
    figure,
    markup,
    named,
    table,
    tag,
    warned,
)
from liftlock.report.html.figures import percent
from liftlock.report.html.guarantee import as_counted, needs_prior


def curve_section(column: ProtectedColumn, chosen: str, key: str) -> Markup | None:
    """Show what stricter and looser budgets would cost."""
    curve = column.curve
    if curve is None or not curve.points:
        return None
    better = "more" if curve.larger_is_better else "less"
    points = sorted(curve.points, key=lambda point: point.scale)
    span = curve.truth - curve.nothing
    rows: list[list[Content]] = []
    for point in points:
        share = "" if not span else percent((point.utility - curve.nothing) / span)
        own = point.scale == 1
        rows.append(
            [
                tag("strong", "chosen") if own else scale_text(point.scale),
                tag("code", point.guarantee, class_="whole"),
                amount(point.utility, 5),
                share,
            ]
        )
    rows.append(["no release", "everything is protected", amount(curve.nothing, 5), percent(0.0)])
    rows.append(["the truth", "nothing is protected", amount(curve.truth, 5), percent(1.0)])
    return markup(
        tag("h3", "What a stricter or looser budget would cost"),
        figure(
            trade_off(curve, chosen, key),
            [
                (
                    f"Upwards: {curve.title}; {better} is better. To the left the promise is "
                    "stricter, to the right looser. The diamond is the budget that was chosen; "
                    "dashed lines are releasing nothing and releasing the truth."
                ),
            ],
        ),
        table(
            "The same in numbers",
            ["Budget", "Guarantee", curve.title, "Of the way to the truth"],
            rows,
            numbers=(2, 3),
        ),
    )


def trust_section(column: ProtectedColumn, key: str) -> Markup:
    """Say where the assumed statistics come from, and what others would have meant."""
    made = column.mechanism
    parts: list[Content] = [tag("h3", "How far to trust what is assumed", id=key)]
    what = (
        markup("how common each ", named(column.name), " is")
        if column.secret is None
        else markup("how ", named(column.secret), " and ", named(column.name), " go together")
    )
    if made.per_user:
        parts.append(
            tag(
                "p",
                "Each person has a prior of their own, from a model. The promise holds for "
                "observers who expect what that prior says.",
            )
        )
    elif not needs_prior(made):
        parts.append(
            tag(
                "p",
                "The promise does not rest on any statistics: it holds whatever an observer "
                "expects. What is said about single beliefs, and about what is kept, rests on ",
                what,
                ".",
            )
        )
    elif as_counted(column):
        parts.append(
            tag(
                "p",
                "The promise rests on ",
                what,
                ". This was counted in the table itself, so for the people in the table it is "
                "right; for an observer who expects something else, the promise may fail.",
            )
        )
    elif column.learned:
        parts.append(
            tag(
                "p",
                "The promise rests on ",
                what,
                ". This was counted in the table itself and then smoothed, so it is not quite what "
                "the table says; for an observer who expects something else, the promise may fail.",
            )
        )
    else:
        parts.append(
            tag(
                "p",
                "The promise rests on ",
                what,
                ". This was given, not counted in the table. If it is wrong, more may be learned "
                "than is promised.",
            )
        )
    if column.resampled is not None:
        parts.append(_resampled(column.resampled))
    if column.in_table is not None:
        parts.append(_in_table(column.in_table, column.learned))
    return markup(*parts)


def _in_table(found: InTable, learned: bool) -> Markup:
    """Say what the mechanism tells in this table, whatever was given."""
    said = (
        "By the table's own counts, in nats, beliefs fall by at most "
        f"{nats(found.eps_lower, 4)} and rise by at most {nats(found.eps_upper, 4)}"
    )
    if found.holds:
        return tag("p", f"{said}: the promise holds in this table too.")
    why = "smoothing has changed what was counted" if learned else "what was given does not fit"
    return warned(f"{said}. That is beyond the budget: {why}.")


_MOST = 0.5
_USED_UP = (
    "A good mechanism uses its budget to the last digit, so that nearly every other table goes "
    "beyond it; what matters is how far. "
)


def _resampled(found: Resampled) -> Markup:
    rows: list[list[Content]] = [
        [name, *(nats(value, 4) for value in values)]
        for name, values in (
            ("Largest rise (eps_upper)", found.upper),
            ("Largest fall (eps_lower)", found.lower),
        )
    ]
    return markup(
        tag(
            "p",
            "Had other people of the same kind been counted, the numbers would differ a little. Of "
            f"{found.tables:,} tables drawn anew from the rows, the budget held outright under "
            f"{percent(found.kept)} of them. ",
            _USED_UP if found.kept < _MOST else None,
            "How much would have been leaked:",
        ),
        table(
            f"Leakage in nats under {found.tables:,} tables drawn anew",
            ["What", "Half of them below", "95 % of them below", "Largest"],
            rows,
            numbers=(1, 2, 3),
        ),
    )
