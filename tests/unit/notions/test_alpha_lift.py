"""alpha-lift and its inverse, from small to very large orders."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Channel, Prior
from liftlock.errors import NumberError
from liftlock.notions import AlphaLift, AlphaLiftInverse
from tests import oracles, replay
from tests.checks import (
    check_number_budgets,
    check_real_budgets,
    check_smallest,
    contains,
    is_number,
)
from tests.strategies import Case, cases, near_ties

ANY = st.one_of(cases(), near_ties())
ORDERS = st.sampled_from(
    [
        Fraction(v)
        for v in ("1/10", "1/2", "9/10", "1", "11/10", "3/2", "2", "3", "64", "65", "100.5")
    ]
)


@given(ANY, ORDERS)
def test_it_is_the_norm_at_the_worst_output(case: Case, order: Fraction) -> None:
    found = AlphaLift.measure(case.channel, case.context, order)
    assert contains(found.value, oracles.alpha_lift(case.model, order))
    assert found.witness is not None
    column = [case.lift(secret, found.witness.output) for secret in case.secrets]
    model = oracles.Model(
        case.model.secrets, [0], case.model.prior, [[v] for v in column], [Fraction(1)]
    )
    assert contains(found.value, oracles.alpha_lift(model, order))


@given(ANY, ORDERS)
def test_the_inverse(case: Case, order: Fraction) -> None:
    found = AlphaLiftInverse.measure(case.channel, case.context, order)
    assert contains(found.value, oracles.alpha_lift_inverse(case.model, order))


@given(ANY)
def test_order_infinity_is_the_extreme_lift(case: Case) -> None:
    found = AlphaLift.measure(case.channel, case.context, "inf")
    assert is_number(found.value, oracles.max_lift(case.model))
    smallest = oracles.min_lift(case.model)
    found = AlphaLiftInverse.measure(case.channel, case.context, "inf")
    assert is_number(found.value, 1 / smallest if smallest else None)


@given(ANY)
def test_order_1_is_1(case: Case) -> None:
    # The mean lift is 1 at every output.
    assert is_number(AlphaLift.measure(case.channel, case.context, 1).value, Fraction(1))
    check_number_budgets(lambda budget: AlphaLift(1, budget), case, Fraction(1))


@settings(max_examples=25)
@given(ANY)
def test_it_grows_with_the_order_towards_the_max_lift(case: Case) -> None:
    orders = ["1", "2", "5", "50", "1000", "1000000", "1e9"]
    values = [AlphaLift.measure(case.channel, case.context, order).value for order in orders]
    top = oracles.max_lift(case.model)
    for first, second in pairwise(values):
        assert second.upper is not None
        assert first.lower <= second.upper
    last = values[-1]
    assert last.upper is not None
    assert last.lower <= top
    assert last.upper >= top * (1 - Fraction(1, 10**6))
    assert last.width <= top / 10**30


@pytest.mark.parametrize("order", ["1e-12", "1e-3", "1000", "1e6", "1e7", "1e12", "1e100", "1e400"])
def test_extreme_orders(order: str) -> None:
    channel = Channel.from_rows({"a": {0: "3/4", 1: "1/4"}, "b": {0: "1/5", 1: "4/5"}})
    prior = Prior.from_counts({"a": 1, "b": 2})
    shares = [Fraction(1, 3), Fraction(2, 3)]
    rows = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 5), Fraction(4, 5)]]
    model = oracles.of_prior(shares, rows)
    with mp.workdps(80 if len(order) < 5 else 600):
        high = oracles.alpha_lift(model, Fraction(order))
        low = oracles.alpha_lift_inverse(model, Fraction(order))
        assert contains(AlphaLift.measure(channel, prior, order).value, high)
        assert contains(AlphaLiftInverse.measure(channel, prior, order).value, low)


def test_a_rare_secret_at_a_high_order() -> None:
    # The worst sum is as small as the rarest secret; rounding must be relative to it.
    prior = Prior.from_counts({"a": 1, "b": 10**200})
    model = oracles.of_prior(
        [Fraction(1, 10**200 + 1), Fraction(10**200, 10**200 + 1)],
        [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]],
    )
    for order in ("2", "5/2", "100"):
        found = AlphaLift.measure(Channel.identity("ab"), prior, order).value
        with mp.workdps(700):
            true = oracles.alpha_lift(model, Fraction(order))
            assert found.upper is not None
            assert oracles.real(found.lower) <= true * (1 + mp.mpf(10) ** -300)
            assert true <= oracles.real(found.upper) * (1 + mp.mpf(10) ** -300)
            assert oracles.real(found.width) <= true / mp.mpf(10) ** 30


@settings(max_examples=25)
@given(cases(), st.sampled_from(["1/2", "2", "5/2", "40"]))
def test_decisions_at_the_boundary(case: Case, order: str) -> None:
    true = oracles.alpha_lift(case.model, Fraction(order))
    check_real_budgets(lambda budget: AlphaLift(order, budget), case, true)
    true = oracles.alpha_lift_inverse(case.model, Fraction(order))
    check_real_budgets(lambda budget: AlphaLiftInverse(order, budget), case, true)
    check_smallest(lambda budget: AlphaLift(order, budget), case)
    check_smallest(lambda budget: AlphaLiftInverse(order, budget), case)


@given(cases())
def test_decisions_at_order_infinity(case: Case) -> None:
    smallest = oracles.min_lift(case.model)
    inverse = 1 / smallest if smallest else None
    check_number_budgets(lambda b: AlphaLift("inf", b), case, oracles.max_lift(case.model))
    check_number_budgets(lambda b: AlphaLiftInverse("inf", b), case, inverse)


@pytest.mark.parametrize(
    ("name", "order"), [("large", "7/3"), ("large_joint", "2"), ("ties", "3/2")]
)
def test_large_tables(name: str, order: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    with mp.workdps(25):
        true = oracles.alpha_lift(case.model, Fraction(order))
        low = oracles.alpha_lift_inverse(case.model, Fraction(order))
    assert abs(mp.mpf(float(AlphaLift.measure(case.channel, case.context, order))) - true) < 1e-14
    found = AlphaLiftInverse.measure(case.channel, case.context, order)
    assert abs(mp.mpf(float(found)) - low) < 1e-12


def test_words_and_refusals() -> None:
    notion = AlphaLift("inf", "1.5")
    assert notion.budgets == {"alpha": "inf", "budget": "1.5"}
    assert AlphaLift(2, 1) != AlphaLift(3, 1)
    other: object = AlphaLiftInverse(2, 1)
    assert AlphaLift(2, 1) != other
    for order in (0, -1, "x", "-inf"):
        with pytest.raises(NumberError):
            AlphaLift(order, 1)


# --- for the contracts ----------------------------------------------------------------------------


def norm_attained(at: replay.Replay, *, inverse: bool = False) -> Any:
    mean = at.mean(lambda value: value**2, inverse=inverse)
    return mean if mean == mp.inf else mp.sqrt(oracles.real(mean))


TRUTHS: replay.Truths = {
    "alpha_lift": lambda case, _: {"alpha_lift": oracles.alpha_lift(case.model, replay.ALPHA)},
    "alpha_lift_inverse": lambda case, _: {
        "alpha_lift_inverse": oracles.alpha_lift_inverse(case.model, replay.ALPHA)
    },
}
ATTAINED: replay.Attained = {
    "alpha_lift": {"alpha_lift": norm_attained},
    "alpha_lift_inverse": {"alpha_lift_inverse": partial(norm_attained, inverse=True)},
}
