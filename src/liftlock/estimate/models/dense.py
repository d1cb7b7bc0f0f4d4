"""A channel as a table of probabilities, whose reports are counted by output.

Errors of the unbiased estimate about the people: Var(s) = sum_x n_x Var[g(Y) | x]. About the
population: Var(s) = n (E[g(Y)^2] - (s/n)^2). Both depend on the sum s itself. What else the
variance depends on (how the rest of the people spread) is taken from non-negative estimates of
their counts. Of the Bayes estimate: given the reports people are independent, so the variance is
sum_y n_y Var(f(X) | y).

Source: 001 eq. (14).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.fit import add_score_test, channel_fit, p_text, prior_fit
from liftlock.estimate.models.base import Error, Model, no_prior_error, variances_of
from liftlock.estimate.models.inverse import Inverse
from liftlock.estimate.question import About, Question
from liftlock.estimate.result import GoodnessOfFit
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
    estimators: ClassVar[frozenset[str]] = frozenset(
        ("bayes", "unbiased", "likelihood", "consistent")
    )
    intervals: ClassVar[tuple[str, ...]] = ("normal", "exact", "bootstrap", "credible", "range")
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
        # Centred first: a difference of large squares would lose its digits.
        centred = scores - self.expected @ scores
        means = self.rows @ centred
        found: Floats = np.maximum(self.rows @ centred**2 - means**2, 0.0)
        return found

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
        return Error(tally.squares @ self.posterior_variances(question))

    def unbiased_error(self, estimator: Linear[Any], tally: OutputSums, about: About) -> Error:
        """Return Var(s), with an upper bound where the reports do not determine it.

        The variance about the people holds sum_x n_x f(x)^2, which for a count is the count itself.
        """
        if about == "population" or estimator.question.counts or self.inverse.full:
            return self._error(estimator, tally, about)
        why = "the reports do not determine how the people spread, only their sum: "
        if tally.weighted:
            remark = f"{why}the variance is that of a likely spread, not a bound"
            return replace(self._error(estimator, tally, about), remarks=(remark,))
        remark = f"{why}the interval is that for a population, wide enough whatever the spread"
        return replace(self._error(estimator, tally, "population"), remarks=(remark,))

    def _error(self, estimator: Linear[Any], tally: OutputSums, about: About) -> Error:
        question = estimator.question
        # The variance under each possible sum is known for counts, and for two symbols.
        people = None if question.counts or len(question.inputs) <= 2 else tally.reports
        if tally.weighted:
            return Error(*self._weighted_error(estimator, tally, about), people)
        values = estimator.values(tally.amounts)
        bend = float(about == "population") / tally.reports
        return Error(*self._variance_and_slope(estimator, tally, values, about), bend, people)

    def _variance_and_slope(
        self, estimator: Linear[Any], tally: OutputSums, values: Floats, about: About
    ) -> tuple[Floats, Floats]:
        """Return Var(s) at the estimate, and how fast it grows with s.

        With w(x) = E[g(Y)^2 | x] about the middle of what f can be, and f for f - middle,

            Var(s) = sum_x n_x w(x) - sum_x n_x f(x)^2      about the people,
            Var(s) = sum_x n_x w(x) - s^2 / n               about the population.

        Along the regression of the summands on f this is linear in s (but for the s^2 that is
        written out), and for two symbols exactly so.
        """
        people = self.likely_counts(tally.counts)
        variance, slope, f = self._regression(estimator, people, about)
        middle = estimator.question.values[0] - f[0]
        ahead = values - tally.reports * middle
        variance = variance + slope * (ahead - people @ f)
        if about == "population":
            variance = variance - ahead**2 / tally.reports
            slope = slope - 2 * ahead / tally.reports
        return variance, slope

    def _regression(
        self, estimator: Linear[Any], people: Floats, about: About
    ) -> tuple[Floats, Floats, Floats]:
        """Return sum_x n_x v(x), the slope of v on f, and f about its middle.

        v is w - f^2 about the people and w about the population.
        """
        question, rows = estimator.question, self.rows
        middle = (question.values.min(axis=0) + question.values.max(axis=0)) / 2
        f, squares = question.values - middle, (estimator.scores - middle) ** 2
        # One more person, who is like everybody: no symbol is without weight in the regression.
        weights = people + self.reference
        mixed = weights @ rows @ squares
        if question.is_histogram:
            # w is needed for the symbol itself only: a product of matrices would be most of the
            # work.
            own = np.einsum("xy,yx->x", rows, squares)
            products = weights * own + mixed * f.min(axis=0)
        else:
            products = weights @ (f * (rows @ squares))
        sums, variance = mixed, people @ rows @ squares
        if about == "people":
            products = products - weights @ f**3
            sums, variance = sums - weights @ f**2, variance - people @ f**2
        total = weights.sum(axis=-1, keepdims=True)
        centre = weights @ f / total
        along = weights @ f**2 / total - centre**2
        across = products / total - centre * sums / total
        # Where everybody counts alike there is no slope, whatever the unit f is measured in.
        varied = along > _TINY * np.abs(f).max(axis=0) ** 2
        slope = np.divide(across, along, out=np.zeros_like(across), where=varied)
        return variance, slope, f

    def _weighted_error(
        self, estimator: Linear[Any], tally: OutputSums, about: About
    ) -> tuple[Floats, Floats, Floats]:
        """Return sum_i a_i^2 Var at the estimate, its slope, and its bend.

        About the people a_i^2 is estimated for each value, so weights may go with values. About the
        population they do not (people are drawn at random), and the variance is that of any person.
        """
        total, squares = tally.total, tally.squares.sum(axis=-1, keepdims=True)
        if about == "people":
            people = self.likely_counts(tally.squares)
            variance, slope, _ = self._regression(estimator, people, about)
            return variance, np.zeros_like(slope), np.zeros_like(total)
        # As if all had the same weight: then the sum is this many times that of the reports.
        scale = total / tally.reports
        alike = estimator.values(tally.counts)
        if not tally.signed:
            alike = estimator.values(tally.amounts) / np.where(scale > 0, scale, 1.0)
        plain = OutputSums.plain(tally.counts)
        variance, slope = self._variance_and_slope(estimator, plain, alike, about)
        larger = squares / tally.reports
        if tally.signed:
            return larger * variance, np.zeros_like(slope), np.zeros_like(total)
        ratio = np.divide(larger, scale, out=np.zeros_like(scale), where=scale > 0)
        bend = np.divide(squares, total**2, out=np.zeros_like(total), where=total > 0)
        return larger * variance, ratio * slope, bend

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
        remarks = []
        question, steps = estimator.question, np.ptp(estimator.influences, axis=0)
        # Weights enter squared; their mean square makes the steps comparable.
        scale = float(tally.squares.sum() / tally.reports[0])
        # Without any noise there is nothing to be rough about.
        noisy = errors**2 > 1e-12 * scale * steps**2
        few = estimator.are_counts & noisy & (errors**2 < estimator.enough * scale * steps**2)
        if few.any():
            kinds = "exact intervals" if question.counts else "credible intervals"
            other = "no other kind takes weights"
            remedy = other if tally.weighted else f"{kinds} need no normal approximation"
            remarks.append(
                f"few reports decide about {question.list_names(few)}, and whole numbers jump: in "
                "such cases normal intervals of 95 % were measured to hold the truth 78 to 100 "
                f"times in 100; {remedy}"
            )
        people, least = tally.people[0], FEW_WEIGHTED if tally.weighted else _FEW
        if people < least:
            remarks.append(
                f"the normal approximation is rough for weights that say as much as {people:.3g} "
                f"equal ones: below {least} the level is not kept"
                if tally.weighted
                else f"the normal approximation is rough for {people:.0f} people: below {least} "
                "the level is not kept; credible intervals need no normal approximation"
            )
        return tuple(remarks)

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

    def error_ratio(self, best: Linear[Any], free: Linear[Any]) -> float:
        """Return the ratio of root mean squared errors under the prior, of all answers together.

        Source: 001 eq. (14).
        """
        assert self.masses is not None
        reports, values = self.mixture(self.masses), best.question.values
        centre = self.masses @ values
        # With means that are right, Var = E[g^2] - E[f^2] for one, E[f^2] - E[g^2] for the other.
        around = self.masses @ (values - centre) ** 2
        least = around - reports @ (best.scores - centre) ** 2
        worse = reports @ (free.scores - centre) ** 2 - around
        return float(np.sqrt(max(least.sum(), 0.0) / worse.sum())) if worse.sum() > 0 else 1.0

    # --- tests ----------------------------------------------------------------------------------

    def fit(self, question: Question, counted: Aggregate) -> GoodnessOfFit | None:
        """Test the reports against the prior; for one answer also the number asked for."""
        if self.masses is None:
            return None
        found = prior_fit(self, counted)
        if len(question.names) > 1:
            return found
        scores = self.posterior_scores(question)[:, 0]
        return add_score_test(found, scores, self.mixture(self.masses), counted)

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
        weights = aggregate.weights
        return cls(
            aggregate.floats(),
            aggregate.amounts(),
            aggregate.squares(),
            weights is not None,
            weights is not None and weights.least < 0,
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
        return _sum_outputs(self.counts)

    @property
    def total(self) -> Floats:
        """The sum of all weights, shape (..., 1)."""
        return _sum_outputs(self.amounts)

    @property
    def people(self) -> Floats:
        """How many people of equal weight would say as much, (sum a)^2 / sum a^2, shape (..., 1).

        Weights of both signs are not compared: all reports count.
        """
        if not self.weighted or self.signed:
            return self.reports
        spread = _sum_outputs(self.squares)
        found: Floats = np.divide(
            self.total**2, spread, out=np.zeros_like(spread), where=spread > 0
        )
        return np.minimum(found, self.reports)


def _sum_outputs(values: Floats) -> Floats:
    found: Floats = values.sum(axis=-1, keepdims=True)
    return found


def model_of(channel: AnyChannel, prior: Prior | None = None) -> Model:
    """Return the model of a channel: a table, or an encoding."""
    if isinstance(channel, SupportChannel):
        from liftlock.estimate.models.support import Encoding

        return Encoding.of(channel, prior)
    return Dense.of(to_dense(channel), prior)
