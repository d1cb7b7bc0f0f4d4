"""Slow and simple optimisers that the tests compare with; they share no code with the package."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

Floats = npt.NDArray[np.float64]


def lift_cuts(given: Floats, secret: Floats, lower: float, upper: float) -> Floats:
    """Rows g with g . v <= 0: the lift of each secret between two limits."""
    ones = np.ones((1, given.shape[1]))
    over = given - upper * secret[:, None] * ones
    under = lower * secret[:, None] * ones - given
    return np.vstack([over, under])


def ldp_cuts(given: Floats, secret: Floats, ratio: float) -> Floats:
    """Rows g with g . v <= 0: likelihoods of any two secrets within a ratio."""
    rows = [
        given[s] / secret[s] - ratio * given[t] / secret[t]
        for s in range(len(secret))
        for t in range(len(secret))
        if s != t
    ]
    return np.array(rows)


def brute_vertices(cuts: Floats, symbols: int) -> Floats:
    """All vertices of {v >= 0, sum v = 1, cuts v <= 0}: try every set of active constraints."""
    rows = np.vstack([-np.eye(symbols), cuts])
    found = []
    right = np.zeros(symbols)
    right[0] = 1.0
    for chosen in combinations(range(len(rows)), symbols - 1):
        system = np.vstack([np.ones(symbols), rows[list(chosen)]])
        if abs(np.linalg.det(system)) < 1e-12:
            continue
        point = np.linalg.solve(system, right)
        if (rows @ point <= 1e-10).all():
            found.append(point)
    points = np.array(found)
    _, keep = np.unique(points.round(8), axis=0, return_index=True)
    kept: Floats = points[keep]
    return kept


def best_mixture(
    vertices: Floats, masses: Floats, cost: Callable[[Floats], float]
) -> tuple[float, Floats]:
    """Least mean cost of a mixture of the vertices whose mean is the prior, by scipy's LP."""
    costs = np.array([cost(v) for v in vertices])
    # By default HiGHS may be off by more than what it is to check.
    found = linprog(
        costs,
        A_eq=vertices.T,
        b_eq=masses,
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.success, found.message
    assert found.fun is not None
    return float(found.fun), np.asarray(found.x)


def entropy(v: Floats) -> float:
    return float(-sum(p * np.log(p) for p in v if p > 0))


def squares(v: Floats) -> float:
    return float(1 - sum(p * p for p in v))


def variance(points: Floats) -> Callable[[Floats], float]:
    def cost(v: Floats) -> float:
        mean = sum(p * t for p, t in zip(v, points, strict=True))
        return float(sum(p * (t - mean) ** 2 for p, t in zip(v, points, strict=True)))

    return cost


def miss(v: Floats) -> float:
    return float(1 - max(v))


COSTS: dict[str, Callable[[Floats], Callable[[Floats], float]]] = {
    "mutual-information": lambda points: entropy,
    "histogram": lambda points: squares,
    "mean": variance,
    "guess": lambda points: miss,
}
