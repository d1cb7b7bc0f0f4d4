"""chi2-divergence: the mean squared change of belief, averaged over outputs."""

from __future__ import annotations

from fractions import Fraction

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import sum_of
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.notion import UpperBound
from liftlock.notions.reading import Reading


def measure(channel: Channel, context: Context) -> Reading:
    """Measure chi2(S; Y) = sum over s, y of P(s) P(y) (lift - 1)^2, exactly.

    Source: 002 Prop 1, section 6 (the mean chi2-lift).

    >>> from liftlock.prior import Prior
    >>> measure(Channel.identity("abc"), Prior.uniform("abc")).value.lower
    Fraction(2, 1)
    """
    return of_table(lift_table(channel, context))


def of_table(table: LiftTable) -> Reading:
    """Measure it on a table of lifts: sum of P(s) P(y | s)^2 / P(y), minus 1."""
    given = table.likelihoods
    common = len(set(given.denominators)) == 1
    terms = []
    for y, mass in enumerate(table.masses):
        column = given.numerators.column(y)
        if common:
            square = sum(n * k * k for n, k in zip(table.counts, column, strict=True))
            inner = Fraction(square, table.count_total * given.denominators[0] ** 2)
        else:
            inner = sum_of(
                p * Fraction(k, d) ** 2
                for p, k, d in zip(table.secret_masses, column, given.denominators, strict=True)
            )
        terms.append(inner * Fraction(table.mass_total, mass))
    return Reading("chi2", Enclosure.of(sum_of(terms) - 1), "")


class Chi2(UpperBound):
    """The guarantee that chi2(S; Y) is at most a plain number.

    Source: 002 Prop 1.
    """

    key = "chi2"
    title = "chi2-divergence"
    says = "mean chi2-lift"
    unit = ""

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:  # noqa: ARG002
        """Measure the leakage."""
        return measure(channel, context)
