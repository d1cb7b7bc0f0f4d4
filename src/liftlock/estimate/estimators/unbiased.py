"""The unbiased estimate: right on average whatever people have, with no prior to believe in."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from liftlock.estimate.estimators.base import Linear, ModelT_co
from liftlock.estimate.models import Error
from liftlock.estimate.question import About
from liftlock.exact.integers import Floats


class Unbiased(Linear[ModelT_co]):
    """Right on average for every truth, and of these the one with the least variance.

    For randomised response with the flip probability p it is (reports of 1 - n p) / (1 - 2 p).

    Source: 001 eq. (41).

    >>> import numpy as np
    >>> from liftlock.model.channel import Channel
    >>> from liftlock.estimate.models import Dense
    >>> from liftlock.estimate.question import Question
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> one = Unbiased(Dense.of(coin), Question.survey(coin.inputs, [1]))
    >>> one.scores.ravel().tolist(), one.values(np.array([60.0, 40.0])).tolist()
    ([-0.5, 1.5], [30.0])
    """

    key: ClassVar[str] = "unbiased"

    @cached_property
    def scores(self) -> Floats:
        """The unbiased scores of the model."""
        return self.model.unbiased_scores(self.question)

    def error(self, tally: Any, about: About) -> Error:
        """Return the variance over the reports that the people could have given."""
        return self.model.unbiased_error(self, tally, about)
