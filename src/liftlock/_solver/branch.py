"""Branch and bound for a concave separable cost over a polytope of few rows.

    minimise linear . x + sum_j phi_j(x_j)   subject to   matrix x = right,  lower <= x <= upper

with each phi_j concave. On a box, a concave function is at least its chord, so the chords give a
linear programme whose optimum bounds the cost from below. Where the bound is not good enough the
box is cut in two at the coordinate whose chord errs most, at its present value: both halves keep
the present point, so that each starts from a feasible basis, and each has better chords.
"""

from __future__ import annotations

import numpy as np

from liftlock._solver.simplex import (
    _FLAGS,
    _MATRIX,
    _NUMBERS,
    _ROUNDING,
    _VECTOR,
    AT_LOWER,
    AT_UPPER,
    BASIC,
    BETWEEN,
    complete,
    doubt,
    invert,
    optimise,
    purify,
    safe_bound,
    settle,
)
from liftlock.exact.compiled import compiled, log

LINEAR, ENTROPY, SQUARE = 0, 1, 2
"""The kinds of phi: 0, -x ln x, -x^2."""


@compiled("f8(i1,f8)")
def phi(kind, x):  # type: ignore[no-untyped-def]
    """The concave part of the cost of one coordinate."""
    if kind == ENTROPY:
        return -x * log(x) if x > 0.0 else 0.0
    if kind == SQUARE:
        return -x * x
    return 0.0


@compiled("f8(i1,f8,f8)")
def chord(kind, low, high):  # type: ignore[no-untyped-def]
    """The slope of the chord of phi over [low, high]."""
    if kind == LINEAR or high <= low:
        return 0.0
    if kind == SQUARE:
        return -(low + high)
    if low <= 0.0:
        return -log(high)
    return (phi(kind, high) - phi(kind, low)) / (high - low)


@compiled(f"f8({_VECTOR},{_FLAGS},{_VECTOR},{_VECTOR},{_VECTOR})")
def chords(linear, kinds, lower, upper, cost):  # type: ignore[no-untyped-def]
    """Write the cost of the linear relaxation on a box; return its constant, safely rounded."""
    constant = 0.0
    size = 0.0
    for j in range(len(linear)):
        cost[j] = linear[j]
        if kinds[j] != LINEAR:
            slope = chord(kinds[j], lower[j], upper[j])
            cost[j] += slope
            # A chord is off by no more than what its values at both ends are.
            size += abs(phi(kinds[j], upper[j]))
            size += abs(slope) * max(abs(lower[j]), abs(upper[j]))
            if lower[j] != 0.0:
                start = phi(kinds[j], lower[j])
                constant += start - slope * lower[j]
                size += abs(start)
    return constant - _ROUNDING * (8.0 * size + len(linear) * abs(constant))


@compiled(f"void({_MATRIX},{_MATRIX},i8,{_VECTOR},{_VECTOR},{_VECTOR})")
def squeeze(matrix, limits, count, lower, upper, room):  # type: ignore[no-untyped-def]
    """Lower the upper bounds of the coordinates by what the rest must leave room for.

    With mass 1 - sum lower to give away, one coordinate cannot take more than that, nor so much
    that some row could not be kept whatever the rest does. limits[i]: the bounds of row i, its
    least and its largest entry (row 0, the sum, is not read). `room` is working space.
    """
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
        off = _ROUNDING * (count + 4) * (size + abs(largest) + abs(least) + ends)
        short = max(base + rest * largest - limits[i, 0] + off, 0.0)
        over = max(limits[i, 1] - base - rest * least + off, 0.0)
        for j in range(count):
            # room * (largest - entry) <= short, and room * (entry - least) <= over
            if room[j] * (largest - row[j]) > short:
                room[j] = short / (largest - row[j])
            if room[j] * (row[j] - least) > over:
                room[j] = over / (row[j] - least)
    for j in range(count):
        top = lower[j] + max(room[j], 0.0) + 1e-12
        if top < upper[j]:
            upper[j] = top


