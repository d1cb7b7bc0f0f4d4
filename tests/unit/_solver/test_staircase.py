"""Staircases against all of them."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Prior
from liftlock._runtime.clock import Clock
from liftlock._solver.column_generation import generate_columns
from liftlock._solver.enumeration import EnumeratedOracle
from liftlock._solver.pricing import Concave, PolytopeOracle
from liftlock._solver.problem import Problem
from liftlock._solver.staircase import SetTreePricing, StaircasePolytope, staircase_oracle
from liftlock.designs import optimal
from liftlock.exact.integers import Floats
from liftlock.notions import LDP
from liftlock.utility import CustomUtility, Histogram, Mean, MutualInformation, Utility
from liftlock.utility.base import TermKind


def problem_of(n: int, seed: int, epsilon: str = "1") -> Problem:
    counts = np.random.default_rng(seed).integers(1, 100, n)
    return Problem.of(Prior.from_counts({x: int(c) for x, c in enumerate(counts)}), LDP(epsilon))


def utilities(n: int) -> list[Utility]:
    return [
        MutualInformation(),
        Histogram(),
        Mean(tuple(float(x) for x in range(n))),
        CustomUtility(lambda v: 1 - float((v**2).sum()), symbols=n),
    ]


def test_every_set_is_listed() -> None:
    problem = problem_of(4, 0)
    assert problem.ratio is not None
    vertices = StaircasePolytope(problem.masses, problem.ratio).all_posteriors()
    assert len(vertices) == 2**4 - 2
    lifts = vertices / problem.masses
    assert np.allclose(lifts.max(axis=1) / lifts.min(axis=1), problem.ratio)
    assert np.allclose(vertices.sum(axis=1), 1)


@pytest.mark.parametrize("kind", range(4))
def test_proofs_are_safe_and_the_search_finds_the_best(kind: int) -> None:
    problem = problem_of(8, 1)
    utility = utilities(8)[kind]
    assert problem.ratio is not None
    every = EnumeratedOracle(
        StaircasePolytope(problem.masses, problem.ratio).all_posteriors(), utility
    )
    oracle = staircase_oracle(problem, utility)
    for duals in np.random.default_rng(kind).standard_normal((2, 8)):
        least = every.prove(duals, 0.0, Clock()).bound
        assert oracle.prove(duals, least, Clock()).bound <= least + 1e-9
        found = oracle.search(duals, oracle.start()[:3], Clock())
        # The empty and the full set tell nothing: they are the prior, which is always a column.
        nothing = float(utility.costs(problem.masses[None])[0] - problem.masses @ duals)
        best = float((utility.costs(found) - found @ duals).min())
        assert best == pytest.approx(min(least, nothing), abs=1e-8)


@pytest.mark.parametrize("kind", range(3))
def test_both_oracles_agree(kind: int) -> None:
    problem = problem_of(10, 3)
    utility = utilities(10)[kind]
    assert problem.ratio is not None
    every = EnumeratedOracle(
        StaircasePolytope(problem.masses, problem.ratio).all_posteriors(), utility
    )
    exact = generate_columns(problem.masses, utility, every, Clock())
    found = generate_columns(problem.masses, utility, staircase_oracle(problem, utility), Clock())
    assert exact.gap < 1e-9
    assert found.gap < 1e-9
    assert found.cost == pytest.approx(exact.cost, rel=1e-6)
    assert found.bound <= exact.cost + 1e-9


def instance(seed: int) -> tuple[SetTreePricing, Floats, float]:
    """Return a tree, prices near a supergradient, and the least reduced cost by listing."""
    random = np.random.default_rng(seed)
    symbols, kind = int(random.integers(2, 12)), seed % 2
    masses = 10 ** (random.random(symbols) * random.choice([0.5, 3.0, 8.0]))
    masses /= masses.sum()
    ratio = float(np.exp(random.choice([0.01, 0.3, 1.0, 4.0, 8.0])))
    stairs = StaircasePolytope(masses, ratio)
    columns = np.vstack([masses[None], stairs.all_posteriors()])
    costs = 1 - (columns**2).sum(axis=1) if kind else -(columns * np.log(columns)).sum(axis=1)
    prices = -2 * masses if kind else -np.log(masses) - 1
    prices = prices + random.standard_normal(symbols) * random.choice([0.01, 0.3])
    utility = Histogram() if kind else MutualInformation()
    tree = SetTreePricing(stairs, utility, TermKind(kind))
    return tree, prices, float((costs - columns @ prices).min())


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
    better = tree.improve_sets(sets, prices)
    reduced = tree.reduced_costs(better, prices)
    columns = tree.stairs.posteriors_of(better)
    square = tree.kind is TermKind.SQUARE
    h = -columns * (columns if square else np.log(columns))
    np.testing.assert_allclose(reduced, h.sum(axis=1) + square - columns @ prices, atol=1e-9)
    assert reduced.min() >= least - 1e-12
    for value, raised in zip(reduced, better, strict=True):
        near = np.abs(raised - np.eye(symbols))
        assert tree.reduced_costs(near, prices).min() >= value - 1e-12


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


def test_a_cost_of_many_symbols_is_bounded_by_corners() -> None:
    problem = problem_of(6, 4)
    assert problem.ratio is not None
    stairs = StaircasePolytope(problem.masses, problem.ratio)
    own = CustomUtility(lambda v: float(np.sqrt(np.clip(v, 0, None)).sum()), symbols=6)
    # As for more symbols than can be listed.
    oracle = PolytopeOracle(stairs, own, Concave(stairs, own, stairs.low, 20))
    every = stairs.all_posteriors()
    assert (every >= stairs.low).all()
    for duals in np.random.default_rng(2).standard_normal((5, 6)):
        least = float((own.costs(every) - every @ duals).min())
        assert -np.inf < oracle.prove(duals, 0.0, Clock()).bound <= least
        found = oracle.search(duals, every[:2], Clock())
        assert (own.costs(found) - found @ duals).min() >= least - 1e-12
