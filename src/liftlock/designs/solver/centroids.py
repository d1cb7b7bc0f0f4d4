"""The least posterior variance when the secret is X itself: few outputs, found by their means.

The variance of a posterior is its least mean squared distance from a point a,

    c(v) = min over a of sum_x v_x (t_x - a)^2,

so the optimum is the least expected distortion with reproductions a anywhere on the line, and few
of them are used. For given points it is one linear programme; its prices tell, through an exact
one-dimensional search, which points would do better. With very many symbols neighbours are joined
first, and the points found there start the search on all of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.designs.problem import Problem
from liftlock.designs.solver.box import Box, Variance
from liftlock.designs.solver.generation import Solution
from liftlock.designs.solver.linear import LinearProgram
from liftlock.designs.solver.oracle import Clock, Progress
from liftlock.exact.integers import Floats
from liftlock.utility.mean import Mean

_FIRST = 10
_ROUNDS = 14
_COARSE = 120

_COARSE_SECONDS = 15.0

_PATIENCE = 60.0
"""Seconds after which a search without a time limit ends with the gap that it has proved."""


def least_variance(problem: Problem, utility: Mean, clock: Clock) -> Solution:
    """Find the decomposition of the prior with the least mean posterior variance."""
    search = _Search(problem.masses, np.array(utility.points), problem.lower, problem.upper, clock)
    try:
        search.run(search.coarse_points())
    except KeyboardInterrupt:
        search.stopped = True
    return search.solution()


class _Search:
    def __init__(
        self, masses: Floats, points: Floats, lower: float, upper: float, clock: Clock
    ) -> None:
        self.masses, self.clock = masses, clock
        self.lower, self.upper = lower, min(upper, 1.0 / float(masses.min()))
        self.raw = points
        self.box = Box(masses, lower, upper)
        self.shape = Variance(self.box, points)
        self.points = self.shape.points
        self.reference = float(masses @ self.points**2 - (masses @ self.points) ** 2)
        self.bound, self.rounds, self.seen = 0.0, 0, 1
        self.stopped = False
        self.centre: Floats | None = None
        self.best = (masses[None, :].copy(), np.ones(1), self.reference)

    @property
    def gap(self) -> float:
        return (self.best[2] - self.bound) / self.reference if self.reference > 0 else 0.0

    def coarse_points(self) -> Floats:
        """Return points to start from: even ones, or those found with neighbours joined."""
        low, high = self.shape.ends
        if len(self.masses) <= 2 * _COARSE:
            return np.linspace(low, high, _FIRST)
        order = np.argsort(self.points, kind="stable")
        groups = np.array_split(order, _COARSE)
        masses = np.array([self.masses[group].sum() for group in groups])
        means = np.array([self.masses[group] @ self.points[group] for group in groups]) / masses
        seconds = min(0.25 * self.clock.left, _COARSE_SECONDS)
        coarse = _Search(masses, means, self.lower, self.upper, Clock(gap=1e-5, seconds=seconds))
        coarse.run(np.linspace(*coarse.shape.ends, _FIRST))
        self._adopt(coarse, groups, means)
        shift = float(means[0] - coarse.points[0])
        return coarse.best[0] @ coarse.points + shift

    def _adopt(self, coarse: _Search, groups: list[npt.NDArray[np.intp]], means: Floats) -> None:
        """Start from a solution for joined neighbours: all of a group answer alike.

        Its lifts are those of the group, so it keeps every limit; its prices, read between the
        groups, already prove something.
        """
        group = np.empty(len(self.masses), dtype=np.intp)
        for place, members in enumerate(groups):
            group[members] = place
        columns, weights, _ = coarse.best
        spread = (columns / coarse.masses)[:, group] * self.masses
        spread /= spread.sum(axis=1, keepdims=True)
        cost = float(weights @ self._variances(spread))
        if cost < self.best[2]:
            self.best = (spread, weights, cost)
        if coarse.centre is not None:
            self._prove(np.interp(self.points, means, coarse.centre))
            self._tell()

    def run(self, places: Floats) -> None:
        while self.reference > 0 and self.gap > self.clock.gap and self.rounds < _ROUNDS:
            self.rounds += 1
            found = self._solve(places)
            if found is None:
                self.stopped = True
                return
            prices, columns, weights = found
            cost = float(weights @ self._variances(columns))
            if cost < self.best[2]:
                self.best = (columns, weights, cost)
            wanted = [self._prove(prices)]
            # Prices swing from round to round; between the best so far and the new ones they prove
            # more, and ask for points that matter.
            centre = self.centre
            assert centre is not None
            for share in (0.3, 0.6, 0.85, 0.95):
                wanted.append(self._prove(share * centre + (1.0 - share) * prices))
            self._tell()
            if self.clock.left <= 0 or self.clock.elapsed > (self.clock.seconds or _PATIENCE):
                self.stopped = True
                return
            # Points are never dropped: without the old ones the prices would go in circles.
            places = merged(
                np.concatenate([places, columns @ self.points, wanted[0], wanted[-1]]), self.points
            )

    def _prove(self, prices: Floats) -> Floats:
        """Bound the optimum with some prices; return the points that they ask for."""
        goal = -0.1 * self.clock.gap * self.reference
        priced = self.shape.prove(prices, goal, self.clock)
        self.seen += len(priced.columns)
        proved = float(prices @ self.masses) + min(priced.bound, 0.0)
        if proved > self.bound or self.centre is None:
            self.bound, self.centre = max(self.bound, proved), prices
        return self._wanted(prices, priced.columns)

    def _variances(self, columns: Floats) -> Floats:
        variances: Floats = columns @ self.points**2 - (columns @ self.points) ** 2
        return variances

    def _wanted(self, prices: Floats, columns: Floats) -> Floats:
        """Return the means of the best columns, each followed to where it is its own mean."""
        reduced = self._variances(columns) - columns @ prices
        means = columns[np.argsort(reduced)[:64]] @ self.points
        grid = np.linspace(*self.shape.ends, 96)
        found = self.shape.search(prices, columns[:0]) if len(self.masses) <= 300 else columns
        means = np.concatenate([means, found @ self.points, grid])
        for _ in range(3):
            slopes = self.points**2 - prices - 2.0 * means[:, None] * self.points
            vertices = self.box.fill(slopes)
            means = np.unique(np.round(vertices @ self.points, 10))
        slopes = self.points**2 - prices - 2.0 * means[:, None] * self.points
        values = means**2 + (slopes * self.box.fill(slopes)).sum(axis=1)
        chosen: list[float] = []
        spacing = (self.shape.ends[1] - self.shape.ends[0]) / 60.0
        # The best of each neighbourhood, as long as it helps.
        for place in np.argsort(values):
            if values[place] > -1e-9 * self.reference or len(chosen) >= 4:
                break
            if all(abs(means[place] - other) > spacing for other in chosen):
                chosen.append(float(means[place]))
        return np.array(chosen)

    def _solve(self, places: Floats) -> tuple[Floats, Floats, Floats] | None:
        """Return prices of the symbols, and the posteriors and weights of the points used.

        None when the time has run out before a solution was found.
        """
        from scipy import sparse

        n, count = len(self.masses), len(places)
        loss = (self.points[:, None] - places) ** 2
        program = LinearProgram()
        extra = program.variables(self.masses[:, None] * loss)
        shares = program.variables(self.lower * (self.masses @ loss))
        each = sparse.identity(count)
        over = sparse.kron(sparse.identity(n), np.ones((1, count)))
        program.between([(extra, over)], 1 - self.lower, 1 - self.lower)
        program.between(
            [
                (extra, sparse.kron(self.masses[None, :], each)),
                (shares, (self.lower - 1) * each),
            ],
            0.0,
            0.0,
        )
        program.between(
            [
                (extra, sparse.identity(n * count)),
                (shares, (self.lower - self.upper) * sparse.kron(np.ones((n, 1)), each)),
            ],
            -np.inf,
            0.0,
        )
        found = program.minimise(seconds=2 * self.clock.left if self.clock.seconds else None)
        if not found.solved:
            return None
        table = found.values[: n * count].reshape(n, count) + self.lower * found.values[n * count :]
        joint = np.clip(table, 0.0, None) * self.masses[:, None]
        joint *= self.masses[:, None] / joint.sum(axis=1, keepdims=True)
        weights = joint.sum(axis=0)
        used = weights > 0
        joint, weights = joint[:, used], weights[used]
        rows = found.prices[:n]
        return rows / self.masses - self.lower * rows.sum(), (joint / weights).T, weights

    def _tell(self) -> None:
        if self.clock.watch is not None:
            self.clock.watch(
                Progress(
                    "points", self.best[2], self.bound, self.gap, self.seen, self.clock.elapsed
                )
            )

    def solution(self) -> Solution:
        columns, weights, cost = self.best
        return Solution(
            columns,
            weights,
            cost,
            min(self.bound, cost),
            self.reference,
            self.seen,
            self.rounds,
            self.clock.elapsed,
            self.stopped,
        )


def merged(places: Floats, points: Floats) -> Floats:
    """Drop points that are the same to a millionth of the range."""
    ordered = np.sort(places)
    apart = 1e-6 * float(points.max() - points.min())
    keep = np.concatenate([[True], np.diff(ordered) > apart])
    chosen: Floats = ordered[keep]
    return chosen
