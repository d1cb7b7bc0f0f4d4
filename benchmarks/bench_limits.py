"""Every limit of the solver at half its value, as it is, and at twice its value.

A limit is right where neither neighbour is clearly better on the task that depends on it most. Each
cell shows the seconds that the task took, and the gap that was proved; a search ends after ten
seconds' worth of work. Where all three are alike the limit is one of memory, or a last resort.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from rich.table import Table as Grid

from liftlock import Joint, Prior, ProfileGraph
from liftlock._runtime.clock import Clock
from liftlock._solver.limits import LIMITS, Limits
from liftlock._solver.problem import Problem, ProfileTask, Task
from liftlock._solver.strategies import solve
from liftlock.errors import LiftlockError
from liftlock.model import Ball, Intervals
from liftlock.notions import LDP, LIP, Notion, ProfilePrivacy
from liftlock.utility import ProfileUtility, make_utility

SECONDS = 10.0


def skewed(size: int) -> Prior:
    """Return a prior with a long tail, on the numbers from 1 on."""
    return Prior.from_counts({k: 10**6 // k for k in range(1, size + 1)})


def even(size: int) -> Prior:
    """Return a prior of random counts."""
    source = random.Random(size)
    return Prior.from_counts({k: source.randint(1, 1 << 40) for k in range(size)})


def joint(secrets: int, size: int) -> Joint:
    """Return a joint in which each secret favours its own inputs."""
    source = random.Random(size)
    return Joint.from_counts(
        {
            f"s{s}": {x: source.randint(1, 50) + 400 * (x % secrets == s) for x in range(size)}
            for s in range(secrets)
        }
    )


def graph(profiles: int, values: int) -> ProfileGraph:
    """Return random profiles in a chain."""
    source = random.Random(profiles)
    distributions = {p: {x: source.randint(1, 99) for x in range(values)} for p in range(profiles)}
    return ProfileGraph.chain(distributions)


def task(context: Any, notion: Notion, utility: str, how: str = "auto") -> Callable[[], Task]:
    """Return how to make a task afresh."""
    goal = make_utility(utility, context.inputs)
    return lambda: Task(Problem.of(context, notion), goal, Clock(seconds=SECONDS), how)


def profiles(of: ProfileGraph, aim: str, *, shared: bool) -> Callable[[], Task]:
    """Return how to make a task of profiles afresh."""
    goal = ProfileUtility.of(of, aim)
    notion = ProfilePrivacy("0.5")
    return lambda: ProfileTask.of(of, notion, goal, shared=shared, clock=Clock(seconds=SECONDS))


TASKS: dict[str, Callable[[], Task]] = {
    "listed_symbols": task(skewed(8), LIP("1"), "mutual-information"),
    "listed_cells": task(joint(8, 16), LIP("1"), "histogram"),
    "listed_vertices": task(joint(5, 20), LIP("1"), "histogram"),
    "set_symbols": task(
        Intervals.from_counts({k: 4_000 // k for k in range(1, 7)}, confidence="0.99"),
        LIP("1"),
        "frequencies",
    ),
    "frequency_symbols": task(skewed(40), LIP("1"), "frequencies"),
    "mixed_columns": task(skewed(20), LIP("1"), "frequencies"),
    "numbers_absolute": task(skewed(60), LIP("1"), "absolute"),
    "drawn_symbols": task(even(260), LIP("1"), "histogram"),
    "drawn_fewest": task(even(64), LIP("1"), "histogram", "random-decomposition"),
    "grouped_numbers": task(skewed(30), LDP("1"), "mean"),
    "few_symbols": task(skewed(30), LDP("1"), "mean"),
    "regions": task(joint(4, 40), LIP("1"), "mutual-information"),
    "assigned_cells": task(even(600), LIP("1"), "histogram"),
    "new_columns": task(joint(12, 60), LIP("1"), "histogram"),
    "polished_columns": task(even(100), LIP("1"), "histogram"),
    "asked_vertices": task(joint(4, 24), LIP("1"), "histogram", "enumeration"),
    "rarest_piece": task(
        Joint.from_counts({"s": {x: x + 1 for x in range(40)}, "t": dict.fromkeys(range(40), 1)}),
        LIP("0.5"),
        "histogram",
    ),
    "profile_numbers": profiles(graph(60, 8), "mutual-information", shared=True),
    "simplex_flows": profiles(graph(60, 20), "squared", shared=False),
    "moved_together": profiles(graph(400, 24), "minimax", shared=False),
    "block": task(skewed(600), LIP("1"), "mean"),
    "steps": task(joint(4, 40), LIP("1"), "histogram"),
    "nodes": task(skewed(24), LIP("1.5"), "mutual-information"),
    "starts": task(skewed(24), LIP("1.5"), "mutual-information"),
    "climbs": task(Ball.of(skewed(6), "1/50"), LIP("1"), "histogram"),
    "places": task(skewed(500), LIP("1"), "mean"),
    "many_numbers": task(skewed(1500), LIP("1"), "mean"),
    "columns": task(skewed(24), LDP("1"), "histogram"),
}
"""The task that depends most on each limit."""


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Let every module of the solver see other limits."""
    seen = [
        module
        for name, module in sys.modules.items()
        if name.startswith("liftlock._solver.") and getattr(module, "LIMITS", None) is LIMITS
    ]
    for module in seen:
        module.LIMITS = limits  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for module in seen:
            module.LIMITS = LIMITS  # type: ignore[attr-defined]


def scaled(value: Any, factor: float) -> Any:
    """Return a limit of the same type, so many times as large."""
    if isinstance(value, tuple):
        return tuple(scaled(each, factor) for each in value)
    return type(value)(value * factor)


def measured(make: Callable[[], Task], limits: Limits) -> str:
    """Return seconds and gap."""
    with limited(limits):
        begun = time.process_time()
        try:
            found = solve(make())
        except LiftlockError as refusal:
            return type(refusal).__name__
        return f"{time.process_time() - begun:.2f} s, {found.gap:.0e}"


def run() -> Grid:
    """Solve each task three times."""
    grid = Grid(title="limits of the solver: CPU seconds and proved gap")
    for name in ("limit", "is", "half", "as it is", "twice"):
        grid.add_column(name, justify="right")
    solve(task(skewed(20), LIP("1"), "histogram")())  # compiling is not what is measured
    for field in fields(Limits):
        value, make = getattr(LIMITS, field.name), TASKS[field.name]
        changed = [replace(LIMITS, **{field.name: scaled(value, by)}) for by in (0.5, 1.0, 2.0)]
        shown = [measured(make, limits) for limits in changed]
        size = value if isinstance(value, tuple) else f"{value:,.3g}" if value < 1 else f"{value:,}"
        grid.add_row(field.name, str(size), *shown)
    return grid
