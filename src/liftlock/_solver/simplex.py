"""A simplex method for linear programmes of few rows and many bounded variables.

    minimise cost . x   subject to   matrix x = right,  lower <= x <= upper.

It walks from vertex to vertex with the dense inverse of a small basis, always feasible: it starts
from a point that is feasible, and is restarted from its last basis. Nothing it says about values
has to be believed: `safe_bound` recomputes a lower bound from the multipliers alone, and points
are checked by whoever uses them.

All of it is compiled, releases the interpreter's lock, and works in arrays that the caller owns.
"""

from __future__ import annotations

import numpy as np

from liftlock.exact.compiled import compiled

AT_LOWER, AT_UPPER, BASIC, BETWEEN = 0, 1, 2, 3
"""Where a variable is: at a bound, in the basis, or (before `purify`) between its bounds."""

_SLACK = 1e-13
"""By how much a basic variable may pass its bound in favour of a larger pivot."""
_PIVOT = 1e-9
"""Smaller pivots are refused."""
_OPTIMAL = 1e-11
"""Reduced costs of this size do not count."""
_ROUNDING = 2.0**-52
"""The rounding error of one operation, twice."""
REFRESH = 60
"""After so many pivots the inverse is computed anew."""
_PATIENCE = 30
"""After so many steps that do not move, entering variables are chosen by their number."""

_MATRIX, _VECTOR, _NUMBERS, _FLAGS = "f8[:,::1]", "f8[::1]", "i8[::1]", "i1[::1]"
_STATE = f"{_MATRIX},{_VECTOR},{_VECTOR},{_VECTOR},{_NUMBERS},{_FLAGS},{_MATRIX},{_VECTOR}"


@compiled(f"b1({_MATRIX},{_NUMBERS},{_MATRIX})")
def invert(matrix, basis, inverse):  # type: ignore[no-untyped-def]
    """Compute the inverse of the basis columns; False if they are (nearly) dependent."""
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
        if abs(work[best, k]) < 1e-11:
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


@compiled(f"void({_MATRIX},{_VECTOR},{_NUMBERS},{_FLAGS},{_MATRIX},{_VECTOR})")
def settle(matrix, right, basis, place, inverse, values):  # type: ignore[no-untyped-def]
    """Compute the basic variables from all others."""
    size = len(basis)
    rest = right.copy()
    for j in range(len(values)):
        if place[j] != BASIC and values[j] != 0.0:
            for i in range(size):
                rest[i] -= matrix[i, j] * values[j]
    for i in range(size):
        total = 0.0
        for k in range(size):
            total += inverse[i, k] * rest[k]
        values[basis[i]] = total


@compiled(
    f"f8({_MATRIX},{_VECTOR},{_VECTOR},{_NUMBERS},{_FLAGS},{_MATRIX},{_VECTOR},i8,f8,{_VECTOR})"
)
def move(matrix, lower, upper, basis, place, inverse, values, entering, sign, column):  # type: ignore[no-untyped-def]
    """Move one non-basic variable up (sign 1) or down (-1) as far as it can go; return how far."""
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
        if rate < -_PIVOT:
            limit = (max(values[variable] - lower[variable], 0.0) + _SLACK) / -rate
            if limit < reach:
                reach = limit
        elif rate > _PIVOT:
            limit = (max(upper[variable] - values[variable], 0.0) + _SLACK) / rate
            if limit < reach:
                reach = limit
    leaving = -1
    step = own
    largest = 0.0
    if reach < own:
        for i in range(size):
            rate = -sign * column[i]
            variable = basis[i]
            if abs(rate) <= _PIVOT:
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


@compiled(f"void({_MATRIX},{_VECTOR},{_NUMBERS},{_MATRIX},{_VECTOR},{_VECTOR})")
def price(matrix, cost, basis, inverse, multipliers, reduced):  # type: ignore[no-untyped-def]
    """Compute the multipliers of a basis and the reduced cost of every variable."""
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


