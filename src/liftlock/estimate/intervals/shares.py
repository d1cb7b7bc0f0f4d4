"""How many people have each value, as numbers of 0 or more that add up: what variances depend on.

The unbiased histogram can be negative, and a negative number of people has no variance. The steps
of expectation and maximisation never leave the simplex, and need no inverse of the channel.
"""

from __future__ import annotations

import numpy as np

from liftlock.estimate.model import Model
from liftlock.exact.integers import Floats

STEPS = 30
"""Variances hardly move after so many steps: they are averages over the shares."""


def likely_counts(model: Model, counts: Floats, steps: int = STEPS) -> Floats:
    """Return counts of inputs (..., m) near the most likely ones, from counts of outputs (..., k).

    Each step is n_x <- sum_y n_y P(x | y) under the shares of the step before, from the prior.

    >>> from liftlock.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> likely_counts(Model.of(coin), np.array([2.0, 8.0])).round(1).tolist()
    [0.0, 10.0]
    """
    rows = model.rows
    found: Floats = counts.sum(axis=-1, keepdims=True) * model.reference
    for _ in range(steps):
        mixed = found @ rows
        ratio = np.divide(counts, mixed, out=np.zeros_like(mixed), where=mixed > 0)
        found = found * (ratio @ rows.T)
    return found


def whole_counts(counts: Floats) -> Floats:
    """Round counts (..., m) to whole numbers with the same sum: the largest remainders go up.

    >>> whole_counts(np.array([1.6, 2.6, 0.8])).tolist()
    [2.0, 2.0, 1.0]
    """
    total = np.rint(counts.sum(axis=-1, keepdims=True))
    whole = np.floor(counts)
    missing = total - whole.sum(axis=-1, keepdims=True)
    ranks = np.argsort(np.argsort(-(counts - whole), axis=-1, kind="stable"), axis=-1)
    found: Floats = whole + (ranks < missing)
    return found
