"""Intervals around estimates: by variance formulas, exact, simulated, or by a prior on shares.

`make` chooses one and says why. Every kind was measured: ``python -m benchmarks coverage`` prints
how often intervals of 95 % hold the truth; where a kind cannot keep its level, a remark says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.encoding import Encoding, sums_symbols
from liftlock.estimate.estimators import Estimator, Linear, Unbiased
from liftlock.estimate.intervals.base import (
    KINDS,
    Kind,
    Spread,
    Tally,
    bootstrap_remark,
    exact_remarks,
    normal_remarks,
    outside_remarks,
    posterior_bootstrap_remarks,
)
from liftlock.estimate.intervals.bootstrap import bootstrap, posterior_bootstrap
from liftlock.estimate.intervals.credible import credible
from liftlock.estimate.intervals.exact import exact_obstacle, exact_posterior, exact_unbiased
from liftlock.estimate.intervals.normal import (
    encoding_normal,
    posterior_normal,
    profiles_normal,
    sums_normal,
    unbiased_normal,
)
from liftlock.estimate.mixture import Mixture, ThroughProfiles
from liftlock.estimate.model import Counted, Dense, Model
from liftlock.estimate.per_user import PosteriorSums
from liftlock.estimate.question import About
from liftlock.exact.integers import Floats

__all__ = ["KINDS", "SEED", "Kind", "Spread", "make"]

SEED = 20
"""Where simulations begin, unless told: the same reports give the same interval."""
_MOST_SYMBOLS = 64
"""With more symbols of an encoding, the interval of each one by itself would take too long."""
_TOLD = 3
_WHY_EXACT = {
    "bayes": "what the prior says of a count given the reports, term by term",
    "unbiased": "no normal law is needed for a count",
}


def make(
    kind: Kind,
    estimator: Estimator[Model],
    counted: Counted,
    *,
    level: float = 0.95,
    about: About = "people",
    seed: int | None = None,
    concentration: Floats | float | None = None,
) -> Spread:
    """Return the spread of an estimate, of the kind that is asked for.

    ``normal`` uses exact variances and the normal law, ``exact`` sums of binomials, ``bootstrap``
    simulated reports, ``credible`` a Dirichlet prior on the shares (`concentration`, by default 1/2
    for each value), and ``auto`` the one that keeps its level best; ``none`` asks for none. For
    estimates that are not linear, ``normal`` and ``exact`` are the intervals of the unbiased
    estimate, which hold the same truth. What cannot be had is refused; ``auto`` then says why there
    is none.

    >>> from liftlock.channel import Channel
    >>> from liftlock.estimate.question import Question
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> one = Unbiased(Dense.of(coin), Question.survey(coin.inputs, [1]))
    >>> spread = make("auto", one, Aggregate.of(coin, [0] * 60 + [1] * 40))
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
        return Spread(None, None, None, "none")
    if isinstance(counted, PosteriorSums):
        return _of_sums(kind, estimator, counted, level, about)
    assert isinstance(counted, Aggregate)
    if isinstance(estimator.model, Encoding):
        of_encoding = cast("Estimator[Encoding]", estimator)
        return _of_encoding(kind, of_encoding, counted, level, about, seed)
    asked = _Asked(cast("Estimator[Dense]", estimator), Tally.of(counted), level, about)
    return asked.made(kind, seed, concentration)


