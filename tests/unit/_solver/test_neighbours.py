"""Many numbers under LDP: the optimum of groups, and a bound that must never be above the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import liftlock as ll
from liftlock._solver import reductions
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import Problem, Task
from liftlock._solver.reductions import NeighbourGroups
from liftlock._solver.strategies import solve
from liftlock.designs import optimal
from liftlock.utility import make_utility
from tests.checks import proof_of


@pytest.mark.parametrize("utility", ["mean", "absolute"])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_below_the_optimum_and_the_cost_above(
    monkeypatch: pytest.MonkeyPatch, utility: str, seed: int
) -> None:
    """Few enough symbols for the true optimum, joined to half as many."""
    monkeypatch.setattr(reductions, "LIMITS", replace(LIMITS, few_symbols=4))
    generator = np.random.default_rng(seed)
    points = np.sort(generator.integers(0, 1000, 8) * 10 + np.arange(8))
    prior = ll.Prior.from_counts(
        dict(zip(points.tolist(), generator.integers(1, 50, 8).tolist(), strict=True))
    )
    goal = make_utility(utility, prior.inputs)
    for budget in ("0.3", "1", "3"):
        notion = ll.LDP(budget)
        true = proof_of(optimal(prior, notion, utility=goal))
        groups = NeighbourGroups.of(Task(Problem.of(prior, notion), goal))
        smaller = groups.reduce()
        found = groups.expand(solve(smaller), smaller, solve)
        proof = found.proof
        assert proof.bound <= true.cost * (1 + 1e-9)
        assert proof.cost >= true.bound * (1 - 1e-9)
        assert proof.cost == pytest.approx(goal_cost(goal, found.matrix, prior.floats()), rel=1e-9)
        assert proof.bound <= proof.cost <= proof.reference * (1 + 1e-12)


def goal_cost(
    goal: ll.utility.Utility,
    matrix: np.typing.NDArray[np.float64],
    masses: np.typing.NDArray[np.float64],
) -> float:
    """The mean cost of the posteriors, output by output."""
    total = 0.0
    for column in matrix.T:
        mass = float(masses @ column)
        if mass > 0:
            total += mass * float(goal.costs((masses * column / mass)[None, :])[0])
    return total


def test_hundreds_of_cells_take_a_moment_and_beat_noise() -> None:
    prior = ll.continuous.lognormal(0, 0.8, domain=(0, 12)).discretise(300)
    made = ll.design(prior, ll.LDP("1"))
    noise = ll.design(prior, ll.LDP("1"), method="laplace")
    assert made.origin is not None
    assert noise.origin is not None
    assert made.origin.objective < noise.origin.objective
    assert made.origin.gap is not None
    assert made.origin.gap < 0.1
    assert any("joined to 16 groups" in remark for remark in made.origin.remarks)


def test_groups_prove_nothing_of_a_distortion_with_more_numbers_to_be_read_as() -> None:
    points = [2, 5, 8, 10, 13, 15, 18, 20, 22, 23, 26, 29, 32, 34, 36, 38, 41, 44, 46, 49, 52, 55]
    points += [56, 59, 61, 64, 66, 69]
    counts = [8, 8, 14, 19, 4, 5, 3, 9, 1, 19, 16, 4, 7, 6, 2, 7, 7, 17, 15, 8, 16, 17, 18, 5, 1]
    prior = ll.Prior.from_counts(dict(zip(points, [*counts, 17, 10, 6], strict=True)))
    goal = make_utility("squared", prior.inputs)
    joined = optimal(prior, ll.LDP("0.32"), utility=goal)
    true = optimal(prior, ll.LDP("0.32"), utility=goal, how="generation")
    assert proof_of(joined).bound <= proof_of(true).cost * (1 + 1e-9)
    assert proof_of(joined).cost >= proof_of(true).bound * (1 - 1e-9)
