"""Pricing by the shape of the cost, over any polytope of posteriors that is minimised linearly.

To price is to find, and to bound from below, the least of c(v) - y . v over a polytope:

- a separable cost is bounded by its chords on boxes (`SeparableCost`; see `separable`,
  `staircase` and `prior_set` for how the boxes are cut);
- posterior variance: -m^2 = min over a of (a^2 - 2 a m), so one number a makes it linear;
- any other concave cost: linearised again and again, and bounded by its values at the corners of
  a simplex around the polytope.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from liftlock._runtime.clock import Clock
from liftlock._solver.column_generation import PricingResult
from liftlock._solver.limits import LIMITS
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility.base import TermKind, Utility, cost_error


class Polytope(Protocol):
    """A set of posteriors that can be minimised over linearly."""

    @property
    def work(self) -> float:
        """Operations that one minimisation is counted as."""
        ...

    def __len__(self) -> int: ...

    def start(self) -> Floats:
        """Return some vertices that contain the prior in their convex hull, if that is cheap."""
        ...

    def minimise(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return lower bounds of slopes . v for each row, tight to rounding, and vertices."""
        ...


@dataclass(frozen=True)
class SeparableCost:
    """c(v) = constant + sum_x h(v_x).

    >>> SeparableCost(TermKind.SQUARE).chord(np.array([0.25]), np.array([0.5])).tolist()
    [-0.75]
    """

    kind: TermKind

    @property
    def constant(self) -> float:
        """What is added to the sum."""
        return 1.0 if self.kind is TermKind.SQUARE else 0.0

    def at(self, values: Floats) -> Floats:
        """Return h of each entry."""
        if self.kind is TermKind.SQUARE:
            return -np.square(values)
        positive = np.clip(values, 0.0, None)
        entropies: Floats = -positive * log(np.where(positive > 0, positive, 1.0))
        return entropies

    def chord(self, low: Floats, high: Floats) -> Floats:
        """Return the slopes of the chords of h; 0 where there is no room."""
        width, rise = high - low, self.at(high) - self.at(low)
        slopes: Floats = np.divide(rise, width, out=np.zeros(len(low)), where=width > 0)
        return slopes

    def minimise_mean(self, low: Floats, high: Floats, masses: Floats) -> float:
        """Return a lower bound of the mean cost of any decomposition within a box.

        The chord is linear, so its mean over any decomposition of the prior is its value there.
        """
        chord, base = self.chord(low, high), self.at(low)
        value = (base + chord * (masses - low)).sum() + self.constant
        size = (np.abs(base) + np.abs(self.at(high))).sum() + np.abs(chord).max(initial=0.0)
        return float(value) - 4.0 * rounding(len(low)) * float(size + self.constant)


@dataclass(frozen=True)
class Curve:
    """What is known of F: a safe lower bound, and its values at some places in ascending order."""

    bound: float
    places: Floats
    values: Floats


def chord_bounds(left: Floats, right: Floats, low: Floats, high: Floats) -> Floats:
    """Return the least of a^2 + chord(a) over each interval.

    An end of which nothing is known, as the time was up, leaves nothing known of the interval.

    >>> ends = np.array([0.0, -np.inf])
    >>> chord_bounds(np.zeros(2), np.ones(2), ends, np.array([-1.0, -np.inf])).tolist()
    [-0.25, -inf]
    """
    known = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
    span = right - left
    slope = np.divide(high - low, span, out=np.zeros_like(span), where=span > 0)
    place = np.clip(-slope / 2.0, left, right)
    bounds: Floats = np.where(known, place**2 + low + slope * (place - left), -np.inf)
    return bounds


