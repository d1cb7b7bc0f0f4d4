"""Posteriors taken apart at their likeliest symbol, so that costs near 0 keep their digits.

Where one symbol is all but certain, 1 - sum v^2, 1 - max v and -v ln v cancel all but the last
digits of what matters: the probability of the *other* symbols. That is a sum of positive numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liftlock.exact.integers import Floats


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
