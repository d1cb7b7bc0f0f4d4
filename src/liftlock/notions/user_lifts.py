"""The largest and the smallest lift of any user, each under a prior of their own, exactly.

For the arc mechanism the extreme lifts of a user are those of the rarest possible value, with p of
2^32 points: with V(c) the sum of the c largest weights of the window,

    largest V(p) / (2^30 p),         smallest (2^62 - V(2^32 - p)) / (2^30 p),

the largest falling and the smallest rising with p, since means of the largest weights do. For the
safe response they are at a symbol y of p points, of which a prior of the user has a to b:

    largest 1 + T (2^32 - a) / ((2^32 - T) p + T a),
    smallest (2^32 - T) p / ((2^32 - T) p + T b),

with a = b = p for one prior. Of a table that all users share they are those under each prior.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.model import PerUserPriors, Prior
from liftlock.model.channel import Channel
from liftlock.model.per_user import POINTS
from liftlock.model.structured import AnyChannel, ArcChannel, SafeChannel, UserChannel, to_dense
from liftlock.model.structured.user_blocks import UserBlock, family_counts, user_blocks
from liftlock.notions.lift import ExtremeLift, LiftRange, lift_table
from liftlock.notions.measurement import Witness

_SLACK = 1e-9
"""Lifts that floats call so close to the extreme are compared as fractions."""


@dataclass(frozen=True)
class UserExtremeLift:
    """An extreme lift, the user who has it (from 0), and where."""

    lift: Fraction
    user: int
    witness: Witness


@dataclass(frozen=True)
class UserLifts:
    """The extreme lifts of the users of one distribution, or of one table."""

    level: int
    users: int
    largest: UserExtremeLift
    smallest: UserExtremeLift
    excluding: int = 0
    """Users whose priors call some value impossible."""

    @property
    def range(self) -> LiftRange:
        """The extremes without the users."""
        ends = self.largest, self.smallest
        return LiftRange(*(ExtremeLift(each.lift, each.witness) for each in ends))

    def merge(self, other: UserLifts) -> UserLifts:
        """Return the extremes of both; of equals, those of the user who comes first."""
        largest = min(self.largest, other.largest, key=lambda each: (-each.lift, each.user))
        smallest = min(self.smallest, other.smallest, key=lambda each: (each.lift, each.user))
        excluding = self.excluding + other.excluding
        return UserLifts(self.level, self.users + other.users, largest, smallest, excluding)


def user_lifts(channel: AnyChannel, priors: PerUserPriors) -> tuple[UserLifts, ...]:
    """Return the exact extreme lifts of all users, for each distribution by itself."""
    if not priors.users:
        raise InputError("no users to audit", remedy="give at least one prior")
    subject = channel if isinstance(channel, UserChannel) else to_dense(channel)
    own = priors.reordered(channel.inputs)
    found: dict[int, UserLifts] = {}
    for lifts in _each_block(subject, own):
        before = found.get(lifts.level)
        found[lifts.level] = lifts if before is None else before.merge(lifts)
    return tuple(found[level] for level in sorted(found))


def _each_block(channel: Channel | UserChannel, priors: PerUserPriors) -> Iterator[UserLifts]:
    if isinstance(channel, Channel):
        if priors.are_sets:
            raise NotDefined(
                "the audit of one table for all",
                priors.describe(),
                "give one prior for each user, or audit each user's set by itself",
            )
        weights = channel.floats()
        for block in user_blocks(priors):
            yield _of_table(channel, weights, block)
        return
    for block in channel.blocks(priors):
        if isinstance(channel, ArcChannel):
            yield _of_arc(channel, block)
        else:
            assert isinstance(channel, SafeChannel)
            yield _of_safe(channel, priors, block)


def _of_arc(channel: ArcChannel, block: UserBlock) -> UserLifts:
    """The rarest value of the block has both: its arc begins, or ends, where the window begins."""
    distribution, counts = channel.distributions[block.level], block.counts
    masked = np.where(counts > 0, counts, POINTS + 1)
    row, symbol = (int(place) for place in np.unravel_index(masked.argmin(), masked.shape))
    length, begin = int(counts[row, symbol]), int(counts[row, :symbol].sum())
    label = channel.inputs.labels[symbol]
    largest, smallest = (
        UserExtremeLift(
            distribution.lift(begin, length, start), block.user(row), Witness(label, start)
        )
        for start in (begin, (begin + length) % POINTS)
    )
    return UserLifts(block.level, len(block), largest, smallest, _excluding(block))


def _of_safe(channel: SafeChannel, priors: PerUserPriors, block: UserBlock) -> UserLifts:
    keeps = channel.keeps(block)[:, None]
    fewest, most = block.lowest, block.highest
    at_stake = (most > 0) & (fewest < POINTS) & (keeps > 0)
    if not at_stake.any():
        return _nothing(channel, block)
    kept = np.broadcast_to(keeps, block.counts.shape)
    drawn = (POINTS - kept).astype(np.float64) * block.counts
    low = drawn + kept.astype(np.float64) * fewest
    rises = np.divide(kept * (POINTS - fewest).astype(np.float64), low, where=at_stake, out=-low)
    top = _largest(
        np.where(at_stake, rises, -1.0),
        np.stack([kept, block.counts, fewest]),
        lambda t, p, a: Fraction(t * (POINTS - a), (POINTS - t) * p + t * a),
    )
    rise, row, symbol = top
    label = channel.inputs.labels[symbol]
    prior = extreme_prior(priors, block, row, symbol, least=True)
    largest = UserExtremeLift(1 + rise, block.user(row), Witness(label, label, prior=prior))
    if block.ends is None:
        # The lift is 1 - t at all other values; the rarest is the one that says most.
        row = int(np.argmax(np.where(at_stake.any(axis=1), keeps[:, 0], 0)))
        fall = Fraction(int(keeps[row, 0]), POINTS)
        symbol = int(np.argmin(np.where(block.counts[row] > 0, block.counts[row], POINTS)))
    else:
        high = drawn + kept.astype(np.float64) * most
        falls = np.divide(kept * most.astype(np.float64), high, where=at_stake, out=-high)
        fall, row, symbol = _largest(
            np.where(at_stake, falls, -1.0),
            np.stack([kept, block.counts, most]),
            lambda t, p, b: Fraction(t * b, (POINTS - t) * p + t * b),
        )
    others = np.where(np.arange(block.counts.shape[1]) == symbol, 0, block.counts[row])
    prior = extreme_prior(priors, block, row, symbol, least=False)
    witness = Witness(
        channel.inputs.labels[int(np.argmax(others))], channel.inputs.labels[symbol], prior=prior
    )
    smallest = UserExtremeLift(1 - fall, block.user(row), witness)
    return UserLifts(block.level, len(block), largest, smallest, _excluding(block))


def _excluding(block: UserBlock) -> int:
    return int((block.counts == 0).any(axis=1).sum())


def _nothing(channel: SafeChannel, block: UserBlock) -> UserLifts:
    """Users who are certain, or who never keep their value: no belief moves."""
    label = channel.inputs.labels[int(np.argmax(block.counts[0]))]
    one = UserExtremeLift(Fraction(1), block.user(0), Witness(label, label))
    return UserLifts(block.level, len(block), one, one, _excluding(block))


def _largest(
    values: Floats, numbers: npt.NDArray[np.int64], exactly: Callable[[int, int, int], Fraction]
) -> tuple[Fraction, int, int]:
    """Return the largest of some fractions, which floats come close to, with its row and symbol."""
    close = np.flatnonzero(values.reshape(-1) >= values.max() * (1 - _SLACK))
    some = numbers.reshape(len(numbers), -1)[:, close]
    different, first = np.unique(some, axis=1, return_index=True)
    places = close[first].tolist()
    found = [
        (exactly(*(int(number) for number in column)), -place)
        for column, place in zip(different.T, places, strict=True)
    ]
    lift, place = max(found)
    row, symbol = divmod(-place, values.shape[1])
    return lift, row, symbol


def extreme_prior(
    priors: PerUserPriors, block: UserBlock, row: int, symbol: int, *, least: bool
) -> Prior | None:
    """Return a prior of a user's set that gives a symbol the fewest, or the most, points."""
    if block.ends is None:
        return None
    lowest, highest = (table[row].tolist() for table in block.ends)
    if priors.members is not None:
        user = block.user(row)
        inside = family_counts(priors, user, user + 1)[0]
        place = inside[:, symbol].argmin() if least else inside[:, symbol].argmax()
        return Prior(priors.alphabet, tuple(inside[place].tolist()))
    if priors.radius is not None:
        points = block.counts[row].tolist()
        moved = (lowest if least else highest)[symbol] - points[symbol]
        points[symbol] += moved
        others = [place for place in range(len(points)) if place != symbol]
        for place in sorted(others, key=lambda place: -points[place]):
            step = -moved if least else max(-moved, -points[place])
            points[place] += step
            moved += step
        return Prior(priors.alphabet, tuple(points))
    points = list(lowest)
    points[symbol] = (lowest if least else highest)[symbol]
    left = POINTS - sum(points)
    for place in range(len(points)):
        if place != symbol:
            step = min(left, highest[place] - points[place])
            points[place] += step
            left -= step
    return Prior(priors.alphabet, tuple(points))


