"""Column generation: add good posteriors to the master problem until none is left, and prove it.

A mechanism is a convex decomposition of P_X into posteriors v of a polytope Pi (those that the
notion allows), and its cost is the mean of a concave c(v). The master problem is the cheapest
mixture of the posteriors known so far,

    minimise sum_k beta_k c(v_k)   subject to   sum_k beta_k v_k = P_X,  v_k in Pi.

Each round solves it, asks an oracle for posteriors that its prices y call profitable, and adds
them. When the search finds none, the oracle is asked to *prove* how low a reduced cost can be:
since the weights sum to 1, every y bounds the optimum from below by

    y . P_X + min over v in Pi of (c(v) - y . v).

Source: 002 eq. (12), eq. (25).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import Clock, Ending, SearchStep
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import relative_gap
from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import Highs
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility.base import Utility, cost_error, cost_of_no_noise, cost_of_no_release

_WIDTH = 0.3
"""Where prices start wild: how far from 0 they may go at first, as a share of the reference."""

_LONG = 30
_LITTLE = 0.1
"""After so many rounds, a best reduced cost below this share of the gap is tried for a proof."""


@dataclass(frozen=True)
class PricingResult:
    """What a proof found: a lower bound of min (c(v) - y . v), and vertices met on the way."""

    bound: float
    columns: Floats
    """Posteriors, one for each row; may have no rows."""


class Oracle(Protocol):
    """A polytope of posteriors with a concave cost.

    Columns are posteriors v >= 0 with sum 1, one for each *row* of an array; what is returned lies
    in the polytope to 1e-11 and should be vertices (the solver costs them itself).

    An oracle may have two attributes more: `known_bound`, a lower bound of the optimum that it
    knows without any search, and `stabilise`, true if the first prices must be boxed.
    """

    def start(self) -> Floats:
        """Return some vertices that contain the prior in their convex hull, if that is cheap."""
        ...

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Return vertices with c(v) - duals . v as low as heuristics find, best first.

        `columns` are those in use in the master problem, good places to start from.
        """
        ...

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:
        """Return a safe lower bound of min (c(v) - duals . v); may stop as soon as it is >= goal.

        Stops when the clock has run out, with the bound proved so far, and may stop early when it
        has met vertices below the goal: then the search is worth going on.
        """
        ...


@dataclass(frozen=True)
class Decomposition:
    """A decomposition of the prior, and a proof of how good it is."""

    columns: Floats
    """Posteriors, one for each row."""
    weights: Floats
    """The probability of each."""
    cost: float
    bound: float
    """No decomposition costs less."""
    reference: float
    """The cost of releasing nothing."""
    seen: int
    rounds: int
    seconds: float
    stopped: Ending
    """What ended the search before the gap that was asked for."""

    @property
    def gap(self) -> float:
        """The proved relative gap."""
        return relative_gap(self.cost, self.bound, self.reference)

    def channel(self, masses: Floats) -> Floats:
        """Return P(y | x) = beta_y v_y(x) / P(x), rows inputs."""
        matrix = (self.columns * self.weights[:, None] / masses).T
        # A symbol too rare for any posterior to show it answers like everybody.
        matrix[matrix.sum(axis=1) == 0.0] = self.weights
        rows: Floats = matrix / matrix.sum(axis=1, keepdims=True)
        return rows


def generate_columns(
    masses: Floats,
    utility: Utility,
    oracle: Oracle,
    clock: Clock,
    *,
    floor: float = 0.0,
    first: Floats | None = None,
) -> Decomposition:
    """Find the cheapest decomposition of a prior into posteriors of the oracle's polytope.

    It never fails: the prior itself is a column, so releasing nothing is always an answer. An
    interrupt (Ctrl-C) or the clock ends the search with the best decomposition so far. `first` are
    posteriors of some mechanism that is known to be allowed, to be better than nothing from the
    start.
    """
    search = _Search(masses, utility, oracle, clock, floor)
    if first is not None:
        search.accept(first, None)
        search.solve()
    try:
        search.run()
    except KeyboardInterrupt:
        search.stopped = "interrupt"
    if search.fill_mass:
        search.master.box(None)
        search.solve()
    return search.solution()


