"""What an interval is about, which kinds there are, what each hands back, and where it is rough.

About the people: the realised sum sum_i f(X_i) over the people who reported. Their values are
fixed and only the channel is random; for the Bayes estimator, which has a prior, the values are
random too and the reports are given. About the population: n E[f(X)], with people who are a random
sample of a population; with weights, sum_i a_i E[f(X)].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.estimators import Estimator, Linear
from liftlock.estimate.model import Dense
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact

Kind = Literal["auto", "normal", "bootstrap", "credible", "exact", "none"]
KINDS: tuple[Kind, ...] = get_args(Kind)

STEPS = 30
"""Variances hardly move after so many steps of EM: they are averages over the shares."""
JUMPS = 12.0
"""A count of reports with a smaller variance jumps too much for the normal law."""
POSTERIOR_JUMPS = 5.0
"""The same for a sum of people's values given the reports, which jumps by smaller steps."""
FEW = 20
FEW_WEIGHTED = 30
"""With fewer people, or weights that say no more than these, no formula keeps its level."""
_NAMED = 3


def read_level(level: object) -> float:
    """Read a level between 0 and 1, a number or its text.

    >>> read_level("95 %"), read_level(0.9)
    (0.95, 0.9)
    """
    number = level if isinstance(level, float) else exact(level, name="level")
    if not 0 < number < 1:
        raise InputError("the level is not between 0 and 1", value=level, remedy="say 0.95 or 95 %")
    return float(number)


def quantile(level: float) -> float:
    """Return z with P(|Z| <= z) = level for a standard normal Z.

    >>> round(quantile(0.95), 4)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + level / 2)


@dataclass(frozen=True, eq=False)
class Spread:
    """Standard errors and the two ends of each answer's interval, or None where there is none.

    Like `Estimator.values`, they are of the sum before offsets are added, and the answer to
    ``mean`` is not divided by the total yet. `kind` is the kind that was used, never ``auto``.
    """

    errors: Floats | None
    low: Floats | None
    high: Floats | None
    kind: Kind
    remarks: tuple[str, ...] = ()

    def remarked(self, *texts: str) -> Spread:
        """Return the same intervals with more remarks."""
        return replace(self, remarks=(*self.remarks, *texts))


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of outputs, sums of weights and of their squares: shape (..., k), for many at once.

    `signed` says that some weight is negative.
    """

    counts: Floats
    amounts: Floats
    squares: Floats
    weighted: bool
    signed: bool = False

    @classmethod
    def of(cls, aggregate: Aggregate) -> Tally:
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
    def plain(cls, counts: Floats) -> Tally:
        """Take counts of reports without weights.

        >>> Tally.plain(np.array([[2.0, 1.0], [0.0, 4.0]])).reports.tolist()
        [[3.0], [4.0]]
        """
        return cls(counts, counts, counts, False)

    @property
    def reports(self) -> Floats:
        """How many reports there are, shape (..., 1)."""
        return _added(self.counts)

    @property
    def total(self) -> Floats:
        """The sum of all weights, shape (..., 1)."""
        return _added(self.amounts)

    @property
    def people(self) -> Floats:
        """How many people of equal weight would say as much, (sum a)^2 / sum a^2, shape (..., 1).

        Weights of both signs are not compared: all reports count.
        """
        if not self.weighted or self.signed:
            return self.reports
        spread = _added(self.squares)
        found: Floats = np.divide(
            self.total**2, spread, out=np.zeros_like(spread), where=spread > 0
        )
        return np.minimum(found, self.reports)


def _added(values: Floats) -> Floats:
    found: Floats = values.sum(axis=-1, keepdims=True)
    return found


# --- what is possible, and likely ----------------------------------------------------------------


