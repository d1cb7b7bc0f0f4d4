"""Points of the trade-offs of paper 002: information, both leakages, and broken budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from liftlock_papers.paper_002.joints import World, epsilons, joints_of, note_rows
from liftlock_papers.paper_002.sweeps import Plan, Sweep, seconds_of, sweep
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

UTILITY, LOWER, UPPER = "utility", "min-lift", "max-lift"
BROKEN, GAIN, TIME = "broken", "gain", "time"
NOTHING = 1e-9
"""A mechanism says nothing if I(X; Y) / H(X) is below this."""
SELDOM = 0.01
"""A mean curve is marked where more joints than this break their budget."""

Plans = tuple[tuple[str, Plan], ...]


def compute(
    setting: Setting,
    world: World,
    plans: Plans,
    *,
    panels: tuple[str, ...] = (UTILITY, LOWER, UPPER),
    six: Plans = (),
    gains: Plans = (),
    timed: Plans = (),
    limit: str = "",
) -> Iterator[Point]:
    """Yield the points of every curve.

    `six` are curves of utility on Adult with all its relationships; `gains` are plans whose
    information is compared with complete merging; `timed` ones show how long a design takes;
    `limit` names a curve that shows what ALIP allows when it divides the budget evenly.
    """
    note_rows(setting, world)
    for name, plan in plans:
        yield from _in(panels, points_of(name, plan, sweep(setting, world, plan)))
    for name, plan in six:
        for point in _in((UTILITY,), points_of(name, plan, sweep(setting, "adult-six", plan))):
            yield Point(point.panel, name, point.x, point.y)
    for name, plan in gains:
        yield from gain_over_complete_merging(setting, world, name, plan)
    if timed:
        yield from times(setting, world, timed)
    if limit:
        for panel in (LOWER, UPPER):
            for text in epsilons(setting, world):
                yield Point(panel, limit, float(text), float(text) / 2)


def _in(panels: tuple[str, ...], points: Iterable[Point]) -> Iterator[Point]:
    return (point for point in points if point.panel in panels)


def gain_over_complete_merging(
    setting: Setting, world: World, name: str, plan: Plan
) -> Iterator[Point]:
    """Yield the mean information as a multiple of that of complete merging, on the same joints."""
    ours = sweep(setting, world, plan)
    theirs = sweep(setting, world, replace(plan, mechanism="watchdog as published"))
    count = ours.information.shape[1]
    for place, text in enumerate(ours.epsilons):
        complete = float(np.mean(theirs.information[place, :count]))
        # Where complete merging says nothing, a multiple of it would be one of rounding errors.
        if complete > NOTHING:
            many = float(np.mean(ours.information[place])) / complete
            yield Point(GAIN, name, float(text), many)


def points_of(name: str, plan: Plan, found: Sweep) -> Iterator[Point]:
    """Yield one curve in all panels: means over the joints, with their 95 % intervals.

    A point of the utility panel carries the mean of the true epsilon over the joints that break
    their budget, if they are more than `SELDOM`; one of a leakage panel carries its own mean.
    """
    private = plan.promise.kind in ("alip", "ldp")
    for place, text in enumerate(found.epsilons):
        epsilon = float(text)
        bad = found.broken[place] > 0
        needed = found.needed[place]
        leakage = float(np.mean(needed[bad] if bad.mean() > SELDOM else needed))
        y, error = _mean(found.information[place])
        budget = epsilon if private else None
        yield Point(UTILITY, name, epsilon, y, error, leakage if private else None, budget)
        lower, upper = (float(side) for side in plan.promise.sides(text))
        for panel, values, side in (
            (LOWER, found.lower[place], lower),
            (UPPER, found.upper[place], upper),
        ):
            y, error = _mean(values)
            limit = side if plan.promise.kind == "alip" else None
            yield Point(panel, name, epsilon, y, error, None if limit is None else y, limit)
        yield Point(BROKEN, name, epsilon, float(bad.mean()))


def _mean(values: Floats) -> tuple[float, float | None]:
    if len(values) < 2 or not np.isfinite(values).all():
        return float(np.mean(values)), None
    return float(np.mean(values)), float(1.96 * np.std(values, ddof=1) / np.sqrt(len(values)))


def times(setting: Setting, world: World, timed: Plans) -> Iterator[Point]:
    """Yield the mean processor time of one design, the mechanisms in turn on the same joints."""
    joints = joints_of(setting, world, setting.choose(full=10, quick=1))
    budgets = epsilons(setting, world)
    spent = np.zeros((len(budgets), len(joints), len(timed)))
    for place, epsilon in enumerate(setting.each(budgets, "processing time")):
        for column, joint in enumerate(joints):
            spent[place, column] = [seconds_of(plan, joint, epsilon) for _, plan in timed]
    for index, (name, _) in enumerate(timed):
        for place, epsilon in enumerate(budgets):
            y, error = _mean(spent[place, :, index])
            yield Point(TIME, name, float(epsilon), y, error)
