"""What every estimator can do: turn a statistic of reports into answers, for many at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from liftlock.estimate.models import Error, Model
from liftlock.estimate.question import About, Question
from liftlock.exact.integers import Floats

ModelT_co = TypeVar("ModelT_co", bound=Model, covariant=True)


@dataclass(frozen=True, eq=False)
class Estimator(ABC, Generic[ModelT_co]):
    """A way to estimate sum_i f(X_i) from what a model counts of the reports.

    Making one refuses what the reports cannot answer.
    """

    model: ModelT_co
    question: Question
    key: ClassVar[str]
    """The name by which it is asked for."""
    needs: ClassVar[str] = ""
    """The estimator of the library whose statistic it can do with, where that is not itself."""

    def __post_init__(self) -> None:
        if not self.suits(self.model):
            raise self.model.refusal(self.key)

    @classmethod
    def suits(cls, model: Model) -> bool:
        """Tell whether what a model counts is enough."""
        return (cls.needs or cls.key) in model.estimators

    @abstractmethod
    def values(self, statistic: Floats) -> Floats:
        """Return the answers, shape (..., t), to statistics of shape (..., k).

        With weights the statistic is made of weighted sums. The answer to ``mean`` is still the sum
        here; it is divided by the total afterwards.
        """

    def remarks(self, statistic: Floats) -> tuple[str, ...]:
        """Say what is worth knowing about the answers to these reports."""
        del statistic
        return ()


class Linear(Estimator[ModelT_co]):
    """An estimator that adds up a score for each report: for tables sum_y n_y g(y).

    `scores` has a row for each part of the statistic and a column for each answer.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scores  # noqa: B018 - refuses a question that cannot be answered

    @cached_property
    @abstractmethod
    def scores(self) -> Floats:
        """The scores, shape (k, t)."""

    def values(self, statistic: Floats) -> Floats:
        """Return statistic @ scores."""
        return self.model.combine(statistic, self.scores)

    @abstractmethod
    def error(self, tally: Any, about: About) -> Error:
        """Return the variance of the answers to what a model has counted."""

    @cached_property
    def in_steps(self) -> npt.NDArray[np.bool_]:
        """Whether each answer counts reports of one kind: its scores have at most two values."""
        least, most = self.scores.min(axis=0), self.scores.max(axis=0)
        apart = np.minimum(self.scores - least, most - self.scores)
        found: npt.NDArray[np.bool_] = (apart <= 1e-9 * np.maximum(most - least, 1.0)).all(axis=0)
        return found