@compiled(f"void({_VECTOR},{_VECTOR},{_FLAGS},{_VECTOR},f8,f8)")
def tighten(lower, upper, place, reduced, off, slack):  # type: ignore[no-untyped-def]
    """Cut off what a reduced cost, which may be `off`, makes dearer by more than `slack`."""
    for j in range(len(lower)):
        wide = upper[j] - lower[j]
        rate = abs(reduced[j]) - off
        if rate * wide <= slack:
            continue
        if place[j] == AT_LOWER and reduced[j] > 0.0:
            upper[j] = lower[j] + slack / rate * (1 + 1e-9)
        elif place[j] == AT_UPPER and reduced[j] < 0.0:
            lower[j] = upper[j] - slack / rate * (1 + 1e-9)


@compiled(f"void({_NUMBERS},{_VECTOR},{_NUMBERS},i8)")
def push(heap, bounds, counts, node):  # type: ignore[no-untyped-def]
    """Put a node into the heap of open nodes, least bound first."""
    k = counts[0]
    counts[0] += 1
    while k > 0:
        above = (k - 1) >> 1
        if bounds[heap[above]] <= bounds[node]:
            break
        heap[k] = heap[above]
        k = above
    heap[k] = node


@compiled(f"i8({_NUMBERS},{_VECTOR},{_NUMBERS})")
def pop(heap, bounds, counts):  # type: ignore[no-untyped-def]
    """Take the node of least bound out of the heap."""
    top = heap[0]
    counts[0] -= 1
    size = counts[0]
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


@compiled(f"f8({_MATRIX},{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR})")
def outside(matrix, cost, multipliers, weights, reduced):  # type: ignore[no-untyped-def]
    """Return what variables that were left out may take from a bound: at most `weights` of each."""
    size = len(weights)
    for j in range(size):
        reduced[j] = cost[j]
    for i in range(len(multipliers)):
        share = multipliers[i]
        row = matrix[i]
        for j in range(size):
            reduced[j] -= share * row[j]
    total = 0.0
    for j in range(size):
        total += min(reduced[j], 0.0) * weights[j]
    return total


