"""The simplex method against another solver, on ordinary and degenerate programmes."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from liftlock._solver.box import Box
from liftlock._solver.kernels import simplex
from liftlock._solver.kernels.simplex import Programme, Vertex
from liftlock.exact.integers import Floats

# A compiled function, whose stub does not know its arguments.
optimise: Any = simplex.optimise


def programme(
    rng: np.random.Generator, rows: int, columns: int, *, degenerate: bool
) -> tuple[Programme, Floats]:
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
    scales = np.abs(matrix).max(axis=1)
    return Programme(matrix, right, lower, upper, scales, np.zeros((rows + 1, 4))), inside


def vertex(given: Programme, inside: Floats) -> Vertex:
    found = simplex.new_vertex(given)
    assert simplex.start_at_point(given, inside, found)
    simplex.purify(given, given.lower, given.upper, found, np.zeros(len(given.lower)))
    return found


def least(cost: Floats, given: Programme) -> float:
    """Return the optimum that scipy finds."""
    ends = list(zip(given.lower.tolist(), given.upper.tolist(), strict=True))
    found = linprog(cost, A_eq=given.matrix, b_eq=given.right, bounds=ends)
    assert found.status == 0
    return float(found.fun or 0.0)


@pytest.mark.parametrize("degenerate", [False, True])
def test_optima_agree_with_another_solver(degenerate: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        rows, columns = int(rng.integers(1, 7)), int(rng.integers(2, 30))
        given, inside = programme(rng, rows, columns, degenerate=degenerate)
        lower, upper = given.lower, given.upper
        state = vertex(given, inside)
        for _ in range(3):  # again from the last basis
            cost = np.concatenate([rng.normal(size=columns), np.zeros(rows)])
            multipliers, reduced = np.zeros(rows + 1), np.zeros(len(cost))
            steps = optimise(given, lower, upper, state, cost, multipliers, reduced, 5000)
            assert steps >= 0
            values = state.values
            assert np.abs(given.matrix @ values - given.right).max() < 1e-10
            assert (values >= lower - 1e-10).all()
            assert (values <= upper + 1e-10).all()
            assert cost @ values == pytest.approx(least(cost, given), abs=1e-8)
            bound = simplex.safe_bound(given, lower, upper, cost, multipliers, reduced, 0.0)
            assert cost @ values - 1e-8 < bound <= cost @ values + 1e-12


def test_a_bound_holds_for_any_multipliers() -> None:
    rng = np.random.default_rng(6)
    given, _ = programme(rng, 3, 8, degenerate=False)
    cost = np.concatenate([rng.normal(size=8), np.zeros(3)])
    lowest = least(cost, given)
    for _ in range(50):
        multipliers = rng.normal(size=4)
        reduced = cost - multipliers @ given.matrix
        bound = simplex.safe_bound(
            given, given.lower, given.upper, cost, multipliers, reduced, 0.25
        )
        assert bound <= lowest + 0.25


def test_the_sum_alone_is_solved_by_filling() -> None:
    rng = np.random.default_rng(7)
    for size in (2, 5, 40):
        masses = rng.dirichlet(np.ones(size))
        box = Box(masses, 0.4, 2.5)
        given = Programme(
            np.ones((1, size)), np.ones(1), box.low, box.high, np.ones(1), np.ones((1, 4))
        )
        state = vertex(given, masses)
        for slopes in rng.normal(size=(5, size)):
            multipliers, reduced = np.zeros(1), np.zeros(size)
            optimise(given, box.low, box.high, state, slopes, multipliers, reduced, 5000)
            assert slopes @ state.values == pytest.approx(float(box.minimise(slopes[None])[0][0]))


def test_dependent_columns_have_no_inverse() -> None:
    matrix, two = np.array([[1.0, 2.0], [2.0, 4.0]]), np.zeros(2)
    given = Programme(matrix, two, two, two, two, np.zeros((2, 4)))
    state = simplex.new_vertex(given)
    state.basis[:] = 0, 1
    assert not simplex.invert(given, state)
