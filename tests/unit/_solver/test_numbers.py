"""The least loss of numbers: the optimum of other solvers, any scale, and stopping at any time."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import liftlock as ll
from liftlock import Step
from liftlock._runtime.clock import Clock
from liftlock._solver.channel_programme import least_distortion
from liftlock._solver.column_generation import Decomposition, generate_columns
from liftlock._solver.numbers import least_loss
from liftlock._solver.outputs import merge_rare_outputs, required_blend
from liftlock._solver.problem import Problem
from liftlock._solver.separable import rows_oracle
from liftlock.notions import MaxLift, MinLift, Notion
from liftlock.utility import Distortion, Mean, make_utility

NOTIONS: list[Notion] = [
    ll.LIP("0.2"),
    ll.LIP("1"),
    ll.LIP("2.5"),
    ll.ALIP(lower="1.3", upper="0.7"),
    ll.ALIP(lower="0.4", upper="3"),
    MaxLift("1"),
    MinLift("0.8"),
]


def world(seed: int, count: int, scale: str = "1") -> ll.Prior:
    """Return uneven masses at uneven numbers that are not in order."""
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, 1000, count)
    points = generator.permutation(np.round(generator.gamma(2, 1, count), 6))
    return ll.Prior.from_counts(
        {str(Decimal(str(t)) * Decimal(scale)): int(c) for t, c in zip(points, counts, strict=True)}
    )


def keeps(problem: Problem, found: Decomposition) -> None:
    """Check that a decomposition is one, and within its limits."""
    assert np.abs(found.weights @ found.columns / problem.masses - 1).max() < 1e-9
    channel = found.channel(problem.masses)
    lifts = channel / (problem.masses @ channel)
    assert lifts.max() <= problem.upper * (1 + 1e-9)
    assert lifts.min() >= problem.lower * (1 - 1e-9)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_squares_agree_with_column_generation(seed: int, notion: Notion) -> None:
    prior = world(seed, 22)
    problem, goal = Problem.of(prior, notion), Mean.of(prior.inputs)
    found = least_loss(problem, goal, Clock(gap=1e-7))
    other = generate_columns(problem.masses, goal, rows_oracle(problem, goal), Clock(gap=1e-9))
    assert found.gap <= 1.2e-7
    assert found.bound <= other.cost + 1e-12
    assert found.cost == pytest.approx(other.cost, abs=2e-7 * found.reference)
    assert found.cost == pytest.approx(float(found.weights @ goal.costs(found.columns)), rel=1e-9)
    keeps(problem, found)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("seed", [3, 4])
def test_distances_agree_with_the_linear_programme(seed: int, notion: Notion) -> None:
    prior = world(seed, 26)
    problem, goal = Problem.of(prior, notion), Distortion.from_name("absolute", prior.inputs)
    found = least_loss(problem, goal, Clock(gap=1e-7))
    other = least_distortion(problem, goal)
    assert found.gap <= 1.2e-7
    assert found.bound <= other.cost + 1e-12
    assert found.cost == pytest.approx(other.cost, abs=2e-7 * found.reference)
    keeps(problem, found)


@pytest.mark.parametrize("utility", ["mean", "absolute"])
@pytest.mark.parametrize("scale", ["1e-4", "1e6"])
def test_the_size_of_the_numbers_does_not_matter(utility: str, scale: str) -> None:
    shares = []
    for factor in ("1", scale):
        prior = world(7, 128, factor)
        goal = make_utility(utility, prior.inputs)
        found = least_loss(Problem.of(prior, ll.LIP("1")), goal, Clock(gap=1e-6))
        assert found.gap <= 1.2e-6
        shares.append(found.cost / found.reference)
    assert shares[0] < 0.9
    assert shares[1] == pytest.approx(shares[0], abs=2e-6)


@pytest.mark.parametrize(("epsilon", "bins"), [("0.5", 512), ("2", 512), ("4", 256)])
@pytest.mark.parametrize("utility", ["mean", "absolute"])
def test_many_cells_are_solved(utility: str, epsilon: str, bins: int) -> None:
    prior = ll.continuous.lognormal(10.5, 0.6, domain=(0, 300_000)).discretise(bins)
    problem, goal = Problem.of(prior, ll.LIP(epsilon)), make_utility(utility, prior.inputs)
    found = least_loss(problem, goal, Clock(gap=1e-4))
    assert found.gap <= 1.1e-4
    assert not found.stopped
    keeps(problem, found)


@pytest.mark.parametrize("utility", ["mean", "absolute"])
def test_very_many_cells_and_a_heavy_one(utility: str) -> None:
    counts = dict.fromkeys(range(1500), 10) | {700: 9000}
    prior = ll.Prior.from_counts(counts)
    problem, goal = Problem.of(prior, ll.LIP("1")), make_utility(utility, prior.inputs)
    seen: list[Any] = []
    found = least_loss(problem, goal, Clock(gap=1e-3, watch=seen.append))
    assert found.gap <= 1.1e-3
    assert {"neighbours joined", "places"} >= {step.stage for step in seen}
    assert seen[-1].gap <= seen[0].gap
    keeps(problem, found)


def test_uniform_numbers_and_whole_blocks_have_a_known_optimum() -> None:
    """1/p = 3 blocks of equal mass: no posterior of density 3 has less variance than a block."""
    prior = ll.Prior.uniform(range(120))
    goal = Mean.of(prior.inputs)
    problem = Problem.of(prior, ll.LIP("ln 2"))
    found = least_loss(problem, goal, Clock(gap=1e-7))
    blocks = np.arange(120).reshape(3, 40).mean(axis=1)
    explained = (1 - 0.5) ** 2 * float(blocks.var())
    assert found.reference == pytest.approx(float(np.arange(120).var()))
    assert found.cost == pytest.approx(found.reference - explained, abs=2e-7 * found.reference)


def test_one_symbol_that_is_a_crowd_may_be_told() -> None:
    prior = world(11, 30)
    goal = Mean.of(prior.inputs)
    problem = Problem.of(prior, ll.ALIP(lower="1", upper="20"))
    found = least_loss(problem, goal, Clock())
    assert found.gap <= 1e-6
    assert found.rounds == 0
    masses = problem.masses
    truth = np.exp(-1) * masses + (1 - np.exp(-1)) * np.eye(30)
    assert found.cost == pytest.approx(masses @ goal.costs(truth), abs=1e-6 * found.reference)
    keeps(problem, found)


@pytest.mark.parametrize("utility", ["mean", "absolute"])
def test_hardly_any_time_still_gains_something_within_the_limits(utility: str) -> None:
    counts = np.random.default_rng(3).integers(1, 1000, 2000)
    prior = ll.Prior.from_counts({x: int(count) for x, count in enumerate(counts)})
    problem, goal = Problem.of(prior, ll.LIP("1")), make_utility(utility, prior.inputs)
    found = least_loss(problem, goal, Clock(gap=1e-9, seconds=1.5))
    assert found.stopped
    assert found.seconds < 6
    assert found.cost < 0.9 * found.reference
    assert found.bound <= found.cost
    kept = merge_rare_outputs(problem, goal, found.channel(problem.masses))
    assert kept.share < 1e-9
    assert required_blend(problem, kept.matrix).max() < 1e-9


@pytest.mark.parametrize("after", [1, 3, 6])
def test_an_interrupt_keeps_the_best_so_far(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liftlock._solver.numbers.MOMENT", 0.0)
    prior = world(13, 300)
    problem, goal = Problem.of(prior, ll.LIP("2")), Mean.of(prior.inputs)
    told = 0

    def watch(_: Step) -> None:
        nonlocal told
        told += 1
        if told == after:
            raise KeyboardInterrupt

    found = least_loss(problem, goal, Clock(gap=1e-9, watch=watch))
    assert found.stopped
    assert found.bound <= found.cost < found.reference
    keeps(problem, found)


def test_equal_numbers_cost_nothing() -> None:
    prior = ll.Prior.from_counts({"a": 1, "b": 2})
    problem = Problem.of(prior, ll.LIP("1"))
    found = least_loss(problem, Mean((3.0, 3.0)), Clock())
    assert (found.cost, found.gap) == (0.0, 0.0)


@pytest.mark.parametrize("heavy", [2**20, 2**40, 2**50])
def test_small_variances_keep_their_digits(heavy: int) -> None:
    """Only a lower limit: telling the truth as often as it allows is the one best decomposition."""
    size = 30
    prior = ll.Prior(
        ll.Alphabet.of([f"s{i}" for i in range(size)], range(size)), (heavy, *[1] * (size - 1))
    )
    problem = Problem.of(prior, MinLift("0.5"))
    found = least_loss(problem, Mean.of(prior.inputs), Clock())
    with mp.workdps(40):
        masses = [mp.mpf(count) / prior.total for count in prior.counts]
        low = mp.exp(mp.mpf("-0.5"))
        true = mp.mpf(0)
        for x in range(size):
            distribution = [low * mass for mass in masses]
            distribution[x] += 1 - low
            mean = sum(v * t for t, v in enumerate(distribution))
            true += masses[x] * sum(v * (t - mean) ** 2 for t, v in enumerate(distribution))
        assert found.bound <= true
        assert found.bound >= true * (1 - mp.mpf("1e-9"))
