"""One call from counted reports to answers: the estimator, its intervals, and what to beware of."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, NotDefined
from liftlock.estimate import intervals
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.encoding import Encoding, posterior_sums
from liftlock.estimate.estimators import ESTIMATORS, Bayes, Estimator, Unbiased
from liftlock.estimate.fit import DOUBTFUL, Fit, fit_of_channel, misfit, p_text, test_of_prior
from liftlock.estimate.intervals import KINDS, Kind, Spread
from liftlock.estimate.intervals.base import FEW_WEIGHTED, read_level
from liftlock.estimate.mixture import Mixture, ThroughProfiles, read_profiles
from liftlock.estimate.model import Counted, Dense, Model, no_prior
from liftlock.estimate.per_user import PerUser
from liftlock.estimate.question import ABOUT, About, Question, ask
from liftlock.estimate.result import Answer, Estimate
from liftlock.exact.integers import Floats
from liftlock.forms import AnyChannel, SupportChannel, dense
from liftlock.prior import Prior
from liftlock.profile_graph import ProfileGraph

Method = Literal["auto", "bayes", "unbiased", "likelihood", "consistent"]
METHODS: tuple[Method, ...] = get_args(Method)

_FOREIGN = 0.001
"""Below this p-value, no prior explains the reports."""
_CELLS = 1 << 16
"""Larger channels are not tested against all priors: it would take longer than the estimate."""
_BOTH_SIGNS = ("auto", "bayes", "unbiased")
"""The estimators that take weights of both signs."""


def estimate(
    channel: AnyChannel,
    aggregate: Aggregate,
    of: str = "histogram",
    *,
    value: Any = None,
    prior: Prior | None = None,
    graph: ProfileGraph | None = None,
    trust_profiles: bool | None = None,
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

    With a `graph` of profiles `of` may also be ``profiles``: how many people have each profile, or
    one of those in `value`. `trust_profiles` says whether questions about values believe the
    distributions of the profiles; unless told, they do only where nothing else tells the values
    apart. The answer says what it assumes.

    Source: 001 section III, 004 section 5.2.

    >>> from liftlock.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> reports = Aggregate.of(coin, [1] * 400 + [0] * 600)
    >>> found = estimate(coin, reports, "survey", value=1)
    >>> found.value, found.method, found.why
    (300.0, 'unbiased', 'no prior is known, and this estimate needs none')
    """
    options = Options.of(method, interval, level, about, seed)
    _check_kinds(aggregate, prior)
    aggregate.checked(channel)
    if graph is None:
        if trust_profiles is not None:
            raise InputError("no profiles that could be trusted", remedy="give their graph")
        return answer(model_of(channel, prior), aggregate, ask(channel.inputs, of, value), options)
    mixture, question, assumes = read_profiles(channel, graph, of, value, prior, trust_profiles)
    model = model_of(channel, prior) if mixture is None else mixture
    aligned = question if mixture is not None else question.aligned(channel.inputs)
    return replace(answer(model, aggregate, aligned, options), assumes=assumes)


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
    model = model_of(channel, prior)
    if not isinstance(channel, SupportChannel):
        return answer(model, aggregate, question, options)
    if prior is None and options.method == "bayes":
        raise no_prior()
    fit = test_of_prior(model, question, aggregate)
    fits = fit is not None and fit.p_value >= DOUBTFUL and options.about == "people"
    if prior is None or not (options.method == "bayes" or (options.method == "auto" and fits)):
        return answer(model, aggregate, question, options)
    assert fit is not None
    check_weights(aggregate, question, options.about)
    why = "as asked"
    if options.method == "auto":
        why = f"the prior fits the reports (p = {p_text(fit.p_value)}), which are all at hand"
    packed = channel.checked(np.asarray(reports))
    sums = posterior_sums(channel, packed, question, prior, aggregate, weights)
    bayes = Bayes(PerUser(channel.inputs), question)
    values = bayes.values(bayes.model.statistic(sums))
    spread = spread_of(bayes, sums, options)
    alone = _alone(model, aggregate, question, options)
    warning = misfit(fit, "bayes", free=bool(alone))
    warnings = () if warning is None else (warning,)
    return answered(question, sums, options, "bayes", why, values, spread, fit, warnings, alone)


