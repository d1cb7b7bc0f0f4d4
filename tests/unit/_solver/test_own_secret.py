"""Pricing when the secret is X itself, against all vertices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from liftlock import Prior
from liftlock._runtime.clock import Clock
from liftlock._solver.box import Box
from liftlock._solver.column_generation import generate_columns
from liftlock._solver.problem import Problem
from liftlock._solver.separable import SeparableOracle, rows_oracle
from liftlock.exact.integers import Floats
from liftlock.notions import ALIP, LIP, MaxLift, MinLift, Notion
from liftlock.utility import CustomUtility, Histogram, Mean, MutualInformation, Utility

NOTIONS: list[Notion] = [
    LIP("1"),
    LIP("0.1"),
    LIP("4"),
    ALIP(lower="2", upper="0.4"),
    MaxLift("0.7"),
    MinLift("0.7"),
]


def some_prior(n: int, seed: int) -> Prior:
    counts = np.random.default_rng(seed).integers(1, 1000, n)
    return Prior.from_counts({x: int(count) for x, count in enumerate(counts)})


def utilities(n: int) -> list[Utility]:
    return [
        MutualInformation(),
        Histogram(),
        Mean(tuple(float(x * x) for x in range(n))),
        CustomUtility(lambda v: float(np.sqrt(np.clip(v, 0, None)).sum()), symbols=n),
    ]


def all_vertices(masses: Floats, lower: float, upper: float) -> Floats:
    """Return every point with all entries but one at an end, by trying all of them."""
    n = len(masses)
    low, high = lower * masses, np.minimum(upper * masses, 1.0)
    found = []
    for middle in range(n):
        others = [x for x in range(n) if x != middle]
        for ends in product((0, 1), repeat=n - 1):
            vertex = np.empty(n)
            vertex[others] = np.where(ends, high[others], low[others])
            vertex[middle] = 1.0 - vertex[others].sum()
            if low[middle] - 1e-13 <= vertex[middle] <= high[middle] + 1e-13:
                found.append(vertex)
    return np.array(found)


@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
@pytest.mark.parametrize("kind", range(3))
def test_proof_is_the_least_reduced_cost(notion: Notion, kind: int) -> None:
    for n, seed in ((3, 1), (5, 2), (7, 3)):
        problem = Problem.of(some_prior(n, seed), notion)
        utility = utilities(n)[kind]
        vertices = all_vertices(problem.masses, problem.lower, problem.upper)
        scale = float(utility.costs(problem.masses[None])[0]) + 1e-9
        for duals in scale * np.random.default_rng(seed).standard_normal((4, n)):
            least = float((utility.costs(vertices) - vertices @ duals).min())
            priced = rows_oracle(problem, utility).prove(duals, least - 1e-9 * scale, Clock())
            assert priced.bound <= least + 1e-9 * scale
            assert priced.bound >= least - 1e-7 * scale


@pytest.mark.parametrize("kind", range(4))
def test_columns_lie_in_the_polytope(kind: int) -> None:
    problem = Problem.of(some_prior(30, 5), LIP("1"))
    utility = utilities(30)[kind]
    oracle = rows_oracle(problem, utility)
    duals = np.random.default_rng(0).standard_normal(30)
    start = oracle.start()
    duals = duals + (utility.costs(start) - start @ duals).max() + 0.1  # all of them are worth it
    # The prior is a column in use, and no vertex.
    found = oracle.search(duals, np.vstack([problem.masses, start[:5]]), Clock())
    for columns in (start, found):
        lifts = columns / problem.masses
        assert np.abs(columns.sum(axis=1) - 1).max() < 1e-11
        assert lifts.min() >= problem.lower - 1e-11
        assert lifts.max() <= problem.upper + 1e-11
    reduced = utility.costs(found) - found @ duals
    assert (np.diff(reduced) >= -1e-12).all()
    assert reduced[0] <= (utility.costs(start) - start @ duals).min() + 1e-9


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("epsilon", ["1", "2"])
def test_optimum_is_proved(kind: int, epsilon: str) -> None:
    for n in (9, 16, 26):
        problem = Problem.of(some_prior(n, n), LIP(epsilon))
        utility = utilities(n)[kind]
        found = generate_columns(
            problem.masses, utility, rows_oracle(problem, utility), Clock(), floor=problem.lower
        )
        assert found.gap <= 1e-6
        assert np.abs(found.weights @ found.columns / problem.masses - 1).max() < 1e-9


@pytest.mark.parametrize("utility", [MutualInformation(), Histogram()], ids=repr)
@pytest.mark.parametrize(("n", "epsilon"), [(9, 1.0), (21, 1.0), (21, 2.0), (12, 0.3)])
def test_uniform_prior_has_a_closed_form(utility: Utility, n: int, epsilon: float) -> None:
    raised = np.exp(epsilon)
    count = int(n / (raised + 1))
    rest = n - count * raised - (n - count - 1) / raised
    lifts = np.array([raised] * count + [rest] + [1 / raised] * (n - count - 1))
    assert lifts.sum() == pytest.approx(n)
    closed = float(utility.costs(lifts[None] / n)[0])
    problem = Problem.of(Prior.uniform(range(n)), LIP(str(epsilon)))
    found = generate_columns(
        problem.masses, utility, rows_oracle(problem, utility), Clock(), floor=problem.lower
    )
    assert found.cost == pytest.approx(closed, abs=2e-6)
    assert found.bound <= closed + 1e-12


def test_chords_bound_the_optimum_from_below() -> None:
    problem = Problem.of(some_prior(6, 4), LIP("1"))
    pair: list[Utility] = [MutualInformation(), Histogram()]
    for utility in pair:
        oracle = SeparableOracle(problem, utility)
        box = Box(problem.masses, problem.lower, problem.upper)
        vertices = all_vertices(problem.masses, problem.lower, problem.upper)
        shares = (vertices - box.low) / (box.high - box.low)
        assert ((shares > -1e-9) & (shares < 1 + 1e-9)).all()
        best = generate_columns(problem.masses, utility, oracle, Clock(), floor=problem.lower)
        assert oracle.known_bound <= best.cost + 1e-12


def test_own_cost_is_bounded_by_the_corners() -> None:
    problem = Problem.of(some_prior(6, 8), LIP("1"))
    own = CustomUtility(lambda v: float(np.sqrt(np.clip(v, 0, None)).sum()), symbols=6)
    vertices = all_vertices(problem.masses, problem.lower, problem.upper)
    for duals in np.random.default_rng(1).standard_normal((5, 6)):
        least = float((own.costs(vertices) - vertices @ duals).min())
        oracle = rows_oracle(problem, own)
        assert oracle.prove(duals, least, Clock()).bound <= least + 1e-9
        found = oracle.search(duals, vertices[:2], Clock())
        assert (own.costs(found) - found @ duals).min() >= least - 1e-9


def test_ends_are_drawn_in() -> None:
    box = Box(np.array([0.1, 0.9]), 0.0, np.inf)
    assert box.low.tolist() == [0.0, 0.0]
    assert box.high.tolist() == [1.0, 1.0]
    tight = Box(np.array([0.1, 0.9]), 0.5, 1.05)
    assert tight.low[0] == pytest.approx(1 - 0.945)
    assert tight.high[0] == pytest.approx(0.105)


@pytest.mark.parametrize("notion", [MaxLift("2"), MinLift("2"), LIP("0.01"), LIP("6")], ids=repr)
@pytest.mark.parametrize("kind", range(3))
def test_a_very_skewed_prior_is_decomposed_exactly(notion: Notion, kind: int) -> None:
    counts = (np.random.default_rng(1).random(20) ** 12 * 1e6).astype(int) + 1
    prior = Prior.from_counts({x: int(count) for x, count in enumerate(counts)})
    problem = Problem.of(prior, notion)
    utility = utilities(20)[kind]
    found = generate_columns(
        problem.masses,
        utility,
        rows_oracle(problem, utility),
        Clock(seconds=2),
        floor=problem.lower,
    )
    assert np.abs(found.columns.sum(axis=1) - 1).max() < 1e-11
    assert np.abs(found.weights @ found.columns / problem.masses - 1).max() < 1e-8
    lifts = found.columns / problem.masses
    assert lifts.max() <= problem.upper * (1 + 1e-6)
    assert lifts.min() >= problem.lower * (1 - 1e-6)
