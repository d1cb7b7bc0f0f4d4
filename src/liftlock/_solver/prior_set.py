"""Posteriors under a set of priors: every prior of the set sees lifts within the limits.

A column q of a channel is allowed when, for every prior P' of the set and its output mass
lambda' = sum_x P'(x) q_x,

    L max lambda' <= q_x <= U min lambda'   for every x.

The cost is that of the posterior v_x = P(x) q_x under one prior P of the set, with sum v = 1. The
columns form a polytope that linear programmes minimise over (the ends over the set by duality); a
concave separable cost is bounded by its chords on boxes, halved where they are least exact.

Source: 000 Def 6, section IV-B2.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from liftlock._solver.box import Box, Separable, Shape, Variance, linearised, shape_of
from liftlock._solver.channel_programme import Builder
from liftlock._solver.linear_programme import Optimum, Solver
from liftlock._solver.oracle import Clock, Priced
from liftlock._solver.problem import Problem
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.utility import shape
from liftlock.utility.utility import Utility

_STARTS = 12
_MOST_NODES = 20_000


class Columns:
    """The polytope of posteriors that a set of priors allows."""

    def __init__(self, problem: Problem, clock: Clock | None = None) -> None:
        self.masses = problem.masses
        builder = Builder(problem, np.zeros((len(self.masses), 1)))
        # Likelihoods with sum_x P(x) q_x = 1, so q is the lift under the prior P.
        most = float(1.0 / self.masses.min())
        table = builder.program.variables(np.zeros(len(self.masses)), most)
        builder.limit_lifts(table, most)
        builder.program.between([(table, builder.weighted(self.masses))], 1.0, 1.0)
        self._solver = Solver(builder.program, clock=clock)
        self.low, self.high = np.zeros(len(self.masses)), np.ones(len(self.masses))
        self._clock = Clock() if clock is None else clock
        self._tighten()

    def __len__(self) -> int:
        return len(self.masses)

    def least(
        self, slopes: Floats, low: Floats | None = None, high: Floats | None = None
    ) -> Optimum:
        """Minimise slopes . v, on a box if one is given; the values are those of v."""
        ends = (self.low if low is None else low, self.high if high is None else high)
        self._solver.keep(ends[0] / self.masses, ends[1] / self.masses)
        self._solver.price(slopes * self.masses)
        found = self._solver.solve()
        if not len(found.values):
            return found
        return Optimum(self._posterior(found.values), found.prices, found.bound, found.solved)

    def fill(self, slopes: Floats) -> Floats:
        """Return a vertex of least slopes . v for each row; the prior itself where time is up."""
        found = []
        for row in np.atleast_2d(slopes):
            least = self.least(row) if self._clock.left > 0 else None
            known = least is not None and least.solved and len(least.values)
            found.append(least.values if least is not None and known else self.masses)
        return np.array(found)

    def price(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return safe lower bounds of the least slopes . v for each row, and vertices."""
        found = [self.least(row) for row in np.atleast_2d(slopes)]
        return np.array([each.bound for each in found]), np.array([each.values for each in found])

    def _posterior(self, values: Floats) -> Floats:
        posterior = np.clip(values[: len(self.masses)] * self.masses, 0.0, None)
        normal: Floats = posterior / posterior.sum()
        return normal

    def _tighten(self) -> None:
        """Find how small and how large each entry can be, a hair on the safe side.

        Entries that there is no time for may be anything between 0 and 1.
        """
        each = np.eye(len(self))
        low, high = np.zeros(len(self)), np.ones(len(self))
        for x, row in enumerate(each):
            if self._clock.left > 0:
                low[x] = self.least(row).bound
        for x, row in enumerate(each):
            if self._clock.left > 0:
                high[x] = -self.least(-row).bound
        self.low, self.high = np.clip(low - 1e-12, 0.0, 1.0), np.clip(high + 1e-12, 0.0, 1.0)


@dataclass(order=True)
class _Node:
    bound: float
    low: Floats = field(compare=False)
    high: Floats = field(compare=False)
    vertex: Floats = field(compare=False)


