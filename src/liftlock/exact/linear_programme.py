"""Linear programmes, solved by HiGHS, with a bound that does not depend on the solver's word.

    minimise cost . x   subject to   lower <= A x <= upper,  0 <= x <= most

Any prices p of the rows give a lower bound of the optimum,

    sum_i (p_i lower_i if p_i > 0 else p_i upper_i) + sum_j min(0, (cost - A' p)_j) most_j,

so the solver's prices are taken, those that point at an infinite end are set to 0, and the bound is
computed afresh. Every variable has an upper end that an optimum respects, so it is always finite.

This is the one door to HiGHS: its options, a run that Ctrl-C stops, and an answer that was checked.
HiGHS is deterministic but for its limit of time, so what limits it here is a number of iterations,
and the clock on the wall only as the last resort. What it answers is a proposal: bounds are
recomputed from its prices, and mechanisms are proved on integers.

An answer whose status is unknown, or whose basis has another size than the problem, is not taken:
the problem is solved once more from scratch. Warm starts from such a basis have written out of
bounds. That happened where costs passed HiGHS's infinite cost, so that is out of reach here.
"""

from __future__ import annotations

import atexit
import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from liftlock._runtime.clock import SPEED, Clock
from liftlock.errors import LiftlockError, extra
from liftlock.exact.integers import Floats
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES

if TYPE_CHECKING:
    from scipy.sparse import spmatrix

Algorithm = Literal["simplex", "ipm"]
"""How HiGHS solves: `ipm` is an interior point with a vertex at its end, for large programmes."""

LARGEST_COST = 1e100
"""HiGHS fixes variables whose cost is as large as its infinite cost, which is larger than this."""

_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("output_flag", False),
    ("threads", 1),
    ("parallel", "off"),
    ("random_seed", 0),
    ("primal_feasibility_tolerance", TOLERANCES.solver),
    ("dual_feasibility_tolerance", TOLERANCES.solver),
    ("infinite_cost", 1e300),
    # Smaller coefficients are dropped: of rare symbols those that the default drops do count.
    ("small_matrix_value", TOLERANCES.hair),
)
_MOST = int(np.iinfo(np.int32).max)
_RUN = 1e5
"""Operations that a run is counted as besides its iterations; a programme whose iterations take
fewer is solved before anybody could interrupt it."""
_IPM = 40
"""An iteration of the interior point is worth so many of the simplex method."""


@dataclass(frozen=True)
class HighsResult:
    """What HiGHS says of a programme."""

    status: Literal["optimal", "infeasible", "limit", "unknown"]
    values: Floats
    """One for each variable; may break the rows unless the status is `optimal`."""
    prices: Floats
    """One for each row."""
    cost: float
    feasible: bool = False
    """Whether the values keep the rows and limits, to the tolerance."""

    @property
    def usable(self) -> bool:
        """Whether there are finite values and prices, whatever they are worth."""
        return bool(len(self.values) and np.isfinite(self.values).all())


