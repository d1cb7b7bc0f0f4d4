"""LIP: the larger of the two sides, decided exactly at the boundary."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Channel, Prior
from liftlock.errors import NumberError, UnprotectedInput
from liftlock.notions import LIP
from tests import oracles, replay
from tests.checks import check_ratio_budgets, check_smallest, contains, is_ratio
from tests.strategies import Case, cases, make_channel, near_ties

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_the_leakage_is_the_largest_absolute_log_lift(case: Case) -> None:
    found = LIP.measure(case.channel, case.context)
    expected = oracles.lip(case.model)
    assert is_ratio(found, expected)
    assert found.witness is not None
    attained = case.lift(found.witness.secret, found.witness.output)
    assert expected is None if attained == 0 else expected in (attained, 1 / attained)


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    check_ratio_budgets(LIP, case, oracles.lip(case.model))


@given(ANY)
def test_the_smallest_budget_suffices_and_is_tight(case: Case) -> None:
    check_smallest(LIP, case)


@given(ANY)
def test_the_certificate_says_which_side_fails(case: Case) -> None:
    model = case.model
    top, bottom = oracles.max_lift(model), oracles.min_lift(model)
    certificate = LIP("ln 3/2").certify(case.channel, case.context, impossible="ignore")
    high, low = certificate.claims
    assert high.holds == (top <= Fraction(3, 2))
    assert low.holds == (bottom >= Fraction(2, 3))
    assert certificate.holds == (high.holds and low.holds)
    assert (high.measured.lower, low.measured.lower) == (top, bottom)
    assert high.witness is not None
    assert low.witness is not None
    assert case.lift(high.witness.secret, high.witness.output) == top
    assert case.lift(low.witness.secret, low.witness.output) == bottom
    assert contains(certificate.nats["eps_upper"], mp.log(oracles.real(top)))
    if bottom:
        assert contains(certificate.nats["eps_lower"], -mp.log(oracles.real(bottom)))
    else:
        assert certificate.nats["eps_lower"].is_infinite


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    assert is_ratio(LIP.measure(case.channel, case.context), oracles.lip(case.model))


def test_the_published_randomised_response_leaks_more_than_it_says() -> None:
    # 000 eq. (19): P = (.1, .2, .7), eps 1 leaks 1.90048. A rational E close to e.
    E = Fraction("2.718281828459045")
    prior = [Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)]
    rows = [[p / E + (1 - 1 / E) * (x == y) for y, p in enumerate(prior)] for x in range(3)]
    channel = make_channel(rows)
    context = Prior.from_probabilities({f"x{i}": p for i, p in enumerate(prior)})
    assert abs(float(LIP.measure(channel, context)) - 1.90048) < 1e-5
    assert not LIP("1.9").certify(channel, context).holds
    assert LIP("1.9005").certify(channel, context).holds


def test_impossible_inputs_are_refused_unless_told_otherwise() -> None:
    channel, prior = Channel.identity("ab"), Prior.from_counts({"a": 1, "b": 0})
    with pytest.raises(UnprotectedInput, match="'b'"):
        LIP(1).certify(channel, prior)
    certificate = LIP(0).certify(channel, prior, impossible="ignore")
    assert certificate.holds
    assert certificate.unprotected == ("b",)
    assert "NOT protected" in str(certificate)
    assert certificate.to_data()["unprotected"] == ["b"]


def test_words_and_refusals() -> None:
    assert str(LIP("ln 3")) == "lip(ln 3)"
    assert LIP("0.50") == LIP("1/2")
    assert LIP(1).budgets == {"epsilon": "1"}
    assert LIP(1).name == "lip"
    with pytest.raises(NumberError, match="negative"):
        LIP(-1)
    huge = LIP("1000").certify(Channel.identity("a"), Prior.uniform("a"))
    assert huge.holds
    assert max(len(line) for line in str(huge).splitlines()) < 200


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {
    "lip": lambda case, _: {
        "max-lift": oracles.max_lift(case.model),
        "min-lift": oracles.min_lift(case.model),
    }
}
ATTAINED: replay.Attained = {
    "lip": {"max-lift": replay.lift_attained, "min-lift": replay.lift_attained}
}
