"""How well reports determine the histogram by themselves, whatever the prior was."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from liftlock.exact.elimination import LUFactors
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import UNIT, rounding
from liftlock.utility.base import Precision, Utility


@dataclass(frozen=True)
class Frequencies(Utility):
    """Variance of the unbiased histogram of the population, per person: the sum, or the worst.

        sum_x (J^-1)_xx - P(x)^2,   J = sum_y P(y) l_y l_y',   l_y(x) = P(y | x) / P(y).

    n people give every share an unbiased estimate; the sum of their variances is this over n. The
    prior says where the variance is taken, and no estimate uses it. Reports that do not determine
    the histogram cost infinitely much.

    Source: 001 eq. (41); math collection in rounds A6.

    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> round(Frequencies().cost_of(coin, np.array([0.5, 0.5])), 9)
    2.0
    >>> round(Frequencies(worst=True).cost_of(coin, np.array([0.5, 0.5])), 9)
    1.0
    >>> Frequencies().cost_of(np.ones((2, 1)), np.array([0.5, 0.5]))
    inf
    """

    worst: bool = False

    @property
    def name(self) -> str:
        """The key."""
        return "frequencies-worst" if self.worst else "frequencies"

    @property
    def title(self) -> str:
        """What the number is."""
        which = "the worst value" if self.worst else "sum over values"
        return f"variance of unbiased shares ({which}, per person)"

    @property
    def shape(self) -> Precision:
        """That of all outputs together."""
        return Precision(self.worst)

    def costs(self, posteriors: Floats) -> Floats:
        """Return the cost of each row as the only output: one output determines nothing."""
        rows, symbols = np.shape(posteriors)
        return np.full(rows, 0.0 if symbols == 1 else math.inf)

    def slopes(self, posteriors: Floats) -> Floats:
        """Return 0: nothing is above what is infinite."""
        return np.zeros_like(posteriors)

    def cost_of(self, channel: Floats, masses: Floats) -> float:
        """Return the cost of a channel, rounded up; infinite if floats cannot tell inputs apart."""
        return self.of_variances(share_variances(channel, masses).upper)

    def floor_of(self, channel: Floats, masses: Floats) -> float:
        """Return the cost of a channel, rounded down."""
        found = share_variances(channel, masses).lower
        return self.of_variances(found) * (1.0 - rounding(len(found)))

    def cost_of_truth(self, masses: Floats) -> float:
        """Return the cost when the value itself is released: that of drawing the people."""
        return self.of_variances(masses * (1.0 - masses))

    def of_variances(self, variances: Floats) -> float:
        """Return the cost from the variance of each share."""
        return float(variances.max() if self.worst else variances.sum())


class Ends(NamedTuple):
    """Numbers that lie between a lower and an upper end."""

    lower: Floats
    upper: Floats


_ROUGH = 0.01
"""Variances that rounding may move by more of their mean are not told."""


def share_variances(channel: Floats, masses: Floats) -> Ends:
    """Enclose (J^-1)_xx - P(x)^2 for each x; infinite for all if J cannot be inverted safely.

    Near a budget of 0 lifts are all about 1, and J is nearly singular. With lifts stretched to
    r = 1 + (l - 1) / s it is not, and their matrix K has (J^-1)_xx - P(x)^2 =
    ((K^-1)_xx - P(x)^2) / s^2, since K P = 1.
    """
    table, masses = np.asarray(channel, dtype=np.float64), np.asarray(masses, dtype=np.float64)
    weights = dot(masses, table)
    table, weights = table[:, weights > 0], weights[weights > 0]
    size = len(masses)
    lifts = (table / weights).T
    stretch = min(float(np.abs(lifts - 1.0).max(initial=0.0)), 1.0)
    endless = Ends(np.zeros(size), np.full(size, math.inf))
    if size == 1:
        return Ends(np.zeros(1), np.zeros(1))
    if len(weights) < size or not stretch > 0:
        return endless
    rows = 1.0 + (lifts - 1.0) / stretch
    # Values of their own size: what is rare may have large lifts.
    units = 1.0 / np.sqrt(dot(weights, rows**2))
    rows *= units
    information = dot((rows * weights[:, None]).T, rows)
    inverse = LUFactors.of(information).solve(np.eye(size))
    variances: Floats = units**2 * np.diagonal(inverse) - masses**2
    if not np.isfinite(inverse).all() or not variances.min() > 0:
        return endless
    # What the inverse misses, and what rounding may have changed in the matrix: in its sums, and in
    # its rows, which are stretched differences.
    missed = np.abs(dot(information, inverse) - np.eye(size))
    terms, sizes = np.abs(rows), units * (1.0 + (lifts + 1.0) / stretch)
    weighted = (terms * weights[:, None]).T
    cross = dot(weighted, sizes)
    changed = rounding(len(weights)) * dot(weighted, terms) + 8.0 * UNIT * (cross + cross.T)
    lengths = np.abs(inverse)
    off = dot(lengths, missed + dot(changed, lengths)) + UNIT * lengths
    if not float(missed.sum()) <= 0.5:
        return endless
    errors = 2.0 * units**2 * np.diagonal(off)
    if not float(errors.max()) <= _ROUGH * float(variances.mean()):
        return endless
    lower, upper = np.maximum(variances - errors, 0.0), variances + errors
    return Ends(lower / stretch**2 * (1.0 - 8.0 * UNIT), upper / stretch**2 * (1.0 + 8.0 * UNIT))
