"""Reports of users who have a prior each: sums of posteriors, answers, and a test of the priors.

Given the reports, users are independent, so a sum of f(X_i) has mean sum_i E[f(X_i) | report] and
variance sum_i Var[f(X_i) | report], each user by their own law under their own prior.

The reports test all priors together. If every prior is right, a posterior mass is the prior mass on
average, so

    z(x) = sum_i (P_i(x | report) - P_i(x)) / sqrt(V),    V = sum_i Var_i P_i(x | report),

has mean 0 and variance 1, with variances that are known before any report. A positive z says that
more people have the value x than their priors expected. No posterior can be farther than some b
from its prior, so the skewness of z is at most b / sqrt(V), and to that order the probability of
|z| or more is at most that of a normal law times exp(b |z|^3 / (6 sqrt(V))). Where a few users have
most of the variance that says nothing, and Bennett's inequality bounds it by

    2 exp(-(V / b^2) h(b |z| / sqrt(V))),    h(u) = (1 + u) ln(1 + u) - u.

The smaller of the two is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet
from liftlock.errors import InputError
from liftlock.estimate.aggregate import numbers_each
from liftlock.estimate.api import Options, answered, spread_of
from liftlock.estimate.estimators import Bayes
from liftlock.estimate.expected import ExpectedError
from liftlock.estimate.fit import WRONG, Drift, Fit, p_text
from liftlock.estimate.intervals.base import read_level
from liftlock.estimate.per_user import PerUser, PosteriorSums
from liftlock.estimate.per_user_aggregate import Gathering, PerUserAggregate
from liftlock.estimate.question import Question
from liftlock.estimate.result import Estimate
from liftlock.exact.encoding import fingerprint
from liftlock.forms import ArcChannel, UserChannel
from liftlock.forms.user_channel import prior_variances
from liftlock.per_user import POINTS, PerUserPriors

_CLEAR = 1000
"""A mean variance of fewer of its units would be mostly rounding."""

_WHY = "each user has a prior of their own, and posterior means have the least squared error"


@dataclass(frozen=True, eq=False)
class UserReports:
    """Reports of users with a prior each: from reports to sums, and from sums to answers.

    The guarantee names the mechanism in files.

    Source: 001 Prop. 2, eq. (14).
    """

    channel: UserChannel
    guarantee: str

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 by which aggregates know the mechanism that their reports come from."""
        channel = self.channel
        parts: list[Any] = ["local-mechanism", channel.inputs.to_data(), self.guarantee]
        parts.append(channel.form)
        for level, limits in enumerate(channel.limits):
            if level:
                parts.append([str(budget) for budget in limits])
            parts += [[name, str(value)] for name, value in channel.integers_of(level).items()]
        return fingerprint(parts)

    def aggregate(
        self,
        question: Question,
        reports: Iterable[Any] | npt.NDArray[Any],
        priors: PerUserPriors,
        *,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
        coded: bool = False,
    ) -> PerUserAggregate:
        """Add up what reports say, user by user, under each user's own law and prior.

        `weights` and `offsets` are the a_i and b_i of the weighted sum of a_i f(X_i) + b_i. Priors
        and numbers are in the order of the reports.
        """
        if isinstance(reports, str | bytes):
            raise InputError(
                "one text instead of a column of reports", value=reports, remedy="put it in a list"
            )
        column = reports if isinstance(reports, np.ndarray) else list(reports)
        if not len(column):
            raise InputError("no reports", remedy="give at least one; nothing was counted")
        numbered = coded or isinstance(self.channel, ArcChannel)
        codes = np.asarray(column) if numbered else self.channel.inputs.encode(column)
        checked = self.channel.read(codes, priors.users)
        amounts = numbers_each(weights, len(column), "weight", of="user")
        shifts = numbers_each(offsets, len(column), "offset", of="user")
        simple = plain(question) and amounts is None and shifts is None
        columns = None
        if question.of != "histogram":
            columns = np.ascontiguousarray(question.values.T)
        gathering = Gathering(self.fingerprint, self.channel, not simple, columns)
        return gathering.gathered(priors, checked, amounts, shifts)

    def estimate(
        self, aggregate: PerUserAggregate, question: Question, options: Options
    ) -> Estimate:
        """Answer a question from an aggregate that was made for it."""
        if aggregate.mechanism != self.fingerprint:
            raise InputError(
                "the reports come from another mechanism",
                value=f"{aggregate.mechanism[:16]} instead of {self.fingerprint[:16]}",
                remedy="use the mechanism that released them",
            )
        sums = posterior_sums(aggregate, question)
        model = PerUser(self.channel.inputs)
        key = "bayes" if options.method == "auto" else options.method
        model.refuse(key)
        estimator = Bayes(model, question)
        values = estimator.values(model.statistic(sums))
        spread = spread_of(estimator, sums, options)
        fit = fit_of_priors(question.inputs, aggregate)
        warning = misfit(fit)
        warnings = () if warning is None else (warning,)
        return answered(question, sums, options, key, _WHY, values, spread, fit, warnings)

    def expected_error(
        self, priors: PerUserPriors, question: Question, level: object
    ) -> ExpectedError:
        """Return the mean error per user: Var f(X_i) less the part that the report explains.

        Source: 001 Prop. 2.
        """
        if not priors.users:
            raise InputError("no users", remedy="give at least one prior")
        single = plain(question)
        columns = None if single else np.ascontiguousarray(question.values.T)
        sums = []
        for block in self.channel.blocks(priors):
            masses = block.counts / POINTS
            own = masses * (1.0 - masses) if columns is None else prior_variances(masses, columns)
            left = own - self.channel.explained(block, columns)
            sums.append(np.maximum(left, 0.0).sum(axis=0))
        each = np.sum(sums, axis=0) / priors.users
        if single:
            each = each[question.values.argmax(axis=0)]
        return ExpectedError(
            question.of,
            "bayes",
            "people",
            read_level(level),
            priors.users,
            question.names,
            tuple(float(value) for value in each),
        )


