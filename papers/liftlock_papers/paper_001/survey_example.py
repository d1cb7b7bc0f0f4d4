"""001 Example 1 and Fig. 2: a hundred people are asked about an illness that one in ten has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from liftlock_papers.paper_001.names import NOTHING, OPTIMUM, PUBLISHED, RESPONSE, UNARY, UNAWARE
from liftlock_papers.paper_001.releases import (
    bit,
    error_of,
    grid,
    leakage_of,
    optimum,
    published,
    response,
    unary,
)
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

PEOPLE = 100
SHARE = Fraction(1, 10)

LDP_PRINTED = "LDP, printed formula"
UNARY_PRINTED = "Opt-LDP, printed formula"
LIP_PRINTED = "LIP, printed formula"


def ldp_as_printed(epsilon: float) -> float:
    """Return 100 E/(E + 1)^2; with (E - 1)^2 below the line it would be right."""
    return PEOPLE * math.exp(epsilon) / (math.exp(epsilon) + 1) ** 2


def unary_as_printed(epsilon: float) -> float:
    """Return 25/(1/2 - E/2)^2, for a q = 1 - E/2 that is no probability beyond ln 2."""
    return 25 / (0.5 - math.exp(epsilon) / 2) ** 2


def lip_as_printed(epsilon: float) -> float:
    """Return (10 E - 1)/0.64, which grows with the budget."""
    return (10 * math.exp(epsilon) - 1) / 0.64


def errors(setting: Setting) -> Iterator[Point]:
    """Compute the squared error of the number of the ill, by every way of the example."""
    prior = bit(SHARE)
    budgets = setting.choose(
        full=grid("1/2", "5", "1/4"), quick=tuple(map(Fraction, ("1/2", "1", "2", "3", "5")))
    )
    for epsilon in setting.each(budgets, "Example 1"):
        x = float(epsilon)
        yield Point("a", LDP_PRINTED, x, ldp_as_printed(x))
        yield Point("a", UNARY_PRINTED, x, unary_as_printed(x))
        yield Point("a", LIP_PRINTED, x, lip_as_printed(x))
        made = response(prior, epsilon, "mean")
        yield Point("b", UNAWARE, x, PEOPLE * error_of(made, "mean", "unbiased"))
        yield Point("b", RESPONSE, x, PEOPLE * error_of(made, "mean"))
        # One bit of the code is the survey; the other is of no use to it.
        bits = unary(prior, epsilon).expected_error(1, "histogram", method="unbiased")
        yield Point("b", UNARY, x, PEOPLE * bits.errors[bits.names.index(1)] ** 2)
        for curve, made in (
            (PUBLISHED, published(prior, epsilon)),
            (OPTIMUM, optimum(prior, epsilon, "mean")),
        ):
            y = PEOPLE * error_of(made, "mean")
            yield Point("b", curve, x, y, leakage=leakage_of(made), budget=x)
        yield Point("b", NOTHING, x, float(PEOPLE * SHARE * (1 - SHARE)))