def _of_table(channel: Channel, weights: Floats, block: UserBlock) -> UserLifts:
    """Floats say which users may come closest; their tables of lifts decide."""
    counts = block.counts
    outputs = (counts / POINTS) @ weights
    top = np.zeros_like(outputs)
    bottom = np.full_like(outputs, np.inf)
    for symbol in range(counts.shape[1]):
        possible = counts[:, symbol, None] > 0
        np.maximum(top, np.where(possible, weights[symbol], 0.0), out=top)
        np.minimum(bottom, np.where(possible, weights[symbol], np.inf), out=bottom)
    here = outputs > 0
    rises = np.divide(top, outputs, where=here, out=np.zeros_like(top)).max(axis=1)
    falls = np.divide(bottom, outputs, where=here, out=np.full_like(top, np.inf)).min(axis=1)
    close = (rises >= rises.max() * (1 - _SLACK)) | (falls <= falls.min() * (1 + _SLACK))
    rows = np.flatnonzero(close)
    _, first = np.unique(counts[rows], axis=0, return_index=True)
    found = []
    for row in rows[np.sort(first)].tolist():
        table = lift_table(channel, Prior(channel.inputs, tuple(counts[row].tolist())))
        ends = []
        for extreme in (table.largest(), table.smallest()):
            assert extreme.lift is not None
            ends.append(UserExtremeLift(extreme.lift, block.user(row), extreme.witness))
        found.append(UserLifts(0, 0, ends[0], ends[1]))
    whole = found[0]
    for each in found[1:]:
        whole = whole.merge(each)
    return UserLifts(0, len(block), whole.largest, whole.smallest, _excluding(block))
