"""Smooth Categorical against the published programme as scipy solves it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import ProfileGraph
from liftlock._solver import transport
from liftlock._solver.output_distributions import Master
from liftlock._solver.problem import ProfileProblem
from liftlock.designs import cluster, design, lock, smooth_categorical
from liftlock.model.provenance import Provenance
from liftlock.notions import ProfilePrivacy
from liftlock.utility import ProfileUtility
from tests.profile_oracles import Array, many_graphs, matrix_rows, random_graph, solved


def largest_entry(graph: ProfileGraph, ratio: float) -> float:
    """Return the optimum of the published programme."""
    edges, sums = matrix_rows(graph, ratio, shared=False)
    size, width = graph.distributions.shape
    limits = []
    for i in range(size):
        for x in range(width):
            for y in range(width):
                if x != y and graph.distributions[i, x] > 0:
                    row = np.zeros((size, width, width))
                    row[i, x, y] = 1
                    limits.append(np.append(row.ravel(), -1.0))
    wide = [np.append(row, 0.0) for row in edges]
    cost = np.zeros(edges.shape[1] + 1)
    cost[-1] = 1
    below = np.array([*wide, *limits])
    equal = np.hstack([sums, np.zeros((len(sums), 1))])
    return solved(cost, (below, np.zeros(len(below))), (equal, np.ones(len(sums))))[0]


def least_wrong(graph: ProfileGraph, ratio: float, weights: Array, cap: float) -> float:
    """Return the least mean chance of a wrong value with entries below a cap."""
    edges, sums = matrix_rows(graph, ratio, shared=False)
    size, width = graph.distributions.shape
    off = ~np.eye(width, dtype=bool)
    cost = (weights[:, None] * graph.distributions)[:, :, None] * off
    limited = np.flatnonzero(((graph.distributions > 0)[:, :, None] & off).ravel())
    limits = np.eye(size * width * width)[limited]
    below = np.vstack([edges, limits])
    ends = np.concatenate([np.zeros(len(edges)), np.full(len(limits), cap)])
    return solved(cost.ravel(), (below, ends), (sums, np.ones(len(sums))))[0]


def designed(graph: ProfileGraph, budget: str, aim: str = "minimax") -> Provenance:
    """Design from end to end; return what is known of the mechanism."""
    mechanism = design(graph, budget, method="smooth-categorical", utility=aim)
    assert mechanism.certificate.holds
    assert mechanism.origin is not None
    return mechanism.origin


def blocks_of(graph: ProfileGraph, matrix: Array) -> Array:
    width = len(graph.inputs)
    return matrix.reshape(-1, width, width)


@pytest.mark.parametrize("width", [2, 3, 4])
def test_the_optimum_and_its_ties_are_those_of_the_published_programme(width: int) -> None:
    for number, graph in enumerate(many_graphs(16, width=width)):
        notion = ProfilePrivacy(("0.01", "0.3", "1", "3")[number // 4 % 4])
        problem = ProfileProblem.of(graph, notion)
        draft = smooth_categorical(graph, notion)
        assert draft.optimality is not None
        cost, bound = draft.optimality.cost, draft.optimality.bound
        other = largest_entry(graph, problem.ratio)
        assert cost == pytest.approx(other, abs=1.5e-9)
        assert other - 1e-7 <= bound <= other + 1e-9
        even = ProfileUtility.of(graph, "hamming")
        wrong = even.value(graph.distributions, blocks_of(graph, draft.matrix))
        assert wrong == pytest.approx(
            least_wrong(graph, problem.ratio, even.weights, cost + 1e-9), abs=3e-8
        )
        assert lock(draft, notion, graph).blend == 0


def test_the_least_mean_is_that_of_the_whole_programme() -> None:
    for number, graph in enumerate(many_graphs(24, width=3)):
        notion = ProfilePrivacy(("0.05", "0.5", "2")[number % 3])
        weights = {f"p{i}": i if number % 2 else 1 + i for i in range(len(graph))}
        goal = ProfileUtility.of(
            graph, "hamming", weights=weights if sum(weights.values()) else None
        )
        draft = smooth_categorical(graph, notion, utility=goal)
        other = least_wrong(graph, ProfileProblem.of(graph, notion).ratio, goal.weights, 1.0)
        assert draft.optimality is not None
        assert draft.optimality.cost == pytest.approx(other, abs=1e-8)
        assert draft.optimality.bound == pytest.approx(other, abs=1e-8)
        assert lock(draft, notion, graph).certificate.holds


def test_a_profile_that_does_not_count_is_not_moved_for_nothing() -> None:
    distributions = {"a": {0: 9, 1: 1}, "b": {0: 1, 1: 9}, "c": {0: 5, 1: 5}}
    graph = ProfileGraph.of(distributions, [("a", "b"), ("b", "c")])
    goal = ProfileUtility.of(graph, "hamming", weights={"a": 1, "b": 1, "c": 0})
    draft = smooth_categorical(graph, ProfilePrivacy("1"), utility=goal)
    released = np.einsum("ix,ixy->iy", graph.distributions, blocks_of(graph, draft.matrix))
    needed = released[1, 1] / math.e  # what the profile in the middle leaves for the last one
    assert released[2, 1] == pytest.approx(max(0.5, needed), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 100), min_size=2, max_size=6),
    st.sampled_from(["0.01", "0.2", "1", "4"]),
)
def test_bits_are_certified_and_no_worse_than_cluster(ones: list[int], budget: str) -> None:
    graph = ProfileGraph.bernoulli({f"p{i}": f"{p}/100" for i, p in enumerate(ones)})
    notion = ProfilePrivacy(budget)
    draft = smooth_categorical(graph, notion)
    goal = ProfileUtility.of(graph)
    noisy = goal.value(graph.distributions, blocks_of(graph, cluster(graph, notion).matrix))
    assert draft.optimality is not None
    assert draft.optimality.cost <= noisy + 1e-9
    assert draft.optimality.cost <= 1 / (1 + math.exp(float(budget))) + 1e-9
    assert lock(draft, notion, graph).certificate.holds


def test_two_bits_need_less_than_one_matrix_for_both() -> None:
    graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    origin = designed(graph, "0.5")
    ratio = math.exp(0.5)
    # Only the rarer value is told wrongly, and only where it is told too often or too rarely.
    assert origin.objective == pytest.approx((0.2 - 0.1 * ratio) / (0.2 + 0.9 * ratio))
    assert origin.objective < 0.0488
    assert origin.gap is not None
    assert origin.gap < 1e-8


def test_parts_are_solved_below_the_largest_entry_of_all() -> None:
    rows = {"a": {0: 9, 1: 1}, "b": {0: 1, 1: 9}, "c": {0: 6, 1: 4}, "d": {0: 4, 1: 6}, "e": {0: 1}}
    graph = ProfileGraph.of(rows, [("a", "b"), ("c", "d")])
    draft = smooth_categorical(graph, ProfilePrivacy("0.1"))
    blocks = blocks_of(graph, draft.matrix)
    assert draft.optimality is not None
    alone = smooth_categorical(
        ProfileGraph.of({n: rows[n] for n in "ab"}, [("a", "b")]), ProfilePrivacy("0.1")
    )
    assert alone.optimality is not None
    assert draft.optimality.cost == pytest.approx(alone.optimality.cost, abs=1e-9)
    assert (blocks[4][0] == [1, 0]).all()
    problem = ProfileProblem.of(graph, ProfilePrivacy("0.1"))
    wrong = ProfileUtility.of(graph, "hamming").value(graph.distributions, blocks)
    least = least_wrong(graph, problem.ratio, np.full(5, 0.2), draft.optimality.cost)
    assert wrong == pytest.approx(least, abs=1e-8)


@pytest.mark.parametrize("aim", ["minimax", "hamming"])
def test_nothing_is_changed_where_nothing_is_promised(aim: str) -> None:
    rows = {"a": {0: 1, 1: 3}, "b": {0: 3, 1: 1}, "c": {0: 6, 1: 2}}
    origin = designed(ProfileGraph.of(rows, [("b", "c")]), "1", aim)
    assert origin.objective == 0
    assert origin.bound == 0


@pytest.mark.parametrize("aim", ["minimax", "hamming", "absolute", "mutual-information"])
def test_a_budget_of_nothing_is_kept_exactly(aim: str) -> None:
    for seed in range(4):
        graph = random_graph(seed, size=5, width=3, density=0.4)
        designed(graph, "0", aim)
    same = ProfileGraph.of({"a": {0: 1, 1: 3}, "b": {0: 2, 1: 6}}, [("a", "b")])
    assert designed(same, "0").objective == 0


def test_rare_values_and_zeros_are_certified_without_blending() -> None:
    for seed in range(30):
        source = np.random.default_rng(seed)
        size, width = int(source.integers(2, 9)), int(source.integers(2, 7))
        cells = source.dirichlet(np.full(width, 0.1), size) * 2.0**60
        rows = {f"p{i}": {y: int(n) for y, n in enumerate(row)} for i, row in enumerate(cells)}
        names = list(rows)
        graph = ProfileGraph.of(rows, list(pairwise(names)))
        notion = ProfilePrivacy(str(source.choice(["0.0001", "0.01", "0.5", "5"])))
        goal = ProfileUtility.of(graph, ("minimax", "hamming")[seed % 2])
        draft = smooth_categorical(graph, notion, utility=goal)
        assert draft.optimality is not None
        assert draft.optimality.gap < 1e-6
        locked = lock(draft, notion, graph)
        assert locked.certificate.holds
        assert locked.blend <= 2.0**-40


def test_stopped_at_once_it_is_no_worse_than_cluster() -> None:
    graph = random_graph(2, size=6, width=4, density=1.0)
    notion = ProfilePrivacy("0.3")
    for aim in ("minimax", "hamming"):
        goal = ProfileUtility.of(graph, aim)
        draft = smooth_categorical(graph, notion, utility=goal, seconds=0.0)
        assert draft.optimality is not None
        assert draft.optimality.stopped
        assert any("stopped early" in remark for remark in draft.remarks)
        noisy = goal.value(graph.distributions, blocks_of(graph, cluster(graph, notion).matrix))
        assert draft.optimality.bound <= draft.optimality.cost <= noisy + 1e-9
        assert lock(draft, notion, graph).certificate.holds


def test_interrupted_it_returns_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    graph = random_graph(2, size=6, width=4, density=1.0)
    notion = ProfilePrivacy("0.3")
    best = smooth_categorical(graph, notion)
    monkeypatch.setattr(transport, "least_moved", interrupt)
    draft = smooth_categorical(graph, notion)
    assert draft.optimality is not None
    assert best.optimality is not None
    assert draft.optimality.stopped
    assert draft.optimality.bound == pytest.approx(best.optimality.bound, abs=1e-9)
    assert draft.optimality.cost >= best.optimality.cost - 1e-9
    assert lock(draft, notion, graph).certificate.holds


def test_it_can_be_watched() -> None:
    seen: list[Any] = []
    graph = random_graph(2, size=6, width=4, density=1.0)
    smooth_categorical(graph, ProfilePrivacy("0.3"), watch=seen.append)
    assert seen
    assert seen[-1].columns > 0


def test_a_cap_that_turns_out_too_small_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(2, size=6, width=4, density=1.0)
    notion = ProfilePrivacy("0.3")
    best = smooth_categorical(graph, notion)
    found = Master.least_cap
    calls = []

    def hasty(master: Master, clock: object) -> None:
        found(master, clock)  # type: ignore[arg-type]
        calls.append(master.least)
        if len(calls) == 1:
            master.complete = master.stalled = False
            master.least /= 2

    monkeypatch.setattr(Master, "least_cap", hasty)
    draft = smooth_categorical(graph, notion)
    assert len(calls) > 1
    assert draft.optimality is not None
    assert best.optimality is not None
    assert draft.optimality.cost == pytest.approx(best.optimality.cost, abs=1e-9)
