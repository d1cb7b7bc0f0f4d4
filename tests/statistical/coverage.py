"""How often an interval holds the truth: settings, and thousands of simulated surveys at once.

What is simulated are the counts of reports, never single people. Where there are few different
counts, the interval of each is made once, by the same call that users make. The truth may be off
the prior: its drift is measured in standard errors of the unbiased estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import stats

from liftlock import Alphabet
from liftlock.estimate import Aggregate, Question, intervals
from liftlock.estimate.estimators import Bayes, Consistent, Estimator, Likelihood, Linear, Unbiased
from liftlock.estimate.intervals import IntervalEstimate, Kind
from liftlock.estimate.intervals.base import Tails
from liftlock.estimate.intervals.exact import invert_tests, sum_distribution
from liftlock.estimate.models import Dense, OutputSums
from liftlock.estimate.question import About, ask
from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel, UnaryChannel
from tests.unit.estimate.worlds import normal_spread

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
DRIFTS = (0.0, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0)
"""How far the truth is off the prior, in standard errors of the unbiased estimate."""
ZIPF = tuple(float(mass) for mass in (1 / np.arange(1, 11)) / (1 / np.arange(1, 11)).sum())
PRIORS: dict[str, tuple[float, ...]] = {
    "even": (0.5, 0.5),
    "skewed": (0.9, 0.1),
    "rare": (0.97, 0.03),
    "three": (0.7, 0.2, 0.1),
    "zipf": ZIPF,
    "fifty": tuple(float(m) for m in (1 / np.arange(1, 51)) / (1 / np.arange(1, 51)).sum()),
    "bell": tuple(
        float(m)
        for m in np.exp(-((np.arange(16) - 7) ** 2) / 18)
        / np.exp(-((np.arange(16) - 7) ** 2) / 18).sum()
    ),
}
WEIGHTS = (0.5, 1.0, 2.0, 4.0)
"""Every weight belongs to a quarter of the people."""


def randomised_response(symbols: int, epsilon: float) -> Floats:
    """Tell the truth with odds e^epsilon against each other value."""
    rows = np.ones((symbols, symbols)) + np.diag(np.full(symbols, np.exp(epsilon) - 1))
    found: Floats = rows / rows.sum(axis=1, keepdims=True)
    return found


def optimal_response(prior: Sequence[float], epsilon: float) -> Floats:
    """Return the asymmetric channel of 001 Theorem 3: another value y with chance P_y / e^eps."""
    masses = np.array(prior) / np.exp(epsilon)
    rows = np.tile(masses, (len(masses), 1))
    np.fill_diagonal(rows, 0.0)
    return rows + np.diag(1.0 - rows.sum(axis=1))


def noisy_numbers(symbols: int, epsilon: float) -> Floats:
    """Report a number near one's own, with odds that fall by e^(-epsilon / 2) for each step."""
    places = np.arange(symbols)
    rows = np.exp(-epsilon / 2 * np.abs(places[:, None] - places))
    found: Floats = rows / rows.sum(axis=1, keepdims=True)
    return found


def subset_response(symbols: int, epsilon: float) -> Floats:
    """Report a pair of values, with odds e^epsilon if one's own is in it: more outputs than inputs.

    Two symbols have the outputs "first", "second" and "I do not say".
    """
    pairs = [(i, j) for i in range(symbols) for j in range(i + 1, symbols)]
    if symbols == 2:
        rows = np.ones((2, 3)) + np.diag([np.exp(epsilon) - 1] * 2 + [0])[:2]
    else:
        rows = np.array(
            [[np.exp(epsilon) if x in pair else 1.0 for pair in pairs] for x in range(symbols)]
        )
        single = np.ones((symbols, symbols)) + np.diag(np.full(symbols, np.exp(epsilon) - 1))
        rows = np.hstack([rows, single])
    found: Floats = rows / rows.sum(axis=1, keepdims=True)
    return found


# --- counts: exact sums ---------------------------------------------------------------------------


def encoding_law(channel: UnaryChannel | HashingChannel) -> tuple[float, float]:
    return float(channel.hit), float(channel.miss)


