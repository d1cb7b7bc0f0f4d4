"""What a mechanism for profiles is good for: few corruptions, little distortion, information.

Other utilities are costs of a posterior of X under one prior. Here every profile has its own
distribution of X and may have its own matrix, so a utility is measured on the matrices; `weights`
say how much each profile counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from liftlock._runtime.registry import name_of
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.model import Prior, ProfileGraph
from liftlock.model.alphabet import Label
from liftlock.model.channel import Channel
from liftlock.utility.distortion import Distortion

Aim = Literal["minimax", "hamming", "absolute", "squared", "distortion", "mutual-information"]
AIMS: tuple[Aim, ...] = get_args(Aim)

_WHOLE = 1e-9
"""By how much shares in floats may be off 1 in sum."""

TITLES: Mapping[Aim, str] = {
    "minimax": "largest chance of any one wrong value",
    "hamming": "mean chance of a wrong value",
    "absolute": "mean distance of the output from the value",
    "squared": "mean squared distance of the output from the value",
    "distortion": "mean loss",
    "mutual-information": "mutual information of value and output, in nats",
}


@dataclass(frozen=True)
class ProfileUtility:
    """An aim, the loss it may need, and how much each profile counts (weights sum to 1).

    - ``minimax``: the largest off-diagonal entry of any matrix; of all such mechanisms the one with
      the least mean chance of a wrong value;
    - ``hamming``: the mean chance of a wrong value;
    - ``absolute``, ``squared``: the mean distance, or its square, of values that are numbers;
    - ``distortion``: the mean of any loss of value and output;
    - ``mutual-information``: I(X; Y) for somebody who does not know the profile.

    Source: 004 eq. (6) and section 5.2.
    """

    name: Aim
    weights: Floats
    loss: Floats | None = None

    @classmethod
    def of(
        cls,
        graph: ProfileGraph,
        aim: object = None,
        *,
        loss: Any = None,
        weights: Prior | Mapping[Any, Any] | Floats | None = None,
    ) -> ProfileUtility:
        """Read an aim; a loss is a matrix with a row and a column for each value.

        >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
        >>> ProfileUtility.of(graph, "hamming", weights={"0.2": 3, "0.9": 1}).weights.tolist()
        [0.75, 0.25]
        """
        if isinstance(aim, ProfileUtility):
            if len(aim.weights) != len(graph) or loss is not None or weights is not None:
                raise InputError(
                    "the utility is for another graph, or a loss or weights are given with it",
                    value=aim.name,
                    remedy="make it for this graph, including its loss and weights",
                )
            return aim
        if isinstance(aim, Distortion):
            return cls.of(graph, "distortion", loss=aim.loss, weights=weights)
        name = "minimax" if loss is None else "distortion"
        if aim is not None:
            name = aim if isinstance(aim, str) else str(getattr(aim, "name", name_of(aim)))
        name = name.strip().lower().replace("_", "-")
        if name not in AIMS:
            raise InputError("unknown aim", value=name, remedy=f"use {', '.join(AIMS)}")
        shares = _weights(graph, weights)
        chosen: Aim = next(aim for aim in AIMS if aim == name)
        if chosen == "distortion":
            return cls(chosen, shares, _loss(graph, loss))
        if loss is not None:
            raise InputError(
                "a loss needs the utility distortion", value=name, remedy="use distortion"
            )
        if chosen in ("absolute", "squared"):
            return cls(chosen, shares, Distortion.from_name(chosen, graph.inputs).loss)
        return cls(chosen, shares)

    @property
    def title(self) -> str:
        """What the number is called when people read it."""
        return TITLES[self.name]

    @property
    def larger_is_better(self) -> bool:
        """Whether more of it is better."""
        return self.name == "mutual-information"

    def losses(self, values: int) -> Floats:
        """Return the loss of each value and output; a wrong value costs 1 unless told otherwise."""
        return 1.0 - np.eye(values) if self.loss is None else self.loss

    def value(self, distributions: Floats, blocks: Floats) -> float:
        """Measure a channel; `blocks` are (profiles or 1, values, values)."""
        if self.name == "minimax":
            off = ~np.eye(blocks.shape[1], dtype=bool)
            # What a profile never has is never corrupted.
            occurs = np.asarray(distributions > 0, dtype=np.bool_)
            used = occurs if len(blocks) > 1 else np.atleast_2d(occurs.any(axis=0))
            return float(np.where(used[:, :, None] & off, blocks, 0.0).max())
        joint = self.joint(distributions, blocks)
        if self.name == "mutual-information":
            return information(joint)
        return float((joint * self.losses(blocks.shape[1])).sum())

    def joint(self, distributions: Floats, blocks: Floats) -> Floats:
        """Return P(x, y) for somebody who does not know the profile."""
        masses = self.weights[:, None] * distributions
        if len(blocks) == 1:
            shared: Floats = masses.sum(axis=0)[:, None] * blocks[0]
            return shared
        mixed: Floats = (masses[:, :, None] * blocks).sum(axis=0)
        return mixed

    def value_of_no_release(self, distributions: Floats) -> float:
        """Return the value of the best constant output."""
        if self.name == "mutual-information":
            return 0.0
        if self.name == "minimax":
            return 1.0 / int(distributions.shape[1])
        return float(
            (dot(dot(self.weights, distributions), self.losses(distributions.shape[1]))).min()
        )

    def value_of_no_noise(self, distributions: Floats) -> float:
        """Return the value of releasing the value itself."""
        return self.value(distributions, np.eye(distributions.shape[1])[None, :, :])


def information(joint: Floats) -> float:
    """Return the mutual information of a joint distribution, in nats.

    >>> round(information(np.eye(2) / 2), 6)
    0.693147
    """
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    used = joint > 0
    return max(0.0, float((joint[used] * log(joint[used] / product[used])).sum()))


def _weights(graph: ProfileGraph, weights: Prior | Mapping[Any, Any] | Floats | None) -> Floats:
    if weights is None:
        return np.full(len(graph), 1.0 / len(graph))
    if isinstance(weights, np.ndarray):
        shares = np.asarray(weights, dtype=np.float64)
        proper = shares.shape == (len(graph),) and bool(np.all(shares >= 0))
        if not proper or not abs(float(shares.sum()) - 1.0) <= _WHOLE:
            raise InputError(
                "the weights are not shares of the profiles",
                value=f"shape {weights.shape}, sum {float(np.sum(weights)):g}",
                remedy=f"give {len(graph)} numbers of 0 or more that sum to 1, or weigh by name",
            )
        return shares
    prior = weights if isinstance(weights, Prior) else Prior.from_counts(weights)
    for name in prior.labels:
        if name not in graph.profiles:
            raise InputError(
                "a weight for an unknown profile", value=name, remedy="weigh the profiles by name"
            )
    missing = [name for name in graph.profiles.labels if name not in prior.alphabet]
    if missing:
        raise InputError(
            "a profile without a weight", value=missing[0], remedy="weigh every profile, 0 if never"
        )
    return prior.reordered(graph.profiles).floats()


def _loss(graph: ProfileGraph, loss: Any) -> Floats:
    size = len(graph.inputs)
    if loss is None:
        raise InputError(
            "distortion needs a loss",
            remedy="give a matrix with a row and a column for each value",
        )
    if isinstance(loss, Distortion):
        loss = loss.loss
    table = np.array(loss, dtype=np.float64)
    if table.shape != (size, size):
        raise InputError(
            f"a loss of shape {table.shape}", remedy=f"{size} values need {size} x {size} losses"
        )
    if not np.isfinite(table).all() or table.min() < 0:
        raise InputError("a loss that is not a number of 0 or more", remedy="correct it")
    return table


# --- what happens to values -----------------------------------------------------------------------


def blocks_of(channel: Channel, graph: ProfileGraph) -> Floats:
    """Return the channel as matrices from values to values, one for each profile or one for all.

    >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    >>> blocks_of(Channel.identity([0, 1]), graph).tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """
    pairs = graph.uses_profile(channel.inputs)
    wanted = graph.pairs if pairs else graph.inputs
    order = wanted.positions_in(channel.inputs, whose="the graph", other_name="the channel")
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


@dataclass(frozen=True, eq=False)
class ProfileErrors:
    """How a mechanism treats the values of each profile, in floats.

    Source: 004 eq. (8).
    """

    names: tuple[Label, ...]
    values: tuple[Label, ...]
    distributions: Floats
    released: Floats
    """P(y | profile), a row for each profile and a column for each value."""
    largest: float
    """The largest chance of any one wrong value."""
    wrong: Floats
    """The chance of a wrong value, for each profile."""
    weights: Floats
    information: float

    @property
    def mean_wrong(self) -> float:
        """The mean chance of a wrong value."""
        return float(dot(self.weights, self.wrong))

    @property
    def marginal(self) -> Floats:
        """The largest error of the frequency of each value, max_i |P_i(y) - (P_i A^i)(y)|."""
        errors: Floats = np.abs(self.distributions - self.released).max(axis=0)
        return errors


def profile_errors(
    channel: Channel,
    graph: ProfileGraph,
    weights: Prior | Mapping[Any, Any] | Floats | None = None,
) -> ProfileErrors:
    """Measure a channel whose outputs are values of the profiles.

    >>> graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    >>> profile_errors(Channel.identity([0, 1]), graph).mean_wrong
    0.0
    """
    blocks = blocks_of(channel, graph)
    distributions = graph.distributions
    utility = ProfileUtility.of(graph, "minimax", weights=weights)
    kept = np.diagonal(blocks, axis1=1, axis2=2)
    shared = len(blocks) == 1
    released = (
        dot(distributions, blocks[0])
        if shared
        else (distributions[:, :, None] * blocks).sum(axis=1)
    )
    return ProfileErrors(
        graph.profiles.labels,
        graph.inputs.labels,
        distributions,
        released,
        utility.value(distributions, blocks),
        np.maximum(0.0, 1.0 - (distributions * kept).sum(axis=1)),
        utility.weights,
        information(utility.joint(distributions, blocks)),
    )
