"""The most information by listing extreme posteriors, against random mechanisms and by itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock._solver import ascent
from liftlock._solver.ascent import Cells, list_posteriors, mix
from liftlock._solver.blocks import enforce_budget
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import ProfileTask
from liftlock.notions import ProfilePrivacy
from liftlock.utility import ProfileUtility
from liftlock.utility.profile_utility import information
from tests.profile_oracles import Array, both_ways, random_graph


def task_of(graph: ll.ProfileGraph, epsilon: str, **weights: int) -> ProfileTask:
    goal = ProfileUtility.of(graph, "mutual-information", weights=weights or None)
    return ProfileTask.of(graph, ProfilePrivacy(epsilon), goal, shared=True)


def entropy(distribution: Array) -> float:
    return -sum(float(p) * math.log(p) for p in distribution.ravel() if p > 0)


def uncertainty(joint: Array) -> float:
    return entropy(joint) - entropy(joint.sum(axis=0))


@pytest.mark.parametrize("shared", [True, False])
def test_no_mechanism_leaves_less_uncertainty(shared: bool) -> None:
    source = np.random.default_rng(1)
    for seed in range(6):
        graph = random_graph(seed, size=2, width=3, density=1.0)
        task = task_of(graph, "0.5")
        listed = mix(task, Cells.of(task, shared=shared), task.problem.widen().ratio)
        assert listed is not None
        least = np.inf
        for _ in range(200):
            # Any number of outputs, among them such that hardly say anything but the value.
            blocks = source.random((1 if shared else 2, 3, 3)) ** 6 + 3 * np.eye(3)
            kept = enforce_budget(task.problem, blocks)
            least = min(least, uncertainty(task.goal.joint(graph.distributions, kept)))
        assert listed.bound <= least + 1e-9


def test_the_mixture_has_the_right_mean_and_every_posterior_is_allowed() -> None:
    for seed in range(10):
        graph = random_graph(seed, size=4, width=3)
        task = task_of(graph, "0.3")
        listed = mix(task, Cells.of(task, shared=True), task.problem.widen().ratio)
        assert listed is not None
        masses = task.goal.weights @ graph.distributions
        assert listed.weights @ listed.columns == pytest.approx(masses, abs=1e-9)
        assert len(listed.weights) <= 3
        given = listed.columns / masses
        for i, j in both_ways(graph):
            assert (
                given @ graph.distributions[i]
                <= math.exp(0.3) * (given @ graph.distributions[j]) + 1e-9
            ).all()
        mean = sum(
            share * entropy(distribution)
            for share, distribution in zip(listed.weights, listed.columns, strict=True)
        )
        assert listed.bound <= mean + 1e-12
        assert listed.bound == pytest.approx(mean, abs=1e-7)


def test_the_matrix_is_that_mixture_with_outputs_named_by_values() -> None:
    for seed in range(10):
        graph = random_graph(seed, size=4, width=3)
        task = task_of(graph, "0.3")
        found = list_posteriors(task)
        assert found is not None
        block = found.matrix[None]
        assert block.sum(axis=2) == pytest.approx(1.0)
        masses = task.goal.weights @ graph.distributions
        joint = task.goal.joint(graph.distributions, block)
        assert information(joint) == pytest.approx(entropy(masses) - found.proof.bound, abs=1e-7)
        # No other naming of the outputs says the value more often.
        for order in ([1, 0, 2], [0, 2, 1], [2, 1, 0], [1, 2, 0], [2, 0, 1]):
            assert np.trace(joint) >= np.trace(joint[:, order]) - 1e-12


def test_a_value_that_no_profile_has_follows_the_others() -> None:
    graph = ll.ProfileGraph.complete({"a": {0: 3, 1: 1, 2: 0}, "b": {0: 1, 1: 3, 2: 0}})
    found = list_posteriors(task_of(graph, "0.5"))
    assert found is not None
    block = found.matrix
    assert block[2] == pytest.approx((block[0] + block[1]) / 2)


def test_what_listing_cannot_do_it_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ll.ProfileGraph.complete({"a": {0: 3, 1: 1}, "b": {0: 1, 2: 3}})
    unweighted = task_of(graph, "0.5", a=1, b=0)
    assert Cells.of(unweighted, shared=True) is None
    assert Cells.of(unweighted, shared=False) is None
    assert mix(unweighted, None, 2.0) is None
    rare = task_of(ll.ProfileGraph.bernoulli({"a": "1e-9", "b": 0}), "0.5")
    assert list_posteriors(rare) is None
    task = task_of(graph, "0.5")
    assert list_posteriors(task) is not None
    for name in ("listed_symbols", "profile_numbers", "listed_vertices"):
        with monkeypatch.context() as patch:
            lowered: dict[str, Any] = {name: 1}
            patch.setattr(ascent, "LIMITS", replace(LIMITS, **lowered))
            assert list_posteriors(task) is None
