"""LDP: every pair of rows, also those of prior probability 0."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Channel, Intervals, Prior
from liftlock.notions import LDP
from tests import oracles, replay
from tests.checks import check_ratio_budgets, check_smallest, is_ratio
from tests.strategies import Case, cases, near_ties

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_the_leakage_is_the_largest_ratio_of_likelihoods(case: Case) -> None:
    found = LDP.measure(case.channel, case.context)
    expected = oracles.ldp(case.given)
    assert is_ratio(found, expected)
    witness = found.witness
    assert witness is not None
    if case.joint is None:
        high = case.channel.probability(witness.secret, witness.output)
        low = case.channel.probability(witness.other, witness.output)
    else:
        joint = case.channel.joint(case.context)
        column = joint.inputs.index(witness.output)

        def given_secret(label: object) -> Fraction:
            row = joint.counts[joint.secrets.index(label)]
            return Fraction(row[column], sum(row))

        high, low = given_secret(witness.secret), given_secret(witness.other)
    assert low == 0 if expected is None else high / low == expected
    assert high > 0


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    check_ratio_budgets(LDP, case, oracles.ldp(case.given))
    check_smallest(LDP, case)


@given(cases(joints=False))
def test_the_prior_plays_no_part(case: Case) -> None:
    alone = LDP.measure(case.channel)
    assert LDP.measure(case.channel, case.context).ratio == alone.ratio
    everything = Intervals.all_priors(case.channel.inputs.labels)
    assert LDP.measure(case.channel, everything).ratio == alone.ratio


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    # A column's largest over its smallest, as in the definition (all pairs would be slow here).
    expected = max(max(c) / min(c) for c in zip(*case.given, strict=True))
    assert is_ratio(LDP.measure(case.channel, case.context), expected)


def test_every_input_counts_also_an_impossible_one() -> None:
    channel = Channel.from_rows({"a": {"u": "1/2", "v": "1/2"}, "b": {"u": 1, "v": 0}})
    never = Prior.from_counts({"a": 1, "b": 0})
    certificate = LDP(5).certify(channel, never)
    assert not certificate.holds
    assert certificate.unprotected == ()


def test_outputs_that_nobody_gives_are_ignored() -> None:
    channel = Channel.from_rows({"a": {"u": 1, "v": 0}, "b": {"u": 1, "v": 0}})
    assert LDP.measure(channel).ratio == 1
    assert LDP(0).certify(channel, Prior.uniform("ab")).holds


# --- for the contracts ----------------------------------------------------------------------------


def ratio_attained(at: replay.Replay) -> Any:
    w = at.witness
    return replay.log_ratio(*(at.likelihood(secret, w.output) for secret in (w.secret, w.other)))


TRUTHS: replay.Truths = {"ldp": lambda case, _: {"ldp": replay.log(oracles.ldp(case.given))}}
ATTAINED: replay.Attained = {"ldp": {"ldp": ratio_attained}}
