"""Descent from vertex to vertex for a concave separable cost over a polytope of few rows.

From a point of the polytope: linearise the cost where it stands and walk to a vertex; then look
along every edge of that vertex and take the best, until no neighbour is better. Where the sum is
the only row, two coordinates are also sent to their other ends at a time. What it ends in is a
vertex that is better than all its neighbours.
"""

from __future__ import annotations

import numpy as np

from liftlock._solver.kernels.costs import (
    COST,
    ENTROPY,
    SQUARE,
    add_rough_entropy,
    phi,
    total,
)
from liftlock._solver.kernels.simplex import (
    AT_LOWER,
    AT_UPPER,
    BASIC,
    CLOSE,
    HAIR,
    INTEGER,
    MATRIX,
    NOTHING,
    NUMBERS,
    PROGRAMME,
    REAL,
    SOLVER,
    TRUTH,
    VECTOR,
    VERTEX,
    VISIBLE,
    Vertex,
    move,
    purify,
    refresh,
    start_at_point,
)
from liftlock.exact.compiled import compiled, log


@compiled(REAL(COST, VERTEX, MATRIX, REAL, REAL, INTEGER))
def exact_change(cost, vertex, tableau, sign, step, entering):  # type: ignore[no-untyped-def]
    """Return how the cost changes when a variable enters and goes so far."""
    basis, _, _, values = vertex
    linear, kinds = cost
    x = values[entering]
    after = x - sign * step
    change = linear[entering] * (after - x) + phi(kinds[entering], after) - phi(kinds[entering], x)
    for i in range(len(basis)):
        variable = basis[i]
        x = values[variable]
        after = x + sign * tableau[i, entering] * step
        change += linear[variable] * (after - x)
        change += phi(kinds[variable], max(after, 0.0) if kinds[variable] == ENTROPY else after)
        change -= phi(kinds[variable], x)
    return change


@compiled(INTEGER(PROGRAMME, COST, VERTEX, MATRIX, MATRIX, INTEGER))
def best_edge(programme, cost, vertex, tableau, space, star):  # type: ignore[no-untyped-def]
    """Return the variable whose entering gains most at the next vertex, or -1 if none gains.

    The variable `star` must not leave the basis (-1: any may). `space` has four rows to work in.
    """
    basis, place, _, values = vertex
    linear, kinds = cost
    lower, upper = programme.lower, programme.upper
    signs, steps, sums, points = space[0], space[1], space[2], space[3]
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
            limit = limit if abs(rate) > VISIBLE else 1e30
            steps[j] = min(steps[j], limit)
    for j in range(size):
        sums[j] = -signs[j] * steps[j] * linear[j]
    for i in range(len(basis)):
        if basis[i] == star:
            row = tableau[i]
            down = max(values[star] - lower[star], 0.0)
            for j in range(size):
                if -signs[j] * row[j] * steps[j] >= down - HAIR:
                    sums[j] = np.inf
    # The entering variable itself, then each basic one.
    for j in range(size):
        points[j] = values[j] - signs[j] * steps[j]
    if kinds[0] == ENTROPY:
        for j in range(size):
            points[j] = points[j] if kinds[j] == ENTROPY else 1.0
            sums[j] -= phi(kinds[j], values[j])
        add_rough_entropy(points, bits, sums)
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
            add_rough_entropy(points, bits, sums)
        elif kinds[variable] == SQUARE:
            for j in range(size):
                sums[j] -= points[j] * points[j]
    entering = -1
    best = -CLOSE  # changes of this size are computed again, exactly
    for j in range(size):
        if sums[j] < best and place[j] != BASIC:
            best = sums[j]
            entering = j
    if entering >= 0:
        return entering
    best = -SOLVER
    for j in range(size):
        if sums[j] < CLOSE and place[j] != BASIC and steps[j] > 0.0:
            change = exact_change(cost, vertex, tableau, signs[j], steps[j], j)
            if change < best:
                best = change
                entering = j
    return entering


