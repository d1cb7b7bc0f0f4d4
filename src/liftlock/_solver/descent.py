"""Descent from vertex to vertex for a concave separable cost over a polytope of few rows.

From a point of the polytope: linearise the cost where it stands and walk to the optimal vertex of
the linear programme; then look along every edge of that vertex and take the best, until no
neighbour is better. What it ends in is a vertex that is better than all its neighbours.
"""

from __future__ import annotations

import numpy as np

from liftlock._solver.branch import ENTROPY, SQUARE, phi
from liftlock._solver.simplex import (
    _FLAGS,
    _MATRIX,
    _NUMBERS,
    _PIVOT,
    _VECTOR,
    AT_LOWER,
    BASIC,
    BETWEEN,
    complete,
    invert,
    move,
    optimise,
    purify,
    safe_bound,
    settle,
)
from liftlock.exact.compiled import compiled, log

# A polynomial for ln on [1, 2], wrong by 4e-8: fast enough to look along thousands of edges.
_LN = (
    -2.368258865003623,
    5.618356260810005,
    -6.852844779390744,
    6.320600662472823,
    -4.068503632629845,
    1.7746671160324716,
    -0.5003275584936391,
    0.08231744036247372,
    -0.006006605050865348,
)
_ROUGH = 1e-6
"""Changes of the cost of this size are computed again, exactly."""
_GAIN = 1e-10
"""A step along an edge must gain this much."""


@compiled(f"void({_VECTOR},i8[::1],{_VECTOR})")
def rough_entropy(points, bits, sums):  # type: ignore[no-untyped-def]
    """Add -x ln x, nearly, to each sum; `bits` is the memory of `points` seen as integers."""
    mask, one = (1 << 52) - 1, 1023 << 52
    for j in range(len(points)):
        x = max(points[j], 1e-300)
        points[j] = x
        power = float((bits[j] >> 52) - 1023)
        bits[j] = (bits[j] & mask) | one
        m = points[j]
        log_m = _LN[8]
        log_m = log_m * m + _LN[7]
        log_m = log_m * m + _LN[6]
        log_m = log_m * m + _LN[5]
        log_m = log_m * m + _LN[4]
        log_m = log_m * m + _LN[3]
        log_m = log_m * m + _LN[2]
        log_m = log_m * m + _LN[1]
        log_m = log_m * m + _LN[0]
        sums[j] -= x * (log_m + power * 0.6931471805599453)


@compiled(
    f"i8({_MATRIX},{_VECTOR},{_VECTOR},{_NUMBERS},{_FLAGS},{_VECTOR},{_VECTOR},{_FLAGS},"
    f"{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},i8)"
)
def best_edge(  # type: ignore[no-untyped-def]
    tableau, lower, upper, basis, place, values, linear, kinds, signs, steps, sums, points, star
):
    """Return the variable whose entering gains most at the next vertex, or -1 if none gains.

    The variable `star` must not leave the basis (-1: any may).
    """
    size = len(values)
    bits = points.view(np.int64)
    for j in range(size):
        signs[j] = -1.0 if place[j] == AT_LOWER else 1.0
        steps[j] = upper[j] - lower[j]
    for i in range(len(basis)):
        row = tableau[i]
        variable = basis[i]
        down = max(values[variable] - lower[variable], 0.0)
        up = max(upper[variable] - values[variable], 0.0)
        for j in range(size):
            rate = signs[j] * row[j]
            limit = (down if rate < 0.0 else up) / max(abs(rate), 1e-30)
            limit = limit if abs(rate) > _PIVOT else 1e30
            steps[j] = min(steps[j], limit)
    for j in range(size):
        sums[j] = -signs[j] * steps[j] * linear[j]
    for i in range(len(basis)):
        if basis[i] == star:
            row = tableau[i]
            down = max(values[star] - lower[star], 0.0)
            for j in range(size):
                if -signs[j] * row[j] * steps[j] >= down - 1e-12:
                    sums[j] = np.inf
    # The entering variable itself, then each basic one.
    for j in range(size):
        points[j] = values[j] - signs[j] * steps[j]
    kind = kinds[0]
    if kind == ENTROPY:
        for j in range(size):
            points[j] = points[j] if kinds[j] == ENTROPY else 1.0
        rough_entropy(points, bits, sums)
    else:
        for j in range(size):
            sums[j] += phi(kinds[j], points[j]) - phi(kinds[j], values[j])
    for i in range(len(basis)):
        row = tableau[i]
        variable = basis[i]
        x = values[variable]
        share = linear[variable]
        before = phi(kinds[variable], x)
        for j in range(size):
            change = signs[j] * row[j] * steps[j]
            points[j] = x + change
            sums[j] += share * change - before
        if kinds[variable] == ENTROPY:
            rough_entropy(points, bits, sums)
        elif kinds[variable] == SQUARE:
            for j in range(size):
                sums[j] -= points[j] * points[j]
    entering = -1
    best = -_ROUGH
    for j in range(size):
        if sums[j] < best and place[j] != BASIC:
            best = sums[j]
            entering = j
    if entering >= 0:
        return entering
    best = -_GAIN
    for j in range(size):
        if sums[j] < _ROUGH and place[j] != BASIC and steps[j] > 0.0:
            after = values[j] - signs[j] * steps[j]
            change = (
                linear[j] * (after - values[j]) + phi(kinds[j], after) - phi(kinds[j], values[j])
            )
            for i in range(len(basis)):
                variable = basis[i]
                x = values[variable]
                after = x + signs[j] * tableau[i, j] * steps[j]
                change += linear[variable] * (after - x)
                change += phi(
                    kinds[variable], max(after, 0.0) if kinds[variable] == ENTROPY else after
                )
                change -= phi(kinds[variable], x)
            if change < best:
                best = change
                entering = j
    return entering


