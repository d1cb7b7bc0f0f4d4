"""Leakages that average over outputs: mutual information, its orders, and means of distances.

    sum over y of P(y) f(lifts at y),

or a function of that mean: Shannon's, Sibson's and Arimoto's information, maximal leakage, total
variation (half the mean l1-lift) and the chi2-divergence (the mean chi2-lift).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from liftlock.exact.enclosure import BITS, Enclosure, exp_of, log, log_of, nearest_float
from liftlock.exact.integers import Floats, sum_fractions
from liftlock.model import Context, Joint
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, to_dense
from liftlock.notions.base import Order, OrderedBound, TableBound
from liftlock.notions.lift import LiftTable, impossible_inputs
from liftlock.notions.likelihood import Likelihoods, likelihoods
from liftlock.notions.measurement import Measurement, screening_error
from liftlock.notions.per_output import power_sum

FLOAT_CELLS = 20_000
"""Tables with more cells are enclosed by float64 with a rigorous margin, unless more bits are
asked for. The margin assumes that the machine's logarithm is within 4 units in the last place."""


# --- mutual information ---------------------------------------------------------------------------


class MutualInformation(TableBound):
    """The guarantee that what an output tells on average is at most a budget in nats.

        I(S; Y) = sum over s, y of P(s, y) ln lift(s, y)

    Source: 000 Def 2; 001 Def 2.

    >>> from liftlock.model import Prior
    >>> fair = Prior.uniform("ab")
    >>> float(MutualInformation.measure(Channel.identity("ab"), fair)) == float(np.log(2))
    True
    """

    key = "mutual_information"
    title = "mutual information"
    summary = "mean log-lift, in nats"
    averages = True

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""
        return cls.make_measurement(shannon(table, bits))


def shannon(table: LiftTable, bits: int = BITS) -> Enclosure:
    """Enclose I(S; Y), in nats."""
    cells = len(table.secrets) * len(table.outputs)
    floats = cells > FLOAT_CELLS and bits <= BITS and table.faithful
    return _shannon_by_floats(table) if floats else _shannon_exactly(table, bits)


def _shannon_exactly(table: LiftTable, bits: int) -> Enclosure:
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
        total = total + log(lift, bits + 8).scaled(weight).rounded(bits + 16)
    return Enclosure(max(total.lower, Fraction(0)), total.upper)


def _shannon_by_floats(table: LiftTable) -> Enclosure:
    lifts = table.floats()
    joint = table.likelihoods.approximate * np.array([[float(m)] for m in table.secret_masses])
    logs = np.log(lifts, out=np.zeros_like(lifts), where=lifts > 0)
    value = float((joint * logs).sum())
    spread = float((joint * (1 + np.abs(logs))).sum())
    margin = 2 * spread * (table.error + screening_error(joint.size.bit_length()))
    return Enclosure(Fraction(max(value - margin, 0.0)), Fraction(value + margin))


# --- maximal leakage ------------------------------------------------------------------------------


class MaximalLeakage(TableBound):
    """The guarantee that the best gain in guessing any function of the secret is at most a budget.

        L = ln sum over y of max over s of P(y | s), s of positive probability

    It depends on the prior through its support only; for a set of priors, on the symbols that
    are possible under some of them.

    Source: 000 Def 4, eq. (2).

    >>> from liftlock.model import Prior
    >>> MaximalLeakage.measure(Channel.identity("abc"), Prior.uniform("abc")).ratio
    Fraction(3, 1)
    """

    key = "maximal_leakage"
    title = "maximal leakage"
    summary = "gain in guessing anything, in nats"
    averages = True
    audited = "always"
    of_sets = True
    of_ratio = True

    @classmethod
    def measure(cls, channel: AnyChannel, context: Context, bits: int = BITS) -> Measurement:
        """Measure it; of a prior it needs the support alone."""
        given = supported_likelihoods(to_dense(channel), context)
        return Measurement.of_ratio(cls.key, guessing_gain(given), None, bits)

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""
        return Measurement.of_ratio(cls.key, guessing_gain(table.likelihoods), None, bits)


def supported_likelihoods(channel: Channel, context: Context) -> Likelihoods:
    """Return the likelihoods of the secrets that can occur."""
    if isinstance(context, Joint):
        return likelihoods(channel, context)
    dropped = impossible_inputs(channel, context)
    if not dropped:
        return likelihoods(channel)
    return likelihoods(channel.restrict(x for x in channel.inputs.labels if x not in dropped))


def guessing_gain(given: Likelihoods) -> Fraction:
    """Return sum over y of max over s of P(y | s)."""
    tops = given.column_extremes(1)
    return sum_fractions(given.at(int(s), y) for y, s in enumerate(tops))


# --- means of distances ---------------------------------------------------------------------------


