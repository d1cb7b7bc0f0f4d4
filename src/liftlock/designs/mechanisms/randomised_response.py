"""Randomised response: what the same budget buys under local differential privacy.

The truth with probability E / (E + d - 1), any other of d values with 1 / (E + d - 1). The profile
plays no part: what is within a factor E for any two values is so for any two profiles.
"""

from __future__ import annotations

import numpy as np

from liftlock._solver.profile_problem import ProfileProblem, response
from liftlock.designs.base import Design, Draft, draft_of_blocks
from liftlock.exact.integers import Floats
from liftlock.notions.base import Notion
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.profile_utility import ProfileUtility

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
    *,
    utility: ProfileUtility | None = None,  # noqa: ARG001
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
    return draft_of_blocks(problem, blocks, DESIGN.key, remarks=(told, _ANY_PROFILES))


DESIGN = Design(
    key="randomised-response",
    make=randomised_response,
    says="k-ary randomised response (Warner for two values), whatever the profiles",
    promises="nothing beyond LDP; a baseline that every other design here should beat",
    source="004 Thm 9",
    notions=("profile",),
    contexts=("profiles",),
    prior_free=True,
)
