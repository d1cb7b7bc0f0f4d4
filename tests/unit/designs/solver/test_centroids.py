"""The least variance of many symbols: what neighbours joined give is a start that holds."""

from __future__ import annotations

import numpy as np

from liftlock.designs.problem import Problem
from liftlock.designs.rare import joined, strain
from liftlock.designs.solver.centroids import least_variance
from liftlock.designs.solver.oracle import Clock
from liftlock.notions.lip import LIP
from liftlock.prior import Prior
from liftlock.utility.mean import Mean


def test_a_search_with_hardly_any_time_gains_something_within_the_limits() -> None:
    counts = np.random.default_rng(3).integers(1, 1000, 260)
    prior = Prior.from_counts({x: int(count) for x, count in enumerate(counts)})
    problem = Problem.of(prior, LIP("1"))
    found = least_variance(problem, Mean(tuple(range(260))), Clock(seconds=1.5))
    assert found.cost < 0.9 * found.reference
    assert found.bound <= found.cost
    assert np.abs(found.weights @ found.columns / problem.masses - 1).max() < 1e-8
    # A solver's residue aside, every output keeps its limits.
    kept = joined(problem, Mean(tuple(range(260))), found.channel(problem.masses))
    assert kept.share < 1e-9
    assert strain(problem, kept.matrix).max() < 1e-9
