"""Optimal unary encoding reports a set of symbols; two ways to read a single one from it, exactly.

The bit of the true symbol is 1 with probability 1/2, every other with q = 1/(e^epsilon + 1).
"""

from __future__ import annotations

import math

import numpy as np

from liftlock_papers.points import Floats

_EVEN = 1e-12
"""Halves of the mass that differ by less are the same half."""


def at_random(size: int, epsilon: float) -> Floats:
    """Return the distribution of one of the set bits, drawn evenly; of any symbol if none is set.

    The true one is drawn with probability (1 - (1 - q)^m) / (2 m q) + (1 - q)^(m - 1) / (2 m).
    Rows are true symbols.

    >>> at_random(2, 0.0).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    other = 1.0 / (math.exp(epsilon) + 1.0)
    drawn = (1.0 - (1.0 - other) ** size) / (2.0 * size * other)
    own = drawn + (1.0 - other) ** (size - 1) / (2.0 * size)
    distribution = np.full((size, size), (1.0 - own) / (size - 1))
    np.fill_diagonal(distribution, own)
    return distribution


def median_distribution(masses: Floats, epsilon: float) -> Floats:
    """Return the distribution of the median of what the bits say; rows are true symbols.

    A set bit multiplies the mass of its symbol by e^epsilon. So the median is at most z if a sum
    of independent terms, those of symbols up to z less those beyond, is 0 or more. The sums of
    either half of the terms are listed, and all pairs counted by sorting.

    >>> median_distribution(np.array([0.2, 0.8]), 1.0).round(
    ...     4
    ... ).tolist()  # both bits or none: symbol 1
    [[0.0, 1.0], [0.0, 1.0]]
    >>> median_distribution(np.array([0.4, 0.6]), math.log(3)).tolist()
    [[0.375, 0.625], [0.125, 0.875]]
    """
    size, rise = len(masses), math.expm1(epsilon)
    halves = [_half(range(size // 2), size, epsilon), _half(range(size // 2, size), size, epsilon)]
    below = np.ones((size, size))
    for z in range(size - 1):
        signed = np.where(np.arange(size) <= z, masses, -masses)
        (few, few_distribution), (many, many_distribution) = (
            (bits @ signed[places] * rise, distribution) for places, bits, distribution in halves
        )
        order = np.argsort(few)
        chances = np.cumsum(few_distribution[:, order][:, ::-1], axis=1)[:, ::-1]
        chances = np.concatenate([chances, np.zeros((size, 1))], axis=1)
        first = np.searchsorted(few[order], -signed.sum() - many - _EVEN)
        below[:, z] = (chances[:, first] * many_distribution).sum(axis=1)
    distribution: Floats = np.diff(below, axis=1, prepend=0.0)
    return np.clip(distribution, 0.0, 1.0)


def _half(symbols: range, size: int, epsilon: float) -> tuple[list[int], Floats, Floats]:
    """Return some symbols, all sets of them as bits, and each set's chance by true symbol."""
    other = 1.0 / (math.exp(epsilon) + 1.0)
    places = list(symbols)
    bits = (np.arange(1 << len(places))[:, None] >> np.arange(len(places)) & 1).astype(np.float64)
    chance = np.where(bits > 0, other, 1.0 - other)
    distribution = np.tile(chance.prod(axis=1), (size, 1))
    for column, place in enumerate(places):
        distribution[place] *= 0.5 / chance[:, column]
    return places, bits, distribution
