"""How numbers are written for people: a few significant digits, of any size."""

from __future__ import annotations

import math

DIGITS = 6
_SMALL, _LARGE = 1e-4, 1e12
"""Beyond these a number is written with a power of ten."""

_CERTAIN = 20.0
"""Beliefs that change by so many nats are certain afterwards, for all anybody could measure."""

_TITLES = {
    "mean": "squared error of the best reading of the output (mean, per person)",
    "absolute": "absolute error of the best reading of the output (mean, per person)",
    "squared": "expected squared distortion of the best reading of the output",
}


def amount(number: float, digits: int = DIGITS) -> str:
    """Write a number with at most so many significant digits, thousands apart.

    >>> amount(0.3287611726), amount(519569651.4), amount(1234.5), amount(0.0)
    ('0.328761', '519,570,000', '1,234.5', '0')
    >>> amount(1.7224448e-9), amount(-2.5e15), amount(99999.96, 5)
    ('1.72244e-09', '-2.5e+15', '100,000')
    """
    if number == 0:
        return "0"
    if not math.isfinite(number):
        return "infinite" if number > 0 else str(number)
    rounded = float(f"{number:.{digits - 1}e}")
    if not _SMALL <= abs(rounded) < _LARGE:
        return f"{rounded:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def counted(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "row"), counted(32561, "row")
    ('1 row', '32,561 rows')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def nats(value: float, digits: int = DIGITS) -> str:
    """Write by how much a belief changes, so that what makes it certain is no number.

    >>> nats(0.57151, 3), nats(math.inf), nats(30.3)
    ('0.572', 'any amount', 'any amount')
    """
    return "any amount" if value > _CERTAIN else amount(value, digits)


def title_of(utility: str, title: str) -> str:
    """Name what is measured so that it is not taken for the error of the output as it is.

    >>> title_of("mean", "squared error of X")
    'squared error of the best reading of the output (mean, per person)'
    """
    return _TITLES.get(utility, title or utility)