class _Asked:
    """What an interval is asked for, and the ways to make one from the counts of a table."""

    def __init__(
        self, estimator: Estimator[Dense], tally: Tally, level: float, about: About
    ) -> None:
        self.estimator = estimator
        self.tally = tally
        self.level = level
        self.about = about

    def made(
        self, kind: Kind, seed: int | None, concentration: Floats | float | None = None
    ) -> Spread:
        if kind in ("bootstrap", "credible"):
            self.refuse_profiles(f"a {kind} interval")
        if isinstance(self.estimator, Linear) and self.estimator.key == "bayes":
            return _bayes(kind, self.estimator, self, seed)
        if kind == "credible":
            self.refuse_weights("a credible interval")
            return self.credible(seed, 0.5 if concentration is None else concentration)
        if kind == "bootstrap":
            self.refuse_weights("a bootstrap interval")
            return self.bootstrap(seed)
        if isinstance(self.estimator, Linear):
            return self.unbiased(kind, self.estimator)
        return _companion(kind, self.estimator, self, seed)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        return self.tally.counts.astype(np.int64)

    def refuse_weights(self, what: str) -> None:
        if self.tally.weighted:
            raise NotDefined(
                what,
                "weighted reports",
                "ask for normal intervals, which need no more than sums of squared weights",
            )

    def refuse_profiles(self, what: str) -> None:
        """Refuse to simulate people's values from shares of profiles: they vary by themselves."""
        if self.about == "people" and isinstance(self.estimator.question, ThroughProfiles):
            raise NotDefined(
                what,
                "the values of people, read through their profiles",
                "ask for normal intervals, or about the population",
            )

    def credible(self, seed: int | None, concentration: Floats | float) -> Spread:
        model, question = self.estimator.model, self.estimator.question
        start = SEED if seed is None else seed
        found = credible(model, question, self.counts, self.level, self.about, start, concentration)
        if found.remarks:
            found = found.remarked(*_seeded(seed))
        return found.remarked(
            "credible intervals keep their level on average over shares drawn from the Dirichlet "
            f"prior ({_told(concentration)}); for one truth and few reports, those of 95 % held it "
            "92 to 100 times in 100"
        )

    def bootstrap(self, seed: int | None) -> Spread:
        start = SEED if seed is None else seed
        found = bootstrap(self.estimator, self.counts, self.level, self.about, start)
        return found.remarked(*_seeded(seed), bootstrap_remark(self.estimator))

    def unbiased(self, kind: Kind, estimator: Linear[Dense]) -> Spread:
        found = self.exact_or_normal(kind, estimator, self._rough(estimator))
        return found.remarked(*outside_remarks(estimator, self.tally, found))

    def exact_or_normal(self, kind: Kind, estimator: Linear[Dense], rough: Spread) -> Spread:
        """Return exact intervals, unless something stands in their way or normal ones are asked."""
        obstacle = exact_obstacle(estimator, self.tally)
        if kind == "exact" and obstacle is not None:
            raise NotDefined("an exact interval", *obstacle)
        if kind == "normal" or obstacle is not None:
            found = rough.remarked(*normal_remarks(estimator, self.tally, rough))
        elif estimator.key == "bayes":
            found = exact_posterior(estimator, self.counts, rough, self.level)
            found = found.remarked(*exact_remarks(estimator, rough))
        else:
            found = exact_unbiased(estimator, self.counts, rough, self.level, self.about)
            found = found.remarked(*exact_remarks(estimator, rough))
        if kind != "auto":
            return found
        if obstacle is not None:
            return found.remarked(f"normal intervals: there are no exact ones for {obstacle[0]}")
        return found.remarked(f"exact intervals: {_WHY_EXACT[estimator.key]}")

    def _rough(self, estimator: Linear[Dense]) -> Spread:
        """Return normal intervals; with an upper bound where the variance is not determined.

        The variance about the people holds sum_x n_x f(x)^2, which for a count is the count itself.
        """
        spread = self.about == "people" and not estimator.question.counts
        if spread and isinstance(estimator.question, ThroughProfiles):
            return profiles_normal(cast("Linear[Mixture]", estimator), self.tally, self.level)
        if not spread or estimator.model.inverse.full:
            return unbiased_normal(estimator, self.tally, self.level, self.about)
        why = "the reports do not determine how the people spread, only their sum: "
        if self.tally.weighted:
            likely = unbiased_normal(estimator, self.tally, self.level, self.about)
            return likely.remarked(f"{why}the variance is that of a likely spread, not a bound")
        bound = unbiased_normal(estimator, self.tally, self.level, "population")
        return bound.remarked(
            f"{why}the interval is that for a population, wide enough whatever the spread"
        )


def _bayes(kind: Kind, estimator: Linear[Dense], asked: _Asked, seed: int | None) -> Spread:
    if asked.about == "population":
        why = (
            "the Bayes estimate takes the prior for the population, so that nothing is left to "
            "estimate"
        )
        remedy = "ask about the people, or for the unbiased estimate"
        if kind == "auto":
            return Spread(None, None, None, "none", (f"no interval: {why}; {remedy}",))
        raise NotDefined("an interval about the population", f"it: {why}", remedy)
    if kind == "bootstrap":
        asked.refuse_weights("a bootstrap interval")
        start = SEED if seed is None else seed
        drawn = posterior_bootstrap(estimator, asked.counts, asked.level, start)
        return drawn.remarked(*_seeded(seed), *posterior_bootstrap_remarks(estimator, drawn))
    rough = posterior_normal(estimator, asked.tally, asked.level)
    found = asked.exact_or_normal(kind, estimator, rough)
    if kind != "credible":
        return found
    return found.remarked(
        "with a prior for each person, what it says given the reports is the credible interval"
    )


