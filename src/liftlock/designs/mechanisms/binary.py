"""Two symbols: the optimum in closed form, the same one for every utility."""

from __future__ import annotations

import numpy as np

from liftlock._solver.problem import Problem
from liftlock._solver.two_values import least_flips
from liftlock.alphabet import Alphabet
from liftlock.contexts import Context
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft, few_outputs
from liftlock.errors import NotDefined
from liftlock.notions.base import Notion


def binary(context: Context, notion: Notion) -> Draft:
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
    >>> from liftlock.contexts import Prior
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
        remarks=["every other channel that keeps the budget is this one with more noise"],
    )


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
