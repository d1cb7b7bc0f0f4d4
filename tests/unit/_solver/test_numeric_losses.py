"""Losses on a line: curves against brute force over all extreme posteriors."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from liftlock._runtime.clock import Clock
from liftlock._solver.box import Box
from liftlock._solver.numeric_losses import (
    AbsoluteLoss,
    SquaredLoss,
    least,
    lower_bounds,
    window_posteriors,
)


def world(seed: int, count: int = 6) -> tuple[Box, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    masses = generator.dirichlet(np.ones(count))
    points = np.sort(generator.random(count)) - 0.5
    lower, upper = generator.uniform(0, 0.8), generator.uniform(1.2, 4)
    return Box(masses, lower, upper), points, masses


def vertices(box: Box) -> np.ndarray:
    return np.unique(box.fill_in(np.array(list(permutations(range(len(box)))))), axis=0)


@pytest.mark.parametrize("seed", range(8))
def test_a_fill_is_the_least_over_all_vertices(seed: int) -> None:
    box, _, _ = world(seed)
    slopes = np.random.default_rng(seed).standard_normal((20, 6))
    assert least(box, slopes) == pytest.approx((slopes @ vertices(box).T).min(axis=1), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_curve_of_squares_is_bounded_at_every_place(seed: int) -> None:
    box, points, masses = world(seed)
    every = vertices(box)
    generator = np.random.default_rng(seed)
    prices = 0.1 * generator.standard_normal(6)
    variances = every @ points**2 - (every @ points) ** 2
    true = float((variances - every @ prices).min())
    curve = SquaredLoss(box, points).curve(prices, -1e-9, Clock())
    assert curve.bound <= true
    assert curve.bound >= true - 0.03 * abs(true) - 1e-9
    means, costs = SquaredLoss(box, points).best_places(masses[None, :])
    assert means[0] == pytest.approx(masses @ points)
    assert costs[0] == pytest.approx(masses @ (points - means[0]) ** 2)


@pytest.mark.parametrize("seed", range(8))
def test_the_curve_of_distances_is_exact(seed: int) -> None:
    box, points, masses = world(seed)
    every = vertices(box)
    prices = 0.2 * np.random.default_rng(seed).standard_normal(6)
    # Medians anywhere, not only at points: a fine grid of them does no better.
    fine = np.linspace(-0.5, 0.5, 2001)
    costs = np.abs(fine[:, None] - points) @ every.T
    true = float((costs.min(axis=0) - every @ prices).min())
    loss = AbsoluteLoss(box, points)
    curve = loss.curve(prices, -1e-9, Clock())
    assert curve.bound <= true
    at_points = np.abs(points[:, None] - points) @ every.T
    assert curve.bound == pytest.approx(
        float((at_points.min(axis=0) - every @ prices).min()), abs=1e-11
    )
    median, cost = loss.best_places(masses[None, :])
    assert cost[0] == pytest.approx((np.abs(fine[:, None] - points) @ masses).min(), abs=1e-3)
    assert median[0] in points


def test_dips_are_places_where_the_curve_is_negative() -> None:
    box, points, _ = world(3, 40)
    prices = np.full(40, 0.3)
    for loss in (SquaredLoss(box, points), AbsoluteLoss(box, points)):
        curve = loss.curve(prices, -1e-9, Clock())
        dips = loss.find_dips(curve, prices, loss.snap(np.linspace(-0.3, 0.3, 5)), -1e-9)
        assert len(dips)
        assert (least(box, loss.table(dips) - prices) < 0).all()


def test_windows_are_allowed_and_reach_both_ends() -> None:
    box, points, _ = world(5, 30)
    found = window_posteriors(box, 9)
    assert found.sum(axis=1) == pytest.approx(np.ones(9))
    assert (found >= box.low - 1e-12).all()
    assert (found <= box.high + 1e-12).all()
    means = found @ points
    ends = box.fill(np.stack([points, -points])) @ points
    assert (means[0], means[-1]) == pytest.approx(tuple(ends), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_with_very_many_numbers_the_curve_is_bounded_without_sorting(seed: int) -> None:
    box, points, _ = world(seed, 1200)
    generator = np.random.default_rng(seed)
    prices = 0.05 + 0.05 * np.sin(9 * points) + 0.02 * generator.standard_normal(1200)
    goal = -1e-3
    curve = AbsoluteLoss(box, points).curve(prices, goal, Clock())
    true = least(box, np.abs(points[:, None] - points) - prices)
    assert (curve.values <= true + 1e-12).all()
    low = curve.values < goal
    assert curve.values[low] == pytest.approx(true[low], abs=1e-12)
    assert curve.bound <= true.min()
    levels = generator.random(1200)
    slopes = np.abs(points[:, None] - points) - prices
    assert (lower_bounds(box, slopes, levels) <= true + 1e-12).all()