def _companion(kind: Kind, estimator: Estimator[Dense], asked: _Asked, seed: int | None) -> Spread:
    """Return the interval of the unbiased estimate, made wider where the estimate is outside."""
    try:
        linear = Unbiased(estimator.model, estimator.question)
    except NotDefined as refused:
        if kind != "auto":
            raise
        if asked.tally.weighted:
            return Spread(None, None, None, "none", (f"no interval: {refused}",))
        try:
            asked.refuse_profiles("a credible interval")
            found = asked.credible(seed, 0.5)
        except (InputError, NotDefined) as large:
            return Spread(None, None, None, "none", (f"no interval: {large}",))
        return found.remarked(
            "credible intervals: the reports alone do not determine the answer, so that these lean "
            "on that prior, however many reports there are"
        )
    found = asked.unbiased(kind, linear)
    return _reaching(found, estimator.values(asked.tally.amounts)).remarked(
        "standard error and interval are those of the unbiased estimate: they hold the same truth, "
        f"also where the {estimator.key} estimate is at the edge of what is possible"
    )


def _reaching(found: Spread, values: Floats) -> Spread:
    """Return intervals that are made wider where estimates are outside of them."""
    assert found.low is not None
    assert found.high is not None
    return replace(found, low=np.minimum(found.low, values), high=np.maximum(found.high, values))


def _told(concentration: Floats | float) -> str:
    numbers = np.unique(np.asarray(concentration))
    return f"{numbers[0]:g} for each value" if len(numbers) == 1 else "as given"


def _seeded(seed: int | None) -> tuple[str, ...]:
    return (f"simulated from the fixed seed {SEED}",) if seed is None else ()


# --- encodings, and sums of posteriors ----------------------------------------------------------


def _of_encoding(
    kind: Kind,
    estimator: Estimator[Encoding],
    aggregate: Aggregate,
    level: float,
    about: About,
    seed: int | None,
) -> Spread:
    """Return intervals: of any kind for one symbol, normal ones for many and for sums."""
    model, question = estimator.model, estimator.question
    if not isinstance(estimator, Linear):
        # The interval of the unbiased estimate, made wider where the estimate is outside.
        free = Unbiased(model, question)
        found = _of_encoding(kind, free, aggregate, level, about, seed)
        if found.low is None:
            return found
        return _reaching(found, estimator.values(model.statistic(aggregate))).remarked(
            "standard error and interval are those of the unbiased estimate"
        )
    several = sums_symbols(question)
    single = question.counts and not several
    if single and len(question.names) <= _MOST_SYMBOLS:
        each = []
        for place in np.argmax(question.values, axis=0).tolist():
            two, survey, counted = model.two_valued(aggregate, place)
            asked = _Asked(Unbiased(two, survey), Tally.of(counted), level, about)
            each.append(asked.made(kind, seed))
        return _joined(each)
    if kind not in ("auto", "normal"):
        what = f"more than {_MOST_SYMBOLS} symbols" if single else "a sum over symbols"
        raise NotDefined(
            f"an interval of kind {kind}",
            f"{what} of an encoding",
            "ask for normal, or for a survey of one symbol",
        )
    if several and not model.independent:
        why = "hashed reports support symbols together, and counts do not say which: "
        return Spread(None, None, None, "none", (why + "no interval for several symbols",))
    return encoding_normal(estimator, aggregate, level, about)


def _joined(found: list[Spread]) -> Spread:
    """Return the intervals of single answers as those of all of them."""
    kinds = {spread.kind for spread in found}
    kind = kinds.pop() if len(kinds) == 1 else "normal"
    told = list(dict.fromkeys(remark for spread in found for remark in spread.remarks))
    more = len(told) - _TOLD
    remarks = (*told[:_TOLD], f"and {more} more like these") if more > 0 else tuple(told)
    errors, low, high = (
        np.array([part[0] if part is not None else np.nan for part in parts])
        for parts in zip(*((s.errors, s.low, s.high) for s in found), strict=True)
    )
    return Spread(errors, low, high, kind, remarks)


def _of_sums(
    kind: Kind, estimator: Estimator[Model], counted: PosteriorSums, level: float, about: About
) -> Spread:
    """Return normal intervals from the sums of posterior variances."""
    if kind not in ("auto", "normal"):
        raise NotDefined(
            f"an interval of kind {kind}",
            "posteriors that were added up report by report",
            "ask for normal",
        )
    if about == "population":
        said = "posteriors speak of the people who reported: no interval about a population"
        return Spread(None, None, None, "none", (said,))
    return sums_normal(estimator.question, counted, level)
