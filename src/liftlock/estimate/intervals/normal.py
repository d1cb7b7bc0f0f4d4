"""Intervals from bounds of the variance and the normal distribution, whatever the truth is.

The variance of an estimate depends on the truth s, and on how the other people spread, which nobody
knows. It is below each of the bounds V that the model gives, and the interval holds every s with

    |estimate - s| <= z sqrt(V(s))

for all bounds: quadratic equations, whose solution for a count is Wilson's score interval. Both
ends are then moved outwards: by (z^2 - 1) k / 6, the first correction of Cornish and Fisher for a
third moment of up to k V, by half a step where estimates come in steps, and by what reports that
are not read may hide. Where a bound is itself estimated, with the standard error t, it is raised by
(z^2 + 1) t^2 / 4 V, as Student's distribution would do.

Source: 001 eq. (14).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import ClassVar

import numpy as np

from liftlock.estimate.intervals.base import (
    Interval,
    IntervalEstimate,
    IntervalRequest,
    Kind,
    Tails,
)
from liftlock.estimate.models import Bound, Error
from liftlock.exact.integers import Floats


class Normal(Interval):
    """All sums near enough to the estimate, by bounds of its variance."""

    key: ClassVar[Kind] = "normal"
    title: ClassVar[str] = "a normal interval"

    def obstacle(self, request: IntervalRequest) -> tuple[str, str] | None:
        """Return None: every linear estimate has a variance."""
        del request
        return None

    def make(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the intervals, and where the normal distribution is rough."""
        found = self.raw_interval(request)
        if found.errors is None:
            return found
        rough = request.model.normality_remarks(request.linear, request.tally, found.errors)
        return found.with_remarks(*rough)

    def raw_interval(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the intervals, kept within what is possible."""
        error = request.linear.error(request.tally, request.about)
        if not error.bounds:
            return IntervalEstimate.none(*error.remarks)
        values = request.values
        variances = [np.asarray(bound.variance) for bound in error.bounds]
        errors = np.sqrt(np.maximum(np.min(np.broadcast_arrays(*variances), axis=0), 0.0))
        tails = request.tails
        low, high = (values + _reach(error, tails, values, side) for side in (0, 1))
        possible = request.model.possible_range(request.question, request.tally)
        beyond = None
        if possible is not None:
            beyond = (high < possible[0]) | (low > possible[1])
            low, high = np.clip(low, *possible), np.clip(high, *possible)
        return IntervalEstimate(errors, low, high, "normal", error.remarks, beyond=beyond)


def _reach(error: Error, tails: Tails, values: Floats, side: int) -> Floats:
    """Return how far the interval reaches below the estimates (side 0), or above them (side 1).

    Of truths on the one side of the prior's mean another error is allowed than on the other.
    """
    if tails.centre is None:
        return _furthest(error, tails.allow(side, 0), side)
    # Truths beyond the mean are held first; where none is left, the end is on the nearer side.
    above = _furthest(error, tails.allow(side, 1), side)
    below = _furthest(error, tails.allow(side, -1), side)
    there = tails.centre - values
    if side:
        return np.where(above > there, above, np.minimum(below, there))
    return np.where(below < there, below, np.maximum(above, there))


def _furthest(error: Error, allowed: float, side: int) -> Floats:
    """Return the furthest d on one side that every bound lets pass, with this error in its tail."""
    z = NormalDist().inv_cdf(1.0 - allowed)
    skew = max(z**2 - 1.0, 0.0) * np.maximum(error.skew[1 - side], 0.0) / 6.0
    reaches = []
    for bound in error.bounds:
        d = solve(z, _raised(bound, z), bound.slope, bound.bend)[side]
        more = skew + np.asarray(error.step) / 2 + np.asarray(error.bias[side])
        reaches.append(d + (1 if side else -1) * more)
    together = np.stack(np.broadcast_arrays(*reaches))
    found: Floats = together.min(axis=0) if side else together.max(axis=0)
    return found


def _raised(bound: Bound, z: float) -> Floats:
    """Return the variance at the estimate, raised by what its own error may add."""
    variance = np.maximum(bound.variance, 0.0)
    more = (z**2 + 1.0) / 4.0 * np.square(bound.spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = variance + np.where(more > 0, more / variance, 0.0)
    return found


def solve(
    z: float, variance: Floats, slope: Floats | float, bend: Floats | float
) -> tuple[Floats, Floats]:
    """Return the ends of all d with d^2 <= z^2 (variance + slope d - bend d^2).

    >>> low, high = solve(2.0, np.array([1.0]), np.array([0.0]), 0.0)
    >>> float(low[0]), float(high[0])
    (-2.0, 2.0)
    """
    lead = 1.0 + z**2 * np.asarray(bend)
    half = z**2 * np.asarray(slope) / 2
    root = np.sqrt(np.maximum(half**2 + lead * z**2 * variance, 0.0))
    return (half - root) / lead, (half + root) / lead
