"""The best channel to given outputs when the secret is X itself: an interior-point method.

Lifts in [L, U] are a channel s that is mixed with a constant one, and s may raise any x by the same
factor 1/p at most, where p = (1 - L) / (U - L) is the least crowd that an output points at:

    minimise sum_x P(x) sum_k s(x, k) c(x, k)   subject to
    sum_k s(x, k) = 1,   sum_x P(x) s(x, k) = p w_k,   0 <= s(x, k) <= w_k.

There are as many limits as entries, but each ties an entry to the one number w_k of its output. So
a Newton step needs equations for the outputs alone, two for each, and the rows are solved one by
one: n inputs and K outputs take O(n K^2), where a general solver sees a matrix of n K rows. Where
an output speaks of its neighbourhood only, the equations are banded and it takes less still.

It starts inside all limits, with prices that prove something, and stays there on both sides: it may
be stopped after any step.

A step predicts and corrects: Mehrotra (1992), "On the implementation of a primal-dual interior
point method". Here x are the shares, w the caps, y the prices, and z the prices of the limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from liftlock.exact.elimination import BLOCK, LUFactors
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.tolerances import TOLERANCES

_INSIDE = 0.995
"""How much of the way to the nearest limit a step goes, and how near to it the start may be."""

_MARGIN = 0.3
"""How far inside its limits the start is, as a share of the range of costs."""


class Band:
    """Which inputs each output may speak of: neighbours, from `first` up to but without `last`.

    A table over these pairs has one row for each output if it may speak of all inputs, and is one
    list of pairs, output by output, if not.
    """

    def __init__(
        self, masses: Floats, first: npt.NDArray[np.intp], last: npt.NDArray[np.intp]
    ) -> None:
        self.masses, self.first, self.last = masses, first, last
        self.outputs = len(first)
        self.whole = bool((last - first == len(masses)).all())
        self.reach = self.outputs
        if self.whole:
            return
        lengths = last - first
        self._starts = np.cumsum(lengths) - lengths
        self._output = np.repeat(np.arange(self.outputs), lengths)
        self._input = np.arange(lengths.sum()) - (self._starts - first)[self._output]
        self._weights = masses[self._input]
        # How far apart outputs can be that share an input; `first` ascends.
        shared = np.searchsorted(first, last, side="left") - np.arange(self.outputs) - 1
        self.reach = int(shared.max(initial=0))

    @classmethod
    def all(cls, masses: Floats, outputs: int) -> Band:
        """Let every output speak of every input."""
        first = np.zeros(outputs, dtype=np.intp)
        return cls(masses, first, first + len(masses))

    def chunks(self) -> Iterator[tuple[slice, slice, slice]]:
        """Cut the outputs into runs: each run, all that share an input with it, and its inputs."""
        for begin in range(0, self.outputs, BLOCK):
            end = min(begin + BLOCK, self.outputs)
            last = min(end + self.reach, self.outputs)
            inputs = slice(int(self.first[begin]), int(self.last[end - 1]))
            yield slice(2 * begin, 2 * end), slice(2 * begin, 2 * last), inputs

    @cached_property
    def products(self) -> int:
        """How many products of an input and two outputs the equations of a step have."""
        if self.whole:
            return len(self.masses) * self.outputs**2
        counted = sum(
            (here.stop - here.start) * (there.stop - there.start) * (inputs.stop - inputs.start)
            for here, there, inputs in self.chunks()
        )
        return int(counted) // 4

    def of(self, full: Floats) -> Floats:
        """Take the pairs of a full table, one row for each output."""
        pairs: Floats = full if self.whole else full[self._output, self._input]
        return pairs

    def full(self, table: Floats) -> Floats:
        """Return the full table, zeros where an output says nothing."""
        if self.whole:
            return table
        full = np.zeros((self.outputs, len(self.masses)))
        full[self._output, self._input] = table
        return full

    def over_outputs(self, table: Floats) -> Floats:
        """Sum over outputs, for each input."""
        if self.whole:
            return np.asarray(table.sum(axis=0))
        return np.bincount(self._input, table, len(self.masses)).astype(np.float64)

    def over_inputs(self, table: Floats) -> Floats:
        """Sum over inputs with their masses, for each output."""
        if self.whole:
            return np.asarray(dot(table, self.masses))
        return np.add.reduceat(table * self._weights, self._starts)

    def of_inputs(self, values: Floats) -> Floats:
        """Repeat a value of each input for every output that may speak of it."""
        repeated: Floats = values[None, :] if self.whole else values[self._input]
        return repeated

    def of_outputs(self, values: Floats) -> Floats:
        """Repeat a value of each output for every input that it may speak of."""
        repeated: Floats = values[:, None] if self.whole else values[self._output]
        return repeated


class InteriorPointMethod:
    """Shares s(x, k) of every input, improved step by step. Costs have one row for each output.

    >>> cover = InteriorPointMethod(np.array([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]]), 0.75)
    >>> while cover.slack > 1e-12 and cover.step():
    ...     pass
    >>> cover.shares.round(6).tolist(), round(cover.cost, 9), round(cover.bound, 9)
    ([[0.666667, 0.333333], [0.333333, 0.666667]], 0.333333333, 0.333333333)
    """

    def __init__(
        self,
        masses: Floats,
        costs: Floats,
        crowd: float,
        *,
        band: Band | None = None,
        sizes: Floats | None = None,
    ) -> None:
        self.band = Band.all(masses, len(costs)) if band is None else band
        self.masses, self.crowd, self.costs = masses, crowd, self.band.of(costs)
        ones = np.ones_like(self.costs)
        shares = ones if sizes is None else ones * self.band.of_outputs(sizes)
        reached = self.band.over_outputs(shares)
        shares = shares / self.band.of_inputs(np.where(reached > 0, reached, 1.0))
        caps = self.band.over_inputs(shares) / crowd
        inside = bool((shares < _INSIDE * self.band.of_outputs(caps)).all())
        self.feasible = inside and bool((reached > 0).all())
        """Whether the start keeps the limits, for every input: with narrow bands it may not."""
        span = max(float(self.costs.max() - self.costs.min()), TOLERANCES.hair)
        # The prices of the limits of one output sum to crowd times the multiplier of the output.
        z_upper = ones * self.band.of_outputs(crowd * span / self.band.over_inputs(ones))
        prices = costs.min(axis=0) - (_MARGIN + 1.0) * span
        z_lower = self.costs - self.band.of_inputs(prices) - span + z_upper
        multipliers = np.full(len(costs), span)
        self._state: tuple[Floats, ...] = (shares, caps, z_upper, z_lower, prices, multipliers)

    @property
    def shares(self) -> Floats:
        """The channel s: one row for each output, one column for each input."""
        return self.band.full(self._state[0])

    @property
    def prices(self) -> Floats:
        """What each input is worth: sum_x v_x (c(x, k) - price_x) >= 0 for every v <= P / p."""
        return self._state[4]

    @property
    def cost(self) -> float:
        """The cost of the channel."""
        return float(self.band.over_inputs(self._state[0] * self.costs).sum())

    @property
    def bound(self) -> float:
        """What the prices prove of the least cost with these outputs, to rounding."""
        return float(dot(self.masses, self.prices))

    @property
    def operations(self) -> float:
        """About how many operations one step takes."""
        near = self.band.outputs
        reach = min(2 * self.band.reach + 1, near)
        return float(2 * self.band.products + 2 * near * reach**2 + 40 * self.costs.size)

    @property
    def slack(self) -> float:
        """The difference of the two."""
        shares, caps, z_upper, z_lower, *_ = self._state
        products = shares * z_lower + (self.band.of_outputs(caps) - shares) * z_upper
        return float(self.band.over_inputs(products).sum())

    def step(self) -> bool:
        """Go towards the optimum; False when rounding allows no more."""
        system = _NewtonSystem(self.band, self.crowd, *self._state)
        mean = system.mean
        predicted = system.direction(0.0)
        primal, dual = system.step_lengths(predicted)
        # How far the straight way leads says how much to keep away from the limits.
        share = (system.mean_after(predicted, primal, dual) / mean) ** 3
        moved = system.direction(share * mean, predicted)
        primal, dual = (_INSIDE * step for step in system.step_lengths(moved))
        lengths = (primal, primal, dual, dual, dual, dual)
        state = tuple(
            value + length * change
            for value, length, change in zip(self._state, lengths, moved, strict=True)
        )
        if not min(primal, dual) > TOLERANCES.close or not all(
            np.isfinite(part).all() for part in state
        ):
            return False
        self._state = state
        return True


class _NewtonSystem:
    """The equations of one Newton step."""

    def __init__(
        self,
        band: Band,
        crowd: float,
        shares: Floats,
        caps: Floats,
        z_upper: Floats,
        z_lower: Floats,
        *_: Floats,
    ) -> None:
        self.band, self.shares, self.z_upper, self.z_lower = band, shares, z_upper, z_lower
        self.room = band.of_outputs(caps) - shares
        self.count = band.outputs
        self.weight = z_upper / self.room
        self.inverse = 1.0 / (self.weight + z_lower / shares)
        self.coupling = self.weight * self.inverse
        self.rows = band.over_outputs(self.inverse)
        self.products = shares * z_lower, self.room * z_upper
        given = band.over_inputs(self.inverse)
        kept = band.over_inputs(self.weight - self.weight * self.coupling)
        cross = band.over_inputs(self.coupling) - crowd
        matrix = self._products()
        first = np.arange(0, 2 * self.count, 2)
        matrix[first, first] += given
        matrix[first + 1, first + 1] -= kept
        matrix[first, first + 1] += cross
        matrix[first + 1, first] += cross
        size = np.abs(np.diagonal(matrix)).copy()
        size[0::2] += 1e-8 * given + 1e-300
        size[1::2] += 1e-8 * kept + 1e-300
        self.scale = 1.0 / np.sqrt(size)
        matrix *= self.scale
        matrix *= self.scale[:, None]
        width = 2 * band.reach + 1
        self._factors = LUFactors.of(matrix, width if 3 * width < len(matrix) else None)

    def _products(self) -> Floats:
        """Return -sum_x (P / rows) times the products of two columns of inverse and coupling."""
        count, band = self.count, self.band
        both = np.empty((2 * count, len(band.masses)))
        both[0::2], both[1::2] = band.full(self.inverse), band.full(self.coupling)
        scaled = both * (-band.masses / self.rows)
        if band.whole:
            whole: Floats = dot(scaled, both.T)
            return whole
        matrix = np.zeros((2 * count, 2 * count))
        for here, there, inputs in band.chunks():
            part = dot(scaled[here, inputs], both[there, inputs].T)
            matrix[here, there] = part
            matrix[there, here] = part.T
        return matrix

    @property
    def mean(self) -> float:
        """The mean product of an entry and its price, which vanishes at the optimum."""
        low, high = self.products
        return float(self.band.over_inputs(low + high).sum()) / (2 * self.count)

    def direction(
        self, target: float, predicted: tuple[Floats, ...] | None = None
    ) -> tuple[Floats, ...]:
        """Return the changes that bring every product to a target, to first or second order."""
        band = self.band
        low, high = target - self.products[0], target - self.products[1]
        if predicted is not None:
            low -= predicted[0] * predicted[3]
            high -= (band.of_outputs(predicted[1]) - predicted[0]) * predicted[2]
        pressed = high / self.room
        push = low / self.shares - pressed
        pushed = self.inverse * push
        even = -band.over_outputs(pushed) / self.rows
        levelled = pushed + self.inverse * band.of_inputs(even)
        right = np.empty(2 * self.count)
        right[0::2] = -band.over_inputs(levelled)
        right[1::2] = -band.over_inputs(pressed + self.weight * levelled)
        found = self.scale * self._factors.solve(right * self.scale)
        multipliers, caps = found[0::2], found[1::2]
        moved = self.inverse * band.of_outputs(multipliers) + self.coupling * band.of_outputs(caps)
        fall = band.over_outputs(moved) / self.rows
        prices = even - fall
        shares = levelled + moved - self.inverse * band.of_inputs(fall)
        z_upper = pressed - self.weight * (band.of_outputs(caps) - shares)
        z_lower = (low - self.z_lower * shares) / self.shares
        return shares, caps, z_upper, z_lower, prices, multipliers

    def step_lengths(self, change: tuple[Floats, ...]) -> tuple[float, float]:
        """Return the largest feasible primal and dual steps (ratio test)."""
        shares, caps, z_upper, z_lower, *_ = change
        room = (self.band.of_outputs(caps) - shares) / self.room
        falls = (
            min(float((shares / self.shares).min()), float(room.min())),
            min(float((z_upper / self.z_upper).min()), float((z_lower / self.z_lower).min())),
        )
        first, second = (1.0 if fall > -1.0 else -1.0 / fall for fall in falls)
        return first, second

    def mean_after(self, change: tuple[Floats, ...], primal: float, dual: float) -> float:
        """Return the mean product after a change."""
        shares, caps, z_upper, z_lower, *_ = change
        low = (self.shares + primal * shares) * (self.z_lower + dual * z_lower)
        room = self.room + primal * (self.band.of_outputs(caps) - shares)
        high = room * (self.z_upper + dual * z_upper)
        return float(self.band.over_inputs(low + high).sum()) / (2 * self.count)
