"""Intervals around estimates: exact, by bounds of variances, or by a prior on shares.

`INTERVALS` names every kind; `make_interval` chooses one. Every kind was measured: ``python -m
benchmarks coverage`` prints how often intervals of 95 % hold the truth, also where the prior is
wrong; where a kind cannot keep its level, a remark says so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from liftlock.errors import InputError, NotDefined
from liftlock.estimate.estimators import Bayes, Estimator, Unbiased
from liftlock.estimate.intervals.assisted import Assisted, choose_kind
from liftlock.estimate.intervals.base import (
    KINDS,
    SEED,
    Interval,
    IntervalEstimate,
    IntervalRequest,
    Kind,
)
from liftlock.estimate.intervals.credible import Credible
from liftlock.estimate.intervals.exact import Exact
from liftlock.estimate.intervals.normal import Normal
from liftlock.estimate.intervals.range import Range
from liftlock.estimate.models import CountedReports, Model
from liftlock.estimate.question import About
from liftlock.exact.integers import Floats

__all__ = [
    "INTERVALS",
    "KINDS",
    "SEED",
    "Interval",
    "IntervalEstimate",
    "IntervalRequest",
    "Kind",
    "make_interval",
]

INTERVALS: dict[str, Interval] = {
    kind.key: kind for kind in (Exact(), Normal(), Assisted(), Credible(), Range())
}
"""Every kind of interval by the name it is asked for; ``auto`` takes one of them."""

_TOLD = 3
_OWN_ENDS = ("credible", "range")
"""The kinds that need no unbiased estimate, and never shrink to the edge of what is possible."""


def make_interval(
    kind: Kind,
    estimator: Estimator[Model],
    counted: CountedReports,
    *,
    level: float = 0.95,
    about: About = "people",
    seed: int | None = None,
    together: bool = False,
    concentration: Floats | float | None = None,
) -> IntervalEstimate:
    """Return the spread of an estimate, of the kind that is asked for.

    ``exact`` inverts sums of binomials, ``normal`` uses bounds of variances and the normal
    distribution, ``assisted`` is the one or the other with tails that the prior moves, ``credible``
    has a Dirichlet prior on the shares (`concentration`, by default 1/2 for each value), ``range``
    holds every answer that any shares which explain the reports give, and ``auto`` takes the
    shorter of exact and normal, by the channel alone; ``none`` asks for none. For all but Bayes and
    unbiased estimates these are the intervals of the unbiased estimate, which hold the same truth.
    What cannot be had is refused; ``auto`` then says why there is none. With `together` all answers
    hold at once.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.estimate import Aggregate, Question
    >>> from liftlock.estimate.models import Dense
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> one = Unbiased(Dense.of(coin), Question.survey(coin.inputs, [1]))
    >>> spread = make_interval("auto", one, Aggregate.of(coin, [0] * 60 + [1] * 40))
    >>> spread.kind, spread.low.tolist(), spread.high.tolist()
    ('exact', [13.0], [47.0])
    """
    if kind not in KINDS:
        raise InputError(
            "unknown kind of interval", value=kind, remedy=f"ask for {', '.join(KINDS)}"
        )
    if not 0 < level < 1:
        raise InputError("the level is not between 0 and 1", value=level, remedy="say 0.95")
    if concentration is not None and kind != "credible":
        raise InputError(
            f"a Dirichlet prior, but the interval is {kind}", remedy="ask for credible"
        )
    if kind == "none":
        return IntervalEstimate.none()
    statistic, tally = estimator.model.statistic(counted), estimator.model.tally(counted)
    request = IntervalRequest(
        estimator, statistic, tally, level, about, seed, concentration, together
    )
    found = _make_kind(kind, request)
    return found.mirror_first(counted.total) if together and request.complementary else found


def _make_kind(kind: Kind, request: IntervalRequest) -> IntervalEstimate:
    model, own = request.model, kind in _OWN_ENDS
    # Of scores that are nobody's but their author's, nothing is known of the truth they miss.
    known = type(request.estimator) in (Bayes, Unbiased)
    if not known and not (own and kind in model.intervals):
        return _unbiased_companion(kind, request)
    single = model.by_symbol(request.question, request.tally)
    if single:
        level = 1.0 - request.one_error
        return _stack(
            [
                make_interval(
                    kind,
                    Unbiased(two, survey),
                    counted,
                    level=level,
                    about=request.about,
                    seed=request.seed,
                )
                for two, survey, counted in single
            ]
        )
    if request.posterior and request.about == "population" and "exact" in model.intervals:
        return _no_population(kind)
    found = choose_kind(request).make(request) if kind == "auto" else INTERVALS[kind].of(request)
    return found if own else found.with_remarks(*_edge_remarks(request, found))


def _no_population(kind: Kind) -> IntervalEstimate:
    """Refuse an interval of the Bayes estimate about the population, or say that there is none."""
    why = (
        "the Bayes estimate takes the prior for the population, so that nothing is left to estimate"
    )
    remedy = "ask about the people, or for the unbiased estimate"
    if kind == "auto":
        return IntervalEstimate.none(f"no interval: {why}; {remedy}")
    raise NotDefined("an interval about the population", f"it: {why}", remedy)


def _edge_remarks(request: IntervalRequest, spread: IntervalEstimate) -> tuple[str, ...]:
    """Say that an interval has shrunk to the edge of what is possible."""
    possible = request.model.possible_range(request.question, request.tally)
    if request.posterior or possible is None or spread.low is None or spread.high is None:
        return ()
    if spread.beyond is None:
        return ()
    least, most = possible
    slack = 1e-9 * (1 + np.abs(most - least))
    # An edge that explains the reports may well be the truth: nothing is to be said of it.
    shrunk = spread.beyond & (spread.high - spread.low <= slack)
    if not shrunk.any():
        return ()
    remark = (
        f"the reports about {request.question.list_names(shrunk)} are beyond what any count "
        "explains, so that only the edge is left: chance does this to 1 interval in 40 of 95 % at "
        "most, or the reports do not come from this mechanism"
    )
    return (remark,)


def _unbiased_companion(kind: Kind, request: IntervalRequest) -> IntervalEstimate:
    """Return the interval of the unbiased estimate, made wider where the estimate is outside."""
    model = request.model
    try:
        free = Unbiased(model, request.question)
    except NotDefined as refused:
        if kind != "auto":
            raise
        if request.tally.weighted:
            return IntervalEstimate.none(f"no interval: {refused}")
        try:
            return INTERVALS["range"].of(request)
        except NotDefined as large:
            return IntervalEstimate.none(f"no interval: {large}")
    found = _make_kind(kind, replace(request, estimator=free))
    if found.low is None:
        return found
    possible, values = model.possible_range(request.question, request.tally), request.values
    inside = values if possible is None else np.clip(values, *possible)
    return found.widened_to(inside).with_remarks(model.companion.format(key=request.estimator.key))


def _stack(found: list[IntervalEstimate]) -> IntervalEstimate:
    """Return the intervals of single answers as those of all of them."""
    kinds = {spread.kind for spread in found}
    kind = kinds.pop() if len(kinds) == 1 else "normal"
    told = list(dict.fromkeys(remark for spread in found for remark in spread.remarks))
    more = len(told) - _TOLD
    remarks = (*told[:_TOLD], f"and {more} more like these") if more > 0 else tuple(told)
    if kind == "none":
        return IntervalEstimate.none(*remarks)
    errors, low, high = (
        np.array([part[0] if part is not None else np.nan for part in parts])
        for parts in zip(*((s.errors, s.low, s.high) for s in found), strict=True)
    )
    return IntervalEstimate(errors, low, high, kind, remarks)
