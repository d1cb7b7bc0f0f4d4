"""The sampling mechanism: the value itself with probability lambda, else a fresh draw."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

import liftlock as ll
from liftlock import continuous
from liftlock.designs.formulas import sampling_rate
from liftlock.model.continuous import ContinuousPrior, GridPrior
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

USERS = 50_000
DELTA = 0.01
EPSILON = 2.0
_GAP = 1e-5
"""What is called an optimum is proved to be no further from it, relative to no release."""
DISTRIBUTIONS: Mapping[str, ContinuousPrior] = {
    "Beta(2, 5)": continuous.beta(2, 5),
    "Gaussian N(0, 1)": continuous.normal(0, 1, domain=(-10, 10)),
    "Uniform(0, 1)": continuous.uniform(0, 1),
}
"""The paper does not say which."""


def sampling_tradeoff(setting: Setting) -> Iterator[Point]:
    """Compute the figure: error against epsilon (a) and delta (b), and certified ones (c)."""
    users = setting.choose(full=USERS, quick=USERS // 10)
    steps = setting.choose(full=50, quick=20)
    for name, distribution in DISTRIBUTIONS.items():
        rng = setting.rng("sampling", name)
        values, fresh = distribution.distribution.quantile(rng.random((2, users)))
        coins = rng.random(users)
        # A value at the very end of an unbounded distribution is a draw like any other, but not a
        # number.
        apart = np.abs(values - fresh)
        whole = mean_difference(distribution)
        for step in range(steps + 1):
            epsilon, delta = 5.0 * step / steps, step / steps
            for panel, x, rate in (
                ("a", epsilon, kept(epsilon, DELTA)),
                ("b", delta, kept(EPSILON, delta)),
            ):
                errors = np.where(coins < rate, 0.0, apart)
                margin = 1.96 * float(errors.std()) / math.sqrt(users)
                yield Point(panel, name, x, float(errors.mean()), error=margin)
                yield Point(panel, f"{name}, expected", x, (1 - rate) * whole)
    yield from _certified(setting)


def _certified(setting: Setting) -> Iterator[Point]:
    """Compare with mechanisms that keep epsilon-LIP without a delta, for a uniform prior."""
    distribution = DISTRIBUTIONS["Uniform(0, 1)"]
    prior = distribution.discretise(setting.choose(full=128, quick=16))
    # Under LDP the optimum is proved for few cells, and which number serves best changes.
    coarse = [
        distribution.discretise(bins)
        for bins in setting.choose(full=range(8, 25), quick=(8, 16, 24))
    ]
    whole = mean_difference(distribution)
    steps = setting.choose(full=20, quick=5)
    for step in setting.each(range(1, steps + 1), "certified optima"):
        epsilon = 5.0 * step / steps
        rate = kept(epsilon, DELTA)
        error = (1 - rate) * whole
        # In the sense of Cor 9 the delta of a continuous X is the rate itself.
        yield Point("c", "sampling, Prop 2", epsilon, error, leakage=rate, budget=DELTA)
        yield Point("c", "sampling, delta of Cor 9", epsilon, (1 - DELTA) * whole)
        for curve, notion, grids in (
            ("ε-LIP optimum, δ = 0", ll.LIP(f"{epsilon:g}"), [prior]),
            ("ε-LDP, best found", ll.LDP(f"{epsilon:g}"), coarse),
        ):
            found = [(optimum(grid, notion), grid) for grid in grids]
            least, used = min((uniform_error(made, grid), leakage(made)) for made, grid in found)
            yield Point("c", curve, epsilon, least, leakage=used, budget=epsilon)
        yield Point("c", "nothing released", epsilon, 0.25)


def kept(epsilon: float, delta: float) -> float:
    """Return lambda = min{delta E, 1 - 1/E + delta/E}, 000 Prop 2.

    >>> round(kept(2.0, 0.01), 4), kept(2.0, 1.0)
    (0.0739, 1.0)
    """
    return sampling_rate.continuous_rate(math.exp(epsilon), delta, "def5")


def mean_difference(distribution: ContinuousPrior, points: int = 200_001) -> float:
    """Return E |X - X'| of two independent draws, 2 times the integral of F (1 - F).

    >>> round(mean_difference(DISTRIBUTIONS["Uniform(0, 1)"]), 6)
    0.333333
    """
    places: Floats = np.linspace(distribution.lower, distribution.upper, points)
    heights = distribution.distribution.below(places) * distribution.distribution.above(places)
    return float(2.0 * np.trapezoid(heights, places))


def optimum(prior: GridPrior, notion: ll.LIP | ll.LDP) -> ll.Mechanism:
    """Return the certified mechanism of least absolute error on the cells of a prior."""
    made = ll.design(prior, notion, utility="absolute")
    gap = math.inf if made.origin is None or made.origin.gap is None else made.origin.gap
    if gap > _GAP:
        raise ll.InputError(
            "this is not proved to be the optimum",
            where=f"{len(prior.grid)} cells",
            value=gap,
            remedy="use fewer cells",
        )
    return made


def leakage(made: ll.Mechanism) -> float:
    """Return the exact leakage of a mechanism in nats."""
    return max(float(value) for value in made.certificate.nats.values())


def uniform_error(made: ll.Mechanism, prior: GridPrior) -> float:
    """Return E |X - Y| for X uniform on [0, 1], with each report read as its median."""
    numbers = made.readings("median")
    edges = np.array(prior.grid.edges)
    low, high = edges[:-1, None], edges[1:, None]
    inside = np.clip(numbers, low, high)
    apart = np.abs(numbers - inside)
    # Within its own cell a uniform X is ((r - a)^2 + (b - r)^2) / (2 (b - a)) from r.
    within = ((inside - low) ** 2 + (high - inside) ** 2) / (2.0 * (high - low))
    errors = (made.table.floats() * (apart + within)).sum(axis=1)
    return float(prior.floats() @ errors)
