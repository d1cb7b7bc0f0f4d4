"""Places: how far a report is from the person, on a grid of New York (check-ins of Gowalla).

The prior are all earlier check-ins, in squares of about 4 km; the people are the last check-ins,
which the prior has not seen. A report is read as the best place given it, under the prior.
Distances in squares: expected under the prior, and measured on the last check-ins, as the mean over
the mechanism's randomness.
"""

from __future__ import annotations

import csv
import gzip
import time
from collections import Counter
from pathlib import Path

import numpy as np
from rich.table import Table as Grid

import liftlock as ll
from liftlock.utility.distortion import places_of

FOLDER = Path(__file__).parents[2] / "shared/data/gowalla"
SQUARE = 3
"""So many of the 36 cells each way make a square."""
BUDGETS = ("0.5", "1", "2")


def squares(name: str, row: str, column: str, number: str | None) -> Counter[tuple[int, int]]:
    """Count the check-ins of a file by square: east and north of the south-western corner."""
    found: Counter[tuple[int, int]] = Counter()
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            place = int(line[column]) // SQUARE, int(line[row]) // SQUARE
            found[place] += 1 if number is None else int(line[number])
    return found


def run() -> Grid | str:
    """Return the table."""
    if not FOLDER.is_dir():
        return "places: the data is not there: gowalla"
    past = squares("nyc_past_counts_36x36.csv.gz", "row", "col", "n")
    last = squares("nyc_last_checkin.csv.gz", "row36", "col36", None)
    prior = ll.Prior.from_counts(dict(sorted(past.items())))
    known = np.array([float(last[place]) for place in sorted(past)])
    missed = sum(last.values()) - known.sum()
    places = places_of(prior.alphabet)
    assert places is not None
    away = np.hypot(*(places[:, None, axis] - places[:, axis] for axis in (0, 1)))
    grid = Grid("guarantee", "method", "reports", "expected", "measured", "gap", "seconds")
    grid.title = f"{len(past)} squares, {sum(last.values()):,} people ({missed:.0f} elsewhere)"
    for budget in BUDGETS:
        for notion, method in (
            (ll.LIP(budget), "optimal"),
            (ll.LIP(budget), "safe-response"),
            (ll.LDP(budget), "k-rr"),
        ):
            begun = time.perf_counter()
            made = ll.design(prior, notion, utility="distance", method=method)
            seconds = time.perf_counter() - begun
            assert made.origin is not None
            rows = made.table.floats()
            read = (away.T @ (prior.floats()[:, None] * rows)).argmin(axis=0)
            found = known @ (rows * away[:, read]).sum(axis=1) / known.sum()
            grid.add_row(
                str(notion),
                method,
                str(made.channel.output_number),
                f"{made.origin.objective:.3f}",
                f"{found:.3f}",
                "-" if made.origin.gap is None else f"{made.origin.gap:.1e}",
                f"{seconds:.1f}",
            )
    return grid
