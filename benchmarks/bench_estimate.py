"""From reports to answers: counting, merging, and estimating from counts of 1,024 symbols.

Counting is compared with numpy's own `bincount` on the same codes, and estimating with one
solution of the same linear system (numpy.linalg.solve), which no unbiased estimate can do without.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from rich.table import Table as Grid

from benchmarks.timing import best_of
from liftlock.designs.api import design
from liftlock.estimate import Aggregate, estimate
from liftlock.model import Prior
from liftlock.model.channel import Channel
from liftlock.notions.ldp import LDP
from liftlock.notions.lip import LIP

SYMBOLS = 1024
REPORTS = 10_000_000
PARTS = 1000


def run() -> Grid:
    """Measure counting, merging and estimating."""
    generator = np.random.default_rng(6)
    masses = 1.0 / np.arange(1, SYMBOLS + 1)
    prior = Prior.from_counts({k: int(1e6 * mass) for k, mass in enumerate(masses)})
    made = design(prior, LDP("3"), method="k-rr")
    channel = made.table
    codes = generator.choice(SYMBOLS, size=REPORTS, p=prior.floats())
    grid = Grid(title=f"{REPORTS:,} reports of {SYMBOLS:,} symbols", title_justify="left")
    for name in ("what", "seconds", "against", "seconds", "ratio"):
        grid.add_column(name, justify="left" if name in ("what", "against") else "right")
    ours = best_of(lambda: Aggregate.of_codes(channel, codes))
    theirs = best_of(lambda: np.bincount(codes, minlength=SYMBOLS))
    _row(grid, "count", ours, "numpy.bincount", theirs)
    part = Aggregate.of_codes(channel, codes[:1000])
    ours = best_of(lambda: _merged(part))
    _row(grid, f"merge {PARTS} aggregates", ours, "numpy.bincount of all", theirs)

    wide = design(Prior.uniform(range(SYMBOLS)), LIP("2"), method="arc", parts=1).table
    square, unit = channel.floats().T.copy(), np.eye(SYMBOLS)
    peer = best_of(lambda: np.linalg.solve(square, unit))
    for title, chosen, known in (("k-rr", channel, prior), ("arc", wide, None)):
        counts = Aggregate.of_codes(chosen, _drawn(chosen, generator))
        for method in ("auto", "unbiased", "consistent", "likelihood"):
            interval = "none" if method in ("consistent", "likelihood") else "auto"
            task = partial(estimate, chosen, counts, prior=known, method=method, interval=interval)
            ours = best_of(task)
            _row(grid, f"estimate by {method}, {title}", ours, "numpy.linalg.solve", peer)
    return grid


def _drawn(channel: Channel, generator: np.random.Generator) -> Any:
    """Draw a million reports as the uniform or the stored prior would give them."""
    distribution = channel.floats().mean(axis=0)
    return generator.choice(len(distribution), size=1_000_000, p=distribution / distribution.sum())


def _merged(part: Aggregate) -> Aggregate:
    total = part
    for _ in range(PARTS - 1):
        total += part
    return total


def _row(grid: Grid, what: str, ours: float, against: str, theirs: float) -> None:
    grid.add_row(what, f"{ours:.3f}", against, f"{theirs:.3f}", f"{ours / theirs:.2f}")
