"""Bounds of linear programmes that do not trust the solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import Algorithm, LinearProgramme, Solver, safe_bound


def random_program(seed: int) -> tuple[Floats, Floats, Floats]:
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((5, 8))
    inside = generator.random(8)
    return generator.standard_normal(8), matrix, matrix @ inside


def least(cost: Floats, rows: Floats, ends: Floats) -> float:
    """Return the optimum that scipy finds between 0 and 1."""
    found = linprog(cost, A_ub=rows, b_ub=ends, bounds=(0, 1))
    assert found.success
    assert found.fun is not None
    return float(found.fun)


@pytest.mark.parametrize("seed", range(5))
def test_bound_equals_the_optimum_of_another_solver(seed: int) -> None:
    cost, matrix, upper = random_program(seed)
    rows = np.vstack([matrix, np.eye(8)])
    ends = np.concatenate([upper, np.ones(8)])
    program = LinearProgramme()
    first = program.add_variables(cost)
    program.add_rows([(first, csc_matrix(rows))], -np.inf, ends)
    found = program.minimise()
    other = least(cost, rows, ends)
    assert found.bound == pytest.approx(other, abs=1e-9)
    assert found.bound <= other + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_any_prices_give_a_bound(seed: int) -> None:
    cost, matrix, upper = random_program(seed)
    other = least(cost, matrix, upper)
    for prices in np.random.default_rng(seed).standard_normal((20, 5)):
        none = np.full(5, -np.inf)
        bound = safe_bound(cost, np.zeros(8), np.ones(8), csc_matrix(matrix), none, upper, prices)
        assert bound <= other + 1e-9


def test_a_box_without_a_point_has_an_infinite_bound() -> None:
    program = LinearProgramme()
    first = program.add_variables(np.ones(2))
    program.add_rows([(first, csc_matrix([[1.0, 1.0]]))], 1.0, 1.0)
    solver = Solver(program)
    assert solver.solve().bound == pytest.approx(1.0)
    solver.set_bounds(np.zeros(2), np.full(2, 0.25))
    assert solver.solve().bound == np.inf
    solver.set_bounds(np.zeros(2), np.ones(2))
    solver.set_costs(np.array([1.0, 0.5]))
    assert solver.solve().bound == pytest.approx(0.5)


@pytest.mark.parametrize("way", ["simplex", "ipm"])
def test_rows_that_come_later_count_as_if_they_had_been_there(way: Algorithm) -> None:
    for seed in range(5):
        cost, matrix, upper = random_program(seed)
        program = LinearProgramme()
        first = program.add_variables(cost)
        program.add_rows([(first, csc_matrix(np.eye(8)))], -np.inf, 1.0)
        solver = Solver(program)
        assert solver.solve(way).bound == pytest.approx(cost[cost < 0].sum(), abs=1e-8)
        solver.add_rows(csc_matrix(matrix[:2]), -np.inf, upper[:2])
        solver.solve()
        solver.add_rows(csc_matrix(matrix[2:]), -np.inf, upper[2:])
        found, other = solver.solve(way), least(cost, matrix, upper)
        assert found.bound == pytest.approx(other, abs=1e-8)
        assert found.bound <= other + 1e-12
        assert (matrix @ found.values <= upper + 1e-8).all()
