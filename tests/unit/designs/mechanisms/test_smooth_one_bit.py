"""Smooth one bit, against both stages of the programme as scipy solves them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from liftlock import ProfileGraph
from liftlock.designs import cluster, design, smooth_one_bit
from liftlock.errors import InputError, NotDefined
from liftlock.notions import ProfilePrivacy
from liftlock.utility import ProfileUtility
from liftlock_papers.formulas.profiles import warner
from tests.profile_oracles import Array, flip_rows, many_graphs, random_graph, solved


def flips_of(graph: ProfileGraph, epsilon: str, goal: ProfileUtility | None = None) -> Array:
    """Return the flip of each profile, by a value that it has."""
    blocks = smooth_one_bit(graph, ProfilePrivacy(epsilon), utility=goal).matrix
    blocks = blocks.reshape(len(graph), 2, 2)
    common = graph.distributions.argmax(axis=1)
    return np.array([blocks[i, x, 1 - x] for i, x in enumerate(common)])


def two_stages(graph: ProfileGraph, epsilon: float, weights: Array) -> tuple[float, float]:
    """Return the least largest flip, and then the least mean."""
    size = len(graph)
    rows, ends = flip_rows(graph, math.exp(epsilon))
    below = np.hstack([np.eye(size), -np.ones((size, 1))])
    all_rows, all_ends = np.vstack([rows, below]), np.append(ends, np.zeros(size))
    largest, _ = solved(np.append(np.zeros(size), 1.0), (all_rows, all_ends), most=0.5)
    limit = np.append(np.zeros(size), 1.0)[None, :]
    mean, _ = solved(
        np.append(weights, 0.0),
        (np.vstack([all_rows, limit]), np.append(all_ends, largest + 1e-11)),
        most=0.5,
    )
    return largest, mean


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0])
def test_both_stages_equal_those_of_another_solver(epsilon: float) -> None:
    for seed in range(15):
        graph = random_graph(seed, size=2 + seed % 6, density=0.5)
        weights = np.arange(1.0, len(graph) + 1)
        named = dict(zip(graph.profiles.labels, weights, strict=True))
        goal = ProfileUtility.of(graph, "minimax", weights={k: int(v) for k, v in named.items()})
        flips = flips_of(graph, str(epsilon), goal)
        largest, mean = two_stages(graph, epsilon, goal.weights)
        assert flips.max() == pytest.approx(largest, abs=1e-8)
        assert goal.weights @ flips == pytest.approx(mean, abs=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_hamming_is_the_least_mean_alone(epsilon: float) -> None:
    for seed in range(15):
        graph = random_graph(seed, size=5, density=0.5)
        goal = ProfileUtility.of(graph, "hamming", weights={f"p{i}": i for i in range(5)})
        rows, ends = flip_rows(graph, math.exp(epsilon))
        least, _ = solved(np.append(goal.weights, 0.0), (rows, ends), most=0.5)
        draft = smooth_one_bit(graph, ProfilePrivacy(str(epsilon)), utility=goal)
        assert draft.optimality is not None
        # A profile of weight 0 counts next to nothing, so that it is not ruined for nothing.
        assert draft.optimality.cost == pytest.approx(least, abs=2e-8)
        assert draft.optimality.bound <= least + 1e-10
        assert draft.optimality.bound == pytest.approx(least, abs=2e-8)
        assert (flips_of(graph, str(epsilon), goal) <= 0.5 + 1e-12).all()


def test_a_profile_of_no_weight_is_not_ruined_for_nothing() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.5", "b": "0.51", "c": "0.9"}, [("a", "b")])
    for aim in ("minimax", "hamming"):
        goal = ProfileUtility.of(graph, aim, weights={"a": 1, "b": 0, "c": 0})
        assert flips_of(graph, "0.5", goal) == pytest.approx(0.0, abs=1e-12)


def test_no_worse_than_cluster_and_warner() -> None:
    for seed in range(20):
        graph = random_graph(seed, size=6, density=0.3)
        for epsilon in ("0.1", "1", "4"):
            smooth = flips_of(graph, epsilon).max()
            naive = cluster(graph, ProfilePrivacy(epsilon)).matrix.reshape(-1, 2, 2)[:, 0, 1].max()
            assert smooth <= naive + 1e-9
            assert naive <= warner(float(epsilon)) + 1e-8


def test_far_from_the_costly_edge_flips_are_smaller() -> None:
    parameters = {f"p{i}": f"0.{i}" for i in range(1, 10)} | {"last": "0.999"}
    flips = flips_of(ProfileGraph.bernoulli(parameters), "0.5")
    assert flips[4] < flips[-1] / 100
    assert flips[-1] > 0.05


def test_flips_fall_as_the_budget_grows() -> None:
    graph = random_graph(7, size=6, density=0.6)
    largest = [flips_of(graph, f"{epsilon:.2f}").max() for epsilon in np.linspace(0.05, 3, 12)]
    assert all(a >= b - 1e-9 for a, b in pairwise(largest))


def test_the_proved_bound_is_below_and_near() -> None:
    for graph in many_graphs(20):
        draft = smooth_one_bit(graph, ProfilePrivacy("0.4"))
        assert draft.optimality is not None
        assert draft.optimality.gap < 1e-7
        largest, _ = two_stages(graph, 0.4, np.ones(len(graph)))
        assert draft.optimality.bound <= largest + 1e-10


@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "5", "ln 2", "80"])
@pytest.mark.parametrize("aim", ["minimax", "hamming"])
def test_certified_on_every_kind_of_graph(epsilon: str, aim: str) -> None:
    for graph in many_graphs(24):
        mechanism = design(graph, epsilon, method="smooth-one-bit", utility=aim)
        assert mechanism.certificate.holds
        assert mechanism.origin is not None
        if epsilon != "0":
            assert mechanism.origin.gap == pytest.approx(0.0, abs=1e-6)


def test_two_thousand_profiles_in_a_chain() -> None:
    parameters = {i: f"{(7 * i) % 1000}e-3" for i in range(2000)}
    draft = smooth_one_bit(ProfileGraph.bernoulli(parameters), ProfilePrivacy("1"))
    assert draft.optimality is not None
    assert draft.optimality.gap < 1e-6
    blocks = draft.matrix.reshape(-1, 2, 2)
    ones = np.array([float(value) for value in parameters.values()])
    released = ones * blocks[:, 1, 1] + (1 - ones) * blocks[:, 0, 1]
    for distribution in (released, 1 - released):
        assert np.abs(np.diff(np.log(distribution))).max() <= 1 + 1e-9


def test_a_budget_of_nothing_says_so() -> None:
    graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    mechanism = design(graph, 0, method="smooth-one-bit")
    assert mechanism.origin is not None
    assert mechanism.origin.objective == 0.5
    assert any("budget of 0" in remark for remark in mechanism.origin.remarks)
    alike = ProfileGraph.bernoulli({"a": "0.2", "b": "0.2"})
    kept = design(alike, 0, method="smooth-one-bit")
    assert kept.origin is not None
    assert kept.origin.objective == 0.0


def test_more_values_and_other_aims_are_refused_with_the_remedy() -> None:
    three = ProfileGraph.chain({"a": {0: 1, 1: 1, 2: 1}, "b": {0: 1}})
    with pytest.raises(InputError, match="use smooth-categorical"):
        design(three, "1", method="smooth-one-bit")
    two = ProfileGraph.bernoulli(["0.2", "0.9"])
    with pytest.raises(NotDefined, match="smooth-categorical"):
        design(two, "1", method="smooth-one-bit", utility="mutual-information")
