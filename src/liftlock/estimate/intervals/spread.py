"""What an interval is about, which kinds there are, and what each kind hands back.

About the people: the realised sum sum_i f(X_i) over the people who reported. Their values are
fixed and only the channel is random; for the Bayes estimator, which has a prior, the values are
random too and the reports are given. About the population: n E[f(X)], with people who are a random
sample of a population; with weights, sum_i a_i E[f(X)].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from liftlock.estimate.aggregate import Aggregate
from liftlock.exact.integers import Floats

Kind = Literal["auto", "normal", "bootstrap", "credible", "exact", "none"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, eq=False)
class Spread:
    """Standard errors and the two ends of each answer's interval, or None where there is none.

    Like `Estimator.values`, they are of the sum before offsets are added, and the answer to
    ``mean`` is not divided by the total yet. `kind` is the kind that was used, never ``auto``.
    """

    errors: Floats | None
    low: Floats | None
    high: Floats | None
    kind: Kind
    remarks: tuple[str, ...] = ()

    def remarked(self, *texts: str) -> Spread:
        """Return the same intervals with more remarks."""
        return replace(self, remarks=(*self.remarks, *texts))


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of outputs, sums of weights and of their squares: shape (..., k), for many at once.

    `signed` says that some weight is negative.
    """

    counts: Floats
    amounts: Floats
    squares: Floats
    weighted: bool
    signed: bool = False

    @classmethod
    def of(cls, aggregate: Aggregate) -> Tally:
        """Read an aggregate of the reports of a channel."""
        weights = aggregate.weights
        return cls(
            aggregate.floats(),
            aggregate.amounts(),
            aggregate.squares(),
            weights is not None,
            weights is not None and weights.least < 0,
        )

    @classmethod
    def plain(cls, counts: Floats) -> Tally:
        """Take counts of reports without weights.

        >>> Tally.plain(np.array([[2.0, 1.0], [0.0, 4.0]])).reports.tolist()
        [[3.0], [4.0]]
        """
        return cls(counts, counts, counts, False)

    @property
    def reports(self) -> Floats:
        """How many reports there are, shape (..., 1)."""
        return _added(self.counts)

    @property
    def total(self) -> Floats:
        """The sum of all weights, shape (..., 1)."""
        return _added(self.amounts)

    @property
    def people(self) -> Floats:
        """How many people of equal weight would say as much, (sum a)^2 / sum a^2, shape (..., 1).

        Weights of both signs are not compared: all reports count.
        """
        if not self.weighted or self.signed:
            return self.reports
        spread = _added(self.squares)
        found: Floats = np.divide(
            self.total**2, spread, out=np.zeros_like(spread), where=spread > 0
        )
        return np.minimum(found, self.reports)


def _added(values: Floats) -> Floats:
    found: Floats = values.sum(axis=-1, keepdims=True)
    return found
