"""Reports that are read one by one: each has a posterior of its own, and their sums are kept.

Given the reports people are independent, so a sum over people has the mean sum_i E[f(X_i) | report]
and the variance sum_i Var[f(X_i) | report].

The reports of users who have a prior each test all priors together. If every prior is right, a
posterior mass is the prior mass on average, so

    z(x) = sum_i (P_i(x | report) - P_i(x)) / sqrt(V),    V = sum_i Var_i P_i(x | report),

has mean 0 and variance 1, with variances that are known before any report. A positive z says that
more people have the value x than their priors expected. No posterior can be farther than some b
from its prior, so the skewness of z is at most b / sqrt(V), and to that order the probability of
|z| or more is at most that of a normal distribution times exp(b |z|^3 / (6 sqrt(V))). Where a few
users have most of the variance that says nothing, and Bennett's inequality bounds it by

    2 exp(-(V / b^2) h(b |z| / sqrt(V))),    h(u) = (1 + u) ln(1 + u) - u.

The smaller of the two is taken.

Source: 001 Prop. 2, eq. (14).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from liftlock.errors import InputError, NotDefined
from liftlock.estimate.models.base import Bound, CountedReports, Error, Model
from liftlock.estimate.per_user_aggregate import PerUserAggregate, answer_columns
from liftlock.estimate.question import About, Question
from liftlock.estimate.result import IF_TRUE, Drift, GoodnessOfFit
from liftlock.estimate.user_scores import ClassEstimate, ScoreClass, weigh_classes
from liftlock.estimate.weights import no_mean_error
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Alphabet

if TYPE_CHECKING:
    from liftlock.estimate.estimators import Linear

_FEW = 4.0
"""Counts of people with a smaller variance are not nearly normal."""
_IF_TRUE = "if the priors of the users are true"
_NO_SCORES = (
    "these sums cannot be read without the priors: an earlier version wrote them, or there are too "
    "many values; with the reports at hand, aggregate them again"
)
_UNREAD = 0.0005
"""A smaller part of the users is not worth a remark."""
_CLEAR = 1000
"""A mean variance of fewer of its units would be mostly rounding."""


@dataclass(frozen=True, eq=False)
class PosteriorSums:
    """Posterior means and variances, added up over the reports, for each answer of one question."""

    reports: int
    total: float
    offset: float
    sums: Floats
    variances: Floats
    weighted: bool
    fit: GoodnessOfFit
    """The test of the priors under which the reports were read."""
    weights: None = field(default=None, init=False)
    """Weights are part of the sums."""

    @classmethod
    def of_users(cls, aggregate: PerUserAggregate, question: Question) -> PosteriorSums:
        """Read what an aggregate says about a question that it was made for."""
        if not aggregate.reports:
            raise InputError("no reports", remedy="give at least one")
        fit = per_user_prior_fit(question.inputs, aggregate)
        asked = aggregate.asked
        weighted = asked is not None and asked.weighted
        if question.is_single and not weighted:
            places = question.values.argmax(axis=0)
            sums, variances = aggregate.floats("posteriors")[places], aggregate.variances()[places]
            total = float(aggregate.reports)
            return cls(aggregate.reports, total, 0.0, sums, variances, weighted, fit)
        if asked is None or asked.columns != answer_columns(question):
            raise InputError(
                "the aggregate was made for another question",
                value=question.of,
                remedy="aggregate the reports with this question",
            )
        sums = np.array([float(value + asked.offset) for value in asked.sums])
        variances = np.array([float(value) for value in asked.variances])
        total = float(asked.weight)
        if question.of == "mean" and total == 0:
            raise no_mean_error()
        return cls(aggregate.reports, total, 0.0, sums, variances, weighted, fit)


@dataclass(frozen=True, eq=False)
class PerUser(Model):
    """Sums of posterior means: each report was read under the prior of its own user.

    The statistic is the sum for each answer, and nothing is left to be weighed.
    """

    inputs: Alphabet
    why: str = "the reports were read one by one"
    if_true: str = IF_TRUE
    masses: None = field(default=None, init=False)
    estimators: ClassVar[frozenset[str]] = frozenset(("bayes",))
    lack: ClassVar[str] = "sums of posteriors, in which every user has a prior"
    remedy: ClassVar[str] = "ask for bayes"

    def statistic(self, counted: PosteriorSums) -> Floats:
        """Return the sum of posterior means of each answer."""
        return counted.sums

    def posterior_scores(self, question: Question) -> Floats:
        """Return the identity: the sums are the answers."""
        return np.eye(len(question.names))

    @property
    def has_prior(self) -> bool:
        """Whether posteriors can be computed: they are, for every user."""
        return True

    def tally(self, counted: PosteriorSums) -> PosteriorSums:
        """Return the sums as they are."""
        return counted

    def posterior_error(self, question: Question, tally: PosteriorSums, about: About) -> Error:
        """Return the sum of the posterior variances."""
        del question
        if about == "population":
            said = "posteriors speak of the people who reported: no interval about a population"
            return Error((), remarks=(said,))
        return Error((Bound(tally.variances),))

    def possible_range(
        self, question: Question, tally: PosteriorSums
    ) -> tuple[Floats, Floats] | None:
        """Return the least and the largest count; a sum may be anything."""
        if not question.counts or tally.weighted:
            return None
        return np.zeros(()), np.array(float(tally.reports))

    def normality_remarks(
        self, estimator: Linear[Any], tally: PosteriorSums, errors: Floats
    ) -> tuple[str, ...]:
        """Say where a count is too small for the normal distribution."""
        del errors
        counts = estimator.question.counts and not tally.weighted
        if not counts or (tally.variances >= _FEW).all():
            return ()
        return ("intervals of counts with an error below 2 are rough: the count is whole",)

    def no_interval_error(self, kind: str, question: Question) -> NotDefined:
        """Return the refusal of all kinds but the normal one."""
        del question
        return NotDefined(
            f"an interval of kind {kind}",
            "posteriors that were added up report by report",
            "ask for normal",
        )

    def fit(self, question: Question, counted: PosteriorSums) -> GoodnessOfFit | None:
        """Return the test of the priors that the reports were read under."""
        del question
        return counted.fit


# --- users with a prior each ----------------------------------------------------------------------


def read_users(
    aggregate: PerUserAggregate, question: Question
) -> tuple[tuple[Model, CountedReports], tuple[Model, CountedReports] | None]:
    """Return sums over users as they are read without the priors, and beside them with these.

    Sums that an earlier version wrote can be read with the priors only.
    """
    sums = PosteriorSums.of_users(aggregate, question)
    if aggregate.scores is None:
        told = PerUser(question.inputs, _NO_SCORES, _IF_TRUE)
        return (told, sums), None
    posterior = PerUser(question.inputs, if_true=_IF_TRUE)
    return (Users(question.inputs), UserReports.of(aggregate, question, sums)), (posterior, sums)


@dataclass(frozen=True, eq=False)
class UserReports:
    """Scores of users, added up for one question: what the reports say without the priors."""

    reports: int
    total: float
    estimate: ClassEstimate
    possible: tuple[Floats, Floats]
    weighted: bool
    fit: GoodnessOfFit
    offset: float = field(default=0.0, init=False)
    weights: None = field(default=None, init=False)
    """Offsets and weights are part of the sums."""

    @classmethod
    def of(
        cls, aggregate: PerUserAggregate, question: Question, sums: PosteriorSums
    ) -> UserReports:
        """Weigh the classes of an aggregate that was made for the question."""
        scores: tuple[ScoreClass, ...] = aggregate.scores or ()
        places = question.values.argmax(axis=0) if aggregate.asked is None else None
        found = weigh_classes(scores, places, question)
        weight, size = (
            float(sum(getattr(each, name) for each in scores)) for name in ("weight", "size")
        )
        shift = 0.0 if aggregate.asked is None else float(aggregate.asked.offset)
        plus, minus = (size + weight) / 2, (size - weight) / 2
        least = plus * question.least - minus * question.most + shift
        most = plus * question.most - minus * question.least + shift
        moved = replace(found, values=found.values + shift)
        return cls(aggregate.reports, sums.total, moved, (least, most), sums.weighted, sums.fit)


@dataclass(frozen=True, eq=False)
class Users(Model):
    """Sums of scores, each by the table of its own user: right on average whatever users have."""

    inputs: Alphabet
    why: str = "it needs none of the priors"
    masses: None = field(default=None, init=False)
    estimators: ClassVar[frozenset[str]] = frozenset(("unbiased",))
    lack: ClassVar[str] = "sums over users, each with a table of their own"
    remedy: ClassVar[str] = "ask for unbiased or bayes"

    def statistic(self, counted: UserReports) -> Floats:
        """Return the estimate of each answer."""
        return counted.estimate.values

    def unbiased_scores(self, question: Question) -> Floats:
        """Return the identity: the sums are the answers."""
        return np.eye(len(question.names))

    def tally(self, counted: UserReports) -> UserReports:
        """Return the sums as they are."""
        return counted

    def unbiased_error(self, estimator: Linear[Any], tally: UserReports, about: About) -> Error:
        """Return the variance that the reports show, and what users who are not heard may add."""
        found = tally.estimate
        variance, slope, bend = found.variance, found.slope, 0.0
        if about == "population":
            variance = found.drawn
            if estimator.question.counts and not tally.weighted:
                slope = slope + 1.0 - 2.0 * found.values / tally.reports
                bend = 1.0 / tally.reports
        missing = float(1.0 - found.heard.min())
        unread = (
            f"up to {100 * missing:.2g} % of what the users reported is not read, since their own "
            "tables hardly tell the values apart: the intervals allow them every value, and the "
            "estimates take them to be as the others are"
        )
        return Error(
            (Bound(variance, slope, bend, found.doubt),),
            bias=(found.below, found.above),
            remarks=() if missing < _UNREAD else (unread,),
        )

    def possible_range(
        self,
        question: Question,  # noqa: ARG002 - the sums know it
        tally: UserReports,
    ) -> tuple[Floats, Floats]:
        """Return the least and the largest sum."""
        return tally.possible

    def normality_remarks(
        self, estimator: Linear[Any], tally: UserReports, errors: Floats
    ) -> tuple[str, ...]:
        """Say nothing: of few users the variance is taken to be the largest there can be."""
        del estimator, tally, errors
        return ()

    def no_interval_error(self, kind: str, question: Question) -> NotDefined:
        """Return the refusal of all kinds but the normal one."""
        del question
        return NotDefined(f"an interval of kind {kind}", self.lack, "ask for normal")

    def fit(self, question: Question, counted: UserReports) -> GoodnessOfFit | None:
        """Return the test of the users' priors."""
        del question
        return counted.fit


