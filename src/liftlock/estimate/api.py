"""One call from reports to answers: the estimator, its intervals, and what to beware of."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from liftlock._runtime.registry import name_of
from liftlock.errors import InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.estimators import ESTIMATORS, Bayes, Estimator, Unbiased
from liftlock.estimate.fit import DOUBTFUL, misfit_warning, p_text
from liftlock.estimate.intervals import KINDS, IntervalEstimate, Kind, make_interval
from liftlock.estimate.intervals.base import read_level
from liftlock.estimate.likely_priors import Round
from liftlock.estimate.models import (
    CountedReports,
    Model,
    PerUser,
    PosteriorSums,
    model_of,
    read_profiles,
)
from liftlock.estimate.models.dense import FEW_WEIGHTED
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.estimate.question import ABOUT, About, Question, ask
from liftlock.estimate.result import Answer, Estimate, GoodnessOfFit
from liftlock.exact.integers import Floats
from liftlock.model import Prior, ProfileGraph
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense

if TYPE_CHECKING:
    import numpy.typing as npt

AnyMethod = str | type[Estimator[Any]]
"""The key of an estimator, ``auto``, or a class of one's own."""


def methods() -> tuple[str, ...]:
    """Return what a method may be named.

    >>> methods()
    ('auto', 'bayes', 'unbiased', 'likelihood', 'consistent'...)
    """
    return ("auto", *ESTIMATORS)


def estimate(
    channel: AnyChannel,
    reports: Aggregate | PerUserAggregate | Iterable[Any] | npt.NDArray[Any],
    of: str = "histogram",
    *,
    value: Any = None,
    prior: Prior | None = None,
    graph: ProfileGraph | None = None,
    trust_profiles: bool | None = None,
    weights: npt.ArrayLike | None = None,
    offsets: npt.ArrayLike | None = None,
    method: AnyMethod = "auto",
    interval: str = "auto",
    level: object = "0.95",
    about: str = "people",
    seed: int | None = None,
) -> Estimate:
    """Estimate from reports, or their aggregate: how many have each value, or what they add up to.

    `of` is ``histogram``, ``survey`` (how many have `value`, or one of a list of values), ``sum``
    or ``mean``; weights and offsets come with the reports, or with their aggregate. `method` is
    ``auto``, ``bayes``, ``unbiased``, ``likelihood`` or ``consistent``, or an `Estimator` class of
    your own; `interval` is one of the kinds of intervals. Where the reports do not determine an
    answer, ``auto`` gives the middle of the range of all that explain them. `about` says whether
    the interval is to hold the number among the ``people`` who reported, or the expected number if
    they are a random sample of a ``population``.

    The counts of an encoding do not hold which symbols a report supports together, and posteriors
    depend on that: ``bayes`` needs the reports themselves.

    With a `graph` of profiles `of` may also be ``profiles``: how many people have each profile, or
    one of those in `value`. `trust_profiles` says whether questions about values believe the
    distributions of the profiles; unless told, they do only where nothing else tells the values
    apart. The answer says what it assumes.

    Source: 001 section III, 004 section 5.2.

    >>> from liftlock.model.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = estimate(coin, [1] * 400 + [0] * 600, "survey", value=1)
    >>> found.value, found.method, found.why
    (300.0, 'unbiased', 'no prior is known, and this estimate needs none')
    """
    options = EstimateOptions.of(method, interval, level, about, seed)
    if prior is not None and not isinstance(prior, Prior):
        raise InputError(
            "not a prior on the values", value=type(prior).__name__, remedy="give a Prior"
        )
    if graph is None and trust_profiles is not None:
        raise InputError("no profiles that could be trusted", remedy="leave trust_profiles out")
    if isinstance(reports, PerUserAggregate):
        question = ask(channel.inputs, of, value)
        sums = PosteriorSums.of_users(reports, question)
        return answer(PerUser(channel.inputs), sums, question, options)
    aggregate = _count(channel, reports, weights, offsets)
    counted: CountedReports = aggregate
    if graph is None:
        question, model, assumes = ask(channel.inputs, of, value), model_of(channel, prior), ""
    else:
        model, question, assumes = read_profiles(channel, graph, of, value, prior, trust_profiles)
    if aggregate.weights is not None:
        aggregate.weights.refuse(question.of, options.about, options.method)
    if graph is None and not isinstance(reports, Aggregate):
        model, counted = model.reread_reports(
            reports, weights, aggregate, question, options.method, options.about
        )
    rounds = (
        ()
        if graph is not None or aggregate.weights is not None
        else (
            Round(
                channel if isinstance(channel, SupportChannel) else to_dense(channel),
                aggregate,
                prior,
            ),
        )
    )
    return replace(answer(model, counted, question, options), assumes=assumes, rounds=rounds)


