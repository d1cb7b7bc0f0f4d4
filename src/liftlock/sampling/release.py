"""Releasing people's values through a channel, and simulating the same for experiments.

`release` takes its random bits from the operating system, inside; it has no parameter through
which a seed could reach it. `simulate` takes a seed and protects nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from liftlock.errors import InputError
from liftlock.exact.weights import DEFAULT_BITS, MOST_BITS
from liftlock.forms import AnyChannel, SupportChannel, UserChannel
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import Codes, draw
from liftlock.sampling.encode import draw_reports

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex

    import numpy.typing as npt

    from liftlock.channel import Table


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

    >>> from liftlock.alphabet import Alphabet
    >>> from liftlock.channel import Table
    >>> answers = Alphabet.of(["no", "yes"])
    >>> noisy = Table.of(answers, answers, [[12, 4], [4, 12]], bits=4)
    >>> set(release(noisy, ["yes", "no", "yes"])) <= {"no", "yes"}
    True
    """
    return _labels(channel, values, OperatingSystemBits())


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

    >>> from liftlock.alphabet import Alphabet
    >>> from liftlock.channel import Table
    >>> answers = Alphabet.of(["no", "yes"])
    >>> noisy = Table.of(answers, answers, [[12, 4], [4, 12]], bits=4)
    >>> simulate(noisy, ["yes", "no", "yes", "no"], seed=7)
    ['yes', 'no', 'yes', 'no']
    """
    return _labels(channel, values, SimulationBits(seed))


def simulate_codes(
    channel: Table | SupportChannel, codes: Codes, *, seed: SupportsIndex | str
) -> Codes:
    """Return what `release_codes` could have returned, reproducibly. For experiments only."""
    return draw_codes(channel, codes, SimulationBits(seed))


def _labels(
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
