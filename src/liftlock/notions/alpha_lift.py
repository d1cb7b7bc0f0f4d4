"""alpha-lift: the alpha-norm of the lift at the worst output, and its inverse."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.enclosure import BITS, Enclosure, nearest_float, power
from liftlock.exact.integers import Floats
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.notion import OrderedUpperBound, OutputLimit
from liftlock.notions.order import Order, read_order
from liftlock.notions.per_output import power_sum, worst_output
from liftlock.notions.reading import Reading, Witness


def measure(channel: Channel, context: Context, alpha: object, bits: int = BITS) -> Reading:
    """Measure max over y of (sum over s of P(s) lift^alpha)^(1/alpha).

    Order infinity is the max-lift.

    Source: 002 Def 5, eq. (33).

    >>> from liftlock.prior import Prior
    >>> float(measure(Channel.identity("ab"), Prior.uniform("ab"), 2).value) == 2**0.5
    True
    """
    return of_table(lift_table(channel, context), read_order(alpha), bits)


def of_table(table: LiftTable, order: Order, bits: int = BITS) -> Reading:
    """Measure it on a table of lifts."""
    if order is None:
        found = table.largest()
        assert found.lift is not None
        return Reading("alpha_lift", Enclosure.of(found.lift), "", None, found.witness)
    if order == 1:  # the mean lift, which is 1 at every output
        return Reading(
            "alpha_lift", Enclosure.of(1), "", None, Witness(output=table.outputs.labels[0])
        )
    return _norm("alpha_lift", table, order, bits, inverse=False)


def measure_inverse(channel: Channel, context: Context, alpha: object, bits: int = BITS) -> Reading:
    """Measure max over y of (sum over s of P(s) (1/lift)^alpha)^(1/alpha).

    Order infinity is one over the min-lift.

    Source: 002 Def 6, eq. (36).
    """
    return inverse_of_table(lift_table(channel, context), read_order(alpha), bits)


def inverse_of_table(table: LiftTable, order: Order, bits: int = BITS) -> Reading:
    """Measure the inverse on a table of lifts."""
    if order is None:
        found = table.smallest()
        value = Enclosure.of(1 / found.lift) if found.lift else Enclosure.infinity()
        return Reading("alpha_lift_inverse", value, "", None, found.witness)
    return _norm("alpha_lift_inverse", table, order, bits, inverse=True)


def _norm(notion: str, table: LiftTable, order: Fraction, bits: int, *, inverse: bool) -> Reading:
    """Find the output with the largest power mean, then take the root."""
    exponent = nearest_float(order)
    sign = -1.0 if inverse else 1.0
    scale = table.largest().lift if not inverse else table.smallest().lift
    if inverse:
        scale = 1 / scale if scale else Fraction(1)
    assert scale is not None
    # The worst sum is at least the smallest P(s), and has to be known relative to that.
    digits = bits + math.ceil(1 / min(table.secret_masses)).bit_length() + 16

    def estimate(lifts: Floats) -> Floats:
        # Logarithms relative to the largest lift, so that high orders do not overflow.
        logs = sign * np.log(lifts)
        scaled: Floats = np.exp(exponent * (logs - logs[np.isfinite(logs)].max(initial=0.0)))
        return scaled

    def exactly(lifts: list[Fraction]) -> Enclosure:
        values = [(1 / v if inverse else v) / scale for v in lifts]
        return power_sum(values, table.secret_masses, order, digits)

    found = worst_output(notion, table, estimate, exactly, inverse=inverse, amplify=1 + exponent)
    if found.value.is_infinite:
        return found
    root = power(found.value, 1 / order, bits).scaled(scale)
    return Reading(notion, root, "", None, found.witness)


class AlphaLift(OrderedUpperBound):
    """The guarantee that the alpha-lift is at most a plain number.

    Source: 002 Def 5, eq. (37).
    """

    budget: Fraction

    key = "alpha_lift"
    title = "alpha-lift"
    says = "alpha-norm of the lift"
    unit = ""

    def output_limit(self) -> OutputLimit:
        """Return the mean of lifts that is limited at every output."""
        return OutputLimit("alpha", False, self.budget, self.alpha)

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return of_table(lift_table(channel, context), self.alpha, bits)


class AlphaLiftInverse(OrderedUpperBound):
    """The guarantee that the alpha-lift-inverse is at most a plain number.

    Source: 002 Def 6, eq. (37).
    """

    budget: Fraction

    key = "alpha_lift_inverse"
    title = "alpha-lift-inverse"
    says = "alpha-norm of the inverse lift"
    unit = ""

    def output_limit(self) -> OutputLimit:
        """Return the mean of lifts that is limited at every output."""
        return OutputLimit("alpha", True, self.budget, self.alpha)

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return inverse_of_table(lift_table(channel, context), self.alpha, bits)
