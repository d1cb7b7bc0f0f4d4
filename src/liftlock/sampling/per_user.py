"""Reports of users who have a prior each, for a million users in one pass.

A report of the arc mechanism is the start u of a window on a circle of 2^32 points
(`liftlock.model.structured.user_distributions`)::

    word   = the next word, r = word * n div 2^64 for an arc of n points, drawn again if
             word * n mod 2^64 < 2^64 mod n            (r is then uniform on 0 .. n - 1, exactly)
    T      = first point of the arc + r
    unit   = the next word div 4                        62 bits
    u      = T - k  if unit is the k-th place inside the window, T + 1 + k  if the k-th outside

A report of the safe response takes one word, with the T of `user_distributions`::

    word   = the next word
    y      = the user's own value             if word div 2^32 < T
             the symbol that holds the point  word mod 2^32  otherwise, where symbol x holds p(x)
             points, in the order of the columns

The two halves of a word are independent, so P(y | x) is (T 2^32 [x = y] + (2^32 - T) p(y)) / 2^64,
exactly. A user with a single possible value reports it, and there is nothing to protect.

Users with different budgets take their words block by block, those of one budget after another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError, InputError
from liftlock.exact.integers import Floats
from liftlock.model import PerUserPriors
from liftlock.model.structured import ArcChannel, SafeChannel, UserChannel
from liftlock.model.structured.user_blocks import UserBlock
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import Codes, check_codes, code_error

if TYPE_CHECKING:
    from typing import SupportsIndex


def release_users(channel: UserChannel, priors: PerUserPriors, codes: Codes) -> npt.NDArray[Any]:
    """Return one private report for each user, each under a prior of their own.

    `codes` has the position of each user's value among the labels. A value whose mass is 0 is
    refused: no prior protects what it calls impossible.

    >>> from liftlock.model.per_user import read_limits
    >>> priors = PerUserPriors.of("abc", np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]))
    >>> channel = ArcChannel.of("abc", [read_limits("1")])
    >>> release_users(channel, priors, np.array([2, 0])).dtype
    dtype('uint32')
    """
    return draw_users(channel, priors, codes, OperatingSystemBits())


def simulate_users(
    channel: UserChannel, priors: PerUserPriors, codes: Codes, *, seed: SupportsIndex | str
) -> npt.NDArray[Any]:
    """Return what `release_users` could have returned, reproducibly. For experiments only."""
    return draw_users(channel, priors, codes, SimulationBits(seed))


def user_posteriors(
    channel: UserChannel, priors: PerUserPriors, reports: npt.NDArray[Any]
) -> Floats:
    """Return P(x | report) for each user.

    >>> from liftlock.model.per_user import read_limits
    >>> priors = PerUserPriors.of("ab", np.array([[0.25, 0.75]]))
    >>> channel = SafeChannel.of("ab", [read_limits("ln 2")])
    >>> user_posteriors(channel, priors, np.array([0])).round(4).tolist()
    [[0.5, 0.5]]
    """
    checked = channel.check_reports(np.asarray(reports), priors.users)
    found = np.empty((priors.users, len(channel.inputs)))
    for block in channel.blocks(priors):
        part = np.empty(block.counts.shape)
        sums = np.zeros((channel.rows, len(channel.inputs)), dtype=np.int64)
        channel.add(block, checked[block.places], part, sums)
        found[block.places] = part
    return found


def draw_users(
    channel: UserChannel, priors: PerUserPriors, codes: Codes, bits: RandomBits
) -> npt.NDArray[Any]:
    """Draw one report for each user, from a source of random bits."""
    people = check_people(codes, priors.users, len(channel.inputs))
    reports = np.empty(priors.users, dtype=np.min_scalar_type(channel.output_number - 1))
    draw = _DRAW[channel.form]
    for block in channel.blocks(priors):
        reports[block.places] = draw(channel, block, people[block.places], bits)
    return reports


def _draw_windows(
    channel: ArcChannel, block: UserBlock, people: npt.NDArray[np.int64], bits: RandomBits
) -> npt.NDArray[np.uint32]:
    """Return the reports of a block of users; refuse a value that has no points."""
    from liftlock.model.structured.per_user_kernels import draw_windows

    distribution = channel.distributions[block.level]
    reports = np.empty(len(block), dtype=np.uint32)
    words = np.empty(2 * len(block), dtype=np.uint64)
    pending = np.arange(len(block))
    while len(pending):
        fresh = words[: 2 * len(pending)]
        bits.fill(fresh)
        settled = draw_windows(
            block.counts,
            people,
            pending,
            fresh,
            distribution.low,
            distribution.high,
            distribution.width,
            distribution.extra,
            reports,
        )
        if settled < 0:
            raise _impossible_error(block, -settled - 1, people)
        pending = pending[: len(pending) - settled]
    return reports


def _draw_kept(
    channel: SafeChannel, block: UserBlock, people: npt.NDArray[np.int64], bits: RandomBits
) -> npt.NDArray[np.int64]:
    """Return the reports of a block of users; refuse a value of probability 0."""
    from liftlock.model.structured.per_user_kernels import draw_kept

    reports = np.empty(len(block), dtype=np.int64)
    words = np.empty(len(block), dtype=np.uint64)
    bits.fill(words)
    wrong = draw_kept(block.counts, people, words, channel.keeps(block), reports)
    if wrong >= 0:
        raise _impossible_error(block, wrong, people)
    return reports


_DRAW: dict[str, Callable[..., npt.NDArray[Any]]] = {
    ArcChannel.form: _draw_windows,
    SafeChannel.form: _draw_kept,
}


def check_people(codes: Codes, users: int, symbols: int) -> npt.NDArray[np.int64]:
    """Return a copy of the codes of users' values, all of them in range, one for each prior."""
    check_codes(codes)
    # Copied before they are checked: a caller's other thread cannot change them in between.
    people = codes.astype(np.int64)
    if len(people) != users:
        raise InputError(
            f"{len(people)} values for {users} priors", remedy="give one prior per user"
        )
    wrong = (people < 0) | (people >= symbols)
    if wrong.any():
        raise code_error(codes, int(np.argmax(wrong)), symbols)
    return people


def _impossible_error(block: UserBlock, row: int, people: npt.NDArray[np.int64]) -> CountError:
    """Return the refusal of a value that the user's own prior calls impossible."""
    return CountError(
        "the value has probability 0 in the user's prior",
        where=f"user {block.user(row) + 1}",
        value=int(people[row]),
        remedy="smooth the prior; nothing was released",
    )
