"""A linear programme, solved by HiGHS, with a bound that does not depend on the solver's word.

    minimise cost . x   subject to   lower <= A x <= upper,  0 <= x <= most

Any prices p of the rows give a lower bound of the optimum,

    sum_i (p_i lower_i if p_i > 0 else p_i upper_i) + sum_j min(0, (cost - A' p)_j) most_j,

so the solver's prices are taken, those that point at an infinite end are set to 0, and the bound is
computed afresh. Every variable has an upper end that an optimum respects, so it is always finite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock._solver.highs import Highs, Way
from liftlock._solver.oracle import Clock
from liftlock.errors import LiftlockError
from liftlock.exact.integers import Floats
from liftlock.exact.rounding import rounding

if TYPE_CHECKING:
    from scipy.sparse import spmatrix


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
class LinearProgram:
    """Variables and rows, added in blocks; every coefficient is passed to the solver in bulk."""

    costs: list[Floats] = field(default_factory=list)
    most: list[Floats] = field(default_factory=list)
    rows: list[tuple[list[tuple[int, Any]], Floats, Floats]] = field(default_factory=list)
    count: int = 0

    def variables(self, costs: Floats, most: float = 1.0) -> int:
        """Add a block of variables in [0, most]; return the place of the first."""
        first = self.count
        self.costs.append(np.asarray(costs, dtype=np.float64).ravel())
        self.most.append(np.full(self.costs[-1].size, most))
        self.count += self.costs[-1].size
        return first

    def between(
        self, parts: list[tuple[int, spmatrix]], lower: Floats | float, upper: Floats | float
    ) -> None:
        """Add rows lower <= sum of blocks <= upper; a block is (first variable, matrix)."""
        count = parts[0][1].shape[0]
        self.rows.append(
            (list(parts), np.broadcast_to(lower, count), np.broadcast_to(upper, count))
        )

    def matrix(self) -> Any:
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

    def __init__(self, program: LinearProgram, *, clock: Clock | None = None) -> None:
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

    def price(self, costs: Floats) -> None:
        """Change the costs of the first variables."""
        self.cost[: len(costs)] = costs
        self._highs.price(costs)

    def keep(self, least: Floats, most: Floats) -> None:
        """Change the ends of the first variables."""
        self.least[: len(least)], self.most[: len(most)] = least, most
        places = np.arange(len(least), dtype=np.int32)
        self._highs.model.changeColsBounds(
            len(least), places, np.ascontiguousarray(least), np.ascontiguousarray(most)
        )

    def demand(self, rows: Any, lower: Floats | float, upper: Floats | float) -> None:
        """Add rows lower <= A x <= upper; a sparse matrix with a column for each variable."""
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

    def solve(self, way: Way = "simplex") -> Optimum:
        """Solve from the last basis; no feasible point gives a bound of infinity, if proved."""
        self._highs.way = way
        answer = self._highs.solve(self._clock)
        if answer.status == "infeasible":
            bound = np.inf if self._empty(self._highs.ray()) else -np.inf
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

    def _empty(self, ray: Any) -> bool:
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
