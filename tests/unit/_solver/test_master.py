"""The master problem against scipy's linear programming, and its prices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from liftlock._solver.column_generation import Master, MasterSolution, refine_weights


def solved(master: Master) -> MasterSolution:
    found = master.solve()
    assert found is not None
    return found


def random_columns(rng: np.random.Generator, symbols: int, count: int) -> np.ndarray:
    return rng.dirichlet(np.full(symbols, 0.4), size=count)


@pytest.mark.parametrize("floor", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_solves_the_same_problem_as_scipy(seed: int, floor: float) -> None:
    rng = np.random.default_rng(seed)
    symbols = int(rng.integers(3, 9))
    columns = random_columns(rng, symbols, 60)
    masses = rng.dirichlet(np.ones(60)) @ columns
    costs = rng.random(60)
    master = Master(masses, floor)
    master.add(columns[:30], costs[:30])
    master.add(columns[30:], costs[30:])
    mixture = solved(master)
    expected = linprog(costs, A_eq=columns.T, b_eq=masses, method="highs").fun
    assert mixture.cost == pytest.approx(expected, abs=1e-9)
    assert np.abs(mixture.weights @ columns - masses).max() < 1e-9
    # Prices: strong duality, and no column has a negative reduced cost.
    assert mixture.duals @ masses == pytest.approx(expected, abs=1e-8)
    assert (costs - columns @ mixture.duals).min() > -1e-8


def test_a_column_is_added_once() -> None:
    master = Master(np.array([0.5, 0.5]))
    twice = np.array([[0.5, 0.5], [0.5, 0.5 + 1e-13]])
    assert master.add(twice, np.zeros(2)) == 1
    assert master.add(twice[:1], np.zeros(1)) == 0


def test_gives_back_the_columns_that_are_asked_for() -> None:
    columns = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75], [1.0, 0.0, 0.0]])
    master = Master(np.array([0.5, 0.25, 0.25]))
    master.add(columns, np.zeros(3))
    assert len(master) == 3
    assert master.columns(np.array([True, False, True])).tolist() == columns[[0, 2]].tolist()


def test_boxed_prices_stay_in_their_box() -> None:
    rng = np.random.default_rng(2)
    columns = random_columns(rng, 6, 30)
    masses = columns.mean(axis=0)
    costs = rng.random(30)
    master = Master(masses)
    master.add(columns, costs)
    free = solved(master)
    centre = free.duals + rng.normal(size=6)
    master.box(centre, 0.01)
    boxed = solved(master)
    # The box is on the prices of rows that are divided by the prior; a shift common to all of y
    # means nothing for posteriors of sum 1, so some shift must bring y into the box.
    away, reach = boxed.duals - centre, (0.01 + 1e-9) / masses
    assert (away - reach).max() <= (away + reach).min()
    assert boxed.slack > 0
    master.box(None)
    assert solved(master).cost == pytest.approx(free.cost, abs=1e-9)
    assert solved(master).slack == 0


def test_refining_restores_the_prior_to_rounding() -> None:
    rng = np.random.default_rng(4)
    columns = random_columns(rng, 8, 8)
    weights = rng.dirichlet(np.ones(8))
    masses = weights @ columns
    noisy = weights + rng.normal(scale=1e-9, size=8)
    used, beta = refine_weights(columns, noisy, masses)
    assert np.abs(beta @ used - masses).max() < 1e-15
    assert np.abs(beta - weights).max() < 1e-12
