"""How released values change beliefs: each of them, and what an observer learns at worst."""

from __future__ import annotations

import math

import numpy as np

from liftlock.alphabet import Label
from liftlock.exact.decimals import GLUE
from liftlock.mechanism import Mechanism
from liftlock.protection.result import ProtectedColumn
from liftlock.report.amounts import counted
from liftlock.report.html.bars import Bar, Group, bar_chart
from liftlock.report.html.elements import (
    Content,
    Markup,
    figure,
    markup,
    named,
    plain,
    table,
    tag,
    written,
)
from liftlock.report.html.figures import percent, times
from liftlock.report.html.heat import NUMBERED, WIDE, Cell, diverging, heat_map
from liftlock.report.html.leak import Leak, Places
from liftlock.report.html.tones import lift_tone
from liftlock.report.labels import cut

_MOST_ROWS, _MOST_COLUMNS = 30, 60
_MOST_BARS, _MOST_LISTED = 12, 60
_LEAST_REACH = 0.1
_HINT, _AXIS = 32, 28
_APART = 0.16
"""Marks of a legend closer than this part of it would overlap."""


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
    limits = made.notion.belief_limits()
    logs = leak.logs
    up = None if limits.most is None else math.log(limits.most)
    down = None if limits.least is None else math.log(limits.least)
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
        row_title=cut(plain(secret), _AXIS),
        column_title=f"released {cut(plain(column), _AXIS)}",
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
