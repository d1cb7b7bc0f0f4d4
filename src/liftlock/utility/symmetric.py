"""Utilities that treat all symbols alike: information, the error of a histogram, of a guess.

Posteriors are taken apart at their likeliest symbol, so that costs near 0 keep their digits. Where
one symbol is all but certain, 1 - sum v^2, 1 - max v and -v ln v cancel all but the last digits of
what matters: the probability of the *other* symbols. That is a sum of positive numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import log, log1p
from liftlock.utility.base import Linear, Separable, TermKind, Utility

_SMALLEST = 1e-300
"""Slopes of -v ln v at 0 are infinite; this keeps them finite and large."""


class Parts(NamedTuple):
    """The likeliest symbol of each posterior, and the others."""

    largest: Floats
    """The largest entry of each row."""
    others: Floats
    """The rows with 0 in its place."""
    rest: Floats
    """The sum of the others: 1 - largest, right to its own last digits."""


def split_largest(posteriors: Floats) -> Parts:
    """Take each row apart at its largest entry.

    >>> split_largest(np.array([1.0, 1e-30])).rest.tolist()
    1e-30
    """
    others = np.array(posteriors, dtype=np.float64)
    place = np.argmax(others, axis=-1)[..., None]
    largest = np.take_along_axis(others, place, axis=-1)[..., 0]
    np.put_along_axis(others, place, 0.0, axis=-1)
    return Parts(largest, others, np.asarray(others.sum(axis=-1)))


@dataclass(frozen=True)
class MutualInformation(Utility):
    """I(X; Y) = H(X) - H(X | Y); the cost is the posterior's entropy.

    Source: 002 section 4.1; 000 Def 2.

    >>> float(MutualInformation().costs(np.array([[0.5, 0.5]]))[0])
    0.6931471805599453
    """

    name = "mutual-information"
    title = "mutual information I(X; Y), nats"
    larger_is_better = True
    shape = Separable(TermKind.ENTROPY)

    def costs(self, posteriors: Floats) -> Floats:
        """Return the entropy of each row."""
        return entropy(posteriors)

    def slopes(self, posteriors: Floats) -> Floats:
        """Return -ln v - 1."""
        slopes: Floats = -log(np.clip(posteriors, _SMALLEST, None)) - 1.0
        return slopes

    def objective(self, cost: float, masses: Floats) -> float:
        """Return H(X) - H(X | Y)."""
        return max(float(entropy(masses)) - cost, 0.0)  # never below 0, but for rounding


def entropy(masses: Floats) -> Floats:
    """Return -sum v ln v of masses of sum 1 along the last axis, in nats."""
    largest, others, rest = split_largest(np.clip(masses, 0.0, None))
    logs = log(np.where(others > 0, others, 1.0))
    against = np.divide(rest, largest, out=np.zeros_like(rest), where=largest > 0)
    total: Floats = largest * log1p(against) - (others * logs).sum(axis=-1)
    return total


@dataclass(frozen=True)
class Histogram(Utility):
    """E sum_x (1[X = x] - P(x | Y))^2 = 1 - E sum_x P(x | Y)^2, per person.

    It is what one person adds to the squared error of a histogram estimated by posterior means.

    Source: 001 eq. (27), eq. (28).

    >>> Histogram().costs(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """

    name = "histogram"
    title = "histogram error (mean squared, per person)"
    shape = Separable(TermKind.SQUARE)

    def costs(self, posteriors: Floats) -> Floats:
        """Return 1 - sum v^2 = sum v (1 - v) of each row."""
        largest, others, rest = split_largest(posteriors)
        total: Floats = largest * rest + (others * (1.0 - others)).sum(axis=-1)
        return total

    def slopes(self, posteriors: Floats) -> Floats:
        """Return -2 v."""
        return -2.0 * np.asarray(posteriors, dtype=np.float64)


@dataclass(frozen=True)
class Guess(Utility):
    """P(best guess of X from Y is wrong) = 1 - E max_x P(x | Y); Hamming distortion.

    Source: 001 Prop. 3; 000 section IV.

    >>> Guess().costs(np.array([[0.2, 0.8]])).round(12).tolist()
    [0.2]
    """

    name = "guess"
    title = "probability of a wrong guess of X"
    shape = Linear()

    def costs(self, posteriors: Floats) -> Floats:
        """Return 1 - max v of each row: the sum of the others."""
        return split_largest(posteriors).rest

    def slopes(self, posteriors: Floats) -> Floats:
        """Return -1 at the largest entry."""
        slopes = np.zeros_like(posteriors, dtype=np.float64)
        np.put_along_axis(slopes, np.argmax(posteriors, axis=-1)[..., None], -1.0, axis=-1)
        return slopes
