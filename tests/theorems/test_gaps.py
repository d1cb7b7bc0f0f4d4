"""No gap that is printed is untrue: skewed problems against optima to 50 digits."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.theorems.gaps import World, judged, problems


@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_of_two_values_holds(seed: int) -> None:
    for world in problems(250, seed, two=1.0):
        assert judged(world).complaints == (), world


@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_of_few_symbols_and_of_joints_holds(seed: int) -> None:
    for world in problems(60, seed, two=0.0):
        assert judged(world).complaints == (), world


@pytest.mark.parametrize(
    ("counts", "epsilon", "utility"),
    [
        ((9, 8 * 10**11), "10.235", "histogram"),
        ((8, 7 * 10**11), "13.98", "mutual-information"),
        ((1, 10**8 - 1), "0.1", "histogram"),
        ((3, 2 * 10**7), "1", "histogram"),
        ((1, 10**15), "20", "mean"),
        ((5, 10**12), "30", "guess"),
    ],
)
def test_two_values_are_as_good_as_integers_allow(
    counts: tuple[int, int], epsilon: str, utility: str
) -> None:
    verdict = judged(World((counts,), "lip", (epsilon,), utility))
    assert verdict.complaints == ()
    assert verdict.claimed is not None
    # What is claimed is what is true, but for the rounding of the proof.
    assert Decimal(verdict.claimed) <= verdict.true + Decimal("1e-12")


def test_a_rare_value_is_worth_a_word_however_small_the_budget() -> None:
    """{1, 10^8 - 1} under LIP 0.1 was said to allow nothing that is better than no release."""
    world = World(((1, 10**8 - 1),), "lip", ("0.1",), "histogram")
    nothing = world.cost(world.masses)
    assert world.optimum() < nothing
    assert world.true_cost(world.design()) < nothing
