"""Compiled loops of the safe response; imported only when users have priors of their own.

`liftlock.sampling.safe` says what they compute.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.compiled import compiled

_POINTS = 1 << 32
_MASK = np.uint64(_POINTS - 1)
_HALF = np.uint64(32)


@compiled()
def keep(row: npt.NDArray[np.int64], most: int, gain: np.uint64, enough: int) -> np.int64:
    """Return T of a user: see `SafeLaw.keep`."""
    least = np.int64(_POINTS)
    for symbol in range(len(row)):
        # Counts of 0 become the largest of all numbers, and so never the least.
        least = min(least, np.int64((np.uint64(row[symbol]) - np.uint64(1)) & _MASK) + 1)
    if least >= enough:
        return np.int64(most)
    return np.int64((gain * np.uint64(least)) // np.uint64(_POINTS - least))


@compiled()
def kept(
    counts: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    most: int,
    gain: np.uint64,
    enough: int,
    reports: npt.NDArray[np.int64],
) -> int:
    """Draw a report for each user; return the first whose value has probability 0, or -1."""
    for user in range(counts.shape[0]):
        if counts[user, codes[user]] <= 0:
            return user
        word = words[user]
        if np.int64(word >> _HALF) < keep(counts[user], most, gain, enough):
            reports[user] = codes[user]
            continue
        point = np.int64(word & _MASK)
        symbol = 0
        while point >= counts[user, symbol]:
            point -= counts[user, symbol]
            symbol += 1
        reports[user] = symbol
    return -1


@compiled()
def posteriors(
    counts: npt.NDArray[np.int64],
    reports: npt.NDArray[np.int64],
    most: int,
    gain: np.uint64,
    enough: int,
    found: npt.NDArray[np.float64],
) -> int:
    """Fill in P(x | y); return the first user whose report has probability 0, or -1."""
    for user in range(counts.shape[0]):
        if counts[user, reports[user]] <= 0:
            return user
        own = keep(counts[user], most, gain, enough)
        for symbol in range(counts.shape[1]):
            found[user, symbol] = float(_POINTS - own) * float(counts[user, symbol]) * 2.0**-64
        found[user, reports[user]] += float(own) * 2.0**-32
    return -1
