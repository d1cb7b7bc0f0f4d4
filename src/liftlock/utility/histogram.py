"""Histogram error: the mean squared error of the best guess of the indicator of each symbol."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.utility.largest import split_largest
from liftlock.utility.shape import Kind, Separable


@dataclass(frozen=True)
class Histogram:
    """E sum_x (1[X = x] - P(x | Y))^2 = 1 - E sum_x P(x | Y)^2, per person.

    It is what one person adds to the squared error of a histogram estimated by posterior means.

    Source: 001 eq. (27), eq. (28).

    >>> Histogram().costs(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """

    name = "histogram"
    title = "histogram error (mean squared, per person)"
    larger_is_better = False
    numeric = False
    shape = Separable(Kind.SQUARE)

    def costs(self, posteriors: Floats) -> Floats:
        """Return 1 - sum v^2 = sum v (1 - v) of each row."""
        largest, others, rest = split_largest(posteriors)
        total: Floats = largest * rest + (others * (1.0 - others)).sum(axis=-1)
        return total

    def slopes(self, posteriors: Floats) -> Floats:
        """Return -2 v."""
        return -2.0 * np.asarray(posteriors, dtype=np.float64)

    def shown(self, cost: float, masses: Floats) -> float:  # noqa: ARG002
        """The cost is what people read."""
        return cost
