"""Random answers to hide profiles: as often for every value, in closed form.

*Cluster* has one probability of answering at random for each connected part of the graph. Every
value is kept, or with probability s replaced by one drawn evenly from all. An edge (i, j) asks of
every value y

    (1 - s) P_i(y) + s/m <= E ((1 - s) P_j(y) + s/m),   so   s >= d / (d + (E - 1)/m)

with d = max_y (P_i(y) - E P_j(y)), either way, if that is positive. For one bit, with m = 2 and
s = 2 alpha, it is the One Bit Cluster mechanism; with a single edge, *single bit*:

    alpha = d / (2d + E - 1),   d = max{0, p_j - E p_i, (1 - p_i) - E (1 - p_j)}   for p_i <= p_j

Nothing is flipped if the two are near enough as they are; p = 0 and 1 need Warner's 1 / (1 + E).
*Randomised response* is what the same budget buys under local differential privacy: the truth
with probability E / (E + d - 1), any other of d values with 1 / (E + d - 1), whatever the profiles.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

import numpy as np

from liftlock._solver.blocks import part_noise, response
from liftlock._solver.problem import Optimality, ProfileProblem
from liftlock.designs.base import Design, Draft, draft_of_blocks
from liftlock.errors import InputError, NumberError
from liftlock.exact.integers import Floats
from liftlock.model import ProfileGraph
from liftlock.notions.base import Notion
from liftlock.utility.profile_utility import ProfileUtility


def cluster(graph: ProfileGraph, notion: Notion) -> Draft:
    """Answer at random as often as the costliest edge of the part asks for.

    If the graph is connected everybody does the same, so that the profile need not be known, unless
    some value is impossible for a profile: such a value is answered as the profile releases.

    Source: 004 Alg 2, Thm 6.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> draft = cluster(ProfileGraph.bernoulli(["0.8", "0.9"]), ProfilePrivacy("0.5"))
    >>> draft.matrix.round(4).tolist()
    [[0.9511, 0.0489], [0.0489, 0.9511]]
    """
    problem = ProfileProblem.of(graph, notion)
    noise = part_noise(problem, problem.distributions)
    if len(graph.components) == 1 and (problem.distributions > 0).all():
        noise = noise[:1]
    return draft_of_blocks(problem, response(problem.values, noise))


CLUSTER = Design(
    key="cluster",
    make=cluster,
    summary="one probability of a random answer for each connected part, in closed form",
    promises="the least for its costliest edge; more than other edges of the part need",
    source="004 Alg 2, Thm 6",
    notions=("profile",),
    contexts=("profiles",),
    by_profile=True,
)


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
    first, second = (float(distribution[1]) for distribution in problem.distributions)
    flip = flip_at_ratio(first, second, problem.ratio)
    proved = None
    if utility is not None and utility.name in ("minimax", "hamming"):
        # Both aims cost what is flipped.
        bound = flip_at_ratio(first, second, problem.widen().ratio)
        proved = Optimality(
            utility.name, flip, bound, utility.value_of_no_release(problem.distributions)
        )
    return draft_of_blocks(problem, response(2, np.array([2.0 * flip])), optimality=proved)


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


SINGLE_BIT = Design(
    key="single-bit",
    make=single_bit,
    summary="two profiles of one bit: one flipping probability in closed form",
    promises="the least of all that flip every bit alike, at most half of the time",
    source="004 eq. (4), Alg 1",
    notions=("profile",),
    contexts=("profiles",),
    needs="two profiles, two values, one edge",
    fits=lambda graph: len(graph.inputs) == len(graph) == 2 and len(graph.edges) == 1,
    uses_utility=True,
    kind="with one flip of at most 1/2 for both profiles",
)


_ANY_PROFILES = (
    "the budget is spent on telling values apart, under any profiles; what these profiles lose of "
    "it is in the certificate"
)


def response_at(problem: ProfileProblem) -> Floats:
    """Return randomised response as one block."""
    noise = problem.values / (problem.ratio + problem.values - 1.0)
    return response(problem.values, np.array([noise]))


def randomised_response(
    graph: ProfileGraph,
    notion: Notion,
) -> Draft:
    """Tell the truth, or any other value with equal probability, as LDP with the budget allows.

    Source: 004 Thm 9.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    >>> randomised_response(graph, ProfilePrivacy("ln 3")).matrix.round(4).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    problem = ProfileProblem.of(graph, notion)
    blocks = response_at(problem)
    told = f"the truth is told with probability {blocks[0, 0, 0]:.6g}"
    return draft_of_blocks(problem, blocks, remarks=(told, _ANY_PROFILES))


RANDOMISED_RESPONSE = Design(
    key="randomised-response",
    make=randomised_response,
    summary="k-ary randomised response (Warner for two values), whatever the profiles",
    promises="nothing beyond LDP; a baseline that every other design here should beat",
    source="004 Thm 9",
    notions=("profile",),
    contexts=("profiles",),
    prior_free=True,
)
