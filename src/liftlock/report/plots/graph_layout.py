"""Where the profiles of a graph are drawn: near in the graph is near on paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from liftlock.errors import extra
from liftlock.exact.integers import Floats

Edges = Sequence[tuple[int, int]]

LONGEST_LINE = 7
"""A longer chain is drawn in rows, there and back."""
_ROW = 0.75
"""The distance of the rows of a long chain."""
_LONG = 1.6
"""Rows are made so that a picture is about this much wider than it is high."""
_TRIED = 40
"""The parts are packed at so many widths, and the best is taken."""
_MOST_STRESSED = 60
"""Parts with more profiles are left as springs put them, with fewer steps the more there are."""
_MOST_STEPS, _PAIRS = 800, 30_000_000
_EASE = 0.02
_DIGITS = 3
"""Positions are rounded: they differ by less than a billionth from one kind of CPU to another."""


def layout(size: int, edges: Edges) -> Floats:
    """Return the places (x, y) of one connected part, with edges about 1 long.

    Chains, rings and stars are drawn as such, the rest by springs and Kamada and Kawai's method.

    >>> layout(3, [(0, 1), (1, 2)]).tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    """
    with extra("plot"):
        import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(edges)
    degrees = sorted(degree for _, degree in graph.degree)
    if len(edges) == size - 1 and degrees[-1] <= 2:
        ends = [place for place, degree in graph.degree if degree < 2]
        return _line(list(nx.dfs_preorder_nodes(graph, ends[0])))
    if degrees[-1] == 2:
        return _ring(list(nx.dfs_preorder_nodes(graph, 0)))
    if degrees[0] == size - 1:
        return _ring(range(size))
    if len(edges) == size - 1 == degrees[-1]:
        middle = next(place for place, degree in graph.degree if degree > 1)
        others = [place for place in range(size) if place != middle]
        places = np.zeros((size, 2))
        around = _ring(range(size - 1))
        places[others] = around / min(1.0, float(np.hypot(*around[0])))
        return places
    return _sprung(graph)


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
    start = math.pi / 4 if size == 4 else 0.0
    places = np.zeros((size, 2))
    for number, place in enumerate(walk):
        angle = 2 * math.pi * number / size + start
        places[place] = math.sin(angle), math.cos(angle)
    return np.round(places * 0.5 / math.sin(math.pi / size), 12)


def _sprung(graph: Any) -> Floats:
    with extra("plot"):
        import networkx as nx

    size = len(graph)
    small = size <= _MOST_STRESSED
    steps = 200 if small else min(_MOST_STEPS, max(8, _PAIRS // size**2))
    found = nx.spring_layout(graph, seed=0, iterations=steps, method="force")
    if small:
        found = nx.kamada_kawai_layout(graph, pos=found)
    places = turned(np.array([found[place] for place in range(size)]))
    ends = places[np.array(graph.edges)]
    length = float(np.median(np.hypot(*(ends[:, 0] - ends[:, 1]).T)))
    return np.round(places / length, _DIGITS)


def turned(places: Floats) -> Floats:
    """Turn places so that they are widest from left to right, the first profile at the left."""
    x, y = (places - places.mean(axis=0)).T
    angle = 0.5 * math.atan2(2 * float((x * y).sum()), float((x * x - y * y).sum()))
    cos, sin = math.cos(angle), math.sin(angle)
    found = np.column_stack([cos * x + sin * y, cos * y - sin * x])
    signs = np.where(found[0] * [-1.0, 1.0] < -1e-6, -1.0, 1.0)
    return np.asarray(found * signs)


def packed(parts: Sequence[Floats], gap: tuple[float, float] = (1.0, 1.0)) -> list[Floats]:
    """Move parts so that they lie side by side in rows, none over another.

    >>> [part.tolist() for part in packed([np.zeros((1, 2)), np.zeros((1, 2))])]
    [[[0.0, 0.0]], [[1.0, 0.0]]]
    """
    sizes = np.array([np.ptp(part, axis=0) for part in parts]) + gap
    order = sorted(range(len(parts)), key=lambda k: (-round(float(sizes[k, 1]), 6), k))
    limits = np.linspace(float(sizes[:, 0].max()), float(sizes[:, 0].sum()), _TRIED)
    tried = [_rows(order, sizes, float(limit) + 1e-9) for limit in limits]
    rows = min(tried, key=lambda rows: _extent(rows, sizes))
    total = max(float(sizes[row, 0].sum()) for row in rows)
    moved = list(parts)
    top = 0.0
    for row in rows:
        left = (total - float(sizes[row, 0].sum())) / 2
        high = float(sizes[row, 1].max())
        for k in row:
            low = parts[k].min(axis=0)
            up = (high - float(sizes[k, 1])) / 2
            moved[k] = parts[k] - low + [left, top - high + float(gap[1]) + up]
            left += float(sizes[k, 0])
        top -= high
    return moved


def _rows(order: Sequence[int], sizes: Floats, limit: float) -> list[list[int]]:
    """Fill rows up to a width, in order."""
    rows: list[list[int]] = [[]]
    for k in order:
        if rows[-1] and sizes[[*rows[-1], k], 0].sum() > limit:
            rows.append([])
        rows[-1].append(k)
    return rows


def _extent(rows: Sequence[Sequence[int]], sizes: Floats) -> float:
    """Return the height of rows, or their width if that matters more."""
    wide = max(float(sizes[row, 0].sum()) for row in rows)
    return round(max(wide / _LONG, sum(float(sizes[row, 1].max()) for row in rows)), 6)


def parted(places: Floats, width: float, height: float, rounds: int = 300) -> Floats:
    """Push places apart until boxes of one size about them do not overlap."""
    box = np.array([width, height])
    found = places.copy()
    first, second = np.triu_indices(len(places), 1)
    for _ in range(rounds):
        apart = found[second] - found[first]
        lack = box - np.abs(apart)
        near = np.flatnonzero((lack > 1e-6).all(axis=1))
        if not len(near):
            break
        # Along the side on which less is missing.
        axis = np.argmin(lack[near] / box, axis=1)
        # A little more than needed, so that it comes to an end.
        steps = (lack[near, axis] + _EASE * box[axis]) / 2
        steps *= np.where(apart[near, axis] < 0, -1.0, 1.0)
        moves = np.zeros_like(found)
        np.add.at(moves, (second[near], axis), steps)
        np.add.at(moves, (first[near], axis), -steps)
        count = np.bincount(np.concatenate([first[near], second[near]]), minlength=len(found))
        found += moves / np.sqrt(np.maximum(count, 1))[:, None]
    return found


def overlapping(places: Floats, width: float, height: float) -> bool:
    """Tell whether two boxes of one size overlap."""
    first, second = np.triu_indices(len(places), 1)
    apart = np.abs(places[second] - places[first])
    return bool((apart < [width - 1e-6, height - 1e-6]).all(axis=1).any())


def along(places: Floats, edges: Edges) -> Floats:
    """Return points along every edge, of shape (edges, points, 2)."""
    ends = places[np.array(edges, dtype=int).reshape(-1, 2)]
    shares = np.linspace(0.0, 1.0, 60)[None, :, None]
    points: Floats = ends[:, :1] * (1.0 - shares) + ends[:, 1:] * shares
    return points


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