def _count(
    channel: AnyChannel,
    reports: Aggregate | Iterable[Any] | npt.NDArray[Any],
    weights: npt.ArrayLike | None,
    offsets: npt.ArrayLike | None,
) -> Aggregate:
    """Count the reports, or check their aggregate."""
    if not isinstance(reports, Aggregate):
        return Aggregate.of(channel, reports, weights=weights, offsets=offsets)
    if weights is None and offsets is None:
        return reports.check_channel(channel)
    raise InputError(
        "weights for reports that are counted already",
        remedy="give them to aggregate(...), with the reports",
    )


def answer(
    model: Model, counted: CountedReports, question: Question, options: EstimateOptions
) -> Estimate:
    """Choose an estimator and an interval, and say what to beware of."""
    fit = model.fit(question, counted)
    if options.method == "auto":
        estimator, why = choose(model, question, fit, options.about)
        if counted.weights is not None:
            counted.weights.refuse(question.of, options.about, estimator.key)
    else:
        estimator = (options.estimator or ESTIMATORS[options.method])(model, question)
        why = "as asked" if len(model.estimators) > 1 else model.why
    method, statistic = estimator.key, model.statistic(counted)
    values, remarks = estimator.values(statistic), estimator.remarks(statistic)
    spread = estimate_interval(estimator, counted, options)
    if method == "likelihood" and options.method == "auto" and spread.middle is not None:
        # Which of equally likely answers is found depends on rounding; the middle does not.
        method, values, remarks = spread.kind, spread.middle, ()
    alone = _answer_without_prior(model, counted, question, options) if method == "bayes" else ()
    return Estimate(
        question.of,
        make_answers(question, counted, values, spread),
        method,
        why,
        spread.kind,
        options.level,
        options.about,
        counted.reports,
        counted.total,
        fit,
        _warnings(estimator, counted, fit, free=bool(alone)),
        (*remarks, *spread.remarks),
        alone,
    )


# --- which estimator ----------------------------------------------------------------------------


def choose(
    model: Model, question: Question, fit: GoodnessOfFit | None, about: About = "people"
) -> tuple[Estimator[Model], str]:
    """Return the estimator that is taken when nobody said, and one sentence that says why.

    This is all of the decision of ``auto``. The Bayes estimate has the smallest error if the prior
    is true; the unbiased one needs none. A population is what the prior describes: an estimate of
    it that starts from the prior is no news.
    """
    if "unbiased" not in model.estimators:
        return Bayes(model, question), model.why
    if "bayes" not in model.estimators:
        return Unbiased(model, question), model.why
    if model.masses is None or fit is None:
        try:
            return Unbiased(model, question), "no prior is known, and this estimate needs none"
        except NotDefined as refused:
            why = f"{refused.context}; every answer in the range explains the reports"
            return ESTIMATORS["likelihood"](model, question), why
    best = Bayes(model, question)
    try:
        free = Unbiased(model, question)
    except NotDefined:
        return best, "the reports alone do not determine the answer; the prior fills the gap"
    if about == "population":
        return free, "a Bayes estimate would take the population from the prior"
    if fit.p_value < DOUBTFUL:
        doubt = f"the prior is in doubt (p = {p_text(fit.p_value)})"
        return free, f"{doubt}, and this estimate leans on none"
    ratio = model.error_ratio(best, free)
    return best, (
        f"the prior fits the reports (p = {p_text(fit.p_value)}); if it is true, the error is "
        f"{ratio:.2g} times that of the unbiased estimate"
    )


