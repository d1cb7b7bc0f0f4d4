"""The optimum for numbers under pure lift limits: 512 and 4096 cells, with the gap that is proved.

A log-normal prior, and the salaries of a city (made ones where the data is not there). The baseline
is one linear programme of the same problem with 40 places, left to HiGHS; it is measured for
squared errors of 512 cells only.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from rich.table import Table as Grid
from scipy import sparse

from benchmarks.bench_salaries import salaries
from liftlock import continuous
from liftlock._runtime.clock import Clock
from liftlock._solver.problem import Problem, restrict_to_support
from liftlock.designs.mechanisms.optimal import optimal
from liftlock.exact.linear_programme import LinearProgramme
from liftlock.model import Prior
from liftlock.model.continuous.grid import GridPrior
from liftlock.notions.lip import LIP
from liftlock.utility import make_utility
from liftlock.utility.mean import points_of

DOMAIN = (0, 300_000)
PLACES = 40
GAPS = {512: 1e-5, 4096: 1e-4}
SECONDS = 120.0


def priors(bins: int) -> Iterator[tuple[str, GridPrior]]:
    """Return the priors that are measured."""
    yield "log-normal", continuous.lognormal(10.8, 0.5, domain=DOMAIN).discretise(bins)
    people, _ = salaries()
    yield "salaries", continuous.from_data(people, domain=DOMAIN).discretise(bins)


def plain(problem: Problem, points: np.ndarray) -> float:
    """Return the time of one linear programme in the channel to fixed places."""
    masses, low, high = problem.masses, problem.lower, problem.upper
    scaled = (points - points.min()) / np.ptp(points)
    loss = np.abs(scaled[:, None] - np.quantile(scaled, np.linspace(0.02, 0.98, PLACES))) ** 2
    n = len(masses)
    program = LinearProgramme()
    extra = program.add_variables(masses[:, None] * loss)
    shares = program.add_variables(low * (masses @ loss))
    each = sparse.identity(PLACES)
    over = sparse.kron(sparse.identity(n), np.ones((1, PLACES)))
    program.add_rows([(extra, over)], 1 - low, 1 - low)
    joint = sparse.kron(masses[None, :], each)
    program.add_rows([(extra, joint), (shares, (low - 1) * each)], 0.0, 0.0)
    caps = (low - high) * sparse.kron(np.ones((n, 1)), each)
    program.add_rows([(extra, sparse.identity(n * PLACES)), (shares, caps)], -np.inf, 0.0)
    start = time.perf_counter()
    program.minimise(clock=Clock(seconds=SECONDS))
    return time.perf_counter() - start


def run() -> Grid:
    """Measure gap, objective and time."""
    grid = Grid(title="optimal epsilon-LIP mechanism for numbers")
    columns = ("prior", "cells", "epsilon", "utility", "outputs", "cost", "of no release")
    for name in (*columns, "proved gap", "time", f"HiGHS, {PLACES}"):
        grid.add_column(name, justify="right")
    for bins, gap in GAPS.items():
        for label, whole in priors(bins):
            prior, _ = restrict_to_support(whole)
            assert isinstance(prior, Prior)
            for epsilon in ("1", "2"):
                for name in ("mean", "absolute"):
                    goal = make_utility(name, prior.inputs)
                    start = time.perf_counter()
                    draft = optimal(prior, LIP(epsilon), utility=goal, gap=gap, seconds=SECONDS)
                    spent = time.perf_counter() - start
                    proof = draft.optimality
                    assert proof is not None
                    other = "-"
                    if bins <= 512 and name == "mean":
                        problem = Problem.of(prior, LIP(epsilon))
                        other = f"{plain(problem, points_of(prior.inputs, name)):.1f} s"
                    grid.add_row(
                        label,
                        str(len(prior.inputs)),
                        epsilon,
                        name,
                        str(draft.matrix.shape[1]),
                        f"{proof.cost:.6g}",
                        f"{proof.cost / proof.reference:.4f}",
                        f"{proof.gap:.1e}",
                        f"{spent:.2f} s",
                        other,
                    )
    return grid