class _Search:
    def __init__(
        self, masses: Floats, utility: Utility, oracle: Oracle, clock: Clock, floor: float
    ) -> None:
        self.masses, self.utility, self.oracle, self.clock = masses, utility, oracle, clock
        self.reference = cost_of_no_release(utility, masses)
        # Nothing tells more than X itself.
        self.bound = cost_of_no_noise(utility, masses)
        self.bound -= float(cost_error(utility, self.bound, len(masses), len(masses)))
        # Some oracles know more without any search.
        self.bound = max(self.bound, float(getattr(oracle, "known_bound", -np.inf)))
        # The master's tolerances are absolute, so it is given costs of about 1; a power of two
        # rounds nothing.
        self.unit = 2.0 ** np.frexp(self.reference)[1] if self.reference > 0 else 1.0
        self.master = Master(masses, floor)
        self.master.add(masses[None, :], np.array([self.reference]) / self.unit)
        self.seen = 1
        self.rounds = 0
        self.stopped: Ending = ""
        self.fill_mass = False
        self.little = _LITTLE
        self.incumbent = (masses[None, :].copy(), np.ones(1), self.reference)

    @property
    def gap(self) -> float:
        return relative_gap(self.incumbent[2], self.bound, self.reference)

    def run(self) -> None:
        if self.reference <= 0 or self.gap <= self.clock.gap:
            return
        self.accept(self.oracle.start(), None)
        # The first columns say little about most inputs, and prices would be anything there.
        width = _WIDTH * self.reference if getattr(self.oracle, "stabilise", False) else 0.0
        if width:
            self.master.box(np.zeros(len(self.masses)), width / self.unit)
        while True:
            mixture = self.solve()
            if self.gap <= self.clock.gap:
                self.stopped = ""
                return
            if mixture is None:
                self.stopped = self.clock.ended or "stuck"
                return
            if not self.clock.searching:
                # What is left of the work is for a proof, which any prices allow.
                self.stopped = self.clock.ended or "work"
                self.report_stage("proving")
                columns = self.prove(mixture)
                if self.clock.left <= 0 or not self.accept(columns, mixture.duals):
                    return
                continue
            self.report_stage("searching")
            active = self.master.columns(mixture.weights > 0)
            found = self.oracle.search(mixture.duals, active, self.clock)
            if self.is_stalling(found, mixture):
                self.prove(mixture)
                if self.gap <= self.clock.gap:
                    return
            if self.accept(found, mixture.duals):
                continue
            if mixture.slack > TOLERANCES.visible:
                width *= 4
                # Prices that press against any box are set free.
                within = TOLERANCES.close * width <= _WIDTH * self.reference
                centre = np.zeros(len(self.masses)) if within else None
                self.master.box(centre, width / self.unit)
                continue
            self.report_stage("proving")
            columns = self.prove(mixture)
            if self.gap <= self.clock.gap:
                return
            if not self.accept(columns, mixture.duals):
                self.stopped = self.clock.ended if self.clock.left <= 0 else "stuck"
                return

    def is_stalling(self, found: Floats, mixture: MasterSolution) -> bool:
        """Whether a long search gains so little that a proof may end it.

        Each further try has to wait until a tenth of that is left to be gained.
        """
        if self.rounds < _LONG or mixture.slack > TOLERANCES.visible or not len(found):
            return False
        least = float((self.utility.costs(found) - dot(found, mixture.duals)).min())
        if least < -self.little * self.clock.gap * self.reference:
            return False
        self.little /= 10.0
        return True

    def prove(self, mixture: MasterSolution) -> Floats:
        """Raise the bound by a proof at the prices of a mixture; return columns met on the way."""
        # Half of the allowed gap is left to the master's own rounding.
        goal = -0.5 * self.clock.gap * self.reference
        priced = self.oracle.prove(mixture.duals, goal, self.clock)
        worth = self.masses * mixture.duals
        safe = worth.sum() - rounding(len(worth)) * np.abs(worth).sum()
        proved = float(safe) + min(priced.bound, 0.0)
        self.bound = max(self.bound, proved)
        return priced.columns

    def solve(self) -> MasterSolution | None:
        self.rounds += 1
        found = self.master.solve(self.clock)
        if found is None:
            return None
        mixture = replace(found, cost=self.unit * found.cost, duals=self.unit * found.duals)
        self.fill_mass = mixture.slack > TOLERANCES.visible
        if self.fill_mass:  # not yet a decomposition of the prior
            return mixture
        if mixture.cost < self.incumbent[2]:
            used = mixture.weights > 0
            self.incumbent = (self.master.columns(used), mixture.weights[used], mixture.cost)
        return mixture

    def accept(self, columns: Floats, duals: Floats | None) -> int:
        """Add the columns that the prices call profitable; return how many were new."""
        if not len(columns):
            return 0
        costs = self.utility.costs(columns)
        self.seen += len(columns)
        if duals is not None:
            reduced = costs - dot(columns, duals)
            most = max(LIMITS.new_columns, 2 * len(self.masses))
            order = np.argsort(reduced, kind="stable")[:most]
            order = order[reduced[order] < -TOLERANCES.solver * self.reference]
            columns, costs = columns[order], costs[order]
        return self.master.add(columns, costs / self.unit)

    def report_stage(self, stage: str) -> None:
        if self.clock.watch is not None:
            self.clock.watch(
                SearchStep(
                    stage=stage,
                    cost=self.incumbent[2],
                    bound=self.bound,
                    gap=self.gap,
                    columns=self.seen,
                    seconds=self.clock.elapsed,
                )
            )

    def solution(self) -> Decomposition:
        columns, weights = refine_weights(self.incumbent[0], self.incumbent[1], self.masses)
        weights = weights / weights.sum()
        cost = float(dot(weights, self.utility.costs(columns)))
        return Decomposition(
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


# --- the master problem --------------------------------------------------------------------------


@dataclass(frozen=True)
class MasterSolution:
    """A solution of the master problem, with the prices of its rows."""

    cost: float
    duals: Floats
    """y with reduced cost c(v) - y . v, for a posterior v of sum 1."""
    weights: Floats
    """beta, one for each column."""
    slack: float
    """How much of the rows is still filled by the stabilising slacks."""


class Master:
    """The master problem, solved again from where it was as it grows.

    Rows are divided by the prior, so that every row reads "the mean lift of x is 1", whatever the
    probability of x; and the smallest possible lift is subtracted, which leaves it sparser.
    """

    def __init__(self, masses: Floats, floor: float = 0.0) -> None:
        self.masses = np.asarray(masses, dtype=np.float64)
        self.floor = floor if floor < 1 - TOLERANCES.visible else 0.0
        self._highs = Highs(presolve=False, primal=True)
        n = len(self.masses)
        none = np.zeros(0, dtype=np.int32)
        self._highs.model.addRows(
            n, np.ones(n), np.ones(n), 0, np.zeros(n, dtype=np.int32), none, np.zeros(0)
        )
        # One more row for the sum of the weights, which binds only while the prices are boxed:
        # without it prices that no box admits would make the problem unbounded.
        self._highs.model.addRow(-np.inf, np.inf, 0, none, np.zeros(0))
        # Two slacks for each row: their costs are the ends of the box that its price lies in.
        # Without a box they are fixed at 0.
        starts = np.arange(2 * n, dtype=np.int32)
        rows = np.repeat(np.arange(n, dtype=np.int32), 2)
        signs = np.tile([1.0, -1.0], n)
        zeros = np.zeros(2 * n)
        self._highs.model.addCols(2 * n, zeros, zeros, zeros, 2 * n, starts, rows, signs)
        self._slacks = np.arange(2 * n, dtype=np.int32)
        self._boxed = False
        # One posterior a row, kept as the places and the sizes of its entries.
        self._entries: list[tuple[npt.NDArray[np.int32], Floats]] = []
        self._keys: set[bytes] = set()

    def __len__(self) -> int:
        return len(self._entries)

    def columns(self, chosen: npt.NDArray[np.bool_]) -> Floats:
        """Return some of the columns, one for each row."""
        places = np.flatnonzero(chosen)
        dense = np.zeros((len(places), len(self.masses)))
        for row, place in zip(dense, places, strict=True):
            where, sizes = self._entries[place]
            row[where] = sizes
        return dense

    def add(self, columns: Floats, costs: Floats) -> int:
        """Add columns that are not there yet; return how many were new."""
        fresh = []
        for place, column in enumerate(columns):
            where = np.flatnonzero(column).astype(np.int32)
            key = _key(where, column[where])
            if key not in self._keys:
                self._keys.add(key)
                self._entries.append((where, column[where]))
                fresh.append(place)
        if not fresh:
            return 0
        new, prices = np.ascontiguousarray(columns[fresh]), np.asarray(costs)[fresh]
        scaled = (new / self.masses - self.floor) / (1.0 - self.floor)
        scaled[np.abs(scaled) < TOLERANCES.zero] = 0.0
        scaled = np.hstack([scaled, np.ones((len(fresh), 1))])
        filled = scaled != 0
        starts = np.concatenate(([0], np.cumsum(filled.sum(axis=1))[:-1])).astype(np.int32)
        index = np.nonzero(filled)[1].astype(np.int32)
        count = len(fresh)
        self._highs.model.addCols(
            count,
            np.ascontiguousarray(prices, dtype=np.float64),
            np.zeros(count),
            np.full(count, np.inf),
            len(index),
            starts,
            index,
            scaled[filled],
        )
        return count

    def box(self, centre: Floats | None, width: float = 0.0) -> None:
        """Keep prices within `width` of a centre, as `MasterSolution.duals`; None frees them."""
        n = len(self.masses)
        if centre is None:
            if self._boxed:
                zeros = np.zeros(2 * n)
                self._highs.model.changeColsBounds(2 * n, self._slacks, zeros, zeros)
                self._highs.model.changeRowBounds(n, -np.inf, np.inf)
            self._boxed = False
            return
        middle = self._row_prices(centre)
        ends = np.empty(2 * n)
        reach = width * (1.0 - self.floor) * self.masses
        ends[0::2] = middle + reach
        ends[1::2] = -(middle - reach)
        self._highs.set_costs(ends)
        if not self._boxed:
            self._highs.model.changeColsBounds(
                2 * n, self._slacks, np.zeros(2 * n), np.full(2 * n, np.inf)
            )
            self._highs.model.changeRowBounds(n, 1.0, 1.0)
        self._boxed = True

    def solve(self, clock: Clock | None = None) -> MasterSolution | None:
        """Solve from the last basis; None if the solver found no mixture.

        At a limit it is the best mixture so far, with prices that are good for proofs alone.
        """
        found = self._highs.solve(clock)
        if found.status not in ("optimal", "limit") or not (found.feasible and found.usable):
            return None
        values = found.values
        *row_prices, sum_price = found.prices
        slacks = len(self._slacks)
        weights = values[slacks:]
        weights[weights < TOLERANCES.zero] = 0.0
        filled = float(np.abs(values[:slacks]).sum()) if self._boxed else 0.0
        return MasterSolution(
            found.cost, self._duals(np.array(row_prices)) + sum_price, weights, filled
        )

    def _duals(self, prices: Floats) -> Floats:
        """Turn the prices of scaled rows into y; a constant shift pays for the floor."""
        scale = 1.0 / (1.0 - self.floor)
        duals: Floats = prices * scale / self.masses - self.floor * scale * prices.sum()
        return duals

    def _row_prices(self, duals: Floats) -> Floats:
        """Turn y back into prices of the scaled rows."""
        total = float(dot(duals, self.masses))  # equals the sum of the prices
        prices: Floats = self.masses * ((1.0 - self.floor) * duals + self.floor * total)
        return prices


def _key(places: npt.NDArray[np.int32], sizes: Floats) -> bytes:
    """Tell columns apart that differ by more than rounding."""
    # Relative to each entry: posteriors may differ in rare symbols alone.
    digits, powers = np.frexp(sizes)
    key: bytes = places.tobytes() + np.ldexp(np.round(digits, 11), powers).tobytes()
    return key


def refine_weights(columns: Floats, weights: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Drop unused columns and polish the weights, so that their mean is the prior to rounding."""
    keep = weights > TOLERANCES.zero
    used, beta = columns[keep], weights[keep]
    residual = _residual(used, beta, masses)
    step = _correction(used / masses, residual / masses)
    if step is None:  # dependent columns: keep what there is
        return used, beta
    polished = beta + step
    better = np.abs(_residual(used, polished, masses)).max() < np.abs(residual).max()
    if better and polished.min() >= -TOLERANCES.hair:
        beta = np.clip(polished, 0.0, None)
        keep = beta > TOLERANCES.zero
        used, beta = used[keep], beta[keep]
    return used, beta


def _residual(columns: Floats, weights: Floats, masses: Floats) -> Floats:
    """Return how far the mean of the columns is from the prior, each entry rounded once."""
    shares = columns * weights[:, None]
    off = [fsum([mass, *(-shares[:, x]).tolist()]) for x, mass in enumerate(masses.tolist())]
    return np.array(off)


def _correction(lifts: Floats, residual: Floats) -> Floats | None:
    """Solve sum_k step_k lifts[k] = residual by elimination; None if columns are dependent.

    Where there are more rows than columns, those with the largest pivots are solved. Elementwise,
    as a solver that calls BLAS has other last digits on another CPU.
    """
    count = len(lifts)
    if count > LIMITS.polished_columns:
        return None
    system = np.concatenate([lifts.T, residual[:, None]], axis=1)
    for k in range(count):
        pivot = k + int(np.argmax(np.abs(system[k:, k])))
        if np.abs(system[pivot, k]) < TOLERANCES.visible:
            return None
        system[[k, pivot]] = system[[pivot, k]]
        factors = system[k + 1 :, k] / system[k, k]
        active = np.flatnonzero(factors)
        system[k + 1 + active, k:] -= factors[active, None] * system[k, k:]
    step = system[:count, count].copy()
    for k in range(count - 1, -1, -1):
        step[k] /= system[k, k]
        step[:k] -= system[:k, k] * step[k]
    return step if bool(np.isfinite(step).all()) else None
