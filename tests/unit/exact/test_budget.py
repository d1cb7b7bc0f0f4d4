"""Budgets: a rational ratio against e^epsilon is decided exactly, however close."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.errors import NumberError
from liftlock.exact.budget import Budget, decimal_text


def around(epsilon: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return e^epsilon cut after so many digits, and one unit more: just below and just above."""
    with mp.workdps(2 * digits + 50):
        value = mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator)
        scaled = int(mp.floor(value * mp.mpf(10) ** digits))
    return Fraction(scaled, 10**digits), Fraction(scaled + 1, 10**digits)


@given(
    st.fractions(Fraction(1, 10**6), 30, max_denominator=10**6),
    st.sampled_from([5, 40, 45, 80, 200, 1000]),
)
def test_the_boundary_is_decided_to_any_digit(epsilon: Fraction, digits: int) -> None:
    below, above = around(epsilon, digits)
    budget = Budget.of(epsilon)
    assert budget.allows(below)
    assert not budget.allows(above)


def test_forty_digits_of_e() -> None:
    one = Budget.of("1")
    assert one.allows(Fraction("2.718281828459045235360287471352662497757"))
    assert not one.allows(Fraction("2.718281828459045235360287471352662497758"))


def test_convergents_of_e_are_on_alternating_sides() -> None:
    # e = [2; 1, 2, 1, 1, 4, 1, 1, 6, ...]: the best rational approximations there are.
    terms = [2]
    for k in range(1, 60):
        terms += [1, 2 * k, 1]
    one = Budget.of(1)
    (p0, q0), (p1, q1) = (1, 0), (terms[0], 1)
    assert one.allows(Fraction(p1, q1))
    for index, term in enumerate(terms[1:], start=1):
        (p0, q0), (p1, q1) = (p1, q1), (term * p1 + p0, term * q1 + q0)
        assert one.allows(Fraction(p1, q1)) == (index % 2 == 0)


@given(st.fractions(1, 1000))
def test_a_logarithm_is_its_own_ratio(ratio: Fraction) -> None:
    budget = Budget.of(f"ln {ratio}")
    assert budget.allows(ratio)
    assert not budget.allows(ratio + Fraction(1, 10**60))
    assert budget.exp().is_exact
    assert Budget.of(str(budget)) == budget
    assert Budget.of(budget) is budget


@pytest.mark.parametrize("text", ["ln 3", "ln(3)", "LN 3", "log 3", " ln ( 3 ) ", "ln 6/2", "ln3"])
def test_ways_to_write_a_logarithm(text: str) -> None:
    assert Budget.of(text) == Budget.from_ratio(Fraction(3))


def test_zero_and_infinite_ratios() -> None:
    zero = Budget.of(0)
    assert zero.allows(Fraction(1))
    assert zero.allows(Fraction(0))
    assert not zero.allows(Fraction(10**50 + 1, 10**50))
    assert not Budget.of("1000").allows(None)
    assert not Budget.of("ln 7").allows(None)
    assert Budget.of("1e-300").allows(Fraction(10**300 + 1, 10**300))
    assert not Budget.of("1e-300").allows(Fraction(10**300 + 2, 10**300))


@pytest.mark.parametrize("value", ["-1", -0.5, "ln 0.5", "ln 0", "ln", "x", None, float("inf")])
def test_what_is_not_a_budget_is_refused(value: object) -> None:
    with pytest.raises(NumberError, match=r"^lower budget"):
        Budget.of(value, name="lower budget")


def test_readings() -> None:
    assert str(Budget.of("0.70")) == "0.7"
    assert str(Budget.of("1/3")) == "1/3"
    assert float(Budget.of("1/4")) == 0.25
    assert abs(float(Budget.of("ln 2")) - 0.6931471805599453) < 1e-15
    assert Budget.of(2).nats().is_exact
    assert len(str(Budget.from_ratio(Fraction(10**5000, 3)))) == 5006


@given(st.integers(-(10**25), 10**25), st.integers(0, 18))
def test_decimals_are_written_exactly(digits: int, places: int) -> None:
    value = Fraction(digits, 10**places)
    text = decimal_text(value)
    assert "/" not in text
    assert Fraction(Decimal(text)) == value


@given(st.fractions())
def test_every_rational_survives_its_text(value: Fraction) -> None:
    assert Fraction(decimal_text(value)) == value