class Highs:
    """A linear programme in HiGHS, to be changed and solved again."""

    def __init__(self, *, presolve: bool = True, primal: bool = False) -> None:
        with extra("solver"):
            import highspy

        self.model = highspy.Highs()  # type: ignore[no-untyped-call]
        """HiGHS itself, to build the programme with; only `solve` may run it."""
        for name, value in _OPTIONS:
            self.model.setOptionValue(name, value)
        self._presolve = "choose" if presolve else "off"
        self.model.setOptionValue("presolve", self._presolve)
        if primal:
            self.model.setOptionValue("simplex_strategy", 4)
        self.way: Algorithm = "simplex"
        self._said = {
            highspy.HighsModelStatus.kOptimal: "optimal",
            highspy.HighsModelStatus.kInfeasible: "infeasible",
            highspy.HighsModelStatus.kTimeLimit: "limit",
            highspy.HighsModelStatus.kIterationLimit: "limit",
        }
        self._basic = highspy.HighsBasisStatus.kBasic
        self._feasible = highspy.SolutionStatus.kSolutionStatusFeasible

    def pass_columns(
        self, matrix: Any, costs: Floats, most: Floats, lower: Floats, upper: Floats
    ) -> None:
        """Pass a whole programme: variables in [0, most], rows in [lower, upper] (csc matrix)."""
        with extra("solver"):
            import highspy

        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = matrix.shape[1], matrix.shape[0]
        model.col_cost_ = costs
        model.col_lower_, model.col_upper_ = np.zeros(len(costs)), most
        model.row_lower_, model.row_upper_ = lower, upper
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        self.model.passModel(model)

    def set_costs(self, costs: Floats) -> None:
        """Change the costs of the first variables."""
        places = np.arange(len(costs), dtype=np.int32)
        capped = np.clip(costs, -LARGEST_COST, LARGEST_COST)
        self.model.changeColsCost(len(costs), places, np.ascontiguousarray(capped))

    def solve(self, clock: Clock | None = None) -> HighsResult:
        """Solve from the last basis, and from scratch if that leads nowhere."""
        answer = self._solve_once(self.way, clock)
        if answer.status != "unknown" and self._consistent():
            return answer
        for presolve in ("on", "off"):
            self.model.clearSolver()
            self.model.setOptionValue("presolve", presolve)
            answer = self._solve_once("simplex", clock)
            if answer.status != "unknown" and self._consistent():
                break
        self.model.setOptionValue("presolve", self._presolve)
        if not self._consistent():
            self.model.clearSolver()
        return answer

    def ray(self) -> Floats:
        """Return multipliers that may prove why there is no solution; empty if there are none."""
        _, known, ray = self.model.getDualRay()  # type: ignore[attr-defined]
        return np.array(ray, dtype=np.float64) if known else np.zeros(0)

    def _solve_once(self, way: Algorithm, clock: Clock | None) -> HighsResult:
        self.model.setOptionValue("solver", way)
        each = self._operations()
        most = _MOST
        if clock is not None and math.isfinite(clock.left):
            most = int(min(max(clock.left * SPEED / each, 1.0), _MOST))
            wall = self.model.getRunTime() + max(clock.wall, 0.01)
            self.model.setOptionValue("time_limit", wall)
        self.model.setOptionValue("simplex_iteration_limit", most)
        self.model.setOptionValue("ipm_iteration_limit", most)
        run(self.model, quick=each < _RUN)
        info = self.model.getInfo()
        if clock is not None:
            turns = max(info.simplex_iteration_count, 0) + _IPM * max(info.ipm_iteration_count, 0)
            clock.spend(turns * each + _RUN)
        solution = self.model.getSolution()
        status = self._said.get(self.model.getModelStatus(), "unknown")
        return HighsResult(
            status,  # type: ignore[arg-type]
            np.array(solution.col_value),
            np.array(solution.row_dual),
            float(info.objective_function_value),
            bool(info.primal_solution_status == self._feasible),
        )

    def _operations(self) -> float:
        """Estimate the operations of one iteration."""
        return float(
            self.model.getNumNz() + 4 * (self.model.getNumRow() + self.model.getNumCol()) + 100
        )

    def _consistent(self) -> bool:
        """Tell whether the basis, if there is one, has as many variables as there are rows."""
        basis = self.model.getBasis()
        if not basis.valid:
            return True
        count = basis.col_status.count(self._basic) + basis.row_status.count(self._basic)
        return bool(count == self.model.getNumRow())


def run(highs: Any, *, quick: bool = False) -> None:
    """Solve in a thread of its own; an interruption tells the solver to stop and goes on up.

    A solver that was interrupted is not to be run again. What is `quick` needs no thread.
    """
    if quick or threading.current_thread() is not threading.main_thread():
        highs.run()  # other threads get no signals
        return
    if not highs.HandleUserInterrupt:
        highs.HandleUserInterrupt = True
    done = threading.Event()

    def work() -> None:
        try:
            highs.run()
        finally:
            done.set()

    # An event, as joining a thread that was interrupted while it was joined does not wait.
    threading.Thread(target=work, daemon=True).start()
    try:
        while not done.wait(0.2):
            pass
    except KeyboardInterrupt:
        highs.cancelSolve()
        # A second interruption does not wait here, and leaving under a running solver would crash.
        atexit.register(done.wait)
        done.wait()
        raise


@dataclass(frozen=True)
class Optimum:
    """A solution of a linear programme."""

    values: Floats
    prices: Floats
    """One for each row."""
    bound: float
    """A safe lower bound of the least cost."""
    solved: bool = True
    """Whether the solver came to its end; if not, the values may break the rows."""


@dataclass
class LinearProgramme:
    """Variables and rows, added in blocks; every coefficient is passed to the solver in bulk."""

    costs: list[Floats] = field(default_factory=list)
    most: list[Floats] = field(default_factory=list)
    rows: list[tuple[list[tuple[int, Any]], Floats, Floats]] = field(default_factory=list)
    count: int = 0

    def add_variables(self, costs: Floats, most: float = 1.0) -> int:
        """Add a block of variables in [0, most]; return the place of the first."""
        first = self.count
        self.costs.append(np.asarray(costs, dtype=np.float64).ravel())
        self.most.append(np.full(self.costs[-1].size, most))
        self.count += self.costs[-1].size
        return first

    def add_rows(
        self, parts: list[tuple[int, spmatrix]], lower: Floats | float, upper: Floats | float
    ) -> None:
        """Add rows lower <= sum of blocks <= upper; a block is (first variable, matrix)."""
        count = parts[0][1].shape[0]
        self.rows.append(
            (list(parts), np.broadcast_to(lower, count), np.broadcast_to(upper, count))
        )

    def matrix(self) -> Any:
        with extra("solver"):
            from scipy.sparse import coo_matrix

        places, columns, values = [], [], []
        begin = 0
        for parts, lower, _ in self.rows:
            for first, block in parts:
                entries = block.tocoo()
                places.append(entries.row + begin)
                columns.append(entries.col + first)
                values.append(entries.data)
            begin += len(lower)
        return coo_matrix(
            (np.concatenate(values), (np.concatenate(places), np.concatenate(columns))),
            shape=(begin, self.count),
        ).tocsc()

    def minimise(self, *, clock: Clock | None = None) -> Optimum:
        """Solve it once."""
        return Solver(self, clock=clock).solve()


