"""One call from counted reports to answers: the estimator, its intervals, and what to beware of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, NotDefined
from liftlock.estimate import intervals
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.answering import Asked, check_weights
from liftlock.estimate.bayes import bayes, no_prior
from liftlock.estimate.choosing import DOUBTFUL, choose, misfit, p_text, up_text
from liftlock.estimate.consistent import Consistent
from liftlock.estimate.estimator import Estimator
from liftlock.estimate.fit import Fit, fit_of_channel, fit_of_prior, sharpened
from liftlock.estimate.intervals import Spread
from liftlock.estimate.intervals.caution import FEW_WEIGHTED
from liftlock.estimate.level import quantile
from liftlock.estimate.likelihood import GAP, Likelihood
from liftlock.estimate.model import Model
from liftlock.estimate.options import Options
from liftlock.estimate.question import Question, ask
from liftlock.estimate.result import Answer, Estimate
from liftlock.estimate.support import estimate_support, fit_of_support
from liftlock.estimate.support_bayes import posterior_of
from liftlock.estimate.unbiased import unbiased
from liftlock.forms import AnyChannel, SupportChannel
from liftlock.prior import Prior

_FOREIGN = 0.001
"""Below this p-value, no prior explains the reports."""
_CELLS = 1 << 16
"""Larger channels are not tested against all priors: it would take longer than the estimate."""


def estimate(
    channel: AnyChannel,
    aggregate: Aggregate,
    of: str = "histogram",
    *,
    value: Any = None,
    prior: Prior | None = None,
    method: str = "auto",
    interval: str = "auto",
    level: object = "0.95",
    about: str = "people",
    seed: int | None = None,
) -> Estimate:
    """Estimate from counted reports: how many people have each value, or what they add up to.

    `of` is ``histogram``, ``survey`` (how many have `value`, or one of a list of values), ``sum``
    or ``mean``; weights and offsets come with the aggregate. `method` is ``auto``, ``bayes``,
    ``unbiased``, ``likelihood`` or ``consistent``; `interval` is one of the kinds of intervals.
    `about` says whether the interval is to hold the number among the ``people`` who reported, or
    the expected number if they are a random sample of a ``population``.

    Source: 001 section III.

    >>> from liftlock.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> reports = Aggregate.of(coin, [1] * 400 + [0] * 600)
    >>> found = estimate(coin, reports, "survey", value=1)
    >>> found.value, found.method, found.why
    (300.0, 'unbiased', 'no prior is known, and this estimate needs none')
    """
    options = Options.of(method, interval, level, about, seed)
    _check_kinds(aggregate, prior)
    return _estimated(channel, aggregate, ask(channel.inputs, of, value), prior, options)


def _estimated(
    channel: AnyChannel,
    aggregate: Aggregate,
    question: Question,
    prior: Prior | None,
    options: Options,
) -> Estimate:
    """Choose an estimator and an interval, and say what to beware of."""
    aggregate.checked(channel)
    check_weights(aggregate, question, options.about)
    if isinstance(channel, SupportChannel):
        return estimate_support(channel, aggregate, question, prior, options)
    model = Model.of(channel, prior)
    fit = None if prior is None else _fit(model, question, aggregate)
    if options.method == "auto":
        key, why = choose(model, question, fit, options.about)
    else:
        key, why = options.method, "as asked"
    estimator = _estimator(key, model, question, aggregate)
    amounts = aggregate.amounts()
    values = estimator.values(amounts)
    spread = intervals.make(
        options.interval,
        estimator,
        aggregate,
        level=options.level,
        about=options.about,
        seed=options.seed,
    )
    asked = Asked(question, aggregate, options)
    alone = _alone(model, asked) if key == "bayes" else ()
    return asked.answered(
        key,
        why,
        values,
        replace(spread, remarks=(*_remarks(estimator, aggregate), *spread.remarks)),
        fit,
        _warnings(model, question, aggregate, fit, key, free=bool(alone)),
        alone,
    )


def _fit(model: Model, question: Question, aggregate: Aggregate) -> Fit:
    """Test the reports against the prior, all of them and the one number that is asked for."""
    assert model.masses is not None
    found = fit_of_prior(model, aggregate)
    if len(question.names) > 1:
        return found
    scores = bayes(model, question).scores[:, 0]
    return sharpened(found, scores, model.mixture(model.masses), aggregate)


def _alone(model: Model, asked: Asked) -> tuple[Answer, ...]:
    """Return what the reports say without the prior, if they determine it.

    A test that finds nothing does not prove the prior right. What it cannot see is about as large
    as these intervals, so whoever reads a Bayes estimate should see them too.
    """
    try:
        estimator = unbiased(model, asked.question)
    except NotDefined:
        return ()
    options = asked.options
    # No kind of interval keeps its level for so few reports, and there is no room to say so.
    bare = options.interval == "none" or asked.aggregate.reports < FEW_WEIGHTED
    spread = intervals.make(
        "none" if bare else "auto",
        estimator,
        asked.aggregate,
        level=options.level,
        about=options.about,
        seed=options.seed,
    )
    return asked.answers(estimator.values(asked.aggregate.amounts()), spread)


def estimate_reports(
    channel: AnyChannel,
    reports: Any,
    of: str = "histogram",
    *,
    value: Any = None,
    prior: Prior | None = None,
    method: str = "auto",
    interval: str = "auto",
    level: object = "0.95",
    about: str = "people",
    seed: int | None = None,
    weights: npt.ArrayLike | None = None,
    offsets: npt.ArrayLike | None = None,
) -> Estimate:
    """Estimate from reports in memory: `estimate` of their aggregate, and Bayes for encodings.

    The counts of an encoding do not hold which symbols a report supports together, and posteriors
    depend on that; here the reports themselves are at hand.
    """
    options = Options.of(method, interval, level, about, seed)
    aggregate = Aggregate.of(channel, reports, weights=weights, offsets=offsets)
    _check_kinds(aggregate, prior)
    question = ask(channel.inputs, of, value)
    if isinstance(channel, SupportChannel) and prior is None and options.method == "bayes":
        raise no_prior()
    if isinstance(channel, SupportChannel) and prior is not None:
        check_weights(aggregate, question, options.about)
        fit = fit_of_support(channel, aggregate, prior)
        fits = fit.p_value >= DOUBTFUL and options.about == "people"
        if options.method == "bayes" or (options.method == "auto" and fits):
            return _posterior(channel, reports, aggregate, question, prior, options, fit, weights)
    return _estimated(channel, aggregate, question, prior, options)


def _check_kinds(aggregate: object, prior: object) -> None:
    if not isinstance(aggregate, Aggregate):
        raise InputError(
            "not counted reports",
            value=type(aggregate).__name__,
            remedy="count them with Aggregate.of(channel, reports)",
        )
    if prior is not None and not isinstance(prior, Prior):
        raise InputError(
            "not a prior on the values", value=type(prior).__name__, remedy="give a Prior"
        )


def _posterior(
    channel: SupportChannel,
    reports: Any,
    aggregate: Aggregate,
    question: Question,
    prior: Prior,
    options: Options,
    fit: Fit,
    weights: npt.ArrayLike | None,
) -> Estimate:
    why = "as asked"
    if options.method == "auto":
        why = f"the prior fits the reports (p = {p_text(fit.p_value)}), which are all at hand"
    if options.interval not in ("auto", "normal", "none"):
        raise NotDefined(
            f"an interval of kind {options.interval}",
            "a Bayes estimate of an encoding",
            "ask for normal, or for unbiased",
        )
    found = posterior_of(channel, channel.checked(reports), question, prior, weights)
    spread = Spread(None, None, None, "none")
    if options.interval != "none" and options.about == "population":
        said = "posteriors speak of the people who reported: no interval about a population"
        spread = spread.remarked(said)
    elif options.interval != "none":
        errors = np.sqrt(found.variances)
        reach = quantile(options.level) * errors
        low, high = found.values - reach, found.values + reach
        if question.counts and aggregate.weights is None:
            low, high = np.clip([low, high], 0.0, float(aggregate.reports))
        spread = Spread(errors, low, high, "normal")
    warning = misfit(fit, "bayes")
    free = replace(options, method="unbiased")
    return Asked(question, aggregate, options).answered(
        "bayes",
        why,
        found.values,
        spread,
        fit,
        () if warning is None else (warning,),
        estimate_support(channel, aggregate, question, prior, free).answers,
    )


def _estimator(key: str, model: Model, question: Question, aggregate: Aggregate) -> Estimator:
    if key == "bayes":
        return bayes(model, question)
    if key == "unbiased":
        return unbiased(model, question)
    if aggregate.weights is not None and aggregate.weights.least < 0:
        raise NotDefined(
            f"the {key} estimate",
            "negative weights",
            "ask for unbiased or bayes, which take weights of both signs",
        )
    if key == "consistent":
        return Consistent.of(model, question)
    return Likelihood(model, question)


def _warnings(
    model: Model,
    question: Question,
    aggregate: Aggregate,
    fit: Fit | None,
    key: str,
    *,
    free: bool,
) -> tuple[str, ...]:
    """Say that the prior, or the whole mechanism, does not fit the reports."""
    found = []
    if fit is not None:
        warning = misfit(fit, key, free=free, numbers=not question.counts)
        found += [] if warning is None else [warning]
    if model.rows.size <= _CELLS:
        foreign = fit_of_channel(model, aggregate)
        if foreign is not None and foreign.p_value < _FOREIGN:
            found.append(
                f"no prior explains these reports (p = {p_text(foreign.p_value)}): "
                "were all of them made by this mechanism?"
            )
    return tuple(found)


def _remarks(estimator: Estimator, aggregate: Aggregate) -> tuple[str, ...]:
    """Say what was proved of a maximum of likelihood, and whether it is the only one."""
    if not isinstance(estimator, Likelihood):
        return ()
    amounts = aggregate.amounts()
    best = estimator.maximum(amounts)
    short = "" if best.gaps <= max(GAP, 5e-12 * amounts.sum()) else ": more was not reached"
    gap, steps = up_text(float(best.gaps)), f"{best.steps} step{'s' * (best.steps != 1)}"
    remarks = [f"the log-likelihood is within {gap} of the largest, after {steps}{short}"]
    if not estimator.unique(amounts, best.shares):
        remarks.append("other answers are as likely: these reports do not determine it")
    return tuple(remarks)
