"""The outputs of a mechanism that was used several times, without their order.

Lifts depend only on how often each output came. So r releases through one table of k outputs have
C(k+r-1, r) different results, not k^r; and outputs whose columns are proportional say the same, so
they count once.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Channel
from liftlock.exact.integers import Floats, Integers, as_integers

_MOST_OBJECT_CELLS = 400_000
"""Larger tables of wide integers are not searched for proportional columns."""


@dataclass(frozen=True)
class Repeated:
    """One table, used `times` times: weights over a common total, one row for each input kept.

    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> twice = Repeated.of(bit, bit.inputs, 2)
    >>> twice.number, [twice.counts(place) for place in range(3)]
    (3, [((0, 2),), ((0, 1), (1, 1)), ((1, 2),)])
    """

    weights: Integers
    total: int
    outputs: tuple[Label, ...]
    times: int

    @classmethod
    def of(cls, channel: Channel, inputs: Alphabet, times: int) -> Repeated:
        """Keep some inputs of a channel; outputs that say the same become one."""
        rows = [channel.inputs.index(label) for label in inputs.labels]
        factors = channel.row_factors
        weights: Integers = channel.weights[rows]
        if any(factors[row] != 1 for row in rows):
            scale = np.array([factors[row] for row in rows], dtype=object)[:, None]
            weights = as_integers(weights.astype(object) * scale)
        first, merged = _merged(weights)
        labels = tuple(channel.outputs.labels[y] for y in first)
        return cls(merged, channel.common_total, labels, times)

    @property
    def number(self) -> int:
        """How many results there are."""
        return math.comb(len(self.outputs) + self.times - 1, self.times)

    @cached_property
    def _by_output(self) -> bool:
        """Whether a result is stored as a count for each output, else as a list of outputs."""
        return len(self.outputs) <= self.times

    @cached_property
    def _results(self) -> npt.NDArray[np.int64]:
        size, times = len(self.outputs), self.times
        if not self._by_output:
            lists = itertools.combinations_with_replacement(range(size), times)
            return _array(itertools.chain.from_iterable(lists), self.number, times)
        if size == 1:
            return np.full((1, 1), times, dtype=np.int64)
        # Stars and bars: the places of size - 1 bars among times stars.
        bars = itertools.combinations(range(times + size - 1), size - 1)
        places = _array(itertools.chain.from_iterable(bars), self.number, size - 1)
        last = np.full((len(places), 1), times + size - 1, dtype=np.int64)
        edges = np.concatenate([np.full_like(last, -1), places, last], axis=1)
        # The bars come in order of few of the first output; the first result repeats it.
        return np.ascontiguousarray((np.diff(edges, axis=1) - 1)[::-1])

    def counts(self, place: int) -> tuple[tuple[int, int], ...]:
        """Return one result: each output that came, and how often."""
        row = self._results[place].tolist()
        if self._by_output:
            return tuple((y, count) for y, count in enumerate(row) if count)
        return tuple(sorted(Counter(row).items()))

    @cached_property
    def logs(self) -> Floats:
        """The logarithm of every weight over the total; minus infinity for 0."""
        with np.errstate(divide="ignore"):
            if self.weights.dtype == object:
                flat = [math.log(w) if w else -math.inf for w in self.weights.flat]
                return np.array(flat).reshape(self.weights.shape) - math.log(self.total)
            return np.asarray(np.log(self.weights) - math.log(self.total))

    def result_logs(self, places: npt.NDArray[np.intp]) -> Floats:
        """Return the logarithms of the likelihoods of some results, one row for each input."""
        chosen = self._results[places]
        total = np.zeros((len(self.weights), len(places)))
        for column in range(chosen.shape[1]):
            if not self._by_output:
                total += self.logs[:, chosen[:, column]]
                continue
            times = chosen[:, column]
            with np.errstate(invalid="ignore"):
                part = self.logs[:, column, None] * times[None, :]
            total += np.where(times[None, :] > 0, part, 0.0)
        return total

    def column(self, place: int) -> list[int]:
        """Return the likelihoods of one result for every input, as integers over total^times."""
        found = [1] * len(self.weights)
        for y, count in self.counts(place):
            found = [v * int(w) ** count for v, w in zip(found, self.weights[:, y], strict=True)]
        return found

    def ways(self, place: int) -> int:
        """Return in how many orders a result can come."""
        counts = [count for _, count in self.counts(place)]
        return math.factorial(self.times) // math.prod(math.factorial(c) for c in counts)

    def labels(self, place: int) -> Iterator[Label]:
        """Return the outputs of one result, the first ones first."""
        for y, count in self.counts(place):
            yield from itertools.repeat(self.outputs[y], count)


def _array(values: Iterator[int], rows: int, columns: int) -> npt.NDArray[np.int64]:
    return np.fromiter(values, dtype=np.int64, count=rows * columns).reshape(rows, columns)


def _merged(weights: Integers) -> tuple[list[int], Integers]:
    """Add up columns of the same direction; return the first of each, and the sums."""
    groups: dict[object, list[int]] = {}
    if weights.dtype != object:
        divisors = np.gcd.reduce(weights, axis=0)
        used = np.flatnonzero(divisors)
        reduced = weights[:, used] // divisors[used]
        for y, column in zip(used.tolist(), np.ascontiguousarray(reduced.T), strict=True):
            groups.setdefault(column.tobytes(), []).append(y)
    else:
        alone = weights.size > _MOST_OBJECT_CELLS
        for y in range(weights.shape[1]):
            column = [int(w) for w in weights[:, y]]
            divisor = math.gcd(*column)
            if divisor:
                key = y if alone else tuple(w // divisor for w in column)
                groups.setdefault(key, []).append(y)
    first = [places[0] for places in groups.values()]
    if len(first) == weights.shape[1]:
        return first, weights
    # Python integers: two columns that fit int64 may have a sum that does not.
    sums = [weights[:, places].astype(object).sum(axis=1) for places in groups.values()]
    return first, as_integers(np.stack(sums, axis=1))
