"""Mutual information: how much the output says about X, in nats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import log, log1p
from liftlock.utility.largest import split_largest
from liftlock.utility.shape import Kind, Separable

_SMALLEST = 1e-300
"""Slopes of -v ln v at 0 are infinite; this keeps them finite and large."""


@dataclass(frozen=True)
class MutualInformation:
    """I(X; Y) = H(X) - H(X | Y); the cost is the posterior's entropy.

    Source: 002 section 4.1; 000 Def 2.

    >>> float(MutualInformation().costs(np.array([[0.5, 0.5]]))[0])
    0.6931471805599453
    """

    name = "mutual-information"
    title = "mutual information I(X; Y), nats"
    larger_is_better = True
    numeric = False
    shape = Separable(Kind.ENTROPY)

    def costs(self, posteriors: Floats) -> Floats:
        """Return the entropy of each row."""
        return entropy(posteriors)

    def slopes(self, posteriors: Floats) -> Floats:
        """Return -ln v - 1."""
        slopes: Floats = -log(np.clip(posteriors, _SMALLEST, None)) - 1.0
        return slopes

    def shown(self, cost: float, masses: Floats) -> float:
        """Return H(X) - H(X | Y)."""
        return max(float(entropy(masses)) - cost, 0.0)  # never below 0, but for rounding


def entropy(masses: Floats) -> Floats:
    """Return -sum v ln v of masses of sum 1 along the last axis, in nats."""
    largest, others, rest = split_largest(np.clip(masses, 0.0, None))
    logs = log(np.where(others > 0, others, 1.0))
    against = np.divide(rest, largest, out=np.zeros_like(rest), where=largest > 0)
    total: Floats = largest * log1p(against) - (others * logs).sum(axis=-1)
    return total
