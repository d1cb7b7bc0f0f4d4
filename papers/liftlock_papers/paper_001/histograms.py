"""001 Fig. 7: a histogram of twenty values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import liftlock as ll
from liftlock_papers.paper_001.names import (
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    STAIRCASE,
    UNARY,
)
from liftlock_papers.paper_001.releases import (
    error_of,
    grid,
    optimum,
    point,
    published,
    response,
    staircase,
    unary,
)
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

VALUES = 20

UNARY_PRINTED = "LDP at ε, unary encoding, formula as printed"


def unary_as_printed(epsilon: float) -> float:
    """Return 4 E/(E - 1)^2 per person, which is the error of one symbol that nobody has."""
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


def trade_offs(setting: Setting) -> Iterator[Point]:
    """Compute the root of the error of the whole histogram per person, against the budget."""
    budgets = setting.choose(
        full=grid("1/2", "10", "1/2"), quick=tuple(map(Fraction, ("2", "3", "4", "6", "10")))
    )
    prior = ll.Prior.uniform(range(VALUES))
    for epsilon in setting.each(budgets, "budgets"):
        x, half = float(epsilon), epsilon / 2
        yield Point("a", UNARY_PRINTED, x, math.sqrt(unary_as_printed(x)))
        error = error_of(unary(prior, epsilon), "histogram", "unbiased")
        yield Point("a", UNARY, x, math.sqrt(error), budget=x)
        ldp = response(prior, epsilon, "histogram")
        yield point("a", RESPONSE, x, ldp, "histogram", epsilon)
        best = staircase(prior, epsilon, "histogram")
        yield point("a", STAIRCASE, x, best, "histogram", epsilon)
        yield point("a", PUBLISHED, x, published(prior, epsilon), "histogram", epsilon)
        yield point("a", PUBLISHED_HALF, x, published(prior, half), "histogram", half)
        yield point("a", OPTIMUM, x, optimum(prior, epsilon, "histogram"), "histogram", epsilon)
        yield point("a", OPTIMUM_HALF, x, optimum(prior, half, "histogram"), "histogram", half)
        yield Point("a", NOTHING, x, math.sqrt(1 - 1 / VALUES))
