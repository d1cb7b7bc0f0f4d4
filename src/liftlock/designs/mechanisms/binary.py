"""Two symbols: the optimum in closed form, the same one for every utility."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liftlock._solver.problem import Problem
from liftlock.alphabet import Alphabet
from liftlock.context import Context, PriorSet, representative
from liftlock.designs.draft import Draft
from liftlock.designs.registry import LIFT_NOTIONS, Design, few_outputs
from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats, as_integers
from liftlock.notions.notion import Notion
from liftlock.utility.utility import Utility


class Flips(NamedTuple):
    """A channel of two symbols by its probabilities of a wrong answer."""

    first: Any
    """P(answer is the second symbol | the first is true)."""
    second: Any
    """P(answer is the first symbol | the second is true)."""

    def matrix(self) -> Floats:
        """Return the channel in floats, each entry rounded once if the flips are exact."""
        rows = [[1 - self.first, self.first], [self.second, 1 - self.second]]
        return np.array([[float(entry) for entry in row] for row in rows])


def binary(context: Context, notion: Notion, *, utility: Utility | None = None) -> Draft:  # noqa: ARG001
    """Answer one of two symbols with the least noise that the notion allows.

    Let a <= P(second) <= b over the context (a = b for one prior), lifts in [L, U]. The answer
    "second" may have a likelihood ratio q(first) / q(second) of s0 or more, the answer "first" one
    of q(second) / q(first) of s1 or more:

        s0 = max( L b / (1 - L (1 - b)),  (1 - U a) / (U (1 - a)) ),
        s1 = max( L (1 - a) / (1 - L a),  (1 - U (1 - b)) / (U b) ),

    and the channel at the corner, where both are equal, is

        q(second | first) = s0 (1 - s1) / (1 - s0 s1),
        q(first | second) = s1 (1 - s0) / (1 - s0 s1).

    Every other channel that the notion allows is this one followed by noise, so it is the best for
    every utility at once. Which term of s0 and s1 is the larger makes the cases: for one prior
    and epsilon-LIP, the published form is right when no symbol is rarer than 1 / (1 + e^epsilon).

    Source: 001 Thm 2, eq. (21) with its condition; 000 section IV-B2 corrected.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> rare = Prior.from_probabilities({"no": "0.9", "yes": "0.1"})
    >>> binary(rare, LIP("1")).matrix.round(6).tolist()
    [[0.782405, 0.217595], [0.268941, 0.731059]]
    """
    problem = Problem.of(context, notion)
    if len(problem.inputs) != 2 or problem.given is not None:
        raise NotDefined(
            f"the method {DESIGN.key}",
            context.describe(),
            "it needs two symbols; use the method optimal",
        )
    flips = least_flips(problem)
    if flips.first + flips.second >= 1:
        outputs, matrix = Alphabet.of(["nothing"]), np.ones((2, 1))
    else:
        outputs, matrix = problem.inputs, flips.matrix()
    return Draft.of(
        problem.inputs,
        outputs,
        matrix,
        method=DESIGN.key,
        remarks=["every other channel that keeps the budget is this one with more noise"],
    )


def least_flips(problem: Problem) -> Flips:
    """Return the least noise that a problem of two symbols allows, exact for its limits in floats.

    In floats 1 - P loses the digits of a P near 1.
    """
    if problem.ratio is not None:
        least = 1 / Fraction(problem.ratio)
        return _corner(least, least)
    low = high = representative(problem.context).fractions[1]
    if isinstance(problem.context, PriorSet):
        low, high = problem.context.mass_range(as_integers([0, 1]))
    upper = Fraction(problem.upper) if math.isfinite(problem.upper) else problem.upper
    return flips_of(low, high, Fraction(problem.lower), upper)


def flips_of(low: Any, high: Any, lower: Any, upper: Any) -> Flips:
    """Return the least noise for P(second) in [low, high] and lifts in [lower, upper].

    Fractions give fractions, floats give floats.

    >>> [round(flip, 12) for flip in flips_of(0.5, 0.5, 0.5, 2.0)]
    [0.25, 0.25]
    """
    return _corner(
        _least_ratio(low, high, lower, upper), _least_ratio(1 - high, 1 - low, lower, upper)
    )


def _least_ratio(low: Any, high: Any, lower: Any, upper: Any) -> Any:
    """Return how small q(other) / q(own) may be for the answer whose symbol has P in [low, high].

    With r = q(other) / q(own) the lifts are 1 / (P + (1 - P) r) and r / (P + (1 - P) r): the first
    is largest at the smallest P, the second smallest at the largest P.
    """
    floor = lower * high / (1 - lower * (1 - high)) if lower > 0 else 0
    if upper == math.inf or low >= 1:
        return floor
    return max(floor, (1 - upper * low) / (upper * (1 - low)))


def _corner(second: Any, first: Any) -> Flips:
    """Return the channel at which both ratios are as small as they may be."""
    if second >= 1 or first >= 1:
        return Flips(0.5, 0.5)
    both = 1 - second * first
    return Flips(second * (1 - first) / both, first * (1 - second) / both)


DESIGN = Design(
    key="binary",
    make=binary,
    says="two symbols: the least noise that the notion allows, in closed form",
    promises="optimal for every utility at once: all other channels are this one with more noise",
    source="001 Thm 2, eq. (21) corrected; 000 section IV-B2 corrected",
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=("prior", "family", "intervals", "ball"),
    needs="two symbols",
    memory=few_outputs,
)
