"""Bounds as short decimals, rounded to their safe side, so that no text promises too much."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

GLUE = "\N{NO-BREAK SPACE}"
"""A blank that no line breaks at; Python counts it among the unprintable."""

_DIGITS = 3
_GUARD = 30
_LARGEST = 10**6
_SMALLEST = Fraction(1, 10**5)


def round_up_text(value: Fraction, digits: int = _DIGITS) -> str:
    """Write a number with a few significant digits, never less than it is.

    >>> (
    ...     round_up_text(Fraction("2.01375")),
    ...     round_up_text(Fraction(2)),
    ...     round_up_text(Fraction("1234.5")),
    ... )
    ('2.02', '2', '1,240')
    """
    return _rounded(value, digits, ROUND_CEILING)


def round_down_text(value: Fraction, digits: int = _DIGITS) -> str:
    """Write a number with a few significant digits, never more than it is.

    >>> (
    ...     round_down_text(Fraction("27.253")),
    ...     round_down_text(Fraction(0)),
    ...     round_down_text(Fraction("99.99")),
    ... )
    ('27.2', '0', '99.9')
    """
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: Fraction, digits: int, rounding: str) -> str:
    if value == 0:
        return "0"
    with localcontext(prec=_GUARD, rounding=rounding):
        number = Decimal(value.numerator) / Decimal(value.denominator)
    with localcontext(prec=digits, rounding=rounding):
        number = +number
    if abs(number) >= _LARGEST or abs(number) < Decimal(1) / Decimal(10**4):
        return f"{number:.{digits - 1}e}"
    text = f"{number:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def fold_text(most: Fraction | None) -> str:
    """Write a factor that nothing exceeds: ``2.02-fold``.

    >>> fold_text(Fraction("2.01375")), fold_text(None)
    ('2.02-fold', 'without limit')
    """
    return "without limit" if most is None else f"{round_up_text(most)}-fold"


def share_text(least: Fraction) -> str:
    """Write the share of what it was that something keeps at least.

    >>> (
    ...     share_text(Fraction("0.27253")).replace(GLUE, " "),
    ...     share_text(Fraction(0)).replace(GLUE, " "),
    ... )
    ('27.2 %', '0 %')
    """
    text = f"{round_down_text(100 * least)}{GLUE}%"
    return f"practically 0 ({text})" if 0 < least < _SMALLEST else text


def moves_text(up: Fraction | None, down: Fraction | None) -> str:
    """Say how far a probability may move, as the end of a sentence.

    >>> moves_text(Fraction(2), Fraction(1, 4)).replace(chr(160), " ")
    'at most 2-fold, and lower it to no less than 25 % of what it was'
    """
    most = "without limit" if up is None else f"at most {fold_text(up)}"
    if down is None or down == 0:
        return f"{most}, and can rule it out"
    return f"{most}, and lower it to no less than {share_text(down)} of what it was"
