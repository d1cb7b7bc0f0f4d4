"""Loops of random decompositions: drawing sets of symbols, fitting them, reducing mixtures."""

from __future__ import annotations

import numpy as np

from liftlock._solver.kernels.simplex import HAIR, INTEGER, MATRIX, NOTHING, NUMBERS, VECTOR
from liftlock.exact.compiled import compiled


@compiled("f8[:,::1](f8[::1],f8[::1],i8[:,::1],f8[:,::1])")
def draw(shares, width, orders, coins):  # type: ignore[no-untyped-def]
    """Round each symbol's share to 0 or 1 but for one, keeping every mean and the total width.

    Two undecided symbols at a time: width is moved from one to the other until one is decided,
    the direction by a coin whose odds keep the means.
    """
    count, n = orders.shape
    shown = np.zeros((count, n))
    for k in range(count):
        held = -1
        part = 0.0
        for step in range(n):
            x = orders[k, step]
            share = shares[x]
            if width[x] <= 0.0 or share <= 0.0 or share >= 1.0:
                shown[k, x] = share
                continue
            if held < 0:
                held, part = x, share
                continue
            # Move `give` of width from x to the one held, or `take` the other way.
            give = min(share * width[x], (1.0 - part) * width[held])
            take = min((1.0 - share) * width[x], part * width[held])
            if coins[k, step] * (give + take) < take:
                share -= give / width[x]
                part += give / width[held]
            else:
                share += take / width[x]
                part -= take / width[held]
            if part < HAIR or part > 1.0 - HAIR:
                shown[k, held] = 0.0 if part < 0.5 else 1.0
                held, part = x, share
            else:
                shown[k, x] = 0.0 if share < 0.5 else 1.0
        if held >= 0:
            shown[k, held] = part
    return shown


@compiled(NOTHING(MATRIX, VECTOR, NUMBERS))
def fit(shown, width, by_width):  # type: ignore[no-untyped-def]
    """Exchange one raised symbol for one that is not, so that the one in between nears an end."""
    count, n = shown.shape
    for k in range(count):
        middle = -1
        for x in range(n):
            if 0.0 < shown[k, x] < 1.0:
                middle = x
        if middle < 0:
            continue
        part = shown[k, middle] * width[middle]
        best = min(part, width[middle] - part)
        out, into = -1, -1
        for end in range(2):
            # Exchanging i for j moves the part by width_i - width_j: two pointers over the sizes.
            wanted = -part if end == 0 else width[middle] - part
            second = 0
            for first in range(n):
                i = by_width[first]
                if i == middle or shown[k, i] != 1.0:
                    continue
                while second < n and width[by_width[second]] < width[i] - wanted:
                    second += 1
                for near in range(max(second - 4, 0), min(second + 4, n)):
                    j = by_width[near]
                    if j == middle or shown[k, j] != 0.0:
                        continue
                    new = part + width[i] - width[j]
                    if new < 0.0 or new > width[middle]:
                        continue
                    off = min(new, width[middle] - new)
                    if off < best:
                        best, out, into = off, i, j
        if out >= 0:
            shown[k, out] = 0.0
            shown[k, into] = 1.0
            shown[k, middle] = (part + width[out] - width[into]) / width[middle]


@compiled(NOTHING(MATRIX, VECTOR, INTEGER, INTEGER))
def eliminate(null, left, first, last):  # type: ignore[no-untyped-def]
    """Set weights to 0 one by one along rows first..last - 1 of `null`, which move no mean."""
    directions, count = null.shape
    for d in range(first, last):
        best = np.inf
        place = -1
        sign = 1.0
        for k in range(count):
            size = null[d, k]
            if left[k] <= 0.0:
                continue
            if size > HAIR and left[k] / size < best:
                best, place = left[k] / size, k
        worst = np.inf
        other = -1
        for k in range(count):
            size = -null[d, k]
            if left[k] > 0.0 and size > HAIR and left[k] / size < worst:
                worst, other = left[k] / size, k
        if place < 0 and other < 0:
            continue
        # Of the two ways, the one whose pivot is larger is the more stable.
        if place < 0 or (other >= 0 and abs(null[d, other]) > abs(null[d, place])):
            sign, place, best = -1.0, other, worst
        for k in range(count):
            left[k] = max(left[k] - sign * best * null[d, k], 0.0)
        left[place] = 0.0
        for e in range(d + 1, directions):
            factor = null[e, place] / null[d, place]
            if factor != 0.0:
                for k in range(count):
                    null[e, k] -= factor * null[d, k]
                null[e, place] = 0.0
