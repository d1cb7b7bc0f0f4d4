"""Chords and costs in floats against 50 digits: the relaxation is on the safe side everywhere."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from liftlock._solver.kernels.costs import ENTROPY, LINEAR, SQUARE, Cost, chords, total
from liftlock.exact.integers import Floats


def exact(cost: Cost, x: Floats) -> Decimal:
    """Return the cost of a point, to 50 digits."""
    found = Decimal(0)
    for linear, kind, value in zip(cost.linear, cost.kinds, x.tolist(), strict=True):
        v = Decimal(value)
        found += Decimal(float(linear)) * v
        if kind == ENTROPY and v:
            found -= v * v.ln()
        elif kind == SQUARE:
            found -= v * v
    return found


@pytest.mark.parametrize("seed", range(40))
def test_the_relaxation_is_never_above_the_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    kinds = rng.choice([LINEAR, ENTROPY, SQUARE], size=size).astype(np.int8)
    cost = Cost(rng.standard_normal(size) * 10.0 ** rng.integers(-9, 3), kinds)
    ends = np.sort(rng.random((2, size)) ** rng.integers(1, 30), axis=0)
    low, high = ends[0].copy(), ends[1].copy()
    low[rng.random(size) < 0.3] = 0.0
    slopes = np.empty(size)
    constant = chords(cost, low, high, slopes)
    with localcontext() as context:
        context.prec = 50
        for share in [*rng.random((20, size)), *rng.integers(0, 2, (20, size)).astype(float)]:
            x = np.clip(low + share * (high - low), low, high)
            x[share == 1.0] = high[share == 1.0]
            bound = Decimal(constant)
            for slope, value in zip(slopes.tolist(), x.tolist(), strict=True):
                bound += Decimal(slope) * Decimal(value)
            true = exact(cost, x)
            # A slope is rounded once more: that is what `reduced_cost_error` is for.
            scale = max(1.0, float(np.abs(slopes).max())) * float(x.sum() + 1e-300)
            assert bound <= true + Decimal(2.0**-52 * scale)
            assert total(cost, x) == pytest.approx(float(true), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("kind", [ENTROPY, SQUARE])
def test_the_relaxation_meets_the_cost_at_the_ends(kind: int) -> None:
    cost = Cost(np.array([0.25, -1.0]), np.full(2, kind, np.int8))
    low, high = np.array([0.1, 0.0]), np.array([0.4, 0.7])
    slopes = np.empty(2)
    constant = chords(cost, low, high, slopes)
    for x in (low, high):
        assert constant + slopes @ x == pytest.approx(total(cost, x), abs=1e-14)
