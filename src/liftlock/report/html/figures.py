"""Numbers for people: bounds are rounded to their safe side, so that nothing promises too much."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from liftlock.exact.enclosure import Enclosure
from liftlock.report.html.elements import GLUE

_DIGITS = 3
_GUARD = 30
_LARGEST = 10**6
_SMALLEST = Fraction(1, 10**5)


def rounded_up(value: Fraction, digits: int = _DIGITS) -> str:
    """Write a number with a few significant digits, never less than it is.

    >>> rounded_up(Fraction("2.01375")), rounded_up(Fraction(2)), rounded_up(Fraction("1234.5"))
    ('2.02', '2', '1,240')
    """
    return _rounded(value, digits, ROUND_CEILING)


def rounded_down(value: Fraction, digits: int = _DIGITS) -> str:
    """Write a number with a few significant digits, never more than it is.

    >>> rounded_down(Fraction("27.253")), rounded_down(Fraction(0)), rounded_down(Fraction("99.99"))
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


def fold(most: Fraction | None) -> str:
    """Write a factor that nothing exceeds: ``2.02-fold``.

    >>> fold(Fraction("2.01375")), fold(None)
    ('2.02-fold', 'without limit')
    """
    return "without limit" if most is None else f"{rounded_up(most)}-fold"


def down_to(least: Fraction) -> str:
    """Write the share of what it was that something keeps at least.

    >>> down_to(Fraction("0.27253")).replace(GLUE, " "), down_to(Fraction(0)).replace(GLUE, " ")
    ('27.2 %', '0 %')
    """
    text = f"{rounded_down(100 * least)}{GLUE}%"
    return f"practically 0 ({text})" if 0 < least < _SMALLEST else text


def percent(share: float, digits: int = _DIGITS) -> str:
    """Write a share as it is, to a few digits; what is small but not 0 does not become 0.

    >>> [percent(share).replace(GLUE, " ") for share in (0.1234, 1.0, 0.99996, 2e-9, 0.0)]
    ['12.3 %', '100 %', '99.996 %', 'below 0.001 %', '0 %']
    """
    hundred = 100.0 * share
    if hundred == 0:
        return f"0{GLUE}%"
    if 0 < hundred < 0.001:
        return f"below 0.001{GLUE}%"
    if 99.95 <= hundred < 100:
        texts = (f"{hundred:.{decimals}f}" for decimals in (2, 3, 4))
        text = next((text for text in texts if not text.startswith("100")), "99.9999")
        return f"{text}{GLUE}%"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(hundred))))
    text = f"{hundred:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}{GLUE}%"


def times(factor: float) -> str:
    """Write a factor shortly, for a cell of a picture.

    >>> [times(factor) for factor in (2.0137, 0.27253, 0.0, 1.0, 123.4, 4.2e-5, 31234.0)]
    ['2.01', '0.27', '0', '1.00', '123', '4e-5', '3e4']
    """
    if factor == 0:
        return "0"
    if 0.005 <= factor < 9.995:
        return f"{factor:.2f}"
    if 9.995 <= factor < 9999.5:
        return f"{factor:.3g}" if factor < 99.95 else f"{factor:.0f}"
    mantissa, _, exponent = f"{factor:.0e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def enclosed(value: Enclosure, digits: int) -> str:
    """Write the middle of an enclosure with so many significant digits.

    >>> enclosed(Enclosure.of(Fraction(1, 3)), 6), enclosed(Enclosure.infinity(), 6)
    ('0.333333', 'infinite')
    """
    if value.upper is None:
        return "infinite"
    middle = (value.lower + value.upper) / 2
    with localcontext(prec=digits + _GUARD):
        number = Decimal(middle.numerator) / Decimal(middle.denominator)
    with localcontext(prec=digits):
        number = (+number).normalize()
    return f"{number:f}" if -12 < number.adjusted() < 15 else f"{number:e}"


def compared(measured: Enclosure, bound: Enclosure) -> tuple[str, str, str]:
    """Write two numbers, and by how much they differ if their digits do not show it.

    >>> compared(Enclosure.of(Fraction("2.01375270754")), Enclosure.of(Fraction("2.01375270756")))
    ('2.013752708', '2.013752708', '2e-11')
    >>> compared(Enclosure.of(1), Enclosure.of(2))
    ('1', '2', '')
    """
    for digits in (7, 10):
        texts = enclosed(measured, digits), enclosed(bound, digits)
        if texts[0] != texts[1]:
            return (*texts, "")
    if measured.upper is None or bound.upper is None:
        return (*texts, "")
    middle = bound.lower + bound.upper - measured.lower - measured.upper
    return (*texts, f"{abs(float(middle)) / 2:.0e}".replace("e-0", "e-"))
