"""The maximum of likelihood as an estimate: counts that can be, and make the reports likeliest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from liftlock.estimate.estimators.base import Estimator
from liftlock.estimate.maximum_likelihood import GAP, LikelihoodMaximum, maximise_likelihood
from liftlock.estimate.models import Dense
from liftlock.exact.integers import Floats


@dataclass(frozen=True, eq=False)
class Likelihood(Estimator[Dense]):
    """Estimates from the most likely shares: n sum_x s_x f(x), never negative, adding up to n.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.estimate.question import Question
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> answer = Likelihood(Dense.of(coin), Question.histogram(coin.inputs))
    >>> answer.values(np.array([60.0, 40.0])).round(3).tolist()
    [70.0, 30.0]
    >>> answer.values(np.array([9.0, 1.0])).round(3).tolist()  # unbiased would say 13 and -3
    [10.0, 0.0]
    """

    key: ClassVar[str] = "likelihood"
    found: dict[bytes, LikelihoodMaximum] = field(default_factory=dict, repr=False)

    def values(self, statistic: Floats) -> Floats:
        """Return the answers (..., t) to statistics (..., k)."""
        numbers = np.asarray(statistic, dtype=np.float64)
        shares = self.maximum(numbers).shares
        found: Floats = numbers.sum(axis=-1, keepdims=True) * shares @ self.question.values
        return found

    def maximum(self, counts: Floats) -> LikelihoodMaximum:
        """Return the most likely shares, with the proof of how near they are."""
        if np.ndim(counts) > 1:
            return maximise_likelihood(self.model.rows, counts, self.model.reference)
        known = np.ascontiguousarray(counts, dtype=np.float64).tobytes()
        if known not in self.found:
            self.found[known] = maximise_likelihood(self.model.rows, counts, self.model.reference)
        return self.found[known]

    def remarks(self, statistic: Floats) -> tuple[str, ...]:
        """Say what was proved of the maximum, and whether it is the only one."""
        best = self.maximum(statistic)
        short = "" if best.gaps <= max(GAP, 5e-12 * statistic.sum()) else ": more was not reached"
        gap, steps = (
            format_upper_bound(float(best.gaps)),
            f"{best.steps} step{'s' * (best.steps != 1)}",
        )
        remarks = [f"the log-likelihood is within {gap} of the largest, after {steps}{short}"]
        if not self.unique(statistic, best.shares):
            remarks.append("other answers are as likely: these reports do not determine it")
        return tuple(remarks)

    def unique(self, counts: Floats, shares: Floats) -> bool:
        """Whether no other answer is as likely: the reports seen tell the possible symbols apart.

        Other shares with the same likelihood live on symbols with d_x = 1 and give the reports
        that were seen the same probabilities.
        """
        seen = counts > 0
        if seen.all() and self.model.inverse.full:
            return True
        mixed = shares @ self.model.rows[:, seen]
        slopes = self.model.rows[:, seen] @ (counts[seen] / mixed) / counts.sum()
        tight = (shares > 0) | (slopes > 1 - 1e-6)
        rows = self.model.rows[np.ix_(tight, seen)] / np.sqrt(mixed)
        wanted = self.question.values[tight]
        solution = np.linalg.lstsq(rows, wanted, rcond=1e-12)[0]
        reach = np.abs(wanted).max(axis=0)
        return bool((np.abs(rows @ solution - wanted) <= 1e-6 * np.maximum(reach, 1e-300)).all())


def format_upper_bound(value: float) -> str:
    """Write a bound with one digit, never smaller than it is.

    >>> format_upper_bound(1.4e-7), format_upper_bound(2e-7), format_upper_bound(0.0)
    ('2e-07', '2e-07', '0')
    """
    text = f"{value:.1g}"
    if float(text) >= value:
        return text
    return f"{value + 10.0 ** math.floor(math.log10(value)):.1g}"
