"""One prior per user, against one common table: what a prior of one's own costs.

The arc mechanism is released for as many users as priors, without building any table; the common
table is k-ary randomised response of the same number of symbols, released by its alias table. Both
are timed in turn, and the best of several rounds counts. The bytes of priors that must be read are
shown, since they are the physical limit of the first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from rich.table import Table as Grid

from benchmarks.bench_release import randomised_response
from liftlock.model import PerUserPriors
from liftlock.model.per_user import read_limits
from liftlock.model.structured import ArcChannel
from liftlock.sampling import release_codes, release_users, simulate_users, user_posteriors

USERS = 1_000_000
SYMBOLS = 21
ROUNDS = 5


def run() -> Grid:
    """Measure, and return the table."""
    rng = np.random.default_rng(1)
    priors = rng.dirichlet(np.ones(SYMBOLS), USERS)
    people = (rng.random(USERS)[:, None] > priors.cumsum(axis=1)).sum(axis=1)
    people = np.minimum(people, SYMBOLS - 1)
    common = randomised_response(SYMBOLS)
    users = PerUserPriors.of(range(SYMBOLS), priors)
    arc = ArcChannel.of(range(SYMBOLS), [read_limits("1")])
    reports = simulate_users(arc, users, people, seed=1)
    user_posteriors(arc, PerUserPriors.of(range(SYMBOLS), priors[:10]), reports[:10])
    tasks: dict[str, Callable[[], object]] = {
        "read the priors (sum)": priors.sum,
        "release, one common table": partial(release_codes, common, people),
        "release, a prior per user": partial(release_users, arc, users, people),
        "posterior of each user": partial(user_posteriors, arc, users, reports),
    }
    best = dict.fromkeys(tasks, math.inf)
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    grid = Grid(
        title=f"{USERS:,} users, {SYMBOLS} symbols, a prior each ({priors.nbytes >> 20} MiB); "
        f"one core, best of {ROUNDS} rounds"
    )
    for column in ("work", "seconds", "ns/user", "x common table", "x reading the priors"):
        grid.add_column(column, justify="left" if column == "work" else "right")
    for name, elapsed in best.items():
        grid.add_row(
            name,
            f"{elapsed:.3f}",
            f"{elapsed / USERS * 1e9:.0f}",
            f"{elapsed / best['release, one common table']:.1f}",
            f"{elapsed / best['read the priors (sum)']:.1f}",
        )
    return grid
