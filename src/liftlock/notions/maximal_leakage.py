"""Maximal leakage: the best gain in guessing any function of the secret, in nats."""

from __future__ import annotations

from fractions import Fraction

from liftlock.channel import Channel
from liftlock.context import Context, Joint
from liftlock.exact.enclosure import BITS
from liftlock.exact.integers import sum_of
from liftlock.notions.lift import impossible_inputs
from liftlock.notions.likelihood import Likelihoods, likelihoods
from liftlock.notions.notion import UpperBound
from liftlock.notions.reading import Reading


def measure(channel: Channel, context: Context, bits: int = BITS) -> Reading:
    """Measure L = ln sum over y of max over s of P(y | s), s of positive probability.

    It depends on the prior through its support only; for a set of priors, on the symbols that
    are possible under some of them.

    Source: 000 Def 4, eq. (2).

    >>> from liftlock.prior import Prior
    >>> measure(Channel.identity("abc"), Prior.uniform("abc")).ratio
    Fraction(3, 1)
    """
    return of_likelihoods(supported(channel, context), bits)


def of_likelihoods(given: Likelihoods, bits: int = BITS) -> Reading:
    """Measure it on the likelihoods of the secrets that can occur."""
    return Reading.of_ratio("maximal_leakage", guessing_gain(given), None, bits)


def supported(channel: Channel, context: Context) -> Likelihoods:
    """Return the likelihoods of the secrets that can occur."""
    if isinstance(context, Joint):
        return likelihoods(channel, context)
    dropped = impossible_inputs(channel, context)
    if not dropped:
        return likelihoods(channel)
    return likelihoods(channel.restricted(x for x in channel.inputs.labels if x not in dropped))


def guessing_gain(given: Likelihoods) -> Fraction:
    """Return sum over y of max over s of P(y | s)."""
    tops = given.column_extremes(1)
    return sum_of(given.at(int(s), y) for y, s in enumerate(tops))


class MaximalLeakage(UpperBound):
    """The guarantee that the maximal leakage is at most a budget in nats.

    Source: 000 Def 4.
    """

    key = "maximal_leakage"
    title = "maximal leakage"
    says = "gain in guessing anything, in nats"

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return measure(channel, context, bits)
