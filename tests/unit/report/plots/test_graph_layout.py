"""Where profiles are drawn: near in the graph is near on paper, and nothing lies over another."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.exact.integers import Floats
from liftlock.report.plots.graph_layout import (
    LONGEST_LINE,
    cleared,
    crossed,
    layout,
    overlapping,
    packed,
    parted,
    turned,
)


def apart(places: Floats, one: int, other: int) -> float:
    return float(math.dist(places[one], places[other]))


def path(size: int) -> list[tuple[int, int]]:
    return list(itertools.pairwise(range(size)))


def grid(width: int) -> list[tuple[int, int]]:
    across = [(k, k + 1) for k in range(width * width) if k % width < width - 1]
    return across + [(k, k + width) for k in range(width * (width - 1))]


def all_steps(size: int, edges: list[tuple[int, int]]) -> Floats:
    """Return the distances in the graph by trying every way over a third (Floyd, Warshall)."""
    steps = np.full((size, size), np.inf)
    np.fill_diagonal(steps, 0.0)
    for first, second in edges:
        steps[first, second] = steps[second, first] = 1.0
    for middle in range(size):
        steps = np.minimum(steps, steps[:, middle][:, None] + steps[middle])
    return steps


def connected(size: int, seed: int) -> list[tuple[int, int]]:
    draw = np.random.default_rng(seed)
    edges = {(int(draw.integers(0, k)), k) for k in range(1, size)}
    edges |= {(k, k + int(draw.integers(1, size - k))) for k in range(size - 1)}
    return sorted(edges)


@pytest.mark.parametrize("size", range(2, LONGEST_LINE + 1))
def test_a_short_chain_is_a_line(size: int) -> None:
    places = layout(size, path(size))
    assert places.tolist() == [[float(k), 0.0] for k in range(size)]


@pytest.mark.parametrize("size", [LONGEST_LINE + 1, 21, 50, 2000])
def test_a_long_chain_goes_there_and_back(size: int) -> None:
    places = layout(size, path(size))
    steps = [apart(places, k, k + 1) for k in range(size - 1)]
    assert min(steps) >= 0.7
    assert max(steps) <= 1.0 + 1e-9
    assert len({tuple(place) for place in places.round(6).tolist()}) == size
    wide, high = np.ptp(places, axis=0)
    assert wide < 8 or 0.5 < wide / high < 3.5


def test_a_chain_is_followed_in_its_own_order() -> None:
    order = [3, 0, 4, 1, 2]
    places = layout(5, list(itertools.pairwise(order)))
    ends = [float(places[place][0]) for place in order]
    assert ends in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0])


@pytest.mark.parametrize("size", [3, 5, 12])
def test_a_cycle_and_all_joined_are_rings(size: int) -> None:
    cycle = [*path(size), (0, size - 1)]
    for edges in (cycle, list(itertools.combinations(range(size), 2))):
        places = layout(size, edges)
        radii = np.hypot(*(places - places.mean(axis=0)).T)
        assert radii == pytest.approx(np.full(size, radii[0]))
        assert [apart(places, k, (k + 1) % size) for k in range(size)] == pytest.approx(
            [1.0] * size
        )


@pytest.mark.parametrize("size", [4, 9, 30])
def test_a_star_has_its_middle_in_the_middle(size: int) -> None:
    middle = size // 2
    others = [k for k in range(size) if k != middle]
    places = layout(size, [(min(k, middle), max(k, middle)) for k in others])
    assert places[middle] == pytest.approx(places[others].mean(axis=0), abs=1e-9)
    assert min(apart(places, a, b) for a, b in itertools.combinations(others, 2)) > 0.9


def test_a_grid_is_unfolded() -> None:
    places = layout(25, grid(5))
    steps = [apart(places, *edge) for edge in grid(5)]
    assert max(steps) / min(steps) < 1.6
    closest = min(apart(places, a, b) for a, b in itertools.combinations(range(25), 2))
    assert closest > 0.6


@pytest.mark.parametrize("seed", range(5))
def test_near_in_the_graph_is_near_on_paper(seed: int) -> None:
    steps = all_steps(14, connected(14, seed))
    places = layout(14, connected(14, seed))
    first, second = np.triu_indices(14, 1)
    drawn = np.hypot(*(places[first] - places[second]).T)
    assert np.corrcoef(drawn, steps[first, second])[0, 1] > 0.6
    joined = drawn[steps[first, second] == 1]
    assert np.median(joined) == pytest.approx(1.0, abs=0.01)
    assert joined.max() < 2.5


def test_the_same_graph_is_always_placed_alike() -> None:
    edges = connected(40, 1)
    assert (layout(40, edges) == layout(40, edges)).all()


@pytest.mark.parametrize("size", [61, 600])
def test_a_large_part_is_placed_by_springs(size: int) -> None:
    places = layout(size, connected(size, 2))
    assert np.isfinite(places).all()
    assert len({tuple(place) for place in places.round(9).tolist()}) == size


def test_turning_keeps_distances_and_lies_wide() -> None:
    places = np.random.default_rng(5).normal(size=(9, 2)) * [1.0, 4.0]
    found = turned(places)
    assert apart(found, 2, 7) == pytest.approx(apart(places, 2, 7))
    assert found[:, 0].std() > found[:, 1].std()


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 5)), min_size=1, max_size=9))
def test_packed_parts_do_not_overlap(sizes: list[tuple[float, float]]) -> None:
    parts = [np.array([[0.0, 0.0], [wide, high]]) for wide, high in sizes]
    moved = packed(parts, (0.5, 0.25))
    for part, after in zip(parts, moved, strict=True):
        assert after - after[0] == pytest.approx(part - part[0], abs=1e-6)
    for one, other in itertools.combinations(moved, 2):
        gaps = [
            max(one[0][axis] - other[1][axis], other[0][axis] - one[1][axis]) for axis in (0, 1)
        ]
        assert gaps[0] >= 0.5 - 1e-6 or gaps[1] >= 0.25 - 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_pushed_apart(seed: int) -> None:
    places = np.random.default_rng(seed).normal(size=(20, 2)) * 2
    assert overlapping(places, 1.0, 0.5)
    assert not overlapping(parted(places, 1.0, 0.5), 1.0, 0.5)


def test_boxes_with_room_stay_where_they_are() -> None:
    places = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    assert (parted(places, 1.0, 1.0) == places).all()
    assert not overlapping(parted(np.zeros((3, 2)), 1.0, 1.0), 1.0, 1.0)


def runs_through(places: Floats, edge: tuple[int, int], other: int, size: float) -> bool:
    """Walk along an edge in small steps and look whether it enters the box of another profile."""
    shares = np.linspace(0.0, 1.0, 400)[:, None]
    walk = places[edge[0]] * (1 - shares) + places[edge[1]] * shares
    return bool((np.abs(walk - places[other]).max(axis=1) < 0.98 * size / 2).any())


@pytest.mark.parametrize("seed", range(6))
def test_edges_do_not_run_through_other_profiles(seed: int) -> None:
    edges = connected(12, seed)[:17]
    places = parted(1.4 * layout(12, connected(12, seed)), 0.4, 0.4)
    found = cleared(places, edges, 0.4, 0.4)
    left = crossed(found, edges, 0.4, 0.4)
    assert len(left) <= len(crossed(places, edges, 0.4, 0.4))
    assert not left
    for edge, other in itertools.product(edges, range(12)):
        assert other in edge or not runs_through(found, edge, other, 0.4)
    assert not overlapping(found, 0.4, 0.4)


def test_what_is_clear_stays_where_it_is() -> None:
    places = layout(25, grid(5))
    assert cleared(places, grid(5), 0.2, 0.2) is places
