"""Total variation: half the mean absolute change of belief, averaged over outputs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import sum_of
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.notion import UpperBound
from liftlock.notions.reading import Reading


def measure(channel: Channel, context: Context) -> Reading:
    """Measure T(S; Y) = 1/2 sum over s, y of abs(P(s, y) - P(s) P(y)), exactly.

    Source: 002 Prop 1, section 6 (half the mean l1-lift).

    >>> from liftlock.prior import Prior
    >>> measure(Channel.identity("ab"), Prior.uniform("ab")).value.lower
    Fraction(1, 2)
    """
    return of_table(lift_table(channel, context))


def of_table(table: LiftTable) -> Reading:
    """Measure it on a table of lifts."""
    masses = np.array(table.masses, dtype=object)
    terms = []
    for s, mass in enumerate(table.secret_masses):
        row = np.array(table.likelihoods.row(s), dtype=object)
        total = table.likelihoods.denominators[s]
        gap = abs(row * table.mass_total - masses * total).sum()
        terms.append(mass * Fraction(int(gap), total * table.mass_total))
    return Reading("total_variation", Enclosure.of(sum_of(terms) / 2), "")


class TotalVariation(UpperBound):
    """The guarantee that T(S; Y) is at most a plain number.

    Source: 002 Prop 1.
    """

    key = "total_variation"
    title = "total variation"
    says = "mean l1-lift over 2"
    unit = ""

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:  # noqa: ARG002
        """Measure the leakage."""
        return measure(channel, context)
