"""Crowd mass: the smallest set of secrets that an output points at."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Channel, Prior
from liftlock.errors import NumberError, UnprotectedInput
from liftlock.notions import CrowdMass
from liftlock.notions.crowd_mass import crowd_mass_limit
from tests import oracles, replay
from tests.checks import TINY, contains, is_number
from tests.strategies import Case, cases, fractions, make_channel, near_ties, prior_case

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_it_is_the_smallest_raised_set(case: Case) -> None:
    found = CrowdMass.measure(case.channel, case.context)
    expected = oracles.crowd_mass(case.model)
    assert is_number(found.value, expected)
    if found.witness is None:
        assert expected == 1
        return
    secrets, output = found.witness.secrets, found.witness.output
    assert secrets is not None
    raised = [s for s in case.secrets if case.lift(s, output) > 1]
    assert list(secrets) == raised
    assert sum(case.model.prior[case.secrets.index(s)] for s in raised) == expected


@given(ANY)
def test_decisions_at_the_boundary(case: Case) -> None:
    mass = oracles.crowd_mass(case.model)

    def holds(share: object) -> bool:
        return CrowdMass(share).certify(case.channel, case.context, impossible="ignore").holds

    assert holds(mass)
    assert holds(mass * (1 - TINY))
    if mass < 1:
        assert not holds(mass + (1 - mass) * TINY)
    text = CrowdMass(0).smallest_text(case.channel, case.context)
    assert holds(text.removeprefix("crowd_mass="))
    assert Fraction(text.removeprefix("crowd_mass=")) == mass


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    found = CrowdMass.measure(case.channel, case.context)
    assert is_number(found.value, oracles.crowd_mass(case.model))


def test_lifts_of_exactly_1_do_not_count() -> None:
    # At u the lifts are 3/2, 1, 1/2; in floats the middle one may be on either side of 1.
    third = Fraction(1, 3)
    rows = [
        [third * Fraction(3, 2), 1 - third * Fraction(3, 2)],
        [third, 1 - third],
        [third / 2, 1 - third / 2],
    ]
    prior = Prior.from_counts({"x0": 1, "x1": 7, "x2": 1})
    found = CrowdMass.measure(make_channel(rows), prior)
    assert found.value.lower == Fraction(1, 9)


def test_a_channel_that_tells_nothing_points_at_everybody() -> None:
    channel = Channel.from_rows({"a": {"y": 1}, "b": {"y": 1}})
    found = CrowdMass.measure(channel, Prior.uniform("ab"))
    assert found.value.lower == 1
    assert found.witness is None
    assert CrowdMass(1).certify(channel, Prior.uniform("ab")).holds


@given(st.fractions(0, 20, max_denominator=20), st.fractions(0, 20, max_denominator=20))
def test_the_limit_of_extremal_mechanisms(lower: Fraction, upper: Fraction) -> None:
    found = crowd_mass_limit(lower=lower, upper=upper)
    if lower == upper == 0:
        assert found.lower == 1
        return
    low, high = mp.exp(-oracles.real(lower)), mp.exp(oracles.real(upper))
    assert contains(found, (1 - low) / (high - low))


@given(st.fractions(1, 50))
def test_the_limit_at_logarithms_is_exact(ratio: Fraction) -> None:
    found = crowd_mass_limit(lower=f"ln {ratio}", upper=f"ln {ratio}")
    assert is_number(found, Fraction(1) if ratio == 1 else 1 / (1 + ratio))


def test_an_extremal_mechanism_attains_the_limit() -> None:
    # Uniform on 4 symbols, E = 3: one symbol at lift 3, the others at 1/3.
    rows = [[Fraction(3, 4) if x == y else Fraction(1, 12) for y in range(4)] for x in range(4)]
    prior = Prior.uniform(f"x{i}" for i in range(4))
    found = CrowdMass.measure(make_channel(rows), prior)
    assert found.value == crowd_mass_limit(lower="ln 3", upper="ln 3")


def test_words_and_refusals() -> None:
    assert str(CrowdMass("25%")) == "crowd_mass(0.25)"
    assert CrowdMass("0.25").budgets == {"at_least": "0.25"}
    with pytest.raises(NumberError, match="crowd mass outside 0 to 1"):
        CrowdMass(2)
    with pytest.raises(UnprotectedInput):
        CrowdMass("0.1").certify(Channel.identity("ab"), Prior.from_counts({"a": 1, "b": 0}))


# --- for the contracts ----------------------------------------------------------------------------


def crowd_attained(at: replay.Replay) -> Fraction:
    return sum((at.masses[str(s)] for s in at.witness.secrets or ()), Fraction(0))


TRUTHS: replay.Truths = {
    "crowd_mass": lambda case, _: {"crowd_mass": oracles.crowd_mass(case.model)}
}
ATTAINED: replay.Attained = {"crowd_mass": {"crowd_mass": crowd_attained}}
NOT_MONOTONE = {
    "crowd_mass": prior_case(
        [1, 1, 1], [fractions([5, 5, 0]), fractions([5, 1, 4]), fractions([1, 5, 4])]
    )
}
"""Each of the first two outputs points at two of three symbols, both together at the first."""
