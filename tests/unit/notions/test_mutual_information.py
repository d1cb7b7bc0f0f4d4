"""Mutual information: enclosed around the entropies of mpmath, by both routes."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Intervals, Prior
from liftlock.errors import NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import MutualInformation, information, lift_table
from tests import oracles, replay
from tests.checks import check_real_budgets, check_smallest, contains
from tests.strategies import Case, cases, make_channel, near_ties, random_case

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_it_is_the_sum_of_the_entropies(case: Case) -> None:
    found = MutualInformation.measure(case.channel, case.context)
    assert contains(found.value, oracles.mutual_information(case.model))
    assert found.value.lower >= 0


@settings(max_examples=30)
@given(ANY, st.sampled_from([16, 64, 300, 600]))
def test_the_precision_is_what_was_asked_for(case: Case, bits: int) -> None:
    found = MutualInformation.measure(case.channel, case.context, bits).value
    assert found.width <= Fraction(1, 2**bits)
    with mp.workdps(250):
        true = oracles.mutual_information(case.model)
        assert found.upper is not None
        slack = mp.mpf(10) ** -230
        assert oracles.real(found.lower) - slack <= true <= oracles.real(found.upper) + slack


@settings(max_examples=30)
@given(cases())
def test_decisions_at_the_boundary(case: Case) -> None:
    true = oracles.mutual_information(case.model)
    if true > mp.mpf(10) ** -40:
        check_real_budgets(MutualInformation, case, true)
    check_smallest(MutualInformation, case)


@given(cases())
def test_independence_is_exactly_0(case: Case) -> None:
    same = make_channel([case.rows[0]] * len(case.rows))
    assert MutualInformation.measure(same, case.context).value == Enclosure.of(0)
    assert MutualInformation(0).certify(same, case.context, impossible="ignore").holds


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables_take_floats_with_a_margin(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    table = lift_table(case.channel, case.context)
    assert len(table.secrets) * len(table.outputs) > information.FLOAT_CELLS
    found = MutualInformation.of_table(table)
    with mp.workdps(30):
        true = oracles.mutual_information(case.model)
        assert contains(found.value, true, width=1e-11)
    assert found.value.width > 0


def test_floats_with_zeros_and_skewed_masses() -> None:
    case = random_case(160, 130, seed=8, zeros=True)
    found = MutualInformation.measure(case.channel, case.context)
    with mp.workdps(30):
        assert contains(found.value, oracles.mutual_information(case.model), width=1e-11)


def test_a_decision_closer_than_floats_see(ties: Case) -> None:
    # The float enclosure of a large table is about 1e-12 wide; certify must look more closely.
    with mp.workdps(60):
        true = oracles.mutual_information(ties.model)
        scaled = int(mp.floor(true * mp.mpf(10) ** 25))
    above, below = Fraction(scaled + 1, 10**25), Fraction(scaled, 10**25)
    assert MutualInformation(above).certify(ties.channel, ties.context).holds
    assert not MutualInformation(below).certify(ties.channel, ties.context).holds


def test_a_tie_that_cannot_be_decided_is_refused() -> None:
    # I = ln 2 exactly, but no number of digits shows it: the safe side.
    channel, prior = Channel.identity("ab"), Prior.uniform("ab")
    assert not MutualInformation("ln 2").certify(channel, prior).holds
    assert MutualInformation("0.693147180559945309417232121459").certify(channel, prior).holds


def test_masses_beyond_floats_are_enclosed_exactly() -> None:
    prior = Prior(Alphabet.of(["x0", "x1"]), (1, 10**400))
    channel = Channel.identity(["x0", "x1"])
    found = MutualInformation.measure(channel, prior).value
    assert 0 <= found.lower < Fraction(1, 10**35)
    assert found.upper is not None
    assert 0 < found.upper < Fraction(1, 10**35)


def test_one_prior_is_needed() -> None:
    with pytest.raises(NotDefined):
        MutualInformation.measure(Channel.identity("ab"), Intervals.all_priors("ab"))


# --- for the contracts ----------------------------------------------------------------------------

TRUTHS: replay.Truths = {
    "mutual_information": lambda case, _: {
        "mutual_information": oracles.mutual_information(case.model)
    }
}
