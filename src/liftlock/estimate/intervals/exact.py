"""Intervals for counts without the normal distribution: sums of binomials, added up or inverted.

Bayes: given the reports the count is a sum of Binomial(n_y, P(counted | y)), a distribution that is
computed term by term; the interval has equal tails of it.

Unbiased: where the score of a report has two values, the estimate counts the reports of one kind,
T ~ Binomial(s, q1) + Binomial(n - s, q0) about the people, and T ~ Binomial(n, q0 + (q1 - q0) s/n)
about the population. The interval holds every s that the exact test of T does not reject.

Half of the probability of the very value that was seen is counted to each tail (mid-p), so the
level is kept on average over s. Intervals that keep it for every s would be wider than asked for:
whole numbers jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.errors import extra
from liftlock.estimate.estimators import Linear
from liftlock.estimate.intervals.base import Interval, IntervalEstimate, IntervalRequest, Kind
from liftlock.estimate.intervals.normal import Normal
from liftlock.estimate.models import Dense
from liftlock.estimate.question import About
from liftlock.exact.integers import Floats

MOST_REPORTS = 20_000
MOST_SUMS = 5_000
"""So many binomials are added up, over all answers; beyond either the normal is as good."""

_TESTS = 60
"""So many tests are made to find the two ends of an interval, each of one sum of two binomials."""
_SAME = 1e-9
_REACH = 9.0
"""Binomials are cut off so many standard deviations away: less than 1e-18 is lost."""

Integers = npt.NDArray[np.int64]


def binomial_distribution(number: int, chance: float) -> tuple[int, Floats]:
    """Return the first whole number that matters, and the probabilities from there on.

    >>> first, distribution = binomial_distribution(2, 0.5)
    >>> first, distribution.round(6).tolist()
    (0, [0.25, 0.5, 0.25])
    """
    with extra("statistics"):
        from scipy.special import gammaln, xlog1py, xlogy

    middle = number * chance
    reach = _REACH * np.sqrt(middle * (1 - chance)) + 2 * _REACH
    first = max(0, int(np.floor(middle - reach)))
    places = np.arange(first, min(number, int(np.ceil(middle + reach))) + 1)
    logarithms = (
        gammaln(number + 1)
        - gammaln(places + 1)
        - gammaln(number - places + 1)
        + xlogy(places, chance)
        + xlog1py(number - places, -chance)
    )
    distribution: Floats = np.exp(logarithms)
    return first, distribution / distribution.sum()


def sum_distribution(numbers: Integers, chances: Floats) -> tuple[int, Floats]:
    """Return the distribution of a sum of independent binomials, as `binomial_distribution` does.

    Terms are non-negative and only added and multiplied, so no digit is lost to cancellation.

    >>> first, distribution = sum_distribution(np.array([1, 1]), np.array([0.5, 0.25]))
    >>> first, distribution.round(6).tolist()
    (0, [0.375, 0.5, 0.125])
    """
    begin, distribution = 0, np.ones(1)
    for number, chance in zip(numbers.tolist(), chances.tolist(), strict=True):
        if number > 0:
            first, terms = binomial_distribution(number, min(max(chance, 0.0), 1.0))
            begin, distribution = begin + first, np.convolve(distribution, terms)
    return begin, distribution


def equal_tails(begin: int, distribution: Floats, level: float) -> tuple[float, float]:
    """Return the first and last whole number with more than (1 - level)/2 on either side (mid-p).

    >>> equal_tails(0, np.array([0.01, 0.09, 0.8, 0.09, 0.01]), 0.9)
    (1.0, 3.0)
    """
    below = np.cumsum(distribution) - distribution / 2
    tail = (1 - level) / 2
    inside = np.flatnonzero((below > tail) & (1 - below > tail))
    if not len(inside):
        # One number has nearly all the probability.
        inside = np.array([int(np.argmax(distribution))])
    return float(begin + inside[0]), float(begin + inside[-1])


class Exact(Interval):
    """Equal tails of the distribution of a count, or all counts that no exact test rejects."""

    key: ClassVar[Kind] = "exact"
    title: ClassVar[str] = "an exact interval"

    def obstacle(self, request: IntervalRequest) -> tuple[str, str] | None:
        """Return what stands in the way: numbers that are no counts, or too many reports."""
        remedy = "ask for normal intervals"
        linear, question = request.linear, request.question
        if request.tally.weighted:
            return "weighted reports", remedy
        if question.behind is not None:
            return "values that are read through the profiles", remedy
        if not question.counts:
            return "sums of other numbers than 0 and 1", f"{remedy}, or for bootstrap"
        if request.tally.reports[0] > MOST_REPORTS:
            return f"more than {MOST_REPORTS:,} reports", f"{remedy}, which are as good there"
        outputs, answers = linear.scores.shape
        if (outputs if request.posterior else _TESTS) * answers > MOST_SUMS:
            return "so many answers and outputs", f"{remedy}, or for one value at a time"
        if not request.posterior and any(
            BinaryScores.of(linear, column) is None for column in range(answers)
        ):
            return "scores of more than two values", f"{remedy}, or for credible"
        return None

    def make(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the intervals, and where the numbers are so small that their coverage jumps."""
        linear, counts, level = request.linear, request.counts, request.level
        if request.posterior:
            ends = [
                equal_tails(*sum_distribution(counts, chances), level)
                for chances in linear.scores.T
            ]
            told = "94 to 100 times in 100, mostly more often than asked for"
        else:
            ends = [
                self._invert_test(linear, column, counts, level, request.about)
                for column in range(linear.scores.shape[1])
            ]
            told = "92 to 100 times in 100, depending on what it is, and 95 to 96 times on average"
        low, high = np.array(ends).T
        errors = Normal().raw_interval(request).errors
        assert errors is not None
        found = IntervalEstimate(errors, low, high, "exact")
        few = errors**2 < linear.enough * np.ptp(linear.influences, axis=0) ** 2
        if not few.any():
            return found
        return found.with_remarks(
            f"few reports decide about {request.question.list_names(few)}, and whole numbers jump: "
            f"exact intervals of 95 % hold the truth {told}; more reports would help, another kind "
            "of interval would not"
        )

    @staticmethod
    def _invert_test(
        linear: Linear[Dense], column: int, counts: Integers, level: float, about: About
    ) -> tuple[float, float]:
        kinds = BinaryScores.of(linear, column)
        assert kinds is not None
        seen = int(counts[kinds.chosen].sum())
        return invert_test(kinds, seen, int(counts.sum()), level, about)


