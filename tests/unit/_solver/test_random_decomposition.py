"""Decompositions of priors with many symbols."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Prior
from liftlock._runtime.clock import Clock
from liftlock._solver.box import Box
from liftlock._solver.problem import Problem
from liftlock._solver.random_decomposition import decompose, even_columns, reduce_columns
from liftlock.notions import LIP
from liftlock.utility import Guess, Histogram, MutualInformation, Utility


def many(n: int) -> Problem:
    counts = np.random.default_rng(n).integers(1, 1 << 30, n)
    return Problem.of(Prior.from_counts({x: int(c) for x, c in enumerate(counts)}), LIP("1"))


@pytest.mark.parametrize("utility", [MutualInformation(), Histogram()], ids=repr)
def test_a_large_prior_is_decomposed_almost_optimally(utility: Utility) -> None:
    problem = many(150)
    found = decompose(problem, utility, Clock())
    assert found is not None
    assert found.gap < 5e-6
    assert len(found.weights) <= 150
    assert found.weights.min() >= 0
    lifts = found.columns / problem.masses
    assert np.abs(found.weights @ lifts - 1).max() < 1e-9
    assert lifts.min() > problem.lower - 1e-11
    assert lifts.max() < problem.upper + 1e-11
    # The bound again, symbol by symbol: the lift is low or high, as often as its mean 1 demands.
    share = (1 - problem.lower) / (problem.upper - problem.lower)
    low, high = problem.masses * problem.lower, problem.masses * problem.upper
    if isinstance(utility, Histogram):
        chord = 1 - (share * high**2 + (1 - share) * low**2).sum()
    else:
        chord = -(share * high * np.log(high) + (1 - share) * low * np.log(low)).sum()
    assert found.bound == pytest.approx(chord, abs=1e-10)


def test_a_minute_is_enough_for_a_thousand_symbols() -> None:
    """It grows with the cube of the symbols: ten seconds of processor time at a thousand."""
    clock = Clock(seconds=600.0)
    assert decompose(many(300), Histogram(), clock) is not None
    assert clock.spent * (1000 / 300) ** 3 < 30


def test_a_cost_that_is_not_separable_is_left_to_others() -> None:
    assert decompose(many(20), Guess(), Clock()) is None


def test_symbols_are_raised_as_often_as_they_must_be() -> None:
    problem = many(40)
    box = Box(problem.masses, problem.lower, problem.upper)
    columns = even_columns(box, 4000, np.random.default_rng(3))
    lifts = columns / problem.masses
    # Exchanging symbols moves the means a little, most of all those of rare symbols.
    assert np.abs(lifts.mean(axis=0) - 1).mean() < 0.05
    inside = (lifts > problem.lower + 1e-9) & (lifts < problem.upper - 1e-9)
    assert inside.sum(axis=1).max() <= 1


def test_reducing_keeps_the_mean() -> None:
    generator = np.random.default_rng(2)
    columns = generator.dirichlet(np.ones(6), 50)
    weights = generator.dirichlet(np.ones(50))
    mean = weights @ columns
    kept, left = reduce_columns(columns, weights, mean, Clock())
    assert len(left) <= 6
    assert left.min() > 0
    assert left @ kept == pytest.approx(mean, abs=1e-12)
