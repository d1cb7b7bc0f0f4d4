"""Levels: what is read, what is refused, and the quantile against scipy."""

from __future__ import annotations

import pytest
from scipy.stats import norm

from liftlock.errors import InputError
from liftlock.estimate.level import quantile, read_level


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_quantiles(level: float) -> None:
    assert quantile(level) == pytest.approx(float(norm.isf((1 - level) / 2)), rel=1e-9)


@pytest.mark.parametrize("level", [0, 1, "1.5", 95, float("nan"), float("inf"), "-0.1"])
def test_no_level(level: object) -> None:
    with pytest.raises(InputError, match="not between 0 and 1"):
        read_level(level)
