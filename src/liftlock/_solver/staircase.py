"""Posteriors under local differential privacy of X itself: staircases.

The extreme columns of a channel whose likelihoods differ by a factor of at most E are those with
entries m and E m only. A vertex is a set K of raised symbols, with posterior

    v_x = P(x) (E if x in K else 1) / (1 + (E - 1) P(K)).

Up to 16 symbols all of them are listed. Beyond, a linear function is least at a set that its sorted
slopes name, which drives the search; a tree of sets proves how low a cost can be.

Source: 000 Def 1; 001 section V (k-ary randomised response is not optimal in general).
"""

from __future__ import annotations

import numpy as np

from liftlock._solver.box import (
    AnyConcave,
    Box,
    LeastOfLinear,
    Shape,
    Variance,
    linearised,
    priced,
)
from liftlock._solver.enumeration import ListedOracle
from liftlock._solver.oracle import Clock, Oracle, Priced
from liftlock._solver.problem import Problem
from liftlock._solver.stair_tree import StairTree
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.utility.distortion import Distortion
from liftlock.utility.guess import Guess
from liftlock.utility.histogram import Histogram
from liftlock.utility.mean import Mean
from liftlock.utility.mutual_information import MutualInformation
from liftlock.utility.utility import Utility

FEW = 16
"""Up to so many symbols every staircase is listed."""

_PER_START = 100
"""Passes over all pairs of symbols that one start of a search is counted as."""

_HAIR = 2.0**-49
_STARTS = 96
_POLISHED = 24


