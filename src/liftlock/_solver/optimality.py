"""How good a mechanism was proved to be: its cost, a bound of every cost, and the gap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from liftlock.exact.rounding import UNIT

NO_ROOM = 2.0**-40
"""What a budget that floats cannot tell from 0 may save of the cost of releasing nothing."""


def gap_text(gap: float) -> str:
    """Write a gap with two digits, rounded up: what is printed was proved.

    >>> gap_text(0.46498), gap_text(5e-7), gap_text(0.0)
    ('0.47', '5e-07', '0')
    """
    short = f"{gap:.2g}"
    if float(short) < gap:
        unit = 10.0 ** (math.floor(math.log10(gap)) - 1)
        short = f"{gap + unit / 2:.2g}"
    return short


Ending = Literal["", "work", "clock", "interrupt", "stuck"]
"""What ended a search before the gap that was asked for; empty if nothing did."""

_ENDINGS: dict[str, str] = {
    "work": "stopped early at its limit of work",
    "clock": "stopped early by the clock, where a faster machine would have gone on",
    "interrupt": "stopped early by an interruption",
    "stuck": "stopped early, as rounding let it go no further",
}


def relative_gap(cost: float, bound: float, reference: float) -> float:
    """Return how far a cost may be above the optimum, relative to that of releasing nothing.

    It is infinite where nothing can be said; where costs are 0 or more it is never above 1, since
    every optimum lies between 0 and the cost of releasing nothing.

    >>> round(relative_gap(0.5, 0.25, 1.0), 12), relative_gap(0.5, -2.0, 0.0)
    (0.25, inf)
    """
    if cost <= bound:
        return 0.0
    if not reference > 0:
        return math.inf
    gap = (cost - bound) / reference * (1.0 + 4 * UNIT)
    return min(gap, 1.0) if bound >= 0 else gap


@dataclass(frozen=True)
class Optimality:
    """What a solver proved of a draft: no mechanism of its kind costs less than `bound`.

    Costs are mean costs of the utility (for mutual information H(X | Y)); the gap is relative to
    the cost of releasing nothing, so that it means the same near zero.
    """

    utility: str
    cost: float
    bound: float
    reference: float
    columns: int = 0
    """How many candidate outputs were looked at."""
    rounds: int = 0
    seconds: float = 0.0
    stopped: Ending = ""
    """What ended the search before the gap that was asked for."""

    @property
    def gap(self) -> float:
        """The certified relative gap: (cost - bound) / reference, at least 0."""
        return relative_gap(self.cost, self.bound, self.reference)

    def stopped_early(self, gap: float | None = None) -> tuple[str, ...]:
        """Say what stopped the search before its end, and what is proved; nothing if it ended.

        The gap is that of the draft, unless that of its integers is known.

        >>> Optimality("hamming", 0.5, 0.251, 1.0, stopped="work").stopped_early()
        ('stopped early at its limit of work, with a proved gap of 0.25',)
        """
        if not self.stopped:
            return ()
        shown = self.gap if gap is None else gap
        return (f"{_ENDINGS[self.stopped]}, with a proved gap of {gap_text(shown)}",)
