"""Many symbols: near-optimal decompositions of a prior without any linear programme.

A separable cost is at least its chord, and the mean of the chord over a decomposition is always its
value at the prior. What a vertex costs above that is due to its one symbol between two ends. With
many symbols there are vertices whose symbol in between is almost at an end, plenty of them; so

1. draw sets of raised symbols at random, each symbol as often as it must be (pivotal sampling);
2. exchange two symbols in each, so that the one in between lands on an end, almost;
3. weight the vertices so that their mean is the prior, and reduce them to as few as symbols.

The cost is then within 1e-7 or so of the chord's value, which is the proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from liftlock._runtime.clock import Clock
from liftlock._solver.box import Box
from liftlock._solver.kernels.simplex import HAIR, INTEGER, MATRIX, NOTHING, NUMBERS, VECTOR
from liftlock._solver.limits import LIMITS
from liftlock._solver.pricing import SeparableCost
from liftlock._solver.problem import Problem
from liftlock.exact.compiled import compiled
from liftlock.exact.elimination import LUFactors
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility.base import Separable, Utility, cost_of_no_release

if TYPE_CHECKING:
    from liftlock._solver.column_generation import Decomposition


# --- compiled loops: drawing sets of symbols, fitting them, reducing mixtures ---------------------


@compiled("f8[:,::1](f8[::1],f8[::1],i8[:,::1],f8[:,::1])")
def draw_sets(shares, width, orders, coins):  # type: ignore[no-untyped-def]
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
def fit_sets(shown, width, by_width):  # type: ignore[no-untyped-def]
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
def eliminate_block(null, left, first, last):  # type: ignore[no-untyped-def]
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


# --- the decomposition ----------------------------------------------------------------------------


def even_columns(
    box: Box, count: int, generator: np.random.Generator, clock: Clock | None = None
) -> Floats:
    """Return random vertices whose mean is near the prior and whose cost is near the chord's."""
    n = len(box)
    # In parts, between which an interruption is heard and the clock looked at.
    parts = [
        slice(k, min(k + LIMITS.block // n + 1, count))
        for k in range(0, count, LIMITS.block // n + 1)
    ]
    orders, shown = np.empty((count, n), dtype=np.int64), np.empty((count, n))
    by_width = np.argsort(box.width, kind="stable")
    for part in parts:
        orders[part] = box.random_orders(part.stop - part.start, generator)
        if clock is not None:
            clock.check()
    for part in parts:
        coins = generator.random((part.stop - part.start, n))
        shown[part] = draw_sets(box.shares, box.width, orders[part], coins)
        fit_sets(shown[part], box.width, by_width)
        if clock is not None:
            clock.check()
    return box.vertices_among(box.absorb_rounding(box.low + shown * box.width))


def decompose(problem: Problem, utility: Utility, clock: Clock) -> Decomposition | None:
    """Decompose a prior of many symbols near-optimally; None if the utility is not separable.

    The bound is the chord's value at the prior. Unless there are very many symbols, each vertex
    that was drawn descends to one that lies less above its chord.
    """
    from liftlock._solver.column_generation import Decomposition

    if not isinstance(utility.shape, Separable):
        return None
    cost = SeparableCost(utility.shape.kind)
    masses, box = problem.masses, Box(problem.masses, problem.lower, problem.upper)
    operations = float(len(masses)) ** 3
    clock.check(operations)
    generator = np.random.default_rng(len(masses))
    found = even_columns(box, 6 * len(masses), generator, clock)
    slopes = cost.chord(box.low, box.high)
    if len(masses) <= LIMITS.drawn_symbols:
        found = box.vertices_among(_descend_from_vertices(problem, utility, slopes, found, clock))
    # The better half: those that lie least above their chord.
    above = utility.costs(found) - dot(found, slopes)
    columns = found[np.argsort(above, kind="stable")[: 3 * len(masses)]]
    weights = find_weights(columns, masses, clock)
    if weights is None:
        columns = found
        weights = find_weights(columns, masses, clock)
    if weights is None:
        return None
    columns, weights = reduce_columns(columns, weights, masses, clock)
    weights = polish_weights(columns, weights, masses)
    clock.spend(operations)
    if np.abs(dot(weights, columns) / masses - 1.0).max() > TOLERANCES.visible:
        return None
    mean = float(dot(weights, utility.costs(columns)) / weights.sum())
    return Decomposition(
        columns,
        weights / weights.sum(),
        mean,
        min(cost.minimise_mean(box.low, box.high, masses), mean),
        cost_of_no_release(utility, masses),
        len(found),
        1,
        clock.elapsed,
        stopped="",
    )


def _descend_from_vertices(
    problem: Problem, utility: Utility, slopes: Floats, columns: Floats, clock: Clock
) -> Floats:
    """Descend from vertices, priced by the chords: a vertex costs what it lies above its chord."""
    with clock.pause():
        from liftlock._solver.separable import SeparableOracle
    return SeparableOracle(problem, utility, clock).descend(slopes, columns, clock)


def polish_weights(columns: Floats, weights: Floats, masses: Floats) -> Floats:
    """Let the mean be the prior to rounding, by least squares and refinement."""
    scaled = columns / masses
    gram = dot(scaled, scaled.T)
    gram[np.diag_indices_from(gram)] *= 1.0 + TOLERANCES.zero
    factors = LUFactors.of(gram)
    for _ in range(4):
        step = factors.solve(dot(scaled, 1.0 - dot(weights, scaled)))
        if not np.isfinite(step).all():  # dependent columns
            break
        weights = np.maximum(weights + step, 0.0)
    return weights


def find_weights(columns: Floats, masses: Floats, clock: Clock) -> Floats | None:
    """Return weights of 0 or more under which the columns' mean is the prior; None if none found.

    Alternating projections: onto the weights that give the prior, and onto those of 0 or more.
    """
    count = len(columns)
    scaled = columns / masses - 1.0
    rows = np.hstack([scaled, np.ones((count, 1))])
    gram = dot(rows.T, rows)
    gram[np.diag_indices_from(gram)] += TOLERANCES.hair * np.trace(gram) / len(gram)
    inverse = LUFactors.of(gram).solve(np.eye(len(gram)))
    target = np.zeros(rows.shape[1])
    target[-1] = 1.0
    weights: Floats = np.full(count, 1.0 / count)
    for _ in range(LIMITS.steps):
        clock.check()
        clock.spend(rows.size)
        weights = weights + dot(rows, dot(inverse, target - dot(weights, rows)))
        if weights.min() >= 0.0:
            return weights
        # Aiming a little above 0 ends the alternation after finitely many steps.
        weights = np.maximum(weights, 1e-3 / count)
    return None


def reduce_columns(
    columns: Floats, weights: Floats, masses: Floats, clock: Clock
) -> tuple[Floats, Floats]:
    """Keep the mean and use no more columns than symbols (Caratheodory), halving at a time."""
    n = len(masses)
    while len(weights) > n:
        groups = np.array_split(np.arange(len(weights)), min(len(weights), 2 * n))
        sums = np.array([weights[group].sum() for group in groups])
        points = np.array(
            [
                dot(weights[group], columns[group]) / total
                for group, total in zip(groups, sums, strict=True)
            ]
        )
        left = _eliminate_weights(points / masses, sums, clock)
        keep = [place for place, total in enumerate(left) if total > 0]
        if len(keep) == len(groups):
            break
        scale = [weights[groups[place]] * left[place] / sums[place] for place in keep]
        index = np.concatenate([groups[place] for place in keep])
        columns, weights = columns[index], np.concatenate(scale)
    return columns, weights


def _eliminate_weights(points: Floats, weights: Floats, clock: Clock) -> Floats:
    """Set weights to 0 one by one along directions that do not move the mean."""
    # Rows of `null` are directions d with d . points = 0.
    null = np.ascontiguousarray(LUFactors.of(points).left_null_space())
    left = weights.copy()
    together = max(1, LIMITS.block // null.size)
    for first in range(0, len(null), together):
        clock.check()
        eliminate_block(null, left, first, min(first + together, len(null)))
    return left
