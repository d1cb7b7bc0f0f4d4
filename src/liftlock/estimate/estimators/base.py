"""What every estimator can do: turn a statistic of reports into answers, for many at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from liftlock.estimate.model import Model
from liftlock.estimate.question import Question
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

    def __post_init__(self) -> None:
        self.model.refuse(self.key)

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
