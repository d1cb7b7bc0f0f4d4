"""Laplace noise on three numbers: what each rule for its scale costs, and what it leaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

import liftlock as ll
from liftlock.designs.formulas import laplace as formulas
from liftlock_papers.formulas.laplace import smallest_scale
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

NUMBERS = ("0", "1.5", "3")
LOW, HIGH = 0.0, 3.0
PRIORS: Mapping[str, tuple[int, int, int]] = {"P1": (5, 5, 5), "P2": (6, 5, 4), "P3": (8, 5, 2)}
"""The paper's three priors, in fifteenths."""
PEAKED = "P4"
PEAKED_COUNTS = (1, 13, 1)
"""One of ours: its rarest number is rarer than any of the paper's."""

FREE = "context-free, eq. (11)"
PUBLISHED = "context-aware, eq. (17)"
SMALLEST = "smallest scale that keeps ε"
CLAMPED = "smallest scale, clamped noise"
OPTIMUM = "certified optimum"
LDP_OPTIMUM = "certified optimum of LDP"
NOTHING = "always say the mean"
BUDGET = "the budget"

_FULL = tuple(f"{step / 20:g}" for step in range(2, 61))
_JUMPS = ("1.0985", "1.0987", "1.3217", "1.3218", "2.0149", "2.015", "2.708", "2.7081")
"""On either side of ln(1 / P_min), where eq. (17) changes its branch."""
_QUICK = ("0.25", "1", "1.2", "1.6", "2.4")
_BINS, _FEW_BINS = 512, 128


class World(NamedTuple):
    """A prior of three numbers that was counted."""

    name: str
    counts: tuple[int, int, int]

    @property
    def prior(self) -> ll.Prior:
        """The prior, exact."""
        return ll.Prior.from_counts(dict(zip(NUMBERS, self.counts, strict=True)))

    @property
    def points(self) -> Floats:
        """The numbers."""
        return np.array([float(number) for number in NUMBERS])

    @property
    def masses(self) -> Floats:
        """The probabilities, as floats."""
        return np.array(self.counts) / sum(self.counts)

    @property
    def variance(self) -> float:
        """What it costs to say the mean, whatever the number is."""
        mean = self.masses @ self.points
        return float(self.masses @ (self.points - mean) ** 2)


class Noise(NamedTuple):
    """Laplace noise of one scale on the numbers of a prior."""

    world: World
    scale: float
    bounded: bool = True
    """Whether it is renormalised on [l, u]; otherwise it is clamped to it."""

    @property
    def error(self) -> float:
        """The paper's utility, E (Y - X)^2, in closed form (003 eq. (18), (19))."""
        return formulas.mean_error(
            self.world.points, self.world.masses, self.scale, LOW, HIGH, bounded=self.bounded
        )

    @property
    def leakage(self) -> float:
        """The smallest ε for which it is ε-LIP, before it is cut into cells."""
        points, masses = self.world.points, self.world.masses
        if self.bounded:
            return max(formulas.leakage(points, masses, self.scale, LOW, HIGH))
        return max(formulas.clamped_leakage(points, masses, self.scale))


