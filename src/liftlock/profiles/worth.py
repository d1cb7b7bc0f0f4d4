"""What a mechanism for profiles is worth: how often it corrupts a value, and what it keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liftlock.alphabet import Label
from liftlock.channel import Channel
from liftlock.designs.profiles.goal import Goal, information
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.notions.profile import uses_profile
from liftlock.prior import Prior
from liftlock.profile_graph import ProfileGraph


def blocks_of(channel: Channel, graph: ProfileGraph) -> Floats:
    """Return the channel as matrices from values to values, one for each profile or one for all.

    >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    >>> blocks_of(Channel.identity([0, 1]), graph).tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """
    pairs = uses_profile(channel, graph)
    wanted = graph.pairs if pairs else graph.inputs
    order = wanted.order_of(channel.inputs, whose="the graph", other_name="the channel")
    for label in channel.outputs.labels:
        if label not in graph.inputs:
            raise InputError(
                "an output that is not a value of the profiles",
                value=label,
                remedy="its errors cannot be measured",
            )
    columns = [graph.inputs.index(label) for label in channel.outputs.labels]
    rows = np.zeros((len(wanted), len(graph.inputs)))
    rows[:, columns] = channel.floats()[order]
    return rows.reshape(len(graph) if pairs else 1, len(graph.inputs), len(graph.inputs))


@dataclass(frozen=True)
class Worth:
    """How a mechanism treats values, in floats.

    `wrong` is the chance of a wrong value for each profile; `marginal` the largest error of each
    value's frequency over the profiles, max_i |P_i(y) - (P_i A^i)(y)|.

    Source: 004 eq. (8).
    """

    names: tuple[Label, ...]
    values: tuple[Label, ...]
    laws: Floats
    released: Floats
    largest: float
    wrong: Floats
    weights: Floats
    information: float

    @property
    def mean_wrong(self) -> float:
        """The mean chance of a wrong value."""
        return float(self.weights @ self.wrong)

    @property
    def marginal(self) -> Floats:
        """The largest error of the frequency of each value, over the profiles."""
        errors: Floats = np.abs(self.laws - self.released).max(axis=0)
        return errors


def worth(channel: Channel, graph: ProfileGraph, weights: Prior | None = None) -> Worth:
    """Measure a channel whose outputs are values.

    >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    >>> worth(Channel.identity([0, 1]), graph).mean_wrong
    0.0
    """
    blocks = blocks_of(channel, graph)
    laws = graph.laws
    goal = Goal.of(graph, "minimax", weights=weights)
    kept = np.diagonal(blocks, axis1=1, axis2=2)
    released = laws @ blocks[0] if len(blocks) == 1 else np.einsum("ix,ixy->iy", laws, blocks)
    return Worth(
        graph.profiles.labels,
        graph.inputs.labels,
        laws,
        released,
        goal.value(laws, blocks),
        np.maximum(0.0, 1.0 - (laws * kept).sum(axis=1)),
        goal.weights,
        information(goal.joint(laws, blocks)),
    )