def model_of(channel: AnyChannel, prior: Prior | None = None) -> Model:
    """Return the model of a channel: a table, or an encoding."""
    if isinstance(channel, SupportChannel):
        return Encoding.of(channel, prior)
    return Dense.of(dense(channel), prior)


def answer(model: Model, aggregate: Aggregate, question: Question, options: Options) -> Estimate:
    """Choose an estimator and an interval, and say what to beware of."""
    check_weights(aggregate, question, options.about)
    _refuse_signs(options.method, aggregate)
    fit = test_of_prior(model, question, aggregate)
    if options.method == "auto":
        estimator, why = choose(model, question, fit, options.about)
    else:
        estimator, why = ESTIMATORS[options.method](model, question), "as asked"
    key = estimator.key
    statistic = model.statistic(aggregate)
    values = estimator.values(statistic)
    spread = spread_of(estimator, aggregate, options)
    spread = replace(spread, remarks=(*estimator.remarks(statistic), *spread.remarks))
    alone: tuple[Answer, ...] = ()
    if key == "bayes":
        # No kind of interval keeps its level for so few reports, and there is no room to say so.
        bare = options.interval == "none" or aggregate.reports < FEW_WEIGHTED
        free = replace(options, interval="none" if bare else "auto")
        alone = _alone(model, aggregate, question, free)
    warnings = _warnings(model, question, aggregate, fit, key, free=bool(alone))
    return answered(question, aggregate, options, key, why, values, spread, fit, warnings, alone)


# --- which estimator ----------------------------------------------------------------------------


def choose(
    model: Model, question: Question, fit: Fit | None, about: About = "people"
) -> tuple[Estimator[Model], str]:
    """Return the estimator that is taken when nobody said, and one sentence that says why.

    This is all of the decision of ``auto``. The Bayes estimate has the smallest error if the prior
    is true; the unbiased one needs none. A population is what the prior describes: an estimate of
    it that starts from the prior is no news.
    """
    if "bayes" not in model.estimators:
        why = "counts of an encoding do not say what was supported together, which others need"
        return Unbiased(model, question), why
    if model.masses is None or fit is None:
        # Where the reports do not determine the answer either, this one is refused and says so.
        return Unbiased(model, question), "no prior is known, and this estimate needs none"
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
    ratio = error_ratio(best, free)
    return best, (
        f"the prior fits the reports (p = {p_text(fit.p_value)}); if it is true, the error is "
        f"{ratio:.2g} times that of the unbiased estimate"
    )


def error_ratio(best: Bayes[Model], free: Unbiased[Model]) -> float:
    """Return the ratio of root mean squared errors under the prior, of all answers together.

    Source: 001 eq. (14).
    """
    model, question = best.model, best.question
    assert isinstance(model, Dense)
    assert model.masses is not None
    reports = model.mixture(model.masses)
    if isinstance(question, ThroughProfiles):
        assert isinstance(model, Mixture)
        variances = reports @ model.posterior_variances(question)
        others = model.masses @ model.error_variances(free.scores, question)
        return float(np.sqrt(variances.sum() / others.sum())) if others.sum() > 0 else 1.0
    centre = model.masses @ question.values
    # With means that are right, Var = E[g^2] - E[f^2] for one and E[f^2] - E[g^2] for the other.
    around = model.masses @ (question.values - centre) ** 2
    least = around - reports @ (best.scores - centre) ** 2
    worse = reports @ (free.scores - centre) ** 2 - around
    return float(np.sqrt(max(least.sum(), 0.0) / worse.sum())) if worse.sum() > 0 else 1.0


