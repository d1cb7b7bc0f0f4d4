"""Sums of floats without rounding, so that adding up in any order gives the same number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from liftlock.exact.integers import Floats

_BLOCK = 1 << 20
_HALF = 27
"""A mantissa of 53 bits in two halves: 2^20 halves add up to less than 2^53, exact in a float."""


def exact_sums(values: Floats, groups: npt.NDArray[np.intp], size: int) -> tuple[Fraction, ...]:
    """Return the exact sum of the finite floats of each group, from group 0 to ``size - 1``.

    A float is an integer of 53 bits times a power of two. Those with the same power are added as
    integers, in halves, and the powers are put together with Python's own integers.

    >>> tenth = np.full(10, 0.1)
    >>> float(exact_sums(tenth, np.zeros(10, dtype=np.intp), 1)[0]), sum(tenth.tolist())
    (1.0, 0.9999999999999999)
    """
    totals = [0] * size
    lowest = 0
    for start in range(0, len(values), _BLOCK):
        mantissas, exponents = np.frexp(values[start : start + _BLOCK])
        whole = np.ldexp(mantissas, 53).astype(np.int64)
        places = groups[start : start + _BLOCK]
        for exponent in np.unique(exponents).tolist():
            some = exponents == exponent
            numbers, owners = whole[some], places[some]
            low = numbers & ((1 << _HALF) - 1)
            high = numbers >> _HALF
            shift = exponent - 53
            if shift < lowest:
                totals = [total << (lowest - shift) for total in totals]
                lowest = shift
            sums = _by_group(high, owners, size), _by_group(low, owners, size)
            for group in np.union1d(np.flatnonzero(sums[0]), np.flatnonzero(sums[1])).tolist():
                number = (int(sums[0][group]) << _HALF) + int(sums[1][group])
                totals[group] += number << (shift - lowest)
    return tuple(Fraction(total, 1 << -lowest) for total in totals)


def exact_sum(values: Floats) -> Fraction:
    """Return the exact sum of finite floats."""
    return exact_sums(values, np.zeros(len(values), dtype=np.intp), 1)[0]


def column_sums(table: Floats) -> tuple[Fraction, ...]:
    """Return the exact sum of each column of a table of finite floats.

    >>> column_sums(np.array([[0.1, 1e300], [0.2, 1.0], [-0.3, -1e300]]))
    (Fraction(1, 36028797018963968), Fraction(1, 1))
    """
    rows, columns = table.shape
    return exact_sums(table.ravel(), np.tile(np.arange(columns), rows), columns)


def add_exact(left: Sequence[Fraction], right: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Add two tuples of exact numbers."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _by_group(
    numbers: npt.NDArray[np.int64], owners: npt.NDArray[np.intp], size: int
) -> npt.NDArray[np.float64]:
    sums = np.bincount(owners, weights=numbers.astype(np.float64), minlength=size)
    return np.asarray(sums, dtype=np.float64)