@compiled(f"void({_MATRIX},{_MATRIX},{_MATRIX})")
def fill(inverse, matrix, tableau):  # type: ignore[no-untyped-def]
    """Compute the tableau: the inverse of the basis times the matrix."""
    rows, size = matrix.shape
    for i in range(rows):
        out = tableau[i]
        for j in range(size):
            out[j] = 0.0
        for k in range(rows):
            share = inverse[i, k]
            if share != 0.0:
                row = matrix[k]
                for j in range(size):
                    out[j] += share * row[j]


@compiled(
    f"void({_MATRIX},{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},{_FLAGS},{_VECTOR},{_MATRIX},"
    f"{_NUMBERS},i8,i8[:,::1],{_MATRIX},{_VECTOR})"
)
def descend(  # type: ignore[no-untyped-def]
    matrix,
    right,
    lower,
    upper,
    linear,
    kinds,
    reach,
    points,
    chosen,
    most,
    indices,
    entries,
    costs,
):
    """Descend from points[chosen[k]] for each k, and write the vertex: indices, entries, cost.

    The variables are the coordinates of the point, then one slack for each row but the first,
    which is the sum, then any others. `reach` says how large each coordinate may become, for
    slopes at 0; `most` is how many steps along edges may be taken. Two vertices are written for
    each start: the best in which the largest coordinate stays positive, and the best.
    """
    rows = len(right)
    size = len(linear)
    basis = np.empty(rows, np.int64)
    place = np.empty(size, np.int8)
    inverse = np.empty((rows, rows))
    tableau = np.empty((rows, size))
    values = np.empty(size)
    cost = np.empty(size)
    column = np.empty(rows)
    signs, steps, sums = np.empty(size), np.empty(size), np.empty(size)
    buffer = np.empty(size)
    count = points.shape[1]
    for start in range(len(chosen)):
        costs[2 * start : 2 * start + 2] = np.inf
        largest = 0
        for j in range(size):
            if j < count:
                values[j] = points[chosen[start], j]
                place[j] = BETWEEN if values[j] > 0 else AT_LOWER
                if values[j] > values[largest]:
                    largest = j
            else:
                values[j] = 0.0
                place[j] = BETWEEN
        basis[0] = largest
        place[largest] = BASIC
        for i in range(1, rows):
            basis[i] = count + i - 1
            place[count + i - 1] = BASIC
        complete(matrix, count, lower, upper, values)
        if not invert(matrix, basis, inverse):
            continue
        settle(matrix, right, basis, place, inverse, values)
        for j in range(size):
            cost[j] = linear[j]
            if kinds[j] == ENTROPY:
                cost[j] -= log(values[j]) + 1 if values[j] > 0 else log(reach[j])
            elif kinds[j] == SQUARE:
                cost[j] -= 2 * values[j]
        purify(matrix, right, lower, upper, basis, place, inverse, values, cost)
        star = largest
        fill(inverse, matrix, tableau)
        for turn in range(2):
            for _ in range(most):
                entering = best_edge(
                    tableau, lower, upper, basis, place, values, linear, kinds,
                    signs, steps, sums, buffer, star,
                )  # fmt: skip
                if entering < 0:
                    break
                sign = 1.0 if place[entering] == AT_LOWER else -1.0
                move(matrix, lower, upper, basis, place, inverse, values, entering, sign, column)
                for i in range(rows):
                    if basis[i] == entering:
                        row = tableau[i]
                        factor = 1.0 / row[entering]
                        for j in range(size):
                            row[j] *= factor
                        for k in range(rows):
                            share = tableau[k, entering]
                            if k != i and share != 0.0:
                                other = tableau[k]
                                for j in range(size):
                                    other[j] -= share * row[j]
            if invert(matrix, basis, inverse):
                settle(matrix, right, basis, place, inverse, values)
            total = 0.0
            for j in range(size):
                if values[j] != 0.0:
                    total += linear[j] * values[j] + phi(kinds[j], values[j])
            costs[2 * start + turn] = total
            for i in range(rows):
                indices[2 * start + turn, i] = basis[i]
                entries[2 * start + turn, i] = values[basis[i]]
            star = -1


@compiled(
    f"i8({_MATRIX},{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},{_NUMBERS},{_FLAGS},{_MATRIX},"
    f"{_VECTOR},{_VECTOR},{_MATRIX},i8,i8)"
)
def extremes(  # type: ignore[no-untyped-def]
    matrix,
    right,
    scales,
    lower,
    upper,
    basis,
    place,
    inverse,
    values,
    reach,
    vertices,
    first,
    last,
):
    """Maximise coordinates first..last - 1 in turn; write safe upper bounds and the vertices.

    Returns the steps taken.
    """
    rows = len(right)
    size = len(values)
    cost = np.zeros(size)
    multipliers, reduced = np.empty(rows), np.empty(size)
    taken = 0
    for x in range(first, last):
        cost[x] = -1.0
        steps = optimise(
            matrix, right, lower, upper, basis, place, inverse, values, cost,
            multipliers, reduced, 1000,
        )  # fmt: skip
        taken += steps + 1 if steps >= 0 else 1000
        bound = safe_bound(scales, right, lower, upper, cost, multipliers, reduced, 0.0)
        reach[x] = min(reach[x], -bound)
        for j in range(vertices.shape[1]):
            vertices[x - first, j] = values[j]
        cost[x] = 0.0
    return taken
