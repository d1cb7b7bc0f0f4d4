"""Branch and bound against all vertices of small polytopes, however few coordinates it works with.

A bound above the least cost would be a false proof: each is compared with brute force, and with
how tight it is, so that a bound on the wrong side, or none at all, is found.
"""

from itertools import combinations

import numpy as np
import pytest

from liftlock._solver.kernels import branch
from liftlock._solver.kernels.costs import ENTROPY, SQUARE, Cost, total
from liftlock._solver.kernels.simplex import (
    Programme,
    Vertex,
    maximise,
    new_vertex,
    purify,
    start_at_point,
)
from liftlock.exact.integers import Floats


def own_secret(rng: np.random.Generator, size: int) -> tuple[Programme, Floats]:
    """A programme whose only row is the sum, and a point inside."""
    masses = rng.dirichlet(np.full(size, 2.0))
    low, high = 0.5 * masses, np.minimum(1.8 * masses, 1.0)
    return Programme(np.ones((1, size)), np.ones(1), low, high, np.ones(1), np.ones((1, 4))), masses


def behind(rng: np.random.Generator, size: int) -> tuple[Programme, Floats]:
    """A programme with two rows of lifts, their slacks, and a point inside."""
    joint = rng.random((2, size)) + 0.02
    joint /= joint.sum()
    masses = joint.sum(axis=0)
    lifts = joint / masses / joint.sum(axis=1)[:, None]
    matrix = np.zeros((3, size + 2))
    matrix[0, :size] = 1.0
    matrix[1:, :size] = lifts
    matrix[1:, size:] = -np.eye(2)
    lower = np.concatenate([np.zeros(size), np.full(2, 0.7)])
    upper = np.concatenate([np.full(size, 2.0), np.minimum(1.3, lifts.max(axis=1))])
    limits = np.zeros((3, 4))
    limits[:, 2], limits[:, 3] = matrix[:, :size].min(axis=1), matrix[:, :size].max(axis=1)
    limits[1:, 0], limits[1:, 1] = lower[size:], upper[size:]
    right = np.array([1.0, 0.0, 0.0])
    return Programme(matrix, right, lower, upper, np.abs(matrix).max(axis=1), limits), masses


def vertices_of(given: Programme) -> Floats:
    """Return all basic solutions that are feasible, by trying every basis and every end."""
    rows, size = given.matrix.shape
    found = []
    for basis in combinations(range(size), rows):
        others = [j for j in range(size) if j not in basis]
        square = given.matrix[:, list(basis)]
        if abs(np.linalg.det(square)) < 1e-9:
            continue
        free = [j for j in others if given.upper[j] < 2.0]
        for mask in range(1 << len(free)):
            values = given.lower.copy()
            for bit, j in enumerate(free):
                values[j] = given.upper[j] if mask >> bit & 1 else given.lower[j]
            rest = given.right - given.matrix[:, others] @ values[others]
            values[list(basis)] = np.linalg.solve(square, rest)
            if (values >= given.lower - 1e-12).all() and (values <= given.upper + 1e-12).all():
                found.append(values)
    return np.array(found)


def extremes(given: Programme, vertex: Vertex, reach: Floats, count: int) -> Floats:
    """Maximise each coordinate; lower its reach, and return the vertices."""
    tops = np.zeros((count, count))
    for x in range(count):
        steps, most = maximise(given, vertex, x)
        assert steps >= 0
        reach[x] = min(reach[x], most)
        tops[x] = vertex.values[:count]
    return tops


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("kind", [ENTROPY, SQUARE])
@pytest.mark.parametrize("make", [own_secret, behind])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_below_every_vertex_and_tight(make, kind, width, seed) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    count = 8
    given, masses = make(rng, count)
    size = len(given.lower)
    kinds = np.zeros(size, np.int8)
    kinds[:count] = kind
    reach = given.upper.copy()
    reach[:count] = np.minimum(reach[:count], 1.0)
    vertex = new_vertex(given)
    assert start_at_point(given, masses, vertex)
    purify(given, given.lower, given.upper, vertex, np.zeros(size))
    tops = extremes(given, vertex, reach, count)
    every = vertices_of(given)
    assert (every[:, :count].max(axis=0) <= reach[:count]).all()
    linear = np.zeros(size)
    linear[:count] = rng.standard_normal(count)
    cost = Cost(linear, kinds)
    values = np.array([total(cost, each) for each in every])
    least = float(values.min())
    for goal in (least + 0.1, least + 1e-9, least - 1e-9, least - 1e-3):
        found, counts = np.zeros((50, count)), np.zeros(3, np.int64)
        bounds = np.full(1, -np.inf)
        done = branch.bound_regions(
            given, cost, reach, goal, np.array([-1]), -1e-9, tops, 5000, width, 10_003, 50,
            found, counts, bounds, np.zeros(1, np.int64),
        )  # fmt: skip
        assert done == 1
        assert bounds[0] <= min(least, goal) + 1e-12
        if goal <= least:
            assert bounds[0] == goal
            assert counts[0] == 0
        elif not counts[0]:
            assert bounds[0] == pytest.approx(least, abs=1e-9)
        for point in found[: counts[0]]:
            assert point.sum() == pytest.approx(1.0)


def test_coordinates_left_out_join_when_they_would_spoil_a_bound() -> None:
    rng = np.random.default_rng(3)
    joined = 0
    for _ in range(6):
        given, masses = behind(rng, 12)
        kinds = np.zeros(14, np.int8)
        kinds[:12] = ENTROPY
        reach = np.minimum(given.upper, np.where(np.arange(14) < 12, 1.0, np.inf))
        vertex = new_vertex(given)
        start_at_point(given, masses, vertex)
        purify(given, given.lower, given.upper, vertex, np.zeros(14))
        tops = extremes(given, vertex, reach, 12)
        cost = Cost(np.concatenate([rng.standard_normal(12), np.zeros(2)]), kinds)
        least = min(total(cost, each) for each in vertices_of(given))
        for width in (1, 12):
            counts, bounds = np.zeros(3, np.int64), np.full(1, -np.inf)
            branch.bound_regions(
                given, cost, reach, least + 0.1, np.array([-1]), -1e-9, tops, 3000, width, 6003, 0,
                np.zeros((0, 12)), counts, bounds, np.zeros(1, np.int64),
            )  # fmt: skip
            joined += int(counts[2])
            assert least - 1e-9 <= bounds[0] <= least
    assert joined > 0
