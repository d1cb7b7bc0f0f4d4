"""Comparisons of curves, point by point, and the verdict that follows from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from liftlock_papers.figure import Finding, Verdict
from liftlock_papers.points import Points

_SAME = 1e-9
_WORDS = ("six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def below(points: Points, panels: Iterable[str], curve: str, *others: str) -> list[bool]:
    """Say, for every panel and every x > 0, whether a curve is below all others."""
    found: list[bool] = []
    for panel in panels:
        some = points.x(panel, curve) > 0
        least = np.min([points.y(panel, other)[some] for other in others], axis=0)
        found += (points.y(panel, curve)[some] <= least * (1 + _SAME)).tolist()
    return found


def times(wins: Sequence[bool]) -> str:
    """Say how often something holds.

    >>> times([True, False, True])
    '2 of 3'
    """
    return f"{sum(wins)} of {len(wins)}"


def apart(gap: float) -> str:
    """Say how far apart numbers are, of which twelve digits are kept.

    >>> apart(0.0), apart(4.8e-12), apart(0.25)
    ('the same to twelve digits', 'the same to eleven decimals', '0.25 apart')
    """
    if gap == 0:
        return "the same to twelve digits"
    decimals = min(math.floor(-math.log10(gap)), 12)
    return f"{gap:.2g} apart" if decimals < 6 else f"the same to {_WORDS[decimals - 6]} decimals"


def judged(claim: str, wins: Sequence[bool], ours: str, why: str) -> Finding:
    """Make a finding of comparisons: all, some or none hold; the reason is told unless all do."""
    return Finding(claim, Verdict.of(wins), ours, "" if all(wins) else why)
