"""The extreme lifts and likelihood ratios of a channel whose reports support sets of symbols.

With likelihoods in the proportion a : b and A the supported set, the largest lift is attained where
A is as unlikely as a set with a possible symbol can be, a single rarest one, and the smallest where
A is everything else:

    max-lift = a / (b + (a - b) P_min),        min-lift = b / (b + (a - b) (1 - P_min)).

For a secret S behind X the likelihoods are b + (a - b) P(A | s), and the best A of

    (b + (a - b) P(A | s)) / (b + (a - b) P(A))

holds the symbols whose ratio P(x | s) / P(x) is above the optimum: it is found among the prefixes
of the symbols sorted by that ratio. Where not every set is supported by a report (hashing), all
of these are upper bounds on the leakage that hold for every family of sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.errors import NotDefined
from liftlock.model import Context, Joint, Prior, PriorSet
from liftlock.model.alphabet import Label
from liftlock.model.structured.support_channel import SupportChannel


@dataclass(frozen=True)
class ExtremePoint:
    """An extreme value, whose it is, the symbols that the report supports, and the worst prior."""

    value: Fraction
    secret: Label
    places: tuple[int, ...]
    other: Label | None = None
    prior: Prior | None = None


@dataclass(frozen=True)
class LiftExtremes:
    """The largest and the smallest lift."""

    largest: ExtremePoint
    smallest: ExtremePoint


def lift_extremes(channel: SupportChannel, context: Context) -> LiftExtremes:
    """Return the extreme lifts in any context (for a set of priors: over the whole set).

    >>> from liftlock.model.structured import UnaryChannel
    >>> bits = UnaryChannel.of("abc", own=8, other=4, bits=4)  # likelihoods 3 : 1
    >>> corners = lift_extremes(bits, Prior.from_counts({"a": 1, "b": 1, "c": 2}))
    >>> str(corners.largest.value), str(corners.smallest.value)
    ('2', '2/5')
    """
    if isinstance(context, Prior):
        counts = context.reordered(channel.inputs).counts
        rarest = min((i for i, count in enumerate(counts) if count), key=lambda i: counts[i])
        return _around(channel, rarest, Fraction(counts[rarest], context.total))
    if isinstance(context, Joint):
        return _of_secrets(channel, context.reordered(channel.inputs))
    if isinstance(context, PriorSet):
        aligned = context.reordered(channel.inputs)
        least, most = aligned.symbol_ranges
        rarest = min((i for i, high in enumerate(most) if high), key=lambda i: least[i])
        prior = aligned.extreme(_indicator(len(channel.inputs), rarest), least=True)
        return _around(channel, rarest, least[rarest], prior)
    raise NotDefined("a lift", context.describe(), "give a prior, a joint or a set of priors")


def ratio_extreme(channel: SupportChannel, context: Context | None = None) -> ExtremePoint:
    """Return the largest ratio of the likelihoods of two inputs, or of two secrets of a joint.

    >>> from liftlock.model.structured import UnaryChannel
    >>> str(ratio_extreme(UnaryChannel.of("abc", own=8, other=4, bits=4)).value)
    '3'
    """
    if isinstance(context, Joint):
        return _between_secrets(channel, context.reordered(channel.inputs))
    labels = channel.inputs.labels
    if len(labels) == 1:
        return ExtremePoint(Fraction(1), labels[0], (0,), labels[0])
    high, low = channel.levels
    return ExtremePoint(Fraction(high, low), labels[0], (0,), labels[1])


def _indicator(size: int, place: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    column = np.zeros(size, dtype=np.int64)
    column[place] = 1
    return column


def _around(
    channel: SupportChannel, rarest: int, mass: Fraction, prior: Prior | None = None
) -> LiftExtremes:
    high, low = channel.levels
    secret = channel.inputs.labels[rarest]
    rest = tuple(i for i in range(len(channel.inputs)) if i != rarest)
    return LiftExtremes(
        ExtremePoint(high / (low + (high - low) * mass), secret, (rarest,), prior=prior),
        ExtremePoint(low / (low + (high - low) * (1 - mass)), secret, rest, prior=prior),
    )


def _of_secrets(channel: SupportChannel, joint: Joint) -> LiftExtremes:
    columns = [sum(column) for column in zip(*joint.counts, strict=True)]
    largest: ExtremePoint | None = None
    smallest: ExtremePoint | None = None
    for label, row in zip(joint.secrets.labels, joint.counts, strict=True):
        if not any(row):
            continue
        value, places = _best_ratio(channel, row, columns)
        if largest is None or value > largest.value:
            largest = ExtremePoint(value, label, places)
        inverse, places = _best_ratio(channel, columns, row)
        if smallest is None or 1 / inverse < smallest.value:
            smallest = ExtremePoint(1 / inverse, label, places)
    assert largest is not None
    assert smallest is not None
    return LiftExtremes(largest, smallest)


def _between_secrets(channel: SupportChannel, joint: Joint) -> ExtremePoint:
    rows = [
        (label, row)
        for label, row in zip(joint.secrets.labels, joint.counts, strict=True)
        if any(row)
    ]
    best: ExtremePoint | None = None
    for label, row in rows:
        for other, against in rows:
            if label == other and len(rows) > 1:
                continue
            value, places = _best_ratio(channel, row, against)
            if best is None or value > best.value:
                best = ExtremePoint(value, label, places, other)
    assert best is not None
    return best


def _best_ratio(
    channel: SupportChannel, over: Sequence[int], under: Sequence[int]
) -> tuple[Fraction, tuple[int, ...]]:
    """Maximise (b + (a - b) F(A)) / (b + (a - b) G(A)) over sets A; F and G are counts."""
    high, low = channel.levels
    gap = high - low
    total_over, total_under = sum(over), sum(under)
    places = [i for i in range(len(over)) if over[i] or under[i]]
    # Scaled so far, quotients of different ratios differ, and those of equal ratios do not.
    shift = 2 * max(max(over), max(under)).bit_length() + 1
    infinite = (max(over) + 1) << shift
    keys = {i: (over[i] << shift) // under[i] if under[i] else infinite for i in places}
    places.sort(key=lambda i: -keys[i])
    top, bottom = low * total_over, low * total_under
    best = (top, bottom, 0)
    for taken, place in enumerate(places, start=1):
        top += gap * over[place]
        bottom += gap * under[place]
        if top * best[1] > best[0] * bottom:
            best = (top, bottom, taken)
    ratio = Fraction(best[0] * total_under, best[1] * total_over)
    return ratio, tuple(sorted(places[: best[2]]))
