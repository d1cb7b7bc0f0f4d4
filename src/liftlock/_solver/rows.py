"""Posteriors that a secret S behind X allows: a polytope of few rows.

    Pi = {v >= 0, sum v = 1, L P_S <= P(S|X) v <= U P_S}

has |S| + 1 rows, so its vertices have at most |S| + 1 positive entries, and linear programmes over
it are small. The cost is concave and (but for one's own) separable, which is what makes good
vertices easy to find and the best of all provable.

Source: 002 eq. (25), eq. (26).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from liftlock._solver import branch, descent, simplex
from liftlock._solver.linear_programme import Highs
from liftlock._solver.oracle import SPEED, Clock, Priced
from liftlock._solver.problem import Problem
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.exact.rounding import rounding
from liftlock.utility.distortion import Distortion
from liftlock.utility.guess import Guess
from liftlock.utility.histogram import Histogram
from liftlock.utility.mean import Mean
from liftlock.utility.mutual_information import MutualInformation
from liftlock.utility.utility import Utility

_OFF = 1e-11
"""Columns outside the polytope by more than this are not returned."""
_TINY = 1e-12
"""Entries below this are rounding."""
_STEPS = 200
"""Steps along edges in one descent."""
_FRUITFUL = 10
"""When fewer than one in so many columns led to a better one, look from elsewhere too."""
_GAIN = 1e-9
"""Vertices whose reduced cost is not below minus this are not worth a column."""
_BUDGETS = (30, 300, 3000, 30_000)
"""Boxes to open in a region, tried in turn, so that every region has some bound early."""
_BUDGETS_WHOLE = (1000, 30_000, 1_000_000)
"""The same for the polytope as a whole."""
_MANY = 30
"""From so many inputs on, each coordinate has a region of its own in a proof."""
_SLOTS = 100_000
"""Boxes of one region kept open at a time."""
_MEMORY = 1 << 30
"""Bytes that the open boxes of one region may take."""
_CELLS = 20_000_000
"""No more entries than this are written out for new columns at once."""
_PER_DESCENT, _PER_NODE = 20, 6
"""Passes over the rows that a descent, and a box of a proof, are counted as."""
_AT_ONCE = 8
"""Operations of plain loops over rows that a CPU does in the time of one."""
_A_MOMENT = 2e7
"""Operations between two looks at the clock, or a little more."""
_A_TASK = 1e9
"""The same for a task of a thread."""
_STEPS_OF_AN_EXTREME = 1000
_WORKERS = max(1, min(4, os.cpu_count() or 1))

Numbers = npt.NDArray[np.int64]
T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Programme:
    """The polytope as rows for the simplex method: first the sum, then one slack for each row."""

    matrix: Floats
    right: Floats
    lower: Floats
    upper: Floats
    scales: Floats
    limits: Floats
    """For each row: bounds of its sum over the coordinates, and its least and largest entry."""

    @classmethod
    def of(cls, problem: Problem, points: Floats | None) -> Programme:
        """Write down the rows; with `points`, a last row and variable for the mean of X."""
        assert problem.given is not None
        lifts = problem.given / problem.secret_masses[:, None]
        secrets, inputs = lifts.shape
        rows, low, high = [np.ones(inputs)], [], []
        if problem.ratio is None:
            for row in lifts:
                rows.append(row)
                low.append(max(problem.lower, 0.0))
                high.append(min(problem.upper, float(row.max())))
        else:
            # m <= lift <= E m, twice as many rows; the least lift m is the last variable.
            for row in lifts:
                rows += [row, -row]
                low += [0.0, 0.0]
                high += [float(row.max()), problem.ratio]
        if points is not None:
            rows.append(points)
            low.append(float(points.min()))
            high.append(float(points.max()))
        count = len(rows)
        extra = 0 if problem.ratio is None else 1
        matrix = np.zeros((count, inputs + count - 1 + extra))
        matrix[:, :inputs] = rows
        matrix[1:, inputs : inputs + count - 1] = -np.eye(count - 1)
        if problem.ratio is not None:
            matrix[1 : 2 * secrets + 1 : 2, -1] = -1.0
            matrix[2 : 2 * secrets + 2 : 2, -1] = problem.ratio
            low.append(1 / problem.ratio)
            high.append(1.0)
        right = np.zeros(count)
        right[0] = 1.0
        lower = np.concatenate([np.zeros(inputs), low])
        # No vertex has an entry above 1, so none of them stands at this bound.
        upper = np.concatenate([np.full(inputs, 2.0), high])
        body, rest = matrix[:, :inputs], matrix[:, inputs:]
        ends = np.stack([-rest * lower[inputs:], -rest * upper[inputs:]])
        limits = np.stack(
            [ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1), body.min(1), body.max(1)],
            axis=1,
        )
        return cls(matrix, right, lower, upper, np.abs(matrix).max(axis=1), limits)


class RowsOracle:
    """The polytope of posteriors for a secret behind X, with a concave cost."""

    wild_prices = True
    """Few columns leave most prices open; column generation keeps them in a box at first."""

    def __init__(self, problem: Problem, utility: Utility, clock: Clock | None = None) -> None:
        assert problem.given is not None
        clock = Clock() if clock is None else clock
        self.problem = problem
        self.utility = utility
        self.inputs = n = len(problem.masses)
        points = None
        self._scale = 1.0
        if isinstance(utility, Mean):
            # To unit variance: the rows of the programme should be of similar size.
            points = np.array(utility.points)
            points = points - dot(problem.masses, points)
            spread = float(np.sqrt(dot(problem.masses, points**2))) or 1.0
            points = points / spread
            self._scale = spread**2
        self.programme = Programme.of(problem, points)
        size = self.programme.matrix.shape[1]
        self._kinds = np.zeros(size, np.int8)
        self._fixed = np.zeros(size)
        self._constant = 0.0
        if isinstance(utility, MutualInformation):
            self._kinds[:n] = branch.ENTROPY
        elif isinstance(utility, Histogram):
            self._kinds[:n] = branch.SQUARE
            self._constant = 1.0
        elif points is not None:
            self._kinds[n + len(self.programme.right) - 2] = branch.SQUARE
            self._fixed[:n] = points**2
        self._separable = bool(self._kinds.any())
        self._reach = self.programme.upper.copy()
        self._reach[:n] = 1.0
        rows = len(self.programme.right)
        operations = (n * rows**2 + (1 + n // simplex.REFRESH) * rows**3) / _AT_ONCE
        clock.check(operations)
        self._state = self._vertex(problem.masses)
        clock.spend(operations)
        self._vertices = self._extremes(clock)

    def start(self) -> Floats:
        """For each x, a vertex that makes v_x as large as it can be."""
        return self._checked(self._vertices)

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Descend from the columns in use, and from the vertices that make each x large."""
        if not self._separable:
            return self._linearised(duals, columns, clock)
        linear = self._linear(duals)
        found = self._descended(linear, [columns], clock)
        if len(columns) < _MANY or _FRUITFUL * len(found) < len(columns):
            more = self._descended(linear, [self._vertices], clock)
            found = np.concatenate([found, more])
            found = found[np.argsort(self.utility.costs(found) - dot(found, duals), kind="stable")]
        return found

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:
        """Bound the cost from below: branch and bound, or linear programmes where these do."""
        if not self._separable:
            return self._piecewise(duals)
        linear = self._linear(duals)
        inner = (goal - self._constant) / self._scale
        bound, found = self._regions(linear, inner, clock)
        # What is taken off: the rounding of numbers that were scaled, and of this sum.
        size = abs(bound) + self._constant / self._scale + float(np.abs(self._fixed).max())
        slack = rounding(0) * size
        return Priced((bound - slack) * self._scale + self._constant, found)

    # ------------------------------------------------------------------ search

    def _descended(
        self,
        linear: Floats,
        sources: list[Floats],
        clock: Clock,
        below: float = -_GAIN,
    ) -> Floats:
        """Descend from every row; return distinct vertices cheaper than `below`, best first."""
        programme = self.programme
        rows = len(programme.right)
        each = float(_PER_DESCENT * rows * programme.matrix.shape[1])

        def descend(task: tuple[Floats, Numbers]) -> tuple[tuple[Numbers, Floats, Floats], float]:
            points, chosen = task
            indices = np.zeros((2 * len(chosen), rows), np.int64)
            entries = np.zeros((2 * len(chosen), rows))
            costs = np.full(2 * len(chosen), np.inf)
            descent.descend(
                programme.matrix, programme.right, programme.lower, programme.upper, linear,
                self._kinds, self._reach, points, chosen, _STEPS, indices, entries, costs,
            )  # fmt: skip
            found = (indices, entries, costs * self._scale + self._constant)
            return found, each * len(chosen)

        # An interruption waits for what is running.
        together = int(np.clip(_A_TASK / each, 1, 50))
        tasks = [
            (np.ascontiguousarray(points), chosen)
            for points in sources
            for chosen in np.array_split(np.arange(len(points)), len(points) // together + 1)
        ]
        results = _share(tasks, descend, clock)
        if not results:
            return np.zeros((0, self.inputs))
        indices, entries, costs = (np.concatenate(part) for part in zip(*results, strict=True))
        good = np.flatnonzero(costs < below)
        order = good[np.argsort(costs[good], kind="stable")]
        # Equal vertices have equal costs, so that they follow each other or nearly.
        kept: dict[bytes, int] = {}
        for k in order:
            used = np.flatnonzero((indices[k] < self.inputs) & (entries[k] > _TINY))
            names = indices[k, used]
            arranged = np.argsort(names, kind="stable")
            key = names[arranged].tobytes() + entries[k, used][arranged].round(9).tobytes()
            kept.setdefault(key, int(k))
            if len(kept) * self.inputs > _CELLS:
                break
        chosen = np.fromiter(kept.values(), np.int64, len(kept))
        dense = np.zeros((len(chosen), programme.matrix.shape[1]))
        np.put_along_axis(dense, indices[chosen], entries[chosen], axis=1)
        return self._checked(dense[:, : self.inputs])

    def _linearised(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Linearise a cost that is not separable, walk to the vertex, and again from there."""
        found = []
        if isinstance(self.utility, Guess | Distortion):
            losses = self._losses()
            found = [self._least(losses[:, z] - duals)[1] for z in range(losses.shape[1])]
        else:
            for point in np.concatenate([columns, self._vertices]):
                best = np.inf
                clock.spend(_PER_DESCENT * self.programme.matrix.size)
                for _ in range(10):
                    slopes = self.utility.slopes(point[None, :])[0]
                    point = np.clip(self._least(slopes - duals)[1], 0.0, None)
                    cost = float(self.utility.costs(point[None, :])[0] - dot(duals, point))
                    if cost >= best - 1e-12:
                        break
                    best = cost
                found.append(point)
                if clock.left <= 0:
                    break
        vertices = self._checked(np.unique(np.array(found).round(15), axis=0))
        reduced = self.utility.costs(vertices) - dot(vertices, duals)
        order = np.argsort(reduced, kind="stable")
        better: Floats = vertices[order[reduced[order] < 0]]
        return better

    # ------------------------------------------------------------------- proof

    def _regions(self, linear: Floats, goal: float, clock: Clock) -> tuple[float, Floats]:
        """Branch and bound in each region; return the least bound, and vertices below 0."""
        programme = self.programme
        # Where the cost is low some entry is large, and it pays to ask separately for each
        # coordinate that may be the largest.
        separate = self.inputs >= _MANY and bool(self._kinds[0])
        if separate:
            cap = self._cap(linear, goal, clock)
            stars = np.flatnonzero(self._reach[: self.inputs] >= cap)
            width = max(64, self.inputs // 5)
        else:
            stars = np.array([-1])
            width = self.inputs
            cap = 0.0
        bounds = np.full(len(stars), -np.inf)
        points: list[Floats] = []
        halt = np.zeros(1, np.int64)
        each = 2 if separate else 50
        vertices = np.zeros((0, self.inputs))

        size = programme.matrix.shape[1]
        per_box = 8 * (len(programme.right) ** 2 + 4 * size) + size
        room = int(min(_SLOTS, max(64, _MEMORY // per_box)))

        per_node = float(_PER_NODE * len(programme.right) * min(size, width + len(programme.right)))

        def bound(task: Numbers) -> tuple[tuple[Numbers, Floats, Floats], float]:
            chosen = task
            part = np.full(len(chosen), -np.inf)
            found = np.zeros((each * len(chosen), self.inputs))
            counts = np.zeros(3, np.int64)
            branch.bound_regions(
                programme.matrix, programme.right, programme.scales, programme.lower, self._reach,
                programme.limits, linear, self._kinds, goal, stars[chosen], cap - 1e-9,
                self._vertices, budget, width, room, each, found, counts, part, halt,
            )  # fmt: skip
            self.opened += int(counts[1])
            return (chosen, part, found[: counts[0]]), per_node * float(counts[1] + len(chosen))

        self.opened = 0
        todo = np.arange(len(stars))
        for budget in _BUDGETS if separate else _BUDGETS_WHOLE:
            # A task must not take more than the work that is left.
            budget = int(min(budget, max(clock.left * SPEED / per_node, 1.0)))
            pieces = len(todo) * budget // 1000 + 1
            tasks = [part for part in np.array_split(todo, pieces) if len(part)]
            for chosen, part, found in _share(tasks, bound, clock, halt):
                bounds[chosen] = np.maximum(bounds[chosen], part)
                points.append(found)
            todo = todo[bounds[todo] < goal]
            if any(len(part) for part in points):
                # Each point leads to a vertex that costs no more, unless it was a rounding error.
                starts = np.clip(np.concatenate(points), 0.0, None)
                points.clear()
                below = 0.5 * (goal * self._scale + self._constant)
                vertices = self._descended(linear, [starts], clock, below=min(below, -_GAIN))
                if len(vertices):
                    break
                each = 0
            if not len(todo) or clock.left <= 0:
                break
        return min(float(bounds.min(initial=np.inf)), goal), vertices

    def _cap(self, linear: Floats, goal: float, clock: Clock) -> float:
        """Return a size that some entry must exceed where the cost is below the goal.

        If no entry exceeds t, each chord is at least phi(t) / t, so that the cost is at least
        phi(t) / t plus the least linear cost of such posteriors.
        """
        from scipy.sparse import csc_matrix

        programme = self.programme
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
                if self._empty(highs.ray(), upper):
                    low = middle
                else:
                    high = middle
                continue
            if len(answer.prices) != len(right):
                break
            multipliers = answer.prices
            reduced = linear - dot(multipliers, programme.matrix)
            slope = -log(middle) if self._kinds[0] == branch.ENTROPY else -middle
            bound = slope + simplex.safe_bound(
                programme.scales, programme.right, programme.lower, upper, linear, multipliers,
                reduced, 0.0,
            )  # fmt: skip
            if bound >= goal + 1e-12:
                low = middle
            else:
                high = middle
        return low

    def _empty(self, ray: Floats, upper: Floats) -> bool:
        """Tell whether multipliers prove that nothing lies below some upper ends.

        They do if a cost of 0 would be more than 0.
        """
        programme = self.programme
        if len(ray) != len(programme.right):
            return False
        nothing = np.zeros(len(upper))
        return any(
            simplex.safe_bound(
                programme.scales, programme.right, programme.lower, upper, nothing, sign * ray,
                -dot(sign * ray, programme.matrix), 0.0,
            ) > 0.0
            for sign in (1.0, -1.0)
        )  # fmt: skip

    def _piecewise(self, duals: Floats) -> Priced:
        """Bound a cost by linear programmes.

        A least expected loss is the least of linear costs, one for each reproduction. Any other
        concave cost is at least its chord over the whole simplex, sum_x v_x c(e_x).
        """
        if isinstance(self.utility, Guess | Distortion):
            losses = self._losses()
        else:
            losses = self.utility.costs(np.eye(self.inputs))[:, None]
        results = [self._least(losses[:, z] - duals) for z in range(losses.shape[1])]
        columns = self._checked(np.array([vertex for _, vertex in results]))
        return Priced(min(bound for bound, _ in results), columns)

    def _losses(self) -> Floats:
        if isinstance(self.utility, Distortion):
            return self.utility.loss
        assert isinstance(self.utility, Guess)
        losses: Floats = 1.0 - np.eye(self.inputs)
        return losses

    # ---------------------------------------------------------------- polytope

    def _linear(self, duals: Floats) -> Floats:
        linear = self._fixed.copy()
        linear[: self.inputs] -= duals / self._scale
        return linear

    def _least(self, slopes: Floats) -> tuple[float, Floats]:
        """Minimise a linear cost from the last basis: a safe bound, and the vertex."""
        programme = self.programme
        cost = np.zeros(len(self._kinds))
        cost[: self.inputs] = slopes
        multipliers, reduced = np.zeros(len(programme.right)), np.zeros(len(cost))
        simplex.optimise(
            programme.matrix, programme.right, programme.lower, self._reach, *self._state,
            cost, multipliers, reduced, 10_000,
        )  # fmt: skip
        bound = simplex.safe_bound(
            programme.scales, programme.right, programme.lower, self._reach, cost, multipliers,
            reduced, 0.0,
        )  # fmt: skip
        return bound, self._state[3][: self.inputs].copy()

    def _extremes(self, clock: Clock) -> Floats:
        """Maximise each coordinate: upper bounds for `_reach`, and the vertices.

        When the time is up the other coordinates keep their bound of 1, and have no vertex.
        """
        programme = self.programme
        rows, size = programme.matrix.shape
        per_step = rows * (size + 3 * rows) / _AT_ONCE
        # Between two calls Python hears an interruption, and looks at the clock.
        together = 500
        slow = per_step * together > _A_MOMENT
        vertices = np.zeros((self.inputs, self.inputs))
        done = 0
        while done < self.inputs and clock.left > 0:
            last = min(done + together, self.inputs)
            if slow:
                if not self._extreme(done, vertices[done], per_step, clock):
                    break
                last = done + 1
            else:
                steps = descent.extremes(
                    programme.matrix, programme.right, programme.scales, programme.lower,
                    programme.upper, *self._state, self._reach, vertices[done:last], done, last,
                )  # fmt: skip
                clock.spend(per_step * float(steps))
            done = last
        return vertices[:done]

    def _extreme(self, x: int, vertex: Floats, per_step: float, clock: Clock) -> bool:
        """Maximise one coordinate, a few steps at a time; tell whether there was time for it."""
        programme = self.programme
        cost = np.zeros(len(self._kinds))
        cost[x] = -1.0
        multipliers, reduced = np.zeros(len(programme.right)), np.zeros(len(cost))
        for _ in range(_STEPS_OF_AN_EXTREME // simplex.REFRESH):
            if clock.left <= 0:
                return False
            steps = simplex.optimise(
                programme.matrix, programme.right, programme.lower, programme.upper, *self._state,
                cost, multipliers, reduced, simplex.REFRESH,
            )  # fmt: skip
            clock.spend(per_step * (steps + 1 if steps >= 0 else simplex.REFRESH))
            if steps >= 0:
                break
        bound = simplex.safe_bound(
            programme.scales, programme.right, programme.lower, programme.upper, cost,
            multipliers, reduced, 0.0,
        )  # fmt: skip
        self._reach[x] = min(self._reach[x], -bound)
        vertex[:] = self._state[3][: self.inputs]
        return True

    def _vertex(self, point: Floats) -> tuple[Numbers, Any, Floats, Floats]:
        """Walk from a point of the polytope to a vertex: basis, places, inverse, values."""
        programme = self.programme
        n, rows = self.inputs, len(programme.right)
        values = np.zeros(len(programme.lower))
        values[:n] = point
        simplex.complete(programme.matrix, n, programme.lower, programme.upper, values)
        place = np.where(values > 0, simplex.BETWEEN, simplex.AT_LOWER).astype(np.int8)
        basis = np.array([int(np.argmax(point)), *range(n, n + rows - 1)], dtype=np.int64)
        place[basis] = simplex.BASIC
        inverse = np.zeros((rows, rows))
        simplex.invert(programme.matrix, basis, inverse)
        simplex.settle(programme.matrix, programme.right, basis, place, inverse, values)
        simplex.purify(
            programme.matrix, programme.right, programme.lower, programme.upper, basis, place,
            inverse, values, np.zeros(len(values)),
        )  # fmt: skip
        return basis, place, inverse, values

    def _checked(self, columns: Floats) -> Floats:
        """Clear entries that are rounding, and drop columns outside the polytope."""
        columns = np.where(columns < _TINY, 0.0, columns)
        columns /= columns.sum(axis=1, keepdims=True)
        assert self.problem.given is not None
        lifts = dot(columns, (self.problem.given / self.problem.secret_masses[:, None]).T)
        least, most = lifts.min(axis=1), lifts.max(axis=1)
        if self.problem.ratio is None:
            good = (least >= self.problem.lower - _OFF) & (most <= self.problem.upper + _OFF)
        else:
            good = most <= least * self.problem.ratio + _OFF
        inside: Floats = columns[good]
        return inside


def _share(
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
