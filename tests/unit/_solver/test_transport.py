"""Matrices between distributions, against the same programme as scipy solves it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from liftlock._runtime.clock import Clock
from liftlock._solver import transport
from liftlock._solver.limits import LIMITS
from liftlock._solver.output_distributions import GraphPart, SearchTimedOut, least_cap
from liftlock._solver.transport import (
    Transport,
    complete_diagonal,
    least_moved,
    proportional_matrices,
)
from tests.profile_oracles import Array, solved


def moved(distributions: Array, blocks: Array) -> float:
    off = ~np.eye(distributions.shape[1], dtype=bool)
    return float((distributions[:, :, None] * blocks * off).sum())


def least_mass(distribution: Array, released: Array, cap: float) -> float:
    """Return the least mass that a matrix with entries below a cap moves."""
    width = len(distribution)
    cost, below, equal = [], [], []
    for x in range(width):
        for y in range(width):
            cost.append(distribution[x] * (x != y))
            if x != y and distribution[x] > 0:
                row = np.zeros((width, width))
                row[x, y] = 1
                below.append(row.ravel())
    for x in range(width):
        row = np.zeros((width, width))
        row[x] = 1
        equal.append(row.ravel())
    for y in range(width - 1):
        row = np.zeros((width, width))
        row[:, y] = distribution
        equal.append(row.ravel())
    ends = np.concatenate([np.ones(width), released[:-1]])
    return solved(cost, (np.array(below), np.full(len(below), cap)), (np.array(equal), ends))[0]


def random_distributions(seed: int, width: int) -> tuple[Array, Array]:
    distribution, released = np.random.default_rng(seed).dirichlet(np.ones(width), 2)
    return distribution, 0.7 * distribution + 0.3 * released


def test_in_proportion_moves_what_must_be_moved() -> None:
    source = np.random.default_rng(0)
    distributions, released = source.dirichlet(np.ones(5), 8), source.dirichlet(np.ones(5), 8)
    released[0] = distributions[0]
    blocks = proportional_matrices(distributions, released)
    assert np.einsum("ix,ixy->iy", distributions, blocks) == pytest.approx(released, abs=1e-14)
    assert moved(distributions, blocks) == pytest.approx(
        np.abs(distributions - released).sum() / 2, abs=1e-13
    )
    assert (blocks[0] == np.eye(5)).all()


@pytest.mark.parametrize("width", [2, 3, 6])
def test_one_profile_moves_the_least_below_a_cap(width: int) -> None:
    one = Transport(width)
    for seed in range(20):
        distribution, released = random_distributions(seed, width)
        cap = 1.02 * least_cap(distribution, released) + 1e-6
        matrix = one.matrix(distribution, released, cap)
        off = ~np.eye(width, dtype=bool)
        assert matrix[off].max() <= cap + 1e-9
        assert distribution @ matrix == pytest.approx(released, abs=1e-12)
        least = least_mass(distribution, released, cap)
        assert moved(distribution[None], matrix[None]) == pytest.approx(least, abs=1e-9)


def test_a_cap_that_is_too_small_is_raised() -> None:
    distribution, released = random_distributions(3, 4)
    matrix = Transport(4).matrix(distribution, released, 0.0)
    off = ~np.eye(4, dtype=bool)
    assert distribution @ matrix == pytest.approx(released, abs=1e-12)
    assert matrix[off].max() == pytest.approx(least_cap(distribution, released), abs=1e-8)


def test_completing_keeps_rows_and_limits() -> None:
    blocks = complete_diagonal(np.full((2, 3, 3), 0.9), 0.3)
    assert blocks.sum(axis=2) == pytest.approx(1.0)
    assert blocks[:, 0, 1] == pytest.approx(0.3)
    assert complete_diagonal(np.full((1, 3, 3), 0.9), 1.0)[0, 0, 1] == pytest.approx(0.5)


def pair(seed: int) -> GraphPart:
    distributions = np.random.default_rng(seed).dirichlet(np.ones(4), 3)
    return GraphPart(distributions, np.array([[0, 1], [1, 2]]), 1.4, np.array([0.5, 0.25, 0.25]))


@pytest.mark.parametrize("few", [False, True])
def test_flows_of_a_part_are_those_of_any_edges_and_any_start(
    few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if few:
        monkeypatch.setattr(transport, "LIMITS", replace(LIMITS, moved_together=3))
    for seed in range(8):
        part = pair(seed)
        none, every = np.zeros((4, 4), dtype=bool), np.ones((4, 4), dtype=bool)
        found = []
        for edges_in, start in ((none, part.distributions), (every, np.full((3, 4), 0.25))):
            blocks = least_moved(part, start, 0.3, edges_in, Clock())
            assert blocks is not None
            released = np.einsum("ix,ixy->iy", part.distributions, blocks)
            assert part.excess(released).max() <= 1e-9
            assert blocks[:, ~np.eye(4, dtype=bool)].max() <= 0.3
            found.append(moved(part.shares[:, None] * part.distributions, blocks))
        assert found[0] == pytest.approx(found[1], abs=1e-10)


def test_no_matrices_below_a_cap_that_is_too_small() -> None:
    part = pair(1)
    every = np.ones((4, 4), dtype=bool)
    assert least_moved(part, part.distributions, 1e-3, every, Clock()) is None


def test_a_clock_ends_the_search() -> None:
    part = pair(1)
    with pytest.raises(SearchTimedOut):
        least_moved(part, part.distributions, 0.3, np.ones((4, 4), dtype=bool), Clock(seconds=0.0))
