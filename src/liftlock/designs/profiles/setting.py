"""A graph of profiles and a budget as floats that a solver can read, and blocks of channels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from liftlock._solver.optimality import Optimality
from liftlock._solver.problem import MOST_RATIO
from liftlock.designs.draft import Draft
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


@dataclass(frozen=True)
class Setting:
    """What a design for profiles must respect, in floats.

    A channel is `blocks` of shape (profiles, values, outputs), or (1, values, outputs) when it
    ignores the profile.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> setting = Setting.of(ProfileGraph.bernoulli(["0.2", "0.9"]), ProfilePrivacy("ln 2"))
    >>> setting.laws.tolist(), setting.edges.tolist(), round(setting.ratio, 6)
    ([[0.8, 0.2], [0.1, 0.9]], [[0, 1]], 2.0)
    """

    graph: ProfileGraph
    laws: Floats
    edges: npt.NDArray[np.intp]
    ratio: float
    """e^epsilon, by a hair too small."""

    @classmethod
    def of(cls, graph: ProfileGraph, notion: Notion) -> Setting:
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

    def draft(
        self,
        blocks: Floats,
        method: str,
        *,
        optimality: Optimality | None = None,
        remarks: tuple[str, ...] = (),
        faithful: bool = False,
    ) -> Draft:
        """Make the draft of a channel; its outputs are the values."""
        graph = self.graph
        shared = len(blocks) == 1 and len(graph) != 1
        rows = np.clip(blocks if shared else self.covered(blocks), 0.0, None)
        rows = rows / rows.sum(axis=2, keepdims=True)
        return Draft.of(
            graph.inputs if shared else graph.pairs,
            graph.inputs,
            rows.reshape(-1, self.values),
            method=method,
            optimality=optimality,
            remarks=remarks,
            faithful=faithful,
        )


def response(values: int, noise: Floats) -> Floats:
    """Return blocks that keep a value, or with a probability `noise` draw any value afresh.

    >>> response(2, np.array([0.5])).tolist()
    [[[0.75, 0.25], [0.25, 0.75]]]
    """
    kept = np.eye(values)[None, :, :] * (1.0 - noise)[:, None, None]
    blocks: Floats = kept + noise[:, None, None] / values
    return blocks
