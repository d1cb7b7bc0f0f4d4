"""Rounding: what float sums may be off, rationals that are not too small, rows of integer weights.

A proof that was computed in floats gives up how far their sums may be off; what errs on the safe
side is never too small; a probability row is stored as integers that sum to a power of two.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from liftlock.errors import RowError
from liftlock.exact import enclosure
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from liftlock.exact.integers import Floats, Integers

UNIT = 2.0**-53
"""The relative error of one operation, or of reading an exact number, at most."""

QUOTIENT = 16 * UNIT
"""The relative error of a quotient of up to five rounded numbers, compared with a rounded limit."""


def rounding(terms: int) -> float:
    """Return how far a sum of so many products may be off, relative to the sum of their sizes.

    Each factor may be off by a few units itself: a rational number that was rounded, a quotient, a
    logarithm. Terms are added in any order.

    >>> rounding(8) == 80 * UNIT
    True
    """
    return (2 * terms + 64) * UNIT


# --- rationals that are certainly not too small ---------------------------------------------------


SHORT_BITS = 160
"""Results are rounded up to denominators of so many bits, to keep chains of them cheap."""


def upper_end(value: Enclosure) -> Fraction:
    """Return the upper end of a finite enclosure."""
    assert value.upper is not None
    return value.upper


def ratio_above(budget: Budget) -> Fraction:
    """Return a rational just above e^epsilon (or equal to it).

    >>> ratio_above(Budget.of("ln 3"))
    Fraction(3, 1)
    """
    return upper_end(budget.exp())


def enclose_log(ratio: Fraction) -> Enclosure:
    """Enclose the logarithm of a ratio, taken as 1 if it is below."""
    return enclosure.log(max(ratio, Fraction(1)))


def round_up(value: Fraction) -> Fraction:
    """Round up to a short denominator.

    >>> round_up(Fraction(1, 3)) == Fraction(1, 3)
    True
    """
    if value.denominator.bit_length() <= SHORT_BITS:
        return value
    return Fraction(math.ceil(value * (1 << SHORT_BITS)), 1 << SHORT_BITS)


def root_above(value: Fraction) -> Fraction:
    """Return a rational just above the square root (or equal to it).

    >>> root_above(Fraction(9, 4))
    Fraction(3, 2)
    """
    scaled = math.ceil(value * (1 << (2 * SHORT_BITS)))
    root = math.isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 1 << SHORT_BITS)


# --- rows of integer weights ----------------------------------------------------------------------


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
