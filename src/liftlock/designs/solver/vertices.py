"""All vertices of a polytope of posteriors, for small cases: the double-description method.

The simplex is cut by one half-space g . v <= 0 after another. A cut keeps the vertices on its good
side and makes a new one on every edge that it crosses; two vertices share an edge when no third
one has all the constraints active that both have.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.designs.problem import Problem
from liftlock.designs.solver.oracle import Clock, Priced
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.utility.utility import Utility

MOST_VERTICES = 200_000
"""More are refused: column generation is the way then."""

_ACTIVE = 1e-12
_CELLS = 1 << 24
"""Work in blocks of this many pairs."""

_LISTED = 64
"""Vertices returned at a time."""

Marks: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.intp]


def half_spaces(problem: Problem) -> Floats:
    """Return the rows g with g . v <= 0 that a posterior v of sum 1 must satisfy.

    Lift limits are homogeneous on the simplex: (A v)_s <= U P_s sum(v), and LDP compares pairs.
    """
    n = len(problem.masses)
    given = np.eye(n) if problem.given is None else problem.given
    keep = problem.secret_masses > 0
    lifts = given[keep] / problem.secret_masses[keep, None]
    if problem.ratio is not None:
        count = len(lifts)
        first, second = np.divmod(np.arange(count * count), count)
        pairs = first != second
        compared: Floats = lifts[first[pairs]] - problem.ratio * lifts[second[pairs]]
        return compared
    rows = []
    if np.isfinite(problem.upper):
        rows.append(lifts - problem.upper)
    if problem.lower > 0:
        rows.append(problem.lower - lifts)
    return np.vstack(rows) if rows else np.zeros((0, n))


def enumerate_vertices(cuts: Floats, symbols: int, most: int = MOST_VERTICES) -> Floats:
    """Return all vertices of {v >= 0, sum v = 1, cuts @ v <= 0}, one for each row.

    >>> enumerate_vertices(np.array([[1.0, -2.0]]), 2).round(6).tolist()
    [[0.0, 1.0], [0.666667, 0.333333]]
    """
    scaled = cuts / np.maximum(np.abs(cuts).max(axis=1, keepdims=True), 1e-300)
    points = np.eye(symbols)
    # What is active at a vertex: the coordinates that are 0, then the cuts made so far.
    active = np.zeros((symbols, symbols + len(scaled)), dtype=bool)
    active[:, :symbols] = ~np.eye(symbols, dtype=bool)
    for place, cut in enumerate(scaled):
        values = dot(points, cut)
        outside = values > _ACTIVE
        on = np.abs(values) <= _ACTIVE
        active[on, symbols + place] = True
        if not outside.any():
            continue
        inside = np.flatnonzero(values < -_ACTIVE)
        first, second = _edges(active, inside, np.flatnonzero(outside), symbols - 2)
        share = values[second] / (values[second] - values[first])
        new = points[first] * share[:, None] + points[second] * (1.0 - share)[:, None]
        marks = active[first] & active[second]
        marks[:, symbols + place] = True
        new[marks[:, :symbols]] = 0.0
        points = np.vstack([points[~outside], new])
        active = np.vstack([active[~outside], marks])
        if len(points) > most:
            raise InputError(
                f"more than {most:,} extreme posteriors",
                value=f"{symbols} symbols, {len(scaled)} limits",
                remedy="use column generation (method optimal)",
            )
    normal: Floats = points / points.sum(axis=1, keepdims=True)
    return normal


def _edges(active: Marks, inside: Places, outside: Places, fewest: int) -> tuple[Places, Places]:
    """Find the pairs (inside, outside) that are joined by an edge."""
    weights = active.astype(np.float32)
    first: list[Places] = [np.zeros(0, dtype=np.intp)]
    second: list[Places] = [np.zeros(0, dtype=np.intp)]
    step = max(1, _CELLS // len(outside))
    for begin in range(0, len(inside), step):
        block = inside[begin : begin + step]
        # Products of whole numbers are exact, in any order.
        rows, columns = np.nonzero(weights[block] @ weights[outside].T >= fewest)
        near, far = block[rows], outside[columns]
        # A third vertex with all common constraints active means that the pair spans a face.
        pairs = max(1, _CELLS // len(active))
        for low in range(0, len(near), pairs):
            a, b = near[low : low + pairs], far[low : low + pairs]
            marks = weights[a] * weights[b]
            holders = (marks @ weights.T >= marks.sum(axis=1)[:, None] - 0.5).sum(axis=1)
            first.append(a[holders == 2])
            second.append(b[holders == 2])
    return np.concatenate(first), np.concatenate(second)


class ListedOracle:
    """An oracle that knows every vertex: exact, for polytopes small enough to enumerate."""

    def __init__(self, vertices: Floats, utility: Utility) -> None:
        self.vertices = vertices
        self.costs = utility.costs(vertices)

    def start(self) -> Floats:
        """Return the vertex that is largest at each symbol."""
        largest: Floats = self.vertices[np.unique(np.argmax(self.vertices, axis=0))]
        return largest

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:  # noqa: ARG002
        """Return the vertices of least reduced cost."""
        clock.spend(4 * self.vertices.size)
        return self._best(self.costs - dot(self.vertices, duals))

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:  # noqa: ARG002
        """Return the least reduced cost, which is exact."""
        reduced = self.costs - dot(self.vertices, duals)
        return Priced(float(reduced.min()), self._best(reduced))

    def _best(self, reduced: Floats) -> Floats:
        best: Floats = self.vertices[np.argsort(reduced, kind="stable")[:_LISTED]]
        return best
