"""Intervals for counts without the normal distribution: sums of binomials, inverted or added up.

Unbiased: some outputs are marked, those with a score above the middle. A person who is counted
reports one of them with chance b, another person with chance a < b; where these chances differ
among the people, b and a are known to lie between two numbers each. The number T of marked reports
then lies, in distribution, between

    Binomial(s, b-) + Binomial(n - s, a-)    and    Binomial(s, b+) + Binomial(n - s, a+)

for a count of s, and about a population between two binomials. The interval runs from the first to
the last s that neither of two tests rejects: T is not too small under the lower law, nor too large
under the upper one. It holds the truth at its level whatever that is, and needs no prior (Clopper
and Pearson 1934, through a channel). A count is whole, so a test hardly ever spends all of the
error that it is allowed; the rest is given to the other one.

Bayes: given the reports the count is a sum of Binomial(n_y, P(counted | y)), a distribution that is
computed term by term; the interval has equal tails of it.

Source: math exact intervals through a channel, and their error reused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.estimate.estimators import Linear
from liftlock.estimate.intervals.base import (
    Interval,
    IntervalEstimate,
    IntervalRequest,
    Kind,
    Tails,
)
from liftlock.estimate.intervals.normal import Normal
from liftlock.estimate.models import Dense
from liftlock.estimate.question import About
from liftlock.exact.integers import Floats

MOST_REPORTS = 20_000
"""Posteriors of more reports are not added up term by term, and error is not reused."""
MOST_SUMS = 5_000
"""So many binomials are added up, over all answers."""

_ROUNDING = 1e-9
_CLOSE = 1e-11
"""So near are the ends of an interval about a population to where they should be, as shares."""
_REACH = 9.0
"""Binomials are cut off so many standard deviations away: less than 1e-18 is lost."""

Integers = npt.NDArray[np.int64]
Law = tuple[float, float]
"""The chance of a marked report of somebody who is counted, and of somebody who is not."""


def binomial_distribution(number: int, chance: float) -> tuple[int, Floats]:
    """Return the first whole number that matters, and the probabilities from there on.

    >>> first, distribution = binomial_distribution(2, 0.5)
    >>> first, distribution.round(6).tolist()
    (0, [0.25, 0.5, 0.25])
    """
    if number == 0 or not 0 < chance < 1:
        return (number if chance >= 1 else 0), np.ones(1)
    middle = number * chance
    reach = _REACH * np.sqrt(middle * (1 - chance)) + 2 * _REACH
    first = max(0, int(np.floor(middle - reach)))
    places = np.arange(first + 1, min(number, int(np.ceil(middle + reach))) + 1)
    # P(k) / P(k - 1), whose products need no factorials.
    ratios = (number - places + 1) / places * (chance / (1 - chance))
    logarithms = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    distribution: Floats = np.exp(logarithms - logarithms.max())
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


def equal_tails(begin: int, distribution: Floats, error: float) -> tuple[float, float]:
    """Return the first and last whole number with at most half of the error beyond either.

    >>> equal_tails(0, np.array([0.01, 0.09, 0.8, 0.09, 0.01]), 0.1)
    (1.0, 3.0)
    """
    below = np.cumsum(distribution)
    inside = np.flatnonzero((below > error / 2) & (1 - below + distribution > error / 2))
    return float(begin + inside[0]), float(begin + inside[-1])


class Exact(Interval):
    """All counts that no exact test rejects, or equal tails of what a prior says of a count."""

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
            return "sums of other numbers than 0 and 1", remedy
        if not request.posterior:
            if MarkedReports.of(linear).separate.all():
                return None
            return "outputs that do not tell these values from all others", remedy
        if request.tally.reports[0] > MOST_REPORTS:
            return f"more than {MOST_REPORTS:,} reports", f"{remedy}, which are as good there"
        if linear.scores.size > MOST_SUMS:
            return "so many answers and outputs", f"{remedy}, or for one value at a time"
        return None

    def make(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the intervals."""
        linear, counts, beyond = request.linear, request.counts, None
        reports = int(counts.sum())
        if request.posterior:
            ends = [
                equal_tails(*sum_distribution(counts, chances), request.one_error)
                for chances in linear.scores.T
            ]
        else:
            marked, tails = MarkedReports.of(linear), request.tails
            seen = counts @ marked.chosen
            beyond = np.array(
                [
                    _unexplained(marked.laws(place), int(number), reports, tails.error / 2)
                    for place, number in enumerate(seen)
                ]
            )
            known: dict[tuple[object, ...], tuple[float, float]] = {}
            ends = []
            for place in range(linear.scores.shape[1]):
                laws, own = marked.laws(place), tails.of(place)
                same = (int(seen[place]), laws, None if own.centre is None else float(own.centre))
                if same not in known:
                    known[same] = invert_tests(laws, same[0], reports, own, request.about)
                ends.append(known[same])
        low, high = np.array(ends).T
        errors = Normal().raw_interval(request).errors
        return IntervalEstimate(errors, low, high, "exact", beyond=beyond)


