"""The published response: the formula, and what it truly guarantees."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Prior
from liftlock.designs import lock, published_response, safe_response
from liftlock.designs.mechanisms.random_response import true_guarantee
from liftlock.errors import NotCertified, NotDefined
from liftlock.notions import ALIP, LDP, LIP

RARE = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})


def test_the_formula_of_the_paper() -> None:
    matrix = published_response(RARE, LIP("1")).matrix
    for x in range(3):
        for y in range(3):
            mass = [0.1, 0.2, 0.7][y]
            expected = mass / np.e if x != y else 1 - (1 - mass) / np.e
            assert matrix[x, y] == pytest.approx(expected, abs=1e-15)


def test_it_is_refused_at_the_budget_it_was_published_for() -> None:
    with pytest.raises(NotCertified) as refused:
        lock(published_response(RARE, LIP("1")), LIP("1"), RARE)
    assert refused.value.smallest.startswith("lip=1.90047")


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=12),
    st.sampled_from(["0.01", "0.3", "1", "2.5", "8", "ln 2", "ln 3"]),
)
def test_the_true_guarantee_holds_and_is_tight(counts: list[int], epsilon: str) -> None:
    prior = Prior.from_counts(enumerate(counts))
    draft = published_response(prior, LIP(epsilon))
    true = true_guarantee(prior, LIP(epsilon))
    assert lock(draft, true, prior).certificate.holds

    least = Fraction(min(counts), sum(counts))
    with mp.workdps(50):
        exponential = mp.exp(mp.mpf(epsilon)) if "ln" not in epsilon else mp.mpf(epsilon[3:])
        p = mp.mpf(least.numerator) / least.denominator
        upper = mp.log((exponential - 1 + p) / p) - mp.log(exponential)
        private = p * (exponential + 1) >= 1
        assert isinstance(true, LIP) == bool(private or abs(p * (exponential + 1) - 1) < 1e-40)
        if isinstance(true, ALIP):
            assert 0 <= float(true.upper) - float(upper) <= 1.1e-10
            assert str(true.lower) == epsilon
            assert any("truly gives" in remark for remark in draft.remarks)
            with pytest.raises(NotCertified):
                lock(draft, ALIP(lower=epsilon, upper=f"{float(upper) - 1e-5:.12f}"), prior)


def test_where_it_is_private_it_is_the_safe_response() -> None:
    even = Prior.from_counts({"a": 3, "b": 4, "c": 3})
    assert published_response(even, LIP("1")).matrix == pytest.approx(
        safe_response(even, LIP("1")).matrix, abs=1e-15
    )
    assert true_guarantee(even, LIP("1")) == LIP("1")


def test_it_is_made_for_lip_alone() -> None:
    with pytest.raises(NotDefined, match="made for lip"):
        true_guarantee(RARE, LDP("1"))
