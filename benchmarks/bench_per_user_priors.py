"""A prior for each user, from the values to the estimate, against a release with one common table.

Each user has a row of masses of their own. Release and posterior means are timed together with the
sums that an estimate needs; the common table is k-ary response of the same number of symbols,
released by its alias table. All are timed in turn, and the best of several rounds counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table as Grid

from benchmarks.bench_release import randomised_response
from liftlock.mechanism import Mechanism, lock_users
from liftlock.model import PerUserPriors
from liftlock.model.per_user import read_limits
from liftlock.model.structured import USER_CHANNELS, ArcChannel
from liftlock.notions import LIP
from liftlock.sampling import release_codes, simulate_users, user_posteriors

USERS = 1_000_000
SYMBOLS = 21
ROUNDS = 3
ARC = ArcChannel.of(range(SYMBOLS), [read_limits("1")])
LIMIT = 40
"""Release and sums may take so many times the release with one common table."""


def plain_numpy(masses: npt.NDArray[np.float64], reports: npt.NDArray[np.uint32]) -> object:
    """Add up posteriors and their squares with a matrix of all of them in memory."""
    channel, priors = ARC, PerUserPriors.of(range(SYMBOLS), masses)
    posteriors = user_posteriors(channel, priors, reports)
    return posteriors.sum(axis=0), (posteriors**2).sum(axis=0)


def release_and_sum(
    mechanism: Mechanism, people: npt.NDArray[np.int64], priors: PerUserPriors
) -> object:
    """Release one report for each user, and add up what the reports say."""
    reports = mechanism.release(people, priors, coded=True)
    return mechanism.aggregate(reports, priors, coded=True)


def run() -> Grid:
    """Measure, and return the table."""
    rng = np.random.default_rng(1)
    masses = rng.dirichlet(np.ones(SYMBOLS), USERS)
    drawn = (rng.random(USERS)[:, None] > masses.cumsum(axis=1)).sum(axis=1)
    people = np.minimum(drawn, SYMBOLS - 1)
    labels = range(SYMBOLS)
    tables: dict[str, npt.NDArray[Any]] = {"float64": masses, "float32": masses.astype(np.float32)}
    reports = simulate_users(ARC, PerUserPriors.of(labels, masses), people, seed=1)
    common = "release, one common table"
    tasks: dict[str, Callable[[], object]] = {
        common: partial(release_codes, randomised_response(SYMBOLS), people)
    }
    for method in USER_CHANNELS:
        mechanism = lock_users(labels, LIP("1"), method)
        for kind, table in tables.items():
            priors = PerUserPriors.of(labels, table)
            release_and_sum(mechanism, people[:10], PerUserPriors.of(labels, table[:10]))
            tasks[f"{method}, release, {kind}"] = partial(
                mechanism.release, people, priors, coded=True
            )
            tasks[f"{method}, release and sums, {kind}"] = partial(
                release_and_sum, mechanism, people, priors
            )
    tasks["arc, sums by a matrix of posteriors"] = partial(plain_numpy, masses, reports)
    best = dict.fromkeys(tasks, math.inf)
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    grid = Grid(
        title=f"{USERS:,} users, {SYMBOLS} symbols, a prior each; one core, best of {ROUNDS} rounds"
    )
    for column in ("work", "ns/user", "x common table (limit)"):
        grid.add_column(column, justify="left" if column == "work" else "right")
    for name, elapsed in best.items():
        ratio = elapsed / best[common]
        shown = f"{ratio:.1f}"
        if "and sums" in name:
            shown += f" ({LIMIT}) " + ("OK" if ratio <= LIMIT else "[red]over[/red]")
        grid.add_row(name, f"{elapsed / USERS * 1e9:.0f}", shown)
    return grid