class Solver:
    """A linear programme in HiGHS, to be solved again with other costs and ends."""

    def __init__(self, program: LinearProgramme, *, clock: Clock | None = None) -> None:
        self.matrix = program.matrix()
        self.cost, self.most = np.concatenate(program.costs), np.concatenate(program.most)
        self.least = np.zeros(len(self.most))
        self.lower = np.concatenate([row[1] for row in program.rows])
        self.upper = np.concatenate([row[2] for row in program.rows])
        self._clock = clock
        self._highs = Highs()
        # The upper ends are redundant: leaving them out keeps the solver's problem simple.
        free = np.full(len(self.cost), np.inf)
        self._highs.pass_columns(self.matrix, self.cost, free, self.lower, self.upper)

    def set_costs(self, costs: Floats) -> None:
        """Change the costs of the first variables."""
        self.cost[: len(costs)] = costs
        self._highs.set_costs(costs)

    def set_bounds(self, least: Floats, most: Floats) -> None:
        """Change the ends of the first variables."""
        self.least[: len(least)], self.most[: len(most)] = least, most
        places = np.arange(len(least), dtype=np.int32)
        self._highs.model.changeColsBounds(
            len(least), places, np.ascontiguousarray(least), np.ascontiguousarray(most)
        )

    def add_rows(self, rows: Any, lower: Floats | float, upper: Floats | float) -> None:
        """Add rows lower <= A x <= upper; a sparse matrix with a column for each variable."""
        with extra("solver"):
            from scipy.sparse import vstack

        added = rows.tocsr()
        count = added.shape[0]
        low, high = np.full(count, lower), np.full(count, upper)
        self._highs.model.addRows(
            count, low, high, added.nnz, added.indptr[:-1], added.indices, added.data
        )
        self.matrix = vstack([self.matrix, added]).tocsc()
        self.lower = np.concatenate([self.lower, low])
        self.upper = np.concatenate([self.upper, high])

    def solve(self, way: Algorithm = "simplex") -> Optimum:
        """Solve from the last basis; no feasible point gives a bound of infinity, if proved."""
        self._highs.way = way
        answer = self._highs.solve(self._clock)
        if answer.status == "infeasible":
            bound = np.inf if self._proves_infeasible(self._highs.ray()) else -np.inf
            return Optimum(np.zeros(0), np.zeros(0), bound)
        if not answer.usable:
            raise LiftlockError(f"the linear programme was not solved: {answer.status}")
        values, prices = answer.values, answer.prices
        if len(prices) != len(self.lower):
            prices = np.zeros(len(self.lower))
        bound = safe_bound(
            self.cost, self.least, self.most, self.matrix, self.lower, self.upper, prices
        )
        return Optimum(values, prices, bound, solved=answer.status == "optimal")

    def _proves_infeasible(self, ray: Any) -> bool:
        """Tell whether multipliers prove that nothing fits: a cost of 0 would be more than 0."""
        multipliers = np.array(ray, dtype=np.float64)
        if len(multipliers) != len(self.lower):
            return False
        parts = (self.least, self.most, self.matrix, self.lower, self.upper)
        nothing = np.zeros(len(self.cost))
        return any(safe_bound(nothing, *parts, sign * multipliers) > 0.0 for sign in (1.0, -1.0))


def safe_bound(
    cost: Floats,
    least: Floats,
    most: Floats,
    matrix: Any,
    lower: Floats,
    upper: Floats,
    prices: Floats,
) -> float:
    """Return what the prices prove of the least cost, whoever they come from.

    Coefficients and ends may be off by a few units of rounding each: what that could change for any
    x is taken off.

    >>> from scipy.sparse import csc_matrix
    >>> one, ends = csc_matrix([[1.0, 1.0]]), np.array([1.0])
    >>> costs, prices = np.array([2.0, 3.0]), np.array([2.0])
    >>> round(safe_bound(costs, np.zeros(2), np.ones(2), one, ends, ends, prices), 9)
    2.0
    """
    # A price that points at an infinite end proves nothing.
    usable = np.where(prices > 0, np.isfinite(lower), np.isfinite(upper))
    prices = np.where(usable & np.isfinite(prices), prices, 0.0)
    ends = np.where(prices > 0, lower, upper)
    gained = np.where(prices != 0, prices * np.where(np.isfinite(ends), ends, 0.0), 0.0)
    # A sparse product adds up each column in the order in which it is stored.
    terms = int(np.diff(matrix.tocsc().indptr).max(initial=0))
    left = cost - matrix.T @ prices
    slack = rounding(terms) * (np.abs(cost) + abs(matrix).T @ np.abs(prices))
    lost = np.minimum(left - slack, 0.0) * most + np.maximum(left - slack, 0.0) * least
    parts = np.concatenate([gained, lost])
    return float(parts.sum() - rounding(len(parts)) * np.abs(parts).sum())
