"""The Bayes estimate: each report counts with the posterior mean of what its person has."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from liftlock.estimate.estimators.base import Linear, ModelT_co
from liftlock.estimate.models import Error
from liftlock.estimate.question import About
from liftlock.exact.integers import Floats


class Bayes(Linear[ModelT_co]):
    """The estimator with the least mean squared error if the prior is true.

    People are independent, so the best estimate of a sum is the sum of the best estimates.

    Source: 001 eq. (10), eq. (16), eq. (27), eq. (30).

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.estimate.models import Dense
    >>> from liftlock.estimate.question import Question
    >>> from liftlock.model import Prior
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> model = Dense.of(coin, Prior.from_counts({0: 9, 1: 1}))
    >>> Bayes(model, Question.survey(coin.inputs, [1])).scores.ravel().round(4).tolist()
    [0.0357, 0.25]
    """

    key: ClassVar[str] = "bayes"

    @cached_property
    def scores(self) -> Floats:
        """The posterior means of the model."""
        return self.model.posterior_scores(self.question)

    def error(self, tally: Any, about: About) -> Error:
        """Return the variance of what the people have, given the reports."""
        return self.model.posterior_error(self.question, tally, about)
