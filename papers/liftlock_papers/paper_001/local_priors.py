"""001 Fig. 8: a survey among users who each have a prior of their own, simulated and exact.

Priors are uniform on [0, 1], cut to the middles of equal cells, so that every mechanism that is
used is one the library has certified, and users who share a prior can be simulated by their counts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import liftlock as ll
from liftlock_papers.paper_001.names import (
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
)
from liftlock_papers.paper_001.releases import (
    bit,
    grid,
    leakage_of,
    optimum,
    published,
    response,
)
from liftlock_papers.paper_001.trusted_curator import curator_points
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

SIZES = (5, 500, 50_000)


@dataclass(frozen=True)
class Users:
    """How many users have each prior."""

    shares: tuple[Fraction, ...]
    numbers: tuple[int, ...]

    @property
    def people(self) -> int:
        """All users."""
        return sum(self.numbers)


@dataclass(frozen=True)
class Flips:
    """A mechanism for one bit: how often a 0 becomes a 1, a 1 a 0, and what it truly leaks."""

    zero: float
    one: float
    leakage: float

    @classmethod
    def of(cls, made: ll.Mechanism) -> Flips:
        """Read the two probabilities from the table that was certified."""
        table = made.table
        rows, zero, one = table.floats(), table.inputs.index(0), table.inputs.index(1)
        said = {label: table.outputs.index(label) for label in (0, 1)}
        return cls(float(rows[zero, said[1]]), float(rows[one, said[0]]), leakage_of(made))

    def mirrored(self) -> Flips:
        """Exchange the names of 0 and 1."""
        return Flips(self.one, self.zero, self.leakage)

    def beliefs(self, share: float) -> tuple[float, float]:
        """Return P(X = 1 | Y = 0) and P(X = 1 | Y = 1)."""
        silent = share * self.one
        said = share * (1 - self.one)
        return (
            silent / (silent + (1 - share) * (1 - self.zero)),
            said / (said + (1 - share) * self.zero),
        )

    def error(self, share: float) -> float:
        """Return the squared error of the posterior mean, 001 eq. (18)."""
        low, high = self.beliefs(share)
        silent = share * self.one + (1 - share) * (1 - self.zero)
        return silent * low * (1 - low) + (1 - silent) * high * (1 - high)


def draw_users(setting: Setting, people: int) -> Users:
    """Draw a prior for each user: the middles of equal cells of [0, 1], each as likely."""
    cells = setting.choose(full=256, quick=16)
    drawn = setting.rng("001-fig8", people).integers(0, cells, people)
    found, numbers = np.unique(drawn, return_counts=True)
    return Users(
        tuple(Fraction(2 * int(cell) + 1, 2 * cells) for cell in found),
        tuple(int(number) for number in numbers),
    )


@functools.cache
def flips(curve: str, share: Fraction, epsilon: Fraction) -> Flips:
    """Return the mechanism of a curve for one prior; a likely 1 is a rare 0."""
    if share > Fraction(1, 2):
        return flips(curve, 1 - share, epsilon).mirrored()
    if curve == RESPONSE:
        return _response(epsilon)
    if curve in (PUBLISHED, PUBLISHED_HALF):
        return _published(share, _budget(curve, epsilon))
    return _optimum(share, _budget(curve, epsilon))


@functools.cache
def _response(epsilon: Fraction) -> Flips:
    return Flips.of(response(bit(Fraction(1, 2)), epsilon, "mean"))


@functools.cache
def _published(share: Fraction, epsilon: Fraction) -> Flips:
    return Flips.of(published(bit(share), epsilon))


@functools.cache
def _optimum(share: Fraction, epsilon: Fraction) -> Flips:
    return Flips.of(optimum(bit(share), epsilon, "mean"))


def _budget(curve: str, epsilon: Fraction) -> Fraction:
    return epsilon / 2 if curve in (PUBLISHED_HALF, OPTIMUM_HALF) else epsilon


CURVES = (RESPONSE, PUBLISHED, PUBLISHED_HALF, OPTIMUM, OPTIMUM_HALF)
SIMULATED = (RESPONSE, PUBLISHED, PUBLISHED_HALF, OPTIMUM)


def simulated(curve: str) -> str:
    """Return the name of the curve of simulated means."""
    return f"{curve}, simulated"


def trade_offs(setting: Setting) -> Iterator[Point]:
    """Compute exact and simulated errors for each number of users, and a curator's."""
    budgets = setting.choose(full=grid("1/2", "5", "1/2"), quick=grid("1", "5", "2"))
    runs = setting.choose(full=10_000, quick=300)
    for people in SIZES:
        users = draw_users(setting, people)
        panel = str(people)
        shares = np.array([float(share) for share in users.shares])
        numbers = np.array(users.numbers)
        for epsilon in setting.each(budgets, f"{people:,} users"):
            x = float(epsilon)
            for curve in CURVES:
                used = [flips(curve, share, epsilon) for share in users.shares]
                errors = [each.error(share) for each, share in zip(used, shares, strict=True)]
                yield Point(
                    panel,
                    curve,
                    x,
                    math.sqrt(float(numbers @ np.array(errors)) / people),
                    leakage=max(each.leakage for each in used),
                    budget=float(_budget(curve, epsilon)),
                )
                if curve in SIMULATED:
                    rng = setting.rng("001-fig8", people, curve, str(epsilon))
                    squared = simulate(users, used, runs, rng) / people
                    mean = float(squared.mean())
                    width = 1.96 * float(squared.std(ddof=1)) / math.sqrt(runs)
                    root = math.sqrt(mean)
                    yield Point(panel, simulated(curve), x, root, error=width / (2 * root))
        yield from curator_points(panel, users.shares, users.numbers, budgets)


def simulate(users: Users, used: list[Flips], runs: int, rng: np.random.Generator) -> Floats:
    """Return the squared error of the estimated count in each run; data are drawn anew."""
    off = np.zeros(runs)
    for share, number, each in zip(users.shares, users.numbers, used, strict=True):
        ones = rng.binomial(number, float(share), runs)
        lost = rng.binomial(ones, each.one)
        gained = rng.binomial(number - ones, each.zero)
        said = ones - lost + gained
        low, high = each.beliefs(float(share))
        off += ones - said * high - (number - said) * low
    found: Floats = off**2
    return found
