"""Compiled search over the vertices of a box and a simplex, for separable concave costs.

A vertex is a set of symbols at their high end, one symbol in between, and the rest at their low
end. `improve` exchanges symbols until nothing is gained; `explore` looks at every vertex that the
chords do not rule out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock._solver.oracle import Clock, Priced
from liftlock.exact.compiled import compiled, log
from liftlock.exact.integers import Floats

if TYPE_CHECKING:
    from liftlock._solver.box import Box, Separable

_KEPT = 64
"""Vertices below the goal that are enough to go on searching with."""

_NODES = 1_000_000
"""Nodes between two looks at the clock."""

_PER_NODE = 2
"""Operations that a node is counted as."""

_MOST_NODES = 300_000_000
"""Without a time limit the search ends here."""


@compiled("f8(f8,i8)")
def _at(value: float, kind: int) -> float:
    """Return -v ln v or -v^2."""
    if kind == 1:
        return -value * value
    return -value * log(value) if value > 0.0 else 0.0


@compiled("void(f8[::1],f8[::1],f8[::1],f8[::1],i8,f8[::1],f8[::1],b1[::1],f8[::1])")
def _improve_one(
    start: Any,
    low: Any,
    width: Any,
    duals: Any,
    kind: int,
    base: Any,
    rise: Any,
    raised: Any,
    vertex: Any,
) -> None:
    n = len(low)
    # The symbol in between: the one farthest from both of its ends.
    middle = 0
    room = -1.0
    for x in range(n):
        above = start[x] - low[x]
        inside = min(above, width[x] - above)
        raised[x] = above > 0.5 * width[x]
        if inside > room:
            room = inside
            middle = x
    raised[middle] = False
    part = start[middle] - low[middle]
    for _ in range(60):
        cost = _at(low[middle] + part, kind) - duals[middle] * (low[middle] + part) - base[middle]
        gain = 1e-13
        kind_of_move = 0
        out = -1
        into = -1
        # What is taken by an exchange goes to the symbol in between.
        for i in range(-1, n):
            if i >= 0 and (not raised[i] or i == middle):
                continue
            freed = width[i] if i >= 0 else 0.0
            saved = rise[i] if i >= 0 else 0.0
            for j in range(-1, n):
                if (i < 0 and j < 0) or (j >= 0 and (raised[j] or j == middle)):
                    continue
                new = part + freed - (width[j] if j >= 0 else 0.0)
                if new < 0.0 or new > width[middle]:
                    continue
                value = low[middle] + new
                change = (
                    (rise[j] if j >= 0 else 0.0)
                    - saved
                    + _at(value, kind)
                    - duals[middle] * value
                    - base[middle]
                    - cost
                )
                if change < -gain:
                    gain = -change
                    kind_of_move, out, into = 1, i, j
        # The symbol in between goes to an end, and another takes its place.
        for j in range(n):
            if j == middle:
                continue
            if raised[j]:
                new = width[j] - (width[middle] - part)
                ends = rise[middle] - cost - rise[j]
            else:
                new = part
                ends = -cost
            if new < 0.0 or new > width[j]:
                continue
            value = low[j] + new
            change = ends + _at(value, kind) - duals[j] * value - base[j]
            if change < -gain:
                gain = -change
                kind_of_move, out = 2, j
        if kind_of_move == 0:
            break
        if kind_of_move == 1:
            if out >= 0:
                raised[out] = False
                part += width[out]
            if into >= 0:
                raised[into] = True
                part -= width[into]
        elif raised[out]:
            part = width[out] - (width[middle] - part)
            raised[middle] = True
            raised[out] = False
            middle = out
        else:
            middle = out
    total = 0.0
    for x in range(n):
        vertex[x] = low[x] + (width[x] if raised[x] else 0.0)
        if x != middle:
            total += vertex[x]
    # Recomputed from the rest, so that steps leave no rounding error behind.
    vertex[middle] = min(max(1.0 - total, low[middle]), low[middle] + width[middle])


@compiled("f8[:,::1](f8[:,::1],f8[::1],f8[::1],f8[::1],i8)")
def improve(starts: Any, low: Any, width: Any, duals: Any, kind: int) -> Any:
    """Exchange symbols of each vertex while that lowers sum_x h(v_x) - y_x v_x."""
    count, n = starts.shape
    found = np.empty((count, n))
    base = np.empty(n)
    rise = np.empty(n)
    for x in range(n):
        base[x] = _at(low[x], kind) - duals[x] * low[x]
        high = low[x] + width[x]
        rise[x] = _at(high, kind) - duals[x] * high - base[x]
    raised = np.empty(n, dtype=np.bool_)
    for k in range(count):
        _improve_one(starts[k], low, width, duals, kind, base, rise, raised, found[k])
    return found


@compiled("f8(i8,f8,f8[::1],f8[::1],f8[::1])")
def _relaxed(first: int, left: float, widths: Any, costs: Any, slopes: Any) -> Any:
    """Return the least cost of filling `left` from the items `first`, ..., by their chords.

    `widths` and `costs` are running sums with a leading 0; items are sorted by slope.
    """
    n = len(slopes)
    target = widths[first] + left
    if target > widths[n] + 1e-12:
        return np.inf
    low, high = first, n
    while low < high:
        middle = (low + high) // 2
        if widths[middle + 1] >= target:
            high = middle
        else:
            low = middle + 1
    if low >= n:
        return costs[n] - costs[first]
    return costs[low] - costs[first] + slopes[low] * (target - widths[low])


@compiled(
    "i8(i8[::1],i8[::1],f8[::1],f8[::1],i8[::1],f8[::1],f8[::1],f8[::1],i8,f8[::1],f8[::1],"
    "f8[::1],f8[::1],f8,f8[:,::1],f8[::1],i8)"
)
def _walk(
    state: Any,
    choice: Any,
    left: Any,
    cost: Any,
    between: Any,
    low: Any,
    width: Any,
    duals: Any,
    kind: int,
    slopes: Any,
    rise: Any,
    widths: Any,
    costs: Any,
    goal: float,
    found: Any,
    values: Any,
    nodes: int,
) -> int:
    """Go on with the depth-first search for so many nodes; return 1 when it is done.

    state = (depth, how many were found). At each depth the item is raised, left low, or taken as
    the one in between; `between` holds that item, or -1.
    """
    n = len(slopes)
    depth = state[0]
    while depth >= 0:
        nodes -= 1
        if nodes < 0:
            state[0] = depth
            return 0
        taken = choice[depth]
        if taken == 0:
            # On entering a node: is it ruled out, and is the mass used up?
            rest = left[depth]
            middle = between[depth]
            if middle >= 0:
                part = min(rest, width[middle])
                bound = cost[depth] + slopes[middle] * part
                bound += _relaxed(depth, rest - part, widths, costs, slopes)
            else:
                bound = cost[depth] + _relaxed(depth, rest, widths, costs, slopes)
            if bound >= goal:
                depth -= 1
                continue
            if middle >= 0 and rest <= width[middle]:
                value = low[middle] + rest
                total = cost[depth] + _at(value, kind) - duals[middle] * value
                total -= _at(low[middle], kind) - duals[middle] * low[middle]
                if total < goal:
                    place = state[1]
                    if place < len(values):
                        values[place] = total
                        for x in range(n):
                            found[place, x] = low[x]
                        for d in range(depth):
                            if choice[d] == 1:
                                found[place, d] = low[d] + width[d]
                        found[place, middle] = value
                        state[1] = place + 1
                        if place + 1 == len(values):
                            state[0] = depth
                            return 2
            if depth == n:
                depth -= 1
                continue
        choice[depth] = taken + 1
        if taken == 3 or depth == n:
            depth -= 1
            continue
        # Children: 0 raise, 1 low, 2 between; `choice` records one more than the branch taken.
        if taken == 0:
            if width[depth] > left[depth] + 1e-15:
                continue
            left[depth + 1] = left[depth] - width[depth]
            cost[depth + 1] = cost[depth] + rise[depth]
            between[depth + 1] = between[depth]
        elif taken == 1:
            left[depth + 1] = left[depth]
            cost[depth + 1] = cost[depth]
            between[depth + 1] = between[depth]
        else:
            if between[depth] >= 0:
                continue
            left[depth + 1] = left[depth]
            cost[depth + 1] = cost[depth]
            between[depth + 1] = depth
        depth += 1
        choice[depth] = 0
    state[0] = -1
    return 1


def explore(
    box: Box,
    slopes: Floats,
    duals: Floats,
    shape: Separable,
    goal: float,
    known: float,
    clock: Clock,
) -> Priced:
    """Look for every vertex below the goal; `known` is the bound that the chords gave.

    When the search ends, none is left and the goal itself is a bound; when it is cut short, the
    bound is the known one.
    """
    n = len(box)
    order = np.argsort(slopes, kind="stable")
    low, width, prices = box.low[order], box.width[order], np.asarray(duals)[order]
    base = shape.at(low) - prices * low
    offset = float(base.sum()) + shape.constant
    ends = low + width
    rise = shape.at(ends) - prices * ends - base
    sorted_slopes = slopes[order]
    slack = shape.slack(duals)
    target = goal - offset + slack
    state = np.zeros(2, dtype=np.int64)
    choice = np.zeros(n + 2, dtype=np.int64)
    left, cost = np.zeros(n + 2), np.zeros(n + 2)
    between = np.full(n + 2, -1, dtype=np.int64)
    left[0] = box.free
    found, values = np.zeros((_KEPT, n)), np.zeros(_KEPT)
    widths = np.concatenate([[0.0], np.cumsum(width)])
    costs = np.concatenate([[0.0], np.cumsum(sorted_slopes * width)])
    spent = 0
    done = 0
    while done == 0 and spent < _MOST_NODES and clock.left > 0:
        done = _walk(
            state, choice, left, cost, between, low, width, prices, shape.kind,
            sorted_slopes, rise, widths, costs, target, found, values, _NODES,
        )  # fmt: skip
        spent += _NODES
        clock.spend(_NODES * _PER_NODE)
    count = int(state[1])
    vertices = np.empty((count, n))
    vertices[:, order] = found[:count]
    better = improve(vertices, box.low, box.width, np.asarray(duals), shape.kind)
    vertices = box.vertices_among(box.exact(better))
    if done == 1 and count == 0:
        return Priced(goal - 2 * slack, vertices)
    if done == 1:
        return Priced(max(known, float(values[:count].min()) + offset - slack), vertices)
    return Priced(known, vertices)
