"""How far sums in floats may be off: what a proof that was computed in them has to give up."""

from __future__ import annotations

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