def _answer_without_prior(
    model: Model, counted: CountedReports, question: Question, options: EstimateOptions
) -> tuple[Answer, ...]:
    """Return what the reports say without the prior, if they determine it.

    A test that finds nothing does not prove the prior right. What it cannot see is about as large
    as these intervals, so whoever reads a Bayes estimate should see them too.
    """
    beside = model.without_prior(counted)
    if beside is not None:
        model, counted = beside
    else:
        # No kind of interval keeps its level for so few reports, and there is no room to say so.
        bare = options.interval == "none" or counted.reports < FEW_WEIGHTED
        options = replace(options, interval="none" if bare else "auto")
    try:
        estimator = Unbiased(model, question)
    except NotDefined:
        return ()
    spread = estimate_interval(estimator, counted, options)
    return make_answers(question, counted, estimator.values(model.statistic(counted)), spread)


def estimate_interval(
    estimator: Estimator[Model], counted: CountedReports, options: EstimateOptions
) -> IntervalEstimate:
    """Return the interval of an estimate, as the options ask for it."""
    return make_interval(
        options.interval,
        estimator,
        counted,
        level=options.level,
        about=options.about,
        seed=options.seed,
    )


def _warnings(
    estimator: Estimator[Model], counted: CountedReports, fit: GoodnessOfFit | None, *, free: bool
) -> tuple[str, ...]:
    """Say that the prior, or the whole mechanism, does not fit the reports."""
    numbers = not estimator.question.counts
    found = None if fit is None else misfit_warning(fit, estimator.key, free=free, numbers=numbers)
    both = (found, estimator.model.mismatch_warning(counted))
    return tuple(warning for warning in both if warning is not None)


# --- what is asked, and how it is told ------------------------------------------------------------


@dataclass(frozen=True)
class EstimateOptions:
    """The method, the kind and the level of the interval, whom it is about, and the seed."""

    method: str
    interval: Kind
    level: float
    about: About
    seed: int | None = None
    estimator: type[Estimator[Any]] | None = None
    """The class of the method, where it is not one of the registry."""

    @classmethod
    def of(
        cls,
        method: AnyMethod = "auto",
        interval: str = "auto",
        level: object = "0.95",
        about: str = "people",
        seed: int | None = None,
    ) -> EstimateOptions:
        """Refuse what is unknown; a level is a number between 0 and 1, or its text.

        >>> EstimateOptions.of(level="95 %").level
        0.95
        """
        own = None
        if not isinstance(method, str):
            own = _own(method)
            method = own.key
        for given, known, what in (
            (method, (*methods(), method) if own else methods(), "method"),
            (interval, KINDS, "kind of interval"),
            (about, ABOUT, "group the answer is about"),
        ):
            if given not in known:
                raise InputError(f"unknown {what}", value=given, remedy=f"use {', '.join(known)}")
        chance = read_level(level)
        if seed is not None and seed < 0:
            raise InputError("the seed is not a whole number of 0 or more", value=seed)
        kind = cast("Kind", interval)
        return cls(method, kind, chance, cast("About", about), seed, own)


def _own(method: object) -> type[Estimator[Any]]:
    """Return a class of somebody's own, whose key is not that of another one."""
    key = getattr(method, "key", None)
    if not isinstance(method, type) or not issubclass(method, Estimator) or key is None:
        raise InputError(
            "not an estimator",
            value=name_of(method),
            remedy=f"name one ({', '.join(methods())}), or give a class made from "
            "liftlock.estimate.estimators.Estimator, with a key",
        )
    if key in methods() and ESTIMATORS.get(key) is not method:
        raise InputError(
            "an estimator of this name is registered already",
            value=key,
            remedy="give your class another key",
        )
    return method


def make_answers(
    question: Question,
    counted: CountedReports,
    values: Floats,
    spread: IntervalEstimate,
) -> tuple[Answer, ...]:
    """Return the answers: offsets are added to sums, and means are divided by the weights."""
    shift = counted.offset if question.of == "sum" else 0.0
    scale = counted.total if question.of == "mean" else 1.0
    errors, low, high = spread.errors, spread.low, spread.high
    if scale < 0:
        low, high = high, low

    def number(array: Floats | None, place: int, shift: float = 0.0) -> float | None:
        if array is None or not math.isfinite(array[place]):
            return None
        # Adding 0 turns -0 into 0.
        return float(array[place]) / scale + shift + 0.0

    found = []
    for place, name in enumerate(question.names):
        error = number(errors, place)
        found.append(
            Answer(
                name,
                float(values[place]) / scale + shift + 0.0,
                None if error is None else abs(error),
                number(low, place, shift),
                number(high, place, shift),
            )
        )
    return tuple(found)
