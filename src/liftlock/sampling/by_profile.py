"""Which rows of a table the values of profiles belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Label
from liftlock.contexts import ProfileGraph
from liftlock.errors import InputError
from liftlock.forms import AnyChannel


def profile_rows(
    channel: AnyChannel,
    graph: ProfileGraph,
    values: Sequence[Any] | npt.NDArray[Any],
    profiles: Any,
    unprotected: Sequence[Label] = (),
) -> npt.NDArray[np.intp] | None:
    """Return the row of each value under its profile; None if the profiles are not needed.

    `profiles` has one for each value, or is one for all of them. A channel that ignores the profile
    takes them all the same, to refuse the pairs that are `unprotected`.

    >>> from liftlock.channel import Channel
    >>> graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    >>> profile_rows(Channel.identity(graph.pairs.labels), graph, [0, 1], ["b", "a"]).tolist()
    [2, 1]
    """
    uses = graph.uses_profile(channel.inputs)
    if profiles is None:
        if uses:
            raise InputError(
                "the mechanism needs profiles",
                remedy="give them: release(values, profiles), one profile per value or one for all",
            )
        return None
    one = isinstance(profiles, str | tuple) or not hasattr(profiles, "__len__")
    whose = graph.profiles.encode([profiles] if one else profiles)
    codes = graph.inputs.encode(values)
    if not one and len(whose) != len(codes):
        raise InputError(
            f"{len(whose)} profiles for {len(codes)} values",
            remedy="give one profile per value, or one for all",
        )
    _refuse(graph, whose * len(graph.inputs) + codes, unprotected)
    return coded_rows(channel, graph, codes, whose)


def coded_rows(
    channel: AnyChannel,
    graph: ProfileGraph,
    codes: npt.NDArray[Any],
    whose: npt.NDArray[Any] | None = None,
) -> npt.NDArray[np.intp]:
    """Return the row of each value under its profile, both as positions in the graph.

    >>> from liftlock.channel import Channel
    >>> graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    >>> channel = Channel.identity(graph.pairs.labels)
    >>> coded_rows(channel, graph, np.array([0, 1]), np.array([1, 0])).tolist()
    [2, 1]
    """
    wanted, places = graph.inputs, codes
    if graph.uses_profile(channel.inputs):
        assert whose is not None  # `profile_rows` and `ProfileColumn` refuse it with a remedy
        wanted, places = graph.pairs, whose * len(graph.inputs) + codes
    order = wanted.order_of(channel.inputs, whose="the graph", other_name="the mechanism")
    rows: npt.NDArray[np.intp] = order[places]
    return rows


def _refuse(graph: ProfileGraph, pairs: npt.NDArray[np.intp], unprotected: Sequence[Label]) -> None:
    """Refuse values that their profile calls impossible and the certificate does not cover."""
    if not unprotected:
        return
    bad = np.flatnonzero(np.isin(pairs, [graph.pairs.index(pair) for pair in unprotected]))
    if len(bad):
        raise InputError(
            "the value has probability 0 in its profile, so it is not protected",
            where=f"value {int(bad[0]) + 1}",
            value=graph.pairs.labels[int(pairs[bad[0]])],
            remedy="smooth the profiles and design again, or leave it out",
        )
