"""Single bit: two profiles of one bit, and one flipping probability in closed form.

    alpha = d / (2d + E - 1),   d = max{0, p_j - E p_i, (1 - p_i) - E (1 - p_j)}   for p_i <= p_j

Nothing is flipped if the two are near enough as they are; p = 0 and 1 need Warner's 1 / (1 + E).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

import numpy as np

from liftlock._solver.optimality import Optimality
from liftlock._solver.profile_problem import ProfileProblem, response
from liftlock.designs.base import Design, Draft, draft_of_blocks
from liftlock.errors import InputError, NumberError
from liftlock.notions.base import Notion
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.profile_utility import ProfileUtility

Number = TypeVar("Number", float, Fraction)


def single_bit(
    graph: ProfileGraph, notion: Notion, *, utility: ProfileUtility | None = None
) -> Draft:
    """Flip the bit as often as the only edge asks for, whichever the profile.

    Source: 004 eq. (4), Alg 1.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> draft = single_bit(ProfileGraph.bernoulli(["0.8", "0.9"]), ProfilePrivacy("0.5"))
    >>> draft.matrix.round(4).tolist()
    [[0.9511, 0.0489], [0.0489, 0.9511]]
    """
    problem = ProfileProblem.of(graph, notion)
    _refuse_more(graph)
    first, second = (float(law[1]) for law in problem.laws)
    flip = flip_at_ratio(first, second, problem.ratio)
    proved = None
    if utility is not None and utility.name in ("minimax", "hamming"):
        # Both aims cost what is flipped.
        bound = flip_at_ratio(first, second, problem.wide_ratio)
        proved = Optimality(utility.name, flip, bound, utility.of_nothing(problem.laws))
    return draft_of_blocks(
        problem, response(2, np.array([2.0 * flip])), DESIGN.key, optimality=proved
    )


def flip_at_ratio(p: Number, q: Number, ratio: Number) -> Number:
    """Return the least flipping probability for E given as `ratio`; exact for fractions.

    Source: 004 eq. (4), Obs 10 with numerators clipped at 0.

    >>> flip_at_ratio(Fraction(0), Fraction(1), Fraction(3))
    Fraction(1, 4)
    """
    for value in (p, q):
        if not 0 <= value <= 1:
            raise NumberError("not a probability", value=value, remedy="give a number from 0 to 1")
    low, high = min(p, q), max(p, q)
    excess = max(0 * ratio, high - ratio * low, (1 - low) - ratio * (1 - high))
    return excess / (2 * excess + ratio - 1) if excess else excess


def _refuse_more(graph: ProfileGraph) -> None:
    if len(graph.inputs) != 2:
        raise InputError(
            "single-bit is for two values",
            value=graph.describe(),
            remedy="use smooth-categorical or cluster",
        )
    if len(graph) != 2 or len(graph.edges) != 1:
        raise InputError(
            "single-bit is for two profiles that an edge joins",
            value=graph.describe(),
            remedy="use smooth-one-bit or cluster",
        )


DESIGN = Design(
    key="single-bit",
    make=single_bit,
    says="two profiles of one bit: one flipping probability in closed form",
    promises="the least of all that flip every bit alike, at most half of the time",
    source="004 eq. (4), Alg 1",
    notions=("profile",),
    contexts=("profiles",),
    needs="two profiles, two values, one edge",
    fits=lambda graph: len(graph.inputs) == len(graph) == 2 and len(graph.edges) == 1,
    uses_utility=True,
    kind="with one flip of at most 1/2 for both profiles",
)
