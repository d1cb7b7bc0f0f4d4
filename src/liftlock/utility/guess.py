"""Guessing error: how often the best guess of X from the output is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.utility.largest import split_largest
from liftlock.utility.shape import Linear


@dataclass(frozen=True)
class Guess:
    """P(best guess of X from Y is wrong) = 1 - E max_x P(x | Y); Hamming distortion.

    Source: 001 Prop. 3; 000 section IV.

    >>> Guess().costs(np.array([[0.2, 0.8]])).round(12).tolist()
    [0.2]
    """

    name = "guess"
    title = "probability of a wrong guess of X"
    larger_is_better = False
    numeric = False
    shape = Linear()

    def costs(self, posteriors: Floats) -> Floats:
        """Return 1 - max v of each row: the sum of the others."""
        return split_largest(posteriors).rest

    def slopes(self, posteriors: Floats) -> Floats:
        """Return -1 at the largest entry."""
        slopes = np.zeros_like(posteriors, dtype=np.float64)
        np.put_along_axis(slopes, np.argmax(posteriors, axis=-1)[..., None], -1.0, axis=-1)
        return slopes

    def shown(self, cost: float, masses: Floats) -> float:  # noqa: ARG002
        """The cost is what people read."""
        return cost
