"""Enclosures: the true value, to hundreds of digits, lies inside; they are as narrow as said."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.errors import NumberError
from liftlock.exact import enclosure
from liftlock.exact.enclosure import Enclosure, exp, exp_of, log, log_of, nearest_float, power

BITS = st.sampled_from([8, 53, 128, 256, 1000])
POSITIVE = st.one_of(
    st.fractions(min_value=0, max_value=10**6).filter(bool),
    st.builds(Fraction, st.integers(1, 2**200), st.integers(1, 2**200)),
    st.builds(lambda n: Fraction(2**n + 1, 2**n), st.integers(0, 300)),
    st.builds(lambda n: Fraction(2) ** n, st.integers(-3000, 3000)),
)


def precise(value: Fraction) -> Any:
    """Convert to mpmath, with all the bits that its precision holds (fast for long integers)."""
    length = value.numerator.bit_length() - value.denominator.bit_length()
    shift = length - int(mp.mp.prec) - 64
    scaled = value / Fraction(2) ** shift
    return mp.ldexp(mp.mpf(scaled.numerator // scaled.denominator), shift)


def inside(true: Any, found: Enclosure) -> bool:
    """Compare in as many digits as are set; the ends are exact."""
    assert found.upper is not None
    return bool(precise(found.lower) <= true <= precise(found.upper))


@given(st.one_of(st.fractions(-50, 50), st.fractions(-3000, 3000, max_denominator=50)), BITS)
def test_exp_contains_the_true_value(value: Fraction, bits: int) -> None:
    found = exp(value, bits)
    with mp.workprec(2 * bits + 200):
        assert inside(mp.exp(precise(value)), found)
    assert found.width < found.lower / 2**bits


@pytest.mark.parametrize("bits", [16, 128, 500])
@pytest.mark.parametrize(
    "value",
    [
        Fraction(1, 10**300),
        Fraction(-1, 10**300),
        Fraction(10**6),
        Fraction(-(10**6)),
        Fraction(10**40 + 1, 10**40),
        Fraction(3**200, 2**310),
        Fraction(69314718056, 10**11),  # the constant the range is reduced by
    ],
)
def test_exp_of_huge_tiny_and_awkward_numbers(value: Fraction, bits: int) -> None:
    found = exp(value, bits)
    with mp.workprec(2 * bits + 2000):
        assert inside(mp.exp(precise(value)), found)
    assert found.width < found.lower / 2**bits


def test_exp_is_exact_at_0_and_refuses_the_unreasonable() -> None:
    assert exp(0) == Enclosure.of(1)
    with pytest.raises(NumberError, match="too large"):
        exp(10**7)


@given(POSITIVE, BITS)
def test_log_contains_the_true_value(value: Fraction, bits: int) -> None:
    found = log(value, bits)
    with mp.workprec(2 * bits + 900):
        assert inside(mp.log(precise(value)), found)
    assert found.width < Fraction(1, 2**bits)


def test_log_of_1_is_exactly_0_and_of_0_is_refused() -> None:
    assert log(1) == Enclosure.of(0)
    for value in (0, -1):
        with pytest.raises(NumberError, match="not positive"):
            log(value)


def test_ln_2_stays_within_its_stated_error_at_high_precision() -> None:
    # The error of the series grows with its length, and must not outgrow the guard bits.
    for work in (64, 4096, 20_000):
        with mp.workprec(work + 64):
            true = mp.ldexp(mp.log(2), work)
            assert 0 <= true - enclosure._log2_fixed(work) <= 2


@given(
    st.fractions(0, 1000, max_denominator=10**6),
    st.one_of(
        st.fractions(Fraction(1, 50), 200, max_denominator=60),
        st.sampled_from([Fraction(1), Fraction(2), Fraction(64), Fraction(65), Fraction(1, 3)]),
    ),
    st.sampled_from([32, 128, 300]),
)
def test_power_contains_the_true_value(base: Fraction, exponent: Fraction, bits: int) -> None:
    found = power(Enclosure.of(base), exponent, bits)
    if found.is_exact:
        assert found.lower**exponent.denominator == base**exponent.numerator
        return
    with mp.workprec(2 * bits + 3000):
        assert inside(mp.power(precise(base), precise(exponent)), found)
    assert found.width <= found.lower / 2**bits


def test_power_of_an_interval_and_of_infinity() -> None:
    found = power(Enclosure(Fraction(4), Fraction(9)), Fraction(1, 2))
    assert found.lower <= 2
    assert found.upper is not None
    assert found.upper >= 3
    assert found.width < Fraction(1001, 1000)
    assert power(Enclosure.infinity(), Fraction(1, 2)).is_infinite


def test_a_power_too_small_for_any_use_is_enclosed_not_refused() -> None:
    found = power(Enclosure.of(Fraction(1, 2)), Fraction(10**9 + 1))
    assert found.lower == 0
    assert found.upper is not None
    assert 0 < found.upper <= Fraction(1, 2**4096)
    close = power(Enclosure.of(Fraction(1, 2)), Fraction(1_442_695))  # e^-1000000 or so
    assert close.upper is not None
    with mp.workprec(200):
        assert inside(mp.power(mp.mpf(1) / 2, 1_442_695), close)


def test_power_refuses_negative_bases_and_exponents() -> None:
    with pytest.raises(NumberError, match="negative"):
        power(Enclosure.of(-2), Fraction(1, 2))
    with pytest.raises(NumberError, match="positive"):
        power(Enclosure.of(2), Fraction(0))


ENDS = st.fractions(-100, 100, max_denominator=1000)


@st.composite
def enclosures(draw: st.DrawFn, *, positive: bool = False) -> tuple[Enclosure, Fraction]:
    """Return an interval and a point of it."""
    values = st.fractions(Fraction(1, 1000), 100, max_denominator=1000) if positive else ENDS
    a, b, c = sorted(draw(st.tuples(values, values, values)))
    return Enclosure(a, c), b


@given(enclosures(), enclosures(), ENDS)
def test_arithmetic_keeps_the_point_inside(
    first: tuple[Enclosure, Fraction], second: tuple[Enclosure, Fraction], number: Fraction
) -> None:
    (a, x), (b, y) = first, second
    for found, true in (
        (a + b, x + y),
        (a.scaled(number), x * number),
        (a.shifted(number), x + number),
        (a.rounded(3), x),
        (a.maximum(b), max(x, y)),
        (Enclosure.of(x).maximum(Enclosure.of(y)), max(x, y)),
    ):
        assert found.upper is not None
        assert found.lower <= true <= found.upper
    assert (a + b).width == a.width + b.width
    assert a.rounded(3).width <= a.width + Fraction(1, 4)


@given(enclosures(positive=True), enclosures(positive=True))
def test_products_logs_and_exponentials_keep_the_point_inside(
    first: tuple[Enclosure, Fraction], second: tuple[Enclosure, Fraction]
) -> None:
    (a, x), (b, y) = first, second
    product = a.times(b)
    assert product.upper is not None
    assert product.lower <= x * y <= product.upper
    with mp.workprec(400):
        assert inside(mp.log(precise(x)), log_of(a))
        assert inside(mp.exp(precise(x)), exp_of(a))


def test_infinity() -> None:
    endless = Enclosure.infinity()
    one = Enclosure.of(1)
    assert float(endless) == math.inf
    assert str(endless) == "inf"
    assert endless.width == 0
    assert endless.safe is None
    assert not endless.is_exact
    for found in (
        endless + one,
        one + endless,
        endless.times(one),
        one.maximum(endless),
        endless.scaled(3),
        endless.shifted(3),
        endless.rounded(),
        log_of(endless),
        exp_of(endless),
    ):
        assert found.is_infinite


def test_an_enclosure_is_never_upside_down() -> None:
    with pytest.raises(NumberError, match="upside down"):
        Enclosure(Fraction(2), Fraction(1))


def test_floats_of_numbers_that_no_float_holds() -> None:
    assert nearest_float(Fraction(10) ** 400) == math.inf
    assert nearest_float(-(Fraction(10) ** 400)) == -math.inf
    assert nearest_float(Fraction(1, 10**400)) == 0.0
    assert float(Enclosure.of(10**400)) == math.inf
    assert str(exp(1000)) == "inf"
    assert not exp(1000).is_infinite


@settings(max_examples=20)
@given(st.floats(-1e300, 1e300))
def test_ordinary_floats_come_back(value: float) -> None:
    assert nearest_float(Fraction(value)) == value
