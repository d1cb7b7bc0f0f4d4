"""A channel as a table of probabilities, whose reports are counted by output.

Errors of the unbiased estimate about the people: Var(s) = sum_x n_x Var[g(Y) | x]. About the
population: Var(s) = n (E[g(Y)^2] - (s/n)^2). Both depend on the sum s itself, and on how the other
people spread, which nobody knows. So there are two bounds. One is a line above all Var[g(Y) | x] as
a function of f(x): it needs no report, and for a count it is s v(x) + (n - s) max v(x'). The other
is an unbiased estimate of the variance itself, with its own standard error. Of the Bayes estimate:
given the reports people are independent, so the variance is sum_y n_y Var(f(X) | y).

Source: 001 eq. (14).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.fit import add_score_test, channel_fit, prior_fit
from liftlock.estimate.models.base import Bound, Error, Model, no_prior_error, variances_of
from liftlock.estimate.models.inverse import Inverse
from liftlock.estimate.question import About, Question
from liftlock.estimate.result import NOT_KEPT, GoodnessOfFit, p_text
from liftlock.exact.integers import Floats
from liftlock.model import Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense

if TYPE_CHECKING:
    from liftlock.estimate.estimators import Linear

_SHARE = 1e-2
"""The part of a uniform prior that is mixed in where a reference prior has zeros."""
STEPS = 30
"""Variances hardly move after so many steps of EM: they are averages over the shares."""
_TINY = 1e-12
_FEW = 20
FEW_WEIGHTED = 30
"""With fewer people, or weights that say no more than these, no formula keeps its level."""
_FOREIGN = 0.001
"""Below this p-value, no prior explains the reports."""
_CELLS = 1 << 16
"""Larger channels are not tested against all priors: it would take longer than the estimate."""


@dataclass(frozen=True, eq=False)
class Dense(Model):
    """The rows Q[x, y] = P(y | x) of a channel, and the masses of the prior if there is one.

    The statistic is the number of reports of each output, or the sum of their weights.

    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> model = Dense.of(coin, Prior.from_counts({0: 9, 1: 1}))
    >>> model.posteriors.round(4).tolist()
    [[0.9643, 0.0357], [0.75, 0.25]]
    """

    inputs: Alphabet
    outputs: Alphabet
    rows: Floats
    masses: Floats | None
    groups: Floats | None = field(default=None, kw_only=True)
    """Of several groups of people: the share of all people that is in the group of each input."""
    estimators: ClassVar[frozenset[str]] = frozenset(
        ("bayes", "unbiased", "likelihood", "consistent")
    )
    intervals: ClassVar[tuple[str, ...]] = ("exact", "normal", "assisted", "credible", "range")
    companion: ClassVar[str] = (
        "standard error and interval are those of the unbiased estimate: they hold the same truth, "
        "also where the {key} estimate is at the edge of what is possible"
    )
    noun: ClassVar[str] = "values"
    """What the inputs are called."""
    unexplained: ClassVar[str] = "no prior explains these reports"
    """What is said of reports that no shares of the inputs make likely."""

    @classmethod
    def of(cls, channel: Channel, prior: Prior | None = None) -> Dense:
        """Read a channel and a prior on its inputs (in any order)."""
        masses = None if prior is None else prior.reordered(channel.inputs).floats()
        return cls(channel.inputs, channel.outputs, channel.floats(), masses)

    @property
    def symbols(self) -> int:
        """How many inputs there are."""
        return len(self.inputs)

    @cached_property
    def reference(self) -> Floats:
        """Masses that are all positive: the prior, or one near it, or a uniform one."""
        uniform = np.full(self.symbols, 1.0 / self.symbols)
        if self.masses is None:
            return uniform
        if self.masses.min() > 0:
            return self.masses
        mixed: Floats = (1.0 - _SHARE) * self.masses + _SHARE * uniform
        return mixed

    @cached_property
    def expected(self) -> Floats:
        """P(y) under the reference masses."""
        return self.mixture(self.reference)

    def mixture(self, masses: Floats) -> Floats:
        """Return P(y) when the inputs have these masses (or counts, for expected counts)."""
        found: Floats = masses @ self.rows
        return found

    @cached_property
    def inverse(self) -> Inverse:
        """The generalised inverse of the rows that is best under the reference masses."""
        return Inverse.of(self.rows, self.expected)

    @cached_property
    def posteriors(self) -> Floats:
        """P(x | y) under the prior, a row for each output; the prior itself where P(y) = 0."""
        assert self.masses is not None
        return self.beliefs(self.masses)

    def beliefs(self, masses: Floats) -> Floats:
        """Return P(x | y) under any masses, a row for each output."""
        joint = (self.rows * masses[:, None]).T
        totals = joint.sum(axis=1, keepdims=True)
        possible = totals > 0
        found: Floats = np.where(possible, joint / np.where(possible, totals, 1.0), masses)
        return found

    # --- statistics and scores ------------------------------------------------------------------

    def statistic(self, counted: Aggregate) -> Floats:
        """Return the sum of weights of each output."""
        return counted.amounts()

    def total(self, statistic: Floats) -> Floats:
        """Return the sum over all outputs."""
        found: Floats = statistic.sum(axis=-1, keepdims=True)
        return found

    def unbiased_scores(self, question: Question) -> Floats:
        """Return the scores that are right on average for every truth, with the least variance.

            minimise sum_y P(y) g(y)^2    subject to    sum_y Q[x, y] g(y) = f(x) for every x

        With as many outputs as inputs this is the inverse of the channel. P(y) is that of the prior
        if there is one: a wrong one costs precision and never makes a bias.

        Source: 001 eq. (41).
        """
        scores, misses = self.inverse.solve(question)
        if misses is not None:
            who = self.inverse.describe_confusion(misses, self.inputs.labels, self.noun)
            raise NotDefined(
                "an unbiased estimate",
                who,
                "give a prior (prior=, --prior) and ask for bayes, or ask another question",
            )
        return scores

    def identifies(self, question: Question) -> bool:
        """Whether the reports' distribution determines the answer: an unbiased estimate exists."""
        return self.inverse.solve(question)[1] is None

    def posterior_scores(self, question: Question) -> Floats:
        """Return g(y) = E[f(X) | y] = sum_x f(x) P(x) Q[x, y] / P(y).

        An output that the prior calls impossible counts with the prior mean.

        Source: 001 eq. (10), eq. (16), eq. (27), eq. (30).
        """
        if self.masses is None:
            raise no_prior_error()
        if question.is_histogram:
            return self.posteriors
        found: Floats = self.posteriors @ question.values
        return found

    def posterior_variances(self, question: Question) -> Floats:
        """Return Var(f(X) | y): a row for each output, a column for each answer.

        With independent people, the squared error of the Bayes estimate is sum_y n_y Var(f | y),
        and its mean is n times the loss of 001 eq. (14).

        Source: 001 Prop 2, eq. (14).
        """
        if self.masses is None:
            raise no_prior_error()
        if question.is_histogram:
            return self.posteriors * (1.0 - self.posteriors)
        # Centred first: a difference of large squares would lose its digits.
        centred = question.values - self.masses @ question.values
        means = self.posteriors @ centred
        found: Floats = np.maximum(self.posteriors @ centred**2 - means**2, 0.0)
        return found

    def error_variances(
        self,
        scores: Floats,
        question: Question,  # noqa: ARG002 - a value that is asked for is known given the input
    ) -> Floats:
        """Return Var[g(Y) | x]: a row for each input, a column for each answer."""
        return variances_given(self.rows, scores)

    # --- errors ---------------------------------------------------------------------------------

    def tally(self, counted: Aggregate) -> OutputSums:
        """Return counts, sums of weights and of their squares."""
        return OutputSums.of(counted)

    def possible_range(self, question: Question, tally: OutputSums) -> tuple[Floats, Floats] | None:
        """Return the least and the largest sum; with negative weights it can be anything."""
        if tally.signed:
            return None
        return tally.total * question.least, tally.total * question.most

    def posterior_error(self, question: Question, tally: OutputSums, about: About) -> Error:
        """Return sum_y (sum a_i^2)_y Var(f | y): given the reports, people are independent."""
        del about
        return Error((Bound(tally.squares @ self.posterior_variances(question)),))

    def prior_means(self, question: Question, tally: OutputSums) -> Floats:
        """Return what the prior expects of each answer."""
        if self.masses is None:
            raise no_prior_error("an assisted interval")
        found: Floats = tally.total * (self.masses @ question.values)
        return found

    def unbiased_error(self, estimator: Linear[Any], tally: OutputSums, about: About) -> Error:
        """Return bounds of Var(s), whatever the truth is.

        With w(x) = E[g(Y)^2 | x] about the middle of what f can be, and f for f - middle,

            Var(s) = sum_x n_x w(x) - sum_x n_x f(x)^2      about the people,
            Var(s) = sum_x n_x w(x) - s^2 / n               about the population.
        """
        question = estimator.question
        middle = (question.values.min(axis=0) + question.values.max(axis=0)) / 2
        f, g = question.values - middle, estimator.scores - middle
        seconds = self.rows @ g**2
        each = np.maximum(seconds - f**2, 0.0)
        if about == "people":
            # With two values of f its square is a number, so that g^2 says what is left.
            flat = np.ptp(f, axis=0) / 2
            squares = g**2 - flat**2 if question.counts else None
            if squares is None and self.inverse.full:
                squares = self.inverse.matrix @ each
            bounds = self._people_bounds(f, g, each, squares, tally)
        else:
            bounds = self._population_bounds(f, g, seconds, tally)
        skew = self._skewness(f, g, seconds, each)
        if about == "population":
            skew = [part + 3 * np.ptp(f, axis=0) for part in skew]
        unit = np.sqrt(tally.total_squares / tally.reports) * tally.unevenness**1.5
        # What is released unchanged is known, of the people who reported.
        noisy = (each if about == "people" else seconds).max(axis=0) > _TINY * np.ptp(
            g, axis=0
        ) ** 2
        step = np.where(estimator.in_steps & noisy, np.ptp(g, axis=0), 0.0)
        if tally.signed:
            skew = [np.maximum(*skew)] * 2
        return Error(bounds, (unit * skew[0], unit * skew[1]), unit * step)

    def _skewness(self, f: Floats, g: Floats, seconds: Floats, each: Floats) -> list[Floats]:
        """Return the largest ratio of third moment and variance of a report, downwards and up."""
        third = self.rows @ g**3 - 3 * f * seconds + 2 * f**3
        ratios = np.divide(third, each, out=np.zeros_like(third), where=each > _TINY * seconds)
        return [np.maximum(-ratios, 0.0).max(axis=0), np.maximum(ratios, 0.0).max(axis=0)]

    def _people_bounds(
        self, f: Floats, g: Floats, each: Floats, squares: Floats | None, tally: OutputSums
    ) -> tuple[Bound, ...]:
        """Return bounds of sum_x n_x v(x); `squares` are scores whose mean given x is v(x)."""
        line = line_above(f, each, self.reference)
        known = bound_above(line, tally.amounts @ g, each, tally, "people")
        if squares is None or not (tally.weighted or self._spreads(f, each, line)):
            return (known,)
        slope, rest = self._regression(f, g, each, squares)
        if tally.weighted:
            # Weights may go with values: what one value adds says nothing of the others.
            slope, rest = np.zeros_like(slope), squares
        scale = tally.total_squares * tally.unevenness**2 / np.sqrt(tally.reports)
        spread = scale * np.sqrt(variances_given(self.rows, rest).max(axis=0))
        return known, Bound(tally.squares @ squares, slope, 0.0, spread)

    def _population_bounds(
        self, f: Floats, g: Floats, seconds: Floats, tally: OutputSums
    ) -> tuple[Bound, ...]:
        """Return bounds of n E[g^2] - s^2 / n; with weights, of sum_i a_i^2 Var g."""
        line = line_above(f, seconds, self.reference)
        ahead, reports = tally.amounts @ g, tally.reports
        known = bound_above(line, ahead, seconds, tally, "population")
        if tally.signed or not (tally.total > 0).all() or not self._spreads(f, seconds, line):
            return (known,)
        slope, rest = self._regression(f, g, seconds, g**2)
        squares, share = tally.total_squares, ahead / tally.total
        spread = squares * np.sqrt(
            (self.rows @ (rest - self.expected @ rest) ** 2).max(axis=0) / reports
        )
        # The mean of g^2 among the reports, moved to the share that the weights speak for.
        mean = (tally.counts @ g**2 + slope * (share * reports - tally.counts @ g)) / reports
        ratio = squares / tally.total
        return known, Bound(
            squares * (mean - share**2), ratio * (slope - 2 * share), ratio / tally.total, spread
        )

    @staticmethod
    def _spreads(f: Floats, target: Floats, line: tuple[Floats, Floats]) -> bool:
        """Tell whether the line above leaves anything to be estimated."""
        return bool((line[0] + line[1] * f - target > 1e-9 * target.max(axis=0)).any())

    def _regression(
        self, f: Floats, g: Floats, target: Floats, scores: Floats
    ) -> tuple[Floats, Floats]:
        """Return the slope of a target on f under the reference masses, and the scores without it.

        For sums of two values the regression is exact, and nothing is left of the scores.
        """
        centre = self.reference @ f
        along = self.reference @ (f - centre) ** 2
        across = self.reference @ ((f - centre) * target)
        # Where everybody counts alike there is no slope, whatever the unit f is measured in.
        varied = along > _TINY * np.abs(f).max(axis=0) ** 2
        slope = np.divide(across, along, out=np.zeros_like(across), where=varied)
        return slope, scores - slope * g

    def likely_counts(self, counts: Floats, steps: int = STEPS) -> Floats:
        """Return counts of inputs (..., m) near the most likely ones, from those of outputs.

        Variances need people of 0 or more, and the unbiased histogram can be negative. Each step of
        expectation and maximisation is n_x <- sum_y n_y P(x | y) under the shares of the step
        before, from the prior: it never leaves the simplex, and needs no inverse of the channel.

        >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
        >>> Dense.of(coin).likely_counts(np.array([2.0, 8.0])).round(1).tolist()
        [0.0, 10.0]
        """
        found: Floats = counts.sum(axis=-1, keepdims=True) * self.reference
        for _ in range(steps):
            mixed = found @ self.rows
            ratio = np.divide(counts, mixed, out=np.zeros_like(mixed), where=mixed > 0)
            found = found * (ratio @ self.rows.T)
        return found

    def normality_remarks(
        self, estimator: Linear[Any], tally: OutputSums, errors: Floats
    ) -> tuple[str, ...]:
        """Say where the normal distribution is known to be rough."""
        del estimator
        if tally.signed and (tally.total**2 < FEW_WEIGHTED * tally.total_squares).all():
            # Sums of weights that cancel do not tell whether one of them is most of the squares.
            remark = (
                "the normal approximation is rough where few of the weights are much larger than "
                f"the others, which weights of both signs do not tell: then {NOT_KEPT}"
            )
            return (remark,)
        people, least = float(tally.people[0]), FEW_WEIGHTED if tally.weighted else _FEW
        if people >= least or not errors.any():
            return ()
        return (
            f"the normal approximation is rough for weights that say as much as {people:.3g} "
            f"equal ones: below {least} {NOT_KEPT}"
            if tally.weighted
            else f"the normal approximation is rough for {people:.0f} people: below {least} "
            f"{NOT_KEPT}",
        )

    def expected_errors(self, question: Question, method: str, about: About) -> Floats:
        """Return what one person adds to the squared error of each answer, under the prior."""
        assert self.masses is not None
        if method in ("prior", "truth"):
            own = self.value_variances(question)
            return own if (method == "prior") == (about == "people") else np.zeros_like(own)
        reports = self.mixture(self.masses)
        if method == "bayes":
            left: Floats = reports @ self.posterior_variances(question)
            return left
        scores = self.unbiased_scores(question)
        if about == "population":
            return variances_of(reports, scores)
        found: Floats = self.masses @ self.error_variances(scores, question)
        return found

    def value_variances(self, question: Question) -> Floats:
        """Return Var f(X) under the prior, for each answer."""
        assert self.masses is not None
        return variances_of(self.masses, question.values)

    # --- tests ----------------------------------------------------------------------------------

    def fit(self, question: Question, counted: Aggregate) -> GoodnessOfFit | None:
        """Test the reports against the prior; for one answer also the number asked for."""
        if self.masses is None:
            return None
        found = prior_fit(self, counted)
        if len(question.names) > 1:
            return found
        scores = self.posterior_scores(question)[:, 0]
        return add_score_test(found, scores, self.mixture(self.masses), counted, self.symbols)

    def mismatch_warning(self, counted: Aggregate) -> str | None:
        """Return the warning that no prior at all explains the reports, if none does."""
        if self.rows.size > _CELLS:
            return None
        found = channel_fit(self, counted)
        if found is None or found.p_value >= _FOREIGN:
            return None
        return (
            f"{self.unexplained} (p = {p_text(found.p_value)}): "
            "were all of them made by this mechanism?"
        )