class PriorSetOracle:
    """Prices posteriors whose lifts every prior of a set sees within the limits."""

    def __init__(self, problem: Problem, utility: Utility, clock: Clock | None = None) -> None:
        self.utility = utility
        self.columns = Columns(problem, clock)
        self._generator = np.random.default_rng(len(self.columns))
        box = Box.between(self.columns.low, self.columns.high, problem.masses)
        self._shape: Shape = shape_of(box, utility)
        match utility.shape:
            case shape.Variance(points):
                self._shape = Variance(self.columns, points)
            case _:
                pass

    def start(self) -> Floats:
        """Return, for each x, a column that is as high, and one that is as low, as can be there."""
        each = np.eye(len(self.columns))
        return self.columns.fill(np.vstack([-each, each]))

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:  # noqa: ARG002
        """Linearise again and again, from the columns in use and from random ones."""
        if isinstance(self._shape, Variance):
            places = np.linspace(*self._shape.ends, 24)
            points = self._shape.points
            starts = self.columns.fill(points**2 - duals - 2.0 * places[:, None] * points)
        else:
            slopes = self._generator.standard_normal((_STARTS, len(self.columns)))
            starts = np.vstack([columns, self.columns.fill(slopes)])
        found = linearised(self.columns, self.utility, duals, starts, steps=6)
        reduced = self.utility.costs(found) - dot(found, duals)
        return found[np.argsort(reduced, kind="stable")]

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:
        """Return a safe lower bound of the least reduced cost."""
        if isinstance(self._shape, Separable):
            return self._branch(self._shape, duals, goal, clock)
        if isinstance(self._shape, Variance):
            return self._shape.prove(duals, goal, clock)
        # A box around the polytope holds more posteriors, so its bound holds as well.
        priced = self._shape.prove(duals, goal, clock)
        return Priced(priced.bound, np.zeros((0, len(self.columns))))

    def _branch(self, shape: Separable, duals: Floats, goal: float, clock: Clock) -> Priced:
        """Chords on boxes; halve the box of least bound where its chord is farthest off."""
        columns = self.columns
        met: list[Floats] = []

        def node(low: Floats, high: Floats) -> _Node | None:
            width = high - low
            rise = shape.at(high) - shape.at(low)
            slopes = np.divide(rise, width, out=np.zeros(len(low)), where=width > 0)
            found = columns.least(slopes - duals, low, high)
            if not len(found.values):
                # A part that is only said to be empty is looked at more closely.
                middle = (low + high) / 2.0
                return None if found.bound > 0 else _Node(-np.inf, low, high, middle)
            base = float((shape.at(low) - slopes * low).sum()) + shape.constant
            # A chord is off by what its ends are, and each is passed in part.
            ends = np.abs(shape.at(low)) + np.abs(shape.at(high)) + np.abs(slopes * low)
            slack = 4.0 * rounding(len(low)) * (1.0 + float(ends.sum()))
            met.append(found.values)
            return _Node(found.bound + base - slack, low, high, found.values)

        root = node(columns.low, columns.high)
        assert root is not None  # the prior itself is always inside
        heap = [root]
        looked = 1
        best = np.inf
        while heap and looked < _MOST_NODES and clock.left > 0:
            worst = heap[0]
            if worst.bound >= goal:
                break
            value = float(self.utility.costs(worst.vertex[None])[0] - dot(worst.vertex, duals))
            best = min(best, value)
            if worst.bound >= best - 1e-12:
                break
            heapq.heappop(heap)
            place, cut = _split(shape, worst)
            left, right = worst.high.copy(), worst.low.copy()
            left[place] = right[place] = cut
            for ends in ((worst.low, left), (right, worst.high)):
                child = node(*ends)
                looked += 1
                if child is not None:
                    heapq.heappush(heap, _Node(max(child.bound, worst.bound), *ends, child.vertex))
        bound = heap[0].bound if heap else goal
        vertices = np.array(met)
        reduced = self.utility.costs(vertices) - dot(vertices, duals)
        return Priced(bound, vertices[np.argsort(reduced, kind="stable")[:32]])


def _split(shape: Separable, node: _Node) -> tuple[int, float]:
    """Choose the entry whose chord is farthest below the cost, and where to cut it."""
    width = node.high - node.low
    rise = shape.at(node.high) - shape.at(node.low)
    slopes = np.divide(rise, width, out=np.zeros(len(width)), where=width > 0)
    value = np.clip(node.vertex, node.low, node.high)
    error = shape.at(value) - shape.at(node.low) - slopes * (value - node.low)
    place = int(np.argmax(error))
    if error[place] <= 1e-15:
        place = int(np.argmax(width))
        return place, float((node.low[place] + node.high[place]) / 2.0)
    # Not too near an end, or the other part would stay as it was.
    share = np.clip((value[place] - node.low[place]) / width[place], 0.1, 0.9)
    return place, float(node.low[place] + share * width[place])
