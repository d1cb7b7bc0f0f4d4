"""Credible intervals: a Dirichlet prior on the shares of the values, and what reports make of it.

The shares have the distribution Dirichlet(c) before any report, with Jeffreys' c = 1/2 unless told;
people are drawn by the shares, and report. Given the reports, the shares speak for the population,
and how many of the people themselves have each value is known just as well.

With two symbols the distribution of one share is computed on a grid. With more it is simulated,
many chains at once: given the shares, the people behind each output are drawn; given the people,
the shares are. Where reports say little this moves slowly, so in each round two shares at a time
are also redrawn from the prior, and kept by the ratio of likelihoods. The chains run until the ends
of every interval are known well enough, or the method says that they are not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, NotDefined, extra
from liftlock.estimate.estimators import Unbiased
from liftlock.estimate.intervals.assisted import choose_kind
from liftlock.estimate.intervals.base import (
    Interval,
    IntervalEstimate,
    IntervalRequest,
    Kind,
    profile_obstacle,
    weight_obstacle,
)
from liftlock.estimate.intervals.exact import MOST_REPORTS, Exact, equal_tails, sum_distribution
from liftlock.estimate.intervals.normal import Normal
from liftlock.estimate.intervals.range import Range
from liftlock.estimate.models import Dense
from liftlock.estimate.question import About, Question
from liftlock.exact.integers import Floats

JEFFREYS = 0.5
CHAINS = 64
ENOUGH = 4000
"""So many independent draws put each end within 4 % of a standard error of where it should be."""
MIXED = 1.02
"""The largest ratio (split R-hat) of the spread between chains to that within them."""
MOST_WORK = 60_000_000
"""So many numbers are drawn at most, some ten seconds' worth."""
_FIRST = 200
_GRID = 2001
_COARSE = 201
_DEEP = 45.0
"""Grid points this much below the largest log density hold nothing."""

Counts = npt.NDArray[np.int64]


