"""Laplace noise on three values: published scales, the least ones, what they leak and cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import liftlock as ll
from liftlock.designs.formulas import laplace
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

SKEW = 0.2
VALUES = np.array([0.0, 1.0, 2.0])
"""The paper gives the probabilities of three values, not the values."""
MASSES = np.array([1 / 3 + SKEW / 2, 1 / 3, 1 / 3 - SKEW / 2])
LOWER, UPPER = 0.0, 2.0
WIDTH = UPPER - LOWER


def scales(setting: Setting) -> Iterator[Point]:
    """Compute scales (a), errors (b) and true leakages (c) against epsilon."""
    steps = setting.choose(full=38, quick=8)
    outputs = setting.choose(full=512, quick=64)
    rarest = float(MASSES.min())
    for step in setting.each(range(steps + 1), "budgets"):
        epsilon = round(0.2 + 3.8 * step / steps, 6)
        alpha = laplace.published_alpha(epsilon, rarest)
        single = {
            "b_LDP": laplace.context_free_scale(epsilon, WIDTH),
            "b_LIP, eq. (25)": laplace.published_scale(epsilon, rarest, WIDTH),
            "b_LIP, first branch": laplace.scale_for_every_epsilon(epsilon, rarest, WIDTH),
            "least b, certified": certified_scale(epsilon, outputs),
        }
        for curve, b in single.items():
            leak = max(laplace.leakage(VALUES, MASSES, b, LOWER, UPPER))
            error = laplace.mean_absolute_error(VALUES, MASSES, b, LOWER, UPPER)
            yield Point("a", curve, epsilon, b, None, leak, epsilon)
            yield Point("b", curve, epsilon, error, None, leak, epsilon)
            yield Point("c", curve, epsilon, leak, None, leak, epsilon)
        each = laplace.instance_scales(MASSES, epsilon, alpha, WIDTH)
        leak = max(laplace.instance_leakage(VALUES, MASSES, each, LOWER, UPPER))
        error = laplace.mean_absolute_error(VALUES, MASSES, each, LOWER, UPPER)
        for value, b in zip(VALUES, each, strict=True):
            yield Point("a", f"b_LIP({value:g}), eq. (26)", epsilon, float(b), None, leak, epsilon)
        yield Point("b", "b_LIP(x), eq. (26)", epsilon, error, None, leak, epsilon)
        yield Point("c", "b_LIP(x), eq. (26)", epsilon, leak, None, leak, epsilon)
        yield Point("c", "ε", epsilon, epsilon)
        best = ll.design(prior(), ll.LIP(f"{epsilon:g}"), utility="absolute")
        assert best.origin is not None
        yield Point("b", "optimum, no noise form", epsilon, best.origin.objective)


def certified_scale(epsilon: float, outputs: int) -> float:
    """Return the least scale that keeps epsilon-LIP, after its table was certified."""
    b = laplace.smallest_scale(VALUES, MASSES, epsilon, LOWER, UPPER) * (1 + 1e-9)
    # It raises an error if the table, cut into cells, does not keep the budget exactly.
    ll.design(prior(), ll.LIP(f"{epsilon:g}"), method="bounded-laplace", scale=b, outputs=outputs)
    return b


def prior() -> ll.Prior:
    """Return the prior of the figure, exactly: 13/30, 10/30 and 7/30."""
    return ll.Prior.from_counts({0: 13, 1: 10, 2: 7})