def _alone(
    model: Model, aggregate: Aggregate, question: Question, options: Options
) -> tuple[Answer, ...]:
    """Return what the reports say without the prior, if they determine it.

    A test that finds nothing does not prove the prior right. What it cannot see is about as large
    as these intervals, so whoever reads a Bayes estimate should see them too.
    """
    try:
        estimator = Unbiased(model, question)
    except NotDefined:
        return ()
    spread = spread_of(estimator, aggregate, options)
    return answers_of(question, aggregate, estimator.values(model.statistic(aggregate)), spread)


def _refuse_signs(key: str, aggregate: Aggregate) -> None:
    if key in _BOTH_SIGNS or aggregate.weights is None or aggregate.weights.least >= 0:
        return
    raise NotDefined(
        f"the {key} estimate",
        "negative weights",
        "ask for unbiased or bayes, which take weights of both signs",
    )


def spread_of(estimator: Estimator[Model], counted: Counted, options: Options) -> Spread:
    """Return the spread of an estimate, as the options ask for it."""
    return intervals.make(
        options.interval,
        estimator,
        counted,
        level=options.level,
        about=options.about,
        seed=options.seed,
    )


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
    if isinstance(model, Dense) and model.rows.size <= _CELLS:
        foreign = fit_of_channel(model, aggregate)
        if foreign is not None and foreign.p_value < _FOREIGN:
            found.append(
                f"{model.unexplained} (p = {p_text(foreign.p_value)}): "
                "were all of them made by this mechanism?"
            )
    return tuple(found)


# --- what is asked, and how it is told ------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """The method, the kind and the level of the interval, whom it is about, and the seed."""

    method: Method
    interval: Kind
    level: float
    about: About
    seed: int | None = None

    @classmethod
    def of(
        cls,
        method: str = "auto",
        interval: str = "auto",
        level: object = "0.95",
        about: str = "people",
        seed: int | None = None,
    ) -> Options:
        """Refuse what is unknown; a level is a number between 0 and 1, or its text.

        >>> Options.of(level="95 %").level
        0.95
        """
        for given, known, what in (
            (method, METHODS, "method"),
            (interval, KINDS, "kind of interval"),
            (about, ABOUT, "group the answer is about"),
        ):
            if given not in known:
                raise InputError(f"unknown {what}", value=given, remedy=f"say {', '.join(known)}")
        chance = read_level(level)
        if seed is not None and seed < 0:
            raise InputError("the seed is not a whole number of 0 or more", value=seed)
        return cls(
            cast("Method", method),
            cast("Kind", interval),
            chance,
            cast("About", about),
            seed,
        )


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


def check_weights(aggregate: Aggregate, question: Question, about: About) -> None:
    """Refuse weights and offsets that give the question no meaning."""
    if aggregate.weights is None:
        return
    if aggregate.weights.total_squares == 0:
        raise InputError(
            "all weights are 0, or too small to be squared",
            remedy="give those who count a weight, or measure in another unit",
        )
    if aggregate.weights.offset != 0:
        if question.of != "sum":
            raise InputError(
                f"offsets, but the question is {question.of}",
                remedy="ask for sum, or count the reports without offsets",
            )
        if about == "population":
            raise InputError(
                "offsets belong to the people who reported, not to a population",
                remedy="ask about people, or count the reports without offsets",
            )
    if question.of == "mean" and aggregate.weights.total == 0:
        raise InputError(
            "the weights add up to 0, so that they have no mean", remedy="ask for sum instead"
        )


def answered(
    question: Question,
    counted: Counted,
    options: Options,
    method: str,
    why: str,
    values: Floats,
    spread: Spread,
    fit: Fit | None,
    warnings: tuple[str, ...],
    alone: tuple[Answer, ...] = (),
) -> Estimate:
    """Return the estimate, given the sums and their spread."""
    return Estimate(
        question.of,
        answers_of(question, counted, values, spread),
        method,
        why,
        spread.kind,
        options.level,
        options.about,
        counted.reports,
        counted.total,
        fit,
        warnings,
        spread.remarks,
        alone,
    )


def answers_of(
    question: Question,
    counted: Counted,
    values: Floats,
    spread: Spread,
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
