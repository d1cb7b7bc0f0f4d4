"""Laplace noise on three values: published scales, the least ones, what they leak and cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import liftlock as ll
from liftlock.designs.formulas import laplace
from liftlock_papers.formulas.laplace import smallest_scale
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

BUDGETS = (0.2, 4.0)


@dataclass(frozen=True)
class Numbers:
    """Some values, and how likely they are in sixtieths."""

    values: Floats
    counts: tuple[int, ...]

    @property
    def masses(self) -> Floats:
        """The probabilities."""
        return np.array(self.counts) / sum(self.counts)

    @property
    def rarest(self) -> float:
        """P_min."""
        return min(self.counts) / sum(self.counts)

    @property
    def width(self) -> float:
        """Delta X, from the least value to the largest; outputs have the same range."""
        return float(np.ptp(self.values))

    @property
    def prior(self) -> ll.Prior:
        """The same as a prior."""
        return ll.Prior.from_counts(dict(zip(self.values.tolist(), self.counts, strict=True)))

    def leakage(self, scales: float | Floats) -> float:
        """Return the exact leakage of noise that is renormalised on the range of the values."""
        ends = float(self.values.min()), float(self.values.max())
        if isinstance(scales, float):
            return max(laplace.leakage(self.values, self.masses, scales, *ends))
        return max(laplace.instance_leakage(self.values, self.masses, scales, *ends))

    def error(self, scales: float | Floats) -> float:
        """Return E |X - Y| in closed form."""
        ends = float(self.values.min()), float(self.values.max())
        return laplace.mean_error(self.values, self.masses, scales, *ends, power=1)


OWN = Numbers(np.array([0.0, 1.0, 2.0]), (26, 20, 14))
"""The prior of the figure, 1/3 + s/2, 1/3 and 1/3 - s/2; the values are not given."""
SKEWED = Numbers(np.array([0.0, 1.5, 3.0]), (54, 3, 3))
"""One value of 90 %."""


def scales(setting: Setting) -> Iterator[Point]:
    """Compute scales (a), errors (b) and true leakages (c) against epsilon; a skewed prior (d)."""
    steps = setting.choose(full=38, quick=8)
    outputs = setting.choose(full=512, quick=64)
    low, high = BUDGETS
    for step in setting.each(range(steps + 1), "budgets"):
        epsilon = round(low + (high - low) * step / steps, 6)
        for numbers in (OWN, SKEWED):
            yield from _at(numbers, epsilon, outputs)


def _at(numbers: Numbers, epsilon: float, outputs: int) -> Iterator[Point]:
    """Compute all scales for one budget."""
    width, rarest = numbers.width, numbers.rarest
    alpha = laplace.published_alpha(epsilon, rarest)
    each = laplace.instance_scales(numbers.masses, epsilon, alpha, width)
    chosen: dict[str, float | Floats] = {
        "b_LDP": laplace.context_free_scale(epsilon, width),
        "b_LIP, eq. (25)": laplace.published_scale(epsilon, rarest, width),
        "b_LIP, first branch": laplace.scale_for_every_epsilon(epsilon, rarest, width),
        "b_LIP(x), eq. (26)": each,
        "least b, certified": certified_scale(numbers, epsilon, outputs),
    }
    for curve, b in chosen.items():
        leak, error = numbers.leakage(b), numbers.error(b)
        if numbers is SKEWED:
            yield Point("d", curve, epsilon, error, None, leak, epsilon)
            continue
        if isinstance(b, float):
            yield Point("a", curve, epsilon, b, None, leak, epsilon)
        yield Point("b", curve, epsilon, error, None, leak, epsilon)
        yield Point("c", curve, epsilon, leak / epsilon, None, leak, epsilon)
    best = ll.design(numbers.prior, ll.LIP(f"{epsilon:g}"), utility="absolute")
    assert best.origin is not None
    panel = "d" if numbers is SKEWED else "b"
    yield Point(panel, "optimum, no noise form", epsilon, best.origin.objective)
    if numbers is OWN:
        for value, b in zip(numbers.values, each, strict=True):
            yield Point("a", f"b_LIP({value:g}), eq. (26)", epsilon, float(b))


def certified_scale(numbers: Numbers, epsilon: float, outputs: int) -> float:
    """Return the least scale that keeps epsilon-LIP, after its table was certified."""
    ends = float(numbers.values.min()), float(numbers.values.max())
    b = smallest_scale(numbers.values, numbers.masses, epsilon, *ends) * (1 + 1e-9)
    # It raises an error if the table, cut into cells, does not keep the budget exactly.
    ll.design(
        numbers.prior,
        ll.LIP(f"{epsilon:g}"),
        method="bounded-laplace",
        scale=b,
        outputs=outputs,
    )
    return b
