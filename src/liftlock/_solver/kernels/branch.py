"""Branch and bound for a concave separable cost over a polytope of few rows.

    minimise linear . x + sum_j phi_j(x_j)   subject to   matrix x = right,  lower <= x <= upper

with each phi_j concave. On a box, a concave function is at least its chord, so the chords give a
linear programme whose optimum bounds the cost from below. Where the bound is not good enough the
box is cut in two at the coordinate whose chord errs most, at its present value: both halves keep
the present point, so that each starts from a feasible basis, and each has better chords.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from liftlock._solver.kernels.costs import COST, LINEAR, Cost, chords, phi, total
from liftlock._solver.kernels.simplex import (
    AT_LOWER,
    AT_UPPER,
    FLAGS,
    HAIR,
    INTEGER,
    MATRIX,
    NOTHING,
    NUMBERS,
    PROGRAMME,
    REAL,
    RESIDUE,
    ROUNDING,
    TRUTH,
    VECTOR,
    VERTEX,
    VISIBLE,
    Programme,
    Vertex,
    optimise,
    pair_of,
    purify,
    reduced_cost_error,
    refresh,
    safe_bound,
    start_at_point,
    tuple_of,
)
from liftlock._solver.limits import LIMITS
from liftlock.exact.compiled import compiled
from liftlock.exact.integers import Floats
from liftlock.exact.tolerances import TOLERANCES

_STEPS = LIMITS.steps
_LEAK = TOLERANCES.share
"""What coordinates left out may take from a bound, as a share of what it lacks."""


class Boxes(NamedTuple):
    """Boxes that are open, one a slot: ends, the vertex of the relaxation, its cost, its bound."""

    low: Floats
    high: Floats
    values: Floats
    slopes: Floats
    places: npt.NDArray[np.int8]
    inverses: Floats
    bases: npt.NDArray[np.int64]
    bounds: Floats
    heap: npt.NDArray[np.int64]
    """Slots by their bounds, least first."""
    free: npt.NDArray[np.int64]
    """Slots that nothing is in."""
    sizes: npt.NDArray[np.int64]
    """How many slots there are in the heap, and how many are free."""


class Rest(NamedTuple):
    """Coordinates that a small problem leaves out, in terms of the whole one."""

    matrix: Floats
    cost: Floats
    """Of the relaxation of the whole region."""
    most: Floats
    """How large each may be; 0 for those that are worked with."""


BOXES = tuple_of(
    Boxes,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    types.Array(types.int8, 2, "C"),
    types.Array(REAL, 3, "C"),
    types.Array(INTEGER, 2, "C"),
    VECTOR,
    NUMBERS,
    NUMBERS,
    NUMBERS,
)
REST = tuple_of(Rest, MATRIX, VECTOR, VECTOR)


@compiled(NOTHING(PROGRAMME, INTEGER, VECTOR, VECTOR, VECTOR))
def squeeze(programme, count, lower, upper, room):  # type: ignore[no-untyped-def]
    """Lower the upper bounds of the coordinates by what the rest must leave room for.

    With mass 1 - sum lower to give away, one coordinate cannot take more than that, nor so much
    that some row could not be kept whatever the rest does. `room` is working space.
    """
    matrix, limits = programme.matrix, programme.limits
    rest = 1.0
    for j in range(count):
        rest -= lower[j]
    rest = max(rest, 0.0)
    for j in range(count):
        room[j] = rest
    for i in range(1, len(limits)):
        base = 0.0
        size = 0.0
        for j in range(count):
            base += matrix[i, j] * lower[j]
            size += abs(matrix[i, j] * lower[j])
        row = matrix[i]
        largest, least = limits[i, 3], limits[i, 2]
        ends = abs(limits[i, 0]) + abs(limits[i, 1])
        off = ROUNDING * (count + 4) * (size + abs(largest) + abs(least) + ends)
        short = max(base + rest * largest - limits[i, 0] + off, 0.0)
        over = max(limits[i, 1] - base - rest * least + off, 0.0)
        for j in range(count):
            # room * (largest - entry) <= short, and room * (entry - least) <= over
            if room[j] * (largest - row[j]) > short:
                room[j] = short / (largest - row[j])
            if room[j] * (row[j] - least) > over:
                room[j] = over / (row[j] - least)
    for j in range(count):
        top = lower[j] + max(room[j], 0.0) + HAIR
        if top < upper[j]:
            upper[j] = top


@compiled(NOTHING(VECTOR, VECTOR, FLAGS, VECTOR, REAL, REAL))
def tighten(lower, upper, place, reduced, off, slack):  # type: ignore[no-untyped-def]
    """Cut off what a reduced cost, which may be `off`, makes dearer by more than `slack`."""
    for j in range(len(lower)):
        wide = upper[j] - lower[j]
        rate = abs(reduced[j]) - off
        if rate * wide <= slack:
            continue
        if place[j] == AT_LOWER and reduced[j] > 0.0:
            upper[j] = lower[j] + slack / rate * (1 + VISIBLE)
        elif place[j] == AT_UPPER and reduced[j] < 0.0:
            lower[j] = upper[j] - slack / rate * (1 + VISIBLE)


@compiled(NOTHING(BOXES, INTEGER))
def push(boxes, node):  # type: ignore[no-untyped-def]
    """Put a box into the heap, least bound first."""
    heap, bounds = boxes.heap, boxes.bounds
    k = boxes.sizes[0]
    boxes.sizes[0] += 1
    while k > 0:
        above = (k - 1) >> 1
        if bounds[heap[above]] <= bounds[node]:
            break
        heap[k] = heap[above]
        k = above
    heap[k] = node


@compiled(INTEGER(BOXES))
def pop(boxes):  # type: ignore[no-untyped-def]
    """Take the box of least bound out of the heap."""
    heap, bounds = boxes.heap, boxes.bounds
    top = heap[0]
    boxes.sizes[0] -= 1
    size = boxes.sizes[0]
    node = heap[size]
    k = 0
    while True:
        below = 2 * k + 1
        if below >= size:
            break
        if below + 1 < size and bounds[heap[below + 1]] < bounds[heap[below]]:
            below += 1
        if bounds[heap[below]] >= bounds[node]:
            break
        heap[k] = heap[below]
        k = below
    heap[k] = node
    return top


@compiled(REAL(REST, VECTOR, VECTOR, VECTOR))
def leak(rest, cost, multipliers, reduced):  # type: ignore[no-untyped-def]
    """Return what coordinates that were left out may take from a bound, 0 or less."""
    size = len(rest.most)
    for j in range(size):
        reduced[j] = cost[j]
    for i in range(len(multipliers)):
        share = multipliers[i]
        row = rest.matrix[i]
        for j in range(size):
            reduced[j] -= share * row[j]
    taken = 0.0
    for j in range(size):
        taken += min(reduced[j], 0.0) * rest.most[j]
    return taken


@compiled(TRUTH(PROGRAMME, INTEGER, REAL, REAL, VECTOR, VECTOR, VECTOR, VERTEX))
def start(programme, star, star_low, star_high, point, lower, upper, vertex):  # type: ignore[no-untyped-def]
    """Write the ends of a region, and a vertex in it; False if none is found.

    `point` is a vertex at which v_star is as large as it can be.
    """
    count = len(point)
    values = vertex.values
    cost = np.zeros(len(values))
    if not start_at_point(programme, point, vertex):
        return False
    if star >= 0:
        lower[star] = min(star_low, values[star])
        upper[star] = max(star_high, values[star])
        cost[star] = -1.0
        for j in range(count):
            if j != star:
                upper[j] = min(upper[j], max(upper[star], values[j]))
        squeeze(programme, count, lower, upper, np.empty(count))
        for j in range(count):
            upper[j] = max(upper[j], values[j])
    purify(programme, lower, upper, vertex, cost)
    return True


@compiled(REAL(PROGRAMME, COST, REAL, VECTOR, VECTOR, VERTEX, VECTOR, VECTOR))
def relax(programme, cost, goal, lower, upper, vertex, slopes, reduced):  # type: ignore[no-untyped-def]
    """Bound a whole region by its chords, and draw its ends in; twice, since that helps itself.

    Writes the cost of the relaxation, and its reduced costs.
    """
    multipliers = np.empty(len(vertex.basis))
    bound = -np.inf
    for _ in range(3):
        constant = chords(cost, lower, upper, slopes)
        optimise(programme, lower, upper, vertex, slopes, multipliers, reduced, _STEPS)
        bound = safe_bound(programme, lower, upper, slopes, multipliers, reduced, constant)
        if bound >= goal:
            return bound
        off = reduced_cost_error(programme, slopes, multipliers)
        tighten(lower, upper, vertex.place, reduced, off, goal - bound)
    chords(cost, lower, upper, slopes)
    return bound


@compiled(NOTHING(VECTOR, VERTEX, VECTOR, INTEGER, INTEGER, FLAGS))
def choose(lower, vertex, reduced, star, width, chosen):  # type: ignore[no-untyped-def]
    """Mark the `width` most promising coordinates, and all that are not, or cannot be, at 0."""
    count = len(chosen)
    merit = reduced[:count].copy()
    for i in range(len(vertex.basis)):
        if vertex.basis[i] < count:
            merit[vertex.basis[i]] = -np.inf
    for j in range(count):
        if vertex.place[j] == AT_UPPER or lower[j] != 0.0:
            merit[j] = -np.inf
    if star >= 0:
        merit[star] = -np.inf
    order = np.argsort(merit)
    for k in range(count):
        chosen[order[k]] = 1 if k < width or merit[order[k]] == -np.inf else 0


@compiled(
    NOTHING(PROGRAMME, COST, VECTOR, VECTOR, VERTEX, VECTOR, FLAGS, BOXES, MATRIX, COST, NUMBERS)
)
def shrink(  # type: ignore[no-untyped-def]
    programme, cost, lower, upper, vertex, slopes, chosen, boxes, matrix, small, names
):
    """Write the problem of the chosen coordinates and all others, and its first box.

    names[k] is the variable that is number k in the small problem.
    """
    rows, whole = programme.matrix.shape
    count = len(chosen)
    position = np.empty(whole, np.int64)
    k = 0
    for j in range(whole):
        position[j] = -1
        if j >= count or chosen[j] == 1:
            names[k] = j
            position[j] = k
            k += 1
    for k in range(len(names)):
        j = names[k]
        small.linear[k] = cost.linear[j]
        small.kinds[k] = cost.kinds[j]
        for i in range(rows):
            matrix[i, k] = programme.matrix[i, j]
        boxes.low[0, k] = lower[j]
        boxes.high[0, k] = upper[j]
        boxes.values[0, k] = vertex.values[j]
        boxes.slopes[0, k] = slopes[j]
        boxes.places[0, k] = vertex.place[j]
    for i in range(rows):
        boxes.bases[0, i] = position[vertex.basis[i]]
        for k in range(rows):
            boxes.inverses[0, i, k] = vertex.inverse[i, k]


@compiled(pair_of(INTEGER, REAL)(COST, VECTOR, VECTOR, VECTOR, VECTOR, INTEGER))
def choose_cut(cost, low, high, here, slopes, star):  # type: ignore[no-untyped-def]
    """Return the coordinate at which a box is cut, and where; -1 if its relaxation is exact.

    The star while its box is wide, else where the chord errs most.
    """
    if star >= 0:
        near, far = max(1.0 - high[star], 0.02), 1.0 - low[star]
        if far > 2.0 * near:
            return star, 1.0 - np.sqrt(near * far)
    cut = -1
    at = 0.0
    worst = RESIDUE
    for k in range(len(here)):
        x = here[k]
        kind = cost.kinds[k]
        if kind != LINEAR and x > low[k] and x < high[k]:
            slope = slopes[k] - cost.linear[k]
            error = phi(kind, x) - phi(kind, low[k]) - slope * (x - low[k])
            if error > worst:
                worst = error
                cut = k
                at = x
    return cut, at


@compiled(
    TRUTH(PROGRAMME, REST, VECTOR, VECTOR, VERTEX, INTEGER, REAL, REAL, VECTOR, VECTOR, VECTOR)
)
def enter_half(  # type: ignore[no-untyped-def]
    programme, rest, low, high, vertex, cut, at, side, multipliers, reduced, space
):
    """Walk into the half of a box below (side 1) or above (-1) the cut; False if it is empty."""
    drive = np.zeros(len(low))
    drive[cut] = side
    end = low[cut] if side > 0 else high[cut]
    if side > 0:
        low[cut] = at
    else:
        high[cut] = at
    optimise(programme, low, high, vertex, drive, multipliers, reduced, _STEPS)
    if side * vertex.values[cut] > side * at + VISIBLE:
        least = safe_bound(programme, low, high, drive, multipliers, reduced, 0.0)
        least += leak(rest, np.zeros(len(rest.most)), multipliers, space)
        least -= reduced_cost_error(programme, drive, multipliers)
        if least > side * at:
            return False
    # Now at the cut, which is the other end of this half.
    if side > 0:
        if vertex.place[cut] == AT_LOWER:
            vertex.place[cut] = AT_UPPER
        low[cut] = end
    else:
        if vertex.place[cut] == AT_UPPER:
            vertex.place[cut] = AT_LOWER
        high[cut] = end
    return True


@compiled(
    pair_of(REAL, REAL)(
        PROGRAMME, COST, REST, BOXES, INTEGER, INTEGER, REAL, INTEGER, REAL, VECTOR, VECTOR, VECTOR
    )
)
def bound_child(  # type: ignore[no-untyped-def]
    programme, cost, rest, boxes, node, child, side, cut, at, multipliers, reduced, space
):
    """Write the half of a box below (side 1) or above (-1) the cut; return its bound and leak.

    The bound is infinite if the half is empty.
    """
    rows, size = programme.matrix.shape
    low, high = boxes.low[child, :size], boxes.high[child, :size]
    vertex = Vertex(
        boxes.bases[child], boxes.places[child, :size], boxes.inverses[child],
        boxes.values[child, :size],
    )  # fmt: skip
    # Loops: whole arrays at once take many seconds to compile.
    for k in range(size):
        low[k] = boxes.low[node, k]
        high[k] = boxes.high[node, k]
        vertex.values[k] = boxes.values[node, k]
        vertex.place[k] = boxes.places[node, k]
    for i in range(rows):
        vertex.basis[i] = boxes.bases[node, i]
        for k in range(rows):
            vertex.inverse[i, k] = boxes.inverses[node, i, k]
    if side * vertex.values[cut] > side * at + RESIDUE and not enter_half(
        programme, rest, low, high, vertex, cut, at, side, multipliers, reduced, space
    ):
        return np.inf, 0.0
    if side > 0:
        high[cut] = at
    else:
        low[cut] = at
    kept = size - len(rest.cost) + len(rest.most)
    slopes = boxes.slopes[child, :size]
    squeeze(programme, kept, low, high, reduced)
    constant = chords(cost, low, high, slopes)
    optimise(programme, low, high, vertex, slopes, multipliers, reduced, _STEPS)
    bound = safe_bound(programme, low, high, slopes, multipliers, reduced, constant)
    taken = leak(rest, rest.cost, multipliers, space)
    bound -= reduced_cost_error(programme, rest.cost, multipliers)
    return bound + taken, taken


@compiled(NOTHING(FLAGS, VECTOR, VECTOR))
def join(chosen, most, reduced):  # type: ignore[no-untyped-def]
    """Choose half as many coordinates again: those left out that a bound suffers from most."""
    count = len(chosen)
    kept = 0
    wish = np.empty(count)
    for j in range(count):
        kept += chosen[j]
        wish[j] = reduced[j] if most[j] > 0.0 else np.inf
    order = np.argsort(wish)
    for k in range(min(count - kept, max(kept // 2, 8))):
        chosen[order[k]] = 1


@compiled(
    REAL(
        PROGRAMME, COST, REST, REAL, INTEGER, INTEGER, NUMBERS, FLAGS, BOXES, MATRIX, NUMBERS,
        NUMBERS,
    )
)  # fmt: skip
def explore(  # type: ignore[no-untyped-def]
    programme, cost, rest, goal, star, budget, names, chosen, boxes, found, counts, halt
):
    """Open boxes, that of least bound first; return the least bound that is left.

    NaN if coordinates that were left out spoil a bound: then more are chosen.
    """
    rows, size = programme.matrix.shape
    kept = size - len(rest.cost) + len(rest.most)
    multipliers, reduced, space = np.empty(rows), np.empty(size), np.empty(len(rest.cost))
    here = np.empty(size)
    enough = budget
    opened = 0
    leaf = np.inf
    spoiled = False
    while boxes.sizes[0] > 0 and not spoiled:
        if boxes.bounds[boxes.heap[0]] >= goal or opened >= budget or boxes.sizes[1] < 2:
            break
        if (counts[0] > 0 and counts[0] >= len(found)) or opened >= enough or halt[0] != 0:
            break
        node = pop(boxes)
        opened += 1
        vertex = Vertex(
            boxes.bases[node], boxes.places[node, :size], boxes.inverses[node],
            boxes.values[node, :size],
        )  # fmt: skip
        # Anew, so that rounding errors do not grow with the depth.
        refresh(programme, vertex)
        cut, at = choose_cut(
            cost, boxes.low[node, :size], boxes.high[node, :size], vertex.values,
            boxes.slopes[node, :size], star,
        )  # fmt: skip
        if cut < 0:
            leaf = min(leaf, boxes.bounds[node])
        for side in (1.0, -1.0):
            if cut < 0 or spoiled:
                continue
            child = boxes.free[boxes.sizes[1] - 1]
            bound, taken = bound_child(
                programme, cost, rest, boxes, node, child, side, cut, at, multipliers, reduced,
                space,
            )  # fmt: skip
            bound = max(bound, boxes.bounds[node])
            if bound >= goal:
                continue
            if taken < -_LEAK * (goal - bound):
                spoiled = True
                join(chosen, rest.most, space)
                continue
            low, high = boxes.low[child, :size], boxes.high[child, :size]
            slopes = boxes.slopes[child, :size]
            for k in range(size):
                here[k] = boxes.values[child, k]
            if total(cost, here) < goal and counts[0] < len(found):
                found[counts[0], :] = 0.0
                for k in range(kept):
                    found[counts[0], names[k]] = here[k]
                counts[0] += 1
                enough = min(enough, 2 * opened + 500)
            off = reduced_cost_error(programme, slopes, multipliers)
            tighten(low, high, boxes.places[child, :size], reduced, off, goal - bound)
            chords(cost, low, high, slopes)
            boxes.bounds[child] = bound
            boxes.sizes[1] -= 1
            push(boxes, child)
        boxes.free[boxes.sizes[1]] = node
        boxes.sizes[1] += 1
    counts[1] += opened
    if spoiled:
        return np.nan
    if boxes.sizes[0] > 0:
        leaf = min(leaf, boxes.bounds[boxes.heap[0]])
    return leaf


@compiled(
    REAL(
        PROGRAMME, COST, VECTOR, REAL, INTEGER, REAL, VECTOR, INTEGER, INTEGER, BOXES, MATRIX,
        NUMBERS, NUMBERS,
    )
)  # fmt: skip
def bound_region(  # type: ignore[no-untyped-def]
    programme, cost, reach, goal, star, star_low, point, budget, width, boxes, found, counts, halt
):
    """Return a lower bound, at most `goal`, of the cost where coordinate `star` is the largest.

    More exactly: on the region star_low <= v_star <= reach, v_j <= v_star (star -1: on the whole
    polytope). `point` is a vertex at which v_star is as large as it can be. At most `budget` boxes
    are opened. At first only the `width` most promising coordinates are worked with; the others
    stay in every bound, and join when they would spoil one.

    counts: points found below the goal (they are written to `found`), boxes opened, how often
    coordinates had to join. Once a point is found it goes on for about as long as that took. It
    stops when somebody writes to halt[0].
    """
    rows, whole = programme.matrix.shape
    count = len(point)
    lower, upper = programme.lower.copy(), reach.copy()
    vertex = Vertex(
        np.empty(rows, np.int64), np.empty(whole, np.int8), np.empty((rows, rows)), np.empty(whole)
    )
    slopes, reduced = np.empty(whole), np.empty(whole)
    if not start(programme, star, star_low, reach[max(star, 0)], point, lower, upper, vertex):
        return -np.inf
    bound = relax(programme, cost, goal, lower, upper, vertex, slopes, reduced)
    if bound >= goal:
        return goal
    chosen = np.empty(count, np.int8)
    choose(lower, vertex, reduced, star, width, chosen)
    while True:
        most = np.empty(count)
        kept, place = 0, -1
        for j in range(count):
            if j == star:
                place = kept
            kept += chosen[j]
            most[j] = 0.0 if chosen[j] == 1 else upper[j]
        size = kept + whole - count
        names = np.empty(size, np.int64)
        matrix = np.empty((rows, size))
        small = Cost(np.empty(size), np.empty(size, np.int8))
        shrink(programme, cost, lower, upper, vertex, slopes, chosen, boxes, matrix, small, names)
        # One box is open, the others are free.
        boxes.bounds[0] = bound
        boxes.heap[0] = 0
        boxes.sizes[0] = 1
        boxes.sizes[1] = len(boxes.free) - 1
        for k in range(len(boxes.free)):
            boxes.free[k] = len(boxes.free) - 1 - k
        least = explore(
            Programme(
                matrix, programme.right, programme.lower, programme.upper, programme.scales,
                programme.limits,
            ),
            small, Rest(programme.matrix, slopes, most), goal, place, budget, names, chosen,
            boxes, found, counts, halt,
        )  # fmt: skip
        if not np.isnan(least):
            return min(least, goal)
        counts[2] += 1


@compiled(
    INTEGER(
        PROGRAMME, COST, VECTOR, REAL, NUMBERS, REAL, MATRIX, INTEGER, INTEGER, INTEGER, INTEGER,
        MATRIX, NUMBERS, VECTOR, NUMBERS,
    )
)  # fmt: skip
def bound_regions(  # type: ignore[no-untyped-def]
    programme, cost, reach, goal, stars, star_low, vertices, budget, width, room, each, found,
    counts, bounds, halt,
):  # fmt: skip
    """Bound the regions of some stars, one after the other; return how many were done.

    Each may write `each` points that it found.
    """
    own = np.zeros(3, np.int64)
    rows, size = programme.matrix.shape
    slots = min(room, 2 * budget + 3)
    boxes = Boxes(
        np.empty((slots, size)),
        np.empty((slots, size)),
        np.empty((slots, size)),
        np.empty((slots, size)),
        np.empty((slots, size), np.int8),
        np.empty((slots, rows, rows)),
        np.empty((slots, rows), np.int64),
        np.empty(slots),
        np.empty(slots, np.int64),
        np.empty(slots, np.int64),
        np.zeros(2, np.int64),
    )
    for k in range(len(stars)):
        if halt[0] != 0 or counts[0] + each > len(found):
            return k
        own[:] = 0
        bounds[k] = bound_region(
            programme, cost, reach, goal, stars[k], star_low, vertices[max(stars[k], 0)], budget,
            width, boxes, found[counts[0] : counts[0] + each], own, halt,
        )  # fmt: skip
        for i in range(3):
            counts[i] += own[i]
    return len(stars)
