"""Descents end in vertices that no neighbour, and no exchange of two symbols, is better than."""

from itertools import combinations

import numpy as np
import pytest

from liftlock._solver.kernels.costs import ENTROPY, SQUARE, Cost, total
from liftlock._solver.kernels.descent import descend
from tests.unit._solver.kernels.test_branch import behind, own_secret, vertices_of


@pytest.mark.parametrize("kind", [ENTROPY, SQUARE])
@pytest.mark.parametrize("make", [own_secret, behind])
@pytest.mark.parametrize("seed", range(6))
def test_descents_end_in_vertices_that_are_no_worse(make, kind, seed) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    given, masses = make(rng, 7)
    size = len(given.lower)
    kinds = np.zeros(size, np.int8)
    kinds[:7] = kind
    cost = Cost(np.where(np.arange(size) < 7, rng.standard_normal(size), 0.0), kinds)
    every = vertices_of(given)
    values = np.array([total(cost, each) for each in every])
    starts = np.vstack([masses, every[:12, :7]])
    found, costs = np.zeros((2 * len(starts), 7)), np.zeros(2 * len(starts))
    count = descend(
        given, cost, np.minimum(given.upper, 1.0), starts, np.arange(len(starts)), 200, found, costs
    )
    assert count == len(starts) * (1 if len(given.right) == 1 else 2)
    for vertex, value in zip(found[:count], costs[:count], strict=True):
        near = np.abs(every[:, :7] - vertex).max(axis=1)
        assert near.min() < 1e-9
        assert value == pytest.approx(values[near.argmin()], abs=1e-9)
    per_start = count // len(starts)
    last = costs[:count].reshape(len(starts), per_start)[:, -1]
    assert (last[1:] <= values[:12] + 1e-9).all()
    assert last.min() == pytest.approx(values.min(), abs=1e-9)


def test_no_pair_of_symbols_is_worth_exchanging() -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        given, masses = own_secret(rng, 12)
        cost = Cost(rng.standard_normal(12) * 0.1, np.full(12, ENTROPY, np.int8))
        found, costs = np.zeros((2, 12)), np.zeros(2)
        assert descend(given, cost, given.upper, masses[None], np.zeros(1, int), 200, found, costs)
        vertex = found[0]
        ends = np.where(np.abs(vertex - given.lower) < 1e-12, given.upper, given.lower)
        inside = (vertex > given.lower + 1e-12) & (vertex < given.upper - 1e-12)
        assert inside.sum() <= 1
        middle = int(np.argmax(np.minimum(vertex - given.lower, given.upper - vertex)))
        for pair in combinations([j for j in range(12) if j != middle], 2):
            other = vertex.copy()
            other[list(pair)] = ends[list(pair)]
            other[middle] += vertex.sum() - other.sum()
            if given.lower[middle] <= other[middle] <= given.upper[middle]:
                assert total(cost, other) >= costs[0] - 1e-9
