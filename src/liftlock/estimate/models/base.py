"""A channel as estimators see it: what was counted, which scores answer, and how far they are off.

Models differ and estimators do not. A model also says which estimators and which kinds of
intervals its counts are enough for, and tests its own prior. Guarantees are exact; estimates are
statistics, and float64 is far more precise than they are.
"""
# ruff: noqa: ARG002 - what a model does not say it refuses, whatever it is asked

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.question import About, Question
from liftlock.estimate.result import ALWAYS, IF_TRUE, GoodnessOfFit
from liftlock.estimate.weights import Weights
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Alphabet

if TYPE_CHECKING:
    from liftlock.estimate.estimators import Linear


class CountedReports(Protocol):
    """What reports were added up to: an `Aggregate`, or sums over users."""

    @property
    def reports(self) -> int:
        """How many reports there are."""
        ...

    @property
    def total(self) -> float:
        """The sum of their weights: their number, without weights."""
        ...

    @property
    def offset(self) -> float:
        """The sum of their offsets."""
        ...

    @property
    def weights(self) -> Weights | None:
        """The weights by output, if there are any that are still to be used."""
        ...


@dataclass(frozen=True, eq=False)
class Bound:
    """An upper bound of the variance if the truth is d away from the estimate.

        variance + slope d - bend d^2

    Where it is estimated from the reports, `spread` is the standard error of that estimate; where
    it is computed from the channel alone, it holds for every truth, and the spread is 0.
    """

    variance: Floats
    slope: Floats | float = 0.0
    bend: Floats | float = 0.0
    spread: Floats | float = 0.0


@dataclass(frozen=True, eq=False)
class Error:
    """How far an estimate may be from the truth: the variance is below every one of the bounds.

    Without bounds nothing is known of it; a remark then says why. With V the variance, the third
    moment of estimate - truth is at most `skew[1]` V, and at least -`skew[0]` V. Estimates that
    come in steps have a `step`. Where not all reports are read, the truth may be further below by
    `bias[0]`, and further above by `bias[1]`.
    """

    bounds: tuple[Bound, ...]
    skew: tuple[Floats | float, Floats | float] = (0.0, 0.0)
    step: Floats | float = 0.0
    bias: tuple[Floats | float, Floats | float] = (0.0, 0.0)
    remarks: tuple[str, ...] = ()


