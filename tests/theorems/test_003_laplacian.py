"""Paper 003, Context-Aware Laplacian Mechanism: approximate LIP in the joint form."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock.exact.budget import Budget
from liftlock.notions import approximate_ldp, approximate_lip
from tests.theorems import worlds
from tests.theorems.worlds import World


def delta_ldp(world: World, ratio: Fraction) -> Fraction:
    found = approximate_ldp.measure(world.channel, world.prior, Budget.from_ratio(ratio))
    return found.value.lower


def delta_joint(world: World, ratio: Fraction) -> Fraction:
    found = approximate_lip.measure(world.channel, world.prior, Budget.from_ratio(ratio), "joint")
    return found.value.lower


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_proposition_1_forward(world: World, ratio: Fraction) -> None:
    found, delta = delta_joint(world, ratio), delta_ldp(world, ratio)
    assert found <= max(world.masses) * delta
    assert found <= max(mass * (1 - mass) for mass in world.masses) * delta


@settings(max_examples=40, deadline=None)
@given(worlds.masses(), worlds.ratios(one=True))
def test_proposition_1_forward_is_tight(masses: worlds.Masses, ratio: Fraction) -> None:
    """The identity has LDP delta 1 and rules each symbol out with probability 1 - P."""
    world = worlds.identity(masses)
    assert delta_joint(world, ratio) == max(mass * (1 - mass) for mass in masses)


@settings(max_examples=60, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_proposition_1_converse(world: World, ratio: Fraction) -> None:
    first, second = sorted(world.masses)[:2]
    delta = delta_joint(world, ratio)
    found = delta_ldp(world, ratio**2)
    assert found <= delta * (ratio / first + 1 / second)
    assert found <= (ratio + 1) * delta / first  # as printed


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(3)]),
    st.fractions(Fraction(1, 10**6), Fraction(1, 10**3)),
    st.integers(1, 3),
)
def test_proposition_1_converse_is_tight(ratio: Fraction, delta: Fraction, part: int) -> None:
    """One loud output that the rarest symbol never gives and the next one gives most."""
    first, second = Fraction(part, 40), Fraction(part + 1, 20)
    third = 1 - first - second
    assume(first + ratio * second <= 1)
    seen = delta / first  # the mass of the loud output
    loud = delta / second + ratio * seen
    rest = (seen - second * loud) / third
    rows = ((Fraction(0), Fraction(1)), (loud, 1 - loud), (rest, 1 - rest))
    world = World((first, second, third), rows)
    assert worlds.output_masses(world)[0] == seen
    assert delta_joint(world, ratio) == delta
    assert delta_ldp(world, ratio**2) == delta * (ratio / first + 1 / second)


@settings(max_examples=40, deadline=None)
@given(worlds.worlds(zeros=True), worlds.ratios(one=True))
def test_definition_4_is_weaker_than_000_definition_5_by_the_prior(
    world: World, ratio: Fraction
) -> None:
    ediv = approximate_lip.measure(world.channel, world.prior, Budget.from_ratio(ratio), "ediv")
    joint = delta_joint(world, ratio)
    assert joint <= max(world.masses) * ediv.value.lower
    assert ediv.value.lower <= joint / world.smallest


def test_definition_4_weakness_is_attained() -> None:
    """A rare symbol that is revealed weighs nothing in the joint form."""
    rare = Fraction(1, 1000)
    rows = ((Fraction(0), Fraction(1)), (Fraction(1, 100), Fraction(99, 100)))
    world = World((rare, 1 - rare), rows)
    ratio = Fraction(2)
    ediv = approximate_lip.measure(world.channel, world.prior, Budget.from_ratio(ratio), "ediv")
    assert ediv.value.lower == Fraction(1, 100) * (1 - rare)
    assert delta_joint(world, ratio) == rare * ediv.value.lower