class Stairs:
    """The posteriors of all staircase columns, as a polytope.

    >>> stairs = Stairs(np.array([0.5, 0.5]), 3.0)
    >>> stairs.fill(np.array([[1.0, 0.0]])).tolist()
    [[0.25, 0.75]]
    """

    def __init__(self, masses: Floats, ratio: float) -> None:
        self.masses, self.ratio = np.asarray(masses, dtype=np.float64), ratio

    def __len__(self) -> int:
        return len(self.masses)

    def raised(self, sets: Floats) -> Floats:
        """Return the posteriors of sets given as rows of 0 and 1."""
        weights = self.masses * (1.0 + (self.ratio - 1.0) * sets)
        posteriors: Floats = weights / weights.sum(axis=1, keepdims=True)
        return posteriors

    def price(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return the least slopes . v for each row of slopes, to rounding, and its vertices."""
        return priced(self, slopes)

    def sets(self, posteriors: Floats) -> Floats:
        """Return the sets of staircases, as rows of 0 and 1."""
        lifts = posteriors / self.masses
        middle = lifts.min(axis=1, keepdims=True) * (1 + self.ratio) / 2
        raised: Floats = (lifts > middle).astype(np.float64)
        return raised

    def fill(self, slopes: Floats) -> Floats:
        """Return the staircase of least slopes . v for each row: the symbols of least slope."""
        rows = np.atleast_2d(slopes)
        order = np.argsort(rows, axis=1, kind="stable")
        masses = self.masses[order]
        gain = self.ratio - 1.0
        zero = np.zeros((len(rows), 1))
        costs = np.hstack([zero, np.cumsum(np.take_along_axis(rows, order, 1) * masses, axis=1)])
        sizes = np.hstack([zero, np.cumsum(masses, axis=1)])
        values = (costs[:, -1:] + gain * costs) / (1.0 + gain * sizes)
        count = np.argmin(values, axis=1)
        sets = np.zeros(rows.shape)
        np.put_along_axis(sets, order, (np.arange(rows.shape[1]) < count[:, None]) * 1.0, axis=1)
        return self.raised(sets)


def every_staircase(masses: Floats, ratio: float) -> Floats:
    """Return the posteriors of all sets but the empty and the full one.

    >>> every_staircase(np.array([0.5, 0.5]), 3.0).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    n = len(masses)
    numbers = np.arange(1, (1 << n) - 1)
    sets = ((numbers[:, None] >> np.arange(n)) & 1).astype(np.float64)
    return Stairs(masses, ratio).raised(sets)


def staircase_oracle(problem: Problem, utility: Utility) -> Oracle:
    """Return an exact oracle for few symbols, and one that searches and bounds for many."""
    assert problem.ratio is not None
    if len(problem.masses) <= FEW:
        return ListedOracle(every_staircase(problem.masses, problem.ratio), utility)
    return StaircaseOracle(problem, utility)


class StaircaseOracle:
    """Prices staircases of many symbols: by search, and by a tree of sets.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.prior import Prior
    >>> even = Problem.of(Prior.uniform(range(30)), LDP("1"))
    >>> oracle = StaircaseOracle(even, Histogram())
    >>> oracle.prove(np.zeros(30), -1.0, Clock()).bound > 0.9
    True
    """

    def __init__(self, problem: Problem, utility: Utility) -> None:
        assert problem.ratio is not None
        self.utility = utility
        self.stairs = Stairs(problem.masses, problem.ratio)
        self._generator = np.random.default_rng(len(self.stairs))
        self._shape = self._exact()
        self._tree: StairTree | None = None
        if isinstance(utility, MutualInformation | Histogram):
            kind = 1 if isinstance(utility, Histogram) else 0
            self._tree = StairTree(problem.masses, problem.ratio, kind)

    def _exact(self) -> Shape | None:
        """Return how the utility is priced exactly, if linear functions are enough."""
        if isinstance(self.utility, Mean):
            return Variance(self.stairs, np.array(self.utility.points))
        if isinstance(self.utility, Guess):
            return LeastOfLinear(self.stairs, 1.0 - np.eye(len(self.stairs)))
        if isinstance(self.utility, Distortion):
            return LeastOfLinear(self.stairs, self.utility.loss)
        return None

    def start(self) -> Floats:
        """Return k-ary randomised response, and random sets of every size."""
        n = len(self.stairs)
        sizes = self._generator.random((2 * n, 1))
        sets = (self._generator.random((2 * n, n)) < sizes).astype(np.float64)
        some = sets[(sets.sum(axis=1) > 0) & (sets.sum(axis=1) < n)]
        return np.vstack([self.stairs.raised(np.eye(n)), self.stairs.raised(some)])

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Return staircases of low reduced cost, best first."""
        many = len(columns) + max(_STARTS, 4 * len(self.stairs))
        clock.spend(_PER_START * many * float(len(self.stairs)) ** 2)
        if self._shape is not None:
            found = self._shape.search(duals, columns)
        else:
            count, n = max(_STARTS, 4 * len(self.stairs)), len(self.stairs)
            likely = self._generator.random((count, 1))
            sets = (self._generator.random((count, n)) < likely).astype(np.float64)
            starts = np.vstack([columns, self.stairs.raised(sets)])
            found = linearised(self.stairs, self.utility, duals, starts)
            if self._tree is None:
                found = self._flipped(found, duals)
            else:
                better = self._tree.improved(np.vstack([self.stairs.sets(found), sets]), duals)
                # Those that were not improved differ more from one another, and help as well.
                found = np.vstack([self.stairs.raised(better), found])
        reduced = self._reduced(found, duals)
        return found[np.argsort(reduced, kind="stable")]

    def _reduced(self, vertices: Floats, duals: Floats) -> Floats:
        reduced: Floats = self.utility.costs(vertices) - dot(vertices, duals)
        return reduced

    def _flipped(self, vertices: Floats, duals: Floats) -> Floats:
        """Raise or lower one symbol at a time in the best vertices, while that helps."""
        n = len(self.stairs)
        order = np.argsort(self._reduced(vertices, duals), kind="stable")[:_POLISHED]
        kept = [vertices[order]]
        for vertex in vertices[order]:
            raised = self.stairs.sets(vertex[None])[0]
            best = float(self._reduced(vertex[None], duals)[0])
            for _ in range(2 * n):
                near = np.abs(raised - np.eye(n))
                candidates = self.stairs.raised(near)
                values = self._reduced(candidates, duals)
                place = int(np.argmin(values))
                if values[place] >= best - 1e-14:
                    break
                best, raised = float(values[place]), near[place]
            kept.append(self.stairs.raised(raised[None]))
        return np.unique(np.vstack(kept), axis=0)

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:
        """Return a safe lower bound of the least reduced cost."""
        if self._shape is not None:
            return self._shape.prove(duals, goal, clock)
        masses, ratio = self.stairs.masses, self.stairs.ratio
        if self._tree is not None:
            return self._tree.prove(duals, goal, clock)
        least = 1.0 / (1.0 + (ratio - 1.0) * (1.0 - masses.min()))
        most = 1.0 / (1.0 + (ratio - 1.0) * masses.min())
        box = Box(masses, least * (1.0 - _HAIR), most * ratio * (1.0 + _HAIR))
        bound = AnyConcave(box, self.utility).prove(duals, goal, clock).bound
        return Priced(bound, np.zeros((0, len(masses))))
