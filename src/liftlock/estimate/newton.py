"""One Newton step towards the most likely shares, with symbols that leave and come back.

Maximising the likelihood over shares is the same as minimising

    -sum_y (n_y / n) log (s Q)_y + sum_x s_x    over s >= 0,

whose solution adds up to 1 by itself. Its quadratic model at s is minimised exactly over t >= 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.integers import Floats

_PIVOTS = 100
_PATIENCE = 5
_HALVINGS = 40
_FAINT = 1e-2
"""Symbols with less than this part of an even share begin outside; they come back if they count."""
_RIDGE = 1e-13
"""Added to the diagonal, as a part of it, where symbols cannot be told apart."""


def newton_step(rows: Floats, part: Floats, shares: Floats) -> Floats | None:
    """Return likelier shares, or None if rounding leaves no step that is.

    `rows` and `part` hold the outputs that were seen only. The gradient is 1 - d and the curvature
    H = sum_y (n_y / n) Q[., y] Q[., y]^T / lambda_y^2, with H s = d: the model is
    t H t / 2 - (2 d - 1) t up to a constant.
    """
    mixed = shares @ rows
    slopes = rows @ (part / mixed)
    scaled = rows * (np.sqrt(part) / mixed)
    target = minimum(scaled @ scaled.T, 2.0 * slopes - 1.0, shares > _FAINT / len(shares))
    if target is None:
        return None
    move = target - shares
    gain = float((slopes - 1.0) @ move)
    level = _level(part, mixed) - shares.sum()
    # The last steps gain less than the rounding errors of a logarithm.
    fog = 4e-16 * (1.0 + abs(level))
    length = 1.0
    for _ in range(_HALVINGS):
        there = np.maximum(shares + length * move, 0.0)
        if _level(part, there @ rows) - there.sum() >= level + 1e-4 * length * gain - fog:
            found: Floats = there / there.sum()
            return found
        length /= 2
    return None


def minimum(curvature: Floats, pull: Floats, free: npt.NDArray[np.bool_]) -> Floats | None:
    """Minimise t H t / 2 - b t over t >= 0 by exchanging blocks of symbols.

    Symbols with a negative t leave, symbols at 0 with a negative slope come in, all at once; when
    that does not get nearer, one at a time, which ends for certain.

    >>> minimum(np.eye(2), np.array([1.0, -1.0]), np.array([True, True])).round(9).tolist()
    [1.0, 0.0]
    """
    size = len(pull)
    ridge = _RIDGE * np.diag(curvature).max()
    scale = np.abs(pull).max() + np.diag(curvature).max()
    fewest, patience = size + 1, _PATIENCE
    free = free.copy()
    for _ in range(_PIVOTS):
        places = np.flatnonzero(free)
        found = np.zeros(size)
        block = curvature[np.ix_(places, places)]
        block[np.diag_indices_from(block)] += ridge
        try:
            found[places] = np.linalg.solve(block, pull[places])
        except np.linalg.LinAlgError:
            return None
        slope = curvature @ found - pull
        wrong = (free & (found < 0)) | (~free & (slope < -1e-12 * scale))
        number = int(wrong.sum())
        if number == 0:
            return found
        if number < fewest:
            fewest, patience = number, _PATIENCE
        else:
            patience -= 1
        if patience > 0:
            free ^= wrong
        else:
            last = int(np.flatnonzero(wrong)[-1])
            free[last] = not free[last]
    return np.maximum(found, 0.0)


def _level(part: Floats, mixed: Floats) -> float:
    """Return the log-likelihood per report; minus infinity where a report would be impossible."""
    with np.errstate(divide="ignore"):
        return float(part @ np.log(mixed))
