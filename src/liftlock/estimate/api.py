"""One call from reports to answers: the estimator, its intervals, and what to beware of."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from liftlock._runtime.registry import name_of
from liftlock.errors import InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.estimators import ESTIMATORS, Bayes, Estimator, Unbiased
from liftlock.estimate.fit import misfit_warning
from liftlock.estimate.intervals import KINDS, IntervalEstimate, Kind, make_interval
from liftlock.estimate.intervals.base import read_level
from liftlock.estimate.likely_priors import Round
from liftlock.estimate.models import (
    CountedReports,
    Model,
    model_of,
    no_prior_error,
    read_given,
    read_profiles,
    read_users,
    reported_channel,
)
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.estimate.question import ABOUT, About, Question, ask
from liftlock.estimate.result import Answer, Estimate, GoodnessOfFit, Reading
from liftlock.estimate.strength import (
    ROUGH,
    estimate_with_strength,
    read_strength,
    strength_words,
)
from liftlock.exact.integers import Floats
from liftlock.model import Conditional, Prior, ProfileGraph
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense

if TYPE_CHECKING:
    import numpy.typing as npt

CREDIBLE = "on average over shares drawn from the Dirichlet prior"
"""When credible intervals hold."""
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
    given: Conditional | None = None,
    weights: npt.ArrayLike | None = None,
    offsets: npt.ArrayLike | None = None,
    method: AnyMethod = "auto",
    interval: str = "auto",
    level: object = "0.95",
    about: str = "people",
    together: bool = False,
    strength: object = None,
    seed: int | None = None,
) -> Estimate:
    """Estimate from reports, or their aggregate: how many have each value, or what they add up to.

    `of` is ``histogram``, ``survey`` (how many have `value`, or one of a list of values), ``sum``
    or ``mean``; weights and offsets come with the reports, or with their aggregate. `method` is
    ``auto``, ``bayes``, ``unbiased``, ``likelihood`` or ``consistent``, or an `Estimator` class of
    your own; `interval` is one of the kinds of intervals. `about` says whether the interval is to
    hold the number among the ``people`` who reported, or the expected number if they are a random
    sample of a ``population``. With `together` the intervals of all answers hold at once.

    ``auto`` leans on no prior: it takes the unbiased estimate, or, where the reports do not
    determine the answer, the middle of the range of all that explain them. If a prior is known,
    what it makes of the same reports stands `beside`, and holds if the prior is true; with a
    `strength` the prior counts as so many people, and the promise is one on average over such
    priors.

    The counts of an encoding do not hold which symbols a report supports together, and posteriors
    depend on that: ``bayes`` needs the reports themselves.

    With a `graph` of profiles `of` may also be ``profiles``: how many people have each profile, or
    one of those in `value`. `trust_profiles` says whether questions about values believe the
    distributions of the profiles; unless told, they do only where nothing else tells the values
    apart. The answer says what it assumes.

    With joints `given` another value, reports are pairs (group, output): people of each group are
    estimated by their own table, and the groups add up.

    Source: 001 section III, 004 section 5.2.

    >>> from liftlock.model.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = estimate(coin, [1] * 400 + [0] * 600, "survey", value=1)
    >>> found.value, found.method, found.promise
    (300.0, 'unbiased', 'the interval holds at 95 % whatever the truth')
    """
    options = EstimateOptions.of(method, interval, level, about, seed, together, strength)
    if prior is not None and not isinstance(prior, Prior):
        raise InputError(
            "not a prior on the values", value=type(prior).__name__, remedy="give a Prior"
        )
    if graph is None and trust_profiles is not None:
        raise InputError("no profiles that could be trusted", remedy="leave trust_profiles out")
    if isinstance(reports, PerUserAggregate):
        question = ask(channel.inputs, of, value)
        own, beside = read_users(reports, question)
        if beside is not None and options.method == "bayes":
            own, beside = beside, own
        return answer(*own, question, options, beside)
    told = channel if given is None else reported_channel(channel, given)
    aggregate = _count(told, reports, weights, offsets)
    model: Model
    assumes = ""
    if given is not None:
        asked = ask(given.values, of, value)
        model, question = read_given(channel, given, aggregate, asked, options.about)
    elif graph is None:
        question, model = ask(channel.inputs, of, value), model_of(channel, prior)
    else:
        model, question, assumes = read_profiles(channel, graph, of, value, prior, trust_profiles)
    if aggregate.weights is not None:
        aggregate.weights.refuse(question.of, options.about, options.method)
    counted: tuple[Model, CountedReports] = (model, aggregate)
    other = None
    if given is None and not isinstance(reports, Aggregate) and options.method in ("auto", "bayes"):
        other = model.read_posteriors(reports, weights, aggregate, question)
    if options.method == "bayes" and other is not None:
        counted, other = other, counted
    elif (
        options.method == "bayes"
        and prior is None
        and given is None
        and not isinstance(reports, Aggregate)
    ):
        raise no_prior_error()
    rounds: tuple[Round, ...] = ()
    if graph is None and given is None and aggregate.weights is None:
        table = channel if isinstance(channel, SupportChannel) else to_dense(channel)
        rounds = (Round(table, aggregate, prior),)
    found = answer(*counted, question, options, other)
    return replace(found, assumes=assumes, rounds=rounds)


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
    model: Model,
    counted: CountedReports,
    question: Question,
    options: EstimateOptions,
    other: tuple[Model, CountedReports] | None = None,
) -> Estimate:
    """Choose an estimator and an interval, and say what to beware of.

    `other` is a second way to read the same reports, for what stands beside.
    """
    fit = model.fit(question, counted)
    if options.method == "auto":
        estimator, why = choose(model, question, counted)
        if counted.weights is not None:
            counted.weights.refuse(question.of, options.about, estimator.key)
    else:
        estimator = (options.estimator or ESTIMATORS[options.method])(model, question)
        why = "as asked"
    main = _read(estimator, counted, options)
    remarks = (*estimator.remarks(model.statistic(counted)), *main.spread.remarks)
    if main.method == "range":
        remarks = main.spread.remarks
    beside, told = _read_beside(estimator, counted, options, other)
    return Estimate(
        question.of,
        main.answers,
        main.method,
        why,
        main.spread.kind,
        options.level,
        options.about,
        counted.reports,
        counted.total,
        main.holds,
        options.together or main.spread.together,
        fit,
        _warnings(estimator, counted, fit, free=beside is not None),
        (*remarks, *told),
        beside,
    )


@dataclass(frozen=True)
class _Read:
    """Answers by one estimator, with their intervals."""

    method: str
    answers: tuple[Answer, ...]
    spread: IntervalEstimate
    holds: str


def _read(estimator: Estimator[Model], counted: CountedReports, options: EstimateOptions) -> _Read:
    model, question, key = estimator.model, estimator.question, estimator.key
    holds = model.holds
    if key == "bayes":
        holds = model.if_true if options.strength is None else strength_words(options.strength)
    if key == "bayes" and options.strength is not None:
        values, spread = estimate_with_strength(
            estimator, counted, options.strength, options.level, options.about, options.together
        )
    else:
        values = estimator.values(model.statistic(counted))
        spread = estimate_interval(estimator, counted, options)
    if key == "likelihood" and options.method == "auto" and spread.middle is not None:
        # Which of equally likely answers is found depends on rounding; the middle does not.
        key, values = spread.kind, spread.middle
        spread = spread.with_remarks(
            "an estimate is the middle of its range, and no likelier than the rest of it"
        )
    if spread.kind == "credible" and estimator.key != "bayes":
        holds = CREDIBLE
    possible = model.possible_range(question, model.tally(counted))
    return _Read(key, make_answers(question, counted, values, spread, possible), spread, holds)


def _read_beside(
    estimator: Estimator[Model],
    counted: CountedReports,
    options: EstimateOptions,
    other: tuple[Model, CountedReports] | None,
) -> tuple[Reading | None, tuple[str, ...]]:
    """Return what the same reports say under the other promise, and where that is rough."""
    model, key = estimator.model, "unbiased" if estimator.key == "bayes" else "bayes"
    if other is not None:
        model, counted = other
    about_prior = key == "bayes" and options.about == "population" and options.strength is None
    if about_prior or (key == "bayes" and not model.has_prior) or key not in model.estimators:
        return None, ()
    # Beside what is asked for stands what the library would take.
    kind: Kind = "none" if options.interval == "none" else "auto"
    try:
        second = ESTIMATORS[key](model, estimator.question)
        read = _read(second, counted, replace(options, interval=kind))
    except NotDefined:
        return None, ()
    rough = ROUGH in read.spread.remarks
    return Reading(read.holds, key, read.spread.kind, read.answers), (ROUGH,) if rough else ()


# --- which estimator ----------------------------------------------------------------------------


def choose(
    model: Model, question: Question, counted: CountedReports
) -> tuple[Estimator[Model], str]:
    """Return the estimator that is taken when nobody said, and one sentence that says why.

    This is all of the decision of ``auto``: it leans on no prior, and looks at no report. A test
    that chose between the two would keep the promise of neither.
    """
    if "unbiased" not in model.estimators:
        return Bayes(model, question), model.why
    try:
        return Unbiased(model, question), model.why
    except NotDefined as refused:
        if "likelihood" not in model.estimators:
            raise
        if model.has_prior and counted.weights is not None:
            return Bayes(model, question), "the reports alone do not determine the answer"
        why = f"{refused.context}; every answer in the range explains the reports"
        return ESTIMATORS["likelihood"](model, question), why


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
        together=options.together,
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
    together: bool = False
    strength: float | None = None
    """How many people the prior counts as; without it, it is taken for true."""
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
        together: bool = False,
        strength: object = None,
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
        people = None if strength is None else read_strength(strength)
        return cls(method, kind, chance, cast("About", about), seed, together, people, own)


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
    possible: tuple[Floats, Floats] | None = None,
) -> tuple[Answer, ...]:
    """Return the answers: offsets are added to sums, and means are divided by the weights.

    What is beyond its interval, or beyond what is possible, is moved to the nearer end.
    """
    shift = counted.offset if question.of == "sum" else 0.0
    scale = counted.total if question.of == "mean" else 1.0
    inside = values if possible is None else np.clip(values, *possible)
    if spread.low is not None and spread.high is not None:
        # Where there is no interval, the ends are not numbers, and nothing is moved.
        inside = np.fmin(np.fmax(inside, spread.low), spread.high)

    def number(array: Floats | None, place: int, shift: float = 0.0) -> float | None:
        if array is None or not math.isfinite(array[place]):
            return None
        # Adding 0 turns -0 into 0.
        return float(array[place]) / scale + shift + 0.0

    low, high = spread.low, spread.high
    if scale < 0:
        low, high = high, low
    found = []
    for place, name in enumerate(question.names):
        error = number(spread.errors, place)
        found.append(
            Answer(
                name,
                float(inside[place]) / scale + shift + 0.0,
                None if error is None else abs(error),
                number(low, place, shift),
                number(high, place, shift),
                float(values[place]) / scale + shift + 0.0,
            )
        )
    return tuple(found)
