"""The safe response, against its closed form and against the edge of its budget."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import design, safe_response
from liftlock.errors import NotDefined
from liftlock.notions import MaxLift, MinLift

RARE = ll.Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})


def keep(matrix: np.ndarray) -> float:
    """Return the keep-probability t of t I + (1 - t) 1 P."""
    return float(np.linalg.eigvals(matrix).real.min())


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "2", "3", "8"])
def test_the_keep_probability(epsilon: str) -> None:
    ratio = math.exp(float(epsilon))
    expected = min((ratio - 1) * 0.1 / 0.9, 1 - 1 / ratio)
    assert keep(safe_response(RARE, ll.LIP(epsilon)).matrix) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_no_larger_one_is_safe(epsilon: str) -> None:
    """A response that keeps the value a little more often breaks the budget."""
    draft = safe_response(RARE, ll.LIP(epsilon))
    masses = np.array([0.1, 0.2, 0.7])
    more = keep(draft.matrix) * (1 + 1e-4)
    bolder = ll.Draft.of("abc", "abc", more * np.eye(3) + (1 - more) * masses)
    with pytest.raises(ll.NotCertified):
        ll.lock(bolder, ll.LIP(epsilon), RARE)
    assert ll.lock(draft, ll.LIP(epsilon), RARE).certificate.holds


def test_one_side_alone() -> None:
    """With rises alone limited, falls cost nothing: t = (U - 1) P / (1 - P), and the mirror."""
    ratio = math.e**0.5
    rises = safe_response(RARE, MaxLift("0.5")).matrix
    assert keep(rises) == pytest.approx((ratio - 1) * 0.1 / 0.9, rel=1e-9)
    falls = safe_response(RARE, MinLift("0.5")).matrix
    assert keep(falls) == pytest.approx(1 - 1 / ratio, rel=1e-9)


def test_it_is_optimal_where_the_source_says() -> None:
    """P_min >= 1/(1 + e^epsilon): the published formula is safe, and nothing beats it."""
    prior = ll.Prior.from_counts({"a": 3, "b": 3, "c": 4})
    for utility in ("mutual-information", "histogram", "guess"):
        safe = design(prior, ll.LIP("1"), utility=utility, method="safe-response").origin
        best = design(prior, ll.LIP("1"), utility=utility).origin
        assert safe is not None
        assert best is not None
        assert safe.objective == pytest.approx(best.objective, abs=1e-9)
        published = design(prior, ll.LIP("1"), utility=utility, method="response")
        assert published.origin is not None
        assert published.origin.objective == pytest.approx(safe.objective, abs=1e-9)


def test_one_symbol_is_released_as_it_is() -> None:
    only = ll.Prior.from_counts({"a": 5})
    assert safe_response(only, ll.LIP("1")).matrix.tolist() == [[1.0]]
    assert design(only, ll.LIP("1"), method="safe-response").certificate.holds


def test_a_joint_is_refused() -> None:
    joint = ll.Joint.from_counts({"s": {"a": 1, "b": 2}, "t": {"a": 2, "b": 1}})
    with pytest.raises(NotDefined, match="give a prior"):
        design(joint, ll.LIP("1"), method="safe-response")


def test_the_lifts_are_those_of_the_formula() -> None:
    made = design(RARE, ll.LIP("1"), method="safe-response")
    table = made.audit().table
    t = keep(safe_response(RARE, ll.LIP("1")).matrix)
    assert float(table.largest().lift or 0) == pytest.approx(1 - t + t / 0.1, rel=1e-12)
    assert float(table.smallest().lift or 0) == pytest.approx(1 - t, rel=1e-12)
    assert Fraction(table.smallest().lift or 0) > 0