def per_user_prior_fit(alphabet: Alphabet, aggregate: PerUserAggregate) -> GoodnessOfFit:
    """Test the priors symbol by symbol; the p-value is the smallest, times how many were tested."""
    people = aggregate.reports
    found = []
    for label, posterior, expected, variance, reach, units in zip(
        alphabet.labels,
        aggregate.floats("posteriors").tolist(),
        aggregate.floats("priors").tolist(),
        aggregate.floats("spreads").tolist(),
        aggregate.floats("reaches").tolist(),
        aggregate.spreads,
        strict=True,
    ):
        if units >= _CLEAR * people:
            score = (posterior - expected) / math.sqrt(variance)
            drift = Drift(label, expected / people, None, score)
            found.append((_chance(score, reach / math.sqrt(variance)), drift))
    if not found:
        return GoodnessOfFit(
            1.0, 0.0, None, (), "the reports say too little for a test", users=True
        )
    drifts = sorted((drift for _, drift in found), key=lambda drift: -abs(drift.score))
    p_value = min(1.0, len(found) * min(chance for chance, _ in found))
    note = f"the largest of {len(found)} standard scores"
    return GoodnessOfFit(p_value, abs(drifts[0].score), None, tuple(drifts), note, users=True)


def _chance(score: float, reach: float) -> float:
    """Bound the probability of so large a score, if one user can move it by `reach` at most."""
    size = abs(score)
    away = size * reach
    bennett = 2.0 * math.exp(-((1.0 + away) * math.log1p(away) - away) / reach**2)
    skewed = math.erfc(size / math.sqrt(2.0)) * math.exp(min(reach * size**3 / 6.0, 700.0))
    return min(1.0, bennett, skewed)
