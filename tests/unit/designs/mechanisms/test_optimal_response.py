"""The optimal response: the papers' optimum, by listing vertices and by generating them."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Prior
from liftlock.designs import design, lock, optimal, optimal_response
from liftlock.notions import ALIP, LIP
from liftlock.utility import Histogram, MutualInformation, mean_cost
from tests.unit.designs.mechanisms.test_merging import random_joint
from tests.unit.designs.mechanisms.test_subset_response import best_inside

RARE = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})


@pytest.mark.parametrize(("lower", "upper"), [("0.4", "0.4"), ("0.8", "0.3")])
def test_listing_vertices_is_the_optimum_by_brute_force(lower: str, upper: str) -> None:
    rng = np.random.default_rng(15)
    notion = ALIP(lower=lower, upper=upper)
    for _ in range(4):
        joint = random_joint(rng, 3, 5, 1)
        draft = optimal_response(joint, notion, how="enumeration")
        assert lock(draft, notion, joint).certificate.holds
        found = mean_cost(MutualInformation(), draft.matrix, joint.prior.floats())
        low, high = np.exp(-float(lower)), np.exp(float(upper))
        assert found == pytest.approx(best_inside(joint, list(range(5)), low, high), abs=1e-6)


def test_it_maximises_mutual_information_whatever_is_asked() -> None:
    """Its histogram error is not the least, and no proof of that is claimed."""
    draft = optimal_response(RARE, LIP("1"), utility=Histogram())
    assert draft.optimality is None
    assert "method optimal would be better" in draft.remarks[-1]
    masses = RARE.floats()
    best = mean_cost(Histogram(), optimal(RARE, LIP("1"), utility=Histogram()).matrix, masses)
    assert mean_cost(Histogram(), draft.matrix, masses) >= best - 1e-12
    entropy = -float(masses @ np.log(masses))
    information = entropy - mean_cost(MutualInformation(), draft.matrix, masses)
    assert information == pytest.approx(0.1977374041, abs=1e-9)


def test_a_proof_is_shown_for_mutual_information_only() -> None:
    proved = design(RARE, LIP("1"), utility="mutual-information", method="optimal-response")
    assert proved.origin is not None
    assert proved.origin.gap is not None
    assert proved.origin.gap <= 1e-6
    unproved = design(RARE, LIP("1"), utility="histogram", method="optimal-response")
    assert unproved.origin is not None
    assert unproved.origin.gap is None
