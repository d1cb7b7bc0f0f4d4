"""A simplex method for linear programmes of few rows and many bounded variables.

    minimise cost . x   subject to   matrix x = right,  lower <= x <= upper.

It walks from vertex to vertex with the dense inverse of a small basis, always feasible: it starts
from a point that is feasible, and is restarted from its last basis. Nothing it says about values
has to be believed: `safe_bound` recomputes a lower bound from the multipliers alone, and points
are checked by whoever uses them.

All of it is compiled, releases the interpreter's lock, and works in arrays that the caller owns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from liftlock.exact.compiled import compiled
from liftlock.exact.integers import Floats
from liftlock.exact.rounding import UNIT
from liftlock.exact.tolerances import TOLERANCES

AT_LOWER, AT_UPPER, BASIC, BETWEEN = 0, 1, 2, 3
"""Where a variable is: at a bound, in the basis, or (before `purify`) between its bounds."""

# Compiled code sees no attributes: the tolerances by their names.
RESIDUE, ZERO, HAIR = TOLERANCES.residue, TOLERANCES.zero, TOLERANCES.hair
SOLVER, VISIBLE, CLOSE = TOLERANCES.solver, TOLERANCES.visible, TOLERANCES.close
ROUNDING = 2 * UNIT
"""The rounding error of one operation, twice."""
REFRESH = 60
"""After so many pivots the inverse is computed anew; after so many that do not move, entering
variables are chosen by their number."""

REAL, INTEGER, TRUTH, NOTHING = types.float64, types.int64, types.boolean, types.void
MATRIX, VECTOR = types.Array(REAL, 2, "C"), types.Array(REAL, 1, "C")
NUMBERS, FLAGS = types.Array(INTEGER, 1, "C"), types.Array(types.int8, 1, "C")


_types: Any = types


def tuple_of(cls: type, *parts: Any) -> Any:
    """Return the compiled type of a named tuple."""
    return _types.NamedTuple(parts, cls)


def pair_of(first: Any, second: Any) -> Any:
    """Return the compiled type of a pair."""
    return _types.Tuple((first, second))


class Programme(NamedTuple):
    """matrix x = right, lower <= x <= upper: the coordinates of v, a slack a row, any others.

    Row 0 is the sum of the coordinates, which is 1.
    """

    matrix: Floats
    right: Floats
    lower: Floats
    upper: Floats
    scales: Floats
    """The largest entry of each row."""
    limits: Floats
    """For each row: bounds of its sum over the coordinates, and its least and largest entry."""


class Vertex(NamedTuple):
    """Where the simplex method stands."""

    basis: npt.NDArray[np.int64]
    place: npt.NDArray[np.int8]
    """For each variable one of AT_LOWER, AT_UPPER, BASIC, BETWEEN."""
    inverse: Floats
    """Of the columns of the basis."""
    values: Floats


PROGRAMME = tuple_of(Programme, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX)
VERTEX = tuple_of(Vertex, NUMBERS, FLAGS, MATRIX, VECTOR)


def new_vertex(programme: Programme) -> Vertex:
    """Return an empty vertex of a programme, to be written to."""
    rows, size = programme.matrix.shape
    return Vertex(
        np.zeros(rows, np.int64), np.zeros(size, np.int8), np.zeros((rows, rows)), np.zeros(size)
    )


@compiled(TRUTH(PROGRAMME, VERTEX))
def invert(programme, vertex):  # type: ignore[no-untyped-def]
    """Compute the inverse of the basis columns; False if they are (nearly) dependent."""
    matrix, basis, inverse = programme.matrix, vertex.basis, vertex.inverse
    size = len(basis)
    work = np.empty((size, size))
    for i in range(size):
        for k in range(size):
            work[i, k] = matrix[i, basis[k]]
            inverse[i, k] = 1.0 if i == k else 0.0
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            if abs(work[i, k]) > abs(work[best, k]):
                best = i
        if abs(work[best, k]) < HAIR:
            return False
        if best != k:
            for c in range(size):
                work[k, c], work[best, c] = work[best, c], work[k, c]
                inverse[k, c], inverse[best, c] = inverse[best, c], inverse[k, c]
        factor = 1.0 / work[k, k]
        for c in range(size):
            work[k, c] *= factor
            inverse[k, c] *= factor
        for i in range(size):
            factor = work[i, k]
            if i != k and factor != 0.0:
                for c in range(k, size):
                    work[i, c] -= factor * work[k, c]
                for c in range(size):
                    inverse[i, c] -= factor * inverse[k, c]
    return True


@compiled(NOTHING(PROGRAMME, VERTEX))
def compute_basics(programme, vertex):  # type: ignore[no-untyped-def]
    """Compute the basic variables from all others."""
    basis, place, inverse, values = vertex
    matrix = programme.matrix
    size = len(basis)
    rest = programme.right.copy()
    for j in range(len(values)):
        if place[j] != BASIC and values[j] != 0.0:
            for i in range(size):
                rest[i] -= matrix[i, j] * values[j]
    for i in range(size):
        total = 0.0
        for k in range(size):
            total += inverse[i, k] * rest[k]
        values[basis[i]] = total


@compiled(NOTHING(PROGRAMME, VERTEX))
def refresh(programme, vertex):  # type: ignore[no-untyped-def]
    """Compute inverse and basic variables anew, so that rounding errors do not add up."""
    if invert(programme, vertex):
        compute_basics(programme, vertex)


@compiled(REAL(PROGRAMME, VECTOR, VECTOR, VERTEX, INTEGER, REAL, VECTOR))
def move(programme, lower, upper, vertex, entering, sign, column):  # type: ignore[no-untyped-def]
    """Move one non-basic variable up (sign 1) or down (-1) as far as it can go; return how far."""
    basis, place, inverse, values = vertex
    matrix = programme.matrix
    size = len(basis)
    for i in range(size):
        total = 0.0
        for k in range(size):
            total += inverse[i, k] * matrix[k, entering]
        column[i] = total
    if sign > 0:
        own = upper[entering] - values[entering]
    else:
        own = values[entering] - lower[entering]
    # Two passes: how far with a little slack, then the largest pivot among those that block.
    reach = own
    for i in range(size):
        rate = -sign * column[i]
        variable = basis[i]
        if rate < -VISIBLE:
            limit = (max(values[variable] - lower[variable], 0.0) + ZERO) / -rate
            if limit < reach:
                reach = limit
        elif rate > VISIBLE:
            limit = (max(upper[variable] - values[variable], 0.0) + ZERO) / rate
            if limit < reach:
                reach = limit
    leaving = -1
    step = own
    largest = 0.0
    if reach < own:
        for i in range(size):
            rate = -sign * column[i]
            variable = basis[i]
            if abs(rate) <= VISIBLE:
                continue
            if rate < 0:
                limit = max(values[variable] - lower[variable], 0.0) / -rate
            else:
                limit = max(upper[variable] - values[variable], 0.0) / rate
            if limit <= reach and abs(rate) > largest:
                largest = abs(rate)
                leaving = i
                step = limit
        step = min(step, own)
    for i in range(size):
        values[basis[i]] -= sign * step * column[i]
    if leaving < 0:
        if sign > 0:
            values[entering] = upper[entering]
            place[entering] = AT_UPPER
        else:
            values[entering] = lower[entering]
            place[entering] = AT_LOWER
        return own
    values[entering] += sign * step
    gone = basis[leaving]
    if -sign * column[leaving] < 0:
        values[gone] = lower[gone]
        place[gone] = AT_LOWER
    else:
        values[gone] = upper[gone]
        place[gone] = AT_UPPER
    basis[leaving] = entering
    place[entering] = BASIC
    factor = 1.0 / column[leaving]
    for k in range(size):
        inverse[leaving, k] *= factor
    for i in range(size):
        factor = column[i]
        if i != leaving and factor != 0.0:
            for k in range(size):
                inverse[i, k] -= factor * inverse[leaving, k]
    return step


@compiled(NOTHING(PROGRAMME, VERTEX, VECTOR, VECTOR, VECTOR))
def price(programme, vertex, cost, multipliers, reduced):  # type: ignore[no-untyped-def]
    """Compute the multipliers of a basis and the reduced cost of every variable."""
    basis, inverse, matrix = vertex.basis, vertex.inverse, programme.matrix
    size = len(basis)
    for k in range(size):
        multipliers[k] = 0.0
    for i in range(size):
        share = cost[basis[i]]
        for k in range(size):
            multipliers[k] += share * inverse[i, k]
    for j in range(len(cost)):
        reduced[j] = cost[j]
    for i in range(size):
        share = multipliers[i]
        if share != 0.0:
            row = matrix[i]
            for j in range(len(cost)):
                reduced[j] -= share * row[j]


@compiled(INTEGER(PROGRAMME, VECTOR, VECTOR, VERTEX, VECTOR, VECTOR, VECTOR, INTEGER))
def optimise(programme, lower, upper, vertex, cost, multipliers, reduced, limit):  # type: ignore[no-untyped-def]
    """Walk to an optimal vertex; return the steps taken, or -1 when the limit was reached.

    `multipliers` and `reduced` are those of the last basis.
    """
    place = vertex.place
    column = np.empty(len(vertex.basis))
    pivots = 0
    still = 0
    for step in range(limit):
        price(programme, vertex, cost, multipliers, reduced)
        entering = -1
        best = 0.0
        for j in range(len(cost)):
            where = place[j]
            if where == BASIC:
                continue
            gain = -reduced[j] if where == AT_LOWER else reduced[j]
            if gain > best and gain > HAIR and upper[j] > lower[j]:
                entering = j
                if still > REFRESH:
                    break
                best = gain
        if entering < 0:
            return step
        sign = 1.0 if place[entering] == AT_LOWER else -1.0
        moved = move(programme, lower, upper, vertex, entering, sign, column)
        still = still + 1 if moved <= RESIDUE else 0
        pivots += 1
        if pivots == REFRESH:
            pivots = 0
            refresh(programme, vertex)
    price(programme, vertex, cost, multipliers, reduced)
    return -1


@compiled(NOTHING(PROGRAMME, INTEGER, VECTOR))
def complete(programme, count, values):  # type: ignore[no-untyped-def]
    """Give the variables after the slacks their largest values that keep every row feasible.

    Each stands for the least of the sums over the first `count` variables of the rows in which
    its entry is negative, divided by that entry without its sign.
    """
    matrix = programme.matrix
    rows, size = matrix.shape
    for j in range(count + rows - 1, size):
        least = programme.upper[j]
        for i in range(1, rows):
            if matrix[i, j] < 0.0:
                total = 0.0
                for k in range(count):
                    total += matrix[i, k] * values[k]
                least = min(least, total / -matrix[i, j])
        values[j] = max(least, programme.lower[j])


@compiled(TRUTH(PROGRAMME, VECTOR, VERTEX))
def start_at_point(programme, point, vertex):  # type: ignore[no-untyped-def]
    """Stand at a point of the polytope: one coordinate and all slacks are basic; False if not.

    The coordinate is the one farthest from its bounds. Others may lie between theirs, until they
    are purified.
    """
    basis, place, _, values = vertex
    lower, upper = programme.lower, programme.upper
    count = len(point)
    chief = 0
    room = -1.0
    for j in range(len(values)):
        place[j] = BETWEEN
        values[j] = 0.0
        if j < count:
            x = point[j]
            if x <= lower[j]:
                x = lower[j]
                place[j] = AT_LOWER
            elif x >= upper[j]:
                x = upper[j]
                place[j] = AT_UPPER
            values[j] = x
            inside = min(x - lower[j], upper[j] - x)
            if inside > room:
                room = inside
                chief = j
    basis[0] = chief
    for i in range(1, len(basis)):
        basis[i] = count + i - 1
    for i in range(len(basis)):
        place[basis[i]] = BASIC
    complete(programme, count, values)
    if not invert(programme, vertex):
        return False
    compute_basics(programme, vertex)
    return True


@compiled(NOTHING(PROGRAMME, VECTOR, VECTOR, VERTEX, VECTOR))
def purify(programme, lower, upper, vertex, cost):  # type: ignore[no-untyped-def]
    """Push every variable that lies between its bounds to a bound or into the basis.

    Each goes in the direction in which the cost falls, so that the vertex costs no more than the
    point did.
    """
    basis, place, inverse, _ = vertex
    matrix = programme.matrix
    size = len(basis)
    column = np.empty(size)
    multipliers = np.empty(size)
    pivots = 0
    for j in range(len(cost)):
        if place[j] != BETWEEN:
            continue
        for k in range(size):
            multipliers[k] = 0.0
        for i in range(size):
            share = cost[basis[i]]
            for k in range(size):
                multipliers[k] += share * inverse[i, k]
        reduced = cost[j]
        for k in range(size):
            reduced -= multipliers[k] * matrix[k, j]
        sign = -1.0 if reduced >= 0 else 1.0
        move(programme, lower, upper, vertex, j, sign, column)
        pivots += 1
        if pivots == REFRESH:
            pivots = 0
            refresh(programme, vertex)


@compiled(REAL(PROGRAMME, VECTOR, VECTOR))
def reduced_cost_error(programme, cost, multipliers):  # type: ignore[no-untyped-def]
    """Return how far a reduced cost may be off, its coefficients rounded too."""
    largest = 0.0
    for j in range(len(cost)):
        if abs(cost[j]) > largest:
            largest = abs(cost[j])
    for i in range(len(multipliers)):
        largest += abs(multipliers[i]) * programme.scales[i]
    return ROUNDING * 4 * (len(multipliers) + 4) * largest


@compiled(REAL(PROGRAMME, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, REAL))
def safe_bound(programme, lower, upper, cost, multipliers, reduced, constant):  # type: ignore[no-untyped-def]
    """Return a lower bound of constant + cost . x that holds for every x within the bounds.

        multipliers . right + sum_j min over [lower_j, upper_j] of reduced_j x_j

    less a margin for rounding. It is true for any multipliers, optimal or not, as long as
    `reduced` was computed from them. The coordinates are taken to sum to 1.
    """
    total = constant
    size = abs(constant)
    terms = 1
    for i in range(len(multipliers)):
        term = multipliers[i] * programme.right[i]
        total += term
        size += abs(term)
    for j in range(len(reduced)):
        rate = reduced[j]
        term = rate * (lower[j] if rate > 0 else upper[j])
        if term != 0.0:
            total += term
            size += abs(term)
            terms += 1
    return total - ROUNDING * (terms + 4) * size - reduced_cost_error(programme, cost, multipliers)


def maximise(programme: Programme, vertex: Vertex, x: int) -> tuple[int, float]:
    """Walk towards the largest value of a variable, until the inverse has to be computed anew.

    Returns the steps taken, -1 if there is farther to go, and a safe upper bound of the variable.
    """
    lower, upper = programme.lower, programme.upper
    rows, size = programme.matrix.shape
    cost, multipliers, reduced = np.zeros(size), np.empty(rows), np.empty(size)
    cost[x] = -1.0
    steps = optimise(programme, lower, upper, vertex, cost, multipliers, reduced, REFRESH)
    bound = safe_bound(programme, lower, upper, cost, multipliers, reduced, 0.0)
    return int(steps), -float(bound)
