"""Breaches: the best property by branch and bound, against all sets of secrets."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Channel, Intervals, Prior
from liftlock.errors import NotDefined, NumberError, UnprotectedInput
from liftlock.notions import NoBreach, breach, find_breaches
from tests import oracles, replay
from tests.checks import TINY, is_number
from tests.strategies import Case, cases, near_ties, random_case

ANY = st.one_of(cases(inputs=5), near_ties(size=5))
LEVELS = st.lists(
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40),
    min_size=2,
    max_size=2,
    unique=True,
).map(sorted)


def posterior(case: Case, secrets: tuple[object, ...], output: object) -> Fraction:
    model = case.model
    places = [case.secrets.index(str(secret)) for secret in secrets]
    y = case.outputs.index(str(output))
    joint = sum((model.prior[s] * model.given[s][y] for s in places), Fraction(0))
    return joint / model.masses[y]


@given(ANY, st.fractions(0, 1, max_denominator=40))
def test_it_is_the_highest_posterior_of_a_small_set(case: Case, rho: Fraction) -> None:
    found = NoBreach.measure(case.channel, case.context, rho)
    expected = oracles.breach(case.model, rho)
    assert is_number(found.value, expected)
    witness = found.witness
    assert witness is not None
    assert witness.secrets is not None
    assert posterior(case, witness.secrets, witness.output) == expected
    mass = sum(case.model.prior[case.secrets.index(str(s))] for s in witness.secrets)
    assert mass <= rho


@given(ANY, LEVELS)
def test_reports_say_both_directions(case: Case, levels: list[Fraction]) -> None:
    low, high = levels
    report = find_breaches(case.channel, case.context, low, high)
    up, down = oracles.breach(case.model, low), oracles.breach_down(case.model, high)
    assert is_number(report.upward.value, up)
    assert is_number(report.downward.value, down)
    assert report.possible == (up > high or down < low)
    fallen = report.downward.witness
    assert fallen is not None
    assert fallen.secrets is not None
    assert posterior(case, fallen.secrets, fallen.output) == down
    mass = sum(case.model.prior[case.secrets.index(str(s))] for s in fallen.secrets)
    assert mass >= high
    assert str(report).startswith("breach possible" if report.possible else "no breach")


@given(ANY, LEVELS)
def test_certificates_agree_with_the_definition(case: Case, levels: list[Fraction]) -> None:
    low, high = levels
    certificate = NoBreach(low, high).certify(case.channel, case.context, impossible="ignore")
    up, down = oracles.breach(case.model, low), oracles.breach_down(case.model, high)
    assert certificate.holds == (up <= high and down >= low)
    assert [claim.holds for claim in certificate.claims] == [up <= high, down >= low]


@given(ANY)
def test_the_boundary_belongs_to_the_safe_side(case: Case) -> None:
    # A property of prior at most 1/3 may reach rho2 but not exceed it.
    rho1 = Fraction(1, 3)
    reached = oracles.breach(case.model, rho1)

    def upward(rho2: Fraction) -> bool:
        report = find_breaches(case.channel, case.context, rho1, rho2)
        upper = report.upward.value.upper
        return upper is not None and upper <= rho2

    if rho1 < reached < 1:
        assert upward(reached)
    if rho1 < reached * (1 - TINY) < 1:
        assert not upward(reached * (1 - TINY))


@settings(max_examples=40)
@given(ANY, LEVELS)
def test_the_smallest_level_suffices_both_ways(case: Case, levels: list[Fraction]) -> None:
    low, high = levels
    text = NoBreach(low, high).smallest_text(case.channel, case.context)

    def holds(rho2: Fraction) -> bool:
        return NoBreach(low, rho2).certify(case.channel, case.context, impossible="ignore").holds

    if text.startswith("no rho2"):
        assert not holds(1 - Fraction(1, 10**10))
        return
    value = Fraction(text.removeprefix("rho2=").removesuffix(" at this rho1"))
    assert low < value < 1
    assert holds(value)
    less = value - Fraction(2, 10**10)
    if less > low:
        assert not holds(less)


@given(cases(inputs=5, outputs=3))
def test_a_search_cut_short_is_still_certain(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(breach, "MOST_NODES", 1)
        for rho in (Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)):
            found = NoBreach.measure(case.channel, case.context, rho).value
            assert found.upper is not None
            assert found.lower <= oracles.breach(case.model, rho) <= found.upper


def test_the_proposition_of_the_paper() -> None:
    # 002 Prop A1: with max-lift at most rho2/rho1 there is no upward breach.
    case = random_case(8, 5, seed=3)
    top = oracles.max_lift(case.model)
    rho1 = Fraction(1, 10)
    assert oracles.breach(case.model, rho1) <= top * rho1
    report = find_breaches(case.channel, case.context, rho1, top * rho1)
    assert is_number(report.upward.value, oracles.breach(case.model, rho1))
    assert report.upward.value.lower <= report.rho2


def test_a_larger_table() -> None:
    case = random_case(14, 6, seed=5)
    found = NoBreach.measure(case.channel, case.context, "0.3")
    assert is_number(found.value, oracles.breach(case.model, Fraction(3, 10)))


def test_words_and_refusals() -> None:
    notion = NoBreach("0.1", "0.5")
    assert str(notion) == "breach(0.1, 0.5)"
    assert notion.budgets == {"rho1": "0.1", "rho2": "0.5"}
    assert notion.name == "breach"
    for low, high in (("0.5", "0.5"), ("0.6", "0.5"), (0, "0.5"), ("0.5", 1)):
        with pytest.raises(NumberError, match="out of order"):
            NoBreach(low, high)
        with pytest.raises(NumberError, match="out of order"):
            find_breaches(Channel.identity("ab"), Prior.uniform("ab"), low, high)
    with pytest.raises(UnprotectedInput):
        notion.certify(Channel.identity("ab"), Prior.from_counts({"a": 1, "b": 0}))
    with pytest.raises(NotDefined):
        NoBreach.measure(Channel.identity("ab"), Intervals.all_priors("ab"), "0.5")
    assert (
        NoBreach("0.1", "0.2").smallest_text(
            Channel.identity("ab"), Prior.from_counts({"a": 1, "b": 9})
        )
        == "no rho2 below 1 at this rho1"
    )


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {
    "breach": lambda case, _: {
        "highest posterior": oracles.breach(case.model, Fraction("0.3")),
        "lowest posterior": oracles.breach_down(case.model, Fraction("0.6")),
    }
}
ATTAINED: replay.Attained = {
    "breach": {
        "highest posterior": replay.Replay.posterior,
        "lowest posterior": replay.Replay.posterior,
    }
}
