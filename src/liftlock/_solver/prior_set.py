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

from liftlock._runtime.clock import Clock
from liftlock._solver.channel_programme import ChannelProgramme
from liftlock._solver.column_generation import Oracle, PricingResult
from liftlock._solver.limits import LIMITS
from liftlock._solver.pricing import Concave, PolytopeOracle, SeparableCost, Variance
from liftlock._solver.problem import Problem
from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import Optimum, Solver
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility import base
from liftlock.utility.base import Utility


class PriorSetPolytope:
    """The polytope of posteriors that a set of priors allows."""

    def __init__(self, problem: Problem, clock: Clock | None = None) -> None:
        self.masses = problem.masses
        builder = ChannelProgramme(problem, np.zeros((len(self.masses), 1)))
        # Likelihoods with sum_x P(x) q_x = 1, so q is the lift under the prior P.
        most = float(1.0 / self.masses.min())
        table = builder.program.add_variables(np.zeros(len(self.masses)), most)
        builder.limit_lifts(table, most)
        builder.program.add_rows([(table, builder.sum_over_inputs(self.masses))], 1.0, 1.0)
        self._solver = Solver(builder.program, clock=clock)
        self.low, self.high = np.zeros(len(self.masses)), np.ones(len(self.masses))
        self._clock = Clock() if clock is None else clock
        self._tighten()

    def __len__(self) -> int:
        return len(self.masses)

    @property
    def work(self) -> float:
        """Nothing: the solver counts its own operations."""
        return 0.0

    def start(self) -> Floats:
        """Return, for each x, a column that is as high, and one that is as low, as can be there."""
        each = np.eye(len(self))
        return self.minimise(np.vstack([-each, each]))[1]

    def minimise(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return safe lower bounds of slopes . v for each row, and vertices.

        Where the time is up nothing is bounded, and the vertex is the prior itself.
        """
        bounds, vertices = np.full(len(slopes), -np.inf), np.tile(self.masses, (len(slopes), 1))
        for place, row in enumerate(slopes):
            if self._clock.left > 0:
                found = self.least_within(row, self.low, self.high)
                bounds[place] = found.bound
                if found.solved and len(found.values):
                    vertices[place] = found.values
        return bounds, vertices

    def least_within(self, slopes: Floats, low: Floats, high: Floats) -> Optimum:
        """Minimise slopes . v on a box; the values are those of v."""
        self._solver.set_bounds(low / self.masses, high / self.masses)
        self._solver.set_costs(slopes * self.masses)
        found = self._solver.solve()
        if not len(found.values):
            return found
        return Optimum(self._posterior(found.values), found.prices, found.bound, found.solved)

    def _posterior(self, values: Floats) -> Floats:
        posterior = np.clip(values[: len(self.masses)] * self.masses, 0.0, None)
        total = float(posterior.sum())
        if not total > 0:  # a programme that was given up; the prior is always allowed
            return self.masses
        normal: Floats = posterior / total
        return normal

    def _tighten(self) -> None:
        """Find how small and how large each entry can be, a hair on the safe side.

        Entries that there is no time for may be anything between 0 and 1.
        """
        bounds = self.minimise(np.vstack([np.eye(len(self)), -np.eye(len(self))]))[0]
        low, high = np.split(bounds, 2)
        hair = TOLERANCES.hair
        self.low, self.high = np.clip(low - hair, 0.0, 1.0), np.clip(hair - high, 0.0, 1.0)


@dataclass(order=True)
class _Node:
    bound: float
    low: Floats = field(compare=False)
    high: Floats = field(compare=False)
    vertex: Floats = field(compare=False)


def prior_set_oracle(problem: Problem, utility: Utility, clock: Clock | None = None) -> Oracle:
    """Return the oracle of posteriors whose lifts every prior of a set sees within the limits."""
    columns = PriorSetPolytope(problem, clock)
    concave = Concave(columns, utility, columns.low, LIMITS.climbs)
    match utility.shape:
        case base.Separable(kind):
            chords = ChordPricing(columns, utility, SeparableCost(kind), concave)
            return PolytopeOracle(columns, utility, chords)
        case base.Variance(points):
            return PolytopeOracle(columns, utility, Variance(columns, points))
        case _:
            return PolytopeOracle(columns, utility, concave)


class ChordPricing:
    """Prices a separable cost: linearised by the search, and bounded by chords on boxes."""

    def __init__(
        self, columns: PriorSetPolytope, utility: Utility, cost: SeparableCost, concave: Concave
    ) -> None:
        self.columns, self.utility, self._cost, self._concave = columns, utility, cost, concave

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Linearise again and again, from the columns in use and from random ones."""
        return self._concave.search(duals, columns, clock)

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:
        """Halve the box of least bound where its chord is farthest off."""
        columns, cost = self.columns, self._cost
        met: list[Floats] = []

        def node(low: Floats, high: Floats) -> _Node | None:
            slopes = cost.chord(low, high)
            found = columns.least_within(slopes - duals, low, high)
            if not len(found.values):
                # A part that is only said to be empty is looked at more closely.
                middle = (low + high) / 2.0
                return None if found.bound > 0 else _Node(-np.inf, low, high, middle)
            base = float((cost.at(low) - slopes * low).sum()) + cost.constant
            # A chord is off by what its ends are, and each is passed in part.
            ends = np.abs(cost.at(low)) + np.abs(cost.at(high)) + np.abs(slopes * low)
            slack = 4.0 * rounding(len(low)) * (1.0 + float(ends.sum()))
            met.append(found.values)
            return _Node(found.bound + base - slack, low, high, found.values)

        root = node(columns.low, columns.high)
        assert root is not None  # the prior itself is always inside
        heap = [root]
        looked = 1
        best = np.inf
        while heap and looked < LIMITS.nodes[2] and clock.left > 0:
            worst = heap[0]
            if worst.bound >= goal:
                break
            value = float(self.utility.costs(worst.vertex[None])[0] - dot(worst.vertex, duals))
            best = min(best, value)
            if worst.bound >= best - TOLERANCES.hair:
                break
            heapq.heappop(heap)
            place, cut = _choose_split(cost, worst)
            left, right = worst.high.copy(), worst.low.copy()
            left[place] = right[place] = cut
            for ends in ((worst.low, left), (right, worst.high)):
                child = node(*ends)
                looked += 1
                if child is not None:
                    heapq.heappush(heap, _Node(max(child.bound, worst.bound), *ends, child.vertex))
        bound = heap[0].bound if heap else goal
        vertices = np.array(met).reshape(-1, len(columns))
        reduced = self.utility.costs(vertices) - dot(vertices, duals)
        return PricingResult(bound, vertices[np.argsort(reduced, kind="stable")[: LIMITS.columns]])


def _choose_split(cost: SeparableCost, node: _Node) -> tuple[int, float]:
    """Choose the entry whose chord is farthest below the cost, and where to cut it."""
    width = node.high - node.low
    slopes = cost.chord(node.low, node.high)
    value = np.clip(node.vertex, node.low, node.high)
    error = cost.at(value) - cost.at(node.low) - slopes * (value - node.low)
    place = int(np.argmax(error))
    if error[place] <= TOLERANCES.residue:
        place = int(np.argmax(width))
        return place, float((node.low[place] + node.high[place]) / 2.0)
    # Not too near an end, or the other part would stay as it was.
    share = np.clip((value[place] - node.low[place]) / width[place], 0.1, 0.9)
    return place, float(node.low[place] + share * width[place])
