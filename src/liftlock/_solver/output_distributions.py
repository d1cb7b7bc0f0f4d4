"""What joined profiles may release: a linear programme over output distributions alone.

A matrix A whose entries off the diagonal are at most t takes P to D = P A if and only if, for
every set V of values (maximal flow, minimal cut),

    D(V) >= P(V) (1 - (m - |V|) t).

So the smooth mechanism is found without its matrices, in D = P + gain - loss and t:

    minimise t   subject to   D_i(y) <= E D_j(y) for every edge, and the sets above.

Rows are added when they are violated: until none is, the programme is a relaxation, and every bound
it proves holds for the full one. With t = 1, what must be moved is sum_y gain(y).

Source: 004 eq. (6), Thm 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import Clock, SearchStep
from liftlock.errors import LiftlockError, extra
from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import Highs, safe_bound
from liftlock.exact.reproducible import dot
from liftlock.exact.tolerances import TOLERANCES

_MANY_ROWS = 1000

_PENALTY = 1e-3
"""How much moved mass counts at first: without it most profiles would be moved at random."""

Positions = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


class SearchTimedOut(LiftlockError):
    """A search that was given a time limit has reached it."""


@dataclass(frozen=True)
class GraphPart:
    """A connected part of a graph: its profiles, edges by position, e^epsilon and weights."""

    distributions: Floats
    edges: Positions
    ratio: float
    weights: Floats
    wide_ratio: float = 0.0
    """The e^epsilon that bounds are proved for, if it is another: solving leaves room to round."""

    @property
    def proved_ratio(self) -> float:
        """The e^epsilon that bounds are proved for."""
        return self.wide_ratio or self.ratio

    @property
    def both_ways(self) -> Positions:
        """The edges in both directions."""
        ways: Positions = np.concatenate([self.edges, self.edges[:, ::-1]])
        return ways

    @property
    def shares(self) -> Floats:
        """How much each profile counts, none of them nothing at all."""
        total = float(self.weights.sum())
        even = np.full(len(self.distributions), 1.0 / len(self.distributions))
        return even if total <= 0 else np.maximum(self.weights / total, TOLERANCES.close * even)

    def excess(self, released: Floats) -> Floats:
        """Return D_i(y) - E D_j(y) of every edge in both directions."""
        ways = self.both_ways
        apart: Floats = released[ways[:, 0]] - self.ratio * released[ways[:, 1]]
        return apart

    def holds(self) -> bool:
        """Tell whether releasing the values themselves keeps every edge."""
        return not len(self.edges) or float(self.excess(self.distributions).max()) <= 0.0


def violated_sets(
    distributions: Floats, released: Floats, cap: float, tolerance: float = TOLERANCES.hair
) -> Iterator[tuple[int, Flags]]:
    """Yield (profile, set of values) with D(V) < P(V) (1 - (m - |V|) t): the worst of each size.

    >>> list(violated_sets(np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]]), 0.5))
    [(0, array([False,  True]))]
    """
    values = distributions.shape[1]
    for size in range(1, values):
        kept = 1.0 - (values - size) * cap
        if kept <= 0:
            continue
        short = kept * distributions - released
        order = np.argsort(-short, axis=1, kind="stable")[:, :size]
        missing = np.take_along_axis(short, order, axis=1).sum(axis=1)
        for i in np.flatnonzero(missing > tolerance):
            chosen = np.zeros(values, dtype=np.bool_)
            chosen[order[i]] = True
            yield int(i), chosen


def least_cap(distribution: Floats, released: Floats, cap: float = 0.0) -> float:
    """Return the smallest off-diagonal limit, at least `cap`, between two distributions.

    It is the largest (1 - D(V)/P(V)) / (m - |V|) of any set V of values.

    >>> least_cap(np.array([0.5, 0.5]), np.array([0.75, 0.25]))
    0.5
    """
    values = len(distribution)
    occurs = distribution > 0
    if values > 1:
        alone = (1.0 - released[occurs] / distribution[occurs]) / (values - 1)
        cap = max(cap, float(alone.max()))
    while True:
        worst = cap
        for _, chosen in violated_sets(
            distribution[None, :], released[None, :], cap, TOLERANCES.residue
        ):
            mass = float(distribution[chosen].sum())
            if mass > 0:
                short = (mass - float(released[chosen].sum())) / mass
                worst = max(worst, short / (values - int(chosen.sum())))
        if worst <= cap * (1.0 + TOLERANCES.hair):
            return worst
        cap = worst


def needs_fresh_start(rows: int, values: int) -> bool:
    """Tell whether so many new rows are better met by an interior point than by the last basis.

    Of bits the simplex method has the better of it in any case.
    """
    return rows > _MANY_ROWS and values > 2


class Master:
    """The relaxation of one part: the rows so far, solved again as rows are added.

    `released` and `cap` are where it stands; `bound` is the best proved of the aim, which is the
    cap t, or with `capped` false the mean chance of a wrong value.

    >>> part = GraphPart(
    ...     np.array([[0.2, 0.8], [0.1, 0.9]]), np.array([[0, 1]]), np.exp(0.5), np.ones(2)
    ... )
    >>> master = Master(part)
    >>> master.least_cap(Clock())
    >>> round(master.least, 4)  # one matrix for both profiles needs 0.0489
    0.0209
    """

    def __init__(self, part: GraphPart, *, capped: bool = True) -> None:
        self.part = part
        self.released = part.distributions
        self.cap = 0.0 if capped else 1.0
        self.least = self.bound = 0.0
        self.complete = self.stalled = False
        self.capped = capped
        self.solves = 0
        profiles, values = part.distributions.shape
        self._cells = profiles * values
        self._most = np.concatenate([np.ones(self._cells), part.distributions.ravel(), np.ones(1)])
        self._count = len(self._most)
        """Gains, losses, and the cap."""
        self._aim = self._costs(1.0, 0.0) if capped else self._true_costs()
        self._rows: list[tuple[Any, Any, Floats, Floats, Floats]] = []
        self._new = 0
        self.edges_in: Flags = np.zeros((2 * len(part.edges), values), dtype=np.bool_)
        self._sets_in: set[tuple[int, bytes]] = set()
        self._highs = Highs()
        self._highs.model.addVars(self._count, np.zeros(self._count), self._most)
        cells = np.arange(self._cells).reshape(profiles, values)
        ones = np.ones_like(part.distributions)
        none = np.zeros(profiles)
        self._add(
            2 * values * np.arange(profiles + 1),
            np.concatenate([cells, self._cells + cells], axis=1).ravel(),
            np.concatenate([ones, -ones], axis=1).ravel(),
            none,
            none,
        )

    # --- searching ------------------------------------------------------------------------------

    def least_cap(self, clock: Clock) -> None:
        """Raise `least`, the least cap that the rows so far allow, by adding rows that matter.

        It is known when it does not change any more, often long before all rows are there; only
        with `complete` is that certain. So matrices are to be sought below it, and if there are
        none, this is to be called again; `stalled` says that the last call changed nothing.
        """
        stage = "finding the least largest entry"
        before = self.least
        last = self.cap if self.solves else -1.0
        while not self.complete:
            if not self._add_edges() + self._add_sets():
                self.complete = True
                break
            self._solve(self._costs(1.0, _PENALTY), clock, stage)
            # A part whose edges do not hold needs more than nothing.
            if TOLERANCES.hair < self.cap <= last + TOLERANCES.hair:
                break
            last = self.cap
        standing = self.released, self.cap
        self._solve(self._costs(1.0, 0.0), clock, "proving the least largest entry")
        self.least = self.cap
        self.stalled = self.complete or self.least <= before + TOLERANCES.hair
        self.released, self.cap = standing

    def least_moved(self, clock: Clock) -> None:
        """Find what moves the least mass without a cap: exactly the gains."""
        costs = self._costs(0.0, 1.0)
        while self._add_edges():
            self._solve(costs, clock, "moving as little as possible")
        if self.solves and (self.part.weights == 0).any():
            # What does not count was given a little weight: the bound should not see it.
            released = self.released
            self._solve(self._aim, clock, "proving the least mean")
            self.released = released
        self.complete = True

    def _costs(self, cap: float, moved: float) -> Floats:
        each = np.repeat(moved * self.part.shares, self.part.distributions.shape[1])
        return np.concatenate([each, np.zeros(self._cells), [cap]])

    def _true_costs(self) -> Floats:
        """Return the costs of moved mass as they count in the whole graph."""
        each = np.repeat(self.part.weights, self.part.distributions.shape[1])
        return np.concatenate([each, np.zeros(self._cells), [0.0]])

    def _solve(self, costs: Floats, clock: Clock, stage: str) -> None:
        """Solve what there is; releasing nothing always fits."""
        if clock.left <= 0:
            raise SearchTimedOut("no time is left")
        self._highs.set_costs(costs)
        many = needs_fresh_start(self._new, self.part.distributions.shape[1])
        self._highs.way = "ipm" if many else "simplex"
        if many:
            self._highs.model.clearSolver()
        self._new = 0
        self.solves += 1
        answer = self._highs.solve(clock)
        if answer.status == "limit":
            raise SearchTimedOut("no time is left")
        found = answer.values
        if answer.status != "optimal" or len(found) != self._count:
            raise LiftlockError(f"the linear programme was not solved: {answer.status}")
        gain, loss = found[:-1].reshape(2, *self.part.distributions.shape)
        self.released = np.maximum(self.part.distributions + gain - loss, 0.0)
        self.cap = float(found[-1])
        if not self.capped or costs[-1] > 0:
            self.bound = max(self.bound, self._proved_bound(answer.prices, costs))
        if clock.watch is not None:
            value = self.cap if self.capped else float(dot(self._aim, found))
            gap = max(0.0, value - self.bound)
            rows = sum(len(row[3]) for row in self._rows)
            clock.watch(
                SearchStep(
                    stage=stage,
                    cost=value,
                    bound=self.bound,
                    gap=gap,
                    columns=rows,
                    seconds=clock.elapsed,
                )
            )

    def _proved_bound(self, prices: Floats, costs: Floats) -> float:
        """Return what prices of the rows, found for some costs, prove of the aim."""
        with extra("solver"):
            from scipy.sparse import csr_matrix, vstack

        if not self.capped and costs is not self._aim:
            prices = prices * self.part.weights.sum()

        if len(prices) != sum(len(row[3]) for row in self._rows):
            return 0.0
        matrix = vstack(
            [
                csr_matrix((entries, places, starts), shape=(len(lower), self._count))
                for starts, places, entries, lower, _ in self._rows
            ]
        ).tocsc()
        lower = np.concatenate([row[3] for row in self._rows])
        upper = np.concatenate([row[4] for row in self._rows])
        least = np.zeros(self._count)
        return safe_bound(self._aim, least, self._most, matrix, lower, upper, prices)

    # --- rows -----------------------------------------------------------------------------------

    def _add(
        self,
        starts: Any,
        places: Any,
        entries: Floats,
        lower: Floats,
        upper: Floats,
        proof: tuple[Floats, Floats] | None = None,
    ) -> None:
        """Add rows; `proof` has the entries and upper ends that the bound is to be proved with."""
        shown, most = (entries, upper) if proof is None else proof
        self._rows.append((starts, places, shown, lower, most))
        self._highs.model.addRows(
            len(lower),
            lower,
            upper,
            len(places),
            starts[:-1].astype(np.int32),
            places.astype(np.int32),
            entries,
        )
        self._new += len(lower)

    def _add_edges(self) -> int:
        """Add the rows of edges that the solution violates; return how many."""
        excess = self.part.excess(self.released)
        wanted = (excess > TOLERANCES.hair) & ~self.edges_in
        way, value = np.nonzero(wanted)
        if len(way):
            self.edges_in |= wanted
            first, second = self.part.both_ways[way].T
            values = self.part.distributions.shape[1]
            one, other = first * values + value, second * values + value
            places = np.stack([one, self._cells + one, other, self._cells + other], axis=1)
            distributions = self.part.distributions.ravel()
            solved, proved = (
                (
                    np.tile([1.0, -1.0, -e, e], len(way)),
                    e * distributions[other] - distributions[one],
                )
                for e in (self.part.ratio, self.part.proved_ratio)
            )
            free = np.full(len(way), -np.inf)
            starts = 4 * np.arange(len(way) + 1)
            self._add(starts, places.ravel(), solved[0], free, solved[1], proved)
        return len(way)

    def _add_sets(self) -> int:
        """Add the sets of values that the solution violates; return how many."""
        if not self.capped:
            return 0
        distributions = self.part.distributions
        values = distributions.shape[1]
        places: list[Any] = []
        entries: list[Floats] = []
        for i, kept in violated_sets(distributions, self.released, self.cap):
            mass = float(distributions[i, kept].sum())
            name = (i, kept.tobytes())
            if mass < TOLERANCES.solver or name in self._sets_in:
                continue
            self._sets_in.add(name)
            # Either side of the cut says the same; the lighter one does so without cancellation.
            inside = mass < 0.5
            cells = i * values + np.flatnonzero(kept if inside else ~kept)
            weight = np.full(len(cells), (1.0 if inside else -1.0) / mass)
            places.append(np.concatenate([cells, self._cells + cells, [self._count - 1]]))
            entries.append(np.concatenate([weight, -weight, [values - float(kept.sum())]]))
        if places:
            self._add(
                np.cumsum([0, *map(len, places)]),
                np.concatenate(places),
                np.concatenate(entries),
                np.zeros(len(places)),
                np.full(len(places), np.inf),
            )
        return len(places)
