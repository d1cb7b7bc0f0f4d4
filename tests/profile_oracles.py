"""The programmes of profiles written out densely for scipy, and graphs to try them on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from liftlock import Mechanism, ProfileGraph
from liftlock.notions import ProfileAudit

Array = npt.NDArray[np.float64]

_TIGHT: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

KINDS = ("even", "zeros", "tiny", "alike")


def edges_of(mechanism: Mechanism) -> ProfileAudit:
    """Audit a mechanism for profiles in its own graph."""
    found = mechanism.audit()
    assert isinstance(found, ProfileAudit)
    return found


def solved(
    cost: Any,
    below: tuple[Any, Any] | None = None,
    equal: tuple[Any, Any] | None = None,
    *,
    most: float = 1.0,
) -> tuple[float, Array]:
    """Return the least cost that scipy finds for 0 <= x <= most, and where."""
    rows, ends = below or (None, None)
    same, values = equal or (None, None)
    found = linprog(
        cost, A_ub=rows, b_ub=ends, A_eq=same, b_eq=values, bounds=(0, most), options=_TIGHT
    )
    assert found.success, found.message
    return float(found.fun or 0.0), np.asarray(found.x)


def both_ways(graph: ProfileGraph) -> list[tuple[int, int]]:
    return [*graph.edges, *((j, i) for i, j in graph.edges)]


def flip_rows(graph: ProfileGraph, ratio: float) -> tuple[Array, Array]:
    """Return the rows of the published programme for one bit, with a last column of zeros."""
    distributions, size = graph.distributions, len(graph)
    rows, ends = [np.zeros(size + 1)], [0.0]
    for i, j in both_ways(graph):
        for y in (0, 1):
            row = np.zeros(size + 1)
            row[i] += 1 - 2 * distributions[i, y]
            row[j] -= ratio * (1 - 2 * distributions[j, y])
            rows.append(row)
            ends.append(ratio * distributions[j, y] - distributions[i, y])
    return np.array(rows), np.array(ends)


def matrix_rows(graph: ProfileGraph, ratio: float, *, shared: bool) -> tuple[Array, Array]:
    """Return the edges as rows over all entries of the matrices, and the rows that sum to 1."""
    distributions = graph.distributions
    size, width = distributions.shape
    blocks = 1 if shared else size
    shape = (blocks, width, width)
    edges = [np.zeros(blocks * width * width)]
    for i, j in both_ways(graph):
        for y in range(width):
            row = np.zeros(shape)
            row[0 if shared else i, :, y] += distributions[i]
            row[0 if shared else j, :, y] -= ratio * distributions[j]
            edges.append(row.ravel())
    sums = []
    for i in range(blocks):
        for x in range(width):
            row = np.zeros(shape)
            row[i, x] = 1
            sums.append(row.ravel())
    return np.array(edges), np.array(sums)


def random_graph(
    seed: int, *, size: int = 5, width: int = 2, kind: str = "even", density: float = 0.6
) -> ProfileGraph:
    """Make a graph with at least one edge and some isolated profiles, of one kind of counts."""
    source = np.random.default_rng([seed, size, width, KINDS.index(kind)])
    rows = {}
    for i in range(size):
        counts = [int(n) for n in source.integers(1, 20, width)]
        if kind == "zeros":
            counts = [int(n) for n in source.integers(0, 3, width)]
        elif kind == "tiny":
            counts = [10 ** int(n) for n in source.integers(0, 13, width)]
        elif kind == "alike":
            counts = [int(n) for n in source.integers(100, 110, width)]
        if not any(counts):
            counts[int(source.integers(width))] = 1
        rows[f"p{i}"] = dict(enumerate(counts))
    names = list(rows)
    edges = [
        (a, b) for place, b in enumerate(names) for a in names[:place] if source.random() < density
    ]
    return ProfileGraph.of(rows, edges or [(names[0], names[-1])])


def many_graphs(count: int, *, width: int = 2, size: int = 5) -> Iterator[ProfileGraph]:
    """Yield graphs of every kind, sparse and dense."""
    for seed in range(count):
        yield random_graph(
            seed,
            width=width,
            size=2 + seed % (size - 1),
            kind=KINDS[seed % len(KINDS)],
            density=(0.2, 0.6, 1.0)[seed % 3],
        )
