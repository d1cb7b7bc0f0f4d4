"""The compiled loop that makes the priors of users integers; see `liftlock.sampling.own_priors`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.compiled import compiled

_POINTS = 1 << 32
_PLACE_BITS = 15
_PLACES = (1 << _PLACE_BITS) - 1


@compiled()
def counted(rows: npt.NDArray[np.float64], tolerance: float, counts: npt.NDArray[np.int64]) -> int:
    """Round each row to integers that sum to 2^32; return the first row that cannot be, or -1."""
    symbols = rows.shape[1]
    for user in range(rows.shape[0]):
        total = 0.0
        least = 0.0
        for symbol in range(symbols):
            total += rows[user, symbol]
            least = min(least, rows[user, symbol])
        # NaN and infinity show in the sum.
        if not (least >= 0.0 and 0.0 < total < np.inf and abs(total - 1.0) <= tolerance):
            return user
        scale = _POINTS / total
        left = np.int64(_POINTS)
        best = np.int64(-1)
        for symbol in range(symbols):
            mass = rows[user, symbol]
            count = max(np.int64(mass * scale), np.int64(mass > 0.0))
            counts[user, symbol] = count
            left -= count
            # The first of the largest, without a branch that cannot be foreseen.
            best = max(best, (count << _PLACE_BITS) | (_PLACES - symbol))
        counts[user, _PLACES - (best & _PLACES)] += left
    return -1
