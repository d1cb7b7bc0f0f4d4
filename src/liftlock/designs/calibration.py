"""Calibration: the least noise of a family that keeps a budget, judged by what truly leaks.

A family has one free number, its scale: the larger, the less leaks. The true leakage of the finite
channel is measured in floats here and proved in integers when the draft is locked.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from liftlock.designs.problem import limits
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.notions.approximate_ldp import ApproximateLDP
from liftlock.notions.approximate_lip import ApproximateLIP
from liftlock.notions.e_divergence import positive_parts
from liftlock.notions.ldp import LDP
from liftlock.notions.lip import LIP
from liftlock.notions.notion import Notion

Slack = Callable[[Floats, Floats], float]
"""How far a matrix, with the masses of its rows, is beyond a budget; at most 0 when it keeps it."""

NUMERIC_NOTIONS = (
    "lip",
    "alip",
    "eps_upper",
    "eps_lower",
    "ldp",
    "lip_ediv",
    "lip_def5",
    "lip_joint",
    "ldp_delta",
)
"""What numeric mechanisms can be calibrated for."""

_FAR = 700.0
_INSIDE = 1e-9
"""Calibrated scales are this much larger than they seem to have to be."""
_STEPS = 60
_CELLS = 1 << 24


def slack_of(notion: Notion) -> Slack:
    """Return the measure of how far a matrix is beyond a notion's budget.

    >>> from liftlock.prior import Prior
    >>> beyond = slack_of(LIP("ln 2"))
    >>> fair = np.array([0.5, 0.5])
    >>> round(beyond(np.array([[0.75, 0.25], [0.25, 0.75]]), fair), 6)  # a lift falls to 1/2
    0.0
    """
    if isinstance(notion, ApproximateLIP):
        if not notion.delta:
            return slack_of(LIP(notion.epsilon))
        ratio, delta, form = float(notion.epsilon.exp()), float(notion.delta), notion.form
        return lambda matrix, masses: lip_delta(matrix, masses, ratio, form) - delta
    if isinstance(notion, ApproximateLDP):
        if not notion.delta:
            return slack_of(LDP(notion.epsilon))
        ratio, delta = float(notion.epsilon.exp()), float(notion.delta)
        return lambda matrix, masses: ldp_delta(matrix, ratio) - delta  # noqa: ARG005
    lower, upper, most = limits(notion)
    if most is not None:
        return lambda matrix, masses: _log_ratio(matrix) - math.log(most)  # noqa: ARG005
    return lambda matrix, masses: _beyond_lifts(matrix, masses, lower, upper)


def lip_delta(matrix: Floats, masses: Floats, ratio: float, form: str = "ediv") -> float:
    """Return the delta of (epsilon, delta)-LIP in floats, E = e^epsilon given as `ratio`."""
    return float(lip_deltas(matrix, masses, ratio, form).max())


def lip_deltas(matrix: Floats, masses: Floats, ratio: float, form: str = "ediv") -> Floats:
    """Return the delta that each input needs, the larger of its two sides.

    Source: 000 Def 5 (def5), Cor 9 (ediv); 003 Def 4 (joint).
    """
    output = masses @ matrix
    up = positive_parts(matrix, output, ratio)
    down = positive_parts(np.broadcast_to(output, matrix.shape), matrix, ratio)
    if form == "def5":
        up = up / ratio
    worst: Floats = np.maximum(up, down)
    return worst * masses if form == "joint" else worst


def ldp_delta(matrix: Floats, ratio: float) -> float:
    """Return the delta of (epsilon, delta)-LDP in floats."""
    worst = 0.0
    step = max(1, _CELLS // matrix.size)
    for start in range(0, len(matrix), step):
        block = matrix[start : start + step, None, :]
        worst = max(worst, float(positive_parts(block, matrix[None], ratio).max()))
    return worst


def lift_range(matrix: Floats, masses: Floats) -> tuple[float, float]:
    """Return the smallest and the largest lift; outputs that never occur are left out."""
    output = masses @ matrix
    used = output > 0
    lifts = matrix[:, used] / output[used]
    return float(lifts.min()), float(lifts.max())


def _beyond_lifts(matrix: Floats, masses: Floats, lower: float, upper: float) -> float:
    least, most = lift_range(matrix, masses)
    over = -_FAR if math.isinf(upper) else _log(most) - math.log(upper)
    under = -_FAR if lower <= 0 else math.log(lower) - _log(least)
    return max(over, under)


def _log_ratio(matrix: Floats) -> float:
    used = matrix.max(axis=0) > 0
    columns = matrix[:, used]
    if (columns <= 0).any():
        return _FAR
    return float(np.log(columns.max(axis=0) / columns.min(axis=0)).max())


def _log(number: float) -> float:
    return max(math.log(number), -_FAR) if number > 0 else -_FAR


def smallest_scale(
    make: Callable[[float], Floats],
    masses: Floats,
    notion: Notion,
    *,
    start: float,
    least: float,
    most: float = math.inf,
) -> float:
    """Return the smallest scale at which a family keeps a budget, between `least` and `most`.

    The root of the true leakage, to a billionth, from the safe side. Families whose leakage does
    not fall all the way are still left at a scale that keeps the budget.
    """
    slack = slack_of(notion)

    def beyond(scale: float) -> float:
        return slack(make(scale), masses)

    low, high = least, max(start, least)
    at_high = beyond(high)
    while at_high > 0:
        if high >= most:
            raise InputError(
                f"no noise of this family keeps {notion}",
                value=f"scale {high:g}",
                remedy="allow a larger budget, or use the method optimal",
            )
        low, high = high, min(high * 2.0, most)
        at_high = beyond(high)
        if high > 1e15 * max(start, least):
            raise NotDefined("calibrating", str(notion), "the noise would have to be infinite")
    while low < high:
        # Walk down while the budget is kept, so that the bracket is narrow.
        probe = max(low, high / 2.0)
        found = beyond(probe)
        if found > 0:
            low = probe
            break
        high, at_high = probe, found
        if high <= least:
            return high
    return _root(beyond, low, high, at_high) * (1.0 + _INSIDE)


def _root(beyond: Callable[[float], float], low: float, high: float, at_high: float) -> float:
    """Close in on the sign change between a scale that breaks the budget and one that keeps it."""
    at_low = beyond(low)
    for _ in range(_STEPS):
        if high - low <= _INSIDE * high:
            break
        # Regula falsi in the Illinois manner, kept away from the ends.
        share = at_low / (at_low - at_high) if at_low > at_high else 0.5
        probe = low + min(max(share, 0.02), 0.98) * (high - low)
        found = beyond(probe)
        if found > 0:
            low, at_low = probe, found
            at_high *= 0.5
        else:
            high, at_high = probe, found
            at_low *= 0.5
    return high
