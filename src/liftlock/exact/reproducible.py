"""Floating-point arithmetic with one result on every machine.

A product by BLAS is added up in an order that depends on the CPU, and numpy's and the C library's
`log` and `exp` have other last digits where the CPU has wider vectors or fused operations. A
mechanism is a table of integers, so a last digit is enough to make it another one. Here sums are
added up in an order that depends on shapes alone, and `log` and `exp` are made of additions,
multiplications and divisions, which IEEE 754 rounds in one way everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liftlock.exact.integers import Floats

_CELLS = 1 << 20
"""Products held at a time."""

_LARGE = 1 << 20
"""Matrices with more products than this are multiplied in parts."""

# ln 2 in two parts: the first has 32 bits, so that its product with an exponent is exact.
LN2_HIGH = float.fromhex("0x1.62E42FEEp-1")
LN2_LOW = float.fromhex("0x1.A39EF35793C76p-33")

# 2 artanh(s) = 2 s + s (2/3 s^2 + 2/5 s^4 + ...), for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1).
ARTANH = tuple(2.0 / (2 * k + 1) for k in range(1, 12))
# exp(r) = 1 + r + r^2 (1/2 + r/6 + ...), for |r| <= ln(2) / 2.
_EXP = (
    0.5,
    1 / 6,
    1 / 24,
    1 / 120,
    1 / 720,
    1 / 5040,
    1 / 40320,
    1 / 362880,
    1 / 3628800,
    1 / 39916800,
    1 / 479001600,
    1 / 6227020800,
)
HALF_ROOT = 0.7071067811865476


def dot(left: Any, right: Any) -> Any:
    """Return ``left @ right`` of vectors or matrices, the same on every machine.

    >>> float(dot(np.array([0.5, 0.25]), np.array([2.0, 4.0])))
    2.0
    >>> dot(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    a, b = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if not a.ndim or not b.ndim or b.ndim > 2 or a.shape[-1] != b.shape[0]:
        raise ValueError(f"a product of shapes {a.shape} and {b.shape}")
    if b.ndim == 1:
        return _rows_times(a, b)
    if a.ndim == 1:
        return _rows_times(np.ascontiguousarray(b.T), a)
    rows = a.reshape(-1, a.shape[-1])
    large = len(rows) * b.shape[0] * b.shape[1] > _LARGE and _finite(rows) and _finite(b)
    product = _exact_parts(rows, b) if large else _few_times(rows, b)
    return product.reshape(*a.shape[:-1], b.shape[1])


def _few_times(a: Floats, b: Floats) -> Floats:
    """Multiply small matrices, one column or one term at a time."""
    total = np.zeros((a.shape[0], b.shape[1]))
    if b.shape[1] <= a.shape[1]:
        for column in range(b.shape[1]):
            total[:, column] = _rows_times(a, np.ascontiguousarray(b[:, column]))
        return total
    for term in range(a.shape[1]):
        total += a[:, term, None] * b[term]
    return total


def _finite(values: Floats) -> bool:
    return bool(np.isfinite(values).all())


def _exact_parts(a: Floats, b: Floats) -> Floats:
    """Multiply large matrices by BLAS, cut into parts whose products are exact in any order.

    A part has whole numbers of so few bits that no sum of products needs more than 53. Three parts
    hold at least the digits that a float has, relative to the largest of the row or column.
    """
    bits = (53 - (max(a.shape[1], 2) - 1).bit_length()) // 2
    ones, row_powers = _parts(a, bits)
    others, column_powers = _parts(np.ascontiguousarray(b.T), bits)
    total = np.zeros((a.shape[0], b.shape[1]))
    for order in range(2, -1, -1):  # the smallest first
        total *= 2.0**-bits
        for place in range(order + 1):
            total += ones[place] @ others[order - place].T  # whole numbers: exact
    total *= np.ldexp(1.0, row_powers - bits)[:, None]
    total *= np.ldexp(1.0, column_powers - bits)
    return total


def _parts(rows: Floats, bits: int) -> tuple[list[Floats], Any]:
    """Write each row as 2^power (n_0 + n_1 2^-bits + n_2 2^-2bits) 2^-bits, with whole n."""
    largest = np.maximum(rows.max(axis=1, initial=0.0), -rows.min(axis=1, initial=0.0))
    powers = np.clip(np.frexp(largest)[1], -900, 900)
    left = rows * np.ldexp(1.0, bits - powers)[:, None]
    parts = []
    for _ in range(3):
        parts.append(np.rint(left))
        left -= parts[-1]
        left *= 2.0**bits
    return parts, powers


def _rows_times(rows: Floats, vector: Floats) -> Any:
    """Return the sum of products of each row with a vector."""
    if rows.ndim == 1 or rows.size <= _CELLS:
        return (rows * vector).sum(axis=-1)
    step = max(1, _CELLS // len(vector))
    parts = [
        (rows[first : first + step] * vector).sum(axis=-1) for first in range(0, len(rows), step)
    ]
    return np.concatenate(parts)


def log(values: Any) -> Any:
    """Return the natural logarithm, within an ulp, of each number of 0 or more.

    >>> float(log(10.0)), float(log(1.0)), float(log(0.0))
    (2.302585092994046, 0.0, -inf)
    """
    given = np.asarray(values, dtype=np.float64)
    usual = (given > 0.0) & (given < np.inf)
    part, power = np.frexp(np.where(usual, given, 1.0))
    low = part < HALF_ROOT
    part, power = np.where(low, 2.0 * part, part), power - low
    f = part - 1.0
    s = f / (2.0 + f)
    z = s * s
    rest = np.full_like(z, ARTANH[-1])
    for term in ARTANH[-2::-1]:
        rest *= z
        rest += term
    # ln(1 + f) = f - s (f - z rest): the largest term is exact.
    found = power * LN2_HIGH - ((s * (f - z * rest) - power * LN2_LOW) - f)
    ends = np.where(given == 0.0, -np.inf, np.where(given == np.inf, np.inf, np.nan))
    return _plain(np.where(usual, found, ends))


def exp(values: Any) -> Any:
    """Return e to the power of each number, within an ulp or so.

    >>> float(exp(2.0)), float(exp(0.0)), float(exp(-800.0)), float(exp(800.0))
    (7.38905609893065, 1.0, 0.0, inf)
    """
    given = np.asarray(values, dtype=np.float64)
    # Beyond these ends the result is 0 or infinite anyway; NaN stays NaN.
    inside = np.clip(given, -746.0, 710.0)
    power = np.rint(inside * 1.4426950408889634)
    r = (inside - power * LN2_HIGH) - power * LN2_LOW
    rest = np.full_like(r, _EXP[-1])
    for term in _EXP[-2::-1]:
        rest *= r
        rest += term
    part = 1.0 + (r + r * r * rest)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        whole = np.where(np.isnan(given), 0, power).astype(np.int64)
        # In two steps, so that results below the least normal number are rounded once.
        half = whole // 2
        return _plain(np.ldexp(np.ldexp(part, half), whole - half))


def power(values: Any, exponent: float) -> Any:
    """Return a power of each number of 0 or more, for an exponent of 0 or more.

    >>> float(power(2.0, 10)), float(power(0.0, 0.5)), float(power(0.0, 0))
    (1024.0, 0.0, 1.0)
    """
    if exponent == 0:
        return _plain(np.ones_like(np.asarray(values, dtype=np.float64)))
    if exponent in (1, 2):
        return _plain(np.asarray(values, dtype=np.float64) ** int(exponent))
    return exp(exponent * log(values))


def log1p(values: Any) -> Any:
    """Return ln(1 + x) without losing the digits of a small x.

    >>> float(log1p(1e-20)), float(log1p(1.0)) == float(log(2.0))
    (1e-20, True)
    """
    given = np.asarray(values, dtype=np.float64)
    whole = 1.0 + given
    kept = whole - 1.0
    # Where 1 + x is rounded, its logarithm is off by the same factor as its distance from 1.
    scale = np.divide(given, kept, out=np.ones_like(given), where=(kept != 0.0) & np.isfinite(kept))
    return _plain(np.where(kept == 0.0, given, log(whole) * scale))


def expm1(values: Any) -> Any:
    """Return e^x - 1 without losing the digits of a small x.

    >>> float(expm1(1e-20)), float(expm1(1.0)) == float(exp(1.0)) - 1.0
    (1e-20, True)
    """
    given = np.asarray(values, dtype=np.float64)
    whole = exp(given)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = (whole - 1.0) * given / log(whole)
    found = np.where(np.abs(given) < 0.5, near, whole - 1.0)
    return _plain(np.where(whole == 1.0, given, found))


def _plain(values: Any) -> Any:
    """Return an array, or the number itself if it is one."""
    return values if np.ndim(values) else float(values)
