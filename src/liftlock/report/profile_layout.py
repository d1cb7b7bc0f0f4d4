"""Where the profiles of a graph are drawn: near in the graph is near on paper.

Lines, rings and stars have places of their own; any other connected part is laid out by stress
majorisation (SMACOF): places whose distances are as near as possible to those in the graph. Joined
profiles are about 1 apart. The parts are then packed side by side.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from liftlock.exact.integers import Floats

Edges = Sequence[tuple[int, int]]

LONGEST_LINE = 7
"""A longer chain is drawn in rows, there and back."""
MOST_STRESSED = 500
"""Parts with more profiles are placed by their distances from some of them only."""
_PIVOTS = 50
_ROUNDS = 200
_SETTLED = 1e-4
_LONG = 1.6
"""Rows are made so that a picture is about this much wider than it is high."""
_TRIED = 40
_EASE = 0.02
_ROW = 0.75
"""The distance of the rows of a long chain."""


def neighbours_of(size: int, edges: Edges) -> list[list[int]]:
    """Return the neighbours of each place, in ascending order."""
    found: list[list[int]] = [[] for _ in range(size)]
    for first, second in edges:
        found[first].append(second)
        found[second].append(first)
    return [sorted(places) for places in found]


def steps_from(start: int, neighbours: Sequence[Sequence[int]]) -> Floats:
    """Return how many edges lie between one place and every other of a connected graph."""
    steps = np.full(len(neighbours), np.inf)
    steps[start] = 0.0
    waiting = deque([start])
    while waiting:
        place = waiting.popleft()
        for other in neighbours[place]:
            if steps[other] == np.inf:
                steps[other] = steps[place] + 1.0
                waiting.append(other)
    return steps


def layout(size: int, edges: Edges) -> Floats:
    """Return the places (x, y) of one connected part; the same part always gets the same.

    >>> layout(3, [(0, 1), (1, 2)]).tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    """
    near = neighbours_of(size, edges)
    degrees = [len(places) for places in near]
    if size == 1:
        return np.zeros((1, 2))
    if len(edges) == size - 1 and max(degrees) <= 2:
        return _line(_walk(near, degrees.index(1)))
    if len(edges) == size and max(degrees) == 2:
        return _ring(_walk(near, 0))
    if len(edges) == size * (size - 1) // 2 and size <= MOST_STRESSED:
        return _ring(list(range(size)))
    if len(edges) == size - 1 and max(degrees) == size - 1:
        return _star(degrees.index(size - 1), size)
    return turned(_stressed(near))


def _walk(near: Sequence[Sequence[int]], start: int) -> list[int]:
    """Return the places of a line or a ring in order."""
    walk, seen = [start], {start}
    while True:
        ahead = [place for place in near[walk[-1]] if place not in seen]
        if not ahead:
            return walk
        walk.append(ahead[0])
        seen.add(ahead[0])


def _line(walk: Sequence[int]) -> Floats:
    """Place a chain on a straight line, or there and back in rows if it is long."""
    size = len(walk)
    across = (
        size
        if size <= LONGEST_LINE
        else max(LONGEST_LINE, math.ceil(math.sqrt(_LONG * _ROW * size)))
    )
    # Rows of equal length look better than a last one with a single profile.
    across = math.ceil(size / math.ceil(size / across))
    places = np.zeros((size, 2))
    for number, place in enumerate(walk):
        row, column = divmod(number, across)
        places[place] = (column if row % 2 == 0 else across - 1 - column), 0.0 - _ROW * row
    return places


def _ring(walk: Sequence[int]) -> Floats:
    """Place a cycle, or profiles that are all joined, on a circle that starts at the top."""
    size = len(walk)
    radius = 0.5 / math.sin(math.pi / size)
    angles = math.pi / 2 - 2 * math.pi * np.arange(size) / size
    if size == 2:
        angles = np.array([math.pi, 0.0])
    elif size == 4:
        angles = angles + math.pi / 4
    places = np.zeros((size, 2))
    places[list(walk)] = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return places


def _star(middle: int, size: int) -> Floats:
    """Place one profile in the middle of all others."""
    others = [place for place in range(size) if place != middle]
    radius = max(1.0, 0.5 / math.sin(math.pi / max(len(others), 2)))
    angles = math.pi / 2 - 2 * math.pi * np.arange(len(others)) / len(others)
    places = np.zeros((size, 2))
    places[others] = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return places


def _stressed(near: Sequence[Sequence[int]]) -> Floats:
    size = len(near)
    few = size > MOST_STRESSED
    pivots: list[int] = [0]
    rows = [steps_from(0, near)]
    closest = rows[0].copy()
    while len(pivots) < (_PIVOTS if few else size):
        # Each next one is as far as can be from those before.
        pivots.append(int(np.argmax(closest)) if few else len(pivots))
        rows.append(steps_from(pivots[-1], near))
        closest = np.minimum(closest, rows[-1])
    distances = np.array(rows).T
    start = _scaled(distances)
    return start if few else majorised(distances, start)


def _scaled(distances: Floats) -> Floats:
    """Place by classical scaling of the distances from some places (columns)."""
    squares = distances**2
    centred = -0.5 * (
        squares
        - squares.mean(axis=0, keepdims=True)
        - squares.mean(axis=1, keepdims=True)
        + squares.mean()
    )
    _, vectors = np.linalg.eigh(centred.T @ centred)
    found = centred @ vectors[:, -2:][:, ::-1]
    found /= max(float(np.abs(found).max()), 1e-12)
    # Places that coincide would never part: move each by a little of its own.
    angles = 2.399963 * np.arange(len(found))
    found = found + 1e-3 * np.column_stack([np.cos(angles), np.sin(angles)])
    places: Floats = found * float(distances.max()) / 2
    return places


def _apart(places: Floats) -> Floats:
    """Return the distances of all pairs of places."""
    across = places[:, 0][:, None] - places[:, 0]
    up = places[:, 1][:, None] - places[:, 1]
    return np.hypot(across, up)


def stress(places: Floats, distances: Floats) -> float:
    """Return how badly places fit distances: the sum of squared relative errors over pairs.

    >>> stress(np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
    0.25
    """
    first, second = np.triu_indices(len(places), 1)
    errors = 1.0 - _apart(places)[first, second] / distances[first, second]
    return float((errors**2).sum())


def majorised(distances: Floats, start: Floats) -> Floats:
    """Improve places until their distances fit those of the graph no better.

    Each round solves the problem for a quadratic that lies above the stress and touches it, so the
    stress never grows.
    """
    size = len(start)
    weights = np.divide(1.0, distances**2, out=np.zeros_like(distances), where=distances > 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    ones = np.full((size, size), 1.0 / size)
    inverse = np.linalg.inv(laplacian + ones) - ones
    pull = weights * distances
    places, last = start, math.inf
    for _ in range(_ROUNDS):
        apart = _apart(places)
        now = float((weights * (distances - apart) ** 2).sum()) / 2
        if last - now <= _SETTLED * now:
            break
        last = now
        ratios = np.divide(pull, apart, out=np.zeros_like(apart), where=apart > 1e-12)
        places = inverse @ (ratios.sum(axis=1)[:, None] * places - ratios @ places)
    return places


def turned(places: Floats) -> Floats:
    """Turn places so that they are widest from left to right, the first profile at the left."""
    centred = places - places.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    found: Floats = centred @ vectors[:, ::-1]
    for axis, sign in ((0, -1.0), (1, 1.0)):
        telling = found[np.abs(found[:, axis]) > 1e-9, axis]
        if len(telling) and np.sign(telling[0]) != sign:
            found[:, axis] *= -1.0
    return found


def packed(parts: Sequence[Floats], gap: tuple[float, float] = (1.0, 1.0)) -> list[Floats]:
    """Move parts so that they lie side by side in rows, none over another.

    >>> [part.tolist() for part in packed([np.zeros((1, 2)), np.zeros((1, 2))])]
    [[[0.0, 0.0]], [[1.0, 0.0]]]
    """
    boxes = np.array([part.max(axis=0) - part.min(axis=0) for part in parts]) + gap
    order = sorted(range(len(parts)), key=lambda k: (-round(float(boxes[k][1]), 6), k))
    widths = boxes[order, 0]
    best: list[list[int]] = []
    least = math.inf
    for limit in np.linspace(float(widths.max()), float(widths.sum()), _TRIED):
        rows = _rows(order, boxes, float(limit) + 1e-9)
        wide = max(float(boxes[row, 0].sum()) for row in rows)
        high = sum(float(boxes[row, 1].max()) for row in rows)
        if max(wide / _LONG, high) < least - 1e-9:
            best, least = rows, max(wide / _LONG, high)
    widest = max(float(boxes[row, 0].sum()) for row in best)
    moved: list[Floats] = [np.zeros_like(part) for part in parts]
    top = 0.0
    for row in best:
        high = float(boxes[row, 1].max())
        left = (widest - float(boxes[row, 0].sum())) / 2
        for k in row:
            middle = (parts[k].max(axis=0) + parts[k].min(axis=0)) / 2
            centre = (left + (boxes[k, 0] - gap[0]) / 2, top - (high - gap[1]) / 2)
            moved[k] = parts[k] - middle + centre
            left += float(boxes[k, 0])
        top -= high
    return moved


def _rows(order: Sequence[int], boxes: Floats, limit: float) -> list[list[int]]:
    """Fill rows up to a width, in order."""
    rows: list[list[int]] = [[]]
    used = 0.0
    for k in order:
        if rows[-1] and used + boxes[k, 0] > limit:
            rows.append([])
            used = 0.0
        rows[-1].append(k)
        used += float(boxes[k, 0])
    return rows


def parted(places: Floats, width: float, height: float, rounds: int = 200) -> Floats:
    """Push boxes of one size, centred at the places, apart until no two overlap.

    >>> parted(np.array([[0.0, 0.0], [0.5, 0.0]]), 1.0, 1.0).tolist()
    [[-0.26, 0.0], [0.76, 0.0]]
    """
    found = places.copy()
    first, second = np.triu_indices(len(found), 1)
    for _ in range(rounds):
        apart = found[second] - found[first]
        over_x = width - np.abs(apart[:, 0])
        over_y = height - np.abs(apart[:, 1])
        touching = np.flatnonzero((over_x > 1e-9) & (over_y > 1e-9))
        if not len(touching):
            break
        moves = np.zeros_like(found)
        count = np.zeros(len(found))
        for k in touching:
            # A little more than needed, so that it comes to an end.
            axis = 0 if over_x[k] / width <= over_y[k] / height else 1
            way = np.sign(apart[k, axis]) or 1.0
            share = (over_x[k] + _EASE * width if axis == 0 else over_y[k] + _EASE * height) / 2
            for place, sign in ((first[k], -1.0), (second[k], 1.0)):
                moves[place, axis] += sign * way * share
                count[place] += 1
        found += moves / np.maximum(1.0, np.sqrt(count))[:, None]
    return found


def crossed(places: Floats, edges: Edges, width: float, height: float) -> list[tuple[int, int]]:
    """Return which edges (by position) run through the box of a profile that they do not join.

    >>> crossed(np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0]]), [(0, 2)], 0.5, 0.5)
    [(0, 1)]
    """
    found = []
    for number, (first, second) in enumerate(edges):
        along, across, length = _directions(places[first], places[second])
        from_start = places - places[first]
        reach = (abs(across[0]) * width + abs(across[1]) * height) / 2
        ahead = from_start @ along
        near = (np.abs(from_start @ across) < reach - 1e-9) & (ahead > 0) & (ahead < length)
        found += [(number, int(k)) for k in np.flatnonzero(near) if k not in (first, second)]
    return found


def _directions(first: Floats, second: Floats) -> tuple[Floats, Floats, float]:
    way = second - first
    length = max(float(np.hypot(way[0], way[1])), 1e-9)
    along: Floats = way / length
    return along, np.array([-along[1], along[0]]), length


def cleared(places: Floats, edges: Edges, width: float, height: float, rounds: int = 60) -> Floats:
    """Move profiles out of the way of edges that are not theirs, as far as that can be done.

    >>> places = np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0]])
    >>> crossed(cleared(places, [(0, 2)], 0.5, 0.5), [(0, 2)], 0.5, 0.5)
    []
    """
    found = best = places
    fewest = len(crossed(places, edges, width, height))
    for _ in range(rounds if fewest else 0):
        found = found.copy()
        for number, place in crossed(found, edges, width, height):
            first, second = edges[number]
            _, across, _ = _directions(found[first], found[second])
            side = float((found[place] - found[first]) @ across)
            reach = (abs(across[0]) * width + abs(across[1]) * height) / 2
            move = max(reach - abs(side), 0.0) * (1.0 if side >= 0 else -1.0) * (1 + _EASE)
            found[place] += 0.6 * move * across
            for end in (first, second):
                found[end] -= 0.4 * move * across
        found = parted(found, width, height, 20)
        left = len(crossed(found, edges, width, height))
        if left < fewest and not overlapping(found, width, height):
            best, fewest = found, left
        if not left:
            break
    return best


def overlapping(places: Floats, width: float, height: float) -> bool:
    """Tell whether two boxes of one size overlap."""
    first, second = np.triu_indices(len(places), 1)
    apart: npt.NDArray[np.float64] = np.abs(places[second] - places[first])
    return bool(((apart[:, 0] < width - 1e-6) & (apart[:, 1] < height - 1e-6)).any())