class TotalVariation(TableBound):
    """The guarantee that half the mean absolute change of belief is at most a number.

        T(S; Y) = 1/2 sum over s, y of abs(P(s, y) - P(s) P(y))

    Source: 002 Prop 1, section 6 (half the mean l1-lift).

    >>> from liftlock.model import Prior
    >>> TotalVariation.measure(Channel.identity("ab"), Prior.uniform("ab")).value.lower
    Fraction(1, 2)
    """

    key = "total_variation"
    title = "total variation"
    summary = "mean l1-lift over 2"
    averages = True
    unit = ""

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:  # noqa: ARG003 - exact
        """Measure it on a table of lifts, exactly."""
        return cls.make_measurement(Enclosure.of(mean_distance(table, 1) / 2))


class Chi2(TableBound):
    """The guarantee that the mean squared change of belief is at most a number.

        chi2(S; Y) = sum over s, y of P(s) P(y) (lift - 1)^2

    Source: 002 Prop 1, section 6 (the mean chi2-lift).

    >>> from liftlock.model import Prior
    >>> Chi2.measure(Channel.identity("abc"), Prior.uniform("abc")).value.lower
    Fraction(2, 1)
    """

    key = "chi2"
    title = "chi2-divergence"
    summary = "mean chi2-lift"
    averages = True
    unit = ""

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:  # noqa: ARG003 - exact
        """Measure it on a table of lifts, exactly."""
        return cls.make_measurement(Enclosure.of(mean_distance(table, 2)))


def mean_distance(table: LiftTable, exponent: int) -> Fraction:
    """Return sum over s, y of P(s) P(y) abs(lift - 1)^exponent."""
    given, total = table.likelihoods, table.mass_total
    terms = []
    for y, mass in enumerate(table.masses):
        gathered: dict[int, int] = {}
        secrets = zip(table.counts, given.numerators.column(y), given.denominators, strict=True)
        for count, numerator, denominator in secrets:
            off = abs(numerator * total - denominator * mass)
            gathered[denominator] = gathered.get(denominator, 0) + count * off**exponent
        sums = (Fraction(each, denominator**exponent) for denominator, each in gathered.items())
        terms.append(sum_fractions(sums) / (table.count_total * total * mass ** (exponent - 1)))
    return sum_fractions(terms)


# --- orders of information ------------------------------------------------------------------------


class Sibson(OrderedBound):
    """The guarantee that Sibson's information of order alpha is at most a budget in nats.

        alpha/(alpha-1) ln sum_y (sum_s P(s) P(y|s)^alpha)^(1/alpha)

    Order 1 is Shannon's, order infinity maximal leakage.

    Source: 002 Prop 1, section 6 (alpha/(alpha-1) times ln of the mean alpha-lift).

    >>> from liftlock.model import Prior
    >>> fair = Prior.uniform("ab")
    >>> float(Sibson.measure(Channel.identity("ab"), fair, 2)) == float(np.log(2))
    True
    """

    key = "sibson"
    title = "Sibson information"
    summary = "Sibson information of order alpha, in nats"
    averages = True

    @classmethod
    def of_table(cls, table: LiftTable, order: Order, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""
        if order is None:
            return Measurement.of_ratio(cls.key, guessing_gain(table.likelihoods), None, bits)
        if order == 1:
            return cls.make_measurement(shannon(table, bits))
        ones = (Fraction(1),) * len(table.secrets)
        found = log_mean_norm(table, table.secret_masses, ones, order, bits)
        return cls.make_measurement(scaled_log(found, order))


class Arimoto(OrderedBound):
    """The guarantee that Arimoto's information of order alpha is at most a budget in nats.

    It is Sibson's information at the prior tilted to P(s)^alpha:

        alpha/(alpha-1) ln [ sum_y (sum_s P(s)^alpha P(y|s)^alpha)^(1/alpha)
                             / (sum_s P(s)^alpha)^(1/alpha) ]

    Order 1 is Shannon's, order infinity ln of sum_y max_s P(s, y) over max_s P(s).

    Source: 002 Prop 1.

    >>> from liftlock.model import Prior
    >>> fair = Prior.uniform("ab")
    >>> Arimoto.measure(Channel.identity("ab"), fair, "inf").ratio
    Fraction(2, 1)
    """

    key = "arimoto"
    title = "Arimoto information"
    summary = "Arimoto information of order alpha, in nats"
    averages = True

    @classmethod
    def of_table(cls, table: LiftTable, order: Order, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""
        masses = table.secret_masses
        if order is None:
            given = table.likelihoods
            guess = sum_fractions(
                max(m * given.at(s, y) for s, m in enumerate(masses))
                for y in range(len(table.outputs))
            )
            return Measurement.of_ratio(cls.key, guess / max(masses), None, bits)
        if order == 1:
            return cls.make_measurement(shannon(table, bits))
        ones = (Fraction(1),) * len(masses)
        joint = log_mean_norm(table, ones, masses, order, bits)
        work = bits + 16 + math.ceil(abs(order / (order - 1))).bit_length()
        alone = log_norm(masses, ones, order, work)
        return cls.make_measurement(scaled_log(joint + alone.scaled(-1), order))


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
