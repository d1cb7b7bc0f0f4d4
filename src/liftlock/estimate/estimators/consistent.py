"""Consistent counts: the unbiased histogram, moved to the nearest one that can be."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.estimators.base import Estimator, ModelT_co
from liftlock.estimate.estimators.unbiased import Unbiased
from liftlock.estimate.models.base import project_counts
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats


class Consistent(Estimator[ModelT_co]):
    """Answers from the unbiased histogram after its projection on counts that are possible.

    Never further from the true counts than the unbiased histogram, in squared distance, but no
    longer unbiased. Refused if the reports do not determine the histogram.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.estimate.models import Dense
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> answer = Consistent(Dense.of(coin), Question.histogram(coin.inputs))
    >>> answer.values(np.array([9.0, 1.0])).tolist()
    [10.0, 0.0]
    """

    key: ClassVar[str] = "consistent"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.histogram  # noqa: B018 - refuses reports that do not determine it

    @cached_property
    def histogram(self) -> Unbiased[ModelT_co]:
        """The unbiased estimate of all counts."""
        return Unbiased(self.model, Question.histogram(self.model.inputs))

    def values(self, statistic: Floats) -> Floats:
        """Return the answers (..., t) to statistics (..., k)."""
        numbers = np.asarray(statistic, dtype=np.float64)
        totals = self.model.total(numbers)
        if (totals < 0).any():
            raise NotDefined(
                "a consistent histogram",
                "a negative sum of weights",
                "ask for unbiased, which takes weights of both signs",
            )
        found: Floats = (
            project_counts(self.histogram.values(numbers), totals) @ self.question.values
        )
        return found