@compiled(
    f"f8({_MATRIX},{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},{_MATRIX},{_VECTOR},{_FLAGS},f8,i8,f8,"
    f"f8,{_VECTOR},i8,i8,f8[:,:,::1],i1[:,::1],f8[:,:,::1],i8[:,::1],{_MATRIX},{_NUMBERS},"
    f"{_NUMBERS})"
)
def bound_region(  # type: ignore[no-untyped-def]
    matrix,
    right,
    scales,
    root_lower,
    root_upper,
    limits,
    linear,
    kinds,
    goal,
    star,
    star_low,
    star_high,
    point,
    budget,
    width,
    pool,
    pool_places,
    pool_inverses,
    pool_bases,
    found,
    counts,
    halt,
):
    """Return a lower bound, at most `goal`, of the cost where coordinate `star` is the largest.

    More exactly: on the region star_low <= v_star <= star_high, v_j <= v_star (star -1: on the
    whole polytope). `point` is a vertex at which v_star is as large as it can be. At most `budget`
    boxes are opened; they are kept in the pools. At first only the `width` most promising
    coordinates are worked with; the others stay in every bound, and join when they would spoil
    one.

    counts: points found below the goal (they are written to `found`), boxes opened, how often
    coordinates had to join. Once a point is found it goes on for about as long as that took. It
    stops when somebody writes to halt[0].
    """
    rows, whole = matrix.shape
    count = len(point)
    others = whole - count
    lower, upper = root_lower.copy(), root_upper.copy()
    values = np.zeros(whole)
    place = np.empty(whole, np.int8)
    basis = np.empty(rows, np.int64)
    inverse = np.empty((rows, rows))
    cost, reduced = np.empty(whole), np.empty(whole)
    multipliers = np.empty(rows)
    space = np.empty(whole)
    # A feasible basis: the vertex, purified.
    largest = 0
    for j in range(whole):
        place[j] = BETWEEN
        if j < count:
            values[j] = point[j]
            if point[j] <= 0.0:
                place[j] = AT_LOWER
            if point[j] > point[largest]:
                largest = j
    basis[0] = largest
    place[largest] = BASIC
    for i in range(1, rows):
        basis[i] = count + i - 1
        place[count + i - 1] = BASIC
    complete(matrix, count, lower, upper, values)
    if not invert(matrix, basis, inverse):
        return -np.inf
    settle(matrix, right, basis, place, inverse, values)
    cost[:] = 0.0
    if star >= 0:
        lower[star] = min(star_low, values[star])
        upper[star] = max(star_high, values[star])
        cost[star] = -1.0
        for j in range(count):
            if j != star:
                upper[j] = min(upper[j], max(upper[star], values[j]))
        squeeze(matrix, limits, count, lower, upper, space)
        for j in range(count):
            upper[j] = max(upper[j], values[j])
    purify(matrix, right, lower, upper, basis, place, inverse, values, cost)
    # The whole relaxation, and what it says about the coordinates; twice, since it helps itself.
    bound = -np.inf
    for _ in range(3):
        constant = chords(linear, kinds, lower, upper, cost)
        optimise(
            matrix, right, lower, upper, basis, place, inverse, values, cost,
            multipliers, reduced, 2000,
        )  # fmt: skip
        bound = safe_bound(scales, right, lower, upper, cost, multipliers, reduced, constant)
        if bound >= goal:
            return goal
        off = doubt(scales, cost, multipliers)
        tighten(lower, upper, place, reduced, off, goal - bound)
    constant = chords(linear, kinds, lower, upper, cost)
    root_bound = bound
    chosen = np.empty(count, np.int8)
    weights = np.empty(count)
    width = min(width, count)
    merit = reduced[:count].copy()
    for i in range(rows):
        if basis[i] < count:
            merit[basis[i]] = -np.inf
    for j in range(count):
        if place[j] == AT_UPPER:
            merit[j] = -np.inf
    if star >= 0:
        merit[star] = -np.inf
    order = np.argsort(merit)
    chosen[:] = 0
    for k in range(width):
        chosen[order[k]] = 1
    for k in range(width, count):
        if merit[order[k]] == -np.inf:
            chosen[order[k]] = 1
    extra = np.empty(count)
    while True:
        # Write the small problem.
        kept = 0
        for j in range(count):
            kept += chosen[j]
            weights[j] = 0.0 if chosen[j] == 1 else upper[j]
        size = kept + others
        names = np.empty(size, np.int64)
        position = np.empty(whole, np.int64)
        k = 0
        for j in range(whole):
            position[j] = -1
            if j >= count or chosen[j] == 1:
                names[k] = j
                position[j] = k
                k += 1
        small = np.empty((rows, size))
        small_kinds = np.empty(size, np.int8)
        small_linear = np.empty(size)
        for k in range(size):
            small_kinds[k] = kinds[names[k]]
            small_linear[k] = linear[names[k]]
            for i in range(rows):
                small[i, k] = matrix[i, names[k]]
        chief = position[star] if star >= 0 else -1
        slots = pool.shape[1]
        bounds = np.empty(slots)
        free_count = slots - 1
        heap = np.empty(slots, np.int64)
        heap[0] = 0
        heap_size = np.ones(1, np.int64)
        free = np.empty(slots, np.int64)
        for k in range(slots):
            free[k] = slots - 1 - k
        bounds[0] = root_bound
        for k in range(size):
            j = names[k]
            pool[0, 0, k] = lower[j]
            pool[1, 0, k] = upper[j]
            pool[2, 0, k] = values[j]
            pool[3, 0, k] = cost[j]
            pool_places[0, k] = place[j]
        for i in range(rows):
            pool_bases[0, i] = position[basis[i]]
            for k in range(rows):
                pool_inverses[0, i, k] = inverse[i, k]
        leaf = np.inf
        spoiled = False
        opened = 0
        enough = budget
        small_space, small_reduced = np.empty(size), np.empty(size)
        drive = np.empty(size)
        while heap_size[0] > 0 and not spoiled:
            top = heap[0]
            if bounds[top] >= goal or opened >= budget or free_count < 2:
                break
            if (counts[0] > 0 and counts[0] >= len(found)) or opened >= enough or halt[0] != 0:
                break
            node = pop(heap, bounds, heap_size)
            opened += 1
            low, high, here = pool[0, node, :size], pool[1, node, :size], pool[2, node, :size]
            slopes = pool[3, node, :size]
            # Anew, so that rounding errors do not grow with the depth.
            if invert(small, pool_bases[node], pool_inverses[node]):
                settle(
                    small, right, pool_bases[node], pool_places[node, :size],
                    pool_inverses[node], here,
                )  # fmt: skip
            # Where to cut: the star while its box is wide, else where the chord errs most.
            cut = -1
            at = 0.0
            if chief >= 0:
                near, far = max(1.0 - high[chief], 0.02), 1.0 - low[chief]
                if far > 2.0 * near:
                    cut = chief
                    at = 1.0 - np.sqrt(near * far)
            if cut < 0:
                worst = 1e-15
                for k in range(size):
                    x = here[k]
                    if small_kinds[k] != LINEAR and x > low[k] and x < high[k]:
                        slope = slopes[k] - small_linear[k]
                        error = (
                            phi(small_kinds[k], x)
                            - phi(small_kinds[k], low[k])
                            - slope * (x - low[k])
                        )
                        if error > worst:
                            worst = error
                            cut = k
                            at = x
            if cut < 0:
                leaf = min(leaf, bounds[node])
                free[free_count] = node
                free_count += 1
                continue
            for side in range(2):
                child = free[free_count - 1]
                c_low, c_high = pool[0, child, :size], pool[1, child, :size]
                c_here, c_cost = pool[2, child, :size], pool[3, child, :size]
                c_place, c_basis = pool_places[child, :size], pool_bases[child]
                c_inverse = pool_inverses[child]
                # Loops, here and below: whole arrays at once take many seconds to compile.
                for k in range(size):
                    c_low[k] = low[k]
                    c_high[k] = high[k]
                    c_here[k] = here[k]
                    c_place[k] = pool_places[node, k]
                for i in range(rows):
                    c_basis[i] = pool_bases[node, i]
                    for k in range(rows):
                        c_inverse[i, k] = pool_inverses[node, i, k]
                if side == 0 and here[cut] > at + 1e-15:
                    # The point is not in this half: walk there first.
                    drive[:] = 0.0
                    drive[cut] = 1.0
                    c_low[cut] = at
                    optimise(
                        small, right, c_low, c_high, c_basis, c_place, c_inverse,
                        c_here, drive, multipliers, small_reduced, 2000,
                    )  # fmt: skip
                    if c_here[cut] > at + 1e-9:
                        least = safe_bound(
                            scales, right, c_low, c_high, drive, multipliers, small_reduced, 0.0
                        )
                        for j in range(count):
                            extra[j] = 0.0
                        least += outside(matrix, extra, multipliers, weights, space)
                        least -= doubt(scales, drive, multipliers)
                        if least > at:
                            continue
                    if c_place[cut] == AT_LOWER:
                        c_place[cut] = AT_UPPER
                    c_low[cut] = low[cut]
                elif side == 1 and here[cut] < at - 1e-15:
                    drive[:] = 0.0
                    drive[cut] = -1.0
                    c_high[cut] = at
                    optimise(
                        small, right, c_low, c_high, c_basis, c_place, c_inverse,
                        c_here, drive, multipliers, small_reduced, 2000,
                    )  # fmt: skip
                    if c_here[cut] < at - 1e-9:
                        least = safe_bound(
                            scales, right, c_low, c_high, drive, multipliers, small_reduced, 0.0
                        )
                        for j in range(count):
                            extra[j] = 0.0
                        least += outside(matrix, extra, multipliers, weights, space)
                        least -= doubt(scales, drive, multipliers)
                        if -least < at:
                            continue
                    if c_place[cut] == AT_UPPER:
                        c_place[cut] = AT_LOWER
                    c_high[cut] = high[cut]
                if side == 0:
                    c_high[cut] = at
                else:
                    c_low[cut] = at
                squeeze(small, limits, kept, c_low, c_high, small_space)
                part = chords(small_linear, small_kinds, c_low, c_high, c_cost)
                optimise(
                    small, right, c_low, c_high, c_basis, c_place, c_inverse,
                    c_here, c_cost, multipliers, small_reduced, 2000,
                )  # fmt: skip
                inner = safe_bound(
                    scales, right, c_low, c_high, c_cost, multipliers, small_reduced, part
                )
                leak = outside(matrix, cost, multipliers, weights, space)
                inner -= doubt(scales, cost, multipliers)
                bound = max(inner + leak, bounds[node])
                if bound >= goal:
                    continue
                if leak < -0.02 * (goal - bound):
                    spoiled = True
                    for j in range(count):
                        extra[j] = space[j] if weights[j] > 0.0 else np.inf
                    wanted = np.argsort(extra)
                    for k in range(min(count - kept, max(kept // 2, 8))):
                        chosen[wanted[k]] = 1
                    break
                total = 0.0
                for k in range(size):
                    x = c_here[k]
                    if x != 0.0:
                        total += small_linear[k] * x + phi(small_kinds[k], x)
                if total < goal and counts[0] < len(found):
                    found[counts[0], :] = 0.0
                    for k in range(kept):
                        found[counts[0], names[k]] = c_here[k]
                    counts[0] += 1
                    enough = min(enough, 2 * opened + 500)
                off = doubt(scales, c_cost, multipliers)
                tighten(c_low, c_high, c_place, small_reduced, off, goal - bound)
                chords(small_linear, small_kinds, c_low, c_high, c_cost)
                bounds[child] = bound
                free_count -= 1
                push(heap, bounds, heap_size, child)
            free[free_count] = node
            free_count += 1
        counts[1] += opened
        if spoiled:
            counts[2] += 1
            continue
        least = leaf
        if heap_size[0] > 0:
            least = min(least, bounds[heap[0]])
        return min(least, goal)


@compiled(
    f"i8({_MATRIX},{_VECTOR},{_VECTOR},{_VECTOR},{_VECTOR},{_MATRIX},{_VECTOR},{_FLAGS},f8,"
    f"{_NUMBERS},f8,{_MATRIX},i8,i8,i8,i8,{_MATRIX},{_NUMBERS},{_VECTOR},"
    f"{_NUMBERS})"
)
def bound_regions(  # type: ignore[no-untyped-def]
    matrix,
    right,
    scales,
    lower,
    upper,
    limits,
    linear,
    kinds,
    goal,
    stars,
    star_low,
    vertices,
    budget,
    width,
    room,
    each,
    found,
    counts,
    bounds,
    halt,
):
    """Bound the regions of some stars, one after the other; return how many were done.

    Each may write `each` points that it found.
    """
    own = np.zeros(3, np.int64)
    rows, size = matrix.shape
    slots = min(room, 2 * budget + 3)
    pool = np.empty((4, slots, size))
    places = np.empty((slots, size), np.int8)
    inverses = np.empty((slots, rows, rows))
    bases = np.empty((slots, rows), np.int64)
    for k in range(len(stars)):
        star = stars[k]
        if halt[0] != 0 or counts[0] + each > len(found):
            return k
        own[:] = 0
        vertex = vertices[max(star, 0)]
        bounds[k] = bound_region(
            matrix, right, scales, lower, upper, limits, linear, kinds, goal, star, star_low,
            upper[max(star, 0)], vertex, budget, width, pool, places, inverses, bases,
            found[counts[0] : counts[0] + each], own, halt,
        )  # fmt: skip
        for i in range(3):
            counts[i] += own[i]
    return len(stars)
