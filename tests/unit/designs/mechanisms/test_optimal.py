"""The optimal design: brute force, exact values, degenerate budgets, names of outputs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock._solver.problem import Problem
from liftlock.designs import optimal
from liftlock.errors import InputError
from liftlock.notions import MaxLift, MinLift, Notion
from liftlock.utility import CustomUtility, make_utility, mean_cost
from tests.brute_force import COSTS, best_mixture, brute_vertices, ldp_cuts, lift_cuts

RARE = ll.Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})


def brute_force(problem: Problem, name: str) -> float:
    symbols = len(problem.masses)
    given = np.eye(symbols) if problem.given is None else problem.given
    if problem.ratio is not None:
        cuts = ldp_cuts(given, problem.secret_masses, problem.ratio)
    else:
        upper = min(problem.upper, 1e3)
        cuts = lift_cuts(given, problem.secret_masses, problem.lower, upper)
    points = np.array([float(str(label)) for label in problem.inputs.labels])
    found, _ = best_mixture(brute_vertices(cuts, symbols), problem.masses, COSTS[name](points))
    return found


def check(context: ll.Prior | ll.Joint, notion: Notion, name: str) -> None:
    problem = Problem.of(context, notion)
    utility = make_utility(name, context.inputs)
    draft = optimal(context, notion, utility=utility, gap=1e-10)
    proof = draft.optimality
    assert proof is not None
    assert proof.cost == pytest.approx(brute_force(problem, name), abs=1e-9)
    assert mean_cost(utility, draft.matrix, problem.masses) == pytest.approx(proof.cost, abs=1e-9)
    locked = ll.lock(draft, notion, context)
    assert isinstance(locked.channel, ll.Table)
    after = mean_cost(utility, locked.channel.floats(), problem.masses)
    assert after == pytest.approx(proof.cost, abs=1e-9)


@pytest.mark.parametrize("name", list(COSTS))
@pytest.mark.parametrize("seed", range(3))
def test_own_secret_by_brute_force(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    counts = {x: int(c) + 1 for x, c in enumerate(rng.integers(0, 100, size=3 + seed))}
    prior = ll.Prior.from_counts(counts)
    for notion in (
        ll.LIP("0.7"),
        ll.ALIP(lower="1.5", upper="0.4"),
        ll.LDP("1"),
        MaxLift("0.5"),
        MinLift("0.5"),
    ):
        check(prior, notion, name)


@pytest.mark.parametrize("name", list(COSTS))
@pytest.mark.parametrize("seed", range(3))
def test_secret_behind_the_data_by_brute_force(seed: int, name: str) -> None:
    rng = np.random.default_rng(100 + seed)
    rows = rng.integers(0, 50, size=(2 + seed % 2, 4)) + 1
    rows[0, 0] = 0  # a cell that never occurs
    joint = ll.Joint.from_rows(
        ll.Alphabet.of("uvw"[: len(rows)]), ll.Alphabet.of(range(4)), rows.tolist()
    )
    for notion in (ll.LIP("0.5"), ll.ALIP(lower="0.8", upper="0.3"), ll.LDP("0.7")):
        check(joint, notion, name)


@pytest.mark.parametrize("how", ["generation", "enumeration"])
def test_both_ways_agree(how: str) -> None:
    rng = np.random.default_rng(9)
    joint = ll.Joint.from_rows(
        ll.Alphabet.of("uvw"),
        ll.Alphabet.of(range(9)),
        (rng.integers(1, 60, size=(3, 9))).tolist(),
    )
    draft = optimal(joint, ll.LIP("0.4"), how=how)
    assert draft.optimality is not None
    assert draft.optimality.cost == pytest.approx(
        brute_force(Problem.of(joint, ll.LIP("0.4")), "mutual-information"), abs=1e-6
    )


def test_outputs_are_named_after_inputs_in_their_order() -> None:
    draft = optimal(RARE, ll.LIP("1"))
    assert draft.outputs.labels == (1, 2, 3)
    joint = draft.matrix * np.array([[0.1], [0.2], [0.7]])
    # Matched so that the output is the input as often as any naming allows.
    assert np.trace(joint) == pytest.approx(
        max(joint[[0, 1, 2], list(p)].sum() for p in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0)])
    )


def test_numbers_are_kept_with_the_names() -> None:
    labels = ll.Alphabet.of(["low", "middle", "high"], [0, 1, 10])
    prior = ll.Prior(labels, (1, 2, 1))
    draft = optimal(prior, ll.LIP("1"), utility=make_utility("mean", labels))
    assert draft.outputs.coordinates == tuple(
        {"low": Fraction(0), "middle": Fraction(1), "high": Fraction(10)}[str(y)]
        for y in draft.outputs.labels
    )


def test_a_budget_of_zero_says_nothing() -> None:
    for notion in (ll.LIP(0), ll.ALIP(lower=0, upper="1"), ll.LDP(0)):
        draft = optimal(RARE, notion)
        assert draft.matrix.shape == (3, 1)
        assert "budget of 0" in draft.remarks[0]
        assert ll.lock(draft, notion, RARE).certificate.holds


def test_a_huge_budget_says_everything() -> None:
    draft = optimal(RARE, ll.LIP("60"))
    assert draft.optimality is not None
    assert draft.optimality.cost == pytest.approx(0, abs=1e-9)
    assert ll.lock(draft, ll.LIP("60"), RARE).certificate.holds


def test_when_nothing_helps_nothing_is_released() -> None:
    # One symbol is so common that no allowed output makes another the better guess.
    prior = ll.Prior.from_probabilities({"a": "0.9", "b": "0.1"})
    draft = optimal(prior, ll.LIP("1"), utility=make_utility("guess", prior.alphabet))
    assert len(draft.outputs) == 1
    assert "better than no release" in draft.remarks[0]


def test_one_symbol_has_nothing_to_say() -> None:
    prior = ll.Prior.from_counts({"only": 3})
    draft = optimal(prior, ll.LIP("1"))
    assert draft.matrix.tolist() == [[1.0]]


def test_a_cost_of_ones_own() -> None:
    gini = CustomUtility(lambda v: float(1 - (v**2).sum()), symbols=3)
    draft = optimal(RARE, ll.LIP("1"), utility=gini)
    assert draft.optimality is not None
    assert draft.optimality.cost == pytest.approx(0.3287611726, abs=1e-9)


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(InputError, match="use auto, generation, enumeration"):
        optimal(RARE, ll.LIP("1"), how="magic")


def test_very_many_secrets_do_not_exhaust_the_memory() -> None:
    # Open boxes hold an inverse of the rows each, so their number must follow from their size.
    rng = np.random.default_rng(0)
    joint = ll.Joint.from_rows(
        ll.Alphabet.of(range(120)),
        ll.Alphabet.of(range(10)),
        rng.integers(1, 99, (120, 10)).tolist(),
    )
    draft = optimal(joint, ll.LIP("0.3"), how="generation", seconds=3.0)
    assert ll.lock(draft, ll.LIP("0.3"), joint).certificate.holds


@pytest.mark.parametrize("how", ["auto", "generation"])
@pytest.mark.parametrize("scale", [1, 10**5, 10**7])
def test_numbers_of_any_size_are_solved(how: str, scale: int) -> None:
    """Numbers of the size of salaries once ended the search with a gap of a half."""
    counts = np.random.default_rng(2).integers(1, 100, 40)
    prior = ll.Prior.from_counts({x * scale: int(count) for x, count in enumerate(counts)})
    steps: list[Any] = []
    goal = make_utility("mean", prior.inputs)
    found = optimal(prior, ll.LIP("1"), utility=goal, how=how, watch=steps.append).optimality
    assert found is not None
    assert found.gap <= 1.1e-6
    assert found.reference == pytest.approx(float(goal.costs(prior.floats()[None, :])[0]))
    assert steps[-1].bound <= found.reference
    assert steps[-1].cost >= 0.1 * found.reference


def test_distances_of_many_numbers_name_their_medians() -> None:
    generator = np.random.default_rng(4)
    points = generator.permutation(60) * 1000
    counts = generator.integers(1, 50, 60)
    prior = ll.Prior.from_counts({int(t): int(c) for t, c in zip(points, counts, strict=True)})
    goal = make_utility("absolute", prior.inputs)
    draft = optimal(prior, ll.LIP("1"), utility=goal)
    exact = optimal(prior, ll.LIP("1"), utility=goal, how="generation")
    assert draft.optimality is not None
    assert exact.optimality is not None
    assert draft.optimality.cost == pytest.approx(exact.optimality.cost, rel=3e-6)
    assert draft.optimality.bound <= exact.optimality.cost
    joint = draft.matrix * prior.floats()[:, None]
    for column, label in zip(joint.T, draft.outputs.labels, strict=True):
        median = float(str(label))
        below, above = column[points < median].sum(), column[points > median].sum()
        assert max(below, above) <= 0.5 * column.sum() * (1 + 1e-9)


def test_a_search_that_ends_at_once_does_not_claim_that_nothing_is_better() -> None:
    """With a gap of 2 the constant output is good enough, but it is not the best."""
    prior = ll.Prior.from_counts({t: 1 + t % 7 for t in range(40)})
    loose = optimal(prior, ll.LIP("1"), utility=make_utility("mean", prior.inputs), gap=2.0)
    assert len(loose.outputs) == 1
    assert loose.remarks[0].startswith("the search ended before anything better")
    rare = ll.Prior.from_counts({0: 97, 1: 1, 2: 1, 3: 1})
    best = optimal(rare, ll.LIP("1"), utility=make_utility("absolute", rare.inputs))
    assert len(best.outputs) == 1
    assert best.remarks[0].startswith("nothing that the budget allows is better")


def test_a_loss_that_only_looks_like_a_distance_is_not_taken_for_one() -> None:
    """One more way to be read, which costs 3 whatever the number: the median is not the best."""
    points = np.arange(60.0)
    loss = np.column_stack([np.abs(points[:, None] - points), np.full(60, 3.0)])
    goal = ll.utility.Distortion(loss, ll.Alphabet.of([*range(60), 999]), name="absolute")
    made = ll.design(ll.Prior.uniform(range(60)), ll.LIP("2"), utility=goal)
    assert made.origin is not None
    assert made.origin.bound is not None
    assert made.origin.bound <= made.origin.objective + 1e-9
    assert made.origin.objective <= 3.0 + 1e-9
