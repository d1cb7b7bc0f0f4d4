"""Paper 000's last figure with guarantees that are true: salaries of a city, error against budget.

Everybody's gross pay is released once. The paper has (epsilon, delta)-LIP mechanisms only; the
optimum on a grid is pure epsilon-LIP, delta = 0. All are certified on the same cells of equal mass,
and the error is that of the people themselves, exactly, not of a sample of reports. A released
number may be taken at face value, as the paper does, or be replaced by the median of what it says,
which no privacy notion can forbid: both are shown, and the optimum is compared with the better.
On coarse grids a delta can buy more; the last table shows where.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Table

from liftlock import continuous
from liftlock.designs.api import design
from liftlock.errors import LiftlockError
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.model.continuous import GridPrior
from liftlock.notions import LIP, ApproximateLIP
from liftlock.report.plots.figure import picture
from liftlock.utility.mean import points_of

SALARIES = Path(__file__).parents[2] / "shared/data/baltimore_salaries/baltimore_fy2019.csv"
DRAWN = Path(__file__).parents[1] / "build" / "salaries.png"
DOMAIN = (0, 300_000)
BINS = 512
EPSILONS = ("1", "2", "3", "4")
DELTAS = ("0.0001", "0.001", "0.01")
LOOSEST = "0.01"
METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "sampling": ("sampling", {}),
    "sampling, Prop. 2": ("sampling", {"rate": "continuous"}),
    "Gaussian": ("gaussian", {}),
    "Gaussian by instance": ("gaussian-by-instance", {}),
    "Gaussian, LDP": ("gaussian", {"scale": "analytic"}),
    "Laplace": ("bounded-laplace", {}),
    "Laplace by instance": ("laplace-by-instance", {}),
}
"""What the paper has, each with the least noise that its true leakage allows."""
_COLOURS = ("#b3500a", "#9a7d0a", "#3d7a35", "#8a2f6b", "#5b5b5b", "#0f7f86", "#6a3fa0")


@dataclass(frozen=True)
class Row:
    """One mechanism, and how far it is off."""

    method: str
    notion: str
    epsilon: str
    delta: str
    face: float
    best: float
    seconds: float
    """Of the design, certificate included."""


def salaries() -> tuple[Floats, str]:
    """Return the salaries, or made ones where the data is not there."""
    if not SALARIES.exists():
        generator = np.random.default_rng(2019)
        low = generator.normal(20_000, 12_000, 4000)
        high = generator.normal(75_000, 28_000, 9158)
        return np.clip(np.concatenate([low, high]), 0, 299_000).round(2), "13158 made salaries"
    with SALARIES.open(newline="", encoding="utf-8") as file:
        found = [float(row["GROSS"]) for row in csv.DictReader(file) if row["GROSS"]]
    return np.array(found), f"{len(found)} salaries, gross pay of 2019"


def errors(made: Mechanism, people: Floats, prior: GridPrior) -> tuple[float, float]:
    """Return the mean absolute error of the people: at face value, and with the best reading."""
    bins = prior.grid.encode(people)
    rows = made.table.floats()
    found = []
    for numbers in (points_of(made.table.outputs, "error"), made.readings("median")):
        total = 0.0
        for bin_index in range(len(prior.grid)):
            apart = np.abs(people[bins == bin_index, None] - numbers)
            total += float((apart @ rows[bin_index]).sum())
        found.append(total / len(people))
    return found[0], min(found)


def measured(
    people: Floats, prior: GridPrior, epsilon: str, delta: str | None, form: str
) -> list[Row]:
    """Make all mechanisms of one budget."""
    rows = []
    if delta is None:
        for utility in ("absolute", "mean"):
            start = time.perf_counter()
            made = design(prior, LIP(epsilon), utility=utility, seconds=20.0)
            took = time.perf_counter() - start
            rows.append(
                Row(f"optimum ({utility})", "lip", epsilon, "0", *errors(made, people, prior), took)
            )
        return rows
    for name, (key, options) in METHODS.items():
        notion = ApproximateLIP(epsilon, delta, form)
        start = time.perf_counter()
        try:
            made = design(prior, notion, method=key, **options)
        except LiftlockError:
            rows.append(Row(name, notion.name, epsilon, delta, np.nan, np.nan, np.nan))
            continue
        took = time.perf_counter() - start
        rows.append(Row(name, notion.name, epsilon, delta, *errors(made, people, prior), took))
    return rows


def run() -> Group:
    """Return the tables, and draw the figure."""
    people, what = salaries()
    prior = continuous.from_data(people, domain=DOMAIN).discretise(BINS)
    nothing = float(np.abs(people - np.median(people)).mean())
    jobs: list[tuple[str, str | None, str]] = [(epsilon, None, "") for epsilon in EPSILONS]
    jobs += [(epsilon, delta, "ediv") for delta in DELTAS for epsilon in EPSILONS]
    jobs += [(epsilon, LOOSEST, "def5") for epsilon in EPSILONS]
    rows: list[Row] = []
    console = Console(stderr=True)
    with console.status("designing") as status:
        for place, (epsilon, delta, form) in enumerate(jobs):
            shown = "pure" if delta is None else f"delta {delta} {form}"
            status.update(f"{place} of {len(jobs)} budgets done: epsilon {epsilon}, {shown}")
            rows += measured(people, prior, epsilon, delta, form)
    draw(rows, nothing, what)
    tables = [table(rows, "lip_ediv", delta, what, nothing) for delta in DELTAS]
    tables.append(table(rows, "lip_def5", LOOSEST, what, nothing))
    tables.append(coarse(people, what))
    return Group(*tables, verdict(rows), f"drawn to {DRAWN.parent.name}/{DRAWN.name}")


def table(rows: Sequence[Row], notion: str, delta: str, what: str, nothing: float) -> Table:
    """Return one table: methods down, budgets across, face value / best reading."""
    shown = Table(
        title=f"mean absolute error, {what}, {BINS} bins; {notion}, delta {delta}; "
        f"no release {nothing:.0f}\nface value / best reading of the same report"
    )
    shown.add_column("method")
    for epsilon in EPSILONS:
        shown.add_column(f"epsilon {epsilon}", justify="right")
    shown.add_column("seconds", justify="right")
    ours = [row for row in rows if row.notion == "lip"]
    theirs = [row for row in rows if row.notion == notion and row.delta == delta]
    for name in dict.fromkeys(row.method for row in [*ours, *theirs]):
        mine = {row.epsilon: row for row in [*ours, *theirs] if row.method == name}
        pure = ", delta 0" if next(iter(mine.values())).notion == "lip" else ""
        shown.add_row(
            name + pure,
            *(f"{mine[e].face:.0f} / {mine[e].best:.0f}" for e in EPSILONS),
            f"{max(row.seconds for row in mine.values()):.1f}",
        )
    return shown


def coarse(people: Floats, what: str) -> Table:
    """Return where the pure optimum loses: few cells, a large epsilon, and the form of 000 Def 5.

    There e^epsilon delta is more than a half, so that a value may be told as it is more often than
    not, and telling it costs nothing but what the cell hides.
    """
    epsilon = EPSILONS[-1]
    shown = Table(title=f"coarse grids, {what}; epsilon {epsilon}; sampling with delta {LOOSEST}")
    for name in ("cells", "optimum, delta 0", "sampling, ediv", "sampling, def5"):
        shown.add_column(name, justify="right")
    for bins in (32, 64, 128, 256):
        prior = continuous.from_data(people, domain=DOMAIN).discretise(bins)
        pure = errors(design(prior, LIP(epsilon), utility="absolute"), people, prior)[1]
        found = []
        for form in ("ediv", "def5"):
            notion = ApproximateLIP(epsilon, LOOSEST, form)
            best = errors(design(prior, notion, method="sampling"), people, prior)[1]
            found.append(f"{best:.0f}{' *' if best < pure else ''}")
        shown.add_row(str(bins), f"{pure:.0f}", *found)
    shown.caption = "* better than the pure optimum"
    return shown


def verdict(rows: Sequence[Row]) -> str:
    """Say whether the pure optimum is at least as good as everything else, and where it is not."""
    ours = {row.epsilon: row.best for row in rows if row.method == "optimum (absolute)"}
    worse = [
        f"{row.method}, {row.notion}, epsilon {row.epsilon}, delta {row.delta}: {row.best:.0f}"
        for row in rows
        if row.notion != "lip" and row.best < ours[row.epsilon]
    ]
    if not worse:
        return "the pure optimum is nowhere worse, even with the best reading of the others"
    return "the pure optimum is worse than " + "; ".join(worse)


def draw(rows: Sequence[Row], nothing: float, what: str) -> None:
    """Draw the error against the budget, one panel for each delta."""
    DRAWN.parent.mkdir(exist_ok=True)
    budgets = [float(epsilon) for epsilon in EPSILONS]
    with picture(DRAWN, 11.0, 4.6) as figure:
        panels = figure.subplots(1, len(DELTAS), sharey=True)
        for panel, delta in zip(panels, DELTAS, strict=True):
            for colour, name in zip(_COLOURS, METHODS, strict=True):
                found = [
                    row.face
                    for row in rows
                    if (row.method, row.notion, row.delta) == (name, "lip_ediv", delta)
                ]
                dashed = "--" if "instance" in name else "-"  # it may lie on the other one
                panel.plot(
                    budgets, found, dashed, color=colour, marker="o", markersize=3.5, label=name
                )
            pure = [row.face for row in rows if row.method == "optimum (absolute)"]
            panel.plot(
                budgets, pure, color="#1b4f8a", linewidth=2.4, marker="o", label="optimum, delta 0"
            )
            panel.axhline(nothing, color="#777777", linestyle=":", linewidth=1.1)
            panel.text(
                4.0, nothing, "no release ", color="#555555", fontsize=8, va="bottom", ha="right"
            )
            panel.set_yscale("log")
            panel.set_title(f"delta = {float(delta):g}", fontsize=10)
            panel.set_xlabel("epsilon (nats)")
            panel.set_xticks(budgets)
            panel.grid(visible=True, color="#e3e3e3", linewidth=0.7)
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
        panels[0].set_ylabel("mean absolute error at face value (dollars)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False
        )
        figure.suptitle(
            f"{what}: certified (epsilon, delta)-LIP against pure epsilon-LIP", fontsize=11
        )