@dataclass(frozen=True, eq=False)
class OutputSums:
    """Counts of outputs, sums of weights and of their squares: shape (..., k), for many at once.

    `signed` says that some weight is negative.
    """

    counts: Floats
    amounts: Floats
    squares: Floats
    weighted: bool
    signed: bool = False

    @classmethod
    def of(cls, aggregate: Aggregate) -> OutputSums:
        """Read an aggregate of the reports of a channel."""
        return cls(
            aggregate.floats(),
            aggregate.amounts(),
            aggregate.squares(),
            aggregate.weighted,
            aggregate.signed,
        )

    @classmethod
    def plain(cls, counts: Floats) -> OutputSums:
        """Take counts of reports without weights.

        >>> OutputSums.plain(np.array([[2.0, 1.0], [0.0, 4.0]])).reports.tolist()
        [[3.0], [4.0]]
        """
        return cls(counts, counts, counts, False)

    @property
    def reports(self) -> Floats:
        """How many reports there are, shape (..., 1)."""
        return sum_outputs(self.counts)

    @property
    def total(self) -> Floats:
        """The sum of all weights, shape (..., 1)."""
        return sum_outputs(self.amounts)

    @property
    def total_squares(self) -> Floats:
        """The sum of their squares, shape (..., 1)."""
        return sum_outputs(self.squares)

    @property
    def people(self) -> Floats:
        """How many people of equal weight would say as much, (sum a)^2 / sum a^2, shape (..., 1).

        Weights of both signs are not compared: all reports count.
        """
        if not self.weighted or self.signed:
            return self.reports
        spread = self.total_squares
        found: Floats = np.divide(
            self.total**2, spread, out=np.zeros_like(spread), where=spread > 0
        )
        return np.minimum(found, self.reports)

    @property
    def unevenness(self) -> Floats:
        """How many times more people there are than people of equal weight would be.

        Third and fourth powers of weights are not kept; those of a lognormal distribution are
        powers of this number.
        """
        found: Floats = np.divide(
            self.reports, self.people, out=np.ones_like(self.reports), where=self.people > 0
        )
        return found


