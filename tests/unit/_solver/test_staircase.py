"""Staircases of many symbols, against all of them."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock._solver.column_generation import generate
from liftlock._solver.enumeration import ListedOracle
from liftlock._solver.oracle import Clock
from liftlock._solver.problem import Problem
from liftlock._solver.staircase import StaircaseOracle, every_staircase, staircase_oracle
from liftlock.notions.ldp import LDP
from liftlock.prior import Prior
from liftlock.utility import Guess, Histogram, Mean, MutualInformation, Own, Utility


def problem_of(n: int, seed: int, epsilon: str = "1") -> Problem:
    counts = np.random.default_rng(seed).integers(1, 100, n)
    return Problem.of(Prior.from_counts({x: int(c) for x, c in enumerate(counts)}), LDP(epsilon))


def utilities(n: int) -> list[Utility]:
    return [
        MutualInformation(),
        Histogram(),
        Mean(tuple(float(x) for x in range(n))),
        Guess(),
        Own(lambda v: 1 - float((v**2).sum()), symbols=n),
    ]


def test_every_set_is_listed() -> None:
    problem = problem_of(4, 0)
    assert problem.ratio is not None
    vertices = every_staircase(problem.masses, problem.ratio)
    assert len(vertices) == 2**4 - 2
    lifts = vertices / problem.masses
    assert np.allclose(lifts.max(axis=1) / lifts.min(axis=1), problem.ratio)
    assert np.allclose(vertices.sum(axis=1), 1)


@pytest.mark.parametrize("kind", range(5))
def test_proofs_are_safe_and_the_search_finds_the_best(kind: int) -> None:
    problem = problem_of(8, 1)
    utility = utilities(8)[kind]
    assert problem.ratio is not None
    every = ListedOracle(every_staircase(problem.masses, problem.ratio), utility)
    oracle = StaircaseOracle(problem, utility)
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
    exact = generate(problem.masses, utility, staircase_oracle(problem, utility), Clock())
    found = generate(problem.masses, utility, StaircaseOracle(problem, utility), Clock())
    assert exact.gap < 1e-9
    assert found.cost == pytest.approx(exact.cost, rel=1e-6)
    assert found.bound <= exact.cost + 1e-9
