"""Rare outputs are joined, so that what is proposed can be certified however skewed a prior is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from liftlock import Ball, Family, Joint, Prior
from liftlock._solver.outputs import merge_rare_outputs, required_blend
from liftlock._solver.problem import Problem
from liftlock.designs import design
from liftlock.exact.integers import Floats
from liftlock.notions import ALIP, LDP, LIP, MaxLift, MinLift, Notion
from liftlock.utility import Histogram

TWENTY = [
    358334, 30867, 145952, 31, 8, 10481, 19396, 11, 237, 289425,
    2336, 2952, 15, 1433, 1383, 4, 779213, 2682, 2, 43241,
]  # fmt: skip
EIGHT = [39479, 1256, 900028234, 698, 45, 83345680, 20465323, 1025663]


def prior_of(counts: Sequence[int]) -> Prior:
    return Prior.from_counts(dict(enumerate(counts)))


def blended(matrix: Floats, masses: Floats, weight: float) -> Floats:
    mixed: Floats = (1 - weight) * matrix + weight * (masses @ matrix)
    return mixed


@pytest.mark.parametrize("notion", [LIP("0.5"), ALIP(lower="1", upper="0.2"), LDP("0.7")])
def test_strain_is_the_blend_that_is_needed(notion: Notion) -> None:
    prior = prior_of([5, 3, 2])
    problem = Problem.of(prior, notion)
    matrix = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
    masses = prior.floats()

    def worst(table: Floats) -> Floats:
        lifts = table / (masses @ table)
        if problem.ratio is not None:
            return np.asarray(lifts.max(axis=0) / lifts.min(axis=0) / problem.ratio)
        over, under = lifts.max(axis=0) / problem.upper, problem.lower / lifts.min(axis=0)
        return np.asarray(np.maximum(over, under))

    for output, weight in enumerate(required_blend(problem, matrix)):
        assert worst(blended(matrix, masses, weight))[output] == pytest.approx(1.0, abs=1e-12)


def test_strain_under_a_family_looks_at_every_prior() -> None:
    family = Family.of([prior_of([1, 1]), prior_of([1, 3])])
    matrix = np.array([[0.6, 0.4], [0.4, 0.6]])
    alone = Problem.of(prior_of([3, 5]), LIP("0.21"))  # the even mixture of both
    together = Problem.of(family, LIP("0.21"))
    assert required_blend(alone, matrix)[0] < required_blend(together, matrix)[0]


def test_joining_keeps_the_rows_and_the_common_outputs() -> None:
    problem = Problem.of(prior_of([1, 1]), LIP("ln 2"))
    tiny = 1e-14
    table = np.array([[2 / 3 - tiny, 1 / 3, tiny], [1 / 3, 2 / 3, 0.0]])
    found = merge_rare_outputs(problem, Histogram(), table)
    assert found.kept == (0, 1)
    assert found.share == pytest.approx(tiny / 2)
    assert found.matrix.sum(axis=1) == pytest.approx(1.0, abs=1e-15)
    # The rare output comes from the first input, and goes where that input is likely.
    assert found.matrix[0, 0] == pytest.approx(2 / 3, abs=1e-15)


def test_nothing_is_joined_when_nothing_is_rare() -> None:
    problem = Problem.of(prior_of([1, 1]), LIP("ln 2"))
    table = np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    found = merge_rare_outputs(problem, Histogram(), table)
    assert found.kept == (0, 1)
    assert found.remarks() == []
    assert (found.matrix == table).all()


def test_a_hopeless_table_is_left_to_lock() -> None:
    problem = Problem.of(prior_of([1, 1]), LIP("0.1"))
    found = merge_rare_outputs(problem, Histogram(), np.eye(2))
    assert found.matrix.tolist() == np.eye(2).tolist()
    assert found.remarks() == []


@pytest.mark.parametrize("utility", ["mutual-information", "histogram", "mean", "guess"])
def test_skewed_priors_get_certified_designs(utility: str) -> None:
    for counts, budget in ((TWENTY, "8"), (EIGHT, "2")):
        mechanism = design(prior_of(counts), LIP(budget), utility=utility)
        assert mechanism.certificate.holds
        assert mechanism.origin is not None
        assert mechanism.origin.gap is not None
        assert mechanism.origin.gap < 1e-6


def test_rare_inputs_of_a_wide_lower_budget_are_certified() -> None:
    # An output of probability below 1e-9 carries most of a rare input's row: it cannot be dropped.
    random = np.random.default_rng(10199)
    for budget in ("5.67", "7.42"):
        counts = [max(1, int(count)) for count in 10 ** (random.random(12) * 9)]
        mechanism = design(prior_of(counts), MinLift(budget), utility="guess")
        assert mechanism.certificate.holds
        assert mechanism.origin is not None
        assert mechanism.origin.gap is not None
        assert mechanism.origin.gap < 1e-6


NOTIONS = (LIP("0.02"), LIP("3"), ALIP(lower="0.3", upper="4"), MaxLift("1"), MinLift("5"))


@pytest.mark.parametrize("notion", [*NOTIONS, LDP("0.1"), LDP("6")], ids=str)
@pytest.mark.parametrize("utility", ["mutual-information", "mean", "absolute"])
def test_priors_over_nine_decades_get_certified_designs(notion: Notion, utility: str) -> None:
    random = np.random.default_rng(len(str(notion)))
    for size in (2, 7, 12):
        counts = [max(1, int(count)) for count in 10 ** (random.random(size) * 9)]
        mechanism = design(prior_of(counts), notion, utility=utility, seconds=2.0)
        assert mechanism.certificate.holds


def test_rare_secrets_and_sets_of_priors_are_certified_too() -> None:
    random = np.random.default_rng(5)
    cells = (10 ** (random.random((3, 7)) * 6)).astype(int) + 1
    joint = Joint.from_counts({s: dict(enumerate(map(int, row))) for s, row in enumerate(cells)})
    skewed = prior_of([1, 10**3, 10**6])
    ball = Ball.of(skewed, Fraction(1, 10**5))
    for context in (joint, ball):
        assert design(context, LIP("2"), utility="histogram", seconds=3.0).certificate.holds


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("utility", ["mutual-information", "histogram", "mean", "guess"])
@pytest.mark.parametrize("radius", ["0", "0.000000001", "0.1"])
def test_a_ball_whose_centre_has_zero_entries_is_certified(radius: str, utility: str) -> None:
    ball = Ball.of(prior_of([5, 3, 0]), Fraction(radius))
    assert design(ball, LIP("1"), utility=utility, seconds=0.5).certificate.holds
