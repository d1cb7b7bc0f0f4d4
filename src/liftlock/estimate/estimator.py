"""What every estimator can do: turn counts of outputs into answers, for many counts at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from liftlock.estimate.model import Model
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats


class Estimator(Protocol):
    """A way to estimate sum_i f(X_i) from how often each output was reported."""

    @property
    def key(self) -> str:
        """The name by which it is asked for."""
        ...

    @property
    def model(self) -> Model:
        """The channel and the prior."""
        ...

    @property
    def question(self) -> Question:
        """What is asked."""
        ...

    def values(self, counts: Floats) -> Floats:
        """Return the answers, shape (..., t), to counts of outputs of shape (..., k).

        With weights the counts are the sums of weights by output. The answer to ``mean`` is still
        the sum here; it is divided by the total afterwards.
        """
        ...


@dataclass(frozen=True, eq=False)
class Linear:
    """An estimator that adds up a score for each report: sum_y n_y g(y).

    `scores` has a row for each output and a column for each answer.
    """

    key: str
    model: Model
    question: Question
    scores: Floats

    def values(self, counts: Floats) -> Floats:
        """Return counts @ scores."""
        found: Floats = np.asarray(counts, dtype=np.float64) @ self.scores
        return found

    @property
    def means(self) -> Floats:
        """E[g(Y) | x]: a row for each input, a column for each answer."""
        found: Floats = self.model.rows @ self.scores
        return found

    @property
    def variances(self) -> Floats:
        """Var[g(Y) | x]: a row for each input, a column for each answer."""
        # Centred first: a difference of large squares would lose its digits.
        middle = self.model.expected @ self.scores
        centred = self.scores - middle
        means = self.model.rows @ centred
        found: Floats = np.maximum(self.model.rows @ centred**2 - means**2, 0.0)
        return found
