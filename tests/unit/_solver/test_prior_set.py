"""Columns under sets of priors, against all vertices cut by the corners of the set."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Ball, Context, Family, Intervals, Prior
from liftlock._runtime.clock import Clock
from liftlock._solver.column_generation import generate_columns
from liftlock._solver.enumeration import EnumeratedOracle, enumerate_vertices
from liftlock._solver.prior_set import prior_set_oracle
from liftlock._solver.problem import Problem
from liftlock.designs import design, lock, optimal
from liftlock.exact.integers import Floats
from liftlock.notions import ALIP, LIP, Notion
from liftlock.utility import Histogram, Mean, MutualInformation, Utility
from tests.checks import proof_of
from tests.unit._solver.test_channel_programme import ball_corners, interval_corners

FIRST = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
SECOND = Prior.from_probabilities({1: "0.2", 2: "0.2", 3: "0.6"})
LOW, HIGH = ["0.1", "0.15", "0.5"], ["0.2", "0.3", "0.7"]
SETS: list[tuple[Context, list[Floats]]] = [
    (Family.of([FIRST, SECOND]), [FIRST.floats(), SECOND.floats()]),
    (Ball.of(FIRST, "0.05"), ball_corners(FIRST.floats(), 0.05)),
    (
        Intervals.of({x + 1: (LOW[x], HIGH[x]) for x in range(3)}),
        interval_corners([float(v) for v in LOW], [float(v) for v in HIGH]),
    ),
]
UTILITIES: list[Utility] = [MutualInformation(), Histogram(), Mean((1.0, 2.0, 3.0))]


def listed(problem: Problem, corners: list[Floats], utility: Utility) -> EnumeratedOracle:
    """Enumerate the vertices of L P'.q <= q_x <= U P'.q for every corner P', with v = P q."""
    lifts = np.diag(1 / problem.masses)
    cuts = []
    for corner in corners:
        mass = corner / problem.masses
        cuts += [row - problem.upper * mass for row in lifts]
        cuts += [problem.lower * mass - row for row in lifts]
    return EnumeratedOracle(enumerate_vertices(np.array(cuts), len(problem.masses)), utility)


@pytest.mark.parametrize("notion", [LIP("1"), ALIP(lower="1", upper="0.4")], ids=repr)
@pytest.mark.parametrize("utility", UTILITIES, ids=repr)
@pytest.mark.parametrize("place", range(3))
def test_optimum_equals_that_of_all_vertices(place: int, utility: Utility, notion: Notion) -> None:
    context, corners = SETS[place]
    problem = Problem.of(context, notion)
    expected = generate_columns(problem.masses, utility, listed(problem, corners, utility), Clock())
    draft = optimal(context, notion, utility=utility)
    proof = proof_of(draft)
    assert proof.cost == pytest.approx(expected.cost, abs=2e-6)
    assert proof.bound <= expected.cost + 1e-9
    assert proof.gap <= 1e-6
    assert lock(draft, notion, context).certificate.holds


@pytest.mark.parametrize("utility", UTILITIES, ids=repr)
def test_proofs_are_safe(utility: Utility) -> None:
    context, corners = SETS[1]
    problem = Problem.of(context, LIP("1"))
    every = listed(problem, corners, utility)
    oracle = prior_set_oracle(problem, utility)
    for duals in np.random.default_rng(0).standard_normal((5, 3)):
        least = every.prove(duals, 0.0, Clock()).bound
        priced = oracle.prove(duals, least - 1e-7, Clock())
        assert least - 1e-6 <= priced.bound <= least + 1e-9
        found = oracle.search(duals, problem.masses[None], Clock())
        assert (utility.costs(found) - found @ duals).min() >= least - 1e-8


def test_one_prior_is_a_family_of_one() -> None:
    single = proof_of(optimal(FIRST, LIP("1"), utility=Histogram())).cost
    family = proof_of(optimal(Family.of([FIRST]), LIP("1"), utility=Histogram())).cost
    assert family == pytest.approx(single, abs=1e-6)
    assert single == pytest.approx(0.3287611726, abs=1e-9)


@pytest.mark.filterwarnings("error")
def test_programmes_that_are_given_up_propose_the_prior() -> None:
    around = Ball.of(Prior.from_counts({"a": 7, "b": 2, "c": 2}), "0.02")
    made = design(around, LIP("40"))  # ratios of 1e17 are too much for floats
    assert made.certificate.holds
