"""What errs on the safe side is never too small, and hardly too large."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.rounding import (
    SHORT_BITS,
    enclose_log,
    ratio_above,
    root_above,
    round_up,
    upper_end,
)

HAIR = Fraction(1, 1 << SHORT_BITS)
LONG = st.builds(
    Fraction, st.integers(0, 1 << 400), st.integers(1 << SHORT_BITS, 1 << 400)
) | st.fractions(0, 1000)


@given(LONG)
def test_what_is_rounded_up_is_not_below_and_short(value: Fraction) -> None:
    found = round_up(value)
    assert value <= found < value + HAIR
    assert found.denominator.bit_length() <= SHORT_BITS + 1
    if value.denominator < 1 << SHORT_BITS:
        assert found == value


def test_long_fractions_are_rounded_up_and_not_to_the_nearest() -> None:
    just_above = Fraction(1, 3) + Fraction(1, 3 << 300)
    for value in (just_above, Fraction((1 << 200) + 1, 1 << 200), Fraction(1, 1 << 300)):
        assert round_up(value) > value
    assert round_up(Fraction((1 << SHORT_BITS) - 1, 1 << SHORT_BITS)) == 1 - HAIR
    assert round_up(Fraction(5, (1 << SHORT_BITS) - 1)) == Fraction(5, (1 << SHORT_BITS) - 1)


@given(LONG)
def test_a_root_is_not_below_and_within_a_hair(value: Fraction) -> None:
    found = root_above(value)
    assert found**2 >= value
    assert found == 0 or (found - HAIR) ** 2 < value + 2 * HAIR**2


@pytest.mark.parametrize("value", [Fraction(9, 4), Fraction(0), Fraction(1), Fraction(1, 2**200)])
def test_the_root_of_a_square_is_itself(value: Fraction) -> None:
    assert root_above(value) ** 2 == value


@pytest.mark.parametrize("value", [Fraction(1, 10**200), Fraction(2), Fraction(1, 3)])
def test_the_root_of_what_is_no_square_is_above(value: Fraction) -> None:
    assert root_above(value) ** 2 > value


@pytest.mark.parametrize("epsilon", ["0.1", "1", "7", "0.0001", "1/3"])
def test_ratios_are_just_above(epsilon: str) -> None:
    found = ratio_above(Budget.of(epsilon))
    with mpmath.workdps(80):
        exact = Fraction(epsilon)
        truth = mpmath.exp(mpmath.mpf(exact.numerator) / exact.denominator)
        ours = mpmath.mpf(found.numerator) / found.denominator
        assert truth < ours < truth * (1 + mpmath.mpf(2) ** -60)


def test_ends_and_logarithms() -> None:
    assert upper_end(Enclosure(Fraction(1), Fraction(2))) == 2
    assert enclose_log(Fraction(1, 2)).upper == 0
    three = enclose_log(Fraction(3))
    with mpmath.workdps(80):
        truth = Fraction(int(mpmath.log(3) * 10**70), 10**70)
    assert three.lower < truth + Fraction(1, 10**70)
    assert truth < upper_end(three)
