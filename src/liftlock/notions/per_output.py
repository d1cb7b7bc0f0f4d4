"""Leakages at the worst output: a mean over secrets of how far lifts are from 1.

One body and a table of six: the l1-lift and the chi2-lift are means of abs(l - 1) and (l - 1)^2,
the alpha-lift is the alpha-norm of l; the inverse of each is the same of 1/l.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np

from liftlock.exact.enclosure import BITS, Enclosure, nearest_float, power
from liftlock.exact.integers import Floats, sum_fractions
from liftlock.notions.base import Order, OrderedBound, OutputLimit, TableBound
from liftlock.notions.lift import LiftTable
from liftlock.notions.measurement import Measurement, Witness, exact_maximum, screening_error

Lifts = TypeVar("Lifts", Fraction, Floats)


def worst_output(
    table: LiftTable,
    estimate: Callable[[Floats], Floats],
    exactly: Callable[[list[Fraction]], Enclosure],
    *,
    inverse: bool = False,
    amplify: float = 1.0,
) -> tuple[Enclosure, Witness]:
    """Take the maximum over outputs of an average over secrets.

    `estimate` maps the matrix of lifts to floats to be averaged with P(s); `exactly` maps the lifts
    at one output to the exact (or enclosed) value. `inverse` says that a lift of 0 makes it
    infinite. `amplify` is by how much the function multiplies the relative error of a lift.
    """
    if inverse and (smallest := table.smallest()).lift == 0:
        return Enclosure.infinity(), smallest.witness
    masses = np.array([float(m) for m in table.secret_masses])
    with np.errstate(all="ignore"):
        values = masses @ estimate(table.floats())
    if table.faithful and np.isfinite(values).all():
        error = (table.error + screening_error(len(masses))) * 64 * amplify
        error *= 1 + float(np.abs(values).max())
    else:  # beyond the range of floats: look at every output exactly
        values, error = np.zeros(len(values)), math.inf
    value, y = exact_maximum(values, error, lambda y: exactly(table.column(y)))
    return value, Witness(output=table.outputs.labels[y])


def power_sum(
    values: Sequence[Fraction], weights: Sequence[Fraction], order: Fraction, bits: int
) -> Enclosure:
    """Enclose the sum of weight * value^order, with `bits` bits after the binary point."""
    gathered: dict[Fraction, Fraction] = {}
    for value, weight in zip(values, weights, strict=True):
        if value:
            gathered[value] = gathered.get(value, Fraction(0)) + weight
    total = Enclosure.of(0)
    for value, weight in gathered.items():
        total += power(Enclosure.of(value), order, bits).scaled(weight).rounded(bits)
    return total


# --- means of a distance from 1 -------------------------------------------------------------------


class _MeanDistance(TableBound):
    """A bound of max over y of sum over s of P(s) abs(l - 1)^exponent, l the lift or 1/lift."""

    budget: Fraction

    unit = ""
    exponent: ClassVar[int]

    @classmethod
    def distance(cls, lifts: Lifts) -> Lifts:
        """Return the distance from 1 that is averaged, of one lift or of many."""
        off = 1 / lifts - 1 if cls.inverse else lifts - 1
        return abs(off) if cls.exponent == 1 else off**2

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:  # noqa: ARG003 - exact
        """Measure it on a table of lifts, exactly."""

        def exactly(lifts: list[Fraction]) -> Enclosure:
            return Enclosure.of(
                sum_fractions(m * cls.distance(v) for m, v in zip(masses, lifts, strict=True))
            )

        masses = table.secret_masses
        return cls.make_measurement(
            *worst_output(table, cls.distance, exactly, inverse=cls.inverse)
        )

    def output_limit(self) -> OutputLimit:
        """Return the mean of lifts that is limited at every output."""
        return OutputLimit("l1" if self.exponent == 1 else "chi2", self.inverse, self.budget)


class L1Lift(_MeanDistance):
    """The guarantee that max over y of sum over s of P(s) abs(lift - 1) is at most a number.

    Source: 002 Def 5, eq. (31).

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> L1Lift.measure(Channel.identity("ab"), Prior.uniform("ab")).value.lower
    Fraction(1, 1)
    """

    key = "l1_lift"
    title = "l1-lift"
    summary = "mean |lift - 1| at every output"
    exponent = 1


class L1LiftInverse(_MeanDistance):
    """The guarantee that max over y of sum over s of P(s) abs(1/lift - 1) is at most a number.

    Source: 002 Def 6, eq. (34).
    """

    key = "l1_lift_inverse"
    title = "l1-lift-inverse"
    page = "l1_lift"
    summary = "mean |1/lift - 1| at every output"
    exponent = 1
    inverse = True


class Chi2Lift(_MeanDistance):
    """The guarantee that max over y of sum over s of P(s) (lift - 1)^2 is at most a number.

    Source: 002 Def 5, eq. (32).

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> Chi2Lift.measure(Channel.identity("abc"), Prior.uniform("abc")).value.lower
    Fraction(2, 1)
    """

    key = "chi2_lift"
    title = "chi2-lift"
    summary = "mean (lift - 1)^2 at every output"
    exponent = 2


class Chi2LiftInverse(_MeanDistance):
    """The guarantee that max over y of sum over s of P(s) (1/lift - 1)^2 is at most a number.

    Source: 002 Def 6, eq. (35).
    """

    key = "chi2_lift_inverse"
    title = "chi2-lift-inverse"
    page = "chi2_lift"
    summary = "mean (1/lift - 1)^2 at every output"
    exponent = 2
    inverse = True


# --- norms ----------------------------------------------------------------------------------------


class _Norm(OrderedBound):
    """A bound of max over y of (sum over s of P(s) l^alpha)^(1/alpha), l the lift or 1/lift.

    Order infinity is the largest l.
    """

    budget: Fraction

    unit = ""

    @classmethod
    def of_table(cls, table: LiftTable, order: Order, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""
        end = table.smallest() if cls.inverse else table.largest()
        if cls.inverse and not end.lift:
            return cls.make_measurement(Enclosure.infinity(), end.witness)
        assert end.lift is not None
        scale = 1 / end.lift if cls.inverse else end.lift
        if order is None:
            return cls.make_measurement(Enclosure.of(scale), end.witness)
        if order == 1 and not cls.inverse:  # the mean lift, which is 1 at every output
            return cls.make_measurement(Enclosure.of(1), Witness(output=table.outputs.labels[0]))
        exponent, sign = nearest_float(order), -1.0 if cls.inverse else 1.0
        # The worst sum is at least the smallest P(s), and has to be known relative to that.
        digits = bits + math.ceil(1 / min(table.secret_masses)).bit_length() + 16

        def estimate(lifts: Floats) -> Floats:
            # Logarithms relative to the largest lift, so that high orders do not overflow.
            logs = sign * np.log(lifts)
            scaled: Floats = np.exp(exponent * (logs - logs[np.isfinite(logs)].max(initial=0.0)))
            return scaled

        def exactly(lifts: list[Fraction]) -> Enclosure:
            values = [(1 / v if cls.inverse else v) / scale for v in lifts]
            return power_sum(values, table.secret_masses, order, digits)

        value, witness = worst_output(table, estimate, exactly, amplify=1 + exponent)
        return cls.make_measurement(power(value, 1 / order, bits).scaled(scale), witness)

    def output_limit(self) -> OutputLimit:
        """Return the norm of lifts that is limited at every output."""
        return OutputLimit("alpha", self.inverse, self.budget, self.alpha)


class AlphaLift(_Norm):
    """The guarantee that the alpha-norm of the lift is at most a number at every output.

        max over y of (sum over s of P(s) lift^alpha)^(1/alpha)

    Order infinity is the max-lift.

    Source: 002 Def 5, eq. (33), eq. (37).

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> float(AlphaLift.measure(Channel.identity("ab"), Prior.uniform("ab"), 2).value) == 2**0.5
    True
    """

    key = "alpha_lift"
    title = "alpha-lift"
    summary = "alpha-norm of the lift"


class AlphaLiftInverse(_Norm):
    """The guarantee that the alpha-norm of one over the lift is at most a number at every output.

        max over y of (sum over s of P(s) (1/lift)^alpha)^(1/alpha)

    Order infinity is one over the min-lift.

    Source: 002 Def 6, eq. (36), eq. (37).
    """

    key = "alpha_lift_inverse"
    title = "alpha-lift-inverse"
    page = "alpha_lift"
    summary = "alpha-norm of the inverse lift"
    inverse = True
