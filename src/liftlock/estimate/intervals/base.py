"""What an interval is about, what each kind of interval can do, and what it hands back.

About the people: the realised sum sum_i f(X_i) over the people who reported. Their values are
fixed and only the channel is random; for the Bayes estimator, which has a prior, the values are
random too and the reports are given. About the population: n E[f(X)], with people who are a random
sample of a population; with weights, sum_i a_i E[f(X)].

There are two promises, and no interval mixes them. Whatever the truth is, 95 of 100 collections of
reports give an interval that holds it. Or, for the Bayes estimator: if people were drawn from the
prior, 95 of 100 intervals hold what they have, on average over such people.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, NotDefined
from liftlock.estimate.estimators import Estimator, Linear
from liftlock.estimate.question import About, Question
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact

Kind = Literal["auto", "exact", "normal", "assisted", "credible", "range", "none"]
KINDS: tuple[Kind, ...] = get_args(Kind)

ASSISTED = 0.8
"""The part of the error that an assisted interval spends where the prior expects no truth.

In the normal limit such intervals have 0.893 times the usual width where the prior is right, and
1.04 times far from it; no interval that holds whatever the truth can do with less than 0.850.
Source: math assisted intervals, and Pratt's bound.
"""
SEED = 20
"""Where simulations begin, unless told: the same reports give the same interval."""


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
class IntervalEstimate:
    """Standard errors and the two ends of each answer's interval, or None where there is none.

    Like `Estimator.values`, they are of the sum before offsets are added, and the answer to
    ``mean`` is not divided by the total yet. `kind` is the kind that was used, never ``auto``.
    """

    errors: Floats | None
    low: Floats | None
    high: Floats | None
    kind: Kind
    remarks: tuple[str, ...] = ()
    together: bool = False
    """Whether all of them hold at once, also where nobody asked for that."""
    beyond: npt.NDArray[np.bool_] | None = None
    """Which reports even the edge of what is possible does not explain; None if that is unknown."""

    @classmethod
    def none(cls, *remarks: str) -> IntervalEstimate:
        """Return that there is no interval, and why."""
        return cls(None, None, None, "none", remarks)

    def with_remarks(self, *texts: str) -> IntervalEstimate:
        """Return the same intervals with more remarks."""
        return replace(self, remarks=(*self.remarks, *texts))

    @property
    def middle(self) -> Floats | None:
        """The middle of each interval, whose largest error is the least."""
        return None if self.low is None or self.high is None else (self.low + self.high) / 2

    def widened_to(self, values: Floats) -> IntervalEstimate:
        """Return intervals that are made wider where the values are outside of them."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=np.minimum(self.low, values), high=np.maximum(self.high, values))

    def mirror_first(self, total: float) -> IntervalEstimate:
        """Return intervals of two counts with this total, the second as the first has it.

        Each of the two reuses error in its own way; only one of them is a statement of both.
        """
        if self.low is None or self.high is None:
            return self
        low, high = self.low[0], self.high[0]
        return replace(self, low=np.array([low, total - high]), high=np.array([high, total - low]))


@dataclass(frozen=True, eq=False)
class Tails:
    """How the error that a level allows is shared between the two ends of an interval.

    Plain: half each, for every truth. Assisted: a truth s above the prior's mean may miss 0.8 of
    the error by too few reports and 0.2 by too many, one below it the other way round. The shares
    depend on s and never on the reports, so the level is kept for every s, whatever the prior.
    """

    error: float
    centre: Floats | None = None
    """What the prior expects of each answer; None for plain intervals."""

    def allow(self, side: int, where: int) -> float:
        """Return the error at the lower end (side 0) or the upper one (side 1).

        `where` is 1 for truths above the prior's mean, -1 for those below it, 0 at it.
        """
        if self.centre is None or where == 0:
            return self.error / 2
        return self.error * (ASSISTED if (where > 0) == bool(side) else 1 - ASSISTED)

    def of(self, place: int) -> Tails:
        """Return those of one answer."""
        return self if self.centre is None else replace(self, centre=self.centre[..., place])


@dataclass(frozen=True, eq=False)
class IntervalRequest:
    """An estimate and what its model has counted, and the interval that is asked for.

    Statistic and tally may hold many sets of reports at once.
    """

    estimator: Estimator[Any]
    statistic: Floats
    tally: Any
    level: float = 0.95
    about: About = "people"
    seed: int | None = None
    concentration: Floats | float | None = None
    together: bool = False
    """Whether all intervals are to hold at once, instead of each by itself."""
    assisted: bool = False

    @property
    def one_error(self) -> float:
        """The error that each answer is allowed: of all together, an equal part (Bonferroni).

        The counts of two values are one statement if one of them gives the other.
        """
        several = self.together and not self.complementary
        return (1.0 - self.level) / (len(self.question.names) if several else 1)

    @property
    def complementary(self) -> bool:
        """Whether there are two answers, and each is what the other leaves of all people."""
        two = len(self.question.names) == 2 and self.question.is_histogram
        return two and self.model.complementary

    @property
    def tails(self) -> Tails:
        """How the error is shared between the two ends."""
        centre = self.model.prior_means(self.question, self.tally) if self.assisted else None
        return Tails(self.one_error, centre)

    @property
    def model(self) -> Any:
        """The model of the reports."""
        return self.estimator.model

    @property
    def linear(self) -> Linear[Any]:
        """The estimator, where it has scores."""
        assert isinstance(self.estimator, Linear)
        return self.estimator

    @property
    def question(self) -> Question:
        """What is estimated."""
        return self.estimator.question

    @cached_property
    def values(self) -> Floats:
        """The estimates."""
        return self.estimator.values(self.statistic)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How often each output of a table was reported."""
        found: npt.NDArray[np.int64] = self.tally.counts.astype(np.int64)
        return found

    @property
    def posterior(self) -> bool:
        """Whether the values of the people are random, and their reports given."""
        return self.estimator.key == "bayes"

    @property
    def start(self) -> int:
        """The seed of simulations."""
        return SEED if self.seed is None else self.seed

    @property
    def seed_remarks(self) -> tuple[str, ...]:
        """The remark that nobody chose the seed."""
        return (f"simulated from the fixed seed {SEED}",) if self.seed is None else ()


class Interval(ABC):
    """A kind of interval."""

    key: ClassVar[Kind]
    title: ClassVar[str]
    """What a refusal calls it."""

    @abstractmethod
    def obstacle(self, request: IntervalRequest) -> tuple[str, str] | None:
        """Return what stands in the way, and the remedy; None if nothing does."""

    @abstractmethod
    def make(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the intervals, with remarks on where they are rough."""

    def of(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the intervals, or refuse."""
        if self.key not in request.model.intervals:
            raise request.model.no_interval_error(self.key, request.question)
        obstacle = self.obstacle(request)
        if obstacle is not None:
            raise NotDefined(self.title, *obstacle)
        return self.make(request)


def profile_obstacle(request: IntervalRequest) -> tuple[str, str] | None:
    """Return what stands in the way of simulating people: values vary within a profile."""
    if request.about == "population" or request.question.behind is None:
        return None
    return (
        "the values of people, read through their profiles",
        "ask for normal intervals, or about the population",
    )


def weight_obstacle(request: IntervalRequest) -> tuple[str, str] | None:
    """Return what stands in the way of simulating reports: their weights are not known."""
    if not request.tally.weighted:
        return None
    return (
        "weighted reports",
        "ask for normal intervals, which need no more than sums of squared weights",
    )
