"""Quantile blocks: report which of a few blocks of equal mass a number lies in, or another one."""

from __future__ import annotations

import math

import numpy as np

from liftlock._solver.problem import Problem
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft, few_outputs_memory
from liftlock.exact.integers import Floats
from liftlock.model import Context
from liftlock.model.alphabet import Alphabet
from liftlock.model.continuous.grid import number_labels
from liftlock.notions.base import Notion
from liftlock.utility.mean import points_of, posterior_means

_WHOLE = 1e-12
"""How near to the next whole number 1/p counts as that number: rounding, which locking mends."""

_ALIKE = 1e-9
"""Blocks whose shares of all bins differ by less lie in the same bin."""


def quantile_blocks(context: Context, notion: Notion) -> Draft:
    """Cut the line into K blocks of equal mass; report one's own block, or another one.

    An output may not point at a crowd smaller than p = (1 - L) / (U - L), so K = floor(1/p), and

        P(own block) = 1 - L (K - 1) / K,   P(each other block) = L / K.

    The lifts are L and K - (K - 1) L <= U: exactly L and U when 1/p is whole, which for LIP means
    that 1 + e^epsilon is. A bin that the border of two blocks cuts belongs to each in proportion.
    Where not even two equal blocks fit (U + L < 2) the line is cut in two unequal ones, at the
    place that explains most of the variance.

    Source: math k-ary response on blocks of equal mass.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> draft = quantile_blocks(Prior.uniform(range(6)), LIP("ln 2"))
    >>> draft.matrix.round(4)[0].tolist(), draft.outputs.labels
    ([0.6667, 0.1667, 0.1667], (1.5, 2.5, 3.5))
    """
    problem = Problem.of(context, notion)
    points = points_of(problem.inputs, "quantile blocks")
    order = np.argsort(points, kind="stable")
    masses, lower, upper = problem.masses[order], problem.lower, problem.upper
    fitting = (upper - lower) / (1.0 - lower) if lower < 1.0 < upper else 1.0
    count = math.floor(min(fitting * (1.0 + _WHOLE), len(masses)))
    if count >= 2 or len(masses) == 1 or not lower < 1.0 < upper:
        rows = merge_equal_blocks(lower / count + (1.0 - lower) * block_shares(masses, count))
        said = _describe(count, fitting, lower)
    else:
        rows, below = two_blocks(masses, points[order], lower, upper)
        said = (
            "no two blocks of equal mass fit the budget: two unequal blocks, the lower one with "
            f"{100 * below:.3g} % of the population; `optimal` can do better"
        )
    matrix = np.empty_like(rows)
    matrix[order] = rows
    means = posterior_means(matrix, problem.masses, points)
    step = float(np.ptp(points)) / len(means)
    labels, coordinates = number_labels(means.tolist(), step)
    # Symbols of the same number may lie in different blocks, whose names must differ.
    distinct = len(set(labels)) == len(labels)
    names = labels if distinct else [f"block {k + 1}" for k in range(len(labels))]
    return Draft.of(
        problem.inputs,
        Alphabet.of(names, coordinates),
        matrix,
        remarks=[said],
    )


def block_shares(masses: Floats, count: int) -> Floats:
    """Return the share of each bin that lies in each of `count` blocks of equal mass.

    >>> block_shares(np.array([0.25, 0.5, 0.25]), 2).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    """
    ends = np.cumsum(masses) / masses.sum()
    begins = np.concatenate([[0.0], ends[:-1]])
    borders = np.linspace(0.0, 1.0, count + 1)
    ends[-1] = 1.0
    inside = np.minimum(ends[:, None], borders[1:]) - np.maximum(begins[:, None], borders[:-1])
    shares = np.clip(inside, 0.0, None)
    # A share that is nothing but rounding would tell a bin from its neighbour.
    shares[shares < 1e-13] = 0.0
    # A bin too rare to have a share of its own belongs where its middle is.
    lost = np.flatnonzero(shares.sum(axis=1) == 0.0)
    middles = 0.5 * (begins + ends)[lost]
    shares[lost, np.minimum((middles * count).astype(np.intp), count - 1)] = 1.0
    each: Floats = shares / shares.sum(axis=1, keepdims=True)
    return each


def merge_equal_blocks(rows: Floats) -> Floats:
    """Join neighbouring blocks that say the same: those that lie in one bin."""
    scaled = rows / rows.sum(axis=0)
    same = np.abs(np.diff(scaled, axis=1)).max(axis=0, initial=0.0) < _ALIKE
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    joined: Floats = np.add.reduceat(rows, starts, axis=1)
    return joined


def two_blocks(masses: Floats, points: Floats, lower: float, upper: float) -> tuple[Floats, float]:
    """Cut an ascending line in two, best for the squared error; return rows and the lower mass.

    Given the lower block, of mass a, its posterior lies between l = max(a L, 1 - (1 - a) U) and
    h = min(a U, 1 - (1 - a) L). Two answers at these ends explain (h - a)(a - l) d^2 of the
    variance, where d is the distance between the means of the blocks.
    """
    mass, sums = np.cumsum(masses)[:-1], np.cumsum(masses * points)[:-1]
    # Summed from the other end: beside a likely bin 1 - a would be rounded to 0.
    rest = np.cumsum(masses[::-1])[::-1][1:]
    distance = np.cumsum((masses * points)[::-1])[::-1][1:] / rest - sums / mass
    rise = np.minimum(mass * (upper - 1.0), rest * (1.0 - lower))
    fall = np.minimum(mass * (1.0 - lower), rest * (upper - 1.0))
    cut = int(np.argmax(rise * fall * distance**2))
    a, rises, falls = float(mass[cut]), float(rise[cut]), float(fall[cut])
    weight = falls / (rises + falls)
    below = np.arange(len(masses)) <= cut
    first = weight * np.where(below, 1.0 + rises / a, 1.0 - rises / float(rest[cut]))
    return np.stack([first, 1.0 - first], axis=1), a


def _describe(count: int, fitting: float, lower: float) -> str:
    own = 1.0 - lower * (count - 1) / count
    said = f"{count} blocks of equal mass: one's own with probability {own:.6g}"
    if count > 1:
        said += f", each other one with {lower / count:.6g}"
    if fitting > count * (1.0 + 1e-9):
        rise = lower + (1.0 - lower) * count
        said += f"; {fitting:.4g} would fit, so lifts rise to {rise:.4g} only"
    return said


DESIGN = Design(
    key="quantile-blocks",
    make=quantile_blocks,
    summary="report which block of equal mass a number lies in, or another block at random",
    promises="closed form; every lift is at its limit when 1 + e^epsilon is whole, and for numbers "
    "spread evenly nothing then has a smaller squared error",
    source="derived for liftlock; not in the papers",
    notions=LIFT_NOTIONS,
    contexts=("prior",),
    needs="numbers, as labels or coordinates",
    memory=few_outputs_memory,
)
