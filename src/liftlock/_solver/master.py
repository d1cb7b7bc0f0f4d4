"""The master problem: the cheapest mixture of known posteriors whose mean is the prior.

    minimise sum_k beta_k c_k   subject to   sum_k beta_k v_k = P_X,  beta >= 0

Rows are divided by the prior, so that every row reads "the mean lift of x is 1", whatever the
probability of x; and the smallest possible lift is subtracted, which leaves a sparser problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from liftlock._solver.limits import LIMITS, TOLERANCES
from liftlock._solver.linear_programme import Highs
from liftlock._solver.oracle import Clock
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot


@dataclass(frozen=True)
class Mixture:
    """A solution of the master problem, with the prices of its rows."""

    cost: float
    duals: Floats
    """y with reduced cost c(v) - y . v, for a posterior v of sum 1."""
    weights: Floats
    """beta, one for each column."""
    slack: float
    """How much of the rows is still filled by the stabilising slacks."""


class Master:
    """A growing linear programme, solved again from where it was."""

    def __init__(self, masses: Floats, floor: float = 0.0) -> None:
        self.masses = np.asarray(masses, dtype=np.float64)
        self.floor = floor if floor < 1 - 1e-9 else 0.0
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
        scaled[np.abs(scaled) < 1e-14] = 0.0
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
        """Keep the prices within `width` of a centre, both as `Mixture.duals`; None frees them."""
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
        self._highs.price(ends)
        if not self._boxed:
            self._highs.model.changeColsBounds(
                2 * n, self._slacks, np.zeros(2 * n), np.full(2 * n, np.inf)
            )
            self._highs.model.changeRowBounds(n, 1.0, 1.0)
        self._boxed = True

    def solve(self, clock: Clock | None = None) -> Mixture | None:
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
        return Mixture(found.cost, self._duals(np.array(row_prices)) + sum_price, weights, filled)

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


def refined(columns: Floats, weights: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Drop unused columns and polish the weights, so that their mean is the prior to rounding."""
    keep = weights > TOLERANCES.zero
    used, beta = columns[keep], weights[keep]
    residual = _residual(used, beta, masses)
    step = _correction(used / masses, residual / masses)
    if step is None:  # dependent columns: keep what there is
        return used, beta
    polished = beta + step
    better = np.abs(_residual(used, polished, masses)).max() < np.abs(residual).max()
    if better and polished.min() >= -1e-12:
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
