"""Every utility against its definition, in fractions and fifty digits, from the joint alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet
from liftlock.utility import (
    REGISTRY,
    Distortion,
    Precision,
    Utility,
    make_utility,
    mean_cost,
    value,
    value_of_no_noise,
    value_of_no_release,
)

Joint = list[list[Fraction]]
"""P(x, y): rows inputs, columns outputs."""

POINTS = (1, 2, 5, 3)
INPUTS = Alphabet.of(POINTS)
NAMES = tuple(REGISTRY)


def _columns(joint: Joint) -> list[list[Fraction]]:
    return [list(column) for column in zip(*joint, strict=True) if any(column)]


def mutual_information(joint: Joint) -> Any:
    """I(X; Y) from logarithms of fifty digits."""
    total = mp.mpf(0)
    for column in _columns(joint):
        weight = sum(column)
        for x, cell in enumerate(column):
            if cell:
                ratio = cell / (weight * sum(joint[x]))
                total += real(cell) * mp.log(real(ratio))
    return total


def histogram(joint: Joint) -> Any:
    """E sum_x (1[X = x] - P(x | Y))^2, term by term."""
    total = Fraction(0)
    for column in _columns(joint):
        weight = sum(column)
        for x, cell in enumerate(column):
            for other in range(len(column)):
                hit = Fraction(int(x == other)) - column[other] / weight
                total += cell * hit**2
    return real(total)


def mean(joint: Joint) -> Any:
    """E (X - E[X | Y])^2, term by term."""
    total = Fraction(0)
    for column in _columns(joint):
        pairs = list(zip(column, POINTS, strict=True))
        centre = sum((cell * t for cell, t in pairs), Fraction(0)) / sum(column, Fraction(0))
        total += sum(cell * (t - centre) ** 2 for cell, t in pairs)
    return real(total)


def guess(joint: Joint) -> Any:
    """P(the best guess is wrong)."""
    return real(1 - sum(max(column) for column in _columns(joint)))


def distortion(loss: Callable[[int, int], int]) -> Callable[[Joint], Any]:
    """E d(X, best reproduction), by trying every reproduction for every output."""

    def total(joint: Joint) -> Any:
        best = Fraction(0)
        for column in _columns(joint):
            best += min(
                sum(cell * loss(t, z) for cell, t in zip(column, POINTS, strict=True))
                for z in POINTS
            )
        return real(best)

    return total


def frequencies(*, worst: bool) -> Callable[[Joint], Any]:
    """The diagonal of J^-1 less P^2, with J = sum_y P(y) l l' inverted in fractions."""

    def total(joint: Joint) -> Any:
        masses = [sum(row, Fraction(0)) for row in joint]
        size = len(masses)
        matrix = [
            [Fraction(0)] * size + [Fraction(int(i == j)) for j in range(size)] for i in range(size)
        ]
        for column in _columns(joint):
            weight = sum(column, Fraction(0))
            lifts = [cell / mass / weight for cell, mass in zip(column, masses, strict=True)]
            for i in range(size):
                for j in range(size):
                    matrix[i][j] += weight * lifts[i] * lifts[j]
        for k in range(size):
            pivot = next((i for i in range(k, size) if matrix[i][k]), None)
            if pivot is None:
                return mp.inf
            matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
            matrix[k] = [entry / matrix[k][k] for entry in matrix[k]]
            for i in range(size):
                if i != k and matrix[i][k]:
                    factor = matrix[i][k]
                    matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[k], strict=True)]
        variances = [matrix[k][size + k] - masses[k] ** 2 for k in range(size)]
        return real(max(variances) if worst else sum(variances, Fraction(0)))

    return total


def real(number: Fraction | int) -> Any:
    return mp.mpf(Fraction(number).numerator) / mp.mpf(Fraction(number).denominator)


ORACLES: dict[str, Callable[[Joint], Any]] = {
    "mutual-information": mutual_information,
    "frequencies": frequencies(worst=False),
    "frequencies-worst": frequencies(worst=True),
    "histogram": histogram,
    "mean": mean,
    "guess": guess,
    "hamming": distortion(lambda t, z: int(t != z)),
    "absolute": distortion(lambda t, z: abs(t - z)),
    "squared": distortion(lambda t, z: (t - z) ** 2),
    "distance": distortion(lambda t, z: abs(t - z)),  # of places: test_distance.py
}


