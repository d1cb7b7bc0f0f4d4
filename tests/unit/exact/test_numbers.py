"""Reading numbers: what was written, and refusals in words."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.errors import NumberError
from liftlock.exact.numbers import exact, exact_probability, measured


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.7", Fraction(7, 10)),
        (0.7, Fraction(7, 10)),
        (np.float64(0.7), Fraction(7, 10)),
        (" 7/10 ", Fraction(7, 10)),
        ("70%", Fraction(7, 10)),
        ("70 %", Fraction(7, 10)),
        ("+7e-1", Fraction(7, 10)),
        ("-7E-1", Fraction(-7, 10)),
        (Decimal("0.7"), Fraction(7, 10)),
        (Fraction(7, 10), Fraction(7, 10)),
        (7, Fraction(7)),
        (np.int64(7), Fraction(7)),
        (np.uint8(7), Fraction(7)),
        (1e300, Fraction(10) ** 300),
        (1e-300, Fraction(1, 10**300)),
        (2.0**53, Fraction(2**53)),
        (9008e12, Fraction(9008 * 10**12)),
        (9007199254740991.0, Fraction(2**53 - 1)),
        (-0.0, Fraction(0)),
        ("1_000", Fraction(1000)),
        ("1e-400", Fraction(1, 10**400)),
        ("1e0000000000400", Fraction(10) ** 400),
    ],
)
def test_what_was_written_is_meant(value: object, expected: Fraction) -> None:
    assert exact(value) == expected


@given(st.fractions(), st.integers(0, 12))
def test_fractions_and_decimals_survive(value: Fraction, digits: int) -> None:
    assert exact(str(value)) == value
    text = f"{float(value):.{digits}f}"
    assert exact(text) == Fraction(text) == exact(Decimal(text))


@given(st.integers(-(10**14), 10**14), st.integers(-20, 20))
def test_a_typed_float_is_its_decimal(digits: int, exponent: int) -> None:
    text = f"{digits}e{exponent}"
    assert exact(float(text)) == Fraction(text)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (0.1 + 0.2, "computed"),
        (1 / 3, "computed"),
        (2.0**70, "computed"),  # the digits shown, 1180591620717411300000, are not its value
        (math.nan, "not finite"),
        (math.inf, "not finite"),
        ("inf", "not finite"),
        ("-Infinity", "not finite"),
        ("nan", "not finite"),
        (Decimal("Infinity"), "not finite"),
        (True, "is a boolean"),
        (np.float32(0.5), "low-precision"),
        ("0,7", "a point, not a comma"),
        ("", "not a number"),
        ("seven", "not a number"),
        ("1/0", "not a number"),
        ("%", "not a number"),
        ("1e401", "beyond 400"),
        ("1e-401", "beyond 400"),
        ("1e999999999999", "beyond 400"),
        ("1e1_000_000_000", "beyond 400"),
        ("1e0000000000000000500", "beyond 400"),
        ("1e500%", "beyond 400"),
        (Decimal("1e999999999"), "beyond 400"),
        (Decimal("1e-999999999"), "beyond 400"),
        ("9" * 5000, "not a number"),
        (None, "NoneType"),
        ([1], "list"),
        (1j, "complex"),
        (b"1", "bytes"),
    ],
)
def test_refusals_say_what_and_how_to_repair(value: object, word: str) -> None:
    with pytest.raises(NumberError, match=word) as caught:
        exact(value, name="budget of Ann")
    text = str(caught.value)
    assert "budget of Ann" in text
    assert "\n" not in text
    assert len(text) < 250
    assert caught.value.remedy


def test_measured_takes_the_binary_value() -> None:
    assert measured(0.1) == Fraction(3602879701896397, 36028797018963968)
    with pytest.raises(NumberError, match="not finite"):
        measured(math.nan)


def test_probabilities_lie_between_0_and_1() -> None:
    assert exact_probability("1") == 1
    assert exact_probability(0) == 0
    for value in ("1.0000000000000000000000001", "-1e-30", 2):
        with pytest.raises(NumberError, match="outside 0 to 1"):
            exact_probability(value)
