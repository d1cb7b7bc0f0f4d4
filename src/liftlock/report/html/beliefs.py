"""How released values change beliefs: each of them, and what an observer learns at worst."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from liftlock.exact.decimals import GLUE
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Label
from liftlock.report.format import counted, cut, percent, plain, times
from liftlock.report.html.charts import (
    NUMBERED,
    WIDE,
    Bar,
    Cell,
    Group,
    Picture,
    diverging,
    heat_map,
)
from liftlock.report.html.markup import Content, Markup, markup, named, tag, written
from liftlock.report.html.measures import Leak, Places
from liftlock.report.html.tones import lift_tone

if TYPE_CHECKING:
    from liftlock.tables.protect.result import ProtectedColumn

_MOST_ROWS, _MOST_COLUMNS = 30, 60
_MOST_BARS, _MOST_LISTED = 12, 60
_LEAST_REACH = 0.1
_HINT, _AXIS = 32, 28
_APART = 0.16
"""Marks of a legend closer than this part of it would overlap."""


@dataclass(frozen=True, eq=False)
class LeakView:
    """How each output changes the belief in each secret, and what is learned at worst."""

    key: str
    column: ProtectedColumn
    leak: Leak

    @property
    def secret(self) -> str:
        """What beliefs are about."""
        return self.column.secret or self.column.name

    @cached_property
    def shown(self) -> tuple[Places, Places]:
        """The rows and columns that are drawn."""
        return self.leak.most_extreme(_MOST_ROWS, _MOST_COLUMNS)

    @property
    def crowded(self) -> bool:
        """Whether there is no room for the numbers."""
        return len(self.shown[1]) > NUMBERED

    @property
    def ruled_out(self) -> bool:
        """Whether an output rules out a secret."""
        return bool((self.leak.lifts == 0).any())

    @property
    def banded(self) -> str:
        """How secrets were joined to bands; empty if they were not."""
        leak = self.leak
        if not leak.banded:
            return ""
        return f" {leak.banded:,} bins of numbers are joined to {len(leak.secrets)} bands"

    @cached_property
    def lifts(self) -> Picture:
        """The factors by which probabilities change."""
        leak, (rows, columns) = self.leak, self.shown
        limits = self.column.mechanism.notion.belief_limits()
        logs = leak.logs
        up = None if limits.most is None else math.log(limits.most)
        down = None if limits.least is None else math.log(limits.least)
        finite = np.abs(logs[np.isfinite(logs)])
        largest = float(finite.max()) if finite.size else 0.0
        reach = max([abs(limit) for limit in (up, down) if limit is not None] or [largest])
        reach = max(reach, _LEAST_REACH)
        ends = (leak.lifts.argmax(), leak.lifts.argmin()) if largest > 0 else ()
        framed = {divmod(int(end), leak.lifts.shape[1]) for end in ends}
        name, secret = self.column.name, self.secret
        drawing = heat_map(
            [leak.secrets[r] for r in rows],
            [leak.outputs[c] for c in columns],
            [
                [
                    Cell(
                        lift_tone(float(logs[r, c]), reach),
                        times(float(leak.lifts[r, c])),
                        self._hint(int(r), int(c)),
                        (int(r), int(c)) in framed,
                    )
                    for c in columns
                ]
                for r in rows
            ],
            row_title=cut(plain(secret), _AXIS),
            column_title=f"released {cut(plain(name), _AXIS)}",
            title=f"How each released {name} changes the probability of each {secret}",
            description=(
                f"Rows are {counted(len(rows), 'value')} of {secret}, columns "
                f"{counted(len(columns), 'released value')} of {name}. The factors lie between "
                f"{times(float(leak.lifts.min()))} and {times(float(leak.lifts.max()))}."
            ),
            legend=diverging(
                "factor by which the probability changes", _legend_marks(up, down, reach)
            ),
            key=self.key,
        )
        said = [
            f"the {len(shown)} of {len(every):,} {what}"
            for shown, every, what in (
                (rows, leak.secrets, "rows"),
                (columns, leak.outputs, "columns"),
            )
            if len(shown) < len(every)
        ]
        left_out = f" Shown are {' and '.join(said)} with the most extreme factors." if said else ""
        return Picture(drawing, len(columns) > WIDE, left_out)

    def _hint(self, r: int, c: int) -> str:
        leak = self.leak
        lift, prior = float(leak.lifts[r, c]), float(leak.prior[r])
        secret, output = (
            cut(written(label), _HINT) for label in (leak.secrets[r], leak.outputs[c])
        )
        return (
            f"{secret} given {output}: from {percent(prior)} to "
            f"{percent(min(prior * lift, 1.0))}, a factor {times(lift)}"
        )

    # At worst: for each secret the belief before, and the highest and lowest belief after.

    @cached_property
    def beliefs(self) -> tuple[Floats, Floats]:
        """The highest and the lowest belief in each secret after a release."""
        leak, places = self.leak, np.arange(len(self.leak.secrets))
        high: Floats = leak.prior * leak.lifts[places, leak.highest()]
        low: Floats = leak.prior * leak.lifts[places, leak.lowest()]
        return high, low

    @cached_property
    def order(self) -> Places:
        """The secrets: bands as they lie, others by the highest belief."""
        high, _ = self.beliefs
        return np.arange(len(high)) if self.leak.banded else np.argsort(-high, kind="stable")

    @property
    def drawn(self) -> Places:
        """The secrets that have bars."""
        return self.order if self.leak.banded else self.order[:_MOST_BARS]

    @property
    def full(self) -> float:
        """What a full bar stands for."""
        return axis_end(float(self.beliefs[0][self.drawn].max()))

    @property
    def full_text(self) -> str:
        """The same in words."""
        return percent(self.full)

    @property
    def left_out(self) -> str:
        """What has no bars."""
        shown, every = len(self.drawn), len(self.order)
        return f" The {shown} most probable of {every:,} are drawn." if shown < every else ""

    @property
    def bars(self) -> list[Group]:
        """Beliefs before, at most and at least."""
        full, (high, low) = self.full, self.beliefs
        return [
            Group(
                self._named(s),
                tuple(
                    Bar(name, part / full, percent(part), kind)
                    for name, part, kind in (
                        ("before", float(self.leak.prior[s]), "before"),
                        ("at most", float(high[s]), "highest"),
                        ("at least", float(low[s]), "lowest"),
                    )
                ),
            )
            for s in self.drawn
        ]

    @property
    def title(self) -> str:
        """What stands over the table."""
        title = "The same in numbers, with the released value that does it and the factor"
        if len(self.order) > _MOST_LISTED:
            title += f" (the first {_MOST_LISTED} of {len(self.order):,})"
        return title

    @property
    def rows(self) -> list[list[Content]]:
        """The same in numbers."""
        leak, (after_high, after_low) = self.leak, self.beliefs
        high, low = leak.highest(), leak.lowest()
        return [
            [
                self._named(s),
                percent(leak.prior[s]),
                percent(after_high[s]),
                _after(leak.outputs[high[s]], leak.lifts[s, high[s]]),
                percent(after_low[s]),
                _after(leak.outputs[low[s]], leak.lifts[s, low[s]]),
            ]
            for s in self.order[:_MOST_LISTED]
        ]

    def _named(self, place: int) -> Markup:
        """Write a secret; a band of numbers is no name that somebody chose."""
        label = self.leak.secrets[place]
        return tag("bdi", str(label)) if self.leak.banded else named(label, 60)


def _after(output: Label, lift: float) -> Markup:
    factor = tag("span", f"(×{GLUE}{times(float(lift))})", class_="whole")
    return markup(named(output, 40), " ", factor)


def axis_end(largest: float) -> float:
    """Return the end of an axis of shares: 100 %, or less if all are small.

    >>> axis_end(0.62), axis_end(0.034)
    (1.0, 0.05)
    """
    return next((end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if largest <= end), 1.0)


def _legend_marks(up: float | None, down: float | None, reach: float) -> list[tuple[float, str]]:
    """Mark the limits on the scale, then 1 and the ends, as far as there is room."""
    wanted = [
        (limit, f"limit {times(math.exp(limit))}") for limit in (down, up) if limit is not None
    ]
    wanted += [(0.0, "1"), (-reach, times(math.exp(-reach))), (reach, times(math.exp(reach)))]
    marks: list[tuple[float, str]] = []
    for level, text in wanted:
        # The outermost tones are as wide as the others, and stand for the reach in their middle.
        place = 0.5 + 0.5 * level / reach * (16 / 17)
        if all(abs(place - other) >= _APART for other, _ in marks):
            marks.append((place, text))
    return marks
