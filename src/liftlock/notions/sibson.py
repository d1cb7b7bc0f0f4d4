"""Sibson mutual information of order alpha, in nats.

Order 1 is Shannon's mutual information, order infinity the maximal leakage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.enclosure import BITS, Enclosure, log_of, power
from liftlock.notions import mutual_information
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.maximal_leakage import guessing_gain
from liftlock.notions.mutual_information import FLOAT_CELLS
from liftlock.notions.notion import UpperBound
from liftlock.notions.order import Order, order_text, read_order
from liftlock.notions.reading import Reading, screening_error


def measure(channel: Channel, context: Context, alpha: object, bits: int = BITS) -> Reading:
    """Measure Sibson's I_alpha.

        alpha/(alpha-1) ln sum_y (sum_s P(s) P(y|s)^alpha)^(1/alpha)

    Source: 002 Prop 1, section 6 (alpha/(alpha-1) times ln of the mean alpha-lift).

    >>> from liftlock.prior import Prior
    >>> float(measure(Channel.identity("ab"), Prior.uniform("ab"), 2)) == float(np.log(2))
    True
    """
    return of_table(lift_table(channel, context), read_order(alpha), bits)


def of_table(table: LiftTable, order: Order, bits: int = BITS) -> Reading:
    """Measure it on a table of lifts."""
    if order is None:
        return Reading.of_ratio("sibson", guessing_gain(table.likelihoods), None, bits)
    if order == 1:
        shannon = mutual_information.of_table(table, bits)
        return Reading("sibson", shannon.value, "nats")
    sum_ = mean_norm(
        table, [float(m) for m in table.secret_masses], table.secret_masses, order, bits
    )
    return Reading("sibson", scaled_log(sum_, order, bits), "nats")


def mean_norm(
    table: LiftTable,
    float_weights: list[float],
    weights: Sequence[Fraction | Enclosure],
    order: Fraction,
    bits: int,
) -> Enclosure:
    """Enclose sum over y of (sum over s of weight(s) P(y | s)^alpha)^(1/alpha)."""
    given = table.likelihoods
    if len(table.secrets) * len(table.outputs) > FLOAT_CELLS and bits <= BITS:
        exponent = float(order)
        highest = given.approximate.max(axis=0)
        powers = (given.approximate / highest) ** exponent
        inner = np.array(float_weights) @ powers
        value = float((highest * inner ** (1 / exponent)).sum())
        margin = value * 64 * (1 + exponent + 1 / exponent)
        margin *= given.error + screening_error(len(table.secrets))
        return Enclosure(Fraction(max(value - margin, 0.0)), Fraction(value + margin))
    work = bits + 16
    total = Enclosure.of(0)
    for y in range(len(table.outputs)):
        inside = Enclosure.of(0)
        for s, weight in enumerate(weights):
            likelihood = given.at(s, y)
            if not likelihood:
                continue
            term = power(Enclosure.of(likelihood), order, work)
            factor = weight if isinstance(weight, Enclosure) else Enclosure.of(weight)
            inside = (inside + term.times(factor)).rounded(4 * work)
        total = (total + power(inside, 1 / order, work)).rounded(2 * work)
    return total


def scaled_log(value: Enclosure, order: Fraction, bits: int) -> Enclosure:
    """Enclose alpha/(alpha-1) ln(value), which is never negative."""
    scaled = log_of(value, bits).scaled(order / (order - 1))
    assert scaled.upper is not None
    return Enclosure(max(scaled.lower, Fraction(0)), max(scaled.upper, Fraction(0)))


@dataclass(frozen=True, init=False)
class Sibson(UpperBound):
    """The guarantee that the Sibson information of order alpha is at most a budget in nats.

    Source: 002 Prop 1.
    """

    order: Order
    notion = "sibson"

    def __init__(self, alpha: object, budget: object) -> None:
        super().__init__(budget)
        object.__setattr__(self, "order", read_order(alpha))

    @property
    def budgets(self) -> Mapping[str, str]:
        """The order and the budget as exact text."""
        return {"alpha": order_text(self.order), "budget": self._text}

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return of_table(lift_table(channel, context), self.order, bits)