@compiled(TRUTH(PROGRAMME, COST, VERTEX, MATRIX))
def exchange(programme, cost, vertex, space):  # type: ignore[no-untyped-def]
    """Send two variables to their other ends, the pair that gains most; False if none gains.

    For programmes whose only row is the sum: the one basic variable takes the difference.
    """
    basis, place, _, values = vertex
    linear, kinds = cost
    lower, upper = programme.lower, programme.upper
    moves, gains = space[0], space[1]
    middle = basis[0]
    kind, rate = kinds[middle], linear[middle]
    low, high, x = lower[middle], upper[middle], values[middle]
    if high <= low:
        return False
    before = phi(kind, x) + rate * x
    bottom = phi(kind, low) + rate * low
    slope = (phi(kind, high) + rate * high - bottom) / (high - low)
    for j in range(len(values)):
        moves[j] = (upper[j] if place[j] == AT_LOWER else lower[j]) - values[j]
        gains[j] = linear[j] * moves[j]
        gains[j] += phi(kinds[j], values[j] + moves[j]) - phi(kinds[j], values[j])
    moves[middle] = 2.0  # more than it can take
    best = -SOLVER
    first, second = -1, -1
    for i in range(len(values)):
        for j in range(i):
            new = x - moves[i] - moves[j]
            if new < low or new > high:
                continue
            # A concave cost is no less than its chord, which needs no logarithm.
            change = gains[i] + gains[j] - before
            if change + bottom + slope * (new - low) >= best:
                continue
            change += phi(kind, new) + rate * new
            if change < best:
                best = change
                first, second = i, j
    if first < 0:
        return False
    for j in (first, second):
        place[j] = AT_UPPER if place[j] == AT_LOWER else AT_LOWER
        values[j] = upper[j] if place[j] == AT_UPPER else lower[j]
        values[middle] -= moves[j]
    return True


@compiled(NOTHING(MATRIX, MATRIX, MATRIX))
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


@compiled(NOTHING(NUMBERS, INTEGER, MATRIX))
def pivot(basis, entering, tableau):  # type: ignore[no-untyped-def]
    """Follow a change of the basis in the tableau; nothing if the variable did not enter."""
    rows, size = tableau.shape
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


@compiled(NOTHING(PROGRAMME, COST, VERTEX, MATRIX, MATRIX, INTEGER, INTEGER))
def walk(programme, cost, vertex, tableau, space, star, most):  # type: ignore[no-untyped-def]
    """Take the best edge, or exchange, while that gains, at most so many times."""
    lower, upper = programme.lower, programme.upper
    alone = len(vertex.basis) == 1
    column = np.empty(len(vertex.basis))
    for _ in range(most):
        entering = best_edge(programme, cost, vertex, tableau, space, star)
        if entering >= 0:
            sign = 1.0 if vertex.place[entering] == AT_LOWER else -1.0
            move(programme, lower, upper, vertex, entering, sign, column)
            pivot(vertex.basis, entering, tableau)
        elif not alone or not exchange(programme, cost, vertex, space):
            break
    refresh(programme, vertex)


@compiled(INTEGER(PROGRAMME, COST, VECTOR, MATRIX, NUMBERS, INTEGER, MATRIX, VECTOR))
def descend(programme, cost, reach, points, chosen, most, vertices, costs):  # type: ignore[no-untyped-def]
    """Descend from points[chosen[k]] for each k; write the vertices and their costs.

    `reach` says how large each coordinate may become, for slopes at 0; `most` is how many steps
    may be taken. With several rows two vertices are written for each start: the best in which the
    largest coordinate stays positive, and the best. Returns how many were written.
    """
    rows, size = programme.matrix.shape
    count = points.shape[1]
    vertex = Vertex(
        np.empty(rows, np.int64), np.empty(size, np.int8), np.empty((rows, rows)), np.empty(size)
    )
    tableau, space, slopes = np.empty((rows, size)), np.empty((4, size)), np.empty(size)
    values = vertex.values
    written = 0
    for k in range(len(chosen)):
        if not start_at_point(programme, points[chosen[k]], vertex):
            continue
        star = vertex.basis[0] if rows > 1 else -1
        for j in range(size):
            slopes[j] = cost.linear[j]
            if cost.kinds[j] == ENTROPY:
                slopes[j] -= log(values[j]) + 1 if values[j] > 0 else log(reach[j])
            elif cost.kinds[j] == SQUARE:
                slopes[j] -= 2 * values[j]
        purify(programme, programme.lower, programme.upper, vertex, slopes)
        fill(vertex.inverse, programme.matrix, tableau)
        while True:
            walk(programme, cost, vertex, tableau, space, star, most)
            costs[written] = total(cost, values)
            for j in range(count):
                vertices[written, j] = values[j]
            written += 1
            if star < 0:
                break
            star = -1
    return written