# --- inverted tests -----------------------------------------------------------------------------


@dataclass(frozen=True)
class BinaryScores:
    """An estimate that counts the reports of a set of outputs.

    `chosen` marks the outputs; a person who is counted reports one with chance `q1`, another
    person with chance `q0` < `q1`.
    """

    chosen: npt.NDArray[np.bool_]
    q1: float
    q0: float

    @classmethod
    def of(cls, estimator: Linear[Dense], column: int) -> BinaryScores | None:
        """Return the kinds if the scores of this answer have two values, else None."""
        model = estimator.model
        counted = estimator.question.values[:, column] > 0.5
        if counted.all() or not counted.any():
            return None
        scores = estimator.scores[:, column]
        possible = model.expected > 0
        least, most = scores[possible].min(), scores[possible].max()
        chosen = scores > (least + most) / 2
        apart = np.where(chosen, most, least) - scores
        if not np.all(np.abs(apart[possible]) <= _SAME * max(most - least, 1.0)):
            return None
        chances = model.rows @ chosen
        q1, q0 = float(chances[counted].mean()), float(chances[~counted].mean())
        spread = np.abs(chances - np.where(counted, q1, q0)).max()
        if q1 <= q0 or spread > _SAME:
            return None
        return cls(chosen, q1, q0)


def invert_test(
    kinds: BinaryScores, seen: int, reports: int, level: float, about: About
) -> tuple[float, float]:
    """Return the first and last s that the two one-sided tests do not reject."""
    tail = (1 - level) / 2
    if about == "population":
        return _population_ends(kinds, seen, reports, tail)

    def below(s: int) -> float:
        """Return P(T < seen) + P(T = seen) / 2."""
        first, distribution = binomial_distribution(s, kinds.q1)
        begin, other = binomial_distribution(reports - s, kinds.q0)
        steps = np.concatenate([[0.0], np.cumsum(other) - other / 2, [1.0]])
        places = seen - first - np.arange(len(distribution)) - begin + 1
        return float(distribution @ steps[np.clip(places, 0, len(steps) - 1)])

    # The chance of fewer than what was seen falls as s grows.
    low = _first(lambda s: 1 - below(s) > tail, reports)
    high = reports - _first(lambda s: below(reports - s) > tail, reports)
    return float(low), float(max(low, high))


def _first(accepted: Callable[[int], bool], most: int) -> int:
    """Return the first whole number up to `most` that is accepted; all after it are."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if accepted(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _population_ends(
    kinds: BinaryScores, seen: int, reports: int, tail: float
) -> tuple[float, float]:
    with extra("statistics"):
        from scipy.optimize import brentq
        from scipy.special import bdtr

    def below(share: float) -> float:
        chance = kinds.q0 + (kinds.q1 - kinds.q0) * share
        fewer = bdtr(seen - 1, reports, chance) if seen > 0 else 0.0
        return float(fewer + bdtr(seen, reports, chance)) / 2

    def end(wanted: float) -> float:
        if below(0.0) <= wanted:
            return 0.0
        if below(1.0) >= wanted:
            return 1.0
        return float(brentq(lambda share: below(share) - wanted, 0.0, 1.0, xtol=1e-12))

    return reports * end(1 - tail), reports * end(tail)
