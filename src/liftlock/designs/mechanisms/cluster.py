"""Cluster: one probability of answering at random for each connected part of the graph.

For one bit it is the One Bit Cluster mechanism: the flipping probability of its costliest edge.
Every value is kept, or with probability s replaced by one drawn evenly from all. An edge (i, j)
asks of every value y

    (1 - s) P_i(y) + s/m <= E ((1 - s) P_j(y) + s/m),   so   s >= d / (d + (E - 1)/m)

with d = max_y (P_i(y) - E P_j(y)), either way, if that is positive. With m = 2 and s = 2 alpha it
is alpha = d / (2d + E - 1), the closed form of the two-profile mechanism.
"""

from __future__ import annotations

from liftlock._solver.profile_problem import ProfileProblem, part_noise, response
from liftlock.designs.base import Design, Draft, draft_of_blocks
from liftlock.notions.base import Notion
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.profile_utility import ProfileUtility


def cluster(graph: ProfileGraph, notion: Notion, *, utility: ProfileUtility | None = None) -> Draft:  # noqa: ARG001
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
    noise = part_noise(problem, problem.laws)
    if len(graph.components) == 1 and (problem.laws > 0).all():
        noise = noise[:1]
    return draft_of_blocks(problem, response(problem.values, noise), DESIGN.key)


DESIGN = Design(
    key="cluster",
    make=cluster,
    says="one probability of a random answer for each connected part, in closed form",
    promises="the least for its costliest edge; more than other edges of the part need",
    source="004 Alg 2, Thm 6",
    notions=("profile",),
    contexts=("profiles",),
    by_profile=True,
)
