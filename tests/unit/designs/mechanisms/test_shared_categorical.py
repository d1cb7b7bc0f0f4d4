"""One matrix for all profiles, against the whole programme as scipy solves it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from liftlock import Joint, ProfileGraph
from liftlock._solver import ascent
from liftlock._solver.channel_programme import solve_profiles
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import ProfileProblem, ProfileTask
from liftlock.designs import design, optimal, shared_categorical
from liftlock.designs.mechanisms.profile_response import response_at
from liftlock.notions import LDP, ProfilePrivacy
from liftlock.utility import MutualInformation, ProfileUtility, profile_errors
from tests.profile_oracles import Array, many_graphs, matrix_rows, random_graph, solved

AIMS = ("minimax", "hamming", "absolute", "squared", "mutual-information")


def least_cost(graph: ProfileGraph, epsilon: float, costs: Array) -> float:
    edges, sums = matrix_rows(graph, math.exp(epsilon), shared=True)
    return solved(costs.ravel(), (edges, np.zeros(len(edges))), (sums, np.ones(len(sums))))[0]


def two_stages(graph: ProfileGraph, epsilon: float, costs: Array) -> tuple[float, float]:
    """Return the least largest off-diagonal entry, and then the least sum of costs."""
    edges, sums = matrix_rows(graph, math.exp(epsilon), shared=True)
    off = np.flatnonzero((~np.eye(len(costs), dtype=bool)).ravel())
    limits = np.eye(costs.size)[off]
    column = np.concatenate([np.zeros(len(edges)), -np.ones(len(off))])[:, None]
    below = np.hstack([np.vstack([edges, limits]), column])
    ends = np.zeros(len(below))
    equal = np.hstack([sums, np.zeros((len(sums), 1))]), np.ones(len(sums))
    largest, _ = solved(np.append(np.zeros(costs.size), 1.0), (below, ends), equal)
    last = np.append(np.zeros(costs.size), 1.0)[None, :]
    both = np.vstack([below, last]), np.append(ends, largest + 1e-10)
    cheapest, _ = solved(np.append(costs.ravel(), 0.0), both, equal)
    return largest, cheapest


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_both_stages_equal_those_of_another_solver(epsilon: float) -> None:
    for seed in range(10):
        graph = random_graph(seed, size=4, width=3 + seed % 2)
        goal = ProfileUtility.of(graph, "minimax", weights={f"p{i}": 1 + i for i in range(4)})
        draft = shared_categorical(graph, ProfilePrivacy(str(epsilon)), utility=goal)
        width = len(graph.inputs)
        costs = (goal.weights @ graph.distributions)[:, None] * (1 - np.eye(width))
        largest, cheapest = two_stages(graph, epsilon, costs)
        assert goal.value(graph.distributions, draft.matrix[None]) == pytest.approx(
            largest, abs=1e-8
        )
        assert (costs * draft.matrix).sum() == pytest.approx(cheapest, abs=1e-7)
        assert draft.optimality is not None
        assert draft.optimality.bound <= largest + 1e-10
        assert draft.optimality.gap < 1e-7


@pytest.mark.parametrize("aim", ["hamming", "absolute", "squared", "distortion"])
def test_the_least_loss_is_that_of_another_solver(aim: str) -> None:
    for seed in range(10):
        graph = random_graph(seed, size=4, width=3)
        loss = np.random.default_rng(seed).random((3, 3)) if aim == "distortion" else None
        goal = ProfileUtility.of(graph, aim, loss=loss, weights={f"p{i}": 1 + i for i in range(4)})
        draft = shared_categorical(graph, ProfilePrivacy("0.4"), utility=goal)
        costs = (goal.weights @ graph.distributions)[:, None] * goal.losses(3)
        other = least_cost(graph, 0.4, costs)
        assert goal.value(graph.distributions, draft.matrix[None]) == pytest.approx(other, abs=1e-8)
        assert draft.optimality is not None
        assert draft.optimality.bound <= other + 1e-10
        assert draft.optimality.bound == pytest.approx(other, abs=1e-7)


@pytest.mark.parametrize("aim", AIMS)
def test_between_randomised_response_and_a_matrix_for_each_profile(aim: str) -> None:
    for seed in range(12):
        graph = random_graph(seed, size=4, width=3)
        goal = ProfileUtility.of(graph, aim)
        notion = ProfilePrivacy("0.7")
        problem = ProfileProblem.of(graph, notion)
        sign = -1 if goal.larger_is_better else 1
        shared = goal.value(
            graph.distributions, shared_categorical(graph, notion, utility=goal).matrix[None]
        )
        assert sign * shared <= sign * goal.value(graph.distributions, response_at(problem)) + 1e-9
        if aim in ("hamming", "absolute", "squared"):
            assert shared >= solve_profiles(ProfileTask.of(graph, notion, goal)).proof.bound - 1e-9


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "5", "80"])
def test_certified_on_every_kind_of_graph(epsilon: str, aim: str) -> None:
    for width in (1, 2, 3):
        for graph in many_graphs(4, width=width):
            mechanism = design(graph, epsilon, method="shared-categorical", utility=aim)
            assert mechanism.certificate.holds
            assert mechanism.origin is not None
            assert mechanism.origin.gap is not None
            if epsilon != "0" and aim != "mutual-information":
                assert mechanism.origin.gap < 1e-5


def test_it_does_not_ask_for_the_profile() -> None:
    graph = random_graph(1, size=3, width=3, density=1.0)
    mechanism = design(graph, "1", method="shared-categorical")
    assert mechanism.channel.inputs.labels == graph.inputs.labels
    assert mechanism.origin is not None
    assert not any("uses the profile" in remark for remark in mechanism.origin.remarks)


def test_a_value_that_no_profile_has_gives_nothing_away() -> None:
    graph = ProfileGraph.complete(
        {
            "a": {"x": 9, "y": 1, "z": 0},
            "b": {"x": 1, "y": 9, "z": 0},
            "c": {"x": 1, "y": 1, "z": 0},
        }
    )
    mechanism = design(graph, "0.5", method="shared-categorical")
    assert mechanism.certificate.holds
    # Its row is a mixture of what the profiles release, so it is covered as well.
    assert not mechanism.certificate.unprotected


def test_information_is_the_optimum_that_is_known_for_complete_graphs() -> None:
    for seed in range(6):
        graph = random_graph(seed, size=3, width=3 + seed % 2, density=1.0)
        goal = ProfileUtility.of(graph, "mutual-information")
        draft = shared_categorical(graph, ProfilePrivacy("0.5"), utility=goal)
        found = goal.value(graph.distributions, draft.matrix[None])
        # No two profiles told apart by more than E: LDP for a secret behind the value.
        other = optimal(Joint.from_profiles(graph), LDP("0.5"), utility=MutualInformation())
        assert other.optimality is not None
        assert draft.optimality is not None
        most = other.optimality.reference - other.optimality.bound
        assert found == pytest.approx(most, abs=1e-7)
        assert found <= most + 1e-9
        assert draft.optimality.reference - draft.optimality.bound >= most - 1e-9
        assert draft.optimality.gap < 1e-7


def test_climbing_comes_close_to_that_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = []
    for seed in range(6):
        graph = random_graph(seed, size=3, width=4, density=1.0)
        goal = ProfileUtility.of(graph, "mutual-information")
        notion = ProfilePrivacy("0.5")
        best = goal.value(
            graph.distributions, shared_categorical(graph, notion, utility=goal).matrix[None]
        )
        with monkeypatch.context() as patch:
            patch.setattr(ascent, "LIMITS", replace(LIMITS, listed_symbols=0))
            draft = shared_categorical(graph, notion, utility=goal)
        found = goal.value(graph.distributions, draft.matrix[None])
        assert found <= best + 1e-8
        assert any("may be" in remark for remark in draft.remarks)
        reached.append(found / best)
    assert min(reached) > 0.9


def test_a_search_without_time_is_no_worse_than_randomised_response() -> None:
    graph = random_graph(6, size=40, width=8, density=0.5)
    problem = ProfileProblem.of(graph, ProfilePrivacy("0.5"))
    for aim in ("minimax", "hamming"):
        goal = ProfileUtility.of(graph, aim)
        draft = shared_categorical(graph, ProfilePrivacy("0.5"), utility=goal, seconds=0.0)
        assert draft.optimality is not None
        found = goal.value(graph.distributions, draft.matrix[None])
        assert draft.optimality.bound <= found
        assert any("stopped early" in remark for remark in draft.remarks)
        assert found <= goal.value(graph.distributions, response_at(problem)) + 1e-12


def test_ties_go_to_what_is_wrong_less_often() -> None:
    """Randomised response has the same largest entry here, and many more wrong values."""
    graph = ProfileGraph.chain({"a": {0: 1, 1: 1}, "b": {2: 1}})
    made = design(graph, "1", method="shared-categorical")
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(1 / (2 + np.e), abs=1e-7)
    assert profile_errors(made.table, graph).mean_wrong == pytest.approx(1.5 / (2 + np.e), abs=1e-6)
