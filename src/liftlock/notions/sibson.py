"""Sibson mutual information of order alpha, in nats.

Order 1 is Shannon's mutual information, order infinity the maximal leakage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.enclosure import BITS, Enclosure, exp_of, log, log_of, nearest_float
from liftlock.exact.integers import Floats
from liftlock.notions import mutual_information
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.likelihood import Likelihoods
from liftlock.notions.maximal_leakage import guessing_gain
from liftlock.notions.mutual_information import FLOAT_CELLS
from liftlock.notions.notion import OrderedUpperBound
from liftlock.notions.order import Order, read_order
from liftlock.notions.per_output import power_sum
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
    ones = (Fraction(1),) * len(table.secrets)
    found = log_mean_norm(table, table.secret_masses, ones, order, bits)
    return Reading("sibson", scaled_log(found, order), "nats")


def log_mean_norm(
    table: LiftTable,
    weights: Sequence[Fraction],
    factors: Sequence[Fraction],
    order: Fraction,
    bits: int,
) -> Enclosure:
    """Enclose ln sum over y of (sum over s of weight(s) (factor(s) P(y | s))^alpha)^(1/alpha).

    All of it is done in logarithms: at high and at low orders the sums themselves leave every
    range.
    """
    given = table.likelihoods
    cells = len(table.secrets) * len(table.outputs)
    usual = Fraction(1, 10**9) < order < 10**9
    if cells > FLOAT_CELLS and bits <= BITS and usual and given.faithful.all():
        return _by_floats(given, weights, factors, order)
    # The result is multiplied by alpha/(alpha-1) in the end, which order 1 makes large.
    work = bits + 16 + math.ceil(abs(order / (order - 1))).bit_length()
    norms = []
    for y in range(len(table.outputs)):
        column = [factor * given.at(s, y) for s, factor in enumerate(factors)]
        norms.append(log_norm(column, weights, order, work))
    return _log_sum_exp(norms, work)


def log_norm(
    values: Sequence[Fraction], weights: Sequence[Fraction], order: Fraction, bits: int
) -> Enclosure:
    """Enclose ln (sum of weight * value^alpha)^(1/alpha), for values that are not all 0."""
    top = max(values)
    # The sum of (value/top)^alpha is at least a weight, and its logarithm is divided by alpha.
    work = bits + 8 + sum(math.ceil(1 / v).bit_length() for v in (min(weights), order))
    inside = power_sum([value / top for value in values], weights, order, work)
    return log(top, work) + log_of(inside, work).scaled(1 / order)


def _log_sum_exp(logs: Sequence[Enclosure], bits: int) -> Enclosure:
    """Enclose ln of the sum of e^log."""
    top = max(value.lower for value in logs)
    total = Enclosure.of(0)
    for value in logs:
        rest = value.shifted(-top)
        assert rest.upper is not None
        vanishing = rest.upper < -bits
        term = Enclosure(Fraction(0), Fraction(1, 1 << bits)) if vanishing else exp_of(rest, bits)
        total += term.rounded(bits + 8)
    return log_of(total, bits).shifted(top)


def _by_floats(
    given: Likelihoods, weights: Sequence[Fraction], factors: Sequence[Fraction], order: Fraction
) -> Enclosure:
    """Do the same in float64, with a margin for every rounding.

    As for the mutual information, logarithm and exponential are taken to be right within 4 units
    in the last place.
    """
    exponent = nearest_float(order)
    with np.errstate(divide="ignore"):
        logs = np.log(given.approximate) + _float_logs(factors)
    heavy = _float_logs(weights)
    inner = heavy + exponent * logs
    tops = inner.max(axis=0)
    norms = (tops + np.log(np.exp(inner - tops).sum(axis=0))) / exponent
    highest = float(norms.max())
    value = highest + float(np.log(np.exp(norms - highest).sum()))
    sizes = [float(np.abs(part[np.isfinite(part)]).max()) for part in (logs, heavy, norms)]
    error = given.error + screening_error(0) * (2 + sizes[0] + sizes[2])
    error += (screening_error(len(weights)) + screening_error(0) * (1 + sizes[1])) / exponent
    margin = Fraction(2 * (error + screening_error(len(norms))))
    return Enclosure(Fraction(value) - margin, Fraction(value) + margin)


def _float_logs(values: Sequence[Fraction]) -> Floats:
    return np.array([[float(log(value, 64))] for value in values])


def scaled_log(value: Enclosure, order: Fraction) -> Enclosure:
    """Enclose alpha/(alpha-1) times a logarithm, which is never negative."""
    scaled = value.scaled(order / (order - 1))
    assert scaled.upper is not None
    return Enclosure(max(scaled.lower, Fraction(0)), max(scaled.upper, Fraction(0)))


class Sibson(OrderedUpperBound):
    """The guarantee that the Sibson information of order alpha is at most a budget in nats.

    Source: 002 Prop 1.
    """

    key = "sibson"
    title = "Sibson information"
    says = "Sibson information of order alpha, in nats"

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return of_table(lift_table(channel, context), self.alpha, bits)
