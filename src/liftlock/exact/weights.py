"""Rows of integer weights that sum to a power of two: how a probability row is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from liftlock.errors import RowError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from liftlock.exact.integers import Floats, Integers

DEFAULT_BITS = 52
"""Weights of 52 bits are exact in float64 and in JavaScript numbers."""

MOST_BITS = 62
"""The widest row that fits int64 and one 64-bit random word."""

GRAIN = 2.0**-DEFAULT_BITS
"""The smallest probability of a row of 52 bits: rounding moves each by at most this."""

_DRAFT_BITS = 62
LARGE = 1 << 18
"""Matrices of more cells are rounded in float64 instead of unbounded integers."""


def round_row(numerators: Sequence[int], bits: int = DEFAULT_BITS) -> list[int]:
    """Scale integers of 0 or more to weights that sum to 2^bits, by largest remainder.

    Each weight is within one unit of its share; equal remainders go to the earlier output.

    >>> round_row([1, 1, 1], bits=4)
    [6, 5, 5]
    """
    total = sum(numerators)
    if total <= 0:
        raise RowError("a row without any weight", value=list(numerators)[:8])
    scale = 1 << bits
    weights = [value * scale // total for value in numerators]
    missing = scale - sum(weights)
    if missing:
        remainders = [value * scale % total for value in numerators]
        order = sorted(range(len(weights)), key=lambda i: (-remainders[i], i))
        for index in order[:missing]:
            weights[index] += 1
    return weights


def round_rows(matrix: Floats, bits: int = DEFAULT_BITS) -> Integers:
    """Round every row of a float matrix to weights that sum to 2^bits, by largest remainder."""
    if bits <= DEFAULT_BITS and matrix.size > LARGE:
        return _round_large(matrix, bits)
    scaled = np.ldexp(matrix, _DRAFT_BITS).astype(np.int64).astype(object)
    return round_integer_rows(scaled, bits)


def _round_large(matrix: Floats, bits: int) -> Integers:
    """Round in float64 arithmetic: within two units of the shares, for millions of cells."""
    totals = matrix.sum(axis=1)
    if not (totals > 0).all():
        raise RowError("a row without any weight", where=f"row {int(np.argmin(totals)) + 1}")
    weights = np.empty(matrix.shape, dtype=np.int64)
    scale = 1 << bits
    for row, (values, total) in enumerate(zip(matrix, totals, strict=True)):
        shares = np.ldexp(values / total, bits)
        whole = shares.astype(np.int64)
        missing = scale - int(whole.sum())
        if missing:
            rest = np.flatnonzero(shares > whole)
            if 0 < missing <= len(rest):
                order = np.argsort(-(shares[rest] - whole[rest]), kind="stable")
                whole[rest[order[:missing]]] += 1
            else:  # the float sum was off: the largest share can best bear it
                whole[int(np.argmax(whole))] += missing
        weights[row] = whole
    return weights


def round_integer_rows(matrix: Integers, bits: int = DEFAULT_BITS) -> Integers:
    """Round every row of integers of 0 or more to weights that sum to 2^bits.

    The same rule as `round_row`, on the whole matrix at once.
    """
    numerators = matrix.astype(object)
    totals = numerators.sum(axis=1)
    if not all(totals > 0):
        row = next(i for i, total in enumerate(totals) if total <= 0)
        raise RowError("a row without any weight", where=f"row {row + 1}")
    scaled = numerators * (1 << bits)
    weights = scaled // totals[:, None]
    remainders = scaled - weights * totals[:, None]
    missing = (1 << bits) - weights.sum(axis=1)
    for row in (int(i) for i in np.flatnonzero(missing)):
        rest = remainders[row]
        order = sorted(range(len(rest)), key=lambda i: (-rest[i], i))
        for place in order[: int(missing[row])]:
            weights[row, place] += 1
    rounded: Integers = weights.astype(np.int64) if bits <= MOST_BITS else weights
    return rounded
