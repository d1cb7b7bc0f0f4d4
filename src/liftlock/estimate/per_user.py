"""Reports that are read one by one: each has a posterior of its own, and their sums are kept.

Given the reports people are independent, so a sum over people has the mean sum_i E[f(X_i) | report]
and the variance sum_i Var[f(X_i) | report].

Source: 001 Prop. 2, eq. (14).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from liftlock.alphabet import Alphabet
from liftlock.errors import NotDefined
from liftlock.estimate.model import Counted, Model
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats


@dataclass(frozen=True, eq=False)
class PosteriorSums:
    """Posterior means and variances, added up over the reports, for each answer of one question."""

    reports: int
    total: float
    offset: float
    sums: Floats
    variances: Floats
    weighted: bool = False


@dataclass(frozen=True, eq=False)
class PerUser(Model):
    """Sums of posterior means: each report was read under the prior of its own user.

    The statistic is the sum for each answer, and nothing is left to be weighed.
    """

    inputs: Alphabet
    masses: Floats | None = None
    estimators: ClassVar[frozenset[str]] = frozenset(("bayes",))
    lack: ClassVar[str] = "sums of posteriors, in which every user has a prior"
    remedy: ClassVar[str] = "ask for bayes"

    def statistic(self, counted: Counted) -> Floats:
        """Return the sum of posterior means of each answer."""
        assert isinstance(counted, PosteriorSums)
        return counted.sums

    def total(self, statistic: Floats) -> Floats:
        """Refuse: the sums do not say how many people there are."""
        del statistic
        raise NotDefined("the number of people", self.lack, self.remedy)

    def unbiased_scores(self, question: Question) -> Floats:
        """Refuse: posteriors lean on the priors."""
        del question
        raise NotDefined("an unbiased estimate", self.lack, self.remedy)

    def posterior_scores(self, question: Question) -> Floats:
        """Return the identity: the sums are the answers."""
        return np.eye(len(question.names))
