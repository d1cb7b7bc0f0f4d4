"""Two values: the optimum in closed form, the same one for every utility."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liftlock._solver.channel_programme import LeastDistortion, reproductions_of
from liftlock._solver.column_generation import Decomposition
from liftlock._solver.outputs import name_by_reproduction
from liftlock._solver.problem import Problem, Task
from liftlock.exact.integers import Floats, as_integers
from liftlock.exact.reproducible import dot
from liftlock.model import Context, PriorSet, representative
from liftlock.utility.base import Linear, cost_of_no_release, mean_cost


class Flips(NamedTuple):
    """A channel of two symbols by its probabilities of a wrong answer."""

    first: Any
    """P(answer is the second symbol | the first is true)."""
    second: Any
    """P(answer is the first symbol | the second is true)."""

    def matrix(self) -> Floats:
        """Return the channel in floats, each entry rounded once if the flips are exact."""
        rows = [[1 - self.first, self.first], [self.second, 1 - self.second]]
        return np.array([[float(entry) for entry in row] for row in rows])


def least_flips(problem: Problem) -> Flips:
    """Return the least noise that a problem of two symbols allows, exact for its limits in floats.

    In floats 1 - P loses the digits of a P near 1.
    """
    if problem.ratio is not None:
        least = 1 / Fraction(problem.ratio)
        return _corner(least, least)
    low, high = second_range(problem.context)
    upper = Fraction(problem.upper) if math.isfinite(problem.upper) else problem.upper
    return flips_of(low, high, Fraction(problem.lower), upper)


def second_range(context: Context) -> tuple[Fraction, Fraction]:
    """Return the smallest and the largest probability of the second symbol in a context."""
    if isinstance(context, PriorSet):
        return context.mass_range(as_integers([0, 1]))
    mass = representative(context).fractions[1]
    return mass, mass


def flips_of(low: Any, high: Any, lower: Any, upper: Any) -> Flips:
    """Return the least noise for P(second) in [low, high] and lifts in [lower, upper].

    Fractions give fractions, floats give floats.

    >>> [round(flip, 12) for flip in flips_of(0.5, 0.5, 0.5, 2.0)]
    [0.25, 0.25]
    """
    return _corner(
        _least_ratio(low, high, lower, upper), _least_ratio(1 - high, 1 - low, lower, upper)
    )


def _least_ratio(low: Any, high: Any, lower: Any, upper: Any) -> Any:
    """Return how small q(other) / q(own) may be for the answer whose symbol has P in [low, high].

    With r = q(other) / q(own) the lifts are 1 / (P + (1 - P) r) and r / (P + (1 - P) r): the first
    is largest at the smallest P, the second smallest at the largest P.
    """
    floor = lower * high / (1 - lower * (1 - high)) if lower > 0 else 0
    if upper == math.inf or low >= 1:
        return floor
    return max(floor, (1 - upper * low) / (upper * (1 - low)))


def _corner(second: Any, first: Any) -> Flips:
    """Return the channel at which both ratios are as small as they may be."""
    if second >= 1 or first >= 1:
        return Flips(0.5, 0.5)
    both = 1 - second * first
    return Flips(second * (1 - first) / both, first * (1 - second) / both)


def solve(task: Task) -> Decomposition | LeastDistortion:
    """Return the closed form: every other channel is this one with more noise.

    The bound is the cost of the one that slightly wider limits allow, which is exact but for the
    rounding of its sums.
    """
    problem, utility = task.problem, task.utility

    def channel(at: Problem) -> Floats:
        flips = least_flips(at)
        return flips.matrix() if flips.first + flips.second < 1 else np.ones((2, 1))

    joint = (channel(problem) * problem.masses[:, None]).T
    weights = joint.sum(axis=1)
    columns = joint / weights[:, None]
    found = Decomposition(
        columns,
        weights,
        mean_cost(utility, channel(problem), problem.masses),
        utility.floor_of(channel(problem.widen()), problem.masses),
        cost_of_no_release(utility, problem.masses),
        2,
        1,
        task.clock.elapsed,
        "",
    )
    if not isinstance(task.shape, Linear):
        return found
    loss, names = reproductions_of(problem, utility)
    return name_by_reproduction(problem, loss, names, found, np.argmin(dot(columns, loss), axis=1))