class Budget:
    """Everything that is compared for one prior at one ε."""

    def __init__(self, world: World, epsilon: str, bins: int) -> None:
        self.world, self.text, self.bins = world, epsilon, bins
        self.epsilon = float(epsilon)

    @cached_property
    def free(self) -> Noise:
        """The noise of ε-LDP, whatever the prior."""
        return Noise(self.world, formulas.context_free_scale(self.epsilon, HIGH - LOW))

    @cached_property
    def published(self) -> Noise:
        """The noise of the paper's theorem."""
        rarest = float(self.world.masses.min())
        return Noise(self.world, formulas.published_scale(self.epsilon, rarest, HIGH - LOW))

    def smallest(self, *, bounded: bool = True) -> Noise:
        """Return the least noise whose true leakage is within the budget."""
        points, masses = self.world.points, self.world.masses
        return Noise(
            self.world,
            smallest_scale(points, masses, self.epsilon, LOW, HIGH, bounded=bounded),
            bounded,
        )

    def share(self, noise: Noise) -> float:
        """Return the scale of some noise as a share of the context-free one."""
        return noise.scale / self.free.scale

    def proved(self, noise: Noise) -> float:
        """Cut noise into cells, have the exact audit prove its budget, and return its leakage."""
        method = "bounded-laplace" if noise.bounded else "laplace"
        return _worst(
            ll.design(
                self.world.prior,
                ll.LIP(self.text),
                utility="mean",
                method=method,
                scale=noise.scale,
                outputs=self.bins,
            )
        )

    def optimum(self, notion: type[ll.LIP | ll.LDP]) -> tuple[float, float]:
        """Return the least squared error that a notion allows, and its leakage.

        The output is the posterior mean, so this is eq. (18) with outputs anywhere on the line.
        """
        made = ll.design(self.world.prior, notion(self.text), utility="mean")
        assert made.origin is not None
        return made.origin.objective, _worst(made)


def _worst(made: ll.Mechanism) -> float:
    return max(float(value) for value in made.certificate.nats.values())


def of(rule: str, name: str) -> str:
    """Return the name of a curve that belongs to one prior."""
    return f"{rule}, {name}"


def compute(setting: Setting) -> Iterator[Point]:
    """Compute every panel."""
    budgets = sorted(setting.choose(full=(*_FULL, *_JUMPS), quick=_QUICK), key=float)
    bins = setting.choose(full=_BINS, quick=_FEW_BINS)
    for epsilon in setting.each(budgets, "budgets"):
        for name, counts in PRIORS.items():
            yield from _paper_prior(Budget(World(name, counts), epsilon, bins))
        yield from _our_prior(Budget(World(PEAKED, PEAKED_COUNTS), epsilon, bins))
        yield Point("leakage", BUDGET, float(epsilon), float(epsilon))


def _paper_prior(at: Budget) -> Iterator[Point]:
    name, epsilon = at.world.name, at.epsilon
    if name == "P1":  # the noise is the same for every prior, and so is its error for these three
        yield Point("error", FREE, epsilon, at.free.error, None, at.free.leakage, epsilon)
        yield Point("scale", FREE, epsilon, 1.0)
    found = at.published
    yield Point("error", of(PUBLISHED, name), epsilon, found.error, None, found.leakage, epsilon)
    yield Point("scale", of(PUBLISHED, name), epsilon, at.share(found))
    yield Point("leakage", of(PUBLISHED, name), epsilon, found.leakage)

    smallest, clamped = at.smallest(), at.smallest(bounded=False)
    proved = at.proved(smallest)
    share = at.share(smallest)
    yield Point("scale", of(SMALLEST, name), epsilon, share, None, proved, epsilon)
    rows = {
        FREE: (at.free.error, at.free.leakage),
        of(PUBLISHED, name): (found.error, found.leakage),
        of(SMALLEST, name): (smallest.error, proved),
        CLAMPED: (clamped.error, at.proved(clamped)),
        LDP_OPTIMUM: at.optimum(ll.LDP),
        OPTIMUM: at.optimum(ll.LIP),
        NOTHING: (at.world.variance, 0.0),
    }
    for curve, (error, leakage) in rows.items():
        yield Point(name, curve, epsilon, error, None, leakage, epsilon)


def _our_prior(at: Budget) -> Iterator[Point]:
    name, epsilon = at.world.name, at.epsilon
    smallest = at.smallest()
    proved = at.proved(smallest)
    share = at.share(smallest)
    yield Point("scale", of(PUBLISHED, name), epsilon, at.share(at.published))
    yield Point("scale", of(SMALLEST, name), epsilon, share, None, proved, epsilon)
