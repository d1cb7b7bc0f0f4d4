"""Climbing for mutual information: upwards only, within its bound, and certified."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from liftlock import ProfileGraph
from liftlock._runtime.clock import Clock
from liftlock._solver.ascent import ascend, climb, least_uncertainty, slopes
from liftlock._solver.channel_programme import ProfileProgramme, solve_profiles
from liftlock._solver.problem import ProfileTask, Solution
from liftlock.designs import cluster, lock
from liftlock.designs.base import draft_of_blocks
from liftlock.notions import ProfilePrivacy
from liftlock.utility import ProfileUtility
from liftlock.utility.profile_utility import information
from tests.profile_oracles import Array, both_ways, many_graphs, random_graph


def goal_of(graph: ProfileGraph) -> ProfileUtility:
    return ProfileUtility.of(graph, "mutual-information")


def task_of(graph: ProfileGraph, epsilon: str, **rest: Any) -> ProfileTask:
    return ProfileTask.of(graph, ProfilePrivacy(epsilon), goal_of(graph), **rest)


def blocks_of(found: Solution, graph: ProfileGraph) -> Array:
    width = len(graph.inputs)
    return found.matrix.reshape(-1, width, width)


def entropy(masses: Array) -> float:
    return float(-mp.fsum(p * mp.log(p) for p in masses if p > 0))


def test_every_step_goes_upwards() -> None:
    for seed in range(8):
        graph = random_graph(seed, size=4, width=4)
        goal, task = goal_of(graph), task_of(graph, "0.3")
        start = cluster(graph, ProfilePrivacy("0.3")).matrix.reshape(-1, 4, 4)
        found = climb(ProfileProgramme(task), start)
        assert all(a < b for a, b in pairwise(found.steps))
        assert len(found.steps) > 1
        assert found.information == pytest.approx(
            goal.value(graph.distributions, found.blocks), abs=1e-12
        )


def test_any_posteriors_bound_the_information_from_below() -> None:
    source = np.random.default_rng(1)
    for _ in range(50):
        joint, other = source.dirichlet(np.full(12, 0.5), 2).reshape(2, 3, 4)
        other = other * (joint.sum(axis=1) / other.sum(axis=1))[:, None]
        other[:, 3] = 0.0
        prior = entropy(joint.sum(axis=1))
        assert information(joint) >= prior + (joint * slopes(other)).sum() - 1e-9
        assert information(joint) == pytest.approx(prior + (joint * slopes(joint)).sum(), abs=1e-9)


def test_more_than_the_starts_and_less_than_the_bound() -> None:
    for seed in range(8):
        graph = random_graph(seed, size=4, width=3)
        goal, notion = goal_of(graph), ProfilePrivacy("0.4")
        solved = ascend(task_of(graph, "0.4"))
        proved, remarks = solved.proof, solved.remarks
        found = goal.value(graph.distributions, blocks_of(solved, graph))
        simple = cluster(graph, notion).matrix.reshape(-1, 3, 3)
        hamming = ProfileTask.of(graph, notion, ProfileUtility.of(graph, "hamming"))
        truthful = blocks_of(solve_profiles(hamming), graph)
        assert found >= goal.value(graph.distributions, simple) - 1e-9
        assert found >= goal.value(graph.distributions, truthful) - 1e-9
        assert proved.reference == pytest.approx(entropy(goal.weights @ graph.distributions))
        assert proved.cost == pytest.approx(proved.reference - found)
        assert 0 <= proved.bound <= proved.cost + 1e-9
        assert any("may be" in remark for remark in remarks)


def test_the_bound_holds_for_all_mechanisms_of_a_grid() -> None:
    graph = ProfileGraph.bernoulli(["0.3", "0.8"])
    solved = ascend(task_of(graph, "0.5"))
    proved = solved.proof
    found, ratio = (
        goal_of(graph).value(graph.distributions, blocks_of(solved, graph)),
        math.exp(0.5),
    )
    # The chance of releasing a 1, by profile and value.
    a, b, c, d = np.array(list(product(np.linspace(0, 1, 21), repeat=4))).T
    one, two = 0.7 * a + 0.3 * b, 0.2 * c + 0.8 * d
    kept = np.ones(len(a), dtype=bool)
    for left, right in ((one, two), (1 - one, 1 - two)):
        kept &= (left <= ratio * right) & (right <= ratio * left)
    ones = np.stack([0.35 * a + 0.1 * c, 0.15 * b + 0.4 * d])[:, kept]
    cells = np.stack([np.array([[0.45], [0.55]]) - ones, ones])
    outputs = cells.sum(axis=1, keepdims=True)
    lifts = np.divide(cells, outputs, out=np.ones_like(cells), where=cells > 1e-12)
    best = entropy(np.array([0.45, 0.55])) + (cells * np.log(lifts)).sum(axis=(0, 1)).max()
    assert best <= proved.reference - proved.bound + 1e-9
    assert found - 0.05 < best <= found + 1e-9


@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "5", "80"])
def test_certified_on_every_kind_of_graph(epsilon: str) -> None:
    for width in (1, 2, 3):
        for graph in many_graphs(4, width=width):
            task = task_of(graph, epsilon)
            problem = task.problem
            blocks = blocks_of(ascend(task), graph)
            locked = lock(draft_of_blocks(problem, blocks), ProfilePrivacy(epsilon), graph)
            assert locked.certificate.holds
            released = problem.released(blocks)
            for i, j in both_ways(graph):
                assert (released[i] <= problem.widen().ratio * released[j] + 1e-15).all()


def test_without_edges_everything_is_released() -> None:
    graph = ProfileGraph.of({"a": {0: 1, 1: 2, 2: 4}, "b": {0: 5, 1: 1, 2: 1}}, [])
    proved = ascend(task_of(graph, "0.1")).proof
    assert proved.cost == pytest.approx(0.0, abs=1e-9)


def test_least_uncertainty_against_laws_with_a_given_error() -> None:
    source = np.random.default_rng(2)
    for _ in range(300):
        size = int(source.integers(2, 6))
        distribution = source.dirichlet(np.full(size, float(source.choice([0.1, 1.0, 10.0]))))
        assert entropy(distribution) >= least_uncertainty(1 - distribution.max(), size) - 1e-12
    for even in range(1, 6):
        # Even distributions attain it, and so do mixtures of an even distribution and the next.
        assert least_uncertainty(1 - 1 / even, 6) == pytest.approx(math.log(even))
        middle = 1 - (1 / even + 1 / (even + 1)) / 2
        expected = (math.log(even) + math.log(even + 1)) / 2
        assert least_uncertainty(middle, 6) == pytest.approx(expected)
    assert least_uncertainty(-1e-9, 3) == 0.0
    assert least_uncertainty(0.9, 3) == pytest.approx(math.log(3))


def test_time_that_is_up_gives_what_there_is() -> None:
    graph = random_graph(4, size=10, width=5, density=0.5)
    task = task_of(graph, "0.5", clock=Clock(seconds=0.0))
    problem, solved = task.problem, ascend(task)
    blocks, proved = blocks_of(solved, graph), solved.proof
    assert proved.stopped
    assert solved.remarks[0].startswith("stopped early")
    assert proved.bound <= proved.cost
    assert lock(draft_of_blocks(problem, blocks), ProfilePrivacy("0.5"), graph).certificate.holds
