"""total_variation: an exact average over secrets and outputs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.notions import TotalVariation
from tests import oracles, replay
from tests.checks import check_number_budgets, check_smallest, is_number
from tests.strategies import Case, cases, make_channel, near_ties

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_it_is_the_mean_over_outputs(case: Case) -> None:
    found = TotalVariation.measure(case.channel, case.context)
    assert is_number(found.value, oracles.total_variation(case.model))


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    check_number_budgets(TotalVariation, case, oracles.total_variation(case.model))
    check_smallest(TotalVariation, case)


@given(cases())
def test_independence_is_0(case: Case) -> None:
    same = make_channel([case.rows[0]] * len(case.rows))
    assert is_number(TotalVariation.measure(same, case.context).value, Fraction(0))


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    found = TotalVariation.measure(case.channel, case.context)
    assert is_number(found.value, oracles.total_variation(case.model))


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {
    "total_variation": lambda case, _: {"total_variation": oracles.total_variation(case.model)}
}
