"""001 Fig. 9b: a histogram of where users checked in last, with a prior from where they were."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import liftlock as ll
from liftlock_papers.data.gowalla import read_check_ins
from liftlock_papers.paper_001.names import (
    MERGED,
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    UNARY,
)
from liftlock_papers.paper_001.releases import (
    error_of,
    error_on,
    grid,
    leakage_of,
    merged_response,
    optimum,
    point,
    published,
    response,
    unary,
)
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

DISTRICTS = 36
"""Along each side of the map."""

TWENTY, EVEN = "twenty even values", "as many even values"
"""Panels for comparison, not drawn."""

COMPARED = Fraction(4)
"""The budget at which they are compared."""

FACTS = ("districts with a past", "users", "districts with a last check-in")


def trade_offs(setting: Setting) -> Iterator[Point]:
    """Compute the error that the prior expects, and the error on the last check-ins themselves."""
    found = read_check_ins(setting.data, DISTRICTS)
    cells = sorted({*found.past, *found.last})
    for name, number in zip(FACTS, (len(found.past), found.users, len(found.last)), strict=True):
        yield Point("data", name, 0, number)
    prior = ll.Prior.from_counts({str(cell): found.past.get(cell, 0) for cell in cells})
    masses = prior.floats()
    last = np.array([found.last.get(cell, 0) for cell in cells], dtype=np.float64)
    everything = list(range(len(cells)))
    users = float(found.users)
    nothing = {
        "a": 1 - float((masses**2).sum()),
        "b": float(((last - users * masses) ** 2).sum()) / users,
    }
    budgets = setting.choose(full=grid("1/2", "8", "1/2"), quick=tuple(map(Fraction, ("2", "4"))))
    gap = setting.choose(full=1e-6, quick=1e-2)

    @functools.cache
    def best(budget: Fraction) -> ll.Mechanism:
        return optimum(prior, budget, "histogram", gap)

    for epsilon in setting.each(budgets, "budgets"):
        x, half = float(epsilon), epsilon / 2
        for curve, made, budget in (
            (RESPONSE, response(prior, epsilon, "histogram"), epsilon),
            (MERGED, merged_response(prior, epsilon), epsilon),
            (PUBLISHED, published(prior, epsilon), epsilon),
            (PUBLISHED_HALF, published(prior, half), half),
            (OPTIMUM, best(epsilon), epsilon),
            (OPTIMUM_HALF, best(half), half),
        ):
            leaks = leakage_of(made)
            errors = {
                "a": error_of(made, "histogram"),
                "b": error_on(made, prior, last, everything),
            }
            for panel, error in errors.items():
                yield Point(panel, curve, x, math.sqrt(error), leakage=leaks, budget=float(budget))
        encoded = unary(prior, epsilon)
        for panel in nothing:
            yield Point(panel, UNARY, x, math.sqrt(error_of(encoded, "histogram", "unbiased")))
            yield Point(panel, NOTHING, x, math.sqrt(nothing[panel]))
    for epsilon in budgets:
        yield from even_prior(TWENTY, 20, epsilon)
    yield from even_prior(EVEN, len(found.past), COMPARED)


def even_prior(panel: str, values: int, epsilon: Fraction) -> Iterator[Point]:
    """Compute the errors of LIP and LDP for an even prior."""
    prior = ll.Prior.uniform(range(values))
    for curve, made in (
        (RESPONSE, response(prior, epsilon, "histogram")),
        (OPTIMUM, optimum(prior, epsilon, "histogram")),
    ):
        yield point(panel, curve, float(epsilon), made, "histogram", epsilon)
