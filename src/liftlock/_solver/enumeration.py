"""All vertices of a polytope of posteriors, for small cases: the double-description method.

The simplex is cut by one half-space g . v <= 0 after another. A cut keeps the vertices on its good
side and makes a new one on every edge that it crosses; two vertices share an edge when no third
one has all the constraints active that both have.

All of it is done in whole numbers, so none is missed or made up, however rare a symbol is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import Clock
from liftlock._solver.column_generation import PricingResult
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import Problem
from liftlock.errors import InputError
from liftlock.exact.integers import Floats, as_integers
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.model import Family, PriorSet, representative
from liftlock.utility.base import Utility, cost_error

Rationals: TypeAlias = npt.NDArray[np.object_]
Marks: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.intp]


def half_spaces(problem: Problem) -> Rationals:
    """Return the rows g with g . v <= 0 that a posterior v of sum 1 must satisfy.

    Lift limits are homogeneous on the simplex: (A v)_s <= U P_s sum(v), and LDP compares pairs.
    The lifts and limits are floats, their differences exact.
    """
    rows = [np.zeros((0, len(problem.masses)), dtype=object)]
    for limit in problem.limits:
        lifts = limit.lifts
        if limit.ratio is not None:
            first, second = np.divmod(np.arange(len(lifts) ** 2), len(lifts))
            pairs = first != second
            rows.append(comparison_rows(lifts, first[pairs], second[pairs], limit.ratio))
            continue
        exact = _to_fractions(lifts)
        if np.isfinite(limit.upper):
            rows.append(exact - Fraction(limit.upper))
        if limit.lower > 0:
            rows.append(Fraction(limit.lower) - exact)
    return np.vstack(rows)


def set_half_spaces(problem: Problem) -> Rationals:
    """Return the rows for a set of priors: lifts are limited under each of its extreme priors.

    A linear function is extreme, over intervals or a ball, at a prior that depends on the order of
    its slopes alone, so that all orders find all of them.
    """
    context = problem.context
    assert isinstance(context, PriorSet)
    symbols = len(problem.masses)
    if isinstance(context, Family):
        priors = {prior.fractions for prior in context.priors}
    else:
        orders = (as_integers(order) for order in permutations(range(symbols)))
        priors = {context.extreme(order, least=False).fractions for order in orders}
    # A column is q = v / P, its mass under a prior P' the sum of P' q, and v is scaled freely.
    middle = representative(context).fractions
    rows = []
    for prior in sorted(priors):
        masses = [own / mass for own, mass in zip(prior, middle, strict=True)]
        for x in range(symbols):
            lift = [Fraction(int(x == other)) / middle[other] for other in range(symbols)]
            pairs = list(zip(lift, masses, strict=True))
            if np.isfinite(problem.upper):
                rows.append([q - Fraction(problem.upper) * mass for q, mass in pairs])
            if problem.lower > 0:
                rows.append([Fraction(problem.lower) * mass - q for q, mass in pairs])
    return np.array(rows, dtype=object).reshape(len(rows), symbols)


def comparison_rows(lifts: Floats, more: Places, less: Places, ratio: float) -> Rationals:
    """Return the rows that let no secret make an output `ratio` times likelier than another."""
    exact = _to_fractions(lifts)
    rows: Rationals = exact[more] - Fraction(ratio) * exact[less]
    return rows


def _to_fractions(numbers: Floats) -> Rationals:
    """Return floats as the fractions that they are."""
    found = np.empty(numbers.shape, dtype=object)
    for place, number in np.ndenumerate(numbers):
        found[place] = Fraction(float(number))
    return found


def enumerate_vertices(
    cuts: Floats | Rationals,
    symbols: int,
    most: int = LIMITS.asked_vertices,
    clock: Clock | None = None,
) -> Floats:
    """Return all vertices of {v >= 0, sum v = 1, cuts @ v <= 0}, each entry rounded once.

    >>> enumerate_vertices(np.array([[1.0, -2.0]]), 2).round(6).tolist()
    [[0.0, 1.0], [0.666667, 0.333333]]
    """
    points = np.eye(symbols, dtype=np.int64).astype(object)
    # What is active at a vertex: the coordinates that are 0, then the cuts made so far.
    active = np.zeros((symbols, symbols + len(cuts)), dtype=bool)
    active[:, :symbols] = ~np.eye(symbols, dtype=bool)
    for place, cut in enumerate(cuts):
        values = (points * _to_integers(cut)).sum(axis=1)
        outside = (values > 0).astype(bool)
        active[(values == 0).astype(bool), symbols + place] = True
        if not outside.any():
            continue
        inside = np.flatnonzero((values < 0).astype(bool))
        first, second = _edges(active, inside, np.flatnonzero(outside), symbols - 2, clock)
        new = points[first] * values[second, None] - points[second] * values[first, None]
        marks = active[first] & active[second]
        marks[:, symbols + place] = True
        if len(new):
            new //= np.gcd.reduce(new, axis=1)[:, None]
        points = np.vstack([points[~outside], new])
        active = np.vstack([active[~outside], marks])
        if len(points) > most:
            raise InputError(
                f"more than {most:,} extreme posteriors",
                value=f"{symbols} symbols, {len(cuts)} limits",
                remedy="leave out how=enumeration: column generation needs no list",
            )
    if not len(points):
        raise InputError(
            "no extreme posterior can be told from rounding",
            value=f"{symbols} symbols, {len(cuts)} limits",
            remedy="leave out how=enumeration: column generation needs no list",
        )
    normal: Floats = (points / points.sum(axis=1, keepdims=True)).astype(np.float64)
    return normal


def _to_integers(cut: Floats | Rationals) -> Rationals:
    """Return the smallest whole numbers in the proportions of a row."""
    row = [Fraction(entry) for entry in cut.tolist()]
    scale = math.lcm(*(entry.denominator for entry in row))
    numbers = [int(entry * scale) for entry in row]
    divisor = math.gcd(*numbers) or 1
    return np.array([number // divisor for number in numbers], dtype=object)


def _edges(
    active: Marks, inside: Places, outside: Places, fewest: int, clock: Clock | None
) -> tuple[Places, Places]:
    """Find the pairs (inside, outside) that are joined by an edge."""
    weights = active.astype(np.float32)  # sums of 0 and 1: the same in any order
    first: list[Places] = [np.zeros(0, dtype=np.intp)]
    second: list[Places] = [np.zeros(0, dtype=np.intp)]
    step = max(1, LIMITS.block // len(outside))
    for begin in range(0, len(inside), step):
        if clock is not None:
            clock.check()
        block = inside[begin : begin + step]
        # Products of whole numbers are exact, in any order.
        rows, columns = np.nonzero(weights[block] @ weights[outside].T >= fewest)
        near, far = block[rows], outside[columns]
        # A third vertex with all common constraints active means that the pair spans a face.
        pairs = max(1, LIMITS.block // len(active))
        for low in range(0, len(near), pairs):
            if clock is not None:
                clock.check()
            a, b = near[low : low + pairs], far[low : low + pairs]
            marks = weights[a] * weights[b]
            holders = (marks @ weights.T >= marks.sum(axis=1)[:, None] - 0.5).sum(axis=1)
            first.append(a[holders == 2])
            second.append(b[holders == 2])
    return np.concatenate(first), np.concatenate(second)


class EnumeratedOracle:
    """An oracle that knows every vertex, to rounding: for polytopes small enough to enumerate."""

    def __init__(self, vertices: Floats, utility: Utility) -> None:
        self.vertices = vertices
        self.costs = utility.costs(vertices)
        self._doubt = cost_error(utility, self.costs, vertices.shape[1])

    def start(self) -> Floats:
        """Return the vertex that is largest at each symbol."""
        largest: Floats = self.vertices[np.unique(np.argmax(self.vertices, axis=0))]
        return largest

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:  # noqa: ARG002
        """Return the vertices of least reduced cost."""
        clock.spend(4 * self.vertices.size)
        order = np.argsort(self._reduced_costs(duals), kind="stable")[: LIMITS.columns]
        best: Floats = self.vertices[order]
        return best

    def prove(self, duals: Floats, goal: float, clock: Clock) -> PricingResult:  # noqa: ARG002
        """Return the least reduced cost, less what rounding may have added to it."""
        reduced = self._reduced_costs(duals)
        size = dot(self.vertices, np.abs(duals))
        safe = reduced - self._doubt - rounding(len(duals)) * size
        best = self.vertices[np.argsort(reduced, kind="stable")[: LIMITS.columns]]
        return PricingResult(float(safe.min()), best)

    def _reduced_costs(self, duals: Floats) -> Floats:
        reduced: Floats = self.costs - dot(self.vertices, duals)
        return reduced