@st.composite
def joints(draw: st.DrawFn) -> Joint:
    outputs = draw(st.integers(1, 5))
    cells = draw(
        st.lists(
            st.lists(st.integers(0, 20), min_size=outputs, max_size=outputs), min_size=4, max_size=4
        )
    )
    for row in cells:
        row[0] += 1  # every input occurs
    total = sum(sum(row) for row in cells)
    return [[Fraction(cell, total) for cell in row] for row in cells]


def test_every_utility_has_an_oracle() -> None:
    assert set(ORACLES) == set(REGISTRY)


@pytest.mark.parametrize("name", NAMES)
@given(joint=joints())
def test_value_is_its_definition(name: str, joint: Joint) -> None:
    masses = np.array([float(sum(row)) for row in joint])
    channel = np.array([[float(cell / sum(row)) for cell in row] for row in joint])
    with mp.workdps(50):
        expected = float(ORACLES[name](joint))
    goal = make_utility(name, INPUTS)
    found = value(goal, channel, masses)
    if isinstance(goal.shape, Precision):  # an inverse is rounded up, and may be hard to tell
        assert goal.floor_of(channel, masses) <= expected <= found
        assert found == pytest.approx(expected, rel=1e-8 if expected < 1e3 else 0.03)
        return
    assert found == pytest.approx(expected, abs=1e-12)


def posteriors(size: int = 60) -> np.ndarray:
    return np.random.default_rng(5).dirichlet(np.full(4, 0.4), size=size)


@pytest.mark.parametrize("name", NAMES)
def test_costs_are_concave(name: str) -> None:
    goal = make_utility(name, INPUTS)
    left, right = posteriors(), posteriors()[::-1]
    for share in (0.1, 0.5, 0.8):
        middle = goal.costs(share * left + (1 - share) * right)
        assert (middle >= share * goal.costs(left) + (1 - share) * goal.costs(right) - 1e-12).all()


@pytest.mark.parametrize("name", NAMES)
def test_slopes_are_supergradients(name: str) -> None:
    """c(w) <= c(v) + slope . (w - v) for every pair."""
    goal = make_utility(name, INPUTS)
    v, w = posteriors(), posteriors(40)
    tangents = (
        goal.costs(v)[:, None] + goal.slopes(v) @ w.T - (goal.slopes(v) * v).sum(axis=1)[:, None]
    )
    assert (goal.costs(w)[None, :] <= tangents + 1e-9).all()


@pytest.mark.parametrize("name", NAMES)
def test_ends_of_the_scale(name: str) -> None:
    """Releasing nothing is the constant channel, the truth the identity."""
    goal = make_utility(name, INPUTS)
    masses = np.array([0.1, 0.2, 0.3, 0.4])
    constant, identity = np.ones((4, 1)), np.eye(4)
    assert value_of_no_release(goal, masses) == pytest.approx(value(goal, constant, masses))
    assert value_of_no_noise(goal, masses) == pytest.approx(value(goal, identity, masses))
    better = value_of_no_noise(goal, masses) - value_of_no_release(goal, masses)
    assert (better if goal.larger_is_better else -better) > 0


@pytest.mark.parametrize("name", NAMES)
def test_more_noise_never_helps(name: str) -> None:
    """Data processing: a channel behind the channel costs at least as much."""
    generator = np.random.default_rng(3)
    goal = make_utility(name, INPUTS)
    for _ in range(30):
        masses = generator.dirichlet(np.ones(4))
        first, second = generator.dirichlet(np.ones(5), 4), generator.dirichlet(np.ones(3), 5)
        assert mean_cost(goal, first @ second, masses) >= mean_cost(goal, first, masses) - 1e-12


def test_guessing_is_hamming_distortion() -> None:
    left, right = make_utility("guess", INPUTS), make_utility("hamming", INPUTS)
    np.testing.assert_allclose(left.costs(posteriors()), right.costs(posteriors()), atol=1e-15)


def test_squared_distortion_of_free_reproductions_is_the_mean() -> None:
    """With a fine grid of reproductions the best one is the posterior mean."""
    grid = np.linspace(1, 5, 4001)
    loss = (np.array(POINTS)[:, None] - grid[None, :]) ** 2
    fine: Utility = Distortion.of(loss, range(len(grid)))
    np.testing.assert_allclose(
        fine.costs(posteriors()), make_utility("mean", INPUTS).costs(posteriors()), atol=1e-6
    )
