"""The interior-point method, against a general solver and against its own limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from liftlock._solver.interior_point import Band, InteriorPointMethod


def least_cost(masses: np.ndarray, costs: np.ndarray, crowd: float) -> float:
    """Solve the problem as one linear programme in all entries and caps."""
    outputs, inputs = costs.shape
    entries = outputs * inputs
    rows = sparse.kron(np.ones((1, outputs)), sparse.identity(inputs))
    columns = sparse.kron(sparse.identity(outputs), masses[None, :])
    caps = sparse.kron(sparse.identity(outputs), np.ones((inputs, 1)))
    blocks: Any = [[rows, None], [columns, -crowd * sparse.identity(outputs)]]
    equal: Any = sparse.bmat(blocks)
    solver: Any = linprog
    found = solver(
        np.concatenate([(masses * costs).ravel(), np.zeros(outputs)]),
        A_ub=sparse.hstack([sparse.identity(entries), -caps]),
        b_ub=np.zeros(entries),
        A_eq=equal,
        b_eq=np.concatenate([np.ones(inputs), np.zeros(outputs)]),
    )
    assert found.status == 0
    return float(found.fun)


def solved(cover: InteriorPointMethod, slack: float = 1e-10) -> InteriorPointMethod:
    while cover.slack > slack and cover.step():
        pass
    return cover


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("crowd", [0.08, 0.3, 0.7])
def test_it_finds_what_a_general_solver_finds(seed: int, crowd: float) -> None:
    generator = np.random.default_rng(seed)
    masses = generator.dirichlet(np.full(15, 0.5)) + 1e-6
    masses /= masses.sum()
    costs = generator.random((7, 15)) * generator.choice([1e-3, 1.0])
    cover = solved(InteriorPointMethod(masses, costs, crowd))
    least = least_cost(masses, costs, crowd)
    assert cover.cost == pytest.approx(least, abs=1e-8)
    assert cover.bound == pytest.approx(least, abs=1e-8)


def test_every_step_keeps_all_limits_and_proves_something() -> None:
    generator = np.random.default_rng(9)
    masses = generator.dirichlet(np.ones(20))
    costs = (np.linspace(0, 1, 9)[:, None] - np.sort(generator.random(20))) ** 2
    crowd = 0.25
    least = least_cost(masses, costs, crowd)
    cover = InteriorPointMethod(masses, costs, crowd)
    assert cover.feasible
    bounds = []
    for _ in range(12):
        shares = cover.shares
        weights = shares @ masses
        assert np.abs(shares.sum(axis=0) - 1).max() < 1e-12
        assert shares.min() > 0
        assert (shares / weights[:, None]).max() < 1 / crowd
        assert cover.bound <= least + 1e-12 <= cover.cost + 2e-12
        bounds.append(cover.bound)
        assert cover.step()
    assert bounds[-1] > bounds[0]


def test_neighbourhoods_lose_nothing_where_the_best_outputs_are_narrow() -> None:
    inputs, outputs, crowd = 120, 30, 0.04
    masses = np.full(inputs, 1 / inputs)
    points = np.linspace(0, 1, inputs)
    places = np.linspace(0.02, 0.98, outputs)
    costs = (places[:, None] - points) ** 2
    first = np.clip((places * inputs).astype(np.intp) - 12, 0, inputs - 24)
    first[3] -= 1  # ends may be ragged
    last = np.minimum(first + 24, inputs)
    last[:4] += 2
    band = Band(masses, first, last)
    assert not band.whole
    banded = InteriorPointMethod(masses, costs, crowd, band=band)
    assert banded.feasible
    solved(banded)
    whole = solved(InteriorPointMethod(masses, costs, crowd))
    assert banded.cost == pytest.approx(whole.cost, abs=1e-9)
    assert banded.bound == pytest.approx(whole.bound, abs=1e-9)
    assert np.abs(banded.shares.sum(axis=0) - 1).max() < 1e-11


def test_a_neighbourhood_smaller_than_a_crowd_is_no_start() -> None:
    masses = np.full(10, 0.1)
    first = np.arange(10)
    costs = np.zeros((10, 10))
    assert not InteriorPointMethod(masses, costs, 0.5, band=Band(masses, first, first + 1)).feasible
