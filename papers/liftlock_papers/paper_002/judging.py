"""How claims of the form "this curve lies above that one" are judged: budget by budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from liftlock_papers.figure import Finding, Verdict
from liftlock_papers.points import Floats, Points

ROUNDING = 1e-7
"""Two mechanisms that say the same may differ by what a solver leaves."""
MUCH = 0.05
"""What two values of I(X; Y)/H(X) differ by if one is much larger, and less if they are close."""


def everywhere(_epsilon: float) -> bool:
    """Judge at every budget."""
    return True


def differences(
    points: Points, panel: str, above: str, below: str, where: Callable[[float], bool] = everywhere
) -> tuple[Floats, Floats]:
    """Return where both curves were computed, and how far the first is above the second."""
    other = {row.x: row.y for row in points.of(panel, below)}
    pairs = [
        (row.x, row.y - other[row.x])
        for row in points.of(panel, above)
        if row.x in other and where(row.x)
    ]
    x, gap = np.array(pairs).T
    return x, gap


def never_below(
    claim: str,
    points: Points,
    panel: str,
    above: str,
    belows: tuple[str, ...],
    *,
    where: Callable[[float], bool] = everywhere,
    why: str = "",
) -> Finding:
    """Judge that a curve is nowhere below others: at all budgets, at some, or at none."""
    parts = [differences(points, panel, above, below, where) for below in belows]
    x = np.concatenate([part[0] for part in parts])
    gap = np.concatenate([part[1] for part in parts])
    fails = gap < -ROUNDING
    ours = f"from {gap.min():+.3f} to {gap.max():+.3f}"
    if not fails.any():
        return Finding(claim, Verdict.CONFIRMED, f"difference {ours}")
    places = f"not at ε = {listed(np.unique(x[fails]))}"
    return Finding(claim, Verdict.of(~fails), f"difference {ours}", f"{places}. {why}".strip())


def much_above(
    claim: str,
    points: Points,
    panel: str,
    above: str,
    below: str,
    *,
    where: Callable[[float], bool] = everywhere,
    why: str = "",
) -> Finding:
    """Judge that a curve is far above another: by more than `MUCH`, budget by budget."""
    x, gap = differences(points, panel, above, below, where)
    far = gap > MUCH
    most = int(np.argmax(gap))
    ours = f"difference from {gap.min():+.3f} to {gap.max():+.3f}, the most at ε = {x[most]:g}"
    if far.all():
        return Finding(claim, Verdict.CONFIRMED, ours)
    places = f"only at ε = {listed(x[far])}" if far.any() else "at no ε"
    return Finding(claim, Verdict.of(far), ours, f"More than {MUCH:g} {places}. {why}".strip())


def listed(budgets: Floats) -> str:
    """Write some budgets, neighbours on the quarter grid together.

    >>> listed(np.array([0.25, 0.5, 0.75, 2.0]))
    '0.25 to 0.75, 2'
    """
    runs: list[list[float]] = []
    for value in budgets.tolist():
        if runs and value - runs[-1][-1] <= 0.25 + ROUNDING:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(
        f"{run[0]:g}" if len(run) == 1 else f"{run[0]:g} to {run[-1]:g}" for run in runs
    )
