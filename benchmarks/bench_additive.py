"""How long numeric mechanisms take to design, against products of matrices of the same size.

The unit is a chain of 100 float64 products of 512 x 512 matrices, measured in the same run. A
design is everything: calibrating the noise on the true leakage, rounding to integers, and the exact
proof. Then the proof alone is timed on 4096 cells, which is the finest grid there is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table as Grid

from liftlock.designs.api import design
from liftlock.designs.catalogue import DESIGNS
from liftlock.model.channel import Table
from liftlock.model.continuous.distribution import normal
from liftlock.model.continuous.grid import ContinuousPrior, GridPrior
from liftlock.notions.approximate import ApproximateLIP
from liftlock.notions.base import Notion
from liftlock.notions.lip import LIP

SIZE = 512
PRODUCTS = 100
LIMIT = 30
FINEST = 4096
ADDITIVE = (
    "bounded-laplace",
    "laplace",
    "laplace-by-instance",
    "gaussian",
    "gaussian-by-instance",
    "sampling",
)
NOTIONS: tuple[Notion, ...] = (LIP("1"), ApproximateLIP("1", "0.01"))
ROUNDS = 2


def seconds(task: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """Return the best time of a few rounds, and what the task returned."""
    best, found = np.inf, None
    for _ in range(rounds):
        start = time.perf_counter()
        found = task()
        best = min(best, time.perf_counter() - start)
    return best, found


def chain() -> float:
    """Multiply matrices one after the other."""
    rng = np.random.default_rng(5)
    factor = rng.dirichlet(np.ones(SIZE), SIZE)
    product = factor
    for _ in range(PRODUCTS):
        product = product @ factor
    return float(product.sum())


def prior(bins: int) -> GridPrior:
    """Return a normal distribution, cut into cells of equal mass."""
    return ContinuousPrior.of(normal(0, 1), domain=(-5, 5)).discretise(bins)


def prove(notion: Notion, table: Table, context: GridPrior) -> bool:
    """Prove a guarantee of a fresh table: nothing is cached, the fingerprint included."""
    fresh = Table(table.inputs, table.outputs, table.weights, table.totals)
    return notion.certify(fresh, context).holds


def run() -> Group:
    """Measure both tables."""
    chain()  # the first product starts the threads
    unit, _ = seconds(chain)
    keys = [key for key in ADDITIVE if key in DESIGNS]
    title = f"design on {SIZE} cells; the unit is {PRODUCTS} products, {unit:.2f} s"
    grid = Grid(title=title)
    for column in ("method", "guarantee", "seconds", "in units", "limit", ""):
        grid.add_column(column, justify="right")
    context = prior(SIZE)
    for key in keys:
        for notion in NOTIONS:
            if notion.name not in DESIGNS[key].notions:
                continue
            took, _ = seconds(partial(design, context, notion, method=key))
            ratio = took / unit
            grid.add_row(
                key,
                str(notion),
                f"{took:.2f}",
                f"{ratio:.1f}",
                str(LIMIT),
                "ok" if ratio <= LIMIT else "OVER",
            )
    proofs = Grid(title=f"{FINEST} cells: the design, and its exact proof alone")
    for column in ("method", "guarantee", "outputs", "design s", "proof s"):
        proofs.add_column(column, justify="right")
    finest = prior(FINEST)
    for key in keys:
        for notion in NOTIONS:
            if notion.name not in DESIGNS[key].notions:
                continue
            took, made = seconds(partial(design, finest, notion, method=key), rounds=1)
            outputs = len(made.table.outputs)
            proof, _ = seconds(partial(prove, notion, made.table, finest), rounds=1)
            proofs.add_row(key, str(notion), str(outputs), f"{took:.1f}", f"{proof:.1f}")
    return Group(grid, proofs)
