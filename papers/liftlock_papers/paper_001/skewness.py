"""001 Fig. 5: a survey of one bit, with an even and with a skewed prior."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from liftlock_papers.paper_001.names import (
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    UNAWARE,
)
from liftlock_papers.paper_001.releases import (
    bit,
    error_of,
    grid,
    optimum,
    point,
    published,
    response,
)
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

SHARES = {"even": Fraction(1, 2), "nine in ten": Fraction(9, 10), "skewed": Fraction(99, 100)}


def trade_offs(setting: Setting) -> Iterator[Point]:
    """Compute the root of the error per person against the budget, for each prior."""
    budgets = setting.choose(full=grid("1", "5", "1/2"), quick=grid("1", "5", "2"))
    for panel in setting.each(list(SHARES), "priors"):
        yield from of_a_bit(panel, SHARES[panel], budgets)


def of_a_bit(panel: str, share: Fraction, budgets: tuple[Fraction, ...]) -> Iterator[Point]:
    """Compute every curve for one prior."""
    prior = bit(share)
    for epsilon in budgets:
        x, half = float(epsilon), epsilon / 2
        ldp = response(prior, epsilon, "mean")
        yield Point(panel, UNAWARE, x, math.sqrt(error_of(ldp, "mean", "unbiased")))
        yield point(panel, RESPONSE, x, ldp, "mean", epsilon)
        yield point(panel, PUBLISHED, x, published(prior, epsilon), "mean", epsilon)
        yield point(panel, PUBLISHED_HALF, x, published(prior, half), "mean", half)
        yield point(panel, OPTIMUM, x, optimum(prior, epsilon, "mean"), "mean", epsilon)
        yield point(panel, OPTIMUM_HALF, x, optimum(prior, half, "mean"), "mean", half)
        yield Point(panel, NOTHING, x, math.sqrt(share * (1 - share)))
