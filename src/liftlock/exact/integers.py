"""Exact integer matrices, wider than 64 bits, at close to the speed of floating point.

A product of integer matrices is split into limbs narrow enough that float64 (BLAS) adds them
without rounding; the pieces are put together as Python integers only where somebody looks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Integers: TypeAlias = npt.NDArray[Any]
"""A matrix or vector of int64, or of Python integers (dtype object)."""
Floats: TypeAlias = npt.NDArray[np.float64]

EXACT_FLOAT_BITS = 53
"""Integers of so many bits are exact in float64."""
_INT64_BITS = 62
_MOST_PIECES = 64
_BLOCK_ROWS = 32


def as_integers(values: Sequence[int] | Integers) -> Integers:
    """Return an array of int64 when every value fits, else of Python integers."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return values.copy()
    array = np.array(values, dtype=object)
    if array.size and max(abs(int(array.max())), abs(int(array.min()))).bit_length() > 63:
        return array
    return array.astype(np.int64)


def _bit_length(array: Integers) -> int:
    return int(array.max()).bit_length() if array.size else 0


@dataclass(frozen=True, slots=True)
class WideMatrix:
    """A matrix of integers of 0 or more, kept as the sum of int64 parts shifted left.

    >>> product = multiply(np.array([[2**40, 1]]), np.array([[2**51], [5]]))
    >>> product.item(0, 0) == 2**91 + 5
    True
    """

    parts: tuple[tuple[int, npt.NDArray[np.int64]], ...]
    shape: tuple[int, int]

    def item(self, row: int, column: int) -> int:
        """Return one entry."""
        return sum(int(part[row, column]) << shift for shift, part in self.parts)

    def column(self, column: int) -> list[int]:
        """Return one column as Python integers."""
        total = [0] * self.shape[0]
        for shift, part in self.parts:
            total = [t + (v << shift) for t, v in zip(total, part[:, column].tolist(), strict=True)]
        return total

    def row(self, row: int) -> list[int]:
        """Return one row as Python integers."""
        total = [0] * self.shape[1]
        for shift, part in self.parts:
            total = [t + (v << shift) for t, v in zip(total, part[row].tolist(), strict=True)]
        return total

    def floats(self) -> Floats:
        """Return every entry rounded to float64, relative error below 1e-15."""
        total: Floats = np.zeros(self.shape)
        for shift, part in sorted(self.parts, key=lambda item: item[0]):
            total += np.ldexp(part.astype(np.float64), shift)
        return total

    def positive(self) -> npt.NDArray[np.bool_]:
        """Tell which entries are above 0."""
        found = np.zeros(self.shape, dtype=np.bool_)
        for _, part in self.parts:
            found |= part > 0
        return found

    def objects(self) -> Integers:
        """Return every entry as a Python integer (slow for millions of entries)."""
        total = np.zeros(self.shape, dtype=object)
        for shift, part in self.parts:
            total = total + (part.astype(object) << shift)
        return total

    def rows(self, keep: npt.NDArray[np.intp]) -> WideMatrix:
        """Keep some rows."""
        parts = tuple((shift, part[keep]) for shift, part in self.parts)
        return WideMatrix(parts, (len(keep), self.shape[1]))

    def columns(self, keep: npt.NDArray[np.intp]) -> WideMatrix:
        """Keep some columns."""
        parts = tuple((shift, part[:, keep]) for shift, part in self.parts)
        return WideMatrix(parts, (self.shape[0], len(keep)))

    @property
    def single(self) -> npt.NDArray[np.int64] | None:
        """The entries as one int64 matrix when they fit, else None."""
        if len(self.parts) == 1 and self.parts[0][0] == 0:
            return self.parts[0][1]
        return None


def as_wide_matrix(matrix: Integers) -> WideMatrix:
    """Wrap integers of 0 or more."""
    rows, columns = matrix.shape
    if matrix.dtype != object:
        return WideMatrix(((0, matrix.astype(np.int64, copy=False)),), (rows, columns))
    parts = tuple((shift, limb.astype(np.int64)) for shift, limb in _limbs(matrix, _INT64_BITS))
    return WideMatrix(parts, (rows, columns))


