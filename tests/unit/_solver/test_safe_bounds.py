"""What an oracle proves holds: its bounds against the least reduced cost to 50 digits.

Prices are anything, and one symbol may be a million million times rarer than another.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock._runtime.clock import Clock
from liftlock._solver.enumeration import EnumeratedOracle, enumerate_vertices, half_spaces
from liftlock._solver.prior_set import prior_set_oracle
from liftlock._solver.problem import Problem
from liftlock._solver.separable import rows_oracle
from liftlock._solver.staircase import staircase_oracle
from liftlock.utility import make_utility
from tests.theorems.gaps import ONE, ZERO, Vector, World, corners, drawn

Prove = Callable[[np.ndarray, float, Clock], Any]


def listed(world: World, problem: Problem, goal: Any) -> Prove:
    return EnumeratedOracle(
        enumerate_vertices(half_spaces(problem), len(problem.masses)), goal
    ).prove


def stairs(world: World, problem: Problem, goal: Any) -> Prove:
    return staircase_oracle(problem, goal).prove


def box(world: World, problem: Problem, goal: Any) -> Prove:
    return rows_oracle(problem, goal).prove


def rows(world: World, problem: Problem, goal: Any) -> Prove:
    return rows_oracle(problem, goal).prove


def prices_of(world: World, generator: random.Random) -> np.ndarray:
    """Return prices of the size of the costs, and others that are far too large."""
    masses = np.array([float(p) for p in world.masses])
    reference = float(world.cost(world.masses))
    size = reference * 10 ** generator.uniform(-3.0, 1.0)
    noise = np.array([generator.gauss(0.0, 1.0) for _ in masses])
    if generator.random() < 0.5:
        noise /= np.maximum(masses, 1e-6)
    return size * noise + generator.choice([0.0, 0.0, 1.0]) * generator.gauss(0.0, 1.0)


def least_reduced(world: World, posteriors: list[Vector], prices: np.ndarray) -> Decimal:
    exact = [Decimal(float(price)) for price in prices]
    return min(
        world.cost(v) - sum((y * p for y, p in zip(exact, v, strict=True)), ZERO)
        for v in posteriors
    )


def check(world: World, prove: Prove, posteriors: list[Vector], generator: random.Random) -> None:
    reference = float(world.cost(world.masses))
    for _ in range(3):
        prices = prices_of(world, generator)
        true = least_reduced(world, posteriors, prices)
        for goal in (-1e-6, -1e-12, 1e-12, 1e-3):
            found = prove(prices, float(true) + goal * reference, Clock())
            assert Decimal(float(found.bound)) <= true, (world, prices.tolist(), goal)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("make", [listed, box, stairs, rows])
def test_no_bound_is_above_the_least_reduced_cost(
    make: Callable[[World, Problem, Any], Prove], seed: int
) -> None:
    generator = random.Random(seed)
    secrets = generator.choice([2, 3]) if make is rows else 1
    world = drawn(generator, generator.choice([3, 4, 5] if secrets < 3 else [3, 4]), secrets)
    if make is stairs:
        utility = generator.choice(["histogram", "mutual-information"])
        world = replace(world, kind="ldp", budgets=world.budgets[:1], utility=utility)
    elif make is box and world.kind == "ldp":
        world = replace(world, kind="lip")
    context = world.context()
    problem = Problem.of(context, world.notion()).widen()
    prove = make(world, problem, make_utility(world.utility, context.inputs))
    check(world, prove, world.posteriors(), generator)


@pytest.mark.parametrize("seed", range(5))
def test_no_bound_for_a_set_of_priors_is_above_the_least_reduced_cost(seed: int) -> None:
    generator = random.Random(seed)
    first = drawn(generator, 3)
    kind = generator.choice(["lip", "eps_upper", "eps_lower"])
    utility = generator.choice(["histogram", "mutual-information", "mean"])
    budget = f"{generator.uniform(0.05, 5.0):.3f}"
    second = tuple(int(10 ** generator.uniform(0.0, 6.0)) for _ in range(3))
    family = ll.Family.of(
        ll.Prior.from_counts(dict(zip(first.labels, counts, strict=True)))
        for counts in (first.counts[0], second)
    )
    priors = [[Decimal(c) / sum(map(Decimal, p.counts)) for c in p.counts] for p in family.priors]
    # The utility is that under the even mixture, whose lifts v / P are the likelihoods.
    masses = [(p + q) / 2 for p, q in zip(*priors, strict=True)]
    world = replace(first, kind=kind, budgets=(budget,), utility=utility)
    lower, upper = world.limits()
    cuts = [[-ONE if y == x else ZERO for y in range(3)] for x in range(3)]
    for prior in priors:
        seen = [p / q for p, q in zip(prior, masses, strict=True)]
        for x in range(3):
            own = [ONE / masses[x] if y == x else ZERO for y in range(3)]
            if upper is not None:
                cuts.append([a - upper * b for a, b in zip(own, seen, strict=True)])
            if lower:
                cuts.append([lower * b - a for a, b in zip(own, seen, strict=True)])
    problem = Problem.of(family, world.notion()).widen()
    oracle = prior_set_oracle(problem, make_utility(utility, family.inputs))
    check(world, oracle.prove, corners(cuts), generator)
