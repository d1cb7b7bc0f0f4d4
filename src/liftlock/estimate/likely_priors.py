"""The priors that reports allow: a set for the next round, with its confidence.

People who reported are independent draws from a population, and so will be those of the next round.
The set has an interval for each of m symbols, and all of them hold the shares of the population at
once except with probability beta, whatever these are: each of the 2 m ends fails with probability
at most beta / (2 m) (of two symbols one decides the other: beta / 2).

Where some outputs are as likely under all symbols but one (randomised response, subset selection,
encodings), how many reports are among them is binomial, and an end is that of Clopper and Pearson,
pulled back through the channel. Otherwise reports have scores g with E[g(Y) | x] = [x = k]. While
the share of k is at most v, a bet of 1 + t (g(y) - v) >= 0 on each report is fair or worse, so that
the product over all reports is 1 / alpha or more with probability at most alpha (Markov). The lower
end is the largest v at which it is; the upper end mirrors it. Rounds multiply. The size t of a
round follows from its own table and the number of all reports, which are fixed before it begins: a
later table may have been designed for what earlier reports said, and a bet that depended on it
would depend on its own outcome. Where scores do not exist, the ends are those of `intervals.range`.

Nothing here is an approximation; the ends are decimals that are rounded outward.

Source: math Clopper-Pearson intervals through a channel, and bets on scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError, InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.intervals.range import answer_ranges
from liftlock.estimate.models import Dense
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import log
from liftlock.model import Intervals, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.confidence import proportion_interval, read_confidence
from liftlock.model.structured import SupportChannel

_SAME = 1 / 1024
"""Chances that differ by less than this part of what tells a symbol apart are nearly the same."""
_CAP = 0.999
_STEP = 10**6
"""Ends are whole numbers of millionths."""
_UNITS = 1 << 24
"""Scores are whole numbers of 2^-24, so that their means are exact."""
_ROUNDS = 50
_SLACK = 1e-9
"""What the logarithm of a product of bets may be off, for each unit of its size."""


@dataclass(frozen=True, eq=False)
class Round:
    """One collection of reports: how they were made, what was counted, and what was expected."""

    channel: Channel | SupportChannel
    counted: Aggregate
    prior: Prior | None = None

    @property
    def inputs(self) -> Alphabet:
        """The symbols."""
        return self.channel.inputs

    @property
    def reports(self) -> int:
        """How many people reported."""
        return self.counted.reports

    @cached_property
    def _model(self) -> Dense:
        assert isinstance(self.channel, Channel)
        return Dense.of(self.channel, self.prior)

    @cached_property
    def _scores(self) -> Floats | None:
        """The scores of all symbols, whole numbers of 2^-24; None if the reports have none."""
        scores, misses = self._model.inverse.solve(Question.histogram(self.inputs))
        return None if misses is not None else np.rint(scores * _UNITS)

    @property
    def identifies(self) -> bool:
        """Whether the reports determine the shares."""
        if isinstance(self.channel, SupportChannel):
            return self.channel.hit > self.channel.miss
        return self._scores is not None

    def binomial(self, place: int) -> BinomialCount | None:
        """Return a count of reports that is binomial, whatever the shares of the other symbols."""
        channel, reports = self.channel, self.reports
        if isinstance(channel, SupportChannel):
            hit, miss = channel.hit, channel.miss
            if hit == miss:
                return None
            return BinomialCount(self.counted.counts[place], reports, hit, miss, miss)
        rows = channel.floats()
        marked = rows[place] * len(rows) > rows.sum(axis=0) * (1 + _SLACK)
        chances = [
            Fraction(sum(int(w) for w in row[marked]), total)
            for row, total in zip(channel.weights, channel.totals, strict=True)
        ]
        own, others = chances.pop(place), chances
        if (
            not others
            or own <= max(others)
            or max(others) - min(others) > _SAME * (own - max(others))
        ):
            return None
        seen = sum(count for count, on in zip(self.counted.counts, marked, strict=True) if on)
        return BinomialCount(seen, reports, own, min(others), max(others))

    def bets(self, place: int) -> ReportScores:
        """Return the score that each report has for a symbol, and how often it was reported."""
        channel, counts = self.channel, np.array(self.counted.counts, dtype=np.float64)
        if isinstance(channel, SupportChannel):
            hit, miss = float(channel.hit), float(channel.miss)
            share = 1 / len(self.inputs) if self.prior is None else self._share(place)
            rate = miss + (hit - miss) * share
            values = np.array([-miss, 1.0 - miss]) / (hit - miss)
            seen = counts[place]
            spread = rate * (1 - rate) / (hit - miss) ** 2
            # A few roundings of numbers of this size.
            off = 2.0**-48 * float(np.abs(values).max())
            return ReportScores(values, np.array([self.reports - seen, seen]), spread, off)
        assert self._scores is not None
        whole = self._scores[:, place]
        known = [int(score) for score in whole.tolist()]
        wrong = max(
            abs(
                Fraction(sum(int(w) * g for w, g in zip(row, known, strict=True)), total * _UNITS)
                - (x == place)
            )
            for x, (row, total) in enumerate(zip(channel.weights, channel.totals, strict=True))
        )
        values = whole / _UNITS
        expected = self._model.expected
        spread = float(expected @ (values - expected @ values) ** 2)
        possible = (channel.weights > 0).any(axis=0)
        return ReportScores(
            values[possible], counts[possible], spread, float(wrong) * (1 + 2.0**-40) + 2.0**-60
        )

    def _share(self, place: int) -> float:
        assert self.prior is not None
        return float(self.prior.reordered(self.inputs).fractions[place])


@dataclass(frozen=True)
class BinomialCount:
    """So many of all reports are marked: with chance `own` of those who have the symbol.

    Of the others the chance is between `least` and `most`.
    """

    seen: int
    reports: int
    own: Fraction
    least: Fraction
    most: Fraction

    def interval(self, alpha: Fraction) -> tuple[Fraction, Fraction]:
        """Return an interval for the share of the symbol, each end wrong with chance alpha."""
        low, high = proportion_interval(self.seen, self.reports, alpha)
        return (low - self.most) / (self.own - self.most), (high - self.least) / (
            self.own - self.least
        )


@dataclass(frozen=True, eq=False)
class ReportScores:
    """The different scores of reports, how often each was seen, and their expected variance.

    The mean score of somebody is off by at most `off` from 1, or 0.
    """

    values: Floats
    counts: Floats
    spread: float
    off: float


def bet_interval(
    rounds: Sequence[ReportScores], alpha: Fraction, reports: float | None = None
) -> tuple[Fraction, Fraction]:
    """Return an interval for a share, each end wrong with probability at most alpha.

    `reports` is the number of reports that was planned, unless it is that of these rounds.

    >>> coin = ReportScores(np.array([-0.5, 1.5]), np.array([600.0, 400.0]), 1.0, 0.0)
    >>> [round(float(end), 3) for end in bet_interval([coin], Fraction(1, 40))]
    [0.217, 0.385]
    """
    goal = float(log(1 / float(alpha))) * (1 + _SLACK) + _SLACK
    planned = reports or sum(float(each.counts.sum()) for each in rounds)

    def wealth(v: float, sign: float) -> float:
        """Return the logarithm of the product of all bets, from below."""
        total = 0.0
        for each in rounds:
            # The bet must not be negative for any v from 0 to 1.
            reach = 1.0 - each.values.min() if sign > 0 else each.values.max()
            t = math.sqrt(2 * goal / (planned * each.spread)) if each.spread > 0 else np.inf
            t = min(t, _CAP / max(float(reach) + each.off, 1e-300))
            # If scores are too high on average, by so much, the lower end pays for it.
            gains = sign * (each.values - v) - each.off
            parts = each.counts * log(1.0 + t * gains)
            total += math.fsum(parts.tolist()) - _SLACK * float(np.abs(parts).sum())
        return total

    def end(sign: float) -> float:
        """Return where the bets win just enough, by halving; on the far side of it."""
        won, lost = (0.0, 1.0) if sign > 0 else (1.0, 0.0)
        if wealth(won, sign) < goal:
            return won
        if wealth(lost, sign) >= goal:
            return lost
        for _ in range(_ROUNDS):
            middle = (won + lost) / 2
            if wealth(middle, sign) >= goal:
                won = middle
            else:
                lost = middle
        return won

    low, high = end(1.0), end(-1.0)
    return Fraction(math.floor(low * _STEP), _STEP), Fraction(math.ceil(high * _STEP), _STEP)


def likely_priors(rounds: Sequence[Round], confidence: object) -> Intervals:
    """Return a set that contains the shares of the population with a confidence, whatever they are.

    >>> from liftlock.model.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> near = likely_priors([Round(coin, Aggregate.of(coin, [0] * 600 + [1] * 400))], "0.99")
    >>> [f"{float(low):.3f} to {float(high):.3f}" for low, high in zip(near.lower, near.upper)]
    ['0.618 to 0.780', '0.220 to 0.382']
    """
    beta = read_confidence(confidence)
    inputs = rounds[0].inputs
    if any(each.inputs.labels != inputs.labels for each in rounds):
        raise InputError(
            "collections of different values", remedy="design all of them for the same labels"
        )
    size, reports = len(inputs), sum(each.reports for each in rounds)
    alpha = beta / (2 if size == 2 else 2 * size)
    telling = [each for each in rounds if each.identifies]
    if size == 1:
        ends = [(Fraction(1), Fraction(1))]
    elif not telling:
        ends = _ranges(rounds, beta)
    else:
        places = range(1 if size == 2 else size)
        if len(rounds) == 1:
            ends = [_interval(rounds[0], place, alpha) for place in places]
        else:
            ends = [
                bet_interval([each.bets(place) for each in telling], alpha, reports)
                for place in places
            ]
    # A symbol that was never seen may still be one: nobody rules it out with so many reports.
    rare = proportion_interval(0, reports, alpha)[1]
    ends = [(max(low, Fraction(0)), min(max(high, rare), Fraction(1))) for low, high in ends]
    if size == 2 and len(ends) == 1:
        ((low, high),) = ends
        low = min(low, 1 - rare)
        ends = [(low, high), (1 - high, 1 - low)]
    lower, upper = zip(*ends, strict=True)
    if sum(lower) > 1 or sum(upper) < 1:
        raise CountError(
            "no prior explains these reports",
            value=f"{reports:,} reports",
            remedy="check that all of them come from this mechanism",
        )
    told = f"{reports:,} reports" + (f" of {len(rounds)} rounds" if len(rounds) > 1 else "")
    return Intervals(inputs, lower, upper, 1 - beta, told)


def _interval(one: Round, place: int, alpha: Fraction) -> tuple[Fraction, Fraction]:
    counted = one.binomial(place)
    if counted is None:
        return bet_interval([one.bets(place)], alpha)
    low, high = counted.interval(alpha)
    return Fraction(math.floor(low * _STEP), _STEP), Fraction(math.ceil(high * _STEP), _STEP)


def _ranges(rounds: Sequence[Round], beta: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return what reports that do not determine the shares say of them all the same."""
    one, channel = rounds[0], rounds[0].channel
    if len(rounds) > 1 or not isinstance(channel, Channel):
        raise NotDefined(
            "a set of priors",
            "reports that do not determine the shares",
            "take the estimate of one round",
        )
    counts: npt.NDArray[np.int64] = np.array(one.counted.counts, dtype=np.int64)
    found = answer_ranges(channel.floats(), np.eye(len(one.inputs)), counts, beta)
    if found is None:
        return [(Fraction(1), Fraction(0))] * len(one.inputs)
    low, high = (side / one.reports for side in found)
    return [
        (Fraction(math.floor(a * _STEP), _STEP), Fraction(math.ceil(b * _STEP), _STEP))
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
