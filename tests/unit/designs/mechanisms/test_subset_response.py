"""The subset response: optimal inside its subsets, never worse than merging, always kept."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from liftlock import Alphabet, Joint, Prior
from liftlock._solver.column_generation import Decomposition
from liftlock._solver.enumeration import enumerate_vertices
from liftlock.designs import lock, optimal, subset_merging, subset_response
from liftlock.designs.mechanisms.watchdog import Pool, safe_subsets
from liftlock.exact.integers import Floats
from liftlock.notions import ALIP, LDP, LIP, MaxLift, Notion
from liftlock.utility import Guess, Histogram, Mean, MutualInformation, Utility, mean_cost
from tests.unit.designs.mechanisms.test_merging import random_joint

NOTIONS: list[Notion] = [LIP("0.4"), ALIP(lower="0.9", upper="0.3"), LDP("0.8"), MaxLift("0.3")]


def extreme_points(cuts: Floats, symbols: int) -> Floats:
    """List the vertices of {v >= 0, sum v = 1, cuts v <= 0} by trying all sets of equalities."""
    limits = np.vstack([cuts, -np.eye(symbols)])
    found = []
    for active in combinations(range(len(limits)), symbols - 1):
        system = np.vstack([limits[list(active)], np.ones(symbols)])
        if abs(np.linalg.det(system)) < 1e-10:
            continue
        point = np.linalg.solve(system, np.eye(symbols)[-1])
        if (limits @ point <= 1e-10).all():
            found.append(np.clip(point, 0, None))
    return np.array(found)


def best_inside(joint: Joint, group: list[int], low: float, high: float) -> float:
    """Return the least H(X | Y) inside a subset, by brute force."""
    counts = np.array(joint.counts, dtype=float) / joint.total
    masses = counts.sum(axis=0)[group]
    lifts = counts[:, group] / counts.sum(axis=0)[group] / counts.sum(axis=1, keepdims=True)
    points = extreme_points(np.vstack([lifts - high, low - lifts]), len(group))
    positive = np.where(points > 0, points, 1.0)
    costs = -(points * np.log(positive)).sum(axis=1)
    solved: Any = linprog(costs, A_eq=points.T, b_eq=masses, method="highs")
    assert solved.status == 0
    return float(solved.fun)


def test_optimal_inside_each_subset_by_brute_force() -> None:
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(12):
        joint = random_joint(rng, 2, 7, 1)
        notion = LIP("0.35")
        pool = Pool.of(joint, notion)
        groups = [g for g in safe_subsets(pool, *pool.split()) if 1 < len(g) <= 4]
        draft = subset_response(joint, notion)
        for group in groups:
            columns = np.flatnonzero(draft.matrix[group].any(axis=0))
            mass = pool.masses[group][:, None] * draft.matrix[group][:, columns]
            posteriors = mass / mass.sum(axis=0)
            logs = np.log(np.where(posteriors > 0, posteriors, 1.0))
            found = -float((mass * logs).sum())
            expected = best_inside(joint, group, np.exp(-0.35), np.exp(0.35))
            assert found == pytest.approx(expected, abs=1e-6)
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize(
    "utility",
    [MutualInformation(), Histogram(), Guess(), Mean(tuple(range(7)))],
    ids=lambda u: u.name,
)
def test_between_merging_and_the_optimum(notion: Notion, utility: Utility) -> None:
    rng = np.random.default_rng(12)
    for number in range(3):
        joint = random_joint(rng, 3, 7, number % 2)
        masses = joint.prior.floats()
        draft = subset_response(joint, notion, utility=utility)
        assert lock(draft, notion, joint).certificate.holds
        merged = mean_cost(utility, subset_merging(joint, notion).matrix, masses)
        found = mean_cost(utility, draft.matrix, masses)
        best = mean_cost(
            utility, optimal(joint, notion, utility=utility, how="enumeration").matrix, masses
        )
        assert best - 1e-6 <= found <= merged + 1e-9


def test_the_printed_test_of_feasibility_is_not_enough() -> None:
    """Some posterior on {a, b} is allowed, but their own is not: merged, c must come in."""
    joint = Joint.from_counts({"s": {"a": 20, "b": 0, "c": 40}, "t": {"a": 1, "b": 2, "c": 97}})
    pool = Pool.of(joint, LIP("0.5"))
    assert pool.split()[1] == [0, 1]
    assert not pool.is_safe([0, 1])
    given = np.array(joint.counts) / np.array(joint.counts).sum(axis=0)
    secret = np.array(joint.counts).sum(axis=1) / joint.total
    shares = np.linspace(0, 1, 1001)
    lifts = (np.outer(given[:, 0], shares) + np.outer(given[:, 1], 1 - shares)) / secret[:, None]
    allowed = ((lifts <= np.exp(0.5)) & (lifts >= np.exp(-0.5))).all(axis=0)
    assert allowed.any()
    draft = subset_response(joint, LIP("0.5"))
    assert lock(draft, LIP("0.5"), joint).certificate.holds


def test_when_the_secret_is_x_itself() -> None:
    prior = Prior.from_counts({"a": 1, "b": 2, "c": 3})
    whole = subset_response(prior, LIP("1"))
    assert whole.matrix == pytest.approx(optimal(prior, LIP("1")).matrix)
    crowded = Prior.from_counts({"a": 1, "b": 1, "c": 4})
    parts = subset_response(crowded, MaxLift("ln 3"))  # 1/3 of the people, and nothing to spare
    assert parts.matrix == pytest.approx(np.array([[1, 0], [1, 0], [0, 1]]))
    looser = subset_response(crowded, MaxLift("ln 4"))  # inside the crowd beliefs may move
    assert looser.matrix.shape == (3, 3)
    assert lock(looser, MaxLift("ln 4"), crowded).certificate.holds


def test_symbols_that_never_occur_under_ldp() -> None:
    joint = Joint.from_counts({"s": {"a": 6, "b": 1, "z": 0}, "t": {"a": 1, "b": 6, "z": 0}})
    draft = subset_response(joint, LDP("0.5"))
    assert lock(draft, LDP("0.5"), joint).certificate.holds
    assert draft.matrix[2].sum() == pytest.approx(1)


def test_names_of_outputs_are_labels_of_their_subset() -> None:
    rng = np.random.default_rng(13)
    joint = random_joint(rng, 4, 12, 1)
    draft = subset_response(joint, LIP("0.5"))
    assert len(set(draft.outputs.labels)) == len(draft.outputs)
    assert set(draft.outputs.labels) <= set(Alphabet.of(joint.inputs.labels).labels)


def test_a_symbol_too_rare_for_every_posterior_still_gets_a_row() -> None:
    solution = Decomposition(
        np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        np.array([0.25, 0.75]),
        cost=0.5,
        bound=0.5,
        reference=1.0,
        seen=2,
        rounds=1,
        seconds=0.0,
        stopped="",
    )
    channel = solution.channel(np.array([0.25, 0.75, 1e-15]))
    assert channel.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.25, 0.75]]


@pytest.mark.parametrize("utility", [Histogram(), Guess()])
def test_limits_that_leave_no_vertex_to_list_are_solved_in_another_way(
    monkeypatch: pytest.MonkeyPatch, utility: Utility
) -> None:
    """Rounding can swallow every extreme posterior of a skewed table."""
    table = {"s": {"a": 30, "b": 5, "c": 20, "d": 45}, "t": {"a": 5, "b": 30, "c": 45, "d": 20}}
    joint, notion = Joint.from_counts(table), LIP("0.3")
    expected = subset_response(joint, notion, utility=utility)
    asked: list[int] = []

    def none_left(cuts: Floats, symbols: int) -> Floats:
        asked.append(symbols)
        # Everything is outside of this cut.
        return enumerate_vertices(np.vstack([cuts, np.ones(symbols)]), symbols)

    # The package has a function of the module's name.
    module = sys.modules["liftlock.designs.mechanisms.subset_response"]
    monkeypatch.setattr(module, "enumerate_vertices", none_left)
    found = subset_response(joint, notion, utility=utility)
    assert asked
    masses = joint.prior.floats()
    assert mean_cost(utility, found.matrix, masses) == pytest.approx(
        mean_cost(utility, expected.matrix, masses), abs=1e-6
    )
