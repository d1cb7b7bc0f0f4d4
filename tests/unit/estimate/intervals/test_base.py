"""Likely counts: never negative, and the most likely ones after enough steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from liftlock import Alphabet
from liftlock.errors import InputError
from liftlock.estimate.intervals.base import quantile, read_level
from liftlock.estimate.models import Dense

ROWS = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
MODEL = Dense(Alphabet.of("abc"), Alphabet.of("xyz"), ROWS, None)


def test_inside_they_are_the_inverse() -> None:
    counts = np.array([[40.0, 35.0, 25.0], [30.0, 40.0, 30.0]])
    found = MODEL.likely_counts(counts, 500)
    assert found == pytest.approx(counts @ np.linalg.inv(ROWS), rel=1e-6)


def test_outside_they_stay_possible_and_add_up() -> None:
    found = MODEL.likely_counts(np.array([90.0, 10.0, 0.0]))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(100)
    assert found[0] > 99


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_quantiles(level: float) -> None:
    assert quantile(level) == pytest.approx(float(norm.isf((1 - level) / 2)), rel=1e-9)


@pytest.mark.parametrize("level", [0, 1, "1.5", 95, float("nan"), float("inf"), "-0.1"])
def test_no_level(level: object) -> None:
    with pytest.raises(InputError, match="not between 0 and 1"):
        read_level(level)
