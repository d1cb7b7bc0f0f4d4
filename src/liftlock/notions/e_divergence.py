"""E-divergence (hockey-stick): by how much one distribution exceeds E times another.

    E_gamma(P || Q) = sum over y of max(0, P(y) - gamma Q(y))

The sum of positive parts is the largest excess over any *set* of outputs; testing output by output
would miss a leak that is spread over many of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.errors import NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.model import Prior
from liftlock.notions.measurement import Measurement, Witness


@dataclass(frozen=True)
class Excess:
    """The set of outputs where p > E q, with its mass under p and under q.

    The excess is ``weight * (mass - E * reference)``, or, when `inverse`, that divided by E (the
    first line of 000 Def 5).
    """

    mass: Fraction
    reference: Fraction
    outputs: tuple[int, ...]
    weight: Fraction = Fraction(1)
    inverse: bool = False

    def value(self, ratio: Enclosure) -> Enclosure:
        """Enclose the excess for an enclosed E."""
        assert ratio.upper is not None
        if not self.outputs:
            return Enclosure.of(0)
        if self.inverse:
            ends = (self.mass / ratio.upper, self.mass / ratio.lower)
            shifted = Enclosure(*ends).shifted(-self.reference)
        else:
            ends = (-ratio.upper * self.reference, -ratio.lower * self.reference)
            shifted = Enclosure(*ends).shifted(self.mass)
        low, high = shifted.lower, shifted.upper
        assert high is not None
        return Enclosure(max(low, Fraction(0)), max(high, Fraction(0))).scaled(self.weight)

    def required_ratio(self, delta: Fraction) -> Fraction | None:
        """Return the smallest E at which this set's excess is at most delta; None: no E is."""
        share = delta / self.weight
        if self.inverse:
            below = self.reference + share
            above = self.mass
        else:
            below = self.reference
            above = self.mass - share
        if above <= 0:
            return Fraction(0)
        return above / below if below else None


def largest_excess(close: Iterable[Excess], ratio: Enclosure) -> Enclosure:
    """Enclose the largest of several excesses for an enclosed E.

    Two that differ by less than the width of E cannot be told apart: the larger upper end counts.
    """
    value = Enclosure.of(0)
    for each in close:
        value = value.maximum(each.value(ratio))
    return value


def excess(
    p: Sequence[int], p_total: int, q: Sequence[int], q_total: int, budget: Budget
) -> Excess:
    """Return the exact excess of p over E q, E = e^epsilon of the budget.

    >>> excess([3, 1], 4, [1, 1], 2, Budget.of(0)).mass
    Fraction(3, 4)
    """
    chosen = []
    near = budget.exp()
    low, high = near.lower, near.upper
    assert high is not None
    # a / p_total > E b / q_total in integers, as the totals can be too far apart for floats.
    above_p, above_q = q_total * high.denominator, p_total * high.numerator
    below_p, below_q = q_total * low.denominator, p_total * low.numerator
    for y, (a, b) in enumerate(zip(p, q, strict=True)):
        if a * above_p > b * above_q or (
            a * below_p > b * below_q and not budget.allows(Fraction(a * q_total, b * p_total))
        ):
            chosen.append(y)
    return Excess(
        Fraction(sum(p[y] for y in chosen), p_total),
        Fraction(sum(q[y] for y in chosen), q_total),
        tuple(chosen),
    )


def measure(first: Prior, second: Prior, gamma: object) -> Measurement:
    """Measure E_gamma(first || second) of two distributions, for an exact gamma of 0 or more.

    Source: 000 Def 8, eq. (22).

    >>> coin, biased = Prior.from_counts({"h": 1, "t": 1}), Prior.from_counts({"h": 3, "t": 1})
    >>> measure(biased, coin, 1).value.lower
    Fraction(1, 4)
    """
    number = exact(gamma, name="gamma")
    if number < 0:
        raise NumberError("gamma is negative", value=gamma, remedy="give a number of 0 or more")
    other = second.reordered(first.alphabet)
    found = excess(first.counts, first.total, other.counts, other.total, Budget(None, number))
    outputs = tuple(first.labels[y] for y in found.outputs)
    value = found.value(Enclosure.of(number))
    return Measurement("e_divergence", value, "", None, Witness(outputs=outputs))


def positive_parts(p: Floats, q: Floats, ratio: float) -> Floats:
    """Estimate sum over y of max(0, p - ratio q) in float64, along the last axis.

    A ratio beyond the largest float counts as 1e300: too much is estimated then, never too little.
    """
    sums: Floats = np.maximum(p - min(ratio, 1e300) * q, 0.0).sum(axis=-1)
    return sums
