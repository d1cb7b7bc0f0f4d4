"""Column generation: the optimum of a full list, a true bound, and a graceful stop."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock._runtime.clock import Clock
from liftlock._solver.column_generation import Decomposition, PricingResult, generate_columns
from liftlock._solver.enumeration import EnumeratedOracle, enumerate_vertices, half_spaces
from liftlock._solver.problem import Problem
from liftlock.utility import Histogram, MutualInformation, Utility, make_utility
from tests.brute_force import COSTS, best_mixture, brute_vertices, lift_cuts


def random_problem(seed: int, secrets: int, symbols: int, budget: str = "0.5") -> Problem:
    rng = np.random.default_rng(seed)
    rows = [[int(v * 10**6) + 1 for v in row] for row in rng.random((secrets, symbols))]
    joint = ll.Joint.from_rows(ll.Alphabet.of(range(secrets)), ll.Alphabet.of(range(symbols)), rows)
    return Problem.of(joint, ll.ALIP(lower=budget, upper=budget))


def listed(problem: Problem, utility: Utility) -> EnumeratedOracle:
    return EnumeratedOracle(enumerate_vertices(half_spaces(problem), len(problem.masses)), utility)


@pytest.mark.parametrize("name", list(COSTS))
@pytest.mark.parametrize("seed", range(4))
def test_reaches_the_optimum_of_every_vertex(name: str, seed: int) -> None:
    problem = random_problem(seed, 2 + seed % 2, 4 + seed % 2)
    utility = make_utility(name, problem.inputs)
    solution = generate_columns(problem.masses, utility, listed(problem, utility), Clock(gap=1e-10))
    assert problem.given is not None
    cuts = lift_cuts(problem.given, problem.secret_masses, problem.lower, problem.upper)
    vertices = brute_vertices(cuts, len(problem.masses))
    points = np.arange(len(problem.masses), dtype=float)
    expected, _ = best_mixture(vertices, problem.masses, COSTS[name](points))
    assert solution.cost == pytest.approx(expected, abs=1e-9)
    assert solution.bound <= expected + 1e-12
    assert solution.gap <= 1e-10
    assert len(solution.weights) <= len(problem.masses)
    assert np.abs(solution.weights @ solution.columns - problem.masses).max() < 1e-14


class Lazy(EnumeratedOracle):
    """Its search finds one vertex at a time and gives up early, and its proof stops too soon."""

    def search(self, duals: np.ndarray, columns: np.ndarray, clock: Clock) -> np.ndarray:
        return super().search(duals, columns, clock)[:1]

    def prove(self, duals: np.ndarray, goal: float, clock: Clock) -> PricingResult:
        exact = super().prove(duals, goal, clock)
        return PricingResult(exact.bound - 0.01, exact.columns[:1])


def test_a_loose_proof_gives_a_gap_that_is_still_true() -> None:
    problem = random_problem(5, 3, 8)
    utility = MutualInformation()
    best = generate_columns(problem.masses, utility, listed(problem, utility), Clock(gap=1e-10))
    oracle = Lazy(enumerate_vertices(half_spaces(problem), 8), utility)
    loose = generate_columns(problem.masses, utility, oracle, Clock(gap=1e-10))
    assert loose.bound <= best.cost + 1e-12
    assert loose.cost == pytest.approx(best.cost, abs=1e-9)
    assert 0.01 / loose.reference == pytest.approx(loose.gap, rel=1e-3)


class Interrupted(EnumeratedOracle):
    """The user presses Ctrl-C during the third search."""

    count = 0

    def search(self, duals: np.ndarray, columns: np.ndarray, clock: Clock) -> np.ndarray:
        self.count += 1
        if self.count == 3:
            raise KeyboardInterrupt
        return super().search(duals, columns, clock)[:1]


def check_usable(solution: Decomposition, problem: Problem) -> None:
    assert solution.stopped
    assert np.abs(solution.weights @ solution.columns - problem.masses).max() < 1e-14
    assert solution.bound <= solution.cost <= solution.reference
    assert solution.channel(problem.masses).sum(axis=1) == pytest.approx(1)


def test_an_interrupt_returns_the_best_so_far() -> None:
    problem = random_problem(6, 3, 9)
    oracle = Interrupted(enumerate_vertices(half_spaces(problem), 9), Histogram())
    solution = generate_columns(problem.masses, Histogram(), oracle, Clock())
    check_usable(solution, problem)
    assert solution.cost < solution.reference


def test_no_time_returns_the_best_so_far() -> None:
    problem = random_problem(6, 3, 9)
    oracle = listed(problem, Histogram())
    check_usable(generate_columns(problem.masses, Histogram(), oracle, Clock(seconds=0.0)), problem)


def test_progress_tells_cost_bound_and_columns() -> None:
    problem = random_problem(8, 3, 9)
    seen: list[Any] = []
    oracle = Lazy(enumerate_vertices(half_spaces(problem), 9), Histogram())
    generate_columns(problem.masses, Histogram(), oracle, Clock(watch=seen.append))
    assert {report.stage for report in seen} == {"searching", "proving"}
    assert all(a.cost >= b.cost for a, b in pairwise(seen))
    assert all(a.bound <= b.bound for a, b in pairwise(seen))
    assert seen[-1].columns > 1


def test_nothing_to_hide_nothing_to_do() -> None:
    masses = np.array([1.0])
    oracle = EnumeratedOracle(np.array([[1.0]]), Histogram())
    solution = generate_columns(masses, Histogram(), oracle, Clock())
    assert solution.cost == 0
    assert solution.gap == 0
