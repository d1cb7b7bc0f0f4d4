"""Any mean loss over flows, against the whole programme as scipy solves it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from liftlock import ProfileGraph
from liftlock._runtime.clock import Clock
from liftlock._solver import channel_programme
from liftlock._solver.blocks import enforce_budget, response, zero_budget_blocks
from liftlock._solver.channel_programme import ProfileProgramme, solve_profiles
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import ProfileProblem, ProfileTask, Solution
from liftlock.designs import lock
from liftlock.designs.base import draft_of_blocks
from liftlock.notions import ProfilePrivacy
from liftlock.utility import ProfileUtility
from tests.profile_oracles import Array, both_ways, many_graphs, matrix_rows, random_graph, solved


def task_of(graph: ProfileGraph, epsilon: str, aim: str, **rest: Any) -> ProfileTask:
    return ProfileTask.of(graph, ProfilePrivacy(epsilon), ProfileUtility.of(graph, aim), **rest)


def blocks_of(found: Solution, graph: ProfileGraph) -> Array:
    width = len(graph.inputs)
    return found.matrix.reshape(-1, width, width)


def least(graph: ProfileGraph, epsilon: float, costs: Array) -> float:
    """Return the least sum of costs (profiles, values, outputs) times flows."""
    edges, sums = matrix_rows(graph, math.exp(epsilon), shared=False)
    cost = graph.distributions[:, :, None] * costs
    ends = np.zeros(len(edges))
    return solved(cost.ravel(), (edges, ends), (sums, np.ones(len(sums))))[0]


@pytest.mark.parametrize("aim", ["hamming", "absolute", "squared", "distortion"])
def test_the_optimum_is_that_of_another_solver(aim: str) -> None:
    for seed in range(12):
        graph = random_graph(seed, size=4, width=3, kind="even" if seed % 3 else "zeros")
        loss = np.random.default_rng(seed).random((3, 3)) if aim == "distortion" else None
        goal = ProfileUtility.of(graph, aim, loss=loss, weights={f"p{i}": 1 + i for i in range(4)})
        found = solve_profiles(ProfileTask.of(graph, ProfilePrivacy("0.4"), goal))
        blocks, proved = blocks_of(found, graph), found.proof
        other = least(graph, 0.4, goal.weights[:, None, None] * goal.losses(3))
        assert proved.cost == pytest.approx(other, abs=1e-8)
        assert proved.cost == pytest.approx(goal.value(graph.distributions, blocks), abs=1e-12)
        assert proved.bound <= other + 1e-10
        assert proved.bound == pytest.approx(other, abs=1e-7)


def test_costs_may_depend_on_the_profile_and_be_negative() -> None:
    for seed in range(12):
        graph = random_graph(seed, size=4, width=3)
        costs = np.random.default_rng(seed).standard_normal((4, 3, 3))
        programme = ProfileProgramme(task_of(graph, "0.4", "hamming"))
        blocks, bound, done = programme.minimise(costs[programme.profile, programme.value])
        assert done
        other = least(graph, 0.4, costs)
        assert (graph.distributions[:, :, None] * blocks * costs).sum() == pytest.approx(
            other, abs=1e-8
        )
        assert bound == pytest.approx(other, abs=1e-7)
        assert bound <= other + 1e-10


def test_other_costs_start_from_the_same_programme() -> None:
    graph = random_graph(3, size=5, width=3, density=1.0)
    programme = ProfileProgramme(task_of(graph, "0.3", "hamming"))
    generator = np.random.default_rng(1)
    for _ in range(10):
        costs = generator.standard_normal((5, 3, 3))
        _, bound, _ = programme.minimise(costs[programme.profile, programme.value])
        assert bound == pytest.approx(least(graph, 0.3, costs), abs=1e-7)


def test_the_interior_point_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(5, size=20, width=5, density=0.2)
    first = solve_profiles(task_of(graph, "0.5", "absolute")).proof
    monkeypatch.setattr(channel_programme, "LIMITS", replace(LIMITS, simplex_flows=0))
    second = solve_profiles(task_of(graph, "0.5", "absolute")).proof
    assert second.cost == pytest.approx(first.cost, abs=1e-7)
    assert second.bound == pytest.approx(first.bound, abs=1e-7)


@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "5", "80"])
def test_certified_on_every_kind_of_graph(epsilon: str) -> None:
    for width in (1, 2, 4):
        for graph in many_graphs(12, width=width):
            task = task_of(graph, epsilon, "squared")
            found = solve_profiles(task)
            problem, blocks, proved = task.problem, blocks_of(found, graph), found.proof
            if epsilon != "0":
                assert proved.gap < 1e-6
            locked = lock(draft_of_blocks(problem, blocks), ProfilePrivacy(epsilon), graph)
            assert locked.certificate.holds


def test_no_weight_no_say_but_no_ruin() -> None:
    graph = ProfileGraph.complete({"a": {0: 1, 1: 3}, "b": {0: 3, 1: 1}, "c": {0: 2, 1: 2}})
    goal = ProfileUtility.of(graph, "hamming", weights={"a": 1, "b": 0, "c": 0})
    found = solve_profiles(ProfileTask.of(graph, ProfilePrivacy("0.5"), goal))
    blocks, proved = blocks_of(found, graph), found.proof
    assert proved.cost == pytest.approx(0.0, abs=1e-7)
    # With a left alone, b and c may release 0 with a chance of 0.25 E, and do so.
    most = 0.25 * math.exp(0.5)
    expected = [0.0, 0.75 - most, 0.5 - most]
    assert mean_wrong(graph, blocks) == pytest.approx(expected, abs=1e-6)


def mean_wrong(graph: ProfileGraph, blocks: Array) -> Array:
    kept = np.diagonal(blocks, axis1=1, axis2=2)
    return np.asarray(1 - (graph.distributions * kept).sum(axis=1))


def test_whatever_is_settled_keeps_the_budget() -> None:
    generator = np.random.default_rng(5)
    for graph in many_graphs(30, width=3):
        problem = ProfileProblem.of(graph, ProfilePrivacy("0.3"))
        for blocks in (len(graph), 1):
            rows = generator.random((blocks, 3, 3)) ** 8
            released = problem.released(enforce_budget(problem, rows))
            assert released.sum(axis=1) == pytest.approx(1.0)
            for i, j in both_ways(graph):
                assert (released[i] <= math.exp(0.3) * released[j] + 1e-15).all()


def test_a_channel_that_keeps_the_budget_is_hardly_moved() -> None:
    graph = ProfileGraph.bernoulli(["0.5", "0.6"])
    problem = ProfileProblem.of(graph, ProfilePrivacy("1"))
    assert (enforce_budget(problem, np.eye(2)[None]) == np.eye(2)).all()


def test_a_search_without_time_gives_something_that_keeps_the_budget() -> None:
    graph = random_graph(6, size=40, width=8, density=0.3)
    seen: list[Any] = []
    task = task_of(graph, "0.5", "squared", clock=Clock(seconds=0.0, watch=seen.append))
    problem, goal, found = task.problem, task.goal, solve_profiles(task)
    blocks, proved = blocks_of(found, graph), found.proof
    assert proved.stopped
    assert proved.bound <= proved.cost <= goal.value(graph.distributions, response(8, np.ones(40)))
    assert seen
    assert lock(draft_of_blocks(problem, blocks), ProfilePrivacy("0.5"), graph).certificate.holds


def test_without_a_budget_only_profiles_that_differ_fall_silent() -> None:
    graph = ProfileGraph.of(
        {"a": {0: 1, 1: 3}, "b": {0: 2, 1: 6}, "c": {0: 1, 1: 9}, "d": {0: 9, 1: 1}},
        [("a", "b"), ("c", "d")],
    )
    silent = zero_budget_blocks(task_of(graph, "0", "minimax"))
    assert (silent[:2] == np.eye(2)).all()
    assert (silent[2:] == 0.5).all()
    task = task_of(graph, "0", "hamming")
    chosen, problem = zero_budget_blocks(task), task.problem
    assert (chosen[2:, :, 0] == chosen[2, 0, 0]).all()
    found = solve_profiles(task)
    blocks, proved = blocks_of(found, graph), found.proof
    assert proved.cost == pytest.approx(0.25)
    assert lock(draft_of_blocks(problem, blocks), ProfilePrivacy(0), graph).certificate.holds
