"""The simplex method against another solver, on ordinary and degenerate programmes."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from liftlock._solver import simplex
from liftlock.exact.integers import Floats

# A compiled function, whose stub does not know its arguments.
optimise: Any = simplex.optimise


def programme(
    rng: np.random.Generator, rows: int, columns: int, *, degenerate: bool
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """A polytope sum v = 1, low <= A v <= high, with slacks; and a point inside."""
    body = rng.random((rows, columns))
    if degenerate:
        body = np.round(body * 3) / 3
        body[:, 1::2] = body[:, : columns - columns % 2 : 2]
        body[-1] = body[0]
    inside = rng.dirichlet(np.ones(columns))
    middle = body @ inside
    width = 0.0 if degenerate else 0.1
    matrix = np.zeros((rows + 1, columns + rows))
    matrix[0, :columns] = 1.0
    matrix[1:, :columns] = body
    matrix[1:, columns:] = -np.eye(rows)
    right = np.eye(rows + 1)[0].copy()
    lower = np.concatenate([np.zeros(columns), middle - width * rng.random(rows)])
    upper = np.concatenate([np.full(columns, 2.0), middle + 0.1 * rng.random(rows)])
    return matrix, right, lower, upper, inside


def vertex(
    matrix: Floats, right: Floats, lower: Floats, upper: Floats, inside: Floats
) -> tuple[Any, Any, Floats, Floats]:
    rows, size = matrix.shape
    columns = len(inside)
    values = np.concatenate([inside, np.zeros(size - columns)])
    place = np.full(size, simplex.BETWEEN, np.int8)
    basis = np.array([int(np.argmax(inside)), *range(columns, size)])
    place[basis] = simplex.BASIC
    inverse = np.zeros((rows, rows))
    assert simplex.invert(matrix, basis, inverse)
    simplex.settle(matrix, right, basis, place, inverse, values)
    simplex.purify(matrix, right, lower, upper, basis, place, inverse, values, np.zeros(size))
    return basis, place, inverse, values


def least(cost: Floats, matrix: Floats, right: Floats, lower: Floats, upper: Floats) -> float:
    """Return the optimum that scipy finds."""
    ends = list(zip(lower.tolist(), upper.tolist(), strict=True))
    found = linprog(cost, A_eq=matrix, b_eq=right, bounds=ends)
    assert found.status == 0
    return float(found.fun or 0.0)


@pytest.mark.parametrize("degenerate", [False, True])
def test_optima_agree_with_another_solver(degenerate: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        rows, columns = int(rng.integers(1, 7)), int(rng.integers(2, 30))
        matrix, right, lower, upper, inside = programme(rng, rows, columns, degenerate=degenerate)
        state = vertex(matrix, right, lower, upper, inside)
        for _ in range(3):  # again from the last basis
            cost = np.concatenate([rng.normal(size=columns), np.zeros(rows)])
            multipliers, reduced = np.zeros(rows + 1), np.zeros(len(cost))
            steps = optimise(matrix, right, lower, upper, *state, cost, multipliers, reduced, 5000)
            assert steps >= 0
            values = state[3]
            assert np.abs(matrix @ values - right).max() < 1e-10
            assert (values >= lower - 1e-10).all()
            assert (values <= upper + 1e-10).all()
            assert cost @ values == pytest.approx(
                least(cost, matrix, right, lower, upper), abs=1e-8
            )
            scales = np.abs(matrix).max(axis=1)
            bound = simplex.safe_bound(scales, right, lower, upper, cost, multipliers, reduced, 0.0)
            assert cost @ values - 1e-8 < bound <= cost @ values + 1e-12


def test_a_bound_holds_for_any_multipliers() -> None:
    rng = np.random.default_rng(6)
    matrix, right, lower, upper, _ = programme(rng, 3, 8, degenerate=False)
    cost = np.concatenate([rng.normal(size=8), np.zeros(3)])
    lowest = least(cost, matrix, right, lower, upper)
    for _ in range(50):
        multipliers = rng.normal(size=4)
        reduced = cost - multipliers @ matrix
        bound = simplex.safe_bound(
            np.abs(matrix).max(axis=1), right, lower, upper, cost, multipliers, reduced, 0.25
        )
        assert bound <= lowest + 0.25


def test_dependent_columns_have_no_inverse() -> None:
    matrix = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert not simplex.invert(matrix, np.array([0, 1]), np.zeros((2, 2)))
