"""Releasing people's values through a channel, and simulating the same for experiments.

`release` takes its random bits from the operating system, inside; it has no parameter through
which a seed could reach it. `simulate` takes a seed and protects nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.rounding import DEFAULT_BITS, MOST_BITS
from liftlock.model import Conditional, ProfileGraph
from liftlock.model.alphabet import Label, plain_label
from liftlock.model.structured import AnyChannel, SupportChannel, UserChannel
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import Codes, draw
from liftlock.sampling.encode import draw_reports

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex

    import numpy.typing as npt

    from liftlock.model.channel import Table


@overload
def release(channel: Table | SupportChannel, values: npt.NDArray[Any]) -> npt.NDArray[Any]: ...
@overload
def release(channel: SupportChannel, values: Sequence[Any]) -> npt.NDArray[Any]: ...
@overload
def release(channel: Table, values: Sequence[Any]) -> list[Any]: ...
@overload
def release(
    channel: Table | SupportChannel, values: Sequence[Any]
) -> npt.NDArray[Any] | list[Any]: ...
def release(
    channel: Table | SupportChannel, values: npt.NDArray[Any] | Sequence[Any]
) -> npt.NDArray[Any] | list[Any]:
    """Return one private report for each value: an array for an array, else a list.

    Reports of encodings are rows of packed bytes, always an array.

    >>> from liftlock.model.alphabet import Alphabet
    >>> from liftlock.model.channel import Table
    >>> answers = Alphabet.of(["no", "yes"])
    >>> noisy = Table.of(answers, answers, [[12, 4], [4, 12]], bits=4)
    >>> set(release(noisy, ["yes", "no", "yes"])) <= {"no", "yes"}
    True
    """
    return _draw_labels(channel, values, OperatingSystemBits())


def release_codes(channel: Table | SupportChannel, codes: Codes) -> Codes:
    """Return one private report for each value, both as positions in the channel's alphabets."""
    return draw_codes(channel, codes, OperatingSystemBits())


@overload
def simulate(
    channel: Table | SupportChannel, values: npt.NDArray[Any], *, seed: SupportsIndex | str
) -> npt.NDArray[Any]: ...
@overload
def simulate(
    channel: SupportChannel, values: Sequence[Any], *, seed: SupportsIndex | str
) -> npt.NDArray[Any]: ...
@overload
def simulate(channel: Table, values: Sequence[Any], *, seed: SupportsIndex | str) -> list[Any]: ...
@overload
def simulate(
    channel: Table | SupportChannel, values: Sequence[Any], *, seed: SupportsIndex | str
) -> npt.NDArray[Any] | list[Any]: ...
def simulate(
    channel: Table | SupportChannel,
    values: npt.NDArray[Any] | Sequence[Any],
    *,
    seed: SupportsIndex | str,
) -> npt.NDArray[Any] | list[Any]:
    """Return what `release` could have returned, reproducibly. For experiments only.

    Whoever knows the seed can undo the noise. Equal seeds give equal random words, whatever the
    channel: give each repetition of an experiment a seed of its own.

    >>> from liftlock.model.alphabet import Alphabet
    >>> from liftlock.model.channel import Table
    >>> answers = Alphabet.of(["no", "yes"])
    >>> noisy = Table.of(answers, answers, [[12, 4], [4, 12]], bits=4)
    >>> simulate(noisy, ["yes", "no", "yes", "no"], seed=7)
    ['yes', 'no', 'yes', 'no']
    """
    return _draw_labels(channel, values, SimulationBits(seed))


def simulate_codes(
    channel: Table | SupportChannel, codes: Codes, *, seed: SupportsIndex | str
) -> Codes:
    """Return what `release_codes` could have returned, reproducibly. For experiments only."""
    return draw_codes(channel, codes, SimulationBits(seed))


def _draw_labels(
    channel: Table | SupportChannel, values: npt.NDArray[Any] | Sequence[Any], bits: RandomBits
) -> npt.NDArray[Any] | list[Any]:
    if isinstance(values, str | bytes):
        raise InputError(
            "one text instead of a column of values", value=values, remedy="put it in a list"
        )
    drawn = draw_codes(channel, channel.inputs.encode(values), bits)
    if isinstance(channel, SupportChannel):
        return drawn
    reports = channel.outputs.decode(drawn)
    return reports if isinstance(values, np.ndarray) else reports.tolist()


def draw_codes(channel: Table | SupportChannel, codes: Codes, bits: RandomBits) -> Codes:
    """Draw one report for each position in the input alphabet, from a source of random bits."""
    given: AnyChannel = channel
    if isinstance(given, UserChannel):
        raise InputError(
            "the mechanism uses per-user priors",
            value=str(given),
            remedy="give their priors: mechanism.release(values, priors), or release_users",
        )
    if isinstance(channel, SupportChannel):
        return draw_reports(channel, codes, bits)
    if channel.bits > MOST_BITS:
        raise InputError(
            f"rows of {channel.bits} bits cannot be sampled with one 64-bit word",
            remedy=f"lock it to {DEFAULT_BITS} bits, or release through the two channels one after "
            "the other",
        )
    return draw(channel.alias, codes, bits)


# --- rows of the values of profiles ---------------------------------------------------------------


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

    >>> from liftlock.model.channel import Channel
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

    >>> from liftlock.model.channel import Channel
    >>> graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    >>> channel = Channel.identity(graph.pairs.labels)
    >>> coded_rows(channel, graph, np.array([0, 1]), np.array([1, 0])).tolist()
    [2, 1]
    """
    wanted, places = graph.inputs, codes
    if graph.uses_profile(channel.inputs):
        assert whose is not None  # `profile_rows` and `ProfileColumn` refuse it with a remedy
        wanted, places = graph.pairs, whose * len(graph.inputs) + codes
    order = wanted.positions_in(channel.inputs, whose="the graph", other_name="the mechanism")
    rows: npt.NDArray[np.intp] = order[places]
    return rows


def given_rows(
    channel: AnyChannel,
    context: Conditional,
    values: Sequence[Any] | npt.NDArray[Any],
    given: Any,
) -> npt.NDArray[np.intp] | None:
    """Return the row of each value beside its given value; None if these are not needed.

    `given` has one for each value, or is one for all of them.

    >>> from liftlock.model import Prior
    >>> from liftlock.model.channel import Channel
    >>> coins = Conditional.of({"a": Prior.uniform([0, 1]), "b": Prior.from_counts({0: 1, 1: 3})})
    >>> given_rows(Channel.identity(coins.pairs.labels), coins, [0, 1], ["b", "a"]).tolist()
    [2, 1]
    """
    if not context.uses_given(channel.inputs):
        return None
    groups = [context.group_of(each) for each in given_values(given, len(values))]
    pairs = list(zip(groups, values, strict=True))
    return channel.inputs.encode(pairs)


def given_values(given: Any, number: int) -> Sequence[Any]:
    """Return the given value of each of so many values or reports; one may be for all."""
    if given is None:
        raise InputError(
            "the mechanism needs the given value of each value or report",
            remedy="give them: release(values, given), aggregate(reports, given=...), one each or "
            "one for all",
        )
    if isinstance(given, str | tuple) or not hasattr(given, "__len__"):
        return [given] * number
    if len(given) != number:
        raise InputError(
            f"{len(given)} given values for {number} values or reports",
            remedy="give one each, or one for all",
        )
    return [plain_label(each) for each in given]


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
