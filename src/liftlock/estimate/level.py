"""The level of an interval: how it is read, and how many standard errors it reaches."""

from __future__ import annotations

from statistics import NormalDist

from liftlock.errors import InputError
from liftlock.exact.numbers import exact


def read_level(level: object) -> float:
    """Read a level between 0 and 1, a number or its text.

    >>> read_level("95 %"), read_level(0.9)
    (0.95, 0.9)
    """
    number = level if isinstance(level, float) else exact(level, name="level")
    if not 0 < number < 1:
        raise InputError("the level is not between 0 and 1", value=level, remedy="say 0.95 or 95 %")
    return float(number)


def quantile(level: float) -> float:
    """Return z with P(|Z| <= z) = level for a standard normal Z.

    >>> round(quantile(0.95), 4)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + level / 2)
