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

from liftlock._solver.box import Box
from liftlock._solver.clock import Clock
from liftlock._solver.kernels.decomposition import draw, eliminate, fit
from liftlock._solver.limits import LIMITS, TOLERANCES
from liftlock._solver.pricing import SeparableCost
from liftlock._solver.problem import Problem
from liftlock.exact.elimination import Factors
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.utility.shape import Separable
from liftlock.utility.utility import Utility, cost_of_nothing

if TYPE_CHECKING:
    from liftlock._solver.column_generation import Decomposition


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
        shown[part] = draw(box.shares, box.width, orders[part], coins)
        fit(shown[part], box.width, by_width)
        if clock is not None:
            clock.check()
    return box.vertices_among(box.exact(box.low + shown * box.width))


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
        found = box.vertices_among(_lowered(problem, utility, slopes, found, clock))
    # The better half: those that lie least above their chord.
    above = utility.costs(found) - dot(found, slopes)
    columns = found[np.argsort(above, kind="stable")[: 3 * len(masses)]]
    weights = mixed(columns, masses, clock)
    if weights is None:
        columns = found
        weights = mixed(columns, masses, clock)
    if weights is None:
        return None
    columns, weights = reduced(columns, weights, masses, clock)
    weights = polished(columns, weights, masses)
    clock.spend(operations)
    if np.abs(dot(weights, columns) / masses - 1.0).max() > TOLERANCES.visible:
        return None
    mean = float(dot(weights, utility.costs(columns)) / weights.sum())
    return Decomposition(
        columns,
        weights / weights.sum(),
        mean,
        min(cost.least_mean(box.low, box.high, masses), mean),
        cost_of_nothing(utility, masses),
        len(found),
        1,
        clock.elapsed,
        stopped="",
    )


def _lowered(
    problem: Problem, utility: Utility, slopes: Floats, columns: Floats, clock: Clock
) -> Floats:
    """Descend from vertices, priced by the chords: a vertex costs what it lies above its chord."""
    with clock.pause():
        from liftlock._solver.separable import SeparableOracle
    return SeparableOracle(problem, utility, clock).descend(slopes, columns, clock)


def polished(columns: Floats, weights: Floats, masses: Floats) -> Floats:
    """Let the mean be the prior to rounding, by least squares and refinement."""
    scaled = columns / masses
    gram = dot(scaled, scaled.T)
    gram[np.diag_indices_from(gram)] *= 1.0 + TOLERANCES.zero
    factors = Factors.of(gram)
    for _ in range(4):
        step = factors.solve(dot(scaled, 1.0 - dot(weights, scaled)))
        if not np.isfinite(step).all():  # dependent columns
            break
        weights = np.maximum(weights + step, 0.0)
    return weights


def mixed(columns: Floats, masses: Floats, clock: Clock) -> Floats | None:
    """Return weights of 0 or more under which the columns' mean is the prior; None if none found.

    Alternating projections: onto the weights that give the prior, and onto those of 0 or more.
    """
    count = len(columns)
    scaled = columns / masses - 1.0
    rows = np.hstack([scaled, np.ones((count, 1))])
    gram = dot(rows.T, rows)
    gram[np.diag_indices_from(gram)] += TOLERANCES.hair * np.trace(gram) / len(gram)
    inverse = Factors.of(gram).solve(np.eye(len(gram)))
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


def reduced(
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
        left = _eliminated(points / masses, sums, clock)
        keep = [place for place, total in enumerate(left) if total > 0]
        if len(keep) == len(groups):
            break
        scale = [weights[groups[place]] * left[place] / sums[place] for place in keep]
        index = np.concatenate([groups[place] for place in keep])
        columns, weights = columns[index], np.concatenate(scale)
    return columns, weights


def _eliminated(points: Floats, weights: Floats, clock: Clock) -> Floats:
    """Set weights to 0 one by one along directions that do not move the mean."""
    # Rows of `null` are directions d with d . points = 0.
    null = np.ascontiguousarray(Factors.of(points).left_null())
    left = weights.copy()
    together = max(1, LIMITS.block // null.size)
    for first in range(0, len(null), together):
        clock.check()
        eliminate(null, left, first, min(first + together, len(null)))
    return left
