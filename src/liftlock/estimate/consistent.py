"""Consistent counts: the unbiased histogram, moved to the nearest one that can be."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.estimator import Linear
from liftlock.estimate.model import Model
from liftlock.estimate.question import Question
from liftlock.estimate.unbiased import unbiased
from liftlock.exact.integers import Floats


def projected(counts: Floats, totals: Floats) -> Floats:
    """Return the nearest counts (..., m) that are at least 0 and add up to totals (..., 1).

    They are max(count - t, 0) for one threshold t, which is found exactly by sorting.

    >>> projected(np.array([13.0, -3.0]), np.array([10.0])).tolist()
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


@dataclass(frozen=True, eq=False)
class Consistent:
    """Answers from the unbiased histogram after its projection on counts that are possible.

    Never further from the true counts than the unbiased histogram, in squared distance, but no
    longer unbiased.

    >>> from liftlock.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> answer = Consistent.of(Model.of(coin), Question.histogram(coin.inputs))
    >>> answer.values(np.array([9.0, 1.0])).tolist()
    [10.0, 0.0]
    """

    model: Model
    question: Question
    inverse: Linear = field(repr=False)
    key: str = "consistent"

    @classmethod
    def of(cls, model: Model, question: Question) -> Consistent:
        """Make the estimator; refused if the reports do not determine the histogram."""
        return cls(model, question, unbiased(model, Question.histogram(model.inputs)))

    def values(self, counts: Floats) -> Floats:
        """Return the answers (..., t) to counts (..., k)."""
        numbers = np.asarray(counts, dtype=np.float64)
        totals = numbers.sum(axis=-1, keepdims=True)
        if (totals < 0).any():
            raise NotDefined(
                "a consistent histogram",
                "a negative sum of weights",
                "ask for unbiased, which takes weights of both signs",
            )
        found: Floats = projected(self.inverse.values(numbers), totals) @ self.question.values
        return found
