"""The exact alias table: one 64-bit word becomes one output, of exactly the stored distribution.

A row of weights that sums to 2^bits is laid out in 2^j equal bins, one for each output and empty
ones up to the next power of two. Each bin holds 2^(bits-j) units, belongs to its own output below
its threshold and to one other output, its alias, from there on. A word picks a bin and a unit in
it, so an output owns exactly as many of the 2^bits units as its weight says: nothing is rounded,
nothing is rejected, and the work does not depend on the word.

Decoding (the specification; `decode` below is the same in Python)::

    r        = word >> (64 - bits)             the top bits of the word
    bin      = r mod 2^j
    position = r >> j                          from 0 to 2^(bits-j) - 1
    output   = bin if position < threshold[row, bin] else alias[row, bin]

Building one row (the specification; every implementation makes this same table)::

    capacity = 2^(bits-j); weights are padded with zeros to 2^j
    a bin is light if its weight <= capacity, heavy otherwise
    if there is no heavy bin, every weight is the capacity: go to the last step
    k = the first heavy bin, residual = weight[k], lights = the light bins in order
    repeat
        if residual > capacity
            i = the next light bin
            threshold[i] = weight[i], alias[i] = k
            residual = residual - (capacity - weight[i])
        else
            threshold[k] = residual
            if no heavy bin follows k: leave the loop
            alias[k] = the next heavy bin
            residual = residual + weight[alias[k]] - capacity
            k = alias[k]
    light bins that were not reached have weight = capacity: threshold = capacity
    last step: every bin whose threshold is the capacity gets itself as alias
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.errors import InputError, NumberError, RowError
from liftlock.exact.rounding import MOST_BITS

if TYPE_CHECKING:
    import numpy.typing as npt

WORD_BITS = 64
"""The width of the random word that one output costs."""

# Rows are built in groups of about this many cells: few enough for the temporaries to stay small
# and in cache, enough for numpy's overhead per call to vanish.
_CELLS_AT_ONCE = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class AliasTable:
    """Alias tables of all rows of a channel, threshold and alias packed in one word per bin.

    ``packed[row, bin] = (threshold << bin_bits) | alias``, read-only.

    >>> table = AliasTable.build(np.array([[1, 3, 12], [16, 0, 0]]), bits=4)
    >>> table.bin_bits, table.rows, table.outputs
    (2, 2, 3)
    >>> [(table.threshold(0, b), table.alias(0, b)) for b in range(4)]
    [(1, 2), (3, 2), (4, 2), (0, 2)]
    >>> [decode(table, 0, r << 60) for r in range(16)].count(2)
    12
    """

    packed: npt.NDArray[np.uint64] = field(repr=False)
    bits: int
    bin_bits: int
    rows: int
    outputs: int

    @classmethod
    def build(cls, weights: npt.NDArray[Any], bits: int) -> AliasTable:
        """Build the table of every row of integer weights that sum to 2^bits."""
        if not 1 <= bits <= MOST_BITS:
            raise NumberError(
                "row width out of range",
                value=bits,
                remedy=f"a 64-bit word decides rows of 1 to {MOST_BITS} bits; lock to 52 bits",
            )
        if weights.ndim != 2 or weights.dtype.kind not in "iu":
            raise RowError(
                "weights are not a matrix of 64-bit integers",
                value=f"{weights.ndim} dimensions of {weights.dtype}",
                remedy="use lock(...) to make integer rows",
            )
        rows, outputs = weights.shape
        if not rows or not outputs:
            raise RowError("a table without rows or outputs", value=weights.shape)
        bin_bits = (outputs - 1).bit_length()
        if bin_bits > bits:
            raise RowError(
                f"{outputs} outputs do not fit rows of {bits} bits",
                remedy=f"use at least {bin_bits} bits, or merge outputs",
            )
        packed = np.empty((rows, 1 << bin_bits), dtype=np.uint64)
        group = max(1, _CELLS_AT_ONCE >> bin_bits)
        padded = np.zeros((min(group, rows), 1 << bin_bits), dtype=np.int64)
        for start in range(0, rows, group):
            stop = min(start + group, rows)
            _check(weights[start:stop], bits, start)
            padded[: stop - start, :outputs] = weights[start:stop]
            packed[start:stop] = _pack_rows(padded[: stop - start], bits, bin_bits)
        packed.setflags(write=False)
        return cls(packed, bits, bin_bits, rows, outputs)

    @property
    def capacity(self) -> int:
        """How many units each bin holds: 2^(bits - bin_bits)."""
        return 1 << (self.bits - self.bin_bits)

    def threshold(self, row: int, bin: int) -> int:
        """Return the first position of a bin that belongs to its alias."""
        return int(self.packed[row, bin]) >> self.bin_bits

    def alias(self, row: int, bin: int) -> int:
        """Return the output that owns a bin from its threshold on."""
        return int(self.packed[row, bin]) & ((1 << self.bin_bits) - 1)


def decode(table: AliasTable, row: int, word: int) -> int:
    """Return the output that a 64-bit word stands for in a row: the specification of sampling.

    >>> fair = AliasTable.build(np.array([[8, 8]]), bits=4)
    >>> decode(fair, 0, 0x0FFF_FFFF_FFFF_FFFF), decode(fair, 0, 0x1000_0000_0000_0000)
    (0, 1)
    """
    if not 0 <= row < table.rows:
        raise InputError("no such row", value=row, remedy=f"rows are 0 to {table.rows - 1}")
    if not 0 <= word < 1 << WORD_BITS:
        raise NumberError("not a 64-bit word", value=word)
    r = word >> (WORD_BITS - table.bits)
    bin = r & ((1 << table.bin_bits) - 1)
    position = r >> table.bin_bits
    return bin if position < table.threshold(row, bin) else table.alias(row, bin)


def _pack_rows(weights: npt.NDArray[np.int64], bits: int, bin_bits: int) -> npt.NDArray[np.uint64]:
    """Sweep many padded rows at once.

    The sweep of the module's docstring has no memory but two running sums. Before it looks at
    light bin i it has given away the room D of the lights before i, and it has reached the first
    heavy bin k whose excess, summed through k, is more than D; heavy bin k is closed after all
    lights with D below that sum. So one sort by these sums puts the bins in the order in which
    the sweep closes them, and the alias of a bin is the next heavy bin in that order.
    """
    bins = 1 << bin_bits
    capacity = np.int64(1 << (bits - bin_bits))
    heavy = weights > capacity
    surplus = weights - capacity
    excess = np.cumsum(np.where(heavy, surplus, 0), axis=1)
    room = np.where(heavy, 0, -surplus)
    given = np.cumsum(room, axis=1) - room
    # At equal sums the heavy bin closes first, hence the last bit. Other ties are between lights
    # without room, whose alias is never read. The sums stay below 2^62, so doubling fits.
    order = np.argsort(2 * np.where(heavy, excess, given) + ~heavy, axis=1)

    heavy = np.take_along_axis(heavy, order, axis=1)
    given = np.cumsum(np.take_along_axis(room, order, axis=1), axis=1)
    threshold = np.where(
        heavy,
        capacity + np.take_along_axis(excess, order, axis=1) - given,
        np.take_along_axis(weights, order, axis=1),
    )
    following = np.full_like(order, bins)
    following[:, :-1] = np.where(heavy, order, bins)[:, 1:]
    following = np.minimum.accumulate(following[:, ::-1], axis=1)[:, ::-1]
    alias = np.where(threshold == capacity, order, following)

    packed = np.empty(weights.shape, dtype=np.int64)
    np.put_along_axis(packed, order, (threshold << bin_bits) | alias, axis=1)
    return packed.view(np.uint64)


def _check(weights: npt.NDArray[Any], bits: int, first: int) -> None:
    """Refuse rows that are not distributions over 2^bits units; `first` is their first index."""
    if weights.min() < 0 or weights.max() > 1 << bits:
        bad = (weights < 0) | (weights > 1 << bits)
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise RowError(
            f"weight outside 0 to 2^{bits}",
            where=f"row {first + row + 1}, output {column + 1}",
            value=int(weights[row, column]),
        )
    # Halves apart, because the sum of a wrong row can pass 2^63 and come back to 2^bits.
    half = 31
    mask = (1 << half) - 1
    values = weights.astype(np.int64, copy=False)
    low = (values & mask).sum(axis=1)
    high = (values >> half).sum(axis=1) + (low >> half)
    low &= mask
    wrong = np.flatnonzero((high != (1 << bits) >> half) | (low != (1 << bits) & mask))
    if wrong.size:
        row = int(wrong[0])
        raise RowError(
            f"weights do not sum to 2^{bits}",
            where=f"row {first + row + 1}",
            value=(int(high[row]) << half) + int(low[row]),
        )
