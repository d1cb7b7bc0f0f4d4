"""chi2_lift and its inverse: exact averages at the worst output."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Prior
from liftlock.errors import NumberError
from liftlock.notions import Chi2Lift, Chi2LiftInverse
from tests import oracles, replay
from tests.checks import check_number_budgets, check_smallest, is_number
from tests.strategies import Case, cases, near_ties

ANY = st.one_of(cases(), near_ties())


def at_output(case: Case, output: object, *, inverse: bool) -> Fraction:
    """Recompute the average at one output."""
    column = [case.lift(secret, output) for secret in case.secrets]
    values = [(1 / v - 1) ** 2 if inverse else (v - 1) ** 2 for v in column]
    return sum((p * v for p, v in zip(case.model.prior, values, strict=True)), Fraction(0))


@given(ANY)
def test_it_is_the_average_at_the_worst_output(case: Case) -> None:
    found = Chi2Lift.measure(case.channel, case.context)
    expected = oracles.chi2_lift(case.model)
    assert is_number(found.value, expected)
    assert found.witness is not None
    assert at_output(case, found.witness.output, inverse=False) == expected


@given(ANY)
def test_the_inverse(case: Case) -> None:
    found = Chi2LiftInverse.measure(case.channel, case.context)
    expected = oracles.chi2_lift_inverse(case.model)
    assert is_number(found.value, expected)
    assert found.witness is not None
    if expected is None:
        assert case.lift(found.witness.secret, found.witness.output) == 0
    else:
        assert at_output(case, found.witness.output, inverse=True) == expected


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    check_number_budgets(Chi2Lift, case, oracles.chi2_lift(case.model))
    check_number_budgets(Chi2LiftInverse, case, oracles.chi2_lift_inverse(case.model))


@given(ANY)
def test_the_smallest_budget_suffices(case: Case) -> None:
    check_smallest(Chi2Lift, case)
    check_smallest(Chi2LiftInverse, case)


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    assert is_number(
        Chi2Lift.measure(case.channel, case.context).value, oracles.chi2_lift(case.model)
    )
    found = Chi2LiftInverse.measure(case.channel, case.context)
    assert is_number(found.value, oracles.chi2_lift_inverse(case.model))


def test_a_lift_that_no_float_holds_is_not_a_lift_of_0() -> None:
    tiny = Fraction(1, 10**400)
    rows = [[tiny, 1 - tiny], [Fraction(1, 2), Fraction(1, 2)]]
    channel = Channel.from_fractions(Alphabet.of("ab"), Alphabet.of("uv"), rows)
    found = Chi2LiftInverse.measure(channel, Prior.uniform("ab"))
    model = oracles.of_prior([Fraction(1, 2)] * 2, rows)
    assert is_number(found.value, oracles.chi2_lift_inverse(model))
    assert found.to_data()["value"] == "inf"
    assert found.to_data()["enclosure"][0] == str(found.value.lower)
    assert is_number(Chi2Lift.measure(channel, Prior.uniform("ab")).value, oracles.chi2_lift(model))


def test_squares_that_overflow_are_still_exact() -> None:
    small = Fraction(1, 10**200)
    rows = [[small, 1 - small], [Fraction(1, 2), Fraction(1, 2)]]
    channel = Channel.from_fractions(Alphabet.of("ab"), Alphabet.of("uv"), rows)
    found = Chi2LiftInverse.measure(channel, Prior.uniform("ab"))
    model = oracles.of_prior([Fraction(1, 2)] * 2, rows)
    assert is_number(found.value, oracles.chi2_lift_inverse(model))


def test_words_and_refusals() -> None:
    assert str(Chi2Lift("0.50")) == "chi2_lift(0.5)"
    assert Chi2LiftInverse("1/3").budgets == {"budget": "1/3"}
    with pytest.raises(NumberError, match="negative"):
        Chi2Lift(-1)
    with pytest.raises(NumberError, match="not a number"):
        Chi2Lift("ln 3")


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {
    "chi2_lift": lambda case, _: {"chi2_lift": oracles.chi2_lift(case.model)},
    "chi2_lift_inverse": lambda case, _: {
        "chi2_lift_inverse": replay.infinite(oracles.chi2_lift_inverse(case.model))
    },
}
ATTAINED: replay.Attained = {
    "chi2_lift": {"chi2_lift": lambda at: at.mean(lambda lift: (lift - 1) ** 2)},
    "chi2_lift_inverse": {
        "chi2_lift_inverse": lambda at: at.mean(lambda one: (one - 1) ** 2, inverse=True)
    },
}
NOT_MONOTONE = {"chi2_lift_inverse": replay.RAISED_TOGETHER}
"""(1/l - 1)^2 is not convex in l."""
