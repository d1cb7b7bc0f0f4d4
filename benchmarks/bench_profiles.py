"""Smooth Categorical for graphs of profiles, against HiGHS with the published programme alone.

The programme has an entry of a matrix for each profile, value and output, the largest of them, and
what each profile releases. HiGHS presolves it; what is timed is the presolved programme alone, by
its interior point method with crossover (its simplex takes minutes for the larger graph; for bits
both are tried, and the faster one counts). "here" is everything: the least largest entry with a
bound that does not take a solver's word, the least corruption among all that reach it, rounding to
integers, and the exact audit of every edge.

The data is made: 200 random profiles (Dirichlet) of 16 values with 600 edges, and 2,000 profiles
of one bit in a chain.
"""

from __future__ import annotations

import time
from itertools import pairwise

import highspy
import numpy as np
import numpy.typing as npt
from rich.table import Table as Grid
from scipy.sparse import coo_array

from liftlock._solver.problem import ProfileProblem
from liftlock.designs.lock import lock
from liftlock.designs.mechanisms.categorical import smooth_categorical
from liftlock.model import ProfileGraph
from liftlock.notions.profile import ProfilePrivacy

LIMIT = 60
SAME = 1e-7
"""HiGHS solves to its own tolerances, by default 1e-7."""

Places = npt.NDArray[np.int64]


def random_graph(profiles: int, values: int, edges: int, seed: int) -> ProfileGraph:
    """Return random profiles, as exact counts, in a chain and with more edges at random."""
    source = np.random.default_rng(seed)
    distributions = source.dirichlet(np.full(values, 3.0), profiles)
    joined = set(pairwise(range(profiles)))
    while len(joined) < edges:
        first, second = sorted(source.choice(profiles, 2, replace=False).tolist())
        joined.add((first, second))
    return _graph(distributions, sorted(joined))


def bits(profiles: int, seed: int) -> ProfileGraph:
    """Return a chain of profiles of one bit."""
    ones = np.random.default_rng(seed).random(profiles)
    return _graph(np.stack([1 - ones, ones], axis=1), list(pairwise(range(profiles))))


def _graph(distributions: npt.NDArray[np.float64], edges: list[tuple[int, int]]) -> ProfileGraph:
    counts = (distributions * 2**40).astype(np.int64) + 1
    names = [f"profile {i}" for i in range(len(distributions))]
    rows = {name: dict(enumerate(row)) for name, row in zip(names, counts.tolist(), strict=True)}
    return ProfileGraph.of(rows, [(names[i], names[j]) for i, j in edges])


def published(problem: ProfileProblem) -> highspy.HighsLp:
    """Write out 004 eq. (6): entries A^i(x, y), what is released D_i(y), and the largest entry."""
    distributions, edges = problem.distributions, problem.edges
    size, width = distributions.shape
    entries, cells = size * width * width, size * width
    count = entries + cells + 1
    i, x, y = (place.ravel() for place in np.indices((size, width, width)))
    each, cell = np.arange(entries), np.arange(cells)
    rows = [i * width + x, cells + i * width + y, cells + cell]
    columns = [each, each, entries + cell]
    values = [np.ones(entries), distributions[i, x], -np.ones(cells)]
    lower, upper = [np.ones(cells), np.zeros(cells)], [np.ones(cells), np.zeros(cells)]
    begin = 2 * cells
    for first, second in (edges.T, edges.T[::-1]):
        edge, output = (place.ravel() for place in np.indices((len(edges), width)))
        row = begin + np.arange(len(edge))
        rows += [row, row]
        columns += [
            entries + first[edge] * width + output,
            entries + second[edge] * width + output,
        ]
        values += [np.ones(len(row)), np.full(len(row), -problem.ratio)]
        lower.append(np.full(len(row), -np.inf))
        upper.append(np.zeros(len(row)))
        begin += len(row)
    off = np.flatnonzero(x != y)
    row = begin + np.arange(len(off))
    rows += [row, row]
    columns += [off, np.full(len(off), count - 1)]
    values += [np.ones(len(off)), -np.ones(len(off))]
    lower.append(np.full(len(off), -np.inf))
    upper.append(np.zeros(len(off)))
    begin += len(off)
    matrix = coo_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(begin, count),
    ).tocsc()
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = count, begin
    model.col_cost_ = np.append(np.zeros(count - 1), 1.0)
    model.col_lower_, model.col_upper_ = np.zeros(count), np.ones(count)
    model.row_lower_, model.row_upper_ = np.concatenate(lower), np.concatenate(upper)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
    model.a_matrix_.value_ = matrix.data
    return model


def alone(problem: ProfileProblem, solver: str) -> tuple[float, float, int]:
    """Return the optimum of the presolved programme, the seconds for it alone, and its rows."""
    first = highspy.Highs()  # type: ignore[no-untyped-call]
    first.setOptionValue("output_flag", False)
    first.passModel(published(problem))
    first.presolve()
    reduced = first.getPresolvedLp()
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("presolve", "off")
    highs.setOptionValue("solver", solver)
    highs.passModel(reduced)
    start = time.perf_counter()
    highs.run()
    seconds = time.perf_counter() - start
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return highs.getInfo().objective_function_value, seconds, reduced.num_row_


def run() -> Grid:
    """Measure the ratio of times; the optima must agree."""
    grid = Grid(title="smooth categorical: seconds for all of it, against HiGHS for its programme")
    heads = ("graph", "eps", "LP rows", "HiGHS s", "by", "here s", f"ratio (limit {LIMIT})")
    for name in (*heads, "optimum", "gap", "blend", ""):
        grid.add_column(name, justify="right")
    smooth_categorical(bits(3, 0), ProfilePrivacy("1"))  # importing is not what is measured
    cases = (
        (random_graph(200, 16, 600, seed=1), ("ipm",)),
        (bits(2000, seed=1), ("ipm", "simplex")),
    )
    for graph, solvers in cases:
        for epsilon in ("0.3", "1"):
            notion = ProfilePrivacy(epsilon)
            problem = ProfileProblem.of(graph, notion)
            tried = {solver: alone(problem, solver) for solver in solvers}
            by = min(tried, key=lambda solver: tried[solver][1])
            other, seconds, rows = tried[by]
            start = time.perf_counter()
            draft = smooth_categorical(graph, notion)
            locked = lock(draft, notion, graph)
            ours = time.perf_counter() - start
            proof = draft.optimality
            assert proof is not None
            good = ours <= LIMIT * seconds and abs(proof.cost - other) <= SAME
            grid.add_row(
                f"{len(graph)} x {problem.values}, {len(graph.edges)} edges",
                epsilon,
                f"{rows:,}",
                f"{seconds:.2f}",
                by,
                f"{ours:.2f}",
                f"{ours / seconds:.2f}",
                f"{proof.cost:.7f}",
                f"{proof.gap:.1e}",
                f"{float(locked.blend):.1g}",
                "ok" if good and locked.certificate.holds else "MISSED",
            )
    return grid