def sum_outputs(values: Floats) -> Floats:
    """Add up the last axis, and keep it."""
    found: Floats = values.sum(axis=-1, keepdims=True)
    return found


def variances_given(rows: Floats, scores: Floats) -> Floats:
    """Return Var[g(Y) | x]: a row for each input, a column for each answer."""
    # Centred first: a difference of large squares would lose its digits.
    centred = scores - rows.mean(axis=0) @ scores
    means = rows @ centred
    found: Floats = np.maximum(rows @ centred**2 - means**2, 0.0)
    return found


def line_above(f: Floats, target: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Return a and b with a + b f(x) >= target(x) for every x, least on average over the masses.

    >>> f, target = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [4.0], [3.0]])
    >>> [float(part[0]) for part in line_above(f, target, np.array([0.5, 0.25, 0.25]))]
    [1.0, 3.0]
    """
    least, most = f.min(axis=0), f.max(axis=0)
    if ((f == least) | (f == most)).all():
        low = np.where(f == least, target, -np.inf).max(axis=0)
        high = np.where(f == most, target, -np.inf).max(axis=0)
        reach = most - least
        slope = np.divide(high - low, reach, out=np.zeros_like(reach), where=reach > 0)
        return low - slope * least, slope
    ends = [_facet(*column) for column in zip(f.T, target.T, masses @ f, strict=True)]
    start, slope = np.array(ends).T
    # Rounding must not leave a target above its line.
    return start + np.maximum(target - start - slope * f, 0.0).max(axis=0), slope


def _facet(f: Floats, target: Floats, middle: float) -> tuple[float, float]:
    """Return the side of the upper hull of points that is above the middle."""
    hull: list[tuple[float, float]] = []
    for x, y in sorted(zip(f.tolist(), target.tolist(), strict=True)):
        while hull and hull[-1][0] == x:
            hull.pop()
        while len(hull) > 1 and _turns_up(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    if len(hull) == 1:
        return hull[0][1], 0.0
    (x0, y0), (x1, y1) = next(
        (side for side in pairwise(hull) if middle <= side[1][0]), (hull[-2], hull[-1])
    )
    slope = (y1 - y0) / (x1 - x0)
    return y0 - slope * x0, slope


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) >= (b[1] - a[1]) * (c[0] - a[0])


def bound_above(
    line: tuple[Floats, Floats],
    ahead: Floats,
    target: Floats,
    tally: OutputSums | Aggregate,
    about: About,
) -> Bound:
    """Return the bound of a variance that a line gives.

    About the people it is sum_i a_i^2 v(x_i), about the population sum_i a_i^2 (E w - E[f]^2), with
    v or w below the line. `ahead` is the estimate less that of people in the middle of f.
    """
    total, squares = tally.total, tally.total_squares
    start, slope = line
    if about == "people" and not tally.weighted:
        return Bound(total * start + slope * ahead, slope)
    if about == "people" or tally.signed or not np.all(total > 0):
        # Weights may go with values: the largest variance counts for everybody.
        return Bound(squares * target.max(axis=0))
    ratio = squares / total
    variance = squares * start + ratio * (slope - ahead / total) * ahead
    return Bound(variance, ratio * (slope - 2 * ahead / total), ratio / total)


def model_of(channel: AnyChannel, prior: Prior | None = None) -> Model:
    """Return the model of a channel: a table, or an encoding."""
    if isinstance(channel, SupportChannel):
        from liftlock.estimate.models.support import Encoding

        return Encoding.of(channel, prior)
    return Dense.of(to_dense(channel), prior)
