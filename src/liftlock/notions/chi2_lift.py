"""chi2-lift: the mean squared change of belief at the worst output, and its inverse."""

from __future__ import annotations

from fractions import Fraction

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.enclosure import Enclosure
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.notion import OutputLimit, UpperBound
from liftlock.notions.per_output import average, worst_output
from liftlock.notions.reading import Reading


def measure(channel: Channel, context: Context) -> Reading:
    """Measure max over y of sum over s of P(s) (lift - 1)^2, exactly.

    Source: 002 Def 5, eq. (32).

    >>> from liftlock.prior import Prior
    >>> measure(Channel.identity("abc"), Prior.uniform("abc")).value.lower
    Fraction(2, 1)
    """
    return of_table(lift_table(channel, context))


def of_table(table: LiftTable) -> Reading:
    """Measure it on a table of lifts."""
    return worst_output(
        "chi2_lift",
        table,
        lambda lifts: (lifts - 1) ** 2,
        lambda lifts: Enclosure.of(average(table.secret_masses, [(v - 1) ** 2 for v in lifts])),
    )


def measure_inverse(channel: Channel, context: Context) -> Reading:
    """Measure max over y of sum over s of P(s) (1/lift - 1)^2, exactly.

    Source: 002 Def 6, eq. (35).
    """
    return inverse_of_table(lift_table(channel, context))


def inverse_of_table(table: LiftTable) -> Reading:
    """Measure the inverse on a table of lifts."""
    return worst_output(
        "chi2_lift_inverse",
        table,
        lambda lifts: (1 / lifts - 1) ** 2,
        lambda lifts: Enclosure.of(average(table.secret_masses, [(1 / v - 1) ** 2 for v in lifts])),
        inverse=True,
    )


class Chi2Lift(UpperBound):
    """The guarantee that the chi2-lift is at most a plain number.

    Source: 002 Def 5.
    """

    budget: Fraction

    key = "chi2_lift"
    title = "chi2-lift"
    says = "mean (lift - 1)^2 at every output"
    unit = ""

    def output_limit(self) -> OutputLimit:
        """Return the mean of lifts that is limited at every output."""
        return OutputLimit("chi2", False, self.budget)

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:  # noqa: ARG002
        """Measure the leakage."""
        return measure(channel, context)


class Chi2LiftInverse(UpperBound):
    """The guarantee that the chi2-lift-inverse is at most a plain number.

    Source: 002 Def 6.
    """

    budget: Fraction

    key = "chi2_lift_inverse"
    title = "chi2-lift-inverse"
    says = "mean (1/lift - 1)^2 at every output"
    unit = ""

    def output_limit(self) -> OutputLimit:
        """Return the mean of lifts that is limited at every output."""
        return OutputLimit("chi2", True, self.budget)

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:  # noqa: ARG002
        """Measure the leakage."""
        return measure_inverse(channel, context)