def response_law(symbols: int, epsilon: float) -> tuple[float, float]:
    odds = math.exp(epsilon)
    return odds / (odds + symbols - 1), 1 / (odds + symbols - 1)


LAWS = {
    "two values": response_law(2, 1.0),
    "two values, eps 4": response_law(2, 4.0),
    "two values, asymmetric": (1 - 0.92 / math.e, 0.08 / math.e),
    "three values": response_law(3, 1.0),
    "ten values": response_law(10, 0.5),
    "fifty values": response_law(50, 2.0),
    "unary": encoding_law(UnaryChannel.optimal(range(20), Budget.of("1"))),
    "hashing": encoding_law(HashingChannel.optimal(range(20), Budget.of("1"))),
}


def first_true(accepted: Callable[[int], bool], low: int, high: int) -> int:
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if accepted(middle) else (middle + 1, high)
    return low


def exact_coverage(
    law: tuple[float, float], number: int, truth: float, tails: Tails, about: About
) -> float:
    """Return the chance of the collections whose interval holds the truth.

    Ends grow with the number of marked reports, so these are a run of numbers.
    """

    def ends(seen: int) -> tuple[float, float]:
        return invert_tests((law, law), seen, number, tails, about)

    slack = 1e-9 * number
    first = first_true(lambda seen: ends(seen)[1] >= truth - slack, 0, number + 1)
    last = first_true(lambda seen: ends(seen)[0] > truth + slack, first, number + 1) - 1
    if about == "population":
        chance = law[1] + (law[0] - law[1]) * truth / number
        return float(
            stats.binom.cdf(last, number, chance) - stats.binom.cdf(first - 1, number, chance)
        )
    begin, terms = sum_distribution(np.array([round(truth), number - round(truth)]), np.array(law))
    return float(terms[max(first - begin, 0) : max(last - begin + 1, 0)].sum())


