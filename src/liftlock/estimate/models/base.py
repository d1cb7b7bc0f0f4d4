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
from liftlock.estimate.result import GoodnessOfFit
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
class Error:
    """The variance of an estimate if the truth is d away from it: variance + slope d - bend d^2.

    Without a `slope` the variance does not depend on the truth. `variance` is None where nothing is
    known of it; a remark then says why. `people` is given where the variance was estimated from so
    many of them, and intervals use Student's distribution.
    """

    variance: Floats | None
    slope: Floats | None = None
    bend: Floats | float = 0.0
    people: Floats | None = None
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

    @property
    def why(self) -> str:
        """Why an estimator is taken unasked, where the model leaves no choice."""
        return ""

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

    def reread_reports(
        self,
        reports: Any,
        weights: Any,
        aggregate: Aggregate,
        question: Question,
        method: str,
        about: About,
    ) -> tuple[Model, CountedReports]:
        """Return the model and the sums of reports that are at hand, if they say more than counts.

        `method` and `about` are what is asked for.
        """
        return self, aggregate

    def without_prior(self, counted: Any) -> tuple[Model, CountedReports] | None:
        """Return a second reading of the same reports that uses no prior, if there is one."""
        return None

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

    def error_ratio(self, best: Linear[Any], free: Linear[Any]) -> float:
        """Return the ratio of the errors of Bayes and unbiased estimate, under the prior."""
        raise NotDefined("the error of two estimates", self.lack, self.remedy)

    # --- tests ----------------------------------------------------------------------------------

    @abstractmethod
    def fit(self, question: Question, counted: Any) -> GoodnessOfFit | None:
        """Test the reports against the prior: all of them, and the one number asked for."""

    def mismatch_warning(self, counted: Any) -> str | None:
        """Return the warning that no prior at all explains the reports, if none does."""
        return None


def no_prior_error() -> NotDefined:
    """Return the refusal of posteriors where there is no prior."""
    return NotDefined(
        "the Bayes estimate",
        "reports without a prior",
        "give the prior, or ask for unbiased, which needs none",
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
