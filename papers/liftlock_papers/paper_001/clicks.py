"""001 Fig. 9a: which pages of a news portal are popular; each page is a user with one bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from liftlock_papers.data.kosarak import Clicks, read_clicks
from liftlock_papers.paper_001.names import (
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
)
from liftlock_papers.paper_001.releases import (
    bit,
    error_of,
    error_on,
    grid,
    leakage_of,
    optimum,
    published,
    response,
)
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

POPULAR = 15_000
"""A page with more clicks is popular."""

PAGES = "pages with so many clicks or more"


def trade_offs(setting: Setting) -> Iterator[Point]:
    """Compute the error that the prior expects, the error on the pages, and the pages."""
    clicks = read_clicks(setting.data)
    popular = clicks.above(POPULAR)
    if clicks.complete_from > 1:
        setting.notes.append(
            f"the list names {len(clicks.totals):,} pages, those with {clicks.complete_from:,} "
            f"clicks or more; that there are {clicks.pages:,} in all is not counted here"
        )
    share = Fraction(popular, clicks.pages)
    prior = bit(share)
    pages = np.array([clicks.pages - popular, popular], dtype=np.float64)
    budgets = setting.choose(full=grid("1/2", "10", "1/2"), quick=grid("1", "10", "3"))
    for epsilon in setting.each(budgets, "budgets"):
        half = epsilon / 2
        for curve, made, budget in (
            (RESPONSE, response(prior, epsilon, "mean"), epsilon),
            (PUBLISHED, published(prior, epsilon), epsilon),
            (PUBLISHED_HALF, published(prior, half), half),
            (OPTIMUM, optimum(prior, epsilon, "mean"), epsilon),
            (OPTIMUM_HALF, optimum(prior, half, "mean"), half),
        ):
            leaks = leakage_of(made)
            errors = {"a": error_of(made, "mean"), "b": error_on(made, prior, pages, [1])}
            for panel, error in errors.items():
                y = math.sqrt(max(error, 0.0))
                yield Point(panel, curve, float(epsilon), y, leakage=leaks, budget=float(budget))
        yield Point("a", NOTHING, float(epsilon), math.sqrt(share * (1 - share)))
        yield Point("b", NOTHING, float(epsilon), 0.0)
    yield from popularity(clicks)


def popularity(clicks: Clicks) -> Iterator[Point]:
    """Count the pages with so many clicks or more, as far down as they were counted."""
    steps = np.geomspace(clicks.complete_from, max(clicks.totals.values()), 40).astype(int)
    for least in sorted({*steps.tolist(), POPULAR + 1}):
        yield Point("c", PAGES, least, clicks.above(least - 1))
