"""001 Fig. 6: the sum of numbers of several values, against the budget and against how many."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import liftlock as ll
from liftlock_papers.paper_001.names import (
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    STAIRCASE,
)
from liftlock_papers.paper_001.releases import (
    error_of,
    grid,
    leakage_of,
    optimum,
    published,
    response,
    staircase,
)
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

VALUES = 5
PEOPLE = 500
UNIT = 1 << 16


def both(setting: Setting) -> Iterator[Point]:
    """Compute both panels."""
    yield from against_budget(setting)
    yield from against_domain(setting)


def random_priors(setting: Setting, people: int) -> list[ll.Prior]:
    """Return a prior for each user: uniform numbers, divided by their sum."""
    drawn = setting.rng("001-fig6", "priors").integers(1, UNIT, (people, VALUES))
    return [ll.Prior.from_counts({x: int(n) for x, n in enumerate(row)}) for row in drawn]


def against_budget(setting: Setting) -> Iterator[Point]:
    """Compute panel a: users with random priors on 0..4, each with a mechanism of their own."""
    people = setting.choose(full=PEOPLE, quick=4)
    budgets = setting.choose(full=grid("1", "5", "1/2"), quick=grid("1", "4", "3"))
    totals: dict[tuple[str, Fraction], float] = defaultdict(float)
    leakages: dict[tuple[str, Fraction], float] = defaultdict(float)
    for prior in setting.each(random_priors(setting, people), "users"):
        for epsilon in budgets:
            for curve, (made, _) in mechanisms(prior, epsilon).items():
                totals[curve, epsilon] += error_of(made, "mean")
                leakages[curve, epsilon] = max(leakages[curve, epsilon], leakage_of(made))
            totals[NOTHING, epsilon] += variance(prior)
    for (curve, epsilon), total in totals.items():
        y = math.sqrt(total / people)
        if curve == NOTHING:
            yield Point("a", curve, float(epsilon), y)
            continue
        budget = float(epsilon) / (2 if curve in (PUBLISHED_HALF, OPTIMUM_HALF) else 1)
        yield Point("a", curve, float(epsilon), y, leakage=leakages[curve, epsilon], budget=budget)


def against_domain(setting: Setting) -> Iterator[Point]:
    """Compute panel b: an even prior on 0..d-1 and the budget 1."""
    epsilon = Fraction(1)
    sizes = setting.choose(full=tuple(range(2, 21)), quick=(2, 3, 5, 20))
    for size in setting.each(sizes, "domains"):
        prior = ll.Prior.uniform(range(size))
        for curve, (made, budget) in mechanisms(prior, epsilon).items():
            y = math.sqrt(error_of(made, "mean"))
            yield Point("b", curve, size, y, leakage=leakage_of(made), budget=float(budget))
        yield Point("b", NOTHING, size, math.sqrt(variance(prior)))


def mechanisms(prior: ll.Prior, epsilon: Fraction) -> dict[str, tuple[ll.Mechanism, Fraction]]:
    """Return the mechanism and the budget of each curve."""
    half = epsilon / 2
    return {
        RESPONSE: (response(prior, epsilon, "mean"), epsilon),
        STAIRCASE: (staircase(prior, epsilon, "mean"), epsilon),
        PUBLISHED: (published(prior, epsilon), epsilon),
        PUBLISHED_HALF: (published(prior, half), half),
        OPTIMUM: (_optimum(prior, epsilon), epsilon),
        OPTIMUM_HALF: (_optimum(prior, half), half),
    }


@functools.lru_cache(maxsize=64)
def _optimum(prior: ll.Prior, epsilon: Fraction) -> ll.Mechanism:
    """Return the certified optimum, kept for a while: one budget is half of another."""
    return optimum(prior, epsilon, "mean")


def variance(prior: ll.Prior) -> float:
    """Return the variance of a prior on numbers.

    >>> round(variance(ll.Prior.uniform(range(5))), 9)
    2.0
    """
    numbers, masses = np.array(prior.labels, dtype=np.float64), prior.floats()
    return float(masses @ (numbers - masses @ numbers) ** 2)