def within(question: Question, tally: Tally, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Keep the ends where the truth can be; with negative weights it can be anywhere."""
    if tally.signed:
        return low, high
    least, most = possible(question, tally)
    return np.clip(low, least, most), np.clip(high, least, most)


def possible(question: Question, tally: Tally) -> tuple[Floats, Floats]:
    """Return the least and the largest sum there can be, if no weight is negative."""
    return tally.total * question.least, tally.total * question.most


def likely_counts(model: Dense, counts: Floats, steps: int = STEPS) -> Floats:
    """Return counts of inputs (..., m) near the most likely ones, from counts of outputs (..., k).

    Variances need people of 0 or more, and the unbiased histogram can be negative. Each step of
    expectation and maximisation is n_x <- sum_y n_y P(x | y) under the shares of the step before,
    from the prior: it never leaves the simplex, and needs no inverse of the channel.

    >>> from liftlock.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> likely_counts(Dense.of(coin), np.array([2.0, 8.0])).round(1).tolist()
    [0.0, 10.0]
    """
    rows = model.rows
    found: Floats = counts.sum(axis=-1, keepdims=True) * model.reference
    for _ in range(steps):
        mixed = found @ rows
        ratio = np.divide(counts, mixed, out=np.zeros_like(mixed), where=mixed > 0)
        found = found * (ratio @ rows.T)
    return found


def whole_counts(counts: Floats) -> Floats:
    """Round counts (..., m) to whole numbers with the same sum: the largest remainders go up.

    >>> whole_counts(np.array([1.6, 2.6, 0.8])).tolist()
    [2.0, 2.0, 1.0]
    """
    total = np.rint(counts.sum(axis=-1, keepdims=True))
    whole = np.floor(counts)
    missing = total - whole.sum(axis=-1, keepdims=True)
    ranks = np.argsort(np.argsort(-(counts - whole), axis=-1, kind="stable"), axis=-1)
    found: Floats = whole + (ranks < missing)
    return found


# --- where a kind was measured not to keep its level ---------------------------------------------


def two_valued(scores: Floats) -> npt.NDArray[np.bool_]:
    """Whether each column has at most two different values.

    >>> two_valued(np.array([[0.0, 1.0], [1.0, 2.0], [1.0, 4.0]])).tolist()
    [True, False]
    """
    least, most = scores.min(axis=0), scores.max(axis=0)
    apart = np.minimum(scores - least, most - scores)
    found: npt.NDArray[np.bool_] = (apart <= 1e-9 * np.maximum(most - least, 1.0)).all(axis=0)
    return found


def normal_remarks(estimator: Linear[Dense], tally: Tally, spread: Spread) -> tuple[str, ...]:
    """Say where the normal law is known to be rough."""
    remarks = []
    assert spread.errors is not None
    question = estimator.question
    jumpy: npt.NDArray[np.bool_]
    if estimator.key == "bayes":
        steps, enough = np.ptp(question.values, axis=0), POSTERIOR_JUMPS
        jumpy = two_valued(question.values)
    else:
        steps, enough = np.ptp(estimator.scores, axis=0), JUMPS
        jumpy = two_valued(estimator.scores)
    # Weights enter squared; their mean square makes the steps comparable.
    scale = float(tally.squares.sum() / tally.reports[0])
    # Without any noise there is nothing to be rough about.
    noisy = spread.errors**2 > 1e-12 * scale * steps**2
    few = jumpy & noisy & (spread.errors**2 < enough * scale * steps**2)
    if few.any():
        kinds = "exact intervals" if question.counts else "credible intervals"
        remedy = "no other kind takes weights" if tally.weighted else f"{kinds} need no normal law"
        remarks.append(
            f"few reports decide about {_names(estimator, few)}, and whole numbers jump: in such "
            "cases normal intervals of 95 % were measured to hold the truth 78 to 100 times in "
            f"100; {remedy}"
        )
    people, least = tally.people[0], FEW_WEIGHTED if tally.weighted else FEW
    if people < least:
        remarks.append(
            f"the normal law is rough for weights that say as much as {people:.3g} equal ones: "
            f"below {least} the level is not kept"
            if tally.weighted
            else f"the normal law is rough for {people:.0f} people: below {least} the level is not "
            "kept; credible intervals need no normal law"
        )
    return tuple(remarks)


def exact_remarks(estimator: Linear[Dense], spread: Spread) -> tuple[str, ...]:
    """Say where the numbers are so small that the coverage of an exact interval jumps as well."""
    assert spread.errors is not None
    if estimator.key == "bayes":
        few = _few_people(estimator, spread)
        told = "94 to 100 times in 100, mostly more often than asked for"
    else:
        few = spread.errors**2 < JUMPS * np.ptp(estimator.scores, axis=0) ** 2
        told = "92 to 100 times in 100, depending on what it is, and 95 to 96 times on average"
    if not few.any():
        return ()
    remark = (
        f"few reports decide about {_names(estimator, few)}, and whole numbers jump: exact "
        f"intervals of 95 % hold the truth {told}; more reports would help, another kind of "
        "interval would not"
    )
    return (remark,)


def _few_people(estimator: Linear[Dense], spread: Spread) -> npt.NDArray[np.bool_]:
    """Whether so few people are uncertain, given the reports, that their count jumps."""
    values = estimator.question.values
    assert spread.errors is not None
    few: npt.NDArray[np.bool_] = spread.errors**2 < POSTERIOR_JUMPS * np.ptp(values, axis=0) ** 2
    return two_valued(values) & few


def outside_remarks(estimator: Estimator[Dense], tally: Tally, spread: Spread) -> tuple[str, ...]:
    """Say that an interval has shrunk to the edge of what is possible."""
    if tally.signed or spread.low is None or spread.high is None:
        return ()
    values = estimator.values(tally.amounts)
    least, most = possible(estimator.question, tally)
    slack = 1e-9 * (1 + np.abs(most - least))
    shrunk = (spread.high - spread.low <= slack) & (
        (values < least - slack) | (values > most + slack)
    )
    if not shrunk.any():
        return ()
    remark = (
        f"the estimate of {_names(estimator, shrunk)} is further outside of what is possible than "
        "its interval reaches, so that only the edge is left: chance does this to 1 interval in 40 "
        "of 95 %, or the reports do not come from this mechanism; credible intervals never shrink "
        "to a point"
    )
    return (remark,)


def bootstrap_remark(estimator: Estimator[Dense]) -> str:
    """Say what quantiles of simulated estimates were measured to do; no rule tells where."""
    other = "exact or normal" if estimator.question.counts else "normal"
    return (
        "bootstrap intervals of 95 % were measured to hold the truth 70 to 100 times in 100: they "
        "are worst for rare values, few people and estimates near the edge of what is possible; "
        f"{other} intervals are nearer to their level"
    )


def posterior_bootstrap_remarks(estimator: Linear[Dense], spread: Spread) -> tuple[str, ...]:
    """Say where so few people are uncertain that simulated quantiles jump."""
    few = _few_people(estimator, spread)
    if not few.any():
        return ()
    remark = (
        f"few reports decide about {_names(estimator, few)}, and whole numbers jump: in such cases "
        "simulated intervals of 95 % were measured to hold the truth 94 to 100 times in 100"
    )
    return (remark,)


def _names(estimator: Estimator[Dense], which: npt.NDArray[np.bool_]) -> str:
    names = [repr(name) for name, on in zip(estimator.question.names, which, strict=True) if on]
    shown = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return shown if more <= 0 else f"{shown} and {more} more"