def least_on_line(
    phi: Callable[[Floats], Floats],
    places: Floats,
    enough: Callable[[float], float],
    clock: Clock,
    work: float,
) -> Curve:
    """Bound F(a) = a^2 + phi(a), phi concave, between the first and the last place.

    On an interval phi lies above its chord; intervals whose chord goes below enough(best value) are
    halved. `work` is what one value of phi is counted as.

    >>> curve = least_on_line(lambda a: -2.0 * a, np.array([0.0, 3.0]), lambda b: b, Clock(), 1.0)
    >>> curve.bound
    -1.0
    """
    values = phi(places)
    known = [(places, values + places**2)]
    left, right, low, high = places[:-1], places[1:], values[:-1], values[1:]
    bound = best = float(known[0][1].min())
    while True:
        bounds = chord_bounds(left, right, low, high)
        alive = (bounds < enough(best)) & (right - left > TOLERANCES.zero)
        bound = min(bound, float(bounds[~alive].min(initial=np.inf)))
        left, right, low, high = left[alive], right[alive], low[alive], high[alive]
        if not alive.any() or clock.left <= 0:
            break
        middle = (left + right) / 2.0
        clock.spend(work * middle.size)
        between = phi(middle)
        known.append((middle, between + middle**2))
        best = min(best, float(known[-1][1].min()))
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        low, high = np.concatenate([low, between]), np.concatenate([between, high])
    bound = min(bound, best, float(chord_bounds(left, right, low, high).min(initial=np.inf)))
    places, values = (np.concatenate(part) for part in zip(*known, strict=True))
    order = np.argsort(places, kind="stable")
    return Curve(bound, places[order], values[order])


class Pricing(Protocol):
    """How one shape of cost is priced over a polytope."""

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Return vertices of low reduced cost."""
        ...

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:
        """Return a safe lower bound of the reduced cost."""
        ...


class Variance:
    """c(v) = sum t^2 v - (sum t v)^2, the variance of numbers t.

    Since -m^2 = min over a of (a^2 - 2 a m), the least reduced cost is that of

        F(a) = a^2 + phi(a),   phi(a) = min over v of (t^2 - y - 2 a t) . v,

    with phi concave and a linear minimisation to evaluate.
    """

    def __init__(self, polytope: Polytope, points: Floats) -> None:
        self.polytope = polytope
        # The middle of the range keeps squares small; the variance does not change.
        self.points: Floats = points - (points.max() + points.min()) / 2.0
        ends = polytope.minimise(np.stack([self.points, -self.points]))[0]
        # Where there was no time for it, any mean of the numbers may occur.
        self._first = float(np.clip(ends[0], self.points.min(), self.points.max()))
        self._last = float(np.clip(-ends[1], self._first, self.points.max()))

    def _least(self, places: Floats, duals: Floats) -> tuple[Floats, Floats]:
        """Return phi and the vertices that attain it, for each a."""
        slopes = self.points**2 - duals - 2.0 * places[:, None] * self.points
        return self.polytope.minimise(slopes)

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Take the best vertex for many a, and follow each to where a is its mean."""
        places = np.linspace(self._first, self._last, LIMITS.places)
        places = np.concatenate([places, dot(columns, self.points)])
        found = [np.zeros((0, len(self.polytope)))]
        for _ in range(3):
            clock.spend(self.polytope.work * len(places))
            vertices = self._least(places, duals)[1]
            found.append(vertices)
            places = np.unique(np.round(dot(vertices, self.points), 12))
            if clock.left <= 0:
                break
        return np.unique(np.vstack(found), axis=0)

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:  # noqa: ARG002
        """Halve intervals of a until no chord goes below the best value, but for rounding."""
        size = float(np.abs(self.points**2 - duals).max() + 2 * np.abs(self.points).max() ** 2)
        slack = 4.0 * rounding(len(self.polytope)) * size
        columns = []

        def phi(places: Floats) -> Floats:
            values, vertices = self._least(places, duals)
            columns.append(
                vertices[np.argsort(places**2 + values, kind="stable")[: LIMITS.columns]]
            )
            return values

        places = np.linspace(self._first, self._last, LIMITS.places)
        curve = least_on_line(phi, places, lambda best: best - slack, clock, self.polytope.work)
        return PricingResult(curve.bound - slack, np.unique(np.vstack(columns), axis=0))