@compiled(f"i8({_STATE},{_VECTOR},{_VECTOR},{_VECTOR},i8)")
def optimise(  # type: ignore[no-untyped-def]
    matrix, right, lower, upper, basis, place, inverse, values, cost, multipliers, reduced, limit
):
    """Walk to an optimal vertex; return the steps taken, or -1 when the limit was reached.

    `multipliers` and `reduced` are those of the last basis.
    """
    size = len(basis)
    column = np.empty(size)
    pivots = 0
    still = 0
    for step in range(limit):
        price(matrix, cost, basis, inverse, multipliers, reduced)
        entering = -1
        best = 0.0
        for j in range(len(cost)):
            where = place[j]
            if where == BASIC:
                continue
            gain = -reduced[j] if where == AT_LOWER else reduced[j]
            if gain > best and gain > _OPTIMAL and upper[j] > lower[j]:
                entering = j
                if still > _PATIENCE:
                    break
                best = gain
        if entering < 0:
            return step
        sign = 1.0 if place[entering] == AT_LOWER else -1.0
        moved = move(matrix, lower, upper, basis, place, inverse, values, entering, sign, column)
        still = still + 1 if moved <= 1e-14 else 0
        pivots += 1
        if pivots == REFRESH:
            pivots = 0
            if invert(matrix, basis, inverse):
                settle(matrix, right, basis, place, inverse, values)
    price(matrix, cost, basis, inverse, multipliers, reduced)
    return -1


@compiled(f"void({_MATRIX},i8,{_VECTOR},{_VECTOR},{_VECTOR})")
def complete(matrix, count, lower, upper, values):  # type: ignore[no-untyped-def]
    """Give the variables after the slacks their largest values that keep every row feasible.

    Each stands for the least of the sums over the first `count` variables of the rows in which
    its entry is negative.
    """
    rows, size = matrix.shape
    for j in range(count + rows - 1, size):
        least = upper[j]
        for i in range(1, rows):
            if matrix[i, j] < 0.0:
                total = 0.0
                for k in range(count):
                    total += matrix[i, k] * values[k]
                least = min(least, total)
        values[j] = max(least, lower[j])


@compiled(f"void({_STATE},{_VECTOR})")
def purify(matrix, right, lower, upper, basis, place, inverse, values, cost):  # type: ignore[no-untyped-def]
    """Push every variable that lies between its bounds to a bound or into the basis.

    Each goes in the direction in which the cost falls, so that the vertex costs no more than the
    point did.
    """
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
        move(matrix, lower, upper, basis, place, inverse, values, j, sign, column)
        pivots += 1
        if pivots == REFRESH:
            pivots = 0
            if invert(matrix, basis, inverse):
                settle(matrix, right, basis, place, inverse, values)


@compiled(f"f8({_VECTOR},{_VECTOR},{_VECTOR})")
def doubt(scales, cost, multipliers):  # type: ignore[no-untyped-def]
    """Return how far a reduced cost may be off, its coefficients rounded too."""
    largest = 0.0
    for j in range(len(cost)):
        if abs(cost[j]) > largest:
            largest = abs(cost[j])
    for i in range(len(multipliers)):
        largest += abs(multipliers[i]) * scales[i]
    return _ROUNDING * 4 * (len(multipliers) + 4) * largest


@compiled(f"f8({_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},f8)")
def safe_bound(scales, right, lower, upper, cost, multipliers, reduced, constant):  # type: ignore[no-untyped-def]
    """Return a lower bound of constant + cost . x that holds for every x within the bounds.

        multipliers . right + sum_j min over [lower_j, upper_j] of reduced_j x_j

    less a margin for rounding. It is true for any multipliers, optimal or not, as long as
    `reduced` was computed from them. `scales` are the largest entries of the rows; the variables
    that are not slacks are taken to sum to 1.
    """
    total = constant
    size = abs(constant)
    terms = 1
    for i in range(len(multipliers)):
        term = multipliers[i] * right[i]
        total += term
        size += abs(term)
    for j in range(len(reduced)):
        rate = reduced[j]
        term = rate * (lower[j] if rate > 0 else upper[j])
        if term != 0.0:
            total += term
            size += abs(term)
            terms += 1
    return total - _ROUNDING * (terms + 4) * size - doubt(scales, cost, multipliers)