def plain(question: Question) -> bool:
    """Tell whether the sums of the histogram answer a question: it counts single symbols."""
    return question.counts and bool((np.count_nonzero(question.values, axis=0) == 1).all())


def posterior_sums(aggregate: PerUserAggregate, question: Question) -> PosteriorSums:
    """Return what an aggregate says about a question that it was made for."""
    if not aggregate.reports:
        raise InputError("no reports", remedy="give at least one")
    asked = aggregate.asked
    weighted = asked is not None and asked.weighted
    if plain(question) and not weighted:
        places = question.values.argmax(axis=0)
        values, variances = aggregate.floats("posteriors")[places], aggregate.variances()[places]
        return PosteriorSums(aggregate.reports, float(aggregate.reports), 0.0, values, variances)
    columns = None
    if question.of != "histogram":
        columns = tuple(tuple(column) for column in question.values.T.tolist())
    if asked is None or asked.columns != columns:
        raise InputError(
            "the aggregate was made for another question",
            value=question.of,
            remedy="aggregate the reports with this question",
        )
    if question.of == "mean" and asked.weight == 0:
        raise InputError("weights that sum to 0 have no mean", remedy="ask for the sum")
    values = np.array([float(value + asked.offset) for value in asked.sums])
    variances = np.array([float(value) for value in asked.variances])
    weight = float(asked.weight)
    return PosteriorSums(aggregate.reports, weight, 0.0, values, variances, weighted)


def fit_of_priors(alphabet: Alphabet, aggregate: PerUserAggregate) -> Fit:
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
        return Fit(1.0, 0.0, None, (), "the reports say too little for a test")
    drifts = sorted((drift for _, drift in found), key=lambda drift: -abs(drift.score))
    p_value = min(1.0, len(found) * min(chance for chance, _ in found))
    note = f"the largest of {len(found)} standard scores"
    return Fit(p_value, abs(drifts[0].score), None, tuple(drifts), note)


def _chance(score: float, reach: float) -> float:
    """Bound the probability of so large a score, if one user can move it by `reach` at most."""
    size = abs(score)
    away = size * reach
    bennett = 2.0 * math.exp(-((1.0 + away) * math.log1p(away) - away) / reach**2)
    skewed = math.erfc(size / math.sqrt(2.0)) * math.exp(min(reach * size**3 / 6.0, 700.0))
    return min(1.0, bennett, skewed)


def misfit(fit: Fit) -> str | None:
    """Return the warning about priors that do not fit, with the direction, or None if they may."""
    if fit.p_value >= WRONG:
        return None
    shown = "; ".join(str(drift) for drift in fit.drifts[:2] if abs(drift.score) > 2)
    return (
        f"the priors of the users do not fit the reports (p = {p_text(fit.p_value)}): they show "
        f"{shown}; the estimate leans on these priors"
    )
