"""From sums over users to answers: posterior means, their errors, and the errors to expect."""

from __future__ import annotations

import numpy as np

from liftlock.errors import InputError
from liftlock.estimate.expected import ExpectedError
from liftlock.estimate.level import quantile, read_level
from liftlock.estimate.question import Question
from liftlock.estimate.result import Answer, Estimate
from liftlock.exact.integers import Floats
from liftlock.local.aggregate import LocalAggregate
from liftlock.local.fitting import misfit, test_priors
from liftlock.local.methods import Method, prior_variances
from liftlock.local.priors import LocalPriors
from liftlock.sampling.own_priors import POINTS, counted_blocks

_FEW = 4.0
"""Counts with a smaller variance are not nearly normal."""

_WHY = "each user has a prior of their own, and posterior means have the least squared error"


def plain(question: Question) -> bool:
    """Tell whether the sums of the histogram answer a question: it counts single symbols."""
    return question.counts and bool((np.count_nonzero(question.values, axis=0) == 1).all())


def estimate_from(aggregate: LocalAggregate, question: Question, level: object) -> Estimate:
    """Answer a question from an aggregate that was made for it.

    Given the reports, users are independent, so S has mean sum_i E[f(X_i) | report] and variance
    sum_i Var[f(X_i) | report].

    Source: 001 Prop. 2, eq. (14).
    """
    chance = read_level(level)
    if not aggregate.reports:
        raise InputError("no reports", remedy="give at least one")
    asked = aggregate.asked
    weighted = asked is not None and asked.weighted
    total = float(aggregate.reports)
    if plain(question) and not weighted:
        places = question.values.argmax(axis=0)
        values, variances = aggregate.floats("posteriors")[places], aggregate.variances()[places]
    else:
        columns = None
        if question.of != "histogram":
            columns = tuple(tuple(column) for column in question.values.T.tolist())
        if asked is None or asked.columns != columns:
            raise InputError(
                "the aggregate was made for another question",
                value=question.of,
                remedy="aggregate the reports with this question",
            )
        values = np.array([float(value + asked.offset) for value in asked.sums])
        variances = np.array([float(value) for value in asked.variances])
        total = float(asked.weight)
    if question.of == "mean":
        if total == 0:
            raise InputError("weights that sum to 0 have no mean", remedy="ask for the sum")
        values, variances = values / total, variances / total**2
    limit = total if question.counts and not weighted else None
    fit = test_priors(question.inputs, aggregate)
    warning = misfit(fit)
    remarks = []
    if question.counts and not weighted and (variances < _FEW).any():
        remarks.append("intervals of counts with an error below 2 are rough: the count is whole")
    return Estimate(
        question.of,
        _answers(question, values, np.sqrt(variances), chance, limit),
        "bayes",
        _WHY,
        "normal",
        chance,
        "people",
        aggregate.reports,
        total,
        fit,
        () if warning is None else (warning,),
        tuple(remarks),
    )


def _answers(
    question: Question, values: Floats, errors: Floats, level: float, limit: float | None
) -> tuple[Answer, ...]:
    reach = quantile(level)
    found = []
    for name, value, error in zip(question.names, values.tolist(), errors.tolist(), strict=True):
        low, high = value - reach * error, value + reach * error
        if limit is not None:
            low, high = max(low, 0.0), min(high, limit)
        found.append(Answer(name, value, error, low, high))
    return tuple(found)


def expected_error(
    method: Method, priors: LocalPriors, question: Question, level: object
) -> ExpectedError:
    """Return the mean error per user: Var f(X_i) less the part that the report explains.

    Source: 001 Prop. 2.
    """
    if not priors.users:
        raise InputError("no users", remedy="give at least one prior")
    single = plain(question)
    columns = None if single else np.ascontiguousarray(question.values.T)
    sums = []
    for first, rows in priors.blocks():
        for _, counts in counted_blocks(rows, first):
            masses = counts / POINTS
            own = masses * (1.0 - masses) if columns is None else prior_variances(masses, columns)
            left = own - method.explained(counts, columns)
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
