"""Consistent counts: the nearest possible ones, against every choice of the counts that are 0."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.errors import NotDefined
from liftlock.estimate.estimators import Consistent
from liftlock.estimate.models import Dense
from liftlock.estimate.models.base import project_counts
from liftlock.estimate.question import ask
from tests.unit.estimate.worlds import ILL, TWINS

SOME = st.lists(st.floats(-100, 100), min_size=1, max_size=5)


@given(SOME, st.floats(0, 100))
def test_nearest_of_all_possible_counts(given_counts: list[float], total: float) -> None:
    counts = np.array(given_counts)
    best = np.inf
    for free in itertools.product([False, True], repeat=len(counts)):
        some = np.flatnonzero(free)
        if len(some) == 0:
            continue
        point = np.zeros(len(counts))
        point[some] = counts[some] - (counts[some].sum() - total) / len(some)
        if point.min() >= 0:
            best = min(best, float(((point - counts) ** 2).sum()))
    found = project_counts(counts, np.array([total]))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, abs=1e-9)
    assert float(((found - counts) ** 2).sum()) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_many_at_once_and_sums_of_the_projected_histogram() -> None:
    estimator = Consistent(Dense.of(ILL), ask(ILL.inputs, "survey", ["cold", "flu"]))
    many = np.array([[9.0, 1.0, 0.0], [5.0, 3.0, 2.0], [0.0, 0.0, 0.0]])
    found = estimator.values(many)
    inverse = many @ np.linalg.inv(ILL.floats())
    by_hand = [project_counts(row, np.array([row.sum()]))[1:].sum() for row in inverse]
    assert found[:, 0] == pytest.approx(by_hand, abs=1e-9)
    assert found[0, 0] == pytest.approx(0.0, abs=1e-9)


def test_refused_without_a_histogram_or_with_a_negative_total() -> None:
    with pytest.raises(NotDefined, match="which give the same reports"):
        Consistent(Dense.of(TWINS), ask(TWINS.inputs, "survey", "c"))
    with pytest.raises(NotDefined, match="negative sum of weights; ask for unbiased"):
        Consistent(Dense.of(ILL), ask(ILL.inputs, "histogram")).values(np.array([1.0, -5, 2]))
