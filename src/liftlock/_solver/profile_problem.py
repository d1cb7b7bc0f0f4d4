"""A graph of profiles and a budget as floats that a solver can read, and blocks of channels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from liftlock._solver.problem import MOST_RATIO
from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, exp
from liftlock.notions.base import Notion
from liftlock.profile_graph import ProfileGraph

_INSIDE = Fraction(10**9 - 1, 10**9)
"""Optima sit on the boundary: solving for a budget smaller by this leaves room for rounding."""

_OUTSIDE = 1.0 + 2e-9
"""The power of the smaller ratio that is at least the true one."""

_MOST_EPSILON = 100.0
"""Beyond this e^epsilon is more than a solver, or a table, can tell from no limit at all."""


_ROUNDING = 2.0**-51
"""By how much locking may move a probability: small ones would lose the promise to it."""


@dataclass(frozen=True)
class ProfileProblem:
    """What a design for profiles must respect, in floats.

    A channel is `blocks` of shape (profiles, values, outputs), or (1, values, outputs) when it
    ignores the profile.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> problem = ProfileProblem.of(ProfileGraph.bernoulli(["0.2", "0.9"]), ProfilePrivacy("ln 2"))
    >>> problem.laws.tolist(), problem.edges.tolist(), round(problem.ratio, 6)
    ([[0.8, 0.2], [0.1, 0.9]], [[0, 1]], 2.0)
    """

    graph: ProfileGraph
    laws: Floats
    edges: npt.NDArray[np.intp]
    ratio: float
    """e^epsilon, by a hair too small."""

    @classmethod
    def of(cls, graph: ProfileGraph, notion: Notion) -> ProfileProblem:
        """Read a graph and a guarantee for its edges."""
        budget = notion.profile_budget
        if budget is None:
            raise NotDefined(
                "designing for profiles", f"the notion {notion.name}", 'use ProfilePrivacy("1")'
            )
        epsilon = min(float(budget), _MOST_EPSILON)
        ratio = min(float(exp(epsilon * float(_INSIDE))), MOST_RATIO)
        return cls(graph, graph.laws, graph.edge_array, ratio)

    @property
    def values(self) -> int:
        """How many values a profile speaks of."""
        return len(self.graph.inputs)

    @property
    def wide_ratio(self) -> float:
        """e^epsilon, by a hair too large: what a bound of the optimum has to be proved for."""
        return float(self.ratio**_OUTSIDE * (1.0 + 8 * np.finfo(float).eps))

    def released(self, blocks: Floats) -> Floats:
        """Return what each profile releases, P_i A^i."""
        if len(blocks) == 1:
            shared: Floats = dot(self.laws, blocks[0])
            return shared
        each: Floats = (self.laws[:, :, None] * blocks).sum(axis=1)
        return each

    def covered(self, blocks: Floats) -> Floats:
        """Let values that a profile calls impossible follow what the profile releases.

        Then the guarantee covers them too, at no cost: they never occur.
        """
        covered = blocks.copy()
        released = self.released(blocks)
        profile, value = np.nonzero(self.laws == 0)
        covered[profile, value] = released[profile]
        return covered


def response(values: int, noise: Floats) -> Floats:
    """Return blocks that keep a value, or with a probability `noise` draw any value afresh.

    >>> response(2, np.array([0.5])).tolist()
    [[[0.75, 0.25], [0.25, 0.75]]]
    """
    kept = np.eye(values)[None, :, :] * (1.0 - noise)[:, None, None]
    blocks: Floats = kept + noise[:, None, None] / values
    return blocks


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


def part_noise(problem: ProfileProblem, released: Floats) -> Floats:
    """Return for each profile the s that the costliest edge of its part needs.

    `released` are the distributions to be kept apart: those of the data, or of an output that
    breaks the budget.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9", "0.5"], [("0.8", "0.9")])
    >>> part_noise(ProfileProblem.of(graph, ProfilePrivacy("0.5")), graph.laws).round(4).tolist()
    [0.0977, 0.0977, 0.0]
    """
    parts = problem.graph.components
    worst = np.zeros(len(parts))
    part_of = np.empty(len(problem.graph), dtype=np.intp)
    for number, part in enumerate(parts):
        part_of[list(part)] = number
    if len(problem.edges):
        first, second = problem.edges.T
        rounding = _ROUNDING if problem.ratio > 1.0 else 0.0
        needed = edge_noise(released[first], released[second], problem.ratio, rounding)
        np.maximum.at(worst, part_of[first], needed)
    noise: Floats = worst[part_of]
    return noise
