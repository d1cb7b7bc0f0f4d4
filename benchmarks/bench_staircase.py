"""The least expected distortion under LDP: n = 80, absolute loss, against qif 1.6.0.

qif compares all pairs of inputs, n^3 rows; here there is one extra variable for each output and n^2
sparse rows. Both solve the same problem to optimality in the same run; the values are compared.
qif takes minutes.
"""

from __future__ import annotations

import time

import numpy as np
from rich.table import Table as Grid

from liftlock._solver.channel_programme import least_distortion
from liftlock._solver.problem import Problem
from liftlock.model import Prior
from liftlock.notions.ldp import LDP
from liftlock.utility.distortion import Distortion

SIZES = (20, 40, 80)
LIMIT = 50
ROUNDS = 3


def ours(prior: Prior) -> tuple[float, float, float]:
    """Return the best of several times, the cost and the proved bound."""
    problem = Problem.of(prior, LDP("1"))
    loss = Distortion.from_name("absolute", prior.alphabet)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        found = least_distortion(problem, loss)
        best = min(best, time.perf_counter() - start)
    return best, found.cost, found.bound


def theirs(masses: np.ndarray) -> tuple[float, float]:
    """Return the time and the cost of qif's optimal mechanism."""
    from qif import mechanism, metric

    n = len(masses)
    start = time.perf_counter()
    channel = mechanism.d_privacy.min_loss_given_d(masses, n, metric.discrete(), metric.euclidean())
    seconds = time.perf_counter() - start
    loss = np.abs(np.arange(n)[:, None] - np.arange(n))
    return seconds, float((masses[:, None] * channel * loss).sum())


def run() -> Grid:
    """Measure the ratios."""
    grid = Grid(title="optimal LDP mechanism, absolute loss, epsilon 1")
    for name in ("n", "liftlock", "qif 1.6.0", "ratio", "cost", "proved gap", "same value"):
        grid.add_column(name, justify="right")
    ours(Prior.uniform(range(5)))  # imports are not what is measured
    for n in SIZES:
        counts = np.random.default_rng(n).integers(1, 1 << 20, n)
        prior = Prior.from_counts({x: int(count) for x, count in enumerate(counts)})
        seconds, cost, bound = ours(prior)
        other, value = theirs(prior.floats())
        limit = f" (limit {LIMIT})" if n == SIZES[-1] else ""
        grid.add_row(
            str(n),
            f"{seconds:.3f} s",
            f"{other:.2f} s",
            f"{other / seconds:.0f} times{limit}",
            f"{cost:.9f}",
            f"{(cost - bound) / cost:.0e}",
            "yes" if abs(cost - value) < 1e-7 * cost else f"no: {value:.9f}",
        )
    return grid
