"""Cluster: one probability of answering at random for each connected part of the graph.

For one bit it is the One Bit Cluster mechanism: the flipping probability of its costliest edge.
Every value is kept, or with probability s replaced by one drawn evenly from all. An edge (i, j)
asks of every value y

    (1 - s) P_i(y) + s/m <= E ((1 - s) P_j(y) + s/m),   so   s >= d / (d + (E - 1)/m)

with d = max_y (P_i(y) - E P_j(y)), either way, if that is positive. With m = 2 and s = 2 alpha it
is alpha = d / (2d + E - 1), the closed form of the two-profile mechanism.
"""

from __future__ import annotations

import numpy as np

from liftlock.designs.draft import Draft
from liftlock.designs.profiles.setting import Setting, response
from liftlock.designs.registry import Design
from liftlock.exact.integers import Floats
from liftlock.notions.base import Notion
from liftlock.profile_graph import ProfileGraph
from liftlock.utility.profile_utility import ProfileUtility

_ROUNDING = 2.0**-51
"""By how much locking may move a probability: small ones would lose the promise to it."""


def edge_noise(first: Floats, second: Floats, ratio: float, rounding: float = 0.0) -> Floats:
    """Return the least s that makes pairs of distributions (rows) indistinguishable.

    They stay so if afterwards every probability is moved by `rounding`, either way.

    Source: 004 eq. (4), Obs 10 with numerators clipped at 0.

    >>> bits = np.array([[0.2, 0.8]]), np.array([[0.1, 0.9]])
    >>> (edge_noise(*bits, np.exp(0.5)) / 2).round(4).tolist()  # the flipping probability
    [0.0489]
    """
    apart = np.maximum(first - ratio * second, second - ratio * first)
    # Probabilities that are the same are moved alike.
    excess = np.where(first != second, apart, -np.inf).max(axis=1)
    needed = excess + rounding * (1.0 + ratio)
    room = np.maximum(excess + (ratio - 1.0) / first.shape[1], needed)
    noise: Floats = np.divide(needed, room, out=np.zeros_like(excess), where=needed > 0)
    return noise


def part_noise(setting: Setting, released: Floats) -> Floats:
    """Return for each profile the s that the costliest edge of its part needs.

    `released` are the distributions to be kept apart: those of the data, or of an output that
    breaks the budget.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9", "0.5"], [("0.8", "0.9")])
    >>> part_noise(Setting.of(graph, ProfilePrivacy("0.5")), graph.laws).round(4).tolist()
    [0.0977, 0.0977, 0.0]
    """
    parts = setting.graph.components
    worst = np.zeros(len(parts))
    part_of = np.empty(len(setting.graph), dtype=np.intp)
    for number, part in enumerate(parts):
        part_of[list(part)] = number
    if len(setting.edges):
        first, second = setting.edges.T
        rounding = _ROUNDING if setting.ratio > 1.0 else 0.0
        needed = edge_noise(released[first], released[second], setting.ratio, rounding)
        np.maximum.at(worst, part_of[first], needed)
    noise: Floats = worst[part_of]
    return noise


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
    setting = Setting.of(graph, notion)
    noise = part_noise(setting, setting.laws)
    if len(graph.components) == 1 and (setting.laws > 0).all():
        noise = noise[:1]
    return setting.draft(response(setting.values, noise), DESIGN.key)


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
