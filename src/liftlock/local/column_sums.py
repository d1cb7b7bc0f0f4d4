"""Exact sums of the columns of a table of floats, whatever the order of its rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from liftlock.exact.accumulation import exact_sum
from liftlock.exact.integers import Floats

_HALF = 27
_MANTISSA = 53
_CELLS = 1 << 22
"""More bins than this are not worth their memory."""


def column_sums(table: Floats) -> tuple[Fraction, ...]:
    """Return the exact sum of each column of finite floats.

    A float is an integer of 53 bits times a power of two. Those of a column with the same power are
    added as integers, in halves, and the powers are put together with Python's own integers.

    >>> column_sums(np.array([[0.1, 1e300], [0.2, 1.0], [-0.3, -1e300]]))
    (Fraction(1, 36028797018963968), Fraction(1, 1))
    """
    from liftlock.local.kernels import fill_bins

    _, exponents = np.frexp(table)
    # A power that only zeros have is not worth a bin.
    used = exponents[table != 0]
    if not used.size:
        return tuple(Fraction(0) for _ in range(table.shape[1]))
    lowest, highest = int(used.min()), int(used.max())
    powers = highest - lowest + 1
    if powers * table.shape[1] > _CELLS:
        columns: list[Floats] = list(np.ascontiguousarray(table.T))
        return tuple(exact_sum(column) for column in columns)
    bins = np.zeros((2, powers, table.shape[1]), dtype=np.int64)
    fill_bins(np.ascontiguousarray(table), lowest, bins)
    totals = np.zeros(table.shape[1], dtype=object)
    for high, low in zip(bins[0, ::-1], bins[1, ::-1], strict=True):
        totals = (totals << 1) + (high.astype(object) << _HALF) + low.astype(object)
    shift = lowest - _MANTISSA
    scale = Fraction(1 << shift) if shift >= 0 else Fraction(1, 1 << -shift)
    found: list[int] = totals.tolist()
    return tuple(total * scale for total in found)
