"""The tree of sets against all staircases of few symbols."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock._solver.oracle import Clock
from liftlock._solver.stair_tree import StairTree
from liftlock._solver.staircase import every_staircase
from liftlock.designs.mechanisms.optimal import optimal
from liftlock.exact.integers import Floats
from liftlock.notions.ldp import LDP
from liftlock.prior import Prior
from liftlock.utility.histogram import Histogram
from liftlock.utility.mutual_information import MutualInformation


def instance(seed: int) -> tuple[StairTree, Floats, float]:
    """Return a tree, prices near a supergradient, and the least reduced cost by listing."""
    random = np.random.default_rng(seed)
    symbols, kind = int(random.integers(2, 12)), seed % 2
    masses = 10 ** (random.random(symbols) * random.choice([0.5, 3.0, 8.0]))
    masses /= masses.sum()
    ratio = float(np.exp(random.choice([0.01, 0.3, 1.0, 4.0, 8.0])))
    columns = np.vstack([masses[None], every_staircase(masses, ratio)])
    costs = 1 - (columns**2).sum(axis=1) if kind else -(columns * np.log(columns)).sum(axis=1)
    prices = -2 * masses if kind else -np.log(masses) - 1
    prices = prices + random.standard_normal(symbols) * random.choice([0.01, 0.3])
    return StairTree(masses, ratio, kind), prices, float((costs - columns @ prices).min())


@pytest.mark.parametrize("seed", range(24))
def test_the_bound_is_below_every_staircase_and_reaches_the_goal(seed: int) -> None:
    tree, prices, least = instance(seed)
    for below in (1e-9, 1e-3):
        bound = tree.prove(prices, least - below, Clock()).bound
        assert least - below - 1e-10 <= bound <= least + 1e-12
    above = tree.prove(prices, least + 1e-3, Clock())
    assert above.bound <= least + 1e-12
    assert len(above.columns)


@pytest.mark.parametrize("seed", range(6))
def test_no_flip_improves_what_was_improved(seed: int) -> None:
    tree, prices, least = instance(seed)
    symbols = len(prices)
    sets = (np.random.default_rng(seed).random((20, symbols)) < 0.5).astype(np.float64)
    better = tree.improved(sets, prices)
    columns, costs = tree.costs(better)
    reduced = costs - columns @ prices
    assert reduced.min() >= least - 1e-12
    for value, raised in zip(reduced, better, strict=True):
        near, prices_near = tree.costs(np.abs(raised - np.eye(symbols)))
        assert (prices_near - near @ prices).min() >= value - 1e-12


def test_a_tree_out_of_time_still_bounds() -> None:
    tree, prices, least = instance(7)
    assert tree.prove(prices, least - 1e-9, Clock(seconds=0.0)).bound <= least


@pytest.mark.parametrize("utility", [MutualInformation(), Histogram()], ids=["entropy", "squares"])
def test_twenty_symbols_are_solved_to_the_gap(utility: MutualInformation | Histogram) -> None:
    counts = np.random.default_rng(20).integers(1, 10**6, 20)
    prior = Prior.from_counts({x: int(count) for x, count in enumerate(counts)})
    proof = optimal(prior, LDP("2"), utility=utility).optimality
    assert proof is not None
    assert proof.gap <= 1e-6
