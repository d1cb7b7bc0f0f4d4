"""Paper 003, Context-Aware Laplacian Mechanism: approximate LIP in the joint form, and scales."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock import Prior
from liftlock.designs import Draft, bounded_laplace, instance_laplace
from liftlock.designs.formulas import laplace as formulas
from liftlock.designs.lock import round_draft
from liftlock.exact.budget import Budget
from liftlock.notions import LIP, ApproximateLDP, ApproximateLIP
from liftlock_papers.formulas.laplace import smallest_scale
from tests.theorems import worlds
from tests.theorems.worlds import World


def delta_ldp(world: World, ratio: Fraction) -> Fraction:
    found = ApproximateLDP.measure(world.channel, world.prior, Budget.from_ratio(ratio))
    return found.value.lower


def delta_joint(world: World, ratio: Fraction) -> Fraction:
    found = ApproximateLIP.measure(world.channel, world.prior, Budget.from_ratio(ratio), "joint")
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
    ediv = ApproximateLIP.measure(world.channel, world.prior, Budget.from_ratio(ratio), "ediv")
    joint = delta_joint(world, ratio)
    assert joint <= max(world.masses) * ediv.value.lower
    assert ediv.value.lower <= joint / world.smallest


def test_definition_4_weakness_is_attained() -> None:
    """A rare symbol that is revealed weighs nothing in the joint form."""
    rare = Fraction(1, 1000)
    rows = ((Fraction(0), Fraction(1)), (Fraction(1, 100), Fraction(99, 100)))
    world = World((rare, 1 - rare), rows)
    ratio = Fraction(2)
    ediv = ApproximateLIP.measure(world.channel, world.prior, Budget.from_ratio(ratio), "ediv")
    assert ediv.value.lower == Fraction(1, 100) * (1 - rare)
    assert delta_joint(world, ratio) == rare * ediv.value.lower


# --- the mechanism --------------------------------------------------------------------------------


def holds(draft: Draft, epsilon: str, prior: Prior) -> bool:
    """Tell by the exact audit whether the finite channel of a draft keeps epsilon-LIP."""
    return LIP(epsilon).certify(round_draft(draft), prior).holds


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True),
    st.lists(st.integers(1, 200), min_size=6, max_size=6),
    st.integers(0, 10),
    st.sampled_from(["0.05", "0.4", "0.69", "0.7", "1.5", "3"]),
)
def test_theorem_1_on_the_range_of_the_output(
    points: list[int], counts: list[int], beyond: int, epsilon: str
) -> None:
    """With Delta = u - l both branches are safe, and so is the first for every epsilon."""
    prior = Prior.from_counts(dict(zip(sorted(points), counts, strict=False)))
    domain = (min(points) - beyond, max(points) + beyond)
    for scale in ("published", "every-epsilon"):
        draft = bounded_laplace(prior, LIP(epsilon), scale=scale, domain=domain, outputs=30)
        assert holds(draft, epsilon, prior)


@pytest.mark.parametrize("least", [Fraction(1, 2), Fraction(1, 5), Fraction(1, 50)])
def test_theorem_1_first_branch_is_exact_for_two_atoms_at_the_ends(least: Fraction) -> None:
    """A thousandth less noise is not enough, even when the output is cut."""
    prior = Prior.from_probabilities({0: least, 1: 1 - least})
    for epsilon in ("0.5", "2"):
        scale = formulas.scale_for_every_epsilon(float(epsilon), float(least), 1.0)
        enough = bounded_laplace(prior, LIP(epsilon), scale=scale, outputs=4096)
        assert holds(enough, epsilon, prior)
        less = bounded_laplace(prior, LIP(epsilon), scale=scale * 0.999, outputs=4096)
        assert not holds(less, epsilon, prior)


def test_remark_5_the_range_of_the_data_is_not_enough() -> None:
    """P = (1/2, 1/2), X = {0, 1}, [l, u] = [0, 2], epsilon 1/2: 0.7423 leaks."""
    prior = Prior.uniform([0, 1])
    draft = bounded_laplace(prior, LIP("0.5"), scale="published", sensitivity="data", domain=(0, 2))
    assert not holds(draft, "0.5", prior)
    assert not holds(draft, "0.73", prior)
    assert holds(draft, "0.7424", prior)


def test_theorem_1_second_branch_adds_noise_as_the_budget_grows() -> None:
    scales = [formulas.published_scale(epsilon, 0.5, 1.0) for epsilon in (0.69, 0.70)]
    assert scales == pytest.approx([0.9137, 1.4286], abs=5e-5)


def test_remark_8_a_uniform_prior_does_not_need_the_least_noise() -> None:
    """X = {0, 1, 2}, epsilon 2: a skewed prior needs less, and the rule asks for far more."""
    points = np.array([0.0, 1.0, 2.0])
    found = {
        masses: smallest_scale(points, np.array(masses), 2.0, 0.0, 2.0)
        for masses in ((0.05, 0.9, 0.05), (1 / 3, 1 / 3, 1 / 3))
    }
    assert list(found.values()) == pytest.approx([0.5473, 0.6853], abs=5e-5)
    assert formulas.published_scale(2.0, 0.05, 2.0) == pytest.approx(0.978, abs=5e-4)
    assert formulas.published_scale(2.0, 1 / 3, 2.0) == 1.0
    worst = max(
        formulas.published_scale(epsilon, 0.05, 2.0)
        / smallest_scale(points, np.array([0.05, 0.9, 0.05]), epsilon, 0.0, 2.0)
        for epsilon in (1.0, 2.0, 2.3, 3.0)
    )
    assert 1.84 < worst < 2


def test_000_equation_26_leaks_more_than_its_budget() -> None:
    """P = (.9, .05, .05), X = {0, 1.5, 3}, epsilon 1: 1.1956 leaks."""
    prior = Prior.from_probabilities({0: "0.9", "1.5": "0.05", 3: "0.05"})
    draft = instance_laplace(prior, LIP("1"), as_published=True)
    assert not holds(draft, "1", prior)
    assert not holds(draft, "1.19", prior)
    assert holds(draft, "1.1957", prior)
    assert holds(instance_laplace(prior, LIP("1"), weight=0), "1", prior)
    assert math.isclose(formulas.published_alpha(1.0, 0.05), 0.654561, rel_tol=1e-6)
