"""The most information by listing extreme posteriors, against random mechanisms and by itself."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from liftlock._solver import profile_enumeration as listing
from liftlock._solver.limits import LIMITS
from liftlock._solver.profile_enumeration import Cells, list_all, matrix_of
from liftlock._solver.profile_problem import ProfileProblem
from liftlock._solver.profile_programme import settled
from liftlock.notions.profile import ProfilePrivacy
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.profile_utility import ProfileUtility, information
from tests.profile_oracles import Array, both_ways, random_graph


def entropy(law: Array) -> float:
    return -sum(float(p) * math.log(p) for p in law.ravel() if p > 0)


def uncertainty(joint: Array) -> float:
    return entropy(joint) - entropy(joint.sum(axis=0))


@pytest.mark.parametrize("shared", [True, False])
def test_no_mechanism_leaves_less_uncertainty(shared: bool) -> None:
    source = np.random.default_rng(1)
    for seed in range(6):
        graph = random_graph(seed, size=2, width=3, density=1.0)
        goal, problem = ProfileUtility.of(graph), ProfileProblem.of(graph, ProfilePrivacy("0.5"))
        cells = Cells.shared(problem, goal) if shared else Cells.each(problem, goal)
        listed = list_all(problem, cells)
        assert listed is not None
        least = np.inf
        for _ in range(200):
            # Any number of outputs, among them such that hardly say anything but the value.
            blocks = source.random((1 if shared else 2, 3, 3)) ** 6 + 3 * np.eye(3)
            kept = settled(problem, blocks)
            least = min(least, uncertainty(goal.joint(graph.laws, kept)))
        assert listed.bound <= least + 1e-9


def test_the_mixture_has_the_right_mean_and_every_posterior_is_allowed() -> None:
    for seed in range(10):
        graph = random_graph(seed, size=4, width=3)
        goal, problem = ProfileUtility.of(graph), ProfileProblem.of(graph, ProfilePrivacy("0.3"))
        cells = Cells.shared(problem, goal)
        listed = list_all(problem, cells)
        assert cells is not None
        assert listed is not None
        masses = goal.weights @ graph.laws
        assert listed.shares @ listed.posteriors == pytest.approx(masses, abs=1e-9)
        assert len(listed.shares) <= 3
        given = listed.posteriors / masses
        for i, j in both_ways(graph):
            assert (given @ graph.laws[i] <= math.exp(0.3) * (given @ graph.laws[j]) + 1e-9).all()
        mean = sum(
            share * entropy(law)
            for share, law in zip(listed.shares, listed.posteriors, strict=True)
        )
        assert listed.bound <= mean + 1e-12
        assert listed.bound == pytest.approx(mean, abs=1e-7)


def test_the_matrix_is_that_mixture_with_outputs_named_by_values() -> None:
    for seed in range(10):
        graph = random_graph(seed, size=4, width=3)
        goal, problem = ProfileUtility.of(graph), ProfileProblem.of(graph, ProfilePrivacy("0.3"))
        listed = list_all(problem, Cells.shared(problem, goal))
        assert listed is not None
        block = matrix_of(problem, goal, listed)
        assert block.sum(axis=2) == pytest.approx(1.0)
        masses = goal.weights @ graph.laws
        joint = goal.joint(graph.laws, block)
        assert information(joint) == pytest.approx(entropy(masses) - listed.bound, abs=1e-7)
        # No other naming of the outputs says the value more often.
        for order in ([1, 0, 2], [0, 2, 1], [2, 1, 0], [1, 2, 0], [2, 0, 1]):
            assert np.trace(joint) >= np.trace(joint[:, order]) - 1e-12


def test_a_value_that_no_profile_has_follows_the_others() -> None:
    graph = ProfileGraph.complete({"a": {0: 3, 1: 1, 2: 0}, "b": {0: 1, 1: 3, 2: 0}})
    goal, problem = ProfileUtility.of(graph), ProfileProblem.of(graph, ProfilePrivacy("0.5"))
    listed = list_all(problem, Cells.shared(problem, goal))
    assert listed is not None
    block = matrix_of(problem, goal, listed)[0]
    assert block[2] == pytest.approx((block[0] + block[1]) / 2)


def test_what_listing_cannot_do_it_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ProfileGraph.complete({"a": {0: 3, 1: 1}, "b": {0: 1, 2: 3}})
    problem = ProfileProblem.of(graph, ProfilePrivacy("0.5"))
    unweighted = ProfileUtility.of(graph, weights={"a": 1, "b": 0})
    assert Cells.shared(problem, unweighted) is None
    assert Cells.each(problem, unweighted) is None
    assert list_all(problem, None) is None
    rare = ProfileGraph.bernoulli({"a": "1e-9", "b": 0})
    rare_setting = ProfileProblem.of(rare, ProfilePrivacy("0.5"))
    assert list_all(rare_setting, Cells.shared(rare_setting, ProfileUtility.of(rare))) is None
    cells = Cells.shared(problem, ProfileUtility.of(graph))
    assert list_all(problem, cells) is not None
    for name in ("profile_cells", "profile_numbers", "profile_vertices"):
        with monkeypatch.context() as patch:
            patch.setattr(listing, "LIMITS", replace(LIMITS, **{name: 1}))
            assert list_all(problem, cells) is None