class Concave:
    """A concave cost of which only values and slopes are known.

    Every posterior is low + free t with t >= 0 and sum t = 1, where c is at least the linear
    function of t that agrees with it at the corners low + free e_x.
    """

    def __init__(self, polytope: Polytope, utility: Utility, low: Floats, starts: int) -> None:
        self.polytope, self.utility, self._low = polytope, utility, low
        self._starts = starts
        self._free = 1.0 - float(low.sum())
        self._generator = np.random.default_rng(len(polytope))
        self._corners = utility.costs(low + max(self._free, 0.0) * np.eye(len(polytope)))

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Linearise at each vertex, go to the best one, and repeat while that is better.

        A concave cost lies below its linearisation, so no step makes it worse.
        """
        slopes = self._generator.standard_normal((self._starts, len(self.polytope)))
        vertices = np.vstack([columns, self._best(slopes, clock)])
        found = [vertices]
        for _ in range(LIMITS.steps):
            moved = self._best(self.utility.slopes(vertices) - duals, clock)
            gain = self._reduced_costs(vertices[: len(moved)], duals) - self._reduced_costs(
                moved, duals
            )
            if not (gain > TOLERANCES.hair).any() or clock.left <= 0:
                break
            vertices = np.unique(moved[gain > TOLERANCES.hair], axis=0)
            found.append(vertices)
        return np.unique(np.vstack(found), axis=0)

    def _reduced_costs(self, vertices: Floats, duals: Floats) -> Floats:
        reduced: Floats = self.utility.costs(vertices) - dot(vertices, duals)
        return reduced

    def _best(self, slopes: Floats, clock: Clock) -> Floats:
        """Return the best vertices for some slopes, as many as there is time for."""
        found = [np.zeros((0, len(self.polytope)))]
        for first in range(0, len(slopes), LIMITS.columns):
            if clock.left <= 0:
                break
            part = slopes[first : first + LIMITS.columns]
            clock.spend(self.polytope.work * len(part))
            found.append(self.polytope.minimise(part)[1])
        return np.vstack(found)

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:  # noqa: ARG002
        """Bound by the values at the corners of the simplex around the polytope."""
        symbols = len(self.polytope)
        off = float(np.max(cost_error(self.utility, self._corners, symbols)))
        if self._free <= 0:  # one posterior alone
            value = float(self._corners[0] - dot(self._low, duals))
            size = abs(value) + float(np.abs(duals).max())
            return PricingResult(
                value - off - 4.0 * rounding(symbols) * size, self._low[None].copy()
            )
        # Less a constant: what is divided by a tiny `free` should be differences.
        level = float((self._corners.min() + self._corners.max()) / 2.0)
        rates = (self._corners - level) / self._free
        slopes = rates - duals
        least, vertices = self.polytope.minimise(slopes[None])
        value = level + float(least[0]) - float(dot(rates, self._low))
        size = abs(level) + 2.0 * float(np.abs(rates).max() + np.abs(duals).max())
        return PricingResult(value - off - 4.0 * rounding(symbols) * size, vertices)


class PolytopeOracle:
    """An oracle of a polytope and of how the cost is priced over it."""

    def __init__(self, polytope: Polytope, utility: Utility, pricing: Pricing) -> None:
        self.polytope, self.utility, self.pricing = polytope, utility, pricing

    def start(self) -> Floats:
        """Return the vertices that the polytope starts with."""
        return self.polytope.start()

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Return vertices with c(v) - duals . v as low as heuristics find, best first."""
        found = self.pricing.search(duals, columns, clock)
        reduced = self.utility.costs(found) - dot(found, duals)
        return found[np.argsort(reduced, kind="stable")]

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:
        """Return a safe lower bound of min (c(v) - duals . v)."""
        return self.pricing.prove(duals, goal, clock)