class Model(ABC):
    """What an estimator knows of a mechanism: how people's values become a statistic.

    A statistic of shape (..., k) stands for many sets of reports at once. Linear estimators add up
    scores of shape (k, t), for t answers.
    """

    inputs: Alphabet
    masses: Floats | None
    """The prior of each input, if one is known."""
    estimators: ClassVar[frozenset[str]]
    """The keys of the estimators that the statistic is enough for."""
    intervals: ClassVar[tuple[str, ...]] = ("normal",)
    """The kinds of intervals that the statistic is enough for."""
    lack: ClassVar[str] = ""
    """What other estimators would need, and where to find it: for their refusal."""
    remedy: ClassVar[str] = ""
    companion: ClassVar[str] = "standard error and interval are those of the unbiased estimate"
    """What is said where an estimate borrows the interval of the unbiased one."""

    complementary: ClassVar[bool] = True
    """Whether of two values the estimate of one is what that of the other leaves."""
    holds: ClassVar[str] = ALWAYS
    """When intervals that lean on no prior hold at their level."""
    if_true: str = IF_TRUE
    """When those of the Bayes estimate do."""
    why: str = "it needs no prior"
    """Why the estimator that is taken unasked is taken."""

    def refusal(self, key: str) -> NotDefined:
        """Return the refusal of an estimator that the statistic is not enough for."""
        return NotDefined(f"the {key} estimate", self.lack, self.remedy)

    # --- statistics and scores ------------------------------------------------------------------

    @abstractmethod
    def statistic(self, counted: Any) -> Floats:
        """Return what was counted, shape (k,)."""

    def total(self, statistic: Floats) -> Floats:
        """Return the sum of all weights, shape (..., 1)."""
        raise NotDefined("the number of people", self.lack, self.remedy)

    def unbiased_scores(self, question: Question) -> Floats:
        """Return s with E[statistic @ s] = sum_i f(x_i) whatever the truth, or refuse."""
        raise self.refusal("unbiased")

    def posterior_scores(self, question: Question) -> Floats:
        """Return s with statistic @ s = sum_i E[f(X_i) | report i], or refuse."""
        raise self.refusal("bayes")

    def combine(self, statistic: Floats, scores: Floats) -> Floats:
        """Return statistic @ scores."""
        found: Floats = np.asarray(statistic, dtype=np.float64) @ scores
        return found

    def read_posteriors(
        self, reports: Any, weights: Any, aggregate: Aggregate, question: Question
    ) -> tuple[Model, CountedReports] | None:
        """Return the sums of posteriors of reports that are at hand, if they say more than counts.

        None if they do not, or if there is no prior.
        """
        return None

    @property
    def has_prior(self) -> bool:
        """Whether posteriors can be computed from the statistic."""
        return self.masses is not None and "bayes" in self.estimators

    # --- errors ---------------------------------------------------------------------------------

    @abstractmethod
    def tally(self, counted: Any) -> Any:
        """Return what errors are computed from."""

    def unbiased_error(self, estimator: Linear[Any], tally: Any, about: About) -> Error:
        """Return the variance of the unbiased estimate, or refuse."""
        raise self.refusal("unbiased")

    def posterior_error(self, question: Question, tally: Any, about: About) -> Error:
        """Return the variance of what people have, given their reports, or refuse."""
        raise self.refusal("bayes")

    def prior_means(self, question: Question, tally: Any) -> Floats:
        """Return what the prior expects of each answer, or refuse."""
        raise no_prior_error("an assisted interval", "exact or normal")

    @abstractmethod
    def possible_range(self, question: Question, tally: Any) -> tuple[Floats, Floats] | None:
        """Return the least and the largest sum there can be; None if it can be anything."""

    @abstractmethod
    def normality_remarks(
        self, estimator: Linear[Any], tally: Any, errors: Floats
    ) -> tuple[str, ...]:
        """Say where the normal distribution was measured to be rough."""

    def by_symbol(
        self, question: Question, aggregate: Any
    ) -> list[tuple[Model, Question, Aggregate]]:
        """Return a model, a question and its counts for each answer, where that says more."""
        return []

    def no_interval_error(self, kind: str, question: Question) -> NotDefined:
        """Return the refusal of a kind of interval."""
        return NotDefined(f"an interval of kind {kind}", self.lack, self.remedy)

    def expected_errors(self, question: Question, method: str, about: About) -> Floats:
        """Return what one person adds to the squared error of each answer, under the prior."""
        raise NotDefined("the expected error", self.lack, self.remedy)

    # --- tests ----------------------------------------------------------------------------------

    @abstractmethod
    def fit(self, question: Question, counted: Any) -> GoodnessOfFit | None:
        """Test the reports against the prior: all of them, and the one number asked for."""

    def mismatch_warning(self, counted: Any) -> str | None:
        """Return the warning that no prior at all explains the reports, if none does."""
        return None


def no_prior_error(what: str = "the Bayes estimate", other: str = "unbiased") -> NotDefined:
    """Return the refusal of what leans on a prior where there is none."""
    return NotDefined(
        what,
        "reports without a prior",
        f"give the prior, or ask for {other}, which needs none",
    )


def variances_of(masses: Floats, values: Floats) -> Floats:
    """Return the variance of each column of values that have these masses."""
    found: Floats = masses @ (values - masses @ values) ** 2
    return found


def project_counts(counts: Floats, totals: Floats) -> Floats:
    """Return the nearest counts (..., m) that are at least 0 and add up to totals (..., 1).

    They are max(count - t, 0) for one threshold t, which is found exactly by sorting.

    >>> project_counts(np.array([13.0, -3.0]), np.array([10.0])).tolist()
    [10.0, 0.0]
    """
    sizes = np.arange(1, counts.shape[-1] + 1)
    ordered = -np.sort(-counts, axis=-1)
    thresholds = (np.cumsum(ordered, axis=-1) - totals) / sizes
    last = np.sum(ordered > thresholds, axis=-1, keepdims=True) - 1
    # With a total of 0 no count is above its threshold, and the first one takes all away.
    threshold = np.take_along_axis(thresholds, np.maximum(last, 0), axis=-1)
    found: Floats = np.maximum(counts - threshold, 0.0)
    return found
