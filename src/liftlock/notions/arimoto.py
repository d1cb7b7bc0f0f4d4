"""Arimoto mutual information of order alpha, in nats."""

from __future__ import annotations

import math
from fractions import Fraction

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.enclosure import BITS
from liftlock.exact.integers import sum_of
from liftlock.notions import mutual_information
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.notion import OrderedUpperBound
from liftlock.notions.order import Order, read_order
from liftlock.notions.reading import Reading
from liftlock.notions.sibson import log_mean_norm, log_norm, scaled_log


def measure(channel: Channel, context: Context, alpha: object, bits: int = BITS) -> Reading:
    """Measure Arimoto's I_alpha, Sibson's information at the prior tilted to P(s)^alpha.

        alpha/(alpha-1) ln [ sum_y (sum_s P(s)^alpha P(y|s)^alpha)^(1/alpha)
                             / (sum_s P(s)^alpha)^(1/alpha) ]

    Order 1 is Shannon's, order infinity ln of sum_y max_s P(s, y) over max_s P(s).

    Source: 002 Prop 1.

    >>> from liftlock.prior import Prior
    >>> fair = Prior.uniform("ab")
    >>> measure(Channel.identity("ab"), fair, "inf").ratio
    Fraction(2, 1)
    """
    return of_table(lift_table(channel, context), read_order(alpha), bits)


def of_table(table: LiftTable, order: Order, bits: int = BITS) -> Reading:
    """Measure it on a table of lifts."""
    masses = table.secret_masses
    if order is None:
        given = table.likelihoods
        guess = sum_of(
            max(m * given.at(s, y) for s, m in enumerate(masses)) for y in range(len(table.outputs))
        )
        return Reading.of_ratio("arimoto", guess / max(masses), None, bits)
    if order == 1:
        shannon = mutual_information.of_table(table, bits)
        return Reading("arimoto", shannon.value, "nats")
    ones = (Fraction(1),) * len(masses)
    joint = log_mean_norm(table, ones, masses, order, bits)
    work = bits + 16 + math.ceil(abs(order / (order - 1))).bit_length()
    alone = log_norm(masses, ones, order, work)
    return Reading("arimoto", scaled_log(joint + alone.scaled(-1), order), "nats")


class Arimoto(OrderedUpperBound):
    """The guarantee that the Arimoto information of order alpha is at most a budget in nats.

    Source: 002 Prop 1.
    """

    key = "arimoto"
    title = "Arimoto information"
    says = "Arimoto information of order alpha, in nats"

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return of_table(lift_table(channel, context), self.alpha, bits)
