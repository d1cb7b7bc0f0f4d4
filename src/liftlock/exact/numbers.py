"""Reading numbers exactly: what a person wrote, not what binary floating point made of it.

``"0.7"``, ``0.7`` and ``Fraction(7, 10)`` all mean seven tenths. A float that nobody could have
typed (``0.1 + 0.2``) is a measurement and has to be declared as one with `measured`.
"""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from liftlock.errors import NumberError

Exact: TypeAlias = int | str | float | Fraction | Decimal
"""Everything `exact` reads."""

TYPED_DIGITS = 15
"""A float whose shortest decimal form has more significant digits was computed, not typed."""

_PERCENT = re.compile(r"^(.*\S)\s*%$")
_MAX_EXPONENT = 400


def exact(value: object, *, name: str = "number") -> Fraction:
    """Return the rational number that was meant.

    >>> exact("0.7"), exact(0.7), exact("2/3"), exact("12.5 %"), exact("1e-3")
    (Fraction(7, 10), Fraction(7, 10), Fraction(2, 3), Fraction(1, 8), Fraction(1, 1000))

    A computed float is refused, because 0.30000000000000004 may mean 3/10 or itself:

    >>> exact(0.1 + 0.2)
    Traceback (most recent call last):
    liftlock.errors.NumberError: number looks computed, not typed: 0.30000000000000004; ...
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise NumberError(f"{name} is a boolean", value=value, remedy="give a number")
    if isinstance(value, int | numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise _not_finite(name, value)
        _check_exponent(value.adjusted(), name, value)
        return Fraction(value)
    if isinstance(value, float):
        return _from_float(value, name)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Real):
        raise NumberError(
            f"{name} is a low-precision float",
            value=value,
            remedy="pass a string, or measured(float(x)) to take its binary value",
        )
    if isinstance(value, str):
        return _from_text(value, name)
    raise NumberError(
        f"{name} is of type {type(value).__name__}",
        value=value,
        remedy="give an int, a Fraction, a decimal string or a float literal",
    )


def measured(value: float) -> Fraction:
    """Take a computed or measured float at its exact binary value.

    >>> measured(0.1 + 0.2)
    Fraction(1351079888211149, 4503599627370496)
    """
    number = float(value)
    if not math.isfinite(number):
        raise _not_finite("measurement", value)
    return Fraction(number)


def exact_probability(value: object, *, name: str = "probability") -> Fraction:
    """Read a number that must lie between 0 and 1."""
    number = exact(value, name=name)
    if not 0 <= number <= 1:
        raise NumberError(
            f"{name} outside 0 to 1", value=value, remedy="give a number between 0 and 1"
        )
    return number


def _from_float(value: float, name: str) -> Fraction:
    if not math.isfinite(value):
        raise _not_finite(name, value)
    shortest = repr(float(value))
    digits = Decimal(shortest).normalize().as_tuple().digits  # zeros at the end do not count
    if len(digits) > TYPED_DIGITS and not (value.is_integer() and abs(value) <= 2**53):
        raise NumberError(
            f"{name} looks computed, not typed",
            value=float(value),
            remedy="pass a string or Fraction, or measured(x) to take its exact binary value",
        )
    return Fraction(shortest)


def _from_text(text: str, name: str) -> Fraction:
    stripped = text.strip()
    percent = _PERCENT.match(stripped)
    if percent:
        return _from_text(percent.group(1), name) / 100
    lowered = stripped.lower().lstrip("+-")
    if lowered in {"inf", "infinity", "nan"}:
        raise _not_finite(name, text)
    exponent = re.search(r"[eE]([+-]?[\d_]+)$", stripped)
    if exponent:
        digits = exponent.group(1).replace("_", "").lstrip("+-0")
        _check_exponent(int(digits[:9] or "0"), name, text)
    try:
        return Fraction(stripped)
    except (ValueError, ZeroDivisionError):
        remedy = "write it like 0.7, 7/10, 1e-3 or 70%"
        if "," in stripped:
            remedy += " (a point, not a comma, before decimals)"
        raise NumberError(f"{name} is not a number", value=text, remedy=remedy) from None


def _check_exponent(exponent: int, name: str, value: object) -> None:
    """Refuse numbers whose exact form would fill the memory."""
    if abs(exponent) > _MAX_EXPONENT:
        raise NumberError(
            f"{name} has an exponent beyond {_MAX_EXPONENT}", value=value, remedy="check the value"
        )


def _not_finite(name: str, value: object) -> NumberError:
    return NumberError(f"{name} is not finite", value=value, remedy="give a finite number")
