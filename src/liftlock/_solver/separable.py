"""Separable costs over polytopes of few rows: descents find vertices, branch and bound proves.

    Pi = {v >= 0, sum v = 1, L P_S <= P(S|X) v <= U P_S}

has |S| + 1 rows, so its vertices have at most |S| + 1 positive entries, and linear programmes over
it are small. Several secrets have their rows one below the other, with limits of their own. When X
itself is the secret the limits are bounds of v,

    Pi = {v : L P <= v <= U P, sum v = 1},

and the sum is the only row: a vertex has all coordinates but one at an end. Posterior variance is
one more row, the mean, with a square of its own.

Source: 002 eq. (25), eq. (26); 000 section IV; 001 Thm 4.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import MOMENT, PASS, SPEED, Clock
from liftlock._solver.box import Box
from liftlock._solver.column_generation import Oracle, PricingResult
from liftlock._solver.kernels import branch, descent, simplex
from liftlock._solver.kernels.costs import ENTROPY, SQUARE, Cost
from liftlock._solver.kernels.simplex import Programme
from liftlock._solver.limits import LIMITS
from liftlock._solver.pricing import Concave, PolytopeOracle, SeparableCost
from liftlock._solver.problem import Limit, Problem
from liftlock._solver.random_decomposition import even_columns
from liftlock.errors import extra
from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import Highs
from liftlock.exact.reproducible import dot, exp, log
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility.base import Separable, TermKind, Utility, Variance

_FEW = 4
"""Where the first random starts lead to fewer vertices, there are eight times as many."""
_FRUITFUL = 10
"""When fewer than one in so many columns led to a better one, look from elsewhere too."""
_SLICE = 0.25
"""How wide the slices of a least lift are at first, as a logarithm."""
_NARROW = 1.0 + 1e-9
"""Slices whose ends differ by less are not cut."""
_MEMORY = 1 << 28
"""Bytes that the open boxes of one region may take."""
_WORKERS = max(1, min(4, os.cpu_count() or 1))

Numbers = npt.NDArray[np.int64]
T = TypeVar("T")
R = TypeVar("R")


def programme_of(problem: Problem, points: Floats | None = None) -> Programme:
    """Write down the rows: the sum, the lifts, and with `points` the mean; a slack for each row.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> own = programme_of(Problem.of(Prior.from_counts({"a": 1, "b": 3}), LIP("ln 2")))
    >>> own.matrix.tolist(), own.lower.round(9).tolist(), own.upper.round(9).tolist()
    ([[1.0, 1.0]], [0.125, 0.5], [0.5, 0.875])
    """
    inputs = len(problem.masses)
    rows, low, high = [np.ones(inputs)], [], []
    least = np.zeros(inputs)
    # No vertex has an entry above 1, so none of them stands at this bound.
    most = np.full(inputs, 2.0)
    pairs: list[tuple[int, Floats, float]] = []
    """Where the rows of each limit of ratios begin, how they are scaled, and the ratio."""
    for limit in problem.limits:
        if limit.is_box:
            box = Box(problem.masses, limit.lower, limit.upper)
            least = np.maximum(least, box.low)
            most = np.minimum(most, box.low + box.width)
        elif limit.ratio is None:
            for row in limit.lifts:
                rows.append(row)
                low.append(max(limit.lower, 0.0))
                high.append(min(limit.upper, float(row.max())))
        else:
            # m <= lift <= E m, twice as many rows; the least lift m is a variable at the end.
            lifts = limit.lifts
            scales = np.ones(len(lifts))
            if limit.given is None:
                # Lifts of X itself are entries divided by small numbers: multiplied again. Rows
                # imply these ends.
                scales, masses, wide = problem.masses, problem.masses, limit.ratio - 1.0
                hair = rounding(inputs)
                smallest = masses / (1.0 + wide * (1.0 - masses)) * (1.0 - hair)
                largest = masses * limit.ratio / (1.0 + wide * masses) * (1.0 + hair)
                least, most = np.maximum(least, smallest), np.minimum(most, largest)
            pairs.append((len(rows), scales, limit.ratio))
            for row, scale in zip(lifts, scales, strict=True):
                rows += [scale * row, -scale * row]
                low += [0.0, 0.0]
                high += [scale * float(row.max()), scale * limit.ratio]
    if points is not None:
        rows.append(points)
        low.append(float(points.min()))
        high.append(float(points.max()))
    count = len(rows)
    matrix = np.zeros((count, inputs + count - 1 + len(pairs)))
    matrix[:, :inputs] = rows
    matrix[1:, inputs : inputs + count - 1] = -np.eye(count - 1)
    for place, (begin, scales, ratio) in enumerate(pairs, inputs + count - 1):
        end = begin + 2 * len(scales)
        matrix[begin:end:2, place] = -scales
        matrix[begin + 1 : end : 2, place] = ratio * scales
        low.append(1 / ratio)
        high.append(1.0)
    right = np.zeros(count)
    right[0] = 1.0
    lower, upper = np.concatenate([least, low]), np.concatenate([most, high])
    limits = _limits_of_rows(matrix, inputs, lower, upper)
    return Programme(matrix, right, lower, upper, np.abs(matrix).max(axis=1), limits)


def _limits_of_rows(matrix: Floats, inputs: int, lower: Floats, upper: Floats) -> Floats:
    """Return, for each row, bounds of its sum over the inputs, and its least and largest entry."""
    body, rest = matrix[:, :inputs], matrix[:, inputs:]
    ends = np.stack([-rest * lower[inputs:], -rest * upper[inputs:]])
    limits: Floats = np.stack(
        [ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1), body.min(1), body.max(1)],
        axis=1,
    )
    return limits


class RowPolytope:
    """The polytope of posteriors behind a secret, or of X itself, as a programme of few rows."""

    def __init__(self, problem: Problem, points: Floats | None, clock: Clock) -> None:
        self.problem = problem
        self.inputs = n = len(problem.masses)
        self.programme = programme_of(problem, points)
        rows, size = self.programme.matrix.shape
        self.reach = self.programme.upper.copy()
        """Upper bounds of the coordinates, once they are known."""
        self.reach[:n] = np.minimum(self.reach[:n], 1.0)
        self._per_step = float(size + rows**2)
        operations = n * self._per_step
        clock.check(operations)
        self._vertex = simplex.new_vertex(self.programme)
        simplex.start_at_point(self.programme, problem.masses, self._vertex)
        lower, upper = self.programme.lower, self.programme.upper
        simplex.purify(self.programme, lower, upper, self._vertex, np.zeros(size))
        clock.spend(operations)
        # The ends of X itself are known, and any vertex will do.
        known = problem.only_itself
        self.extremes = self._vertex.values[None, :n].copy() if known else self._extremes(clock)
        """For each coordinate a vertex at which it is as large as can be."""

    def __len__(self) -> int:
        return self.inputs

    @property
    def work(self) -> float:
        """Operations that a linear programme is counted as."""
        return float(PASS * self.programme.matrix.shape[1])

    def start(self) -> Floats:
        """For each x, a vertex that makes v_x as large as it can be."""
        return self.keep_inside(self.extremes)

    def minimise(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Minimise linear costs, each from the last basis: safe bounds, and the vertices."""
        programme, (rows, size) = self.programme, self.programme.matrix.shape
        multipliers, reduced = np.zeros(rows), np.zeros(size)
        bounds, vertices = np.empty(len(slopes)), np.empty((len(slopes), self.inputs))
        for place, row in enumerate(slopes):
            cost = np.zeros(size)
            cost[: self.inputs] = row
            ends = programme.lower, self.reach
            simplex.optimise(
                programme, *ends, self._vertex, cost, multipliers, reduced, LIMITS.steps
            )
            bounds[place] = simplex.safe_bound(programme, *ends, cost, multipliers, reduced, 0.0)
            vertices[place] = np.clip(self._vertex.values[: self.inputs], 0.0, None)
        return bounds, vertices / vertices.sum(axis=1, keepdims=True)

    def keep_inside(self, columns: Floats) -> Floats:
        """Clear what is rounding, and drop columns that are outside the polytope."""
        problem = self.problem
        # Each entry within its own ends, however small they are.
        ends = self.programme.lower[: self.inputs], self.programme.upper[: self.inputs]
        if problem.only_itself:
            columns = np.clip(columns, *ends)
            kept: Floats = columns[np.abs(columns.sum(axis=1) - 1.0) <= TOLERANCES.hair]
            return kept
        columns = np.where(columns < TOLERANCES.hair, 0.0, columns)
        if problem.more:
            columns = np.clip(columns, *ends)
            columns = columns[np.abs(columns.sum(axis=1) - 1.0) <= TOLERANCES.hair]
        columns /= columns.sum(axis=1, keepdims=True)
        for limit in problem.limits:
            if not limit.is_box:
                columns = columns[_keeps(limit, columns)]
        return columns

    def _extremes(self, clock: Clock) -> Floats:
        """Maximise each coordinate: upper bounds for `reach`, and the vertices.

        When the time is up the other coordinates keep their bound, and have no vertex.
        """
        vertices = np.zeros((self.inputs, self.inputs))
        for x in range(self.inputs):
            for _ in range(LIMITS.steps // simplex.REFRESH):
                if clock.left <= 0:
                    return vertices[:x]
                steps, most = simplex.maximise(self.programme, self._vertex, x)
                clock.spend(self._per_step * (simplex.REFRESH if steps < 0 else steps + 1))
                self.reach[x] = min(self.reach[x], most)
                if steps >= 0:
                    break
            vertices[x] = self._vertex.values[: self.inputs]
        return vertices


def _keeps(limit: Limit, columns: Floats) -> npt.NDArray[np.bool_]:
    """Tell which posteriors keep a limit, but for a hair."""
    lifts = dot(columns, limit.lifts.T)
    least, most, off = lifts.min(axis=1), lifts.max(axis=1), TOLERANCES.hair
    if limit.ratio is not None:
        # A lift of X itself is as rough as its posterior, divided by how rare it is.
        if limit.given is None:  # what locking makes up for by a blend of a hair
            off *= limit.ratio
        kept: npt.NDArray[np.bool_] = most <= least * limit.ratio + off
    else:
        kept = (least >= limit.lower - off) & (most <= limit.upper + off)
    return kept


def rows_oracle(problem: Problem, utility: Utility, clock: Clock | None = None) -> Oracle:
    """Return the oracle of a prior or a joint under limits of lifts, or of a joint under LDP."""
    if isinstance(utility.shape, Separable | Variance):
        return SeparableOracle(problem, utility, clock)
    if problem.only_itself:
        box = Box(problem.masses, problem.lower, problem.upper)
        return PolytopeOracle(box, utility, Concave(box, utility, box.low, LIMITS.starts))
    rows = RowPolytope(problem, None, Clock() if clock is None else clock)
    least = rows.programme.lower[: len(rows)]
    return PolytopeOracle(rows, utility, Concave(rows, utility, least, len(rows)))


class SeparableOracle:
    """A polytope of few rows, with a separable cost or the posterior variance.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> from liftlock.utility.symmetric import Histogram
    >>> rare = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
    >>> oracle = SeparableOracle(Problem.of(rare, LIP("1")), Histogram())
    >>> priced = oracle.prove(np.zeros(3), -1.0, Clock())
    >>> round(oracle.prove(np.zeros(3), 1.0, Clock()).bound, 6)  # the least of 1 - sum v^2
    0.201781
    """

    def __init__(self, problem: Problem, utility: Utility, clock: Clock | None = None) -> None:
        clock = Clock() if clock is None else clock
        self.utility = utility
        self.inputs = n = len(problem.masses)
        self._scale, self._constant = 1.0, 0.0
        self._own: Box | None = None
        self._cost: SeparableCost | None = None
        points = None
        match utility.shape:
            case Separable(kind):
                self._cost = SeparableCost(kind)
                self._constant = self._cost.constant
            case Variance(numbers):
                # To unit variance: the rows of the programme should be of similar size.
                points = numbers - dot(problem.masses, numbers)
                spread = float(np.sqrt(dot(problem.masses, points**2))) or 1.0
                points = points / spread
                self._scale = spread**2
            case _:
                raise TypeError(f"{utility.name} is neither separable nor a variance")
        self.rows = RowPolytope(problem, points, clock)
        size = self.rows.programme.matrix.shape[1]
        self._kinds, self._fixed = np.zeros(size, np.int8), np.zeros(size)
        if self._cost is not None:
            self._kinds[:n] = SQUARE if self._cost.kind is TermKind.SQUARE else ENTROPY
        if points is not None:
            self._kinds[n + len(self.rows.programme.right) - 2] = SQUARE
            self._fixed[:n] = points**2
        if problem.only_itself:
            self._own = Box(problem.masses, problem.lower, problem.upper)
            self._generator = np.random.default_rng(n)
        self.stabilise = not problem.only_itself
        """Few columns leave most prices open; column generation keeps them in a box at first."""
        # Where entries have ends of their own, many of a vertex may be large.
        free = all(limit.given is not None for limit in problem.limits)
        self._split = free and n >= LIMITS.regions and bool(self._kinds[0])
        ratios = [limit for limit in problem.limits if limit.ratio is not None]
        own = [k for k, limit in enumerate(ratios) if limit.given is None]
        self._level: tuple[int, float] | None = None
        """The variable of the least lift of X itself, and what no lift exceeds it by."""
        if own and not problem.only_itself:
            ratio = min(ratios[k].ratio or 1.0 for k in own)
            place = next(k for k in own if ratios[k].ratio == ratio)
            self._level = size - len(ratios) + place, ratio
        """Whether a proof asks separately for each coordinate that may be the largest."""
        self.opened = 0
        """Boxes opened by the last proof."""

    @property
    def known_bound(self) -> float:
        """A lower bound of the optimum that needs no search; -inf if none is known."""
        if self._own is None or self._cost is None:
            return -np.inf
        box = self._own
        return self._cost.minimise_mean(box.low, box.high, self.rows.problem.masses)

    def start(self) -> Floats:
        """For each x, a vertex that makes v_x as large as it can be; more if X is the secret."""
        if self._own is None:
            return self.rows.start()
        columns = [self._own.start()]
        if self._cost is not None:
            columns.append(even_columns(self._own, 4 * self.inputs, self._generator))
        return np.vstack(columns)

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Descend from the columns in use, and from vertices of other kinds."""
        cost = self._reduced_cost(duals)
        if self._own is not None:
            return self._search_shaken(cost, columns, clock)
        found = self._descend_from(cost, columns, clock)
        if len(columns) < LIMITS.regions or _FRUITFUL * len(found) < len(columns):
            more = self._descend_from(cost, self.rows.extremes, clock)
            found = np.concatenate([found, more])
            found = found[np.argsort(self.utility.costs(found) - dot(found, duals), kind="stable")]
        return found

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:
        """Bound the cost from below by branch and bound."""
        if self._own is not None and self.inputs <= LIMITS.few_symbols and goal < 0:
            # With few symbols a much smaller gap costs little more.
            closer = self._prove_bound(duals, goal * TOLERANCES.close, clock, LIMITS.nodes[1:-1])
            if closer.bound >= goal:
                return closer
        return self._prove_bound(
            duals, goal, clock, LIMITS.nodes[:-1] if self._split else LIMITS.nodes[1:]
        )

    def _prove_bound(
        self, duals: Floats, goal: float, clock: Clock, budgets: tuple[int, ...]
    ) -> PricingResult:
        cost = self._reduced_cost(duals)
        inner = (goal - self._constant) / self._scale
        if self._level is not None:
            bound, found = self._levels(cost, inner, clock, *self._level)
        else:
            bound, found = self._regions(cost, inner, clock, budgets)
        # What is taken off: the rounding of numbers that were scaled, and of this sum.
        size = abs(bound) + self._constant / self._scale + float(np.abs(self._fixed).max())
        slack = rounding(0) * size
        return PricingResult((bound - slack) * self._scale + self._constant, found)

    def _reduced_cost(self, duals: Floats) -> Cost:
        """Return the reduced cost."""
        linear = self._fixed.copy()
        linear[: self.inputs] -= duals / self._scale
        return Cost(linear, self._kinds)

    # ------------------------------------------------------------------ search

    def _search_shaken(self, cost: Cost, columns: Floats, clock: Clock) -> Floats:
        """Descend from the columns in use, and from vertices that are best for shaken slopes."""
        assert self._own is not None
        box = self._own
        slopes = cost.linear[: self.inputs].copy()
        if self._cost is not None:
            slopes += self._cost.chord(box.low, box.high)
        spread = np.std(slopes) + TOLERANCES.hair
        starts = np.vstack([columns, box.minimise(slopes[None])[1]])
        found = np.zeros((0, self.inputs))
        for count in (LIMITS.starts, 8 * LIMITS.starts):
            scale = spread * self._generator.choice([0.1, 0.5, 2.0], size=(count, 1))
            shaken = slopes + scale * self._generator.standard_normal((count, self.inputs))
            found = self._descend_from(cost, np.vstack([starts, box.minimise(shaken)[1]]), clock)
            if len(found) >= _FEW or clock.left <= 0:
                break
            starts = found
        return found

    def descend(self, duals: Floats, starts: Floats, clock: Clock) -> Floats:
        """Return vertices below the starts that no neighbour is better than, best first."""
        return self._descend_from(self._reduced_cost(duals), starts, clock, below=np.inf)

    def _descend_from(
        self, cost: Cost, starts: Floats, clock: Clock, below: float = -TOLERANCES.visible
    ) -> Floats:
        """Descend from every row; return distinct vertices cheaper than `below`, best first."""
        programme, reach = self.rows.programme, self.rows.reach
        each = self.rows.work
        if len(programme.right) == 1:
            each += float(self.inputs**2)  # the pairs that are exchanged

        def descend(chosen: Numbers) -> tuple[tuple[Floats, Floats], float]:
            vertices = np.empty((2 * len(chosen), self.inputs))
            costs = np.empty(2 * len(chosen))
            count = descent.descend(
                programme, cost, reach, starts, chosen, LIMITS.steps, vertices, costs
            )
            real = costs[:count] * self._scale + self._constant
            good = real < below
            return (vertices[:count][good], real[good]), each * len(chosen)

        # An interruption waits for what is running.
        together = int(np.clip(MOMENT * SPEED / each, 1, 50))
        starts = np.ascontiguousarray(starts)
        tasks = np.array_split(np.arange(len(starts)), len(starts) // together + 1)
        results = _run_in_threads([task for task in tasks if len(task)], descend, clock)
        if not results:
            return np.zeros((0, self.inputs))
        vertices, costs = (np.concatenate(part) for part in zip(*results, strict=True))
        # Equal vertices have equal costs, so that they follow each other or nearly.
        kept: dict[bytes, int] = {}
        for k in np.argsort(costs, kind="stable"):
            names = np.flatnonzero(vertices[k] > TOLERANCES.hair)
            key = names.tobytes() + vertices[k, names].round(9).tobytes()
            kept.setdefault(key, int(k))
        return self.rows.keep_inside(vertices[np.fromiter(kept.values(), np.int64, len(kept))])

    # ------------------------------------------------------------------- proof

    def _regions(
        self, cost: Cost, goal: float, clock: Clock, budgets: tuple[int, ...]
    ) -> tuple[float, Floats]:
        """Branch and bound in each region; return the least bound, and vertices below 0."""
        programme, reach = self.rows.programme, self.rows.reach
        # Where the cost is low some entry is large, and it pays to ask separately for each that
        # may be the largest.
        stars, width, cap = np.array([-1]), self.inputs, 0.0
        if self._split:
            cap = self._cap(cost, goal, clock) - TOLERANCES.visible
            stars = np.flatnonzero(reach[: self.inputs] >= cap)
            width = max(64, self.inputs // 5)
        bounds = np.full(len(stars), -np.inf)
        points: list[Floats] = []
        halt = np.zeros(1, np.int64)
        each = 2 if self._split else 50
        vertices = np.zeros((0, self.inputs))

        size = programme.matrix.shape[1]
        per_box = 8 * (len(programme.right) ** 2 + 4 * size) + size
        room = max(LIMITS.columns, _MEMORY // per_box)

        per_node = float(PASS * min(size, width + len(programme.right)))

        def bound(chosen: Numbers) -> tuple[tuple[Numbers, Floats, Floats], float]:
            part = np.full(len(chosen), -np.inf)
            found = np.zeros((each * len(chosen), self.inputs))
            counts = np.zeros(3, np.int64)
            branch.bound_regions(
                programme, cost, reach, goal, stars[chosen], cap, self.rows.extremes, budget,
                width, room, each, found, counts, part, halt,
            )  # fmt: skip
            self.opened += int(counts[1])
            return (chosen, part, found[: counts[0]]), per_node * float(counts[1] + len(chosen))

        self.opened = 0
        todo = np.arange(len(stars))
        for budget in budgets:
            # A task must not take more than the work that is left.
            budget = int(min(budget, max(clock.left * SPEED / per_node, 1.0)))
            pieces = len(todo) * budget // 1000 + 1
            tasks = [part for part in np.array_split(todo, pieces) if len(part)]
            for chosen, part, found in _run_in_threads(tasks, bound, clock, halt):
                bounds[chosen] = np.maximum(bounds[chosen], part)
                points.append(found)
            todo = todo[bounds[todo] < goal]
            if any(len(part) for part in points):
                # Each point leads to a vertex that costs no more, unless it was a rounding error.
                starts = np.clip(np.concatenate(points), 0.0, None)
                points.clear()
                below = 0.5 * (goal * self._scale + self._constant)
                vertices = self._descend_from(
                    cost, starts, clock, below=min(below, -TOLERANCES.visible)
                )
                if len(vertices):
                    break
                each = 0
            if not len(todo) or clock.left <= 0:
                break
        return min(float(bounds.min(initial=np.inf)), goal), vertices

    def _levels(
        self, cost: Cost, goal: float, clock: Clock, variable: int, ratio: float
    ) -> tuple[float, Floats]:
        """Bound the same, slice by slice of the least lift, where ratios of X itself are limited.

        Lifts lie between m and E m, so that boxes are small where m is nearly known. A slice that
        proves too little is cut in two.
        """
        programme, masses, n = self.rows.programme, self.rows.problem.masses, self.inputs
        size = programme.matrix.shape[1]
        per_node = float(PASS * (size + len(programme.right)))
        per_box = 8 * (len(programme.right) ** 2 + 4 * size) + size
        room = max(LIMITS.columns, _MEMORY // per_box)
        halt, each, star = np.zeros(1, np.int64), 20, np.array([-1])
        # Releasing nothing has any least lift up to 1.
        point = masses[None, :].copy()

        def bound(slice_: tuple[float, float, float]) -> tuple[tuple[float, Floats], float]:
            low, high, known = slice_
            lower, upper = programme.lower.copy(), self.rows.reach.copy()
            lower[variable], upper[variable] = low, high
            hair = rounding(n)
            lower[:n] = np.maximum(lower[:n], masses * low * (1.0 - hair))
            upper[:n] = np.minimum(upper[:n], masses * ratio * high * (1.0 + hair))
            limits = _limits_of_rows(programme.matrix, n, lower, upper)
            part = Programme(
                programme.matrix, programme.right, lower, upper, programme.scales, limits
            )
            found, counts = np.zeros((each, n)), np.zeros(3, np.int64)
            bounds = np.full(1, -np.inf)
            branch.bound_regions(
                part, cost, upper, goal, star, 0.0, point, budget, n, room, each, found, counts,
                bounds, halt,
            )  # fmt: skip
            self.opened += int(counts[1])
            return (max(float(bounds[0]), known), found[: counts[0]]), per_node * float(
                counts[1] + 1
            )

        self.opened = 0
        width = float(log(ratio))
        pieces = max(1, math.ceil(width / _SLICE))
        ends = [float(exp(width * (k / pieces - 1.0))) for k in range(pieces)] + [1.0]
        ends[0] = float(programme.lower[variable])
        todo = [(low, high, -np.inf) for low, high in itertools.pairwise(ends)]
        least, vertices = np.inf, np.zeros((0, n))
        budget = LIMITS.nodes[0]
        while todo:
            budget = int(min(budget, max(clock.left * SPEED / per_node, 1.0)))
            results = _run_in_threads(todo, bound, clock, halt)
            left = todo[len(results) :]
            points = [found for _, found in results if len(found)]
            split = []
            for (low, high, _), (proved, _) in zip(todo, results, strict=False):
                if proved >= goal:
                    continue
                middle = math.sqrt(low * high)
                if not low * _NARROW < middle < high:
                    least = min(least, proved)
                    continue
                split += [(low, middle, proved), (middle, high, proved)]
            if points:
                starts = np.clip(np.concatenate(points), 0.0, None)
                below = 0.5 * (goal * self._scale + self._constant)
                vertices = self._descend_from(
                    cost, starts, clock, below=min(below, -TOLERANCES.visible)
                )
                each = each if len(vertices) else 0
            todo = left + split
            if len(vertices) or clock.left <= 0 or left:
                break
            budget = min(2 * budget, LIMITS.nodes[-2])
        least = min([least, *(proved for _, _, proved in todo)])
        return min(least, goal), vertices

    def _cap(self, cost: Cost, goal: float, clock: Clock) -> float:
        """Return a size that some entry must exceed where the cost is below the goal.

        If no entry exceeds t, each chord is at least phi(t) / t, so that the cost is at least
        phi(t) / t plus the least linear cost of such posteriors.
        """
        with extra("solver"):
            from scipy.sparse import csc_matrix

        programme, linear = self.rows.programme, cost.linear
        highs = Highs()
        size = len(linear)
        index = np.arange(size, dtype=np.int32)
        # With the ends of the variables as they are.
        right = programme.right
        highs.pass_columns(csc_matrix(programme.matrix), linear, programme.upper, right, right)
        highs.model.changeColsBounds(size, index, programme.lower, programme.upper)
        n = self.inputs
        # A vertex has at most one positive entry for each row, so one of them is at least this.
        low, high = 1.0 / len(programme.right), 1.0
        for _ in range(12):
            middle = 0.5 * (low + high)
            highs.model.changeColsBounds(n, index[:n], np.zeros(n), np.full(n, middle))
            answer = highs.solve(clock)
            upper = programme.upper.copy()
            upper[:n] = middle
            if answer.status == "infeasible":
                if self._proves_infeasible(highs.ray(), upper):
                    low = middle
                else:
                    high = middle
                continue
            if len(answer.prices) != len(right):
                break
            multipliers = answer.prices
            reduced = linear - dot(multipliers, programme.matrix)
            slope = -log(middle) if self._kinds[0] == ENTROPY else -middle
            bound = slope + simplex.safe_bound(
                programme, programme.lower, upper, linear, multipliers, reduced, 0.0
            )
            if bound >= goal + TOLERANCES.hair:
                low = middle
            else:
                high = middle
        return low

    def _proves_infeasible(self, ray: Floats, upper: Floats) -> bool:
        """Tell whether multipliers prove that nothing lies below some upper ends.

        They do if a cost of 0 would be more than 0.
        """
        programme = self.rows.programme
        if len(ray) != len(programme.right):
            return False
        nothing = np.zeros(len(upper))
        return any(
            simplex.safe_bound(
                programme, programme.lower, upper, nothing, sign * ray,
                -dot(sign * ray, programme.matrix), 0.0,
            ) > 0.0
            for sign in (1.0, -1.0)
        )  # fmt: skip


def _run_in_threads(
    tasks: Sequence[T],
    work: Callable[[T], tuple[R, float]],
    clock: Clock,
    halt: Numbers | None = None,
) -> list[R]:
    """Work off tasks with some threads (the compiled code runs without the interpreter's lock).

    `work` returns a result and its operations. Those results are returned, in order, that the work
    left was enough for: which thread was faster makes no difference. `halt` is a flag that the work
    itself looks at; it is set when the clock has run out, and on an interrupt, which only the main
    thread sees.
    """
    allowed = clock.left * SPEED
    done: dict[int, tuple[R, float]] = {}
    waiting = iter(range(len(tasks)))
    stop = threading.Event()

    def enough() -> tuple[int, bool]:
        """Return how many of the first tasks are done and count, and whether that is all."""
        total = 0.0
        for number in range(len(tasks)):
            if total >= allowed:
                return number, True
            if number not in done:
                return number, False
            total += done[number][1]
        return len(tasks), True

    def run() -> None:
        while not stop.is_set() and clock.left > 0:
            number = next(waiting, None)
            if number is None:
                return
            done[number] = work(tasks[number])
            if enough()[1]:
                return

    with ThreadPoolExecutor(_WORKERS) as pool:
        running = {pool.submit(run) for _ in range(min(_WORKERS, len(tasks)))}
        try:
            while running:
                ended, running = wait(running, 0.1, FIRST_COMPLETED)
                for future in ended:
                    future.result()
                if halt is not None and clock.left <= 0:
                    halt[0] = 1
        except BaseException:
            stop.set()
            if halt is not None:
                halt[0] = 1
            raise
    counted = [done[number] for number in range(enough()[0])]
    clock.spend(sum(operations for _, operations in counted))
    return [result for result, _ in counted]
