"""Laplace noise before it is cut into cells: the least scale that keeps a budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from liftlock.designs.formulas import laplace

Floats = npt.NDArray[np.float64]

_ROUNDS = 200
_WITHIN = 1e-13


def smallest_scale(
    points: Floats,
    masses: Floats,
    epsilon: float | tuple[float, float],
    lower: float,
    upper: float,
    *,
    bounded: bool = True,
) -> float:
    """Return the least b whose exact leakage keeps epsilon, or a lower and an upper budget.

    The leakage falls as b grows, so it is the root of leakage = epsilon; b never rises with
    epsilon.

    >>> points = np.array([0.0, 1.0, 2.0])
    >>> skewed, uniform = np.array([0.05, 0.9, 0.05]), np.full(3, 1 / 3)
    >>> [round(smallest_scale(points, p, 2.0, 0.0, 2.0), 4) for p in (skewed, uniform)]
    [0.5473, 0.6853]
    """
    low_budget, high_budget = epsilon if isinstance(epsilon, tuple) else (epsilon, epsilon)
    p_min = float(np.min(masses))
    if p_min >= 1:
        return 0.0

    def keeps(b: float) -> bool:
        if bounded:
            found = laplace.leakage(points, masses, b, lower, upper)
        else:
            found = laplace.clamped_leakage(points, masses, b)
        return found[0] <= low_budget and found[1] <= high_budget

    width = upper - lower if bounded else float(np.ptp(points))
    return _least(
        keeps, laplace.scale_for_every_epsilon(min(low_budget, high_budget), p_min, width)
    )


def _least(keeps: Callable[[float], bool], safe: float) -> float:
    """Bisect for the least scale that is kept, from one that is known to be."""
    high = safe * (1.0 + 1e-9)
    low = high / 2.0
    while keeps(low):
        high, low = low, low / 2.0
        if low < safe * 1e-15:
            return 0.0  # every scale will do
    for _ in range(_ROUNDS):
        if high - low <= _WITHIN * high:
            break
        middle = 0.5 * (low + high)
        if keeps(middle):
            high = middle
        else:
            low = middle
    return high
