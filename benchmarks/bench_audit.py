"""What exactness costs: an exact audit of a large channel against the same lifts in plain float64.

The exact audit finds the largest and the smallest lift with their witnesses, compares both with the
budget and issues a certificate with fingerprints. The float64 version computes the same lifts with
numpy and takes their maximum and minimum. Both are timed in turn; the best of several rounds
counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from rich.table import Table as Grid

from liftlock.exact.rounding import round_rows
from liftlock.model import Joint, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Table
from liftlock.notions import LIP

SIZE = 1000
ROUNDS = 7
LIMIT = 25


def random_matrix(rng: np.random.Generator) -> np.ndarray:
    """Return rows drawn uniformly from the simplex."""
    return rng.dirichlet(np.ones(SIZE), SIZE)


def response_matrix() -> np.ndarray:
    """Return k-ary randomised response: a million ties."""
    matrix = np.full((SIZE, SIZE), 1.0)
    np.fill_diagonal(matrix, math.e**2)
    response: np.ndarray = matrix / matrix.sum(axis=1, keepdims=True)
    return response


def best(tasks: list[Callable[[], object]]) -> list[float]:
    """Time tasks in turn, several rounds; the best of each."""
    times = [math.inf] * len(tasks)
    for _ in range(ROUNDS):
        for index, task in enumerate(tasks):
            start = time.perf_counter()
            task()
            times[index] = min(times[index], time.perf_counter() - start)
    return times


def run() -> Grid:
    """Measure the ratios."""
    rng = np.random.default_rng(7)
    labels = Alphabet.of(range(SIZE))
    counts = rng.integers(1, 100_000, SIZE)
    prior = Prior(labels, tuple(int(c) for c in counts))
    cells = rng.integers(0, 1000, (SIZE, SIZE))
    joint = Joint(labels, labels, tuple(tuple(row) for row in cells.tolist()))
    grid = Grid(title=f"exact audit of a {SIZE} x {SIZE} channel, against float64 lifts")
    for column in ("channel", "context", "float64 ms", "exact ms", "ratio", "limit", ""):
        grid.add_column(column, justify="right")
    conditional = cells / cells.sum(axis=1, keepdims=True)
    marginals = {"prior": prior.floats(), "joint": cells.sum(axis=0) / cells.sum()}
    for name, matrix in (
        ("random", random_matrix(rng)),
        ("randomised response", response_matrix()),
    ):
        weights = round_rows(matrix)
        floats = Table.of(labels, labels, weights).floats()
        for kind, context in (("prior", prior), ("joint", joint)):

            def plain(kind: str = kind, floats: np.ndarray = floats) -> tuple[float, float]:
                rows = floats if kind == "prior" else conditional @ floats
                lifts = rows / (marginals[kind] @ floats)
                return float(lifts.max()), float(lifts.min())

            def exact(context: Prior | Joint = context, weights: np.ndarray = weights) -> bool:
                # A fresh table each time: nothing is cached, the fingerprint included.
                table = Table(labels, labels, weights, (1 << 52,) * SIZE)
                return LIP("1").certify(table, context).holds

            slow, fast = best([exact, plain])
            ratio = slow / fast
            grid.add_row(
                name,
                kind,
                f"{fast * 1e3:.1f}",
                f"{slow * 1e3:.1f}",
                f"{ratio:.1f}",
                str(LIMIT),
                "ok" if ratio <= LIMIT else "OVER",
            )
    return grid
