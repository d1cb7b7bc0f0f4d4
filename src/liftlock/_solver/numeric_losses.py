"""Losses on a line of numbers: what an output costs, and how low its price can be anywhere.

An output is read as a *place*: a number a, or one of listed reproductions z. For prices y of the
inputs the curve

    F(a) = min over posteriors v that are allowed of sum_x v_x (d(x, a) - y_x)

tells which places would do better (F < 0), and its minimum bounds the optimum from below. Each
value is a linear knapsack: sort, and fill.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import Clock
from liftlock._solver.box import Box
from liftlock._solver.limits import LIMITS
from liftlock._solver.pricing import Curve, least_on_line
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES

_DOWNHILL = 3
"""Steps from a place to where the curve is lower."""

_SORTED = 8
"""Of many numbers only every eighth is sorted for, unless it matters."""


class LineLoss(Protocol):
    """A loss whose outputs are read as places on the line; inputs are in ascending order."""

    box: Box
    points: Floats

    def snap(self, places: Floats) -> Floats:
        """Return the nearest places at which outputs may be read."""
        ...

    def table(self, places: Floats) -> Floats:
        """Return d(x, a): rows places, columns inputs."""
        ...

    def best_places(self, posteriors: Floats) -> tuple[Floats, Floats]:
        """Return the best place of each posterior, and its cost there."""
        ...

    def curve(self, prices: Floats, goal: float, clock: Clock) -> Curve:
        """Bound the curve from below, down to a goal that is low enough."""
        ...

    def find_dips(self, curve: Curve, prices: Floats, places: Floats, below: float) -> Floats:
        """Return places at which the curve is lower than some value, between those in use."""
        ...


def least(box: Box, slopes: Floats) -> Floats:
    """Return, for each row of slopes, the least slopes . v over a box.

    >>> box = Box(np.array([0.25, 0.75]), 0.5, 2.0)
    >>> least(box, np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [0.5, 0.125]
    """
    return fill_mass(box, slopes)[0]


def fill_mass(box: Box, slopes: Floats) -> tuple[Floats, Floats]:
    """Return the least slopes . v for each row, and the slope at which the mass is used up."""
    order = np.argsort(slopes, axis=1, kind="stable")
    widths = box.width[order]
    left = box.free - (np.cumsum(widths, axis=1) - widths)
    ascending = np.take_along_axis(slopes, order, axis=1)
    values: Floats = dot(slopes, box.low) + (ascending * np.clip(left, 0.0, widths)).sum(axis=1)
    last = np.maximum((left > 0).sum(axis=1) - 1, 0)
    return values, ascending[np.arange(len(last)), last]


def lower_bounds(box: Box, slopes: Floats, levels: Floats) -> Floats:
    """Return a lower bound of the least slopes . v for each row, from any level, without sorting.

    With v = low + u, 0 <= u <= width and sum u = free, for every level t

        slopes . u >= t free - sum_x width_x max(t - slopes_x, 0),

    with equality when the mass is used up at the slope t.
    """
    short = np.maximum(levels[:, None] - slopes, 0.0)
    bounds: Floats = dot(slopes, box.low) + levels * box.free - dot(short, box.width)
    return bounds


def window_posteriors(box: Box, count: int) -> Floats:
    """Return posteriors that raise neighbours only, from one end of the line to the other.

    >>> window_posteriors(Box(np.full(4, 0.25), 0.5, 1.5), 2).tolist()
    [[0.375, 0.375, 0.125, 0.125], [0.125, 0.125, 0.375, 0.375]]
    """
    ends = np.cumsum(box.width)
    begins = np.linspace(0.0, max(float(ends[-1]) - box.free, 0.0), count)[:, None]
    covered = np.minimum(ends, begins + box.free) - np.maximum(ends - box.width, begins)
    posteriors: Floats = box.low + np.clip(covered, 0.0, None)
    return posteriors


class SquaredLoss:
    """d(x, a) = (t_x - a)^2 with a anywhere: the posterior mean is best, and costs the variance.

    F(a) = a^2 + phi(a) with phi concave, so on an interval phi lies above its chord; halving
    intervals closes the gap.
    """

    def __init__(self, box: Box, points: Floats) -> None:
        self.box, self.points = box, points

    def snap(self, places: Floats) -> Floats:
        """Every number is a place."""
        return places

    def table(self, places: Floats) -> Floats:
        """Return the squared distances."""
        distances: Floats = (places[:, None] - self.points) ** 2
        return distances

    def best_places(self, posteriors: Floats) -> tuple[Floats, Floats]:
        """Return means and variances."""
        means = dot(posteriors, self.points)
        # Squares of distances: a difference of squares would lose the digits of small variances.
        return means, (posteriors * self.table(means)).sum(axis=1)

    def find_dips(self, curve: Curve, prices: Floats, places: Floats, below: float) -> Floats:
        """Go downhill from between the places: to the mean of the best posterior, and again."""
        found = np.concatenate([(places[1:] + places[:-1]) / 2.0, _lowest(curve)])
        for _ in range(_DOWNHILL):
            slopes = self.points**2 - prices - 2.0 * found[:, None] * self.points
            found = dot(self.box.fill(slopes), self.points)
        values = self._values(found, prices) + found**2
        lowest: Floats = found[values < max(below, TOLERANCES.share * float(values.min()))]
        return lowest

    def _values(self, places: Floats, prices: Floats) -> Floats:
        step = max(1, LIMITS.block // len(self.box))
        base = self.points**2 - prices
        parts = [
            least(self.box, base - 2.0 * places[begin : begin + step, None] * self.points)
            for begin in range(0, len(places), step)
        ]
        return np.concatenate(parts)

    def curve(self, prices: Floats, goal: float, clock: Clock) -> Curve:
        """Halve intervals until no chord goes much below the goal or the best value."""
        size = float(np.abs(self.points**2 - prices).max() + 3 * np.abs(self.points).max() ** 2)
        slack = 16.0 * rounding(len(self.box)) * size

        def enough(best: float) -> float:
            return min(best, goal) - TOLERANCES.share * max(abs(goal), abs(best))

        places = np.unique(self.best_places(window_posteriors(self.box, LIMITS.places))[0])
        curve = least_on_line(
            lambda at: self._values(at, prices), places, enough, clock, self.box.work
        )
        return replace(curve, bound=curve.bound - slack)


def _lowest(curve: Curve) -> Floats:
    """Return where a curve is lower than on either side."""
    beside = np.concatenate([[np.inf], curve.values, [np.inf]])
    low = (curve.values <= beside[:-2]) & (curve.values < beside[2:])
    places: Floats = curve.places[low]
    return places


class AbsoluteLoss:
    """d(x, z) = |t_x - z|: a median is best, so only the numbers of inputs have to be looked at."""

    def __init__(self, box: Box, points: Floats) -> None:
        self.box, self.points = box, points

    def snap(self, places: Floats) -> Floats:
        """Return the nearest numbers of inputs."""
        after = np.clip(np.searchsorted(self.points, places), 1, len(self.points) - 1)
        left, right = self.points[after - 1], self.points[after]
        return np.where(places - left < right - places, left, right)

    def table(self, places: Floats) -> Floats:
        """Return the distances."""
        distances: Floats = np.abs(places[:, None] - self.points)
        return distances

    def best_places(self, posteriors: Floats) -> tuple[Floats, Floats]:
        """Return medians, and the mean distances from them."""
        rising = np.cumsum(posteriors, axis=1)
        places = (rising < 0.5 * rising[:, -1:]).sum(axis=1)
        medians = self.points[np.minimum(places, len(self.points) - 1)]
        return medians, (posteriors * self.table(medians)).sum(axis=1)

    def find_dips(self, curve: Curve, prices: Floats, places: Floats, below: float) -> Floats:  # noqa: ARG002
        """Return the lowest number of each dip of the curve."""
        deep = curve.values < below
        lowest: Floats = _lowest(curve)
        return lowest[np.isin(lowest, curve.places[deep])]

    def curve(self, prices: Floats, goal: float, clock: Clock) -> Curve:
        """Look at the number of every input; below the goal it is exact."""
        size = float(np.ptp(self.points) + np.abs(prices).max())
        count = len(self.points)
        some = np.unique(
            np.append(np.arange(0, count, _SORTED if count > LIMITS.many_numbers else 1), count - 1)
        )
        values, levels = self._each(some, prices, None)
        if len(some) < count:
            # Between neighbours that were sorted the level hardly changes.
            every = np.arange(count)
            between = np.interp(self.points, self.points[some], levels)
            bounds, _ = self._each(every, prices, between)
            bounds[some] = values
            low = np.flatnonzero(bounds < goal)
            low = low[~np.isin(low, some)]
            clock.spend(self.box.work * (len(some) + len(low)))
            if len(low) and clock.left > 0:
                bounds[low] = self._each(low, prices, None)[0]
            values = bounds
        slack = 16.0 * rounding(len(self.box)) * size
        return Curve(float(values.min()) - slack, self.points, values)

    def _each(
        self, chosen: npt.NDArray[np.intp], prices: Floats, levels: Floats | None
    ) -> tuple[Floats, Floats]:
        """Return the curve at some numbers and its levels; lower bounds if levels are given."""
        step = max(1, LIMITS.block // len(self.box))
        parts = []
        for begin in range(0, len(chosen), step):
            part = slice(begin, begin + step)
            slopes = self.table(self.points[chosen[part]]) - prices
            if levels is None:
                parts.append(fill_mass(self.box, slopes))
            else:
                parts.append((lower_bounds(self.box, slopes, levels[part]), levels[part]))
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