# --- inverted tests -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MarkedReports:
    """Outputs that are marked for each answer, and how likely people are to report one of them.

    `own` has the least and the largest chance of a person who is counted, `other` that of a person
    who is not, with a column for each answer.
    """

    chosen: npt.NDArray[np.bool_]
    own: Floats
    other: Floats

    @classmethod
    def of(cls, estimator: Linear[Dense]) -> MarkedReports:
        """Mark the outputs whose scores are above the middle of those that are possible."""
        model = estimator.model
        counted: npt.NDArray[np.bool_] = estimator.question.values > 0.5
        possible = model.rows.max(axis=0)[:, None] > 0
        scores = estimator.scores
        least = np.where(possible, scores, np.inf).min(axis=0)
        most = np.where(possible, scores, -np.inf).max(axis=0)
        chosen = scores > (least + most) / 2
        # Rounding must not take a chance out of its bounds.
        chances = np.clip(model.rows @ chosen, 0.0, 1.0)
        sure = np.where(np.abs(chances - np.rint(chances)) < 1e-15, np.rint(chances), chances)
        own, other = (
            np.array(
                [
                    np.where(some, sure, np.inf).min(axis=0),
                    np.where(some, sure, -np.inf).max(axis=0),
                ]
            )
            for some in (counted, ~counted)
        )
        return cls(chosen, _settled(own), _settled(other))

    @property
    def separate(self) -> npt.NDArray[np.bool_]:
        """Whether everybody who is counted is likelier to give a marked report than the others."""
        found: npt.NDArray[np.bool_] = self.own[0] > self.other[1] + _ROUNDING
        return found

    @property
    def alike(self) -> bool:
        """Whether there are two kinds of people only: those who are counted, and the others."""
        return bool((np.ptp(self.own, axis=0) + np.ptp(self.other, axis=0) == 0).all())

    def laws(self, place: int) -> tuple[Law, Law]:
        """Return the lower and the upper law of one answer."""
        lower, upper = zip(self.own[:, place].tolist(), self.other[:, place].tolist(), strict=True)
        return lower, upper

    def width(self, reports: float, shares: Floats, z: float) -> Floats:
        """Return how wide intervals will be, about, if such shares of the people are counted."""
        own, other = self.own.mean(axis=0), self.other.mean(axis=0)
        variance = reports * (shares * own * (1 - own) + (1 - shares) * other * (1 - other))
        unknown = reports * (
            shares * np.ptp(self.own, axis=0) + (1 - shares) * np.ptp(self.other, axis=0)
        )
        found: Floats = (2 * z * np.sqrt(variance) + 1 + unknown) / (own - other)
        return found


def _settled(chances: Floats) -> Floats:
    """Return one number for both bounds where they differ by rounding alone."""
    found: Floats = np.where(np.ptp(chances, axis=0) < _ROUNDING, chances.mean(axis=0), chances)
    return found


def invert_tests(
    laws: tuple[Law, Law], seen: int, reports: int, tails: Tails, about: About
) -> tuple[float, float]:
    """Return the first and the last s that neither test of the number of marked reports rejects.

    If the reports are beyond what any s explains, both are the nearer edge.

    >>> coin = (0.75, 0.25)
    >>> invert_tests((coin, coin), 40, 100, Tails(0.05), "people")
    (13.0, 47.0)
    """
    if about == "population":
        return _population_ends(laws, seen, reports, tails)
    lower, upper = laws

    def allowed(side: int, s: int) -> float:
        centre = tails.centre
        return tails.allow(side, 0 if centre is None else int(np.sign(s - float(centre))))

    def few(s: int) -> float:
        """Return the chance of so few marked reports; it falls as s grows."""
        return _at_most(seen, s, reports, lower)

    def many(s: int) -> float:
        """Return the chance of so many marked reports; it rises with s."""
        return 1.0 - _at_most(seen - 1, s, reports, upper)

    middle = (seen - reports * upper[1]) / (upper[0] - upper[1])
    reach = 2 * math.sqrt(reports * max(c * (1 - c) for c in (*lower, *upper)))
    reach /= upper[0] - upper[1]
    low = _first(lambda s: many(s) > allowed(0, s), reports + 1, middle - reach)
    high = reports - _first(
        lambda s: few(reports - s) > allowed(1, reports - s), reports + 1, reports - middle - reach
    )
    if low > high:
        return (0.0, 0.0) if high < 0 else (float(reports), float(reports))
    if reports > MOST_REPORTS:
        # One report is too little to be worth the search.
        return float(low), float(high)

    def left(s: int) -> tuple[float, float]:
        """Return what each test may spend at s, with what the other one leaves over."""
        people = np.array([s, reports - s])
        below = above = sum_distribution(people, np.array(lower))[1]
        if lower != upper:
            above = sum_distribution(people, np.array(upper))[1]
        at_the_top = tails.error - _spend(below, allowed(1, s))
        return tails.error - _spend(above[::-1], at_the_top), at_the_top

    first = next((s for s in range(low, high + 1) if many(s) > left(s)[1]), low)
    last = next((s for s in range(high, first - 1, -1) if few(s) > left(s)[0]), first)
    return float(first), float(last)