# --- other sums: simulated ------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A survey that can be made again and again, and what is asked of it."""

    prior: str
    channel: str
    epsilon: float
    reports: int
    of: str
    about: About = "people"
    method: str = "unbiased"
    weighted: bool = False
    drift: float = 0.0

    def __str__(self) -> str:
        weights = " weighted" if self.weighted else ""
        return (
            f"{self.method} {self.about} {self.of}{weights} {self.prior} {self.channel} "
            f"eps {self.epsilon:g} n {self.reports} drift {self.drift:g}"
        )

    @cached_property
    def masses(self) -> Floats:
        return np.array(PRIORS[self.prior])

    @cached_property
    def model(self) -> Dense:
        rows = {
            "rr": lambda: randomised_response(len(self.masses), self.epsilon),
            "optimal": lambda: optimal_response(PRIORS[self.prior], self.epsilon),
            "subset": lambda: subset_response(len(self.masses), self.epsilon),
            "near": lambda: noisy_numbers(len(self.masses), self.epsilon),
        }[self.channel]()
        return Dense(
            Alphabet.of(range(rows.shape[0])), Alphabet.of(range(rows.shape[1])), rows, self.masses
        )

    @cached_property
    def truth(self) -> Floats:
        """The shares of the people: those of the prior, with some moved to the last value."""
        one = Unbiased(self.model, ask(self.model.inputs, "survey", len(self.masses) - 1))
        each = self.masses @ self.model.error_variances(one.scores, one.question)
        first = int(np.argmax(self.masses))
        moved = self.drift * float(np.sqrt(each[0] / self.reports))
        moved = min(max(moved, -self.masses[-1]), self.masses[first])
        found: Floats = self.masses.copy()
        found[-1] += moved
        found[first] -= moved
        return found

    @cached_property
    def question(self) -> Question:
        return ask(
            self.model.inputs, self.of, len(self.masses) - 1 if self.of == "survey" else None
        )

    @cached_property
    def estimator(self) -> Estimator[Dense]:
        if self.method == "bayes":
            return Bayes(self.model, self.question)
        if self.method == "unbiased":
            return Unbiased(self.model, self.question)
        if self.method == "consistent":
            return Consistent(self.model, self.question)
        return Likelihood(self.model, self.question)

    @property
    def linear(self) -> Linear[Dense]:
        assert isinstance(self.estimator, Linear)
        return self.estimator

    # --- simulation -----------------------------------------------------------------------------

    def simulated(self, runs: int, seed: int) -> tuple[OutputSums, Floats]:
        """Return the counts (runs, k) of many surveys, and the truth (runs or 1, t) of each.

        About the people, the same people report each time; the Bayes estimator has a prior, so new
        people come each time. About the population new people come, and the truth stays.
        """
        source = np.random.default_rng(seed)
        sizes = WEIGHTS if self.weighted else (1.0,)
        parts = []
        truth = np.zeros((1, self.question.values.shape[1]))
        for weight in sizes:
            people = self._people(self.reports // len(sizes), runs, source)
            counts = np.zeros((runs, self.model.rows.shape[1]))
            for number, row in zip(people.T, self.model.rows, strict=True):
                counts += source.multinomial(number, row, runs)
            parts.append(counts)
            held = people if self.about == "people" else people.sum(axis=1)[:1, None] * self.truth
            truth = truth + weight * (held @ self.question.values)
        counts = np.sum(parts, axis=0)
        if not self.weighted:
            return OutputSums.plain(counts), truth
        amounts = np.sum([a * part for a, part in zip(sizes, parts, strict=True)], axis=0)
        squares = np.sum([a**2 * part for a, part in zip(sizes, parts, strict=True)], axis=0)
        return OutputSums(counts, amounts, squares, True), truth

    def _people(self, number: int, runs: int, source: np.random.Generator) -> npt.NDArray[np.int64]:
        if self.about == "people" and self.method != "bayes":
            shares = number * self.truth
            people = np.floor(shares).astype(np.int64)
            largest = np.argsort(people - shares)[: number - people.sum()]
            people[largest] += 1
            return np.broadcast_to(people, (runs, len(people)))
        return source.multinomial(number, self.truth, runs)

    def coverage(self, kind: Kind, runs: int, seed: int = 1) -> Floats:
        """Return how often the intervals of each answer hold the truth."""
        tally, truth = self.simulated(runs, seed)
        spread = self.spread(kind, tally)
        assert spread.low is not None
        assert spread.high is not None
        slack = 1e-9 * (1 + np.abs(truth))
        held = (spread.low <= truth + slack) & (spread.high >= truth - slack)
        found: Floats = held.mean(axis=0)
        return found

    def spread(self, kind: Kind, tally: OutputSums) -> IntervalEstimate:
        """Return the intervals of many surveys: formulas at once, else one for each outcome."""
        if kind == "normal" and isinstance(self.estimator, Linear):
            return normal_spread(self.estimator, tally, LEVEL, self.about)
        if kind == "assisted" and self.made("auto", self.typical()).kind == "normal":
            return normal_spread(self.linear, tally, LEVEL, self.about, assisted=True)
        assert not tally.weighted
        if tally.counts.shape[1] == 2:
            _, first, places = np.unique(tally.counts[:, 1], return_index=True, return_inverse=True)
            different = tally.counts[first]
        else:
            different, places = np.unique(tally.counts, axis=0, return_inverse=True)
        made = [self.made(kind, counts) for counts in different]
        low = np.array([spread.low for spread in made])[places.ravel()]
        high = np.array([spread.high for spread in made])[places.ravel()]
        return IntervalEstimate(None, low, high, made[0].kind)

    def made(self, kind: Kind, counts: Floats) -> IntervalEstimate:
        """Make the interval of one survey as users do."""
        aggregate = Aggregate("", tuple(int(count) for count in counts), int(counts.sum()))
        return intervals.make_interval(
            kind, self.estimator, aggregate, level=LEVEL, about=self.about
        )

    def typical(self) -> Floats:
        """Return the expected counts as whole numbers, for one survey that is like most."""
        counts = np.floor(self.reports * self.masses @ self.model.rows)
        counts[0] += self.reports - counts.sum()
        found: Floats = counts
        return found
