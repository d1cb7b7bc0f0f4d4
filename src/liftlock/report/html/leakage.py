"""What a column tells about its secret: the guarantee, its proof, and the worst beliefs."""

from __future__ import annotations

import math

import numpy as np

from liftlock.alphabet import Label
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.notions.alip import extremes
from liftlock.notions.certificate import Claim
from liftlock.notions.reading import Witness
from liftlock.protection.result import ProtectedColumn
from liftlock.report.html.bars import Bar, Group, bar_chart
from liftlock.report.html.elements import (
    Content,
    Markup,
    figure,
    listed,
    markup,
    named,
    table,
    tag,
    warned,
    written,
)
from liftlock.report.html.figures import (
    GLUE,
    compared,
    counted,
    enclosed,
    percent,
    rounded_down,
    rounded_up,
    times,
)
from liftlock.report.html.guarantee import holds_for, promise, sides_of
from liftlock.report.html.heat import NUMBERED, WIDE, Cell, diverging, heat_map
from liftlock.report.html.leak import Leak, Places
from liftlock.report.html.tones import lift_tone
from liftlock.report.labels import cut

_MOST_ROWS, _MOST_COLUMNS = 30, 60
_MOST_BARS, _MOST_LISTED = 12, 60
_LEAST_REACH = 0.1
_HINT = 32
_APART = 0.16
"""Marks of a legend closer than this part of it would overlap."""

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
            tag("p", holds_for(made, column.name, column.secret, learned=column.learned)),
            class_="promised",
        ),
    ]
    if column.secret is not None:
        parts.append(
            tag(
                "p",
                "The promise is about ",
                named(column.secret),
                ". It does not hide ",
                named(column.name),
                " itself, which may often be released as it is.",
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
    limits = sides_of(made.notion)
    found = {"eps_upper": limits.most, "eps_lower": limits.least}
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
    limits = sides_of(made.notion)
    if side == "eps_upper" and limits.up is not None:
        return f"at most {rounded_up(limits.up, 7)}, as follows"
    if side == "eps_lower" and limits.down is not None:
        return f"at least {rounded_down(limits.down, 7)}, as follows"
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


# --- pictures -------------------------------------------------------------------------------------


def lift_section(column: ProtectedColumn, made: Mechanism, key: str) -> Markup:
    """Show how each output changes the belief in each secret, and what is learned at worst."""
    leak = Leak.of(made)
    secret = column.secret or column.name
    if leak is None:
        return tag(
            "p",
            "There is no picture of single beliefs: they depend on which of the priors is true, or "
            "there are too many outputs. The numbers above hold for all of them.",
        )
    return markup(
        tag("h3", "How beliefs change"),
        _lift_map(leak, made, column.name, secret, key),
        tag("h3", "What an observer learns at worst"),
        _worst(leak, secret, column.name),
    )


def _lift_map(leak: Leak, made: Mechanism, column: str, secret: str, key: str) -> Markup:
    rows, columns = leak.most_extreme(_MOST_ROWS, _MOST_COLUMNS)
    limits = sides_of(made.notion)
    logs = leak.logs
    up = None if limits.up is None else math.log(limits.up)
    down = None if limits.down is None else math.log(limits.down)
    finite = np.abs(logs[np.isfinite(logs)])
    largest = float(finite.max()) if finite.size else 0.0
    reach = max([abs(limit) for limit in (up, down) if limit is not None] or [largest])
    reach = max(reach, _LEAST_REACH)
    top = np.unravel_index(int(leak.lifts.argmax()), leak.lifts.shape)
    bottom = np.unravel_index(int(leak.lifts.argmin()), leak.lifts.shape)
    framed = {(int(r), int(c)) for r, c in (top, bottom)} if largest > 0 else set()
    cells = []
    for r in rows:
        drawn = []
        for c in columns:
            lift, prior = float(leak.lifts[r, c]), float(leak.prior[r])
            hint = (
                f"{_hinted(leak.secrets[r])} given {_hinted(leak.outputs[c])}: from "
                f"{percent(prior)} to {percent(min(prior * lift, 1.0))}, a factor {times(lift)}"
            )
            tone = lift_tone(float(logs[r, c]), reach)
            drawn.append(Cell(tone, times(lift), hint, (int(r), int(c)) in framed))
        cells.append(drawn)
    ruled_out = bool((leak.lifts == 0).any())
    picture = heat_map(
        [leak.secrets[r] for r in rows],
        [leak.outputs[c] for c in columns],
        cells,
        row_title=_short(secret),
        column_title=f"released {_short(column)}",
        title=f"How each released {column} changes the probability of each {secret}",
        description=(
            f"Rows are {counted(len(rows), 'value')} of {secret}, columns "
            f"{counted(len(columns), 'released value')} of {column}. The factors lie between "
            f"{times(float(leak.lifts.min()))} and {times(float(leak.lifts.max()))}."
        ),
        legend=diverging("factor by which the probability changes", _legend_marks(up, down, reach)),
        key=key,
    )
    caption: list[Content] = [
        "Each cell says by which factor the probability of the ",
        named(secret),
        " of its row changes when the ",
        named(column),
        (
            " of its column is seen: above 1 (blue) it rises, below 1 (orange) it falls, at 1 "
            "nothing is learned. Frames mark the largest and the smallest factor."
        ),
    ]
    if ruled_out:
        caption.append(" Dark cells with 0: the value is ruled out.")
    if len(columns) > NUMBERED:
        caption.append(
            " There is no room for the numbers; pointing at a cell shows them where there is a "
            "pointer, and the table below lists the extremes."
        )
    if leak.banded:
        caption.append(
            f" {leak.banded:,} cells of numbers are joined to {len(leak.secrets)} bands; a row is "
            "about lying in the band. The guarantee holds for every single cell."
        )
    caption += _left_out(leak, rows, columns)
    return figure(picture, caption, kind="wide" if len(columns) > WIDE else "")


def _hinted(label: Label) -> str:
    return cut(written(label), _HINT)


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27].rstrip() + "…"


def _left_out(leak: Leak, rows: Places, columns: Places) -> list[Content]:
    said = []
    if len(rows) < len(leak.secrets):
        said.append(f"the {len(rows)} of {len(leak.secrets):,} rows")
    if len(columns) < len(leak.outputs):
        said.append(f"the {len(columns)} of {len(leak.outputs):,} columns")
    if not said:
        return []
    return [f" Shown are {' and '.join(said)} with the most extreme factors."]


def _legend_marks(up: float | None, down: float | None, reach: float) -> list[tuple[float, str]]:
    """Mark the limits on the scale, then 1 and the ends, as far as there is room."""
    wanted: list[tuple[float, str]] = []
    for limit in (down, up):
        if limit is not None:
            wanted.append((limit, f"limit {times(math.exp(limit))}"))
    wanted += [(0.0, "1"), (-reach, times(math.exp(-reach))), (reach, times(math.exp(reach)))]
    marks: list[tuple[float, str]] = []
    for level, text in wanted:
        # The outermost tones are as wide as the others, and stand for the reach in their middle.
        place = 0.5 + 0.5 * level / reach * (16 / 17)
        if all(abs(place - other) >= _APART for other, _ in marks):
            marks.append((place, text))
    return marks


def _worst(leak: Leak, secret: str, column: str) -> Markup:
    """Show for each secret the belief before, and the highest and lowest belief after."""
    high, low = leak.highest(), leak.lowest()
    places = range(len(leak.secrets))
    after_high = np.array([leak.prior[s] * leak.lifts[s, high[s]] for s in places])
    after_low = np.array([leak.prior[s] * leak.lifts[s, low[s]] for s in places])
    order = np.argsort(-after_high, kind="stable")
    if leak.banded:
        order = np.arange(len(order))
    shown = order[: len(order) if leak.banded else _MOST_BARS]
    full = _axis(float(after_high[shown].max()))
    groups = []
    for s in shown:
        groups.append(
            Group(
                _secret(leak, s),
                (
                    Bar("before", leak.prior[s] / full, percent(leak.prior[s]), "before"),
                    Bar("at most", after_high[s] / full, percent(after_high[s]), "highest"),
                    Bar("at least", after_low[s] / full, percent(after_low[s]), "lowest"),
                ),
            )
        )
    caption: list[Content] = [
        "The probability that a person has each ",
        named(secret),
        ": before anything is released, and after the ",
        named(column),
        f" that raises or lowers it most. A full bar is {percent(full)}.",
    ]
    if len(shown) < len(order):
        caption.append(f" The {len(shown)} most probable of {len(order):,} are drawn.")
    rows = [
        [
            _secret(leak, s),
            percent(leak.prior[s]),
            percent(after_high[s]),
            _after(leak.outputs[high[s]], leak.lifts[s, high[s]]),
            percent(after_low[s]),
            _after(leak.outputs[low[s]], leak.lifts[s, low[s]]),
        ]
        for s in order[:_MOST_LISTED]
    ]
    title = "The same in numbers, with the released value that does it and the factor"
    if len(order) > _MOST_LISTED:
        title += f" (the first {_MOST_LISTED} of {len(order):,})"
    return markup(
        figure(bar_chart(groups), caption),
        table(
            title,
            [secret, "Before", "At most", "after", "At least", "after"],
            rows,
            numbers=(1, 2, 4),
        ),
    )


def _secret(leak: Leak, place: int) -> Markup:
    """Write a secret; a band of numbers is no name that somebody chose."""
    return tag("bdi", str(leak.secrets[place])) if leak.banded else named(leak.secrets[place], 60)


def _after(output: Label, lift: float) -> Markup:
    factor = tag("span", f"(×{GLUE}{times(float(lift))})", class_="whole")
    return markup(named(output, 40), " ", factor)


def _axis(largest: float) -> float:
    """Return the end of an axis of shares: 100 %, or less if all are small.

    >>> _axis(0.62), _axis(0.034)
    (1.0, 0.05)
    """
    for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
        if largest <= end:
            return end
    return 1.0
