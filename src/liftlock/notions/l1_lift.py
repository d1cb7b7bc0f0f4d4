"""l1-lift: the mean absolute change of belief at the worst output, and its inverse."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.enclosure import Enclosure
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.notion import OutputLimit, UpperBound
from liftlock.notions.per_output import average, worst_output
from liftlock.notions.reading import Reading


def measure(channel: Channel, context: Context) -> Reading:
    """Measure max over y of sum over s of P(s) abs(lift - 1), exactly.

    Source: 002 Def 5, eq. (31).

    >>> from liftlock.prior import Prior
    >>> measure(Channel.identity("ab"), Prior.uniform("ab")).value.lower
    Fraction(1, 1)
    """
    return of_table(lift_table(channel, context))


def of_table(table: LiftTable) -> Reading:
    """Measure it on a table of lifts."""
    return worst_output(
        "l1_lift",
        table,
        lambda lifts: np.abs(lifts - 1),
        lambda lifts: Enclosure.of(average(table.secret_masses, [abs(v - 1) for v in lifts])),
    )


def measure_inverse(channel: Channel, context: Context) -> Reading:
    """Measure max over y of sum over s of P(s) abs(1/lift - 1), exactly.

    Source: 002 Def 6, eq. (34).
    """
    return inverse_of_table(lift_table(channel, context))


def inverse_of_table(table: LiftTable) -> Reading:
    """Measure the inverse on a table of lifts."""
    return worst_output(
        "l1_lift_inverse",
        table,
        lambda lifts: np.abs(1 / lifts - 1),
        lambda lifts: Enclosure.of(average(table.secret_masses, [abs(1 / v - 1) for v in lifts])),
        inverse=True,
    )


class L1Lift(UpperBound):
    """The guarantee that the l1-lift is at most a plain number.

    Source: 002 Def 5.
    """

    budget: Fraction

    key = "l1_lift"
    title = "l1-lift"
    says = "mean |lift - 1| at every output"
    unit = ""

    def output_limit(self) -> OutputLimit:
        """Return the mean of lifts that is limited at every output."""
        return OutputLimit("l1", False, self.budget)

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:  # noqa: ARG002
        """Measure the leakage."""
        return measure(channel, context)


class L1LiftInverse(UpperBound):
    """The guarantee that the l1-lift-inverse is at most a plain number.

    Source: 002 Def 6.
    """

    budget: Fraction

    key = "l1_lift_inverse"
    title = "l1-lift-inverse"
    says = "mean |1/lift - 1| at every output"
    unit = ""

    def output_limit(self) -> OutputLimit:
        """Return the mean of lifts that is limited at every output."""
        return OutputLimit("l1", True, self.budget)

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:  # noqa: ARG002
        """Measure the leakage."""
        return measure_inverse(channel, context)
