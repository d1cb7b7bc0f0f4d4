"""One Newton step towards the most likely shares, with symbols that leave and come back.

Maximising the likelihood over shares is the same as minimising

    -sum_y (n_y / n) log (s Q)_y + sum_x s_x    over s >= 0,

whose solution adds up to 1 by itself. Its quadratic model at s is minimised exactly over t >= 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.integers import Floats

_PIVOTS = 60
_PATIENCE = 5
_HALVINGS = 40
_FAINT = 1e-2
"""Symbols with less than this part of an even share begin outside; they come back if they count."""
_DAMPINGS = (1e-13, 1e-10, 1e-8, 1e-6, 1e-4)
"""What holds the step near s, as parts of the largest curvature: more where symbols look alike."""


def newton_step(rows: Floats, part: Floats, shares: Floats) -> Floats | None:
    """Return likelier shares, or None if rounding leaves no step that is.

    `rows` and `part` hold the outputs that were seen only. The gradient is 1 - d and the curvature
    H = sum_y (n_y / n) Q[., y] Q[., y]^T / lambda_y^2, with H s = d: the model is
    t H t / 2 - (2 d - 1) t up to a constant.
    """
    mixed = shares @ rows
    slopes = rows @ (part / mixed)
    scaled = rows * (np.sqrt(part) / mixed)
    curvature, pull = scaled @ scaled.T, 2.0 * slopes - 1.0
    for damping in _DAMPINGS:
        hold = damping * float(np.diag(curvature).max())
        damped = curvature.copy()
        damped[np.diag_indices_from(damped)] += hold
        target = minimum(damped, pull + hold * shares, shares > _FAINT / len(shares))
        if target is None:
            continue
        found = _searched(rows, part, shares, target - shares, float((slopes - 1.0) @ target))
        if found is not None:
            return found
    return None


def _searched(
    rows: Floats, part: Floats, shares: Floats, move: Floats, reach: float
) -> Floats | None:
    """Go as far along a move as the likelihood grows with it, by halving."""
    # The slopes at the shares themselves add up to (d - 1) s = 1 - sum s.
    gain = reach - (1.0 - float(shares.sum()))
    level = _level(part, shares @ rows) - float(shares.sum())
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
    """Minimise t H t / 2 - b t over t >= 0 by exchanging blocks of symbols; None if that fails.

    Symbols with a negative t leave, symbols at 0 with a negative slope come in, all at once; when
    that does not get nearer, one at a time.

    >>> minimum(np.eye(2), np.array([1.0, -1.0]), np.array([True, True])).tolist()
    [1.0, 0.0]
    """
    size = len(pull)
    tolerance = 1e-13 * float(np.abs(pull).max() + np.diag(curvature).max())
    fewest, patience = size + 1, _PATIENCE
    free = free.copy()
    for _ in range(_PIVOTS):
        places = np.flatnonzero(free)
        found = np.zeros(size)
        try:
            found[places] = np.linalg.solve(curvature[np.ix_(places, places)], pull[places])
        except np.linalg.LinAlgError:
            return None
        slope = curvature @ found - pull
        wrong = (free & (found < 0)) | (~free & (slope < -tolerance))
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
    return None


def _level(part: Floats, mixed: Floats) -> float:
    """Return the log-likelihood per report; minus infinity where a report would be impossible."""
    with np.errstate(divide="ignore"):
        return float(part @ np.log(mixed))
