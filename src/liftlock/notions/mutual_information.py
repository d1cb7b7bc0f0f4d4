"""Mutual information: what an output tells about the secret on average, in nats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact import enclosure
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.notion import UpperBound
from liftlock.notions.reading import Reading, screening_error

FLOAT_CELLS = 20_000
"""Tables with more cells are enclosed by float64 with a rigorous margin, unless more bits are
asked for. The margin assumes that the machine's logarithm is within 4 units in the last place."""


def measure(channel: Channel, context: Context, bits: int = BITS) -> Reading:
    """Measure I(S; Y) = sum over s, y of P(s, y) ln lift(s, y).

    Source: 000 Def 2; 001 Def 2.

    >>> from liftlock.prior import Prior
    >>> float(measure(Channel.identity("ab"), Prior.uniform("ab"))) == float(np.log(2))
    True
    """
    return of_table(lift_table(channel, context), bits)


def of_table(table: LiftTable, bits: int = BITS) -> Reading:
    """Measure it on a table of lifts."""
    cells = len(table.secrets) * len(table.outputs)
    floats = cells > FLOAT_CELLS and bits <= BITS and table.faithful
    value = _by_floats(table) if floats else _exactly(table, bits)
    return Reading("mutual_information", value, "nats")


def _exactly(table: LiftTable, bits: int) -> Enclosure:
    """Add P(s, y) ln lift with one logarithm for each distinct lift."""
    weights: dict[Fraction, Fraction] = {}
    given = table.likelihoods
    for s, mass in enumerate(table.secret_masses):
        for y in range(len(table.outputs)):
            likelihood = given.at(s, y)
            if likelihood:
                lift = table.lift_at(s, y)
                weights[lift] = weights.get(lift, Fraction(0)) + mass * likelihood
    if set(weights) == {Fraction(1)}:
        return Enclosure.of(0)
    total = Enclosure.of(0)
    for lift, weight in weights.items():
        total = total + enclosure.log(lift, bits + 8).scaled(weight).rounded(bits + 16)
    return Enclosure(max(total.lower, Fraction(0)), total.upper)


def _by_floats(table: LiftTable) -> Enclosure:
    lifts = table.floats()
    joint = table.likelihoods.approximate * np.array([[float(m)] for m in table.secret_masses])
    logs = np.log(lifts, out=np.zeros_like(lifts), where=lifts > 0)
    value = float((joint * logs).sum())
    spread = float((joint * (1 + np.abs(logs))).sum())
    margin = 2 * spread * (table.error + screening_error(joint.size.bit_length()))
    return Enclosure(Fraction(max(value - margin, 0.0)), Fraction(value + margin))


class MutualInformation(UpperBound):
    """The guarantee that I(S; Y) is at most a budget in nats.

    Source: 000 Def 2; 001 Def 2.
    """

    key = "mutual_information"
    title = "mutual information"
    says = "mean log-lift, in nats"

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return measure(channel, context, bits)
