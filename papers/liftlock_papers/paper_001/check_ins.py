"""001 Fig. 9b: a histogram of where users checked in last, with a prior from where they were."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import liftlock as ll
from liftlock_papers.data.gowalla import CheckIns, read_check_ins
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
    published,
    response,
    unary,
)
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

DISTRICTS = 36
"""Along each side of the map."""

HERE = "districts of Gowalla"
TWENTY = "20 values, even prior, as in Fig. 7"
EVEN = "as many even values as districts"
"""Curves of how much of the error LIP saves."""

PAST, LAST = "earlier check-ins: the prior", "last check-ins"
"""Curves of the districts, the most likely first."""


def trade_offs(setting: Setting) -> Iterator[Point]:
    """Compute the error the prior expects, that on the last check-ins, and both distributions."""
    found = read_check_ins(setting.data, DISTRICTS)
    if found.left_out:
        setting.notes.append(f"{found.left_out:,} check-ins lie nowhere on earth and are left out")
    earlier = sum(found.past.values())
    setting.notes.append(f"the file has {found.users:,} users with {earlier:,} earlier check-ins")
    cells = sorted({*found.past, *found.last})
    prior = ll.Prior.from_counts({str(cell): found.past.get(cell, 0) for cell in cells})
    masses = prior.floats()
    last = np.array([found.last.get(cell, 0) for cell in cells], dtype=np.float64)
    everything = list(range(len(cells)))
    users = float(found.users)
    nothing = {
        "a": 1 - float((masses**2).sum()),
        "b": float(((last - users * masses) ** 2).sum()) / users,
    }
    budgets = setting.choose(full=grid("1/2", "8", "1/2"), quick=tuple(map(Fraction, ("2", "5"))))
    gap = setting.choose(full=1e-6, quick=1e-2)

    @functools.cache
    def best(budget: Fraction) -> ll.Mechanism:
        return optimum(prior, budget, "histogram", gap)

    for epsilon in setting.each(budgets, "budgets"):
        x, half = float(epsilon), epsilon / 2
        errors_of: dict[str, float] = {}
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
            errors_of[curve] = math.sqrt(errors["a"])
            for panel, error in errors.items():
                yield Point(panel, curve, x, math.sqrt(error), leakage=leaks, budget=float(budget))
        encoded = unary(prior, epsilon)
        for panel in nothing:
            yield Point(panel, UNARY, x, math.sqrt(error_of(encoded, "histogram", "unbiased")))
            yield Point(panel, NOTHING, x, math.sqrt(nothing[panel]))
        saved = 1 - errors_of[OPTIMUM] / errors_of[RESPONSE]
        yield Point("c", HERE, x, saved)
        for curve, size in ((TWENTY, 20), (EVEN, len(found.past))):
            yield Point("c", curve, x, saved_with_even_prior(size, epsilon, gap))
    yield from shares(found)


def saved_with_even_prior(values: int, epsilon: Fraction, gap: float) -> float:
    """Return the share of the error of k-ary response that LIP saves, with an even prior."""
    prior = ll.Prior.uniform(range(values))
    ours, theirs = (
        error_of(made, "histogram")
        for made in (
            optimum(prior, epsilon, "histogram", gap),
            response(prior, epsilon, "histogram"),
        )
    )
    return 1 - math.sqrt(ours / theirs)


def shares(found: CheckIns) -> Iterator[Point]:
    """Yield the share of every district that occurs, in the past and at the last check-ins."""
    before = sum(found.past.values())
    for rank, cell in enumerate(sorted(found.past, key=lambda at: (-found.past[at], at)), 1):
        yield Point("d", PAST, rank, found.past[cell] / before)
        if cell in found.last:
            yield Point("d", LAST, rank, found.last[cell] / found.users)
