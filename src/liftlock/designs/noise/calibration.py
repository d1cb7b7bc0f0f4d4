"""Calibration: the least noise of a family that keeps a budget, judged by what truly leaks.

A family has one free number, its scale: the larger, the less leaks. The true leakage of the finite
channel is measured in floats here and proved in integers when the draft is locked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from liftlock._solver.problem import limits
from liftlock.designs.noise.axis import RARE
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.notions.base import Notion
from liftlock.notions.e_divergence import positive_parts

if TYPE_CHECKING:
    import numpy.typing as npt

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
_UNIT = 2.0**-51
"""How far rounding to a table of 52 bits may move a probability."""
_STEPS = 60
_CACHED = 1 << 17
_FEW_ROWS = 64
_TINY = 1e-300
_NARROW = 1.001


def slack_of(notion: Notion) -> Slack:
    """Return the measure of how far a matrix is beyond a notion's budget.

    It allows for what rounding the matrix to integers can add.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> beyond = slack_of(LIP("ln 2"))
    >>> fair = np.array([0.5, 0.5])
    >>> round(beyond(np.array([[0.75, 0.25], [0.25, 0.75]]), fair), 6)  # a lift falls to 1/2
    0.0
    """
    allowed = notion.delta_limit()
    if allowed is not None and not allowed.delta:
        return slack_of(notion.without_delta)
    if allowed is not None:
        ratio, delta, form = float(allowed.epsilon.exp()), float(allowed.delta), allowed.form
        if form == "ldp":
            return lambda matrix, masses: _near_ldp_delta(matrix, ratio) - delta  # noqa: ARG005
        return lambda matrix, masses: (
            float(lip_deltas(matrix, masses, ratio, form, margin=_UNIT).max()) - delta
        )
    lower, upper, most = limits(notion)
    if most is not None:
        return lambda matrix, masses: _log_ratio(matrix) - log(most)  # noqa: ARG005
    return lambda matrix, masses: _beyond_lifts(matrix, masses, lower, upper)


def lip_deltas(
    matrix: Floats, masses: Floats, ratio: float, form: str = "ediv", *, margin: float = 0.0
) -> Floats:
    """Return the delta that each input needs, the larger of its two sides.

    With a margin, the largest that it can be once every probability has moved by that much.

    Source: 000 Def 5 (def5), Cor 9 (ediv); 003 Def 4 (joint).

    >>> fair = np.array([0.5, 0.5])
    >>> [float(lip_deltas(np.eye(2), fair, 1.0, form)[0]) for form in ("def5", "ediv", "joint")]
    [0.5, 0.5, 0.25]
    """
    output = dot(masses, matrix)
    worst = np.empty(len(matrix))
    step = max(1, _CACHED // matrix.shape[1])
    for start in range(0, len(matrix), step):
        rows = matrix[start : start + step]
        up = _excess(rows, output, ratio, margin)
        down = _excess(output, rows, ratio, margin)
        if form == "def5":
            up /= ratio
        worst[start : start + step] = np.maximum(up, down)
    return worst * masses if form == "joint" else worst


def _excess(p: Floats, q: Floats, ratio: float, margin: float) -> Floats:
    """Return the sum of positive parts of p - ratio q; a margin counts where it can matter."""
    if not margin:
        return positive_parts(p, q, ratio)
    return positive_parts(p + margin, np.maximum(q - margin, 0.0), ratio)


def ldp_delta(matrix: Floats, ratio: float) -> float:
    """Return the delta of (epsilon, delta)-LDP in floats: every pair of rows is looked at.

    >>> ldp_delta(np.array([[0.75, 0.25], [0.25, 0.75]]), 2.0)
    0.25
    """
    rows = np.arange(len(matrix))
    return _largest_pair(matrix, rows, rows, ratio, 0.0)[0]


def _near_ldp_delta(matrix: Floats, ratio: float) -> float:
    """Find the largest pair of many rows that are in order: among a few, then around the best."""
    count = len(matrix)
    if count <= 2 * _FEW_ROWS:
        rows = np.arange(count)
        return _largest_pair(matrix, rows, rows, ratio, _UNIT)[0]
    few = np.unique(np.linspace(0, count - 1, _FEW_ROWS).round().astype(np.intp))
    worst, first, second = _largest_pair(matrix, few, few, ratio, _UNIT)
    reach = count // _FEW_ROWS + 1
    while reach:
        steps = reach * np.arange(-2, 3)
        near, others = (
            np.unique(np.clip(centre + steps, 0, count - 1)) for centre in (first, second)
        )
        found = _largest_pair(matrix, near, others, ratio, _UNIT)
        if found[0] > worst:
            worst, first, second = found
        reach //= 2
    return worst


def _largest_pair(
    matrix: Floats,
    some: npt.NDArray[np.intp],
    others: npt.NDArray[np.intp],
    ratio: float,
    margin: float,
) -> tuple[float, int, int]:
    worst, first, second = 0.0, int(some[0]), int(others[0])
    against = matrix[others]
    for row in some:
        found = _excess(matrix[row], against, ratio, margin)
        place = int(np.argmax(found))
        if found[place] > worst:
            worst, first, second = float(found[place]), int(row), int(others[place])
    return worst, first, second


def lift_range(matrix: Floats, masses: Floats) -> tuple[float, float]:
    """Return the smallest and the largest lift; outputs that never occur are left out.

    >>> lift_range(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5]))
    (0.5, 1.5)
    """
    output = dot(masses, matrix)
    used = output > 0
    least, most = matrix.min(axis=0)[used], matrix.max(axis=0)[used]
    return float((least / output[used]).min()), float((most / output[used]).max())


def _beyond_lifts(matrix: Floats, masses: Floats, lower: float, upper: float) -> float:
    output = dot(masses, matrix)
    used = output > 0
    output, most = output[used], matrix.max(axis=0)[used]
    unit = _units(most)
    over = under = -_FAR
    if not math.isinf(upper):
        lifts = (most + unit) / np.maximum(output - unit, 1e-300)
        over = _log(float(lifts.max())) - log(upper)
    if lower > 0:
        least = np.maximum(matrix.min(axis=0)[used] - unit, 0.0)
        under = log(lower) - _log(float((least / (output + unit)).min()))
    return max(over, under)


def _log_ratio(matrix: Floats) -> float:
    most = matrix.max(axis=0)
    used = most > 0
    most = most[used]
    unit = _units(most)
    least = matrix.min(axis=0)[used] - unit
    if (least <= 0).any():
        return _FAR
    return float(log((most + unit) / least).max())


def _units(most: Floats) -> Floats:
    """Return what rounding may move in each output; rare ones are joined before it."""
    units: Floats = np.where(most >= RARE, _UNIT, 0.0)
    return units


def _log(number: float) -> float:
    return max(log(number), -_FAR) if number > 0 else -_FAR


def row_needs(notion: Notion) -> Callable[[Floats, Floats], Floats]:
    """Return the measure of how far each row of a matrix is beyond a budget; at most 0: it is not.

    For (epsilon, delta)-LDP each row is compared with a few others.
    """
    allowed = notion.delta_limit()
    if allowed is not None and allowed.delta:
        ratio, delta, form = float(allowed.epsilon.exp()), float(allowed.delta), allowed.form
        if form == "ldp":
            return lambda matrix, masses: _ldp_deltas(matrix, ratio) - delta  # noqa: ARG005
        return lambda matrix, masses: lip_deltas(matrix, masses, ratio, form) - delta
    lower, upper, most = limits(notion.without_delta)
    if most is not None:
        top = log(most)
        return lambda matrix, masses: _ldp_logs(matrix) - top  # noqa: ARG005
    return lambda matrix, masses: _lift_logs(matrix, masses, lower, upper)


def _lift_logs(matrix: Floats, masses: Floats, lower: float, upper: float) -> Floats:
    lifts = matrix / np.maximum(dot(masses, matrix), _TINY)
    beyond = np.full(len(matrix), -np.inf)
    if np.isfinite(upper):
        beyond = np.maximum(beyond, log(lifts.max(axis=1) / upper))
    if lower > 0:
        beyond = np.maximum(beyond, log(lower / np.maximum(lifts.min(axis=1), _TINY)))
    return beyond


def _ldp_logs(matrix: Floats) -> Floats:
    safe = np.maximum(matrix, _TINY)
    above, below = safe.max(axis=0) / safe, safe / safe.min(axis=0)
    logs: Floats = log(np.maximum(above.max(axis=1), below.max(axis=1)))
    return logs


def _ldp_deltas(matrix: Floats, ratio: float) -> Floats:
    some = np.unique(np.linspace(0, len(matrix) - 1, _FEW_ROWS).round().astype(np.intp))
    worst = np.zeros(len(matrix))
    for other in matrix[some]:
        worst = np.maximum(worst, positive_parts(matrix, other, ratio))
        worst = np.maximum(worst, positive_parts(other, matrix, ratio))
    return worst


def smallest_scale(
    make: Callable[[float], Floats],
    masses: Floats,
    notion: Notion,
    *,
    start: float,
    least: float,
    most: float = math.inf,
    coarse: Callable[[float], Floats] | None = None,
    within: float = _INSIDE,
) -> float:
    """Return the smallest scale at which a family keeps a budget, between `least` and `most`.

    The root of the true leakage, to a billionth (or `within`), from the safe side. Families whose
    leakage does not fall all the way are still left at a scale that keeps the budget. With a
    `start` that does not depend on the budget, the scale never rises with it. `coarse` makes the
    same channel with fewer outputs, to come near the root in less time; then that holds up to a
    billionth.

    >>> from liftlock.notions.lip import LIP
    >>> def response(scale):  # randomised response that lies with probability scale / 2
    ...     return (1 - scale) * np.eye(2) + scale / 2
    >>> fair = np.array([0.5, 0.5])
    >>> round(smallest_scale(response, fair, LIP("ln 2"), start=1.0, least=1e-6), 6)
    0.5
    """
    slack = slack_of(notion)

    def beyond(scale: float) -> float:
        return slack(make(scale), masses)

    if coarse is None:
        breaks, keeps = _bracket(beyond, notion, start, least, most, 2.0)
        return _bisect(beyond, breaks, keeps, within) * (1.0 + _INSIDE)
    few = coarse

    def nearly(scale: float) -> float:
        return slack(few(scale), masses)

    near = _regula_falsi(nearly, *_bracket(nearly, notion, start, least, most, 2.0))
    # Fewer outputs can only hide, so the root is where theirs is, or a little above.
    around = _bracket(beyond, notion, near, least, most, _NARROW)
    return _regula_falsi(beyond, *around) * (1.0 + _INSIDE)


Measured = tuple[float, float]
"""A scale, and how far it is beyond the budget."""


def _bracket(
    beyond: Callable[[float], float],
    notion: Notion,
    start: float,
    least: float,
    most: float,
    factor: float,
) -> tuple[Measured, Measured]:
    """Walk from `start` to where the budget begins to be kept, by ever longer steps.

    Returns a scale that breaks the budget and one that keeps it; both are `least` if that does.
    """
    first = min(max(start, least), most)
    here, found = first, beyond(first)
    step = factor
    while found > 0:
        if here >= most:
            raise InputError(
                f"no noise of this family keeps {notion}",
                value=f"scale {here:g}",
                remedy="allow a larger budget, or use the method optimal",
            )
        if here > 1e15 * first:
            raise NotDefined("calibrating", str(notion), "the noise would have to be infinite")
        breaks = here, found
        here = min(here * step, most)
        found = beyond(here)
        if found <= 0:
            return breaks, (here, found)
        step = min(step * step, 2.0)
    while here > least:
        keeps = here, found
        here = max(here / step, least)
        found = beyond(here)
        if found > 0:
            return (here, found), keeps
        step = min(step * step, 2.0)
    return (here, found), (here, found)


def _bisect(
    beyond: Callable[[float], float], breaks: Measured, keeps: Measured, within: float
) -> float:
    """Close in on a sign change between a scale that breaks the budget and one that keeps it.

    By halving alone, whose probes are the same for every budget: what a budget keeps a larger one
    keeps too, so the scale never rises with the budget, whichever way the leakage goes.
    """
    low, high = breaks[0], keeps[0]
    while high - low > within * high:
        probe = 0.5 * (low + high)
        if beyond(probe) > 0:
            low = probe
        else:
            high = probe
    return high


def _regula_falsi(beyond: Callable[[float], float], breaks: Measured, keeps: Measured) -> float:
    """Close in on a sign change in fewer steps, for channels that take long to make."""
    (low, at_low), (high, at_high) = breaks, keeps
    kept = broke = False
    for _ in range(_STEPS):
        if high - low <= _INSIDE * high:
            break
        # Regula falsi in the Illinois manner, in the inverse scale: leakage is straighter there.
        share = at_low / (at_low - at_high) if at_low > at_high else 0.5
        share = min(max(share, 0.02), 0.98)
        probe = low * high / (high + share * (low - high))
        found = beyond(probe)
        if found > 0:
            low, at_low = probe, found
            at_high = at_high * 0.5 if broke else at_high
            kept, broke = False, True
        else:
            high, at_high = probe, found
            at_low = at_low * 0.5 if kept else at_low
            kept, broke = True, False
    return high


def least_cost(
    cost_of: Callable[[float], float], places: Iterable[float], *, refinements: int = 4
) -> float:
    """Return the place of least cost: on a few places, then closer around the best of them.

    >>> least_cost(lambda x: (x - 0.4) ** 2, (0.0, 0.5, 1.0), refinements=2)
    0.375
    """
    costs = {place: cost_of(place) for place in places}
    for _ in range(refinements):
        known = sorted(costs)
        best = min(known, key=costs.__getitem__)
        at = known.index(best)
        for neighbour in known[max(at - 1, 0) : at + 2]:
            middle = 0.5 * (best + neighbour)
            if middle not in costs:
                costs[middle] = cost_of(middle)
    return min(sorted(costs), key=costs.__getitem__)
