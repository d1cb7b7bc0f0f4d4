"""Cluster: the noise of the costliest edge of a part, and nothing elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from liftlock import ProfileGraph
from liftlock._solver.blocks import edge_noise, part_noise, response
from liftlock._solver.problem import ProfileProblem
from liftlock.designs import cluster, design
from liftlock.notions import ProfilePrivacy
from liftlock_papers.formulas.profiles import flip_probability, warner
from tests.profile_oracles import both_ways, many_graphs, random_graph


def noise_of(graph: ProfileGraph, epsilon: str) -> np.ndarray:
    draft = cluster(graph, ProfilePrivacy(epsilon))
    width = len(graph.inputs)
    blocks = draft.matrix.reshape(-1, width, width)
    noise: np.ndarray = np.broadcast_to(width * blocks[:, 0, -1], len(graph))
    return noise


def test_a_connected_graph_needs_no_profile_unless_a_value_is_impossible() -> None:
    near = ProfileGraph.bernoulli(["0.2", "0.5", "0.9"])
    assert cluster(near, ProfilePrivacy("1")).inputs == near.inputs
    apart = near.with_edges([("0.2", "0.5")])
    assert cluster(apart, ProfilePrivacy("1")).inputs == apart.pairs
    never = ProfileGraph.bernoulli(["0", "0.5", "0.9"])
    assert cluster(never, ProfilePrivacy("1")).inputs == never.pairs


def test_one_bit_is_the_costliest_flip_of_the_part() -> None:
    for seed in range(30):
        graph = random_graph(seed, size=6, density=0.3)
        flips = noise_of(graph, "0.3") / 2
        ones = graph.distributions[:, 1]
        for part in graph.components:
            edges = [(i, j) for i, j in graph.edges if i in part]
            worst = max((flip_probability(ones[i], ones[j], 0.3) for i, j in edges), default=0.0)
            assert flips[list(part)] == pytest.approx(worst, abs=2e-9)
        assert flips.max() <= warner(0.3) + 1e-8


def test_noise_is_the_least_that_serves_every_edge() -> None:
    for seed in range(20):
        graph = random_graph(seed, size=4, width=4, density=1.0)
        ratio = math.exp(0.5)
        first, second = graph.edge_array.T
        needed = edge_noise(graph.distributions[first], graph.distributions[second], ratio)
        for (i, j), noise in zip(graph.edges, needed, strict=True):
            apart = []
            for share in (noise, noise - 1e-6):
                distributions = (1 - share) * graph.distributions + share / 4
                apart.append(
                    max(
                        (distributions[i] / distributions[j]).max(),
                        (distributions[j] / distributions[i]).max(),
                    )
                )
            assert apart[0] <= ratio * (1 + 1e-12)
            assert not noise or apart[1] > ratio


def test_noise_with_room_for_rounding_survives_it() -> None:
    source = np.random.default_rng(3)
    rounding = 1e-6
    for _ in range(100):
        first, second = source.dirichlet(np.full(3, 0.3), 2)
        noise = edge_noise(first[None], second[None], 2.0, rounding)[0]
        mixed = [(1 - noise) * distribution + noise / 3 for distribution in (first, second)]
        moved = mixed[0] + rounding, mixed[1] - rounding
        # Probabilities that are the same and stay the same need no room.
        assert (moved[0] <= 2 * moved[1] + 1e-15)[first != second].all()


def test_a_part_without_a_costly_edge_is_left_alone() -> None:
    graph = ProfileGraph.bernoulli(
        {"a": "0.1", "b": "0.9", "c": "0.5", "d": "0.51", "e": "0.7"}, [("a", "b"), ("c", "d")]
    )
    noise = noise_of(graph, "0.5")
    assert noise[0] == noise[1] > 0
    assert (noise[2:] == 0).all()
    problem = ProfileProblem.of(graph, ProfilePrivacy("0.5"))
    assert part_noise(problem, graph.distributions) == pytest.approx(noise)


def test_what_is_mended_keeps_the_budget() -> None:
    for graph in many_graphs(24, width=3):
        problem = ProfileProblem.of(graph, ProfilePrivacy("0.7"))
        mended = response(3, part_noise(problem, graph.distributions))
        released = problem.released(mended)
        for i, j in both_ways(graph):
            assert (released[i] <= math.exp(0.7) * released[j] + 1e-15).all()


@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "5", "ln 2", "80"])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_certified_on_every_kind_of_graph(epsilon: str, width: int) -> None:
    for graph in many_graphs(12, width=width):
        assert design(graph, epsilon, method="cluster").certificate.holds