class Credible(Interval):
    """Equal tails of each answer, given the reports and a Dirichlet prior on the shares."""

    key: ClassVar[Kind] = "credible"
    title: ClassVar[str] = "a credible interval"

    def obstacle(self, request: IntervalRequest) -> tuple[str, str] | None:
        """Return what stands in the way of simulating the people."""
        obstacle = profile_obstacle(request)
        # With a prior for each person nothing is simulated.
        return obstacle or (None if request.posterior else weight_obstacle(request))

    def make(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the intervals, and what their level means."""
        if request.posterior:
            kind = Normal() if Exact().obstacle(request) else Exact()
            return kind.make(request).with_remarks(
                "with a prior for each person, what it says given the reports is the credible "
                "interval"
            )
        concentration = JEFFREYS if request.concentration is None else request.concentration
        found = credible(
            request.model,
            request.question,
            request.counts,
            1.0 - request.one_error,
            request.about,
            request.start,
            concentration,
        )
        if found.remarks:
            found = found.with_remarks(*request.seed_remarks)
        numbers = np.unique(np.asarray(concentration))
        told = f"{numbers[0]:g} for each value" if len(numbers) == 1 else "as given"
        return self._reach_the_edges(request, found).with_remarks(
            "credible intervals keep their level on average over shares drawn from the Dirichlet "
            f"prior ({told}), not for each truth"
        )

    @staticmethod
    def _reach_the_edges(request: IntervalRequest, found: IntervalEstimate) -> IntervalEstimate:
        """Reach the edge of what is possible where the reports do not rule it out.

        A density that is 0 there would never hold a truth that is there.
        """
        assert found.low is not None
        assert found.high is not None
        least, most = request.model.possible_range(request.question, request.tally)
        try:
            free = replace(request, estimator=Unbiased(request.model, request.question))
            plain = choose_kind(free).make(free)
        except NotDefined:
            plain = Range().make(request)
        if plain.low is None or plain.high is None:
            return found
        return replace(
            found,
            low=np.where(plain.low <= least, least, found.low),
            high=np.where(plain.high >= most, most, found.high),
        )


def credible(
    model: Dense,
    question: Question,
    counts: Counts,
    level: float,
    about: About,
    seed: int,
    concentration: Floats | float = JEFFREYS,
) -> IntervalEstimate:
    """Return equal tails of each answer, given the reports and a Dirichlet prior on the shares."""
    before = np.broadcast_to(np.asarray(concentration, dtype=np.float64), (model.symbols,))
    if not (np.isfinite(before).all() and before.min() > 0):
        raise InputError(
            "the Dirichlet prior has numbers that are not above 0",
            value=concentration,
            remedy="give one positive number per value, or leave it at 1/2",
        )
    if model.symbols == 2 and len(counts) <= _COARSE:
        return _by_grid(model, question, counts, level, about, before)
    drawn = simulate_posterior(model, question, counts, about, before, seed)
    low, high = drawn.ends(level, whole=question.counts and about == "people")
    errors = drawn.answers.std(axis=(0, 1), ddof=1)
    return IntervalEstimate(errors, low, high, "credible", (drawn.remark(),))


# --- two symbols --------------------------------------------------------------------------------


def share_distribution(
    model: Dense, counts: Counts, before: Floats, points: int
) -> tuple[Floats, Floats]:
    """Return a grid of shares of the second of two symbols, and the probability of each.

    With share = sin(a)^2 Jeffreys' prior is flat in the angle a, and nothing is infinite.
    """
    low, high = 0.0, np.pi / 2
    seen = counts > 0
    numbers, rows = counts[seen].astype(np.float64), model.rows[:, seen]
    for _ in range(12):
        step = (high - low) / points
        angles = low + step * (np.arange(points) + 0.5)
        sine, cosine = np.sin(angles), np.cos(angles)
        with np.errstate(divide="ignore"):
            logs = np.log(np.outer(sine**2, rows[1]) + np.outer(cosine**2, rows[0])) @ numbers
        logs += (2 * before[1] - 1) * np.log(sine) + (2 * before[0] - 1) * np.log(cosine)
        kept = np.flatnonzero(logs > logs.max() - _DEEP)
        if kept[-1] - kept[0] > points // 2:
            break
        low, high = (
            max(0.0, low + step * (kept[0] - 1)),
            min(np.pi / 2, low + step * (kept[-1] + 2)),
        )
    weights = np.exp(logs - logs.max())
    return sine**2, weights / weights.sum()


def _by_grid(
    model: Dense, question: Question, counts: Counts, level: float, about: About, before: Floats
) -> IntervalEstimate:
    reports = int(counts.sum())
    if about == "population":
        shares, distribution = share_distribution(model, counts, before, _GRID)
        tail = (1 - level) / 2
        steps = np.cumsum(distribution) - distribution / 2
        ends = reports * np.interp([tail, 1 - tail], steps, shares)
        mean = distribution @ shares
        error = reports * float(np.sqrt(distribution @ (shares - mean) ** 2))
    else:
        shares, distribution = share_distribution(model, counts, before, _COARSE)
        kept = distribution > 1e-12
        ends, error = _people_ends(model, counts, shares[kept], distribution[kept], level)
    first, second = question.values
    corners = first * reports + np.outer(ends, second - first)
    return IntervalEstimate(
        np.abs(second - first) * error, corners.min(axis=0), corners.max(axis=0), "credible"
    )


def _people_ends(
    model: Dense, counts: Counts, shares: Floats, distribution: Floats, level: float
) -> tuple[Floats, float]:
    """Mix the distributions of the number of people with the second value over the shares."""
    chances = np.array([model.beliefs(np.array([1 - share, share]))[:, 1] for share in shares])
    means = chances @ counts
    within = (chances * (1 - chances)) @ counts
    middle = float(distribution @ means)
    error = float(np.sqrt(distribution @ (within + (means - middle) ** 2)))
    if counts.sum() > MOST_REPORTS:
        with extra("statistics"):
            from scipy.optimize import brentq
            from scipy.special import ndtr

        deviations = np.sqrt(np.maximum(within, 1e-12))
        tail, reach = (1 - level) / 2, 12 * error + 1

        def excess(end: float, wanted: float) -> float:
            return float(distribution @ ndtr((end - means) / deviations) - wanted)

        ends = [
            brentq(excess, middle - reach, middle + reach, args=(wanted,))
            for wanted in (tail, 1 - tail)
        ]
        return np.clip(np.array(ends), 0, counts.sum()), error
    mixed = np.zeros(int(counts.sum()) + 1)
    for row, weight in zip(chances, distribution, strict=True):
        begin, terms = sum_distribution(counts, row)
        mixed[begin : begin + len(terms)] += weight * terms
    return np.array(equal_tails(0, mixed, 1 - level)), error


# --- many symbols -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PosteriorDraws:
    """Simulated answers, shape (rounds, chains, t), and how well the chains have mixed."""

    answers: Floats

    @property
    def independent(self) -> float:
        """How many independent draws say as much: for the answer that mixes worst."""
        means = self.answers.mean(axis=0)
        within = self.answers.var(axis=0).mean(axis=0)
        between = means.var(axis=0, ddof=1)
        chains = self.answers.shape[1]
        ratio = np.divide(within, between, out=np.full_like(within, np.inf), where=between > 0)
        return float(min(chains * ratio.min(), self.answers.shape[0] * chains))

    @property
    def disagreement(self) -> float:
        """Split R-hat: 1 if all half chains have the same mean, for the answer that is worst."""
        rounds = self.answers.shape[0] // 2
        halves = np.concatenate([self.answers[:rounds], self.answers[-rounds:]], axis=1)
        within = halves.var(axis=0, ddof=1).mean(axis=0)
        between = halves.mean(axis=0).var(axis=0, ddof=1)
        ratio = np.divide(between, within, out=np.zeros_like(within), where=within > 0)
        return float(np.sqrt((rounds - 1) / rounds + ratio.max()))

    def ends(self, level: float, whole: bool) -> tuple[Floats, Floats]:
        """Return equal tails."""
        flat = self.answers.reshape(-1, self.answers.shape[-1])
        tail = (1 - level) / 2
        if not whole:
            low, high = np.quantile(flat, [tail, 1 - tail], axis=0)
            return low, high
        ends = []
        for column in flat.T:
            numbers = np.rint(column).astype(np.int64)
            first = int(numbers.min())
            distribution = np.bincount(numbers - first) / len(numbers)
            ends.append(equal_tails(first, distribution, 1 - level))
        low, high = np.array(ends).T
        return low, high

    def remark(self) -> str:
        """Say how exact the simulation is."""
        part = 267 / np.sqrt(self.independent)
        return (
            f"the ends are simulated, by {self.independent:,.0f} independent draws or more: "
            f"exact to about {part:.1f} % of a standard error"
        )


def simulate_posterior(
    model: Dense,
    question: Question,
    counts: Counts,
    about: About,
    before: Floats,
    seed: int,
) -> PosteriorDraws:
    """Run the chains, twice as long each time, until they have mixed; refuse if they do not."""
    seen = counts > 0
    cells = CHAINS * model.symbols * int(seen.sum())
    if 2 * _FIRST * cells > MOST_WORK:
        raise InputError(
            f"credible intervals for {model.symbols} values and {len(counts)} outputs "
            "take too long",
            remedy="ask for normal intervals, or merge values",
        )
    source = np.random.default_rng(seed)
    chains = Chains(
        np.ascontiguousarray(model.rows[:, seen]),
        np.broadcast_to(counts[seen], (CHAINS, int(seen.sum()))),
        before,
        source.dirichlet(before + model.likely_counts(counts.astype(np.float64)) / 4, CHAINS),
    )
    rounds, work = _FIRST, 0
    while True:
        # What went before is forgotten: it has served to get there.
        answers = np.empty((rounds, CHAINS, question.values.shape[1]))
        for place in range(rounds):
            people = chains.round(source)
            told = people if about == "people" else counts.sum() * chains.shares
            answers[place] = told @ question.values
        drawn = PosteriorDraws(answers)
        if drawn.independent >= ENOUGH and drawn.disagreement <= MIXED:
            return drawn
        work += rounds * cells
        if work + 2 * rounds * cells > MOST_WORK:
            raise InputError(
                "credible intervals did not settle in the rounds allowed: "
                f"{drawn.independent:,.0f} independent draws of {ENOUGH:,}",
                remedy="ask for normal intervals, or merge values",
            )
        rounds *= 2


class Chains:
    """Chains of shares (chains, m), each with its own counts of outputs (chains, k)."""

    def __init__(self, rows: Floats, counts: Counts, before: Floats, shares: Floats) -> None:
        self.rows = rows
        self.counts = counts
        self.before = before
        self.shares = shares

    def round(self, source: np.random.Generator) -> Floats:
        """Move all shares once, and return the people (chains, m) that were drawn on the way."""
        joint = self.shares[:, None, :] * self.rows.T
        beliefs = joint / joint.sum(axis=2, keepdims=True)
        people: Floats = source.multinomial(self.counts, beliefs).sum(axis=1).astype(np.float64)
        drawn = source.standard_gamma(self.before + people)
        # A share that is 0 in floating point would never come back.
        drawn = np.maximum(drawn, 1e-300)
        self.shares = drawn / drawn.sum(axis=1, keepdims=True)
        self._exchange(source)
        return people

    def _exchange(self, source: np.random.Generator) -> None:
        """Redraw two shares at a time from the prior given their sum; keep by the likelihood."""
        mixed = self.shares @ self.rows
        order = source.permutation(len(self.before))
        for first, second in zip(order[::2].tolist(), order[1::2].tolist(), strict=False):
            both = self.shares[:, first] + self.shares[:, second]
            part = source.beta(self.before[first], self.before[second], len(both))
            move = part * both - self.shares[:, first]
            new = mixed + move[:, None] * (self.rows[first] - self.rows[second])
            new = np.maximum(new, 1e-300)
            gain = (self.counts * np.log(new / mixed)).sum(axis=1)
            kept = np.log(source.random(len(both))) < gain
            self.shares[kept, first] = (part * both)[kept]
            self.shares[kept, second] = ((1 - part) * both)[kept]
            mixed[kept] = new[kept]
        np.maximum(self.shares, 1e-300, out=self.shares)
