"""How much a mechanism is worth under every prior of a set, not only under the one in its middle.

For a fixed channel W the mean cost sum_y P(y) c(v_y) is a concave function of the prior P: the
cost of mass that is not normalised, P(y) c(v_y), is homogeneous and concave, and W is linear. So is
I(X; Y). A concave function is least at a vertex of the set, and lies below each of its tangents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import numpy as np

from liftlock.exact.decimals import round_down_text, round_up_text
from liftlock.exact.integers import Floats, as_integers
from liftlock.exact.reproducible import dot
from liftlock.model import Ball, Family, Intervals, PriorSet
from liftlock.utility.base import Linear, Separable, Utility, Variance, value

_MOST_VERTICES = 1000
_STEPS = 30
_CLOSE = 1e-4
"""The gap, relative to the largest utility, at which the search for it ends."""
_OFF = 1e-9
"""What floats may be off a utility, relative to the largest."""
_UNITS = float(1 << 40)
_FARTHEST, _TINY = 0.999, 1e-200
_DIGITS = 4


@dataclass(frozen=True)
class UtilityRange:
    """Between which two numbers the utility of a mechanism lies under every prior of a set."""

    least: float
    most: float
    attained: bool
    """Whether both are attained, but for a ten-thousandth; else they are bounds."""

    def __str__(self) -> str:
        ends = (
            round_down_text(Fraction(self.least), _DIGITS),
            round_up_text(Fraction(self.most), _DIGITS),
        )
        return (
            f"from {ends[0]} to {ends[1]}" if self.attained else f"between {ends[0]} and {ends[1]}"
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return vars(self)


def utility_range(utility: Utility, matrix: Floats, context: PriorSet) -> UtilityRange | None:
    """Bound the utility of a channel, whose rows are the inputs of a set of priors, over the set.

    It is the utility for whoever knows which of the priors is true. None for a cost of which no
    more is known than that it is concave in the posterior, and so not by how much.

    >>> from liftlock.model import Prior
    >>> from liftlock.utility.symmetric import Guess
    >>> near = Ball.of(Prior.from_counts({"a": 1, "b": 1}), "0.1")
    >>> print(utility_range(Guess(), np.array([[0.75, 0.25], [0.25, 0.75]]), near))
    from 0.2499 to 0.2501
    """
    if not isinstance(utility.shape, Separable | Variance | Linear):
        return None
    curve = _Curve(utility, np.asarray(matrix))
    most, tight = _largest(curve, context)
    corners = _vertices(context)
    attained = corners is not None and tight
    if corners is None:
        corners = _corners_around(context)
    least = min(curve.value(masses) for masses in corners)
    off = _OFF * max(abs(least), abs(most))
    least = least - off if least else 0.0
    return UtilityRange(least, most + off, attained)


@dataclass(frozen=True)
class _Curve:
    """The utility of a channel as a concave function of the prior."""

    utility: Utility
    matrix: Floats

    def value(self, masses: Floats) -> float:
        return value(self.utility, self.matrix, masses)

    def slope(self, masses: Floats) -> Floats:
        """Return a supergradient g: f(Q) <= f(P) + g . (Q - P)."""
        rise = self._cost_slope(self.matrix, masses)
        if not self.utility.larger_is_better:
            return rise
        # What people read is what is gained over no release: I(X; Y) = H(X) - H(X | Y).
        return self._cost_slope(np.ones((len(masses), 1)), masses) - rise

    def _cost_slope(self, matrix: Floats, masses: Floats) -> Floats:
        joint = (matrix * masses[:, None]).T
        weights = joint.sum(axis=1)
        keep = weights > 0
        posteriors = joint[keep] / weights[keep, None]
        slopes = self.utility.slopes(posteriors)
        costs = self.utility.costs(posteriors) - (slopes * posteriors).sum(axis=1)
        found: Floats = (matrix[:, keep] * (costs[:, None] + slopes).T).sum(axis=1)
        return found


def _largest(curve: _Curve, context: PriorSet) -> tuple[float, bool]:
    """Return what no prior of the set exceeds, by Frank and Wolfe, and whether it is attained."""
    masses = context.representative().floats()
    bound = inf
    for _ in range(_STEPS):
        here, slope = curve.value(masses), curve.slope(masses)
        span = float(slope.max() - slope.min())
        if span == 0:
            return min(bound, here), True
        # Its extreme prior is found for slopes that were rounded to units.
        units = np.rint((slope - slope.min()) / span * _UNITS).astype(np.int64)
        target = context.extreme(as_integers(units.astype(object)), least=False).floats()
        ahead = float(dot(slope, target - masses)) + 2 * span / _UNITS
        bound = min(bound, here + max(ahead, 0.0))
        if bound - here <= _CLOSE * abs(bound):
            return bound, True
        share = _step(curve, masses, target)
        masses = masses + share * (target - masses)
        if not share or masses[masses > 0].min() < _TINY:
            break  # at a kink, or where slopes could not be trusted
    return bound, False


def _step(curve: _Curve, masses: Floats, target: Floats) -> float:
    """Return how far to go: as far as the utility rises, and never so far that a symbol is lost."""
    low, high, towards = 0.0, _FARTHEST, target - masses
    for _ in range(20):
        middle = (low + high) / 2
        if float(dot(curve.slope(masses + middle * towards), towards)) > 0:
            low = middle
        else:
            high = middle
    return low


def _vertices(context: PriorSet) -> list[Floats] | None:
    """Return priors among which the vertices of a set are; None if there are too many."""
    if isinstance(context, Family):
        return [prior.floats() for prior in context.priors]
    if isinstance(context, Intervals):
        if len(context.inputs) << len(context.inputs) > 2 * _MOST_VERTICES:
            return None
        found = list(_of_box(*context.symbol_ranges))
    elif isinstance(context, Ball):
        found = []
        for taken in _taken(context.centre.fractions, context.radius):
            if len(found) > _MOST_VERTICES:
                return None
            left = [p - t for p, t in zip(context.centre.fractions, taken, strict=True)]
            for i in range(len(left)):
                found.append([p + context.radius * (i == k) for k, p in enumerate(left)])
    else:
        return None
    return [np.array([float(p) for p in row]) for row in found]


def _of_box(lower: Sequence[Fraction], upper: Sequence[Fraction]) -> Iterator[list[Fraction]]:
    """Give the priors with all but one probability at an end of its interval."""
    size = len(lower)
    for free in range(size):
        others = [(lower[k], upper[k]) for k in range(size) if k != free]
        for ends in product(*others):
            rest = 1 - sum(ends, Fraction(0))
            if lower[free] <= rest <= upper[free]:
                yield [*ends[:free], rest, *ends[free:]]


def _taken(masses: Sequence[Fraction], amount: Fraction) -> Iterator[list[Fraction]]:
    """Give the ways to take an amount from all of some masses and a part of at most one more."""
    size = len(masses)

    def all_of(start: int, left: Fraction, taken: list[Fraction]) -> Iterator[list[Fraction]]:
        if not left:
            yield list(taken)
            return
        for k in range(size):
            if not taken[k] and masses[k] >= left:
                yield [left if j == k else t for j, t in enumerate(taken)]
        for k in range(start, size):
            if 0 < masses[k] < left:
                taken[k] = masses[k]
                yield from all_of(k + 1, left - masses[k], taken)
                taken[k] = Fraction(0)

    yield from all_of(0, amount, [Fraction(0)] * size)


def _corners_around(context: PriorSet) -> list[Floats]:
    """Return the corners of a simplex around the set: one symbol has all that others may not."""
    low = np.array([float(p) for p in context.symbol_ranges[0]])
    room = max(1.0 - float(low.sum()), 0.0)
    return [low + room * unit for unit in np.eye(len(low))]
