"""Full enumeration against trying every set of active constraints."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import HalfspaceIntersection

import liftlock as ll
from liftlock._solver.enumeration import enumerate_vertices, half_spaces
from liftlock._solver.problem import Problem
from liftlock.errors import InputError
from tests.brute_force import brute_vertices, ldp_cuts, lift_cuts


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert len(found) == len(expected)
    order = [np.abs(expected - point).sum(axis=1).min() for point in found]
    assert max(order) < 1e-9
    back = [np.abs(found - point).sum(axis=1).min() for point in expected]
    assert max(back) < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_every_vertex_of_random_lift_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    secrets, symbols = int(rng.integers(2, 4)), int(rng.integers(3, 6))
    joint = rng.random((secrets, symbols))
    joint /= joint.sum()
    prior, secret = joint.sum(axis=0), joint.sum(axis=1)
    lower, upper = np.exp(-rng.uniform(0.1, 1)), np.exp(rng.uniform(0.1, 1))
    cuts = lift_cuts(joint / prior, secret, lower, upper)
    same(enumerate_vertices(cuts, symbols), brute_vertices(cuts, symbols))


@pytest.mark.parametrize("symbols", [2, 3, 4])
def test_own_secret_and_ldp_including_ties(symbols: int) -> None:
    # A uniform prior has many vertices in which several limits are met at once.
    masses = np.full(symbols, 1 / symbols)
    for cuts in (
        lift_cuts(np.eye(symbols), masses, 0.5, 2.0),
        ldp_cuts(np.eye(symbols), masses, 2.0),
    ):
        # Limits that should meet in one point meet in several that are as near as rounding.
        found = np.unique(enumerate_vertices(cuts, symbols).round(12), axis=0)
        same(found, brute_vertices(cuts, symbols))


def test_ldp_columns_are_two_valued() -> None:
    prior = ll.Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.3", "d": "0.4"})
    problem = Problem.of(prior, ll.LDP("ln 3"))
    lifts = enumerate_vertices(half_spaces(problem), 4) / problem.masses
    ratios = lifts / lifts.min(axis=1, keepdims=True)
    # The constant column is not extreme: it is a mixture of the others.
    assert len(lifts) == 2**4 - 2
    assert np.abs(np.minimum(np.abs(ratios - 1), np.abs(ratios - 3))).max() < 1e-9


def test_agrees_with_qhull() -> None:
    rng = np.random.default_rng(3)
    joint = rng.random((4, 8))
    joint /= joint.sum()
    prior, secret = joint.sum(axis=0), joint.sum(axis=1)
    cuts = lift_cuts(joint / prior, secret, np.exp(-0.4), np.exp(0.4))
    found = enumerate_vertices(cuts, 8)
    # Qhull works in the seven free coordinates, the last being 1 minus their sum.
    rows = np.vstack([-np.eye(8), cuts])
    free = np.hstack([rows[:, :7] - rows[:, 7:], rows[:, 7:]])
    hull = HalfspaceIntersection(free, prior[:7])
    points = np.unique(hull.intersections.round(9), axis=0)
    assert len(found) == len(points)


def test_half_spaces_hold_exactly_the_allowed_posteriors() -> None:
    joint = ll.Joint.from_counts({"u": {"a": 1, "b": 4, "c": 2}, "v": {"a": 5, "b": 3, "c": 0}})
    problem = Problem.of(joint, ll.ALIP(lower="0.5", upper="0.3"))
    cuts = half_spaces(problem)
    rng = np.random.default_rng(1)
    for v in rng.dirichlet(np.ones(3), size=200):
        given = np.array([[1 / 6, 4 / 7, 1], [5 / 6, 3 / 7, 0]])
        lifts = given @ v / np.array([7 / 15, 8 / 15])
        allowed = bool((lifts <= np.exp(0.3)).all() and (lifts >= np.exp(-0.5)).all())
        assert bool((cuts @ v <= 0).all()) == allowed


def test_too_many_are_refused_with_the_way_out() -> None:
    masses = np.full(14, 1 / 14)
    cuts = lift_cuts(np.eye(14), masses, 0.5, 2.0)
    with pytest.raises(InputError, match=r"more than 500 extreme posteriors.*column generation"):
        enumerate_vertices(cuts, 14, most=500)


def test_no_limits_leave_the_simplex() -> None:
    assert enumerate_vertices(np.zeros((0, 3)), 3).tolist() == np.eye(3).tolist()


def test_a_polytope_without_a_vertex_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="no extreme posterior can be told from rounding"):
        enumerate_vertices(np.ones((1, 3)), 3)
