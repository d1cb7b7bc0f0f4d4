"""chi2: an exact average over secrets and outputs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.notions import Chi2
from tests import oracles, replay
from tests.checks import check_number_budgets, check_smallest, is_number
from tests.strategies import Case, cases, make_channel, near_ties

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_it_is_the_mean_over_outputs(case: Case) -> None:
    found = Chi2.measure(case.channel, case.context)
    assert is_number(found.value, oracles.chi2(case.model))


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    check_number_budgets(Chi2, case, oracles.chi2(case.model))
    check_smallest(Chi2, case)


@given(cases())
def test_independence_is_0(case: Case) -> None:
    same = make_channel([case.rows[0]] * len(case.rows))
    assert is_number(Chi2.measure(same, case.context).value, Fraction(0))


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    found = Chi2.measure(case.channel, case.context)
    assert is_number(found.value, oracles.chi2(case.model))


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {"chi2": lambda case, _: {"chi2": oracles.chi2(case.model)}}
