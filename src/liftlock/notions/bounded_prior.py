"""Bounded-prior and worst-case LIP: the lifts over a whole convex set of priors, exactly.

    sup over P of q(y | x) / P(y)   and   inf over P of q(y | x) / P(y)

P(y) is linear in the prior, so both ends are attained at extreme points of the set; x runs over
all symbols that are possible under some prior of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Intervals, PriorSet
from liftlock.exact.integers import Integers
from liftlock.notions.lift import Extreme
from liftlock.notions.reading import Witness


@dataclass(frozen=True)
class LiftRange:
    """The largest and the smallest lift, each with its witness."""

    largest: Extreme
    smallest: Extreme


def lift_range(channel: Channel, priors: PriorSet) -> LiftRange:
    """Return the exact extreme lifts over every prior of a set.

    Source: 000 Def 6.

    >>> from liftlock.context import Intervals
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> everything = lift_range(bit, Intervals.all_priors([0, 1]))
    >>> everything.largest.lift, everything.smallest.lift
    (Fraction(3, 1), Fraction(1, 3))
    """
    aligned = priors.reordered(channel.inputs)
    rows = np.flatnonzero(aligned.possible)
    factors = np.array(channel.row_factors, dtype=object)
    top: tuple[Fraction | None, int, int] | None = None
    bottom: tuple[Fraction, int, int] | None = None
    for y in range(len(channel.outputs)):
        column: Integers = channel.weights[:, y].astype(object) * factors
        least, most = aligned.mass_range(column)
        if most == 0:
            continue
        values = column[rows]
        high, low = int(rows[values.argmax()]), int(rows[values.argmin()])
        if least == 0:
            lift: Fraction | None = None
        else:
            lift = Fraction(int(column[high])) / least
        if top is None or (top[0] is not None and (lift is None or lift > top[0])):
            top = (lift, high, y)
        down = Fraction(int(column[low])) / most
        if bottom is None or down < bottom[0]:
            bottom = (down, low, y)
    assert top is not None
    assert bottom is not None
    return LiftRange(
        Extreme(top[0], _witness(channel, aligned, factors, top[1], top[2], least=True)),
        Extreme(bottom[0], _witness(channel, aligned, factors, bottom[1], bottom[2], least=False)),
    )


def _witness(
    channel: Channel, priors: PriorSet, factors: Integers, x: int, y: int, *, least: bool
) -> Witness:
    column = channel.weights[:, y].astype(object) * factors
    return Witness(
        secret=channel.inputs.labels[x],
        output=channel.outputs.labels[y],
        prior=priors.extreme(column, least=least),
    )


def worst_case(channel: Channel) -> LiftRange:
    """Return the extreme lifts over all priors on the inputs: worst-case LIP, which equals LDP.

    Source: 000 Cor 2.
    """
    return lift_range(channel, Intervals.all_priors(channel.inputs.labels))
