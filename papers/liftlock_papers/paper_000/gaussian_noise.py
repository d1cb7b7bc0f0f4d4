"""Gaussian noise: the delta of a fixed deviation, and the deviation for a fixed delta."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import liftlock as ll
from liftlock import continuous
from liftlock.designs.formulas import gaussian
from liftlock.notions import DeltaCurve
from liftlock_papers.formulas.gaussian import classical_delta, true_delta
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

MEAN, DEVIATION = 0.0, 5.0
"""Of the prior."""
WIDTH = 20.0
"""Delta X: the values to protect are within 10 of the mean."""
NOISE = 10.0
SHOWN = (0, 5, 10)
"""Values x whose delta is shown."""
FAR = 1e4
DELTA = 1e-4
BUDGETS = {"a": "1", "b": "2"}


def outage(setting: Setting) -> Iterator[Point]:
    """Compute delta against epsilon for noise of deviation 10."""
    steps = setting.choose(full=80, quick=16)
    bins = setting.choose(full=256, quick=64)
    prior = continuous.normal(MEAN, DEVIATION, domain=(-WIDTH / 2, WIDTH / 2)).discretise(
        bins, "width"
    )
    asked = ll.ApproximateLIP("1", "0.5")
    made = ll.design_as_published(prior, asked, method="gaussian", scale=NOISE)
    curve = DeltaCurve.of(made.table, prior, "ediv")
    for step in setting.each(range(steps + 1), "budgets"):
        epsilon = 4.0 * step / steps
        for x in SHOWN:
            found = float(gaussian.delta_at(x, MEAN, DEVIATION, NOISE, epsilon))
            yield Point("a", f"LIP, x = {x}", epsilon, found)
        edge = float(gaussian.radius_delta(WIDTH / 2, DEVIATION, NOISE, epsilon))
        everywhere = float(gaussian.delta_at(FAR, MEAN, DEVIATION, NOISE, epsilon))
        yield Point("a", "LIP, every x: Thm 5", epsilon, everywhere)
        certified = float(curve.delta(f"{epsilon:g}").value)
        yield Point("a", "LIP on [−10, 10], certified", epsilon, certified)
        twice = ll.ApproximateLDP(f"{2 * epsilon:g}", "1").certify(made.table, prior)
        found = float(twice.claims[0].measured)
        yield Point("a", "2ε-LDP on [−10, 10], certified", epsilon, found)
        implied = min(1.0, (math.exp(epsilon) + 1) * edge)
        yield Point("a", "LIP, x = 10, as 2ε-LDP", epsilon, implied)
        classical = classical_delta(2 * epsilon, NOISE, WIDTH)
        yield Point("a", "2ε-LDP, classical bound", epsilon, classical)
        analytic = gaussian.analytic_delta(2 * epsilon, NOISE, WIDTH)
        yield Point("a", "2ε-LDP, eq. (24)", epsilon, analytic)


def deviations(setting: Setting) -> Iterator[Point]:
    """Compute the deviation of the noise against the value, for delta = 1e-4."""
    values = np.linspace(0.0, WIDTH / 2, setting.choose(full=41, quick=11))
    bins = setting.choose(full=256, quick=64)
    prior = continuous.normal(MEAN, DEVIATION, domain=(-WIDTH / 2, WIDTH / 2)).discretise(
        bins, "width"
    )
    for panel, budget in setting.each(list(BUDGETS.items()), "budgets"):
        epsilon = float(budget)
        published = gaussian.instance_sigma(values, MEAN, DEVIATION, epsilon, DELTA)
        every = setting.choose(full=4, quick=10)
        true = dict(zip(values[::every], _true_deltas(values[::every], epsilon), strict=True))
        for x, sigma in zip(values, published, strict=True):
            promised = DELTA if x in true else None
            yield Point(panel, "published, by value", x, float(sigma), None, true.get(x), promised)
        lip = ll.ApproximateLIP(budget, f"{DELTA:g}")
        ldp = ll.ApproximateLDP(budget, f"{DELTA:g}")
        for curve, method, notion in (
            ("certified, by value", "gaussian-by-instance", lip),
            ("certified, one for all", "gaussian", lip),
            ("ε-LDP, certified", "gaussian", ldp),
        ):
            made = ll.design(prior, notion, method=method)
            for x, sigma in measured_deviations(made):
                yield Point(panel, curve, x, sigma)
        sigma = gaussian.analytic_sigma(epsilon, DELTA, WIDTH)
        for x in (values[0], values[-1]):
            yield Point(panel, "ε-LDP, eq. (24)", x, sigma)


def _true_deltas(values: Floats, epsilon: float) -> list[float]:
    found = true_delta(values, MEAN, DEVIATION, epsilon, DELTA)
    return [float(delta) for delta in found]


def measured_deviations(made: ll.Mechanism) -> list[tuple[float, float]]:
    """Read off the deviation of each value above the mean from a certified table.

    Noise that is clamped puts Phi((e - x) / sigma) on the lowest output, whose upper edge is e.
    """
    from scipy.special import ndtri

    masses, points = made.masses_and_points()
    del masses
    lowest = made.table.floats()[:, 0]
    edge = -WIDTH / 2 + WIDTH / len(made.table.outputs)
    sigmas: Floats = (edge - points) / ndtri(lowest)
    upper = points >= MEAN
    return [(float(x), float(s)) for x, s in zip(points[upper], sigmas[upper], strict=True)]
