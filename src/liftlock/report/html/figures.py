"""Numbers for people, with as many digits as it takes to tell them apart."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

from liftlock.exact.decimals import GLUE
from liftlock.exact.enclosure import Enclosure

_DIGITS = 3
_GUARD = 30


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

    >>> from fractions import Fraction
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

    >>> from fractions import Fraction
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
