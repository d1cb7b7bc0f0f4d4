"""001 Fig. 7: a histogram of twenty values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

import liftlock as ll
from liftlock_papers.paper_001.names import (
    MERGED,
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
    merged_response,
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

UNARY_PRINTED = "LDP unary encoding, printed formula"


def unary_as_printed(epsilon: float) -> float:
    """Return 4 E/(E - 1)^2 per person, which is the error of one symbol that nobody has."""
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


def trade_offs(setting: Setting) -> Iterator[Point]:
    """Compute the root of the error of the whole histogram per person, against the budget."""
    budgets = setting.choose(
        full=grid("1/2", "10", "1/2"), quick=tuple(map(Fraction, ("2", "4", "6", "10")))
    )
    gap = setting.choose(full=1e-6, quick=1e-3)
    yield from of_prior("a", even_prior(), setting.each(budgets, "even prior"), gap)
    yield from of_prior("b", skewed_prior(), setting.each(budgets, "skewed prior"), gap)


def even_prior() -> ll.Prior:
    """Return the same chance for every value."""
    return ll.Prior.uniform(range(VALUES))


def skewed_prior() -> ll.Prior:
    """Return a prior by Zipf's distribution: value k has a mass in proportion to 1/k."""
    masses = [Fraction(1, k) for k in range(1, VALUES + 1)]
    return ll.Prior.from_probabilities({k: mass / sum(masses) for k, mass in enumerate(masses)})


def of_prior(
    panel: str, prior: ll.Prior, budgets: Iterable[Fraction], gap: float
) -> Iterator[Point]:
    """Compute every curve for one prior."""
    nothing = 1 - float((prior.floats() ** 2).sum())
    for epsilon in budgets:
        x, half = float(epsilon), epsilon / 2
        yield Point(panel, UNARY_PRINTED, x, math.sqrt(unary_as_printed(x)))
        error = error_of(unary(prior, epsilon), "histogram", "unbiased")
        yield Point(panel, UNARY, x, math.sqrt(error))
        ldp = response(prior, epsilon, "histogram")
        yield point(panel, RESPONSE, x, ldp, "histogram", epsilon)
        if panel == "a":
            best = staircase(prior, epsilon, "histogram")
            yield point(panel, STAIRCASE, x, best, "histogram", epsilon)
        else:
            # The search for the best takes minutes; this one is never worse than the response.
            yield point(panel, MERGED, x, merged_response(prior, epsilon), "histogram", epsilon)
        yield point(panel, PUBLISHED, x, published(prior, epsilon), "histogram", epsilon)
        yield point(panel, PUBLISHED_HALF, x, published(prior, half), "histogram", half)
        yield point(
            panel, OPTIMUM, x, optimum(prior, epsilon, "histogram", gap), "histogram", epsilon
        )
        yield point(
            panel, OPTIMUM_HALF, x, optimum(prior, half, "histogram", gap), "histogram", half
        )
        yield Point(panel, NOTHING, x, math.sqrt(nothing))
