"""Arithmetic that errs on the safe side: rationals that are certainly not too small."""

from __future__ import annotations

import math
from fractions import Fraction

from liftlock.exact import enclosure
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure

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


def log_enclosed(ratio: Fraction) -> Enclosure:
    """Enclose the logarithm of a ratio, taken as 1 if it is below."""
    return enclosure.log(max(ratio, Fraction(1)))


def rounded_up(value: Fraction) -> Fraction:
    """Round up to a short denominator.

    >>> rounded_up(Fraction(1, 3)) == Fraction(1, 3)
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
