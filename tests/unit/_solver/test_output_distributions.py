"""Which output distributions matrices below a cap reach, and the programme over them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock._runtime.clock import Clock
from liftlock._solver.output_distributions import (
    GraphPart,
    Master,
    SearchTimedOut,
    least_cap,
    violated_sets,
)
from tests.profile_oracles import Array, solved


def distribution_pair(seed: int, width: int) -> tuple[Array, Array]:
    source = np.random.default_rng(seed)
    distribution, released = source.dirichlet(np.full(width, 0.7), 2)
    if seed % 3 == 0:
        distribution[source.integers(width)] = 0.0
        distribution /= distribution.sum()
    return distribution, released


def least_entry(distribution: Array, released: Array) -> float:
    """Return the least largest off-diagonal entry of a matrix between two distributions."""
    width = len(distribution)
    count = width * width
    below, sums, columns = [], [], []
    for x in range(width):
        row = np.zeros(count + 1)
        row[x * width : (x + 1) * width] = 1
        sums.append(row)
        column = np.zeros(count + 1)
        column[x:count:width] = distribution
        columns.append(column)
        for y in range(width):
            if x != y and distribution[x] > 0:
                limit = np.zeros(count + 1)
                limit[x * width + y], limit[-1] = 1, -1
                below.append(limit)
    cost = np.zeros(count + 1)
    cost[-1] = 1
    ends = np.concatenate([np.ones(width), released[:-1]])
    rows = np.array([*sums, *columns[:-1]])
    return solved(cost, (np.array(below), np.zeros(len(below))), (rows, ends))[0]


@pytest.mark.parametrize("width", [2, 3, 5])
def test_the_least_cap_is_that_of_the_best_matrix(width: int) -> None:
    for seed in range(25):
        distribution, released = distribution_pair(seed, width)
        assert least_cap(distribution, released) == pytest.approx(
            least_entry(distribution, released), abs=1e-9
        )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(0.0, 0.6))
def test_sets_are_violated_exactly_below_the_least_cap(seed: int, width: int, cap: float) -> None:
    distribution, released = distribution_pair(seed, width)
    worst = max(
        distribution[list(chosen)].sum() * (1 - (width - size) * cap) - released[list(chosen)].sum()
        for size in range(1, width)
        for chosen in combinations(range(width), size)
    )
    found = [chosen for _, chosen in violated_sets(distribution[None], released[None], cap, 1e-9)]
    if abs(worst - 1e-9) > 1e-12:
        assert bool(found) == (worst > 1e-9)
    for chosen in found:
        kept = 1 - (width - chosen.sum()) * cap
        assert released[chosen].sum() < distribution[chosen].sum() * kept


def chain(size: int, width: int, ratio: float) -> GraphPart:
    distributions = np.random.default_rng(size).dirichlet(np.ones(width), size)
    edges = np.array([(i, i + 1) for i in range(size - 1)])
    return GraphPart(distributions, edges, ratio, np.full(size, 1.0 / size))


def test_the_bound_is_proved_and_tight() -> None:
    for size in (2, 5, 9):
        master = Master(chain(size, 4, 1.5))
        master.least_cap(Clock())
        while not master.complete:
            master.least_cap(Clock())
        assert master.bound <= master.least + 1e-12
        assert master.bound == pytest.approx(master.least, abs=1e-9)
        assert master.part.excess(master.released).max() <= 1e-9


def test_without_a_cap_the_gains_are_counted() -> None:
    master = Master(chain(6, 3, 1.2), capped=False)
    master.least_moved(Clock())
    gains = np.maximum(master.released - master.part.distributions, 0.0).sum() / 6
    assert master.bound == pytest.approx(gains, abs=1e-9)


def test_a_part_that_keeps_its_edges_needs_nothing() -> None:
    assert chain(4, 3, 1e6).holds()
    assert not chain(4, 3, 1.01).holds()


def test_profiles_that_do_not_count_have_a_share() -> None:
    part = chain(3, 2, 1.5)
    assert GraphPart(part.distributions, part.edges, 1.5, np.zeros(3)).shares == pytest.approx(
        1 / 3
    )
    some = GraphPart(part.distributions, part.edges, 1.5, np.array([1.0, 0.0, 0.0])).shares
    assert some[0] == 1.0
    assert (some[1:] > 0).all()


def test_a_clock_ends_the_search_and_is_told_of_it() -> None:
    with pytest.raises(SearchTimedOut):
        Master(chain(5, 3, 1.2)).least_cap(Clock(seconds=0.0))
    seen: list[Any] = []
    master = Master(chain(5, 3, 1.2))
    master.least_cap(Clock(watch=seen.append))
    assert len(seen) == master.solves
    assert seen[-1].bound == pytest.approx(master.least, abs=1e-9)
