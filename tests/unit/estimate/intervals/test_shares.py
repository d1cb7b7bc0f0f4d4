"""Likely counts: never negative, and the most likely ones after enough steps."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock.alphabet import Alphabet
from liftlock.estimate.intervals.shares import likely_counts, whole_counts
from liftlock.estimate.model import Model

ROWS = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
MODEL = Model(Alphabet.of("abc"), Alphabet.of("xyz"), ROWS, None)


def test_inside_they_are_the_inverse() -> None:
    counts = np.array([[40.0, 35.0, 25.0], [30.0, 40.0, 30.0]])
    found = likely_counts(MODEL, counts, 500)
    assert found == pytest.approx(counts @ np.linalg.inv(ROWS), rel=1e-6)


def test_outside_they_stay_possible_and_add_up() -> None:
    found = likely_counts(MODEL, np.array([90.0, 10.0, 0.0]))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(100)
    assert found[0] > 99


def test_whole_numbers_keep_the_sum() -> None:
    source = np.random.default_rng(1)
    counts = 1000 * source.dirichlet(np.ones(7), 50)
    whole = whole_counts(counts)
    assert (whole == np.rint(whole)).all()
    assert (whole.sum(axis=1) == 1000).all()
    assert np.abs(whole - counts).max() < 1
