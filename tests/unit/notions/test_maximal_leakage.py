"""Maximal leakage: the exact gain in guessing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Channel, Intervals, Prior
from liftlock.errors import UnprotectedInput
from liftlock.notions import MaximalLeakage, Sibson
from tests import oracles, replay
from tests.checks import check_ratio_budgets, check_smallest, is_ratio
from tests.strategies import Case, Rows, cases, channels, near_ties, prior_sets

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_it_is_the_mean_of_the_largest_lift(case: Case) -> None:
    found = MaximalLeakage.measure(case.channel, case.context)
    assert is_ratio(found, oracles.leakage(case.model))


@given(ANY)
def test_it_is_sibson_of_order_infinity(case: Case) -> None:
    found = MaximalLeakage.measure(case.channel, case.context)
    assert Sibson.measure(case.channel, case.context, "inf").ratio == found.ratio


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    check_ratio_budgets(MaximalLeakage, case, oracles.leakage(case.model))
    check_smallest(MaximalLeakage, case)


@given(cases(joints=False, impossible=False))
def test_it_depends_on_the_support_only(case: Case) -> None:
    uniform = Prior.uniform(case.channel.inputs.labels)
    first = MaximalLeakage.measure(case.channel, case.context)
    assert first.ratio == MaximalLeakage.measure(case.channel, uniform).ratio


@st.composite
def sets(draw: st.DrawFn) -> tuple[Rows, Channel, Rows, object]:
    size = draw(st.integers(1, 4))
    rows, channel = draw(channels(inputs=size))
    vertices, found = draw(prior_sets(size))
    return rows, channel, vertices, found


@given(sets())
def test_over_a_set_of_priors_every_possible_symbol_counts(
    case: tuple[Rows, Channel, Rows, object],
) -> None:
    rows, channel, vertices, context = case
    middle = [sum((v[x] for v in vertices), Fraction(0)) / len(vertices) for x in range(len(rows))]
    found = MaximalLeakage.measure(channel, context)  # type: ignore[arg-type]
    assert is_ratio(found, oracles.leakage(oracles.of_prior(middle, rows)))


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    assert is_ratio(MaximalLeakage.measure(case.channel, case.context), oracles.leakage(case.model))


def test_a_small_leakage_beside_an_infinite_lip() -> None:
    # 000 Thm 3: W = [[.999, .001], [1, 0]] uniform has MIL .001.
    channel = Channel.from_rows({"a": {0: "0.999", 1: "0.001"}, "b": {0: 1, 1: 0}})
    assert MaximalLeakage.measure(channel, Prior.uniform("ab")).ratio == Fraction(1001, 1000)


def test_impossible_inputs() -> None:
    prior = Prior.from_counts({"a": 1, "b": 0})
    assert MaximalLeakage.measure(Channel.identity("ab"), prior).ratio == 1
    with pytest.raises(UnprotectedInput):
        MaximalLeakage(1).certify(Channel.identity("ab"), prior)
    assert MaximalLeakage.measure(Channel.identity("ab"), Intervals.all_priors("ab")).ratio == 2


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {
    "maximal_leakage": lambda case, _: {"maximal_leakage": replay.log(oracles.leakage(case.model))}
}
