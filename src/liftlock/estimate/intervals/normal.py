"""Intervals from exact variance formulas and the normal distribution.

The variance of an estimate may depend on the truth s. The interval holds every s with
|estimate - s| <= z sqrt(Var(s)), a quadratic equation: for a count this is Wilson's score interval,
and for two symbols the variance under each s is exact.

Source: 001 eq. (14).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from liftlock.errors import extra
from liftlock.estimate.intervals.base import (
    Interval,
    IntervalEstimate,
    IntervalRequest,
    Kind,
    quantile,
)
from liftlock.exact.integers import Floats


class Normal(Interval):
    """All sums near enough to the estimate, by their variance and the normal distribution."""

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
        """Return all s with |estimate - s| <= z sqrt(Var(s)), kept within what is possible."""
        error = request.linear.error(request.tally, request.about)
        if error.variance is None:
            return IntervalEstimate.none(*error.remarks)
        errors = np.sqrt(np.maximum(error.variance, 0.0))
        z: Floats | float = quantile(request.level)
        if error.people is not None:
            z = student_quantile(request.level, error.people)
        if error.slope is None:
            low, high = request.values - z * errors, request.values + z * errors
        else:
            low, high = solve(z, error.variance, error.slope, error.bend)
            low, high = request.values + low, request.values + high
        possible = request.model.possible_range(request.question, request.tally)
        if possible is not None:
            low, high = np.clip(low, *possible), np.clip(high, *possible)
        return IntervalEstimate(errors, low, high, "normal", error.remarks)


def student_quantile(level: float, people: Floats) -> Floats:
    """Return the same quantile of Student's t, for a variance estimated from so many people.

    >>> student_quantile(0.95, np.array([31.0, 1e9])).round(4).tolist()
    [2.0423, 1.96]
    """
    with extra("statistics"):
        from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(people - 1, 1.0), 0.5 + level / 2))


def solve(
    z: Floats | float, variance: Floats, slope: Floats, bend: Floats | float
) -> tuple[Floats, Floats]:
    """Return the ends of all d with d^2 <= z^2 (variance + slope d - bend d^2).

    >>> low, high = solve(2.0, np.array([1.0]), np.array([0.0]), 0.0)
    >>> float(low[0]), float(high[0])
    (-2.0, 2.0)
    """
    lead = 1.0 + z**2 * bend
    half = z**2 * slope / 2
    root = np.sqrt(np.maximum(half**2 + lead * z**2 * variance, 0.0))
    return (half - root) / lead, (half + root) / lead
