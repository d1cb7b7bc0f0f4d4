"""l1_lift and its inverse: exact averages at the worst output."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Prior
from liftlock.errors import NumberError
from liftlock.notions import L1Lift, L1LiftInverse
from tests import oracles, replay
from tests.checks import check_number_budgets, check_smallest, is_number
from tests.strategies import Case, cases, near_ties

ANY = st.one_of(cases(), near_ties())


def at_output(case: Case, output: object, *, inverse: bool) -> Fraction:
    """Recompute the average at one output."""
    column = [case.lift(secret, output) for secret in case.secrets]
    values = [abs(1 / v - 1) if inverse else abs(v - 1) for v in column]
    return sum((p * v for p, v in zip(case.model.prior, values, strict=True)), Fraction(0))


@given(ANY)
def test_it_is_the_average_at_the_worst_output(case: Case) -> None:
    found = L1Lift.measure(case.channel, case.context)
    expected = oracles.l1_lift(case.model)
    assert is_number(found.value, expected)
    assert found.witness is not None
    assert at_output(case, found.witness.output, inverse=False) == expected


@given(ANY)
def test_the_inverse(case: Case) -> None:
    found = L1LiftInverse.measure(case.channel, case.context)
    expected = oracles.l1_lift_inverse(case.model)
    assert is_number(found.value, expected)
    assert found.witness is not None
    if expected is None:
        assert case.lift(found.witness.secret, found.witness.output) == 0
    else:
        assert at_output(case, found.witness.output, inverse=True) == expected


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    check_number_budgets(L1Lift, case, oracles.l1_lift(case.model))
    check_number_budgets(L1LiftInverse, case, oracles.l1_lift_inverse(case.model))


@given(ANY)
def test_the_smallest_budget_suffices(case: Case) -> None:
    check_smallest(L1Lift, case)
    check_smallest(L1LiftInverse, case)


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    assert is_number(L1Lift.measure(case.channel, case.context).value, oracles.l1_lift(case.model))
    found = L1LiftInverse.measure(case.channel, case.context)
    assert is_number(found.value, oracles.l1_lift_inverse(case.model))


def test_a_lift_that_no_float_holds_is_not_a_lift_of_0() -> None:
    tiny = Fraction(1, 10**400)
    rows = [[tiny, 1 - tiny], [Fraction(1, 2), Fraction(1, 2)]]
    channel = Channel.from_fractions(Alphabet.of("ab"), Alphabet.of("uv"), rows)
    found = L1LiftInverse.measure(channel, Prior.uniform("ab"))
    model = oracles.of_prior([Fraction(1, 2)] * 2, rows)
    assert is_number(found.value, oracles.l1_lift_inverse(model))
    assert found.to_data()["value"] == "inf"
    assert found.to_data()["enclosure"][0] == str(found.value.lower)
    assert is_number(L1Lift.measure(channel, Prior.uniform("ab")).value, oracles.l1_lift(model))


def test_squares_that_overflow_are_still_exact() -> None:
    small = Fraction(1, 10**200)
    rows = [[small, 1 - small], [Fraction(1, 2), Fraction(1, 2)]]
    channel = Channel.from_fractions(Alphabet.of("ab"), Alphabet.of("uv"), rows)
    found = L1LiftInverse.measure(channel, Prior.uniform("ab"))
    model = oracles.of_prior([Fraction(1, 2)] * 2, rows)
    assert is_number(found.value, oracles.l1_lift_inverse(model))


def test_words_and_refusals() -> None:
    assert str(L1Lift("0.50")) == "l1_lift(0.5)"
    assert L1LiftInverse("1/3").budgets == {"budget": "1/3"}
    with pytest.raises(NumberError, match="negative"):
        L1Lift(-1)
    with pytest.raises(NumberError, match="not a number"):
        L1Lift("ln 3")


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {
    "l1_lift": lambda case, _: {"l1_lift": oracles.l1_lift(case.model)},
    "l1_lift_inverse": lambda case, _: {
        "l1_lift_inverse": replay.infinite(oracles.l1_lift_inverse(case.model))
    },
}
ATTAINED: replay.Attained = {
    "l1_lift": {"l1_lift": lambda at: at.mean(lambda lift: abs(lift - 1))},
    "l1_lift_inverse": {
        "l1_lift_inverse": lambda at: at.mean(lambda one: abs(one - 1), inverse=True)
    },
}
NOT_MONOTONE = {"l1_lift_inverse": replay.RAISED_TOGETHER}
"""abs(1/l - 1) is not convex in l."""