def _unexplained(laws: tuple[Law, Law], seen: int, reports: int, allowed: float) -> bool:
    """Tell whether there are fewer marked reports than nobody explains, or more than everybody."""
    lower, upper = laws
    few = _at_most(seen, 0, reports, lower)
    many = 1.0 - _at_most(seen - 1, reports, reports, upper)
    return min(few, many) <= allowed


def _spend(distribution: Floats, allowed: float) -> float:
    """Return the largest sum of first terms that is not above what is allowed."""
    sums = np.cumsum(distribution)
    place = int(np.searchsorted(sums, allowed, side="right"))
    return float(sums[place - 1]) if place else 0.0


def _at_most(seen: int, s: int, reports: int, law: Law) -> float:
    """Return P(T <= seen) for T ~ Binomial(s, law[0]) + Binomial(reports - s, law[1])."""
    first, distribution = binomial_distribution(s, law[0])
    begin, other = binomial_distribution(reports - s, law[1])
    sums = np.concatenate([[0.0], np.cumsum(other)])
    places = seen - first - np.arange(len(distribution)) - begin + 1
    return float(distribution @ sums[np.clip(places, 0, len(sums) - 1)])


def _first(accepted: Callable[[int], bool], most: int, guess: float) -> int:
    """Return the first whole number below `most` that is accepted, else `most`; all after are."""
    low, high, step = 0, most, 1
    place = min(max(round(guess), 0), most)
    # Steps twice as long each time, until the number is between two of them.
    while low < place < high:
        if accepted(place):
            high = place
            place -= step
        else:
            low = place + 1
            place += step
        if low >= high or not low < place < high:
            break
        step *= 2
    while low < high:
        middle = (low + high) // 2
        if accepted(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _population_ends(
    laws: tuple[Law, Law], seen: int, reports: int, tails: Tails
) -> tuple[float, float]:
    lower, upper = laws

    def share(law: Law, side: int, where: int) -> float:
        """Return the share at which the number of marked reports is as unlikely as is allowed."""
        chance = _binomial_end(seen, reports, tails.allow(side, where), side)
        return (chance - law[1]) / (law[0] - law[1])

    if tails.centre is None:
        low, high = share(upper, 0, 0), share(lower, 1, 0)
    else:
        middle = float(tails.centre) / reports
        low, high = share(upper, 0, -1), share(lower, 1, 1)
        low = low if low < middle else max(middle, share(upper, 0, 1))
        high = high if high > middle else min(middle, share(lower, 1, -1))
    return reports * min(max(low, 0.0), 1.0), reports * min(max(high, 0.0), 1.0)


def _binomial_end(seen: int, reports: int, allowed: float, side: int) -> float:
    """Return the chance with P(T >= seen) = allowed (side 0), or P(T <= seen) = allowed (side 1).

    The ends of Clopper and Pearson (1934).

    >>> round(_binomial_end(0, 10, 0.05, 1), 4), _binomial_end(0, 10, 0.05, 0)
    (0.2589, 0.0)
    """
    if seen == (reports if side else 0):
        return float(side)
    low, high = 0.0, 1.0
    z = NormalDist().inv_cdf(1.0 - allowed)
    share = seen / reports
    chance = share + (1 if side else -1) * z * math.sqrt(share * (1 - share) / reports + 1e-12)
    for _ in range(100):
        if not low < chance < high:
            chance = (low + high) / 2
        first, distribution = binomial_distribution(reports, chance)
        sums = np.concatenate([[0.0], np.cumsum(distribution)])
        place = seen - first
        below = float(sums[min(max(place + side, 0), len(sums) - 1)])
        tail = below if side else 1.0 - below
        if (tail > allowed) == bool(side):
            low = chance
        else:
            high = chance
        # The tail changes by so much with the chance (Newton's step).
        term = float(distribution[place]) if 0 <= place < len(distribution) else 0.0
        slope = (-(reports - seen) / (1 - chance) if side else seen / chance) * term
        step = (allowed - tail) / slope if slope else math.inf
        if high - low < _CLOSE or abs(step) < _CLOSE:
            break
        chance += step
    # Rounded outwards: the interval is never shorter than it should be.
    return min(chance + _CLOSE, 1.0) if side else max(chance - _CLOSE, 0.0)
