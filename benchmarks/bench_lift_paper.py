"""Paper 002's figures beside ours: how much a mechanism says, and how often it breaks its budget.

The measure is I(X; Y) / H(X). Random joints are normalised uniform numbers, 17 x 5, averaged; the
Adult data is relationship against occupation, in the paper's five secrets (which are those without
the rarest, Other-relative) and in all six. A budget epsilon is split into lambda epsilon below and
(1 - lambda) epsilon above. The last table is 200 x 15, which the paper gives to its heuristics.

The joints, the mechanisms and the audits are those of `liftlock papers run`; here are the times.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from rich.console import Group
from rich.table import Table as Grid

from liftlock import Joint
from liftlock_papers.data import DataFolder
from liftlock_papers.figure import Stated
from liftlock_papers.paper_002 import expected
from liftlock_papers.paper_002.joints import joints_of
from liftlock_papers.paper_002.promises import Promise
from liftlock_papers.paper_002.sweeps import Mechanism, Plan, audited, make
from liftlock_papers.setting import Setting

MANY = 1000
"""Draws for mechanisms without a solver, as in the paper."""
FEW = 100
"""Draws for those with one, as in the paper."""

MECHANISMS: dict[Mechanism, int] = {
    "watchdog as published": MANY,
    "watchdog": MANY,
    "merging as printed": MANY,
    "merging": MANY,
    "subset response": FEW,
    "vertices": FEW,
}
"""The last is the optimal response by listing every vertex, as the paper does."""
_STATED: tuple[tuple[str, Mechanism, tuple[Stated, ...]], ...] = (
    ("random", "watchdog as published", expected.WATCHDOG_RANDOM),
    ("random", "merging", expected.SUBSETS_RANDOM),
    ("random", "vertices", expected.OPTIMUM_RANDOM),
    ("Adult, 5", "watchdog as published", expected.WATCHDOG_ADULT),
    ("Adult, 5", "merging", expected.SUBSETS_ADULT),
    ("Adult, 5", "vertices", expected.OPTIMUM_ADULT),
)
PRINTED = {
    (world, mechanism, f"{each.x:g}"): each.number
    for world, mechanism, numbers in _STATED
    for each in numbers
}
"""What the paper says in its text, at lambda = 0.5."""


def measure(plan: Plan, joints: Iterable[Joint], epsilon: str) -> tuple[float, float, float]:
    """Return the mean information, the share of broken budgets, and the seconds for one design."""
    said, broken, spent = [], [], 0.0
    for joint in joints:
        start = time.perf_counter()
        draft = make(plan, joint, epsilon)
        spent += time.perf_counter() - start
        outcome, bad = audited(plan, draft, joint, epsilon)
        said.append(outcome.information)
        broken.append(bad)
    return float(np.mean(said)), float(np.mean(broken)), spent / len(said)


def worlds(setting: Setting) -> dict[str, tuple[Joint, ...]]:
    """Return the random joints and, where the data are there, Adult."""
    found = {"random": joints_of(setting, "random", MANY)}
    if DataFolder().has("adult"):
        found["Adult, 5"] = joints_of(setting, "adult", 1)
        found["Adult, 6"] = joints_of(setting, "adult-six", 1)
    return found


def figures(setting: Setting) -> Grid:
    """Compare with the figures in the paper's text, lambda = 0.5."""
    grid = Grid(title="I(X; Y) / H(X) at lambda = 0.5: paper 002, and measured")
    for column in ("data", "mechanism", "epsilon", "paper", "measured", "breaks its budget", "ms"):
        grid.add_column(column, justify="left" if column in ("data", "mechanism") else "right")
    for world, joints in worlds(setting).items():
        for mechanism, draws in MECHANISMS.items():
            for epsilon in ("1", "2"):
                plan = Plan(mechanism, Promise("alip", "0.5"))
                said, broken, seconds = measure(plan, joints[:draws], epsilon)
                printed = PRINTED.get((world, mechanism, epsilon))
                grid.add_row(
                    world,
                    mechanism,
                    epsilon,
                    "" if printed is None else f"{printed:.2f}",
                    f"{said:.3f}",
                    f"{broken:.0%}",
                    f"{seconds * 1e3:.1f}",
                )
    return grid


def violations(setting: Setting) -> Grid:
    """Count how often a crowd that is never tested breaks the budget it was made for."""
    grid = Grid(title="random joints at lambda = 0.65: budgets broken, and information")
    for column in ("epsilon", "watchdog as published", "", "watchdog", ""):
        grid.add_column(column, justify="right")
    promise = Promise("alip", "0.65")
    plans = (Plan("watchdog as published", promise), Plan("watchdog", promise))
    for epsilon in ("2", "3", "4", "5", "6"):
        cells = [measure(plan, joints_of(setting, "random", 300), epsilon) for plan in plans]
        shown = [text for said, broken, _ in cells for text in (f"{broken:.0%}", f"{said:.3f}")]
        grid.add_row(epsilon, *shown)
    return grid


def large(setting: Setting) -> Grid:
    """Compare the heuristics where the paper needs them."""
    grid = Grid(title="200 x 15: I(X; Y) / H(X), lambda = 0.5")
    for column in ("mechanism", "epsilon", "measured", "breaks its budget", "seconds"):
        grid.add_column(column, justify="right")
    names: tuple[Mechanism, ...] = ("merging", "subset response")
    for mechanism in names:
        for epsilon in ("1", "2"):
            plan = Plan(mechanism, Promise("alip", "0.5"))
            said, broken, seconds = measure(plan, joints_of(setting, "large", 1), epsilon)
            grid.add_row(mechanism, epsilon, f"{said:.4f}", f"{broken:.0%}", f"{seconds:.3f}")
    return grid


def run() -> Group:
    """Measure everything."""
    setting = Setting()
    return Group(figures(setting), violations(setting), large(setting))
