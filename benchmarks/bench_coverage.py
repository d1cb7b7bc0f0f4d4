"""How often intervals of 95 % hold the truth, against the error of the prior.

Counts are exact sums over all that can be reported; other sums are simulated, 20,000 collections in
each setting. Columns are drifts: how many standard errors of the unbiased estimate the truth is off
the prior, towards more. Bayes estimates hold if the prior is true, and not otherwise: they are here
for comparison. The settings are a plain grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

import numpy as np
from rich.console import Group
from rich.table import Table as Grid

from liftlock.estimate.intervals import Kind
from liftlock.estimate.intervals.base import Tails
from liftlock.estimate.question import ABOUT, About
from tests.statistical.coverage import DRIFTS, LAWS, Setting, exact_coverage

RUNS = 20_000
SHARE = 0.08
"""What the prior says of the value that is counted."""


def grid_of(title: str) -> Grid:
    """Return a table with a column for each drift."""
    grid = Grid(title=title, title_justify="left")
    for name in ("about", "asked", "of", "people"):
        grid.add_column(name, justify="right" if name == "people" else "left")
    for drift in DRIFTS:
        grid.add_column(f"{drift:g}", justify="right")
    return grid


def shown(numbers: Iterable[float]) -> list[str]:
    """Write shares in per cent; a star is below 95 % by more than chance."""
    slack = 4 * math.sqrt(0.95 * 0.05 / RUNS)
    return [f"{100 * number:.1f}" + " *" * (number < 0.95 - slack) for number in numbers]


def count_rows(grid: Grid, assisted: bool) -> None:
    """Add the exact coverage of counts."""
    for about, (name, (b, a)), people in product(ABOUT, LAWS.items(), (200, 2_000, 20_000)):
        error = math.sqrt(people * a * (1 - a)) / (b - a)
        tails = Tails(0.05, np.array(SHARE * people) if assisted else None)
        held = [
            exact_coverage(
                (b, a), people, min(round(SHARE * people + drift * error), people), tails, about
            )
            for drift in DRIFTS
        ]
        grid.add_row(about, "count", name, f"{people:,}", *shown(held))


def simulated_rows(grid: Grid, kind: Kind, method: str, abouts: tuple[About, ...] = ABOUT) -> None:
    """Add the simulated coverage of histograms, means and weighted sums: of the worst answer."""
    for about, (prior, channel, epsilon), (of, weighted), people in product(
        abouts,
        (
            ("skewed", "optimal", 2.0),
            ("three", "optimal", 1.0),
            ("zipf", "rr", 1.0),
            ("zipf", "optimal", 1.0),
            ("bell", "near", 1.0),
            ("fifty", "optimal", 2.0),
        ),
        (("histogram", False), ("mean", False), ("sum", True)),
        (200, 2_000),
    ):
        held = []
        for drift in DRIFTS:
            setting = Setting(prior, channel, epsilon, people, of, about, method, weighted, drift)
            runs = RUNS if len(setting.masses) < 50 else RUNS // 10
            held.append(float(setting.coverage(kind, runs).min()))
        asked = f"{of}, weighted" if weighted else of
        grid.add_row(about, asked, f"{prior}, {channel}", f"{people:,}", *shown(held))


def run() -> Group:
    """Measure all settings; a few minutes."""
    plain, assisted = grid_of("exact intervals of counts"), grid_of("assisted, the same counts")
    count_rows(plain, assisted=False)
    count_rows(assisted, assisted=True)
    normal = grid_of("normal intervals, the answer that is held least often")
    simulated_rows(normal, "normal", "unbiased")
    bayes = grid_of("Bayes estimates, which hold if the prior is true: for comparison")
    simulated_rows(bayes, "normal", "bayes", ("people",))
    return Group(plain, assisted, normal, bayes)
