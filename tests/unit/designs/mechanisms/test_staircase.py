"""The optimum under local differential privacy."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Ball, Prior
from liftlock.designs import k_rr, lock, optimal, staircase
from liftlock.notions import LDP
from liftlock.utility import (
    CustomUtility,
    Distortion,
    Histogram,
    Mean,
    MutualInformation,
    Utility,
    mean_cost,
)
from tests.checks import proof_of

RARE = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})


@pytest.mark.parametrize(
    ("utility", "cost"),
    [
        (Mean((1.0, 2.0, 3.0)), 0.3706608022),
        (Histogram(), 0.3993282019),
        (MutualInformation(), 0.8018185525 - 0.0937612460),
    ],
)
def test_known_optima(utility: Utility, cost: float) -> None:
    draft = staircase(RARE, LDP("1"), utility=utility)
    assert proof_of(draft).cost == pytest.approx(cost, abs=1e-9)
    assert proof_of(draft).gap < 1e-9
    assert lock(draft, LDP("1"), RARE).certificate.holds


def test_k_ary_response_is_not_optimal() -> None:
    even = Prior.uniform(range(5))
    utility = Mean(tuple(range(5)))
    response = mean_cost(utility, k_rr(even, LDP("1")).matrix, even.floats())
    best = staircase(even, LDP("1"), utility=utility)
    assert response == pytest.approx(1.8692, abs=1e-4)
    assert proof_of(best).cost == pytest.approx(1.6898, abs=1e-4)


def test_outputs_have_two_likelihoods() -> None:
    counts = np.random.default_rng(0).integers(1, 50, 7)
    prior = Prior.from_counts({x: int(c) for x, c in enumerate(counts)})
    matrix = staircase(prior, LDP("1"), utility=Histogram()).matrix
    ratios = matrix / matrix.min(axis=0)
    assert (np.minimum(np.abs(ratios - 1), np.abs(ratios - np.e)) < 1e-7).all()


def test_an_input_of_probability_zero_is_protected_too() -> None:
    prior = Prior.from_counts({"a": 3, "b": 0, "c": 5})
    gini = CustomUtility(lambda v: 1 - float((v**2).sum()), symbols=3)
    costs = []
    for utility in (
        MutualInformation(),
        Distortion.from_name("hamming", prior.alphabet),
        Mean((1.0, 2.0, 5.0)),
        Histogram(),
        gini,
    ):
        draft = staircase(prior, LDP("1"), utility=utility)
        assert draft.inputs.labels == ("a", "b", "c")
        assert lock(draft, LDP("1"), prior).certificate.holds
        costs.append(proof_of(draft).cost)
    assert costs[-1] == pytest.approx(costs[-2])


def test_a_set_of_priors_makes_no_difference_to_the_guarantee() -> None:
    near = Ball.of(RARE, "0.1")
    draft = staircase(RARE, LDP("1"), utility=Histogram())
    wide = optimal(near, LDP("1"), utility=Histogram())
    assert lock(wide, LDP("1"), near).certificate.holds
    assert proof_of(wide).cost == pytest.approx(proof_of(draft).cost)
