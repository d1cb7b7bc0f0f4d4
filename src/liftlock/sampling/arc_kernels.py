"""Compiled loops of the arc mechanism; imported only when users have priors of their own.

`liftlock.sampling.arc` says what they compute.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.compiled import compiled

_POINTS = 1 << 32
_MASK = np.uint64(_POINTS - 1)
_HALF = np.uint64(32)


@compiled()
def windows(
    counts: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    pending: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    low: int,
    high: int,
    width: int,
    extra: int,
    reports: npt.NDArray[np.uint32],
) -> int:
    """Draw for the pending users; return how many are settled, the others moved to the front.

    A negative result -k says that the value of user k - 1 has no points.
    """
    inside = np.uint64(width) * np.uint64(high) + np.uint64(extra)
    taller = np.uint64(extra) * np.uint64(high + 1)
    waiting = 0
    for place in range(len(pending)):
        user = pending[place]
        code = codes[user]
        length = counts[user, code]
        if length <= 0:
            return int(-user - 1)
        start = np.int64(0)
        for symbol in range(code):
            start += counts[user, symbol]
        # word * length is a number of 96 bits, multiplied in halves.
        n = np.uint64(length)
        word = words[2 * place]
        bottom = (word & _MASK) * n
        top = (word >> _HALF) * n + (bottom >> _HALF)
        rest = (top << _HALF) | (bottom & _MASK)
        if rest < n and rest < (~n + np.uint64(1)) % n:
            pending[waiting] = user
            waiting += 1
            continue
        point = np.uint64(start) + (top >> _HALF)
        unit = words[2 * place + 1] >> np.uint64(2)
        if unit < taller:
            point -= unit // np.uint64(high + 1)
        elif unit < inside:
            point -= np.uint64(extra) + (unit - taller) // np.uint64(high)
        else:
            point += np.uint64(1) + (unit - inside) // np.uint64(low)
        reports[user] = np.uint32(point & _MASK)
    return int(len(pending) - waiting)


@compiled()
def posteriors(
    counts: npt.NDArray[np.int64],
    reports: npt.NDArray[np.uint32],
    width: int,
    extra: int,
    low: int,
    high: int,
    unit: int,
    found: npt.NDArray[np.float64],
) -> None:
    """Return P(x | u) of every user and symbol."""
    for user in range(counts.shape[0]):
        start = -np.int64(reports[user])
        for symbol in range(counts.shape[1]):
            length = counts[user, symbol]
            offset = start % _POINTS
            covered = max(np.int64(0), min(offset + length, width) - offset)
            covered += max(np.int64(0), min(offset + length - _POINTS, width))
            raised = max(np.int64(0), min(offset + length, extra) - offset)
            raised += max(np.int64(0), min(offset + length - _POINTS, extra))
            weight = float(low) * float(length - covered) + float(high) * float(covered)
            found[user, symbol] = (weight + float(raised)) / (float(unit) * float(_POINTS))
            start += length
