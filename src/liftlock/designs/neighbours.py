"""Many numbers under LDP: neighbours answer alike, and the optimum is that of their groups.

The search for an LDP optimum grows quickly with the number of symbols. Numbers near each other can
share a row without losing much, and rows that are there twice keep every ratio of likelihoods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock._solver.optimality import Optimality
from liftlock._solver.oracle import Clock
from liftlock._solver.problem import Problem
from liftlock.alphabet import Alphabet
from liftlock.designs.draft import Draft
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.notions.lip import LIP
from liftlock.prior import Prior
from liftlock.utility.mean import points_of
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import Utility, cost_of_nothing, mean_cost

GROUPS = 16

_SOLVING = 0.5
"""The share of a limited time that is for the groups; the rest is for the bound."""
_CLOSE = 1e-3
_ROUNDING = 1e-9


def by_neighbours(
    problem: Problem, goal: Utility, clock: Clock, solve: Callable[..., Draft]
) -> Draft:
    """Return the LDP optimum of groups of neighbours, and how far all inputs could be better.

    Two bounds of the optimum are compared. Every mechanism of epsilon-LDP is epsilon-LIP, and the
    optimum of that is known. And X = M + R, the mean of its group and the rest: a mechanism for X
    is one for the groups, of which it cannot say more than their optimum G, while of R it says

        |E[R | Y]| <= (E - 1)/2 E|R|,

    as its lifts differ by at most E - 1. So at most (sqrt(G) + (E - 1)/2 E|R|)^2 of the variance
    is explained, and the mean distance is at most E|R| below that of the groups.

    Source: math groups of neighbours under LDP; 000 Thm 1 converse, Cor 2.
    """
    notion, prior = problem.notion, problem.context
    budget = notion.ratio_limit
    assert budget is not None
    assert isinstance(prior, Prior)
    joined, group = _joined(prior, problem.masses, points_of(problem.inputs, goal.name))
    first = clock.part(_SOLVING)
    found = solve(joined, notion, make_utility(goal.name, joined.inputs), first)
    clock.spend(first.work)
    matrix = found.matrix[group].copy()
    cost = mean_cost(goal, matrix, problem.masses)
    looser = solve(prior, LIP(budget), goal, clock.part(1.0, gap=_CLOSE)).optimality
    reference = cost_of_nothing(goal, problem.masses)
    bounds = [0.0, _bound(problem, goal, joined, group, found)]
    bounds += [] if looser is None else [looser.bound]
    bound = min(max(bounds), cost)
    said = f"neighbours are joined to {len(joined.inputs)} groups, the optimum of which is used"
    return Draft.of(
        problem.inputs,
        Alphabet.of(range(matrix.shape[1])),
        matrix,
        method=found.method,
        optimality=Optimality(
            goal.name,
            cost,
            bound,
            reference,
            seconds=clock.elapsed,
            stopped="" if found.optimality is None else found.optimality.stopped,
        ),
        remarks=[*found.remarks, said],
    )


def _bound(
    problem: Problem, goal: Utility, joined: Prior, group: np.ndarray[Any, Any], found: Draft
) -> float:
    """Return the least that any LDP mechanism costs, from the optimum of the groups."""
    points = points_of(problem.inputs, goal.name)
    means = points_of(joined.inputs, goal.name)
    if found.optimality is None or goal.name == "squared":
        # As a distortion it reads groups as their means alone, where inputs have more numbers to
        # be read as: the optimum of the groups then bounds nothing.
        return 0.0
    rest = float(dot(problem.masses, np.abs(points - means[group])))
    least = found.optimality.bound * (1.0 - _ROUNDING)
    if goal.name == "absolute":
        return least - rest * (1.0 + _ROUNDING)
    assert problem.ratio is not None
    weights = joined.floats()
    spread = float(dot(weights, (means - dot(weights, means)) ** 2))
    whole = float(dot(problem.masses, (points - dot(problem.masses, points)) ** 2))
    unseen = math.sqrt(max(whole - spread, 0.0))
    said = math.sqrt(max(spread - least, 0.0)) + min((problem.ratio - 1.0) / 2.0 * rest, unseen)
    return whole * (1.0 - _ROUNDING) - said**2 * (1.0 + _ROUNDING)


def _joined(prior: Prior, masses: Floats, points: Floats) -> tuple[Prior, np.ndarray[Any, Any]]:
    """Join neighbours to groups of about the same mass; return their prior, and who is where."""
    order = np.argsort(points, kind="stable")
    middle = (np.cumsum(masses[order]) - masses[order] / 2.0) * GROUPS
    group = np.empty(len(masses), dtype=np.intp)
    group[order] = np.unique(middle.astype(np.intp), return_inverse=True)[1]
    size = int(group.max()) + 1
    counts = [0] * size
    for place, count in zip(group.tolist(), prior.counts, strict=True):
        counts[place] += count
    means = np.bincount(group, masses * points) / np.bincount(group, masses)
    alphabet = Alphabet.of(range(size), [Fraction(float(mean)) for mean in means])
    return Prior(alphabet, tuple(counts)), group