def _limbs(matrix: Integers, bits: int) -> list[tuple[int, Integers]]:
    length = max(_bit_length(matrix), 1)
    mask = (1 << bits) - 1
    if length <= bits:
        return [(0, matrix)]
    limbs = []
    for shift in range(0, length, bits):
        if matrix.dtype == object:
            limbs.append((shift, ((matrix >> shift) & mask).astype(np.int64)))
        else:
            limbs.append((shift, (matrix >> shift) & mask))
    return limbs


def multiply(left: Integers, right: Integers) -> WideMatrix:
    """Multiply two matrices of integers of 0 or more, exactly."""
    rows, inner = left.shape
    columns = right.shape[1]
    if rows == 1 and left.dtype != object and right.dtype != object:
        halves = _vector_product(left[0], right)
        if halves is not None:
            return halves
    room = EXACT_FLOAT_BITS - max(inner, 1).bit_length()
    left_bits, right_bits = _bit_length(left), _bit_length(right)
    left_width, right_width, pieces = _split(left_bits, right_bits, room)
    if pieces > _MOST_PIECES:
        return as_wide_matrix(np.asarray(left.astype(object) @ right.astype(object)))
    left_limbs = [(s, v.astype(np.float64)) for s, v in _limbs(left, left_width)]
    right_limbs = [(s, v.astype(np.float64)) for s, v in _limbs(right, right_width)]
    sums: dict[int, npt.NDArray[np.int64]] = {}
    for left_shift, a in left_limbs:
        for right_shift, b in right_limbs:
            product = (a @ b).astype(np.int64)  # exact: every partial sum is below 2^53
            shift = left_shift + right_shift
            sums[shift] = sums[shift] + product if shift in sums else product
    parts = tuple(sorted(sums.items(), key=lambda item: item[0]))
    if len(parts) > 1 and left_bits + right_bits + inner.bit_length() <= _INT64_BITS:
        joined = np.zeros((rows, columns), dtype=np.int64)
        for shift, part in parts:
            joined += part << shift
        parts = ((0, joined),)
    return WideMatrix(parts, (rows, columns))


def _vector_product(left: Integers, right: Integers) -> WideMatrix | None:
    """Multiply one row by a matrix in int64 halves, block by block so that it stays in cache."""
    half = (max(_bit_length(right), 2) + 1) // 2
    if _bit_length(left) + half + len(left).bit_length() > _INT64_BITS:
        return None
    low = np.zeros((1, right.shape[1]), dtype=np.int64)
    high = np.zeros_like(low)
    mask = (1 << half) - 1
    for start in range(0, len(left), _BLOCK_ROWS):
        factor = left[start : start + _BLOCK_ROWS]
        block = right[start : start + _BLOCK_ROWS]
        low[0] += np.einsum("x,xy->y", factor, block & mask)
        high[0] += np.einsum("x,xy->y", factor, block >> half)
    return WideMatrix(((0, low), (half, high)), low.shape)


def _split(left_bits: int, right_bits: int, room: int) -> tuple[int, int, int]:
    """Choose limb widths that need the fewest products of limbs, and say how many those are."""
    best: tuple[int, int, int] | None = None
    for left_width in range(1, room):
        right_width = room - left_width
        count = math.ceil(max(left_bits, 1) / left_width) * math.ceil(
            max(right_bits, 1) / right_width
        )
        if best is None or count < best[0]:
            best = (count, left_width, right_width)
    assert best is not None
    return best[1], best[2], best[0]


def sum_fractions(fractions: Iterable[Fraction]) -> Fraction:
    """Add fractions pairwise, which keeps the denominators short for as long as possible.

    >>> sum_fractions([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    Fraction(1, 1)
    """
    items = list(fractions)
    if not items:
        return Fraction(0)
    while len(items) > 1:
        paired = [a + b for a, b in zip(items[::2], items[1::2], strict=False)]
        if len(items) % 2:
            paired.append(items[-1])
        items = paired
    return items[0]
