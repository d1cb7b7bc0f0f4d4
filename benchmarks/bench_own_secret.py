"""The optimum when the secret is X itself: 100 and 1000 symbols, with the gap that is proved.

Priors are normalised uniforms, the notion is epsilon-LIP at epsilon 1 and 2. The baseline is the
same linear programme over posteriors left to HiGHS alone: random vertices, four for each symbol,
solved once (not for 1000 symbols, where it takes minutes). It proves nothing, and its answer is
worse; what is compared is the time.
"""

from __future__ import annotations

import time

import numpy as np
from rich.table import Table as Grid

from liftlock._solver.box import Box
from liftlock._solver.column_generation import Master
from liftlock._solver.problem import Problem
from liftlock.designs.mechanisms.optimal import optimal
from liftlock.model import Prior
from liftlock.notions.lip import LIP
from liftlock.utility import Utility, make_utility

CASES = (
    (100, "mutual-information"),
    (100, "histogram"),
    (100, "mean"),
    (1000, "mutual-information"),
    (1000, "histogram"),
    (1000, "mean"),
)
SECONDS = 60.0


def plain(problem: Problem, utility: Utility) -> tuple[float, float]:
    """Return the time and the cost of one master problem with random vertices."""
    n = len(problem.masses)
    box = Box(problem.masses, problem.lower, problem.upper)
    columns = box.fill_in(box.random_orders(4 * n, np.random.default_rng(1)))
    start = time.perf_counter()
    master = Master(problem.masses, problem.lower)
    master.add(problem.masses[None, :], utility.costs(problem.masses[None, :]))
    master.add(columns, utility.costs(columns))
    found = master.solve()
    assert found is not None
    return time.perf_counter() - start, found.cost


def run() -> Grid:
    """Measure gap and time."""
    grid = Grid(title="optimal epsilon-LIP mechanism, S = X")
    for name in ("|X|", "epsilon", "utility", "outputs", "proved gap", "time", "HiGHS alone"):
        grid.add_column(name, justify="right")
    warm = Prior.from_counts({x: x + 1 for x in range(300)})
    optimal(warm, LIP("1"))  # compiling is not what is measured
    optimal(Prior.from_counts({x: x + 1 for x in range(20)}), LIP("1"))
    for n, name in CASES:
        counts = (np.random.default_rng(n).random(n) * (1 << 40)).astype(np.int64) + 1
        prior = Prior.from_counts({x: int(count) for x, count in enumerate(counts)})
        for epsilon in ("1", "2"):
            utility = make_utility(name, prior.alphabet)
            start = time.perf_counter()
            draft = optimal(prior, LIP(epsilon), utility=utility, seconds=SECONDS)
            seconds = time.perf_counter() - start
            proof = draft.optimality
            assert proof is not None
            other = "minutes"
            if n <= 100:
                spent, cost = plain(Problem.of(prior, LIP(epsilon)), utility)
                worse = (cost - proof.cost) / proof.reference
                other = f"{spent:.2f} s, {worse:.1%} worse"
            grid.add_row(
                str(n),
                epsilon,
                name,
                str(draft.matrix.shape[1]),
                f"{proof.gap:.1e}",
                f"{seconds:.2f} s",
                other,
            )
    return grid
