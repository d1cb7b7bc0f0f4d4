"""Concave costs that are sums over coordinates, for compiled loops.

    linear . x + sum_j phi_j(x_j),   phi one of 0, -x ln x, -x^2

On a box each phi is at least its chord, so the chords bound the cost from below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from liftlock._solver.kernels.simplex import (
    FLAGS,
    NOTHING,
    NUMBERS,
    REAL,
    ROUNDING,
    VECTOR,
    tuple_of,
)
from liftlock.exact.compiled import compiled, log
from liftlock.exact.integers import Floats

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LINEAR, ENTROPY, SQUARE = 0, 1, 2
"""The kinds of phi: 0, -x ln x, -x^2."""

# A polynomial for ln on [1, 2], wrong by 4e-8: fast enough to look along thousands of edges.
_LN = (
    -2.368258865003623,
    5.618356260810005,
    -6.852844779390744,
    6.320600662472823,
    -4.068503632629845,
    1.7746671160324716,
    -0.5003275584936391,
    0.08231744036247372,
    -0.006006605050865348,
)


class Cost(NamedTuple):
    """A cost: its linear part, and the kind of phi of each coordinate."""

    linear: Floats
    kinds: npt.NDArray[np.int8]


COST = tuple_of(Cost, VECTOR, FLAGS)


@compiled("f8(i1,f8)")
def phi(kind, x):  # type: ignore[no-untyped-def]
    """Return the concave part of the cost of one coordinate."""
    if kind == ENTROPY:
        return -x * log(x) if x > 0.0 else 0.0
    if kind == SQUARE:
        return -x * x
    return 0.0


@compiled(REAL(COST, VECTOR))
def total(cost, values):  # type: ignore[no-untyped-def]
    """Return the cost of a point."""
    found = 0.0
    for j in range(len(values)):
        x = values[j]
        if x != 0.0:
            found += cost.linear[j] * x + phi(cost.kinds[j], x)
    return found


@compiled("f8(i1,f8,f8)")
def chord(kind, low, high):  # type: ignore[no-untyped-def]
    """Return the slope of the chord of phi over [low, high]."""
    if kind == LINEAR or high <= low:
        return 0.0
    if kind == SQUARE:
        return -(low + high)
    if low <= 0.0:
        return -log(high)
    return (phi(kind, high) - phi(kind, low)) / (high - low)


@compiled(REAL(COST, VECTOR, VECTOR, VECTOR))
def chords(cost, lower, upper, slopes):  # type: ignore[no-untyped-def]
    """Write the cost of the linear relaxation on a box; return its constant, safely rounded."""
    constant = 0.0
    size = 0.0
    for j in range(len(lower)):
        kind = cost.kinds[j]
        slopes[j] = cost.linear[j]
        if kind != LINEAR:
            slope = chord(kind, lower[j], upper[j])
            slopes[j] += slope
            # A chord is off by no more than what its values at both ends are.
            size += abs(phi(kind, upper[j]))
            size += abs(slope) * max(abs(lower[j]), abs(upper[j]))
            if lower[j] != 0.0:
                start = phi(kind, lower[j])
                constant += start - slope * lower[j]
                size += abs(start)
    return constant - ROUNDING * (8.0 * size + len(lower) * abs(constant))


@compiled(NOTHING(VECTOR, NUMBERS, VECTOR))
def add_rough_entropy(points, bits, sums):  # type: ignore[no-untyped-def]
    """Add -x ln x, nearly, to each sum; `bits` is the memory of `points` seen as integers."""
    mask, one = (1 << 52) - 1, 1023 << 52
    for j in range(len(points)):
        x = max(points[j], 1e-300)
        points[j] = x
        power = float((bits[j] >> 52) - 1023)
        bits[j] = (bits[j] & mask) | one
        m = points[j]
        log_m = _LN[8]
        log_m = log_m * m + _LN[7]
        log_m = log_m * m + _LN[6]
        log_m = log_m * m + _LN[5]
        log_m = log_m * m + _LN[4]
        log_m = log_m * m + _LN[3]
        log_m = log_m * m + _LN[2]
        log_m = log_m * m + _LN[1]
        log_m = log_m * m + _LN[0]
        sums[j] -= x * (log_m + power * 0.6931471805599453)
