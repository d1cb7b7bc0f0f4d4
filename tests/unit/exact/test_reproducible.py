"""Arithmetic with one result everywhere is also right: against many digits, and against BLAS."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from liftlock.exact import compiled, reproducible
from liftlock.exact.elimination import LUFactors
from liftlock.exact.integers import Floats

GENERATOR = np.random.default_rng(17)


def ulps(found: Floats, right: list[Any]) -> float:
    """Return the largest error in units of the last place."""
    units = [math.ulp(float(value)) for value in right]
    return max(
        float(abs(mp.mpf(float(value)) - true) / unit)
        for value, true, unit in zip(found, right, units, strict=True)
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "places", "most"),
    [
        (reproducible.log, mp.log, np.exp(GENERATOR.uniform(-700, 700, 500)), 1.0),
        (reproducible.log, mp.log, 1.0 + GENERATOR.uniform(-0.4, 0.6, 500), 1.0),
        (reproducible.log, mp.log, 1.0 + 1e-9 * GENERATOR.uniform(-1, 1, 200), 1.0),
        (reproducible.exp, mp.exp, GENERATOR.uniform(-700, 700, 500), 1.0),
        (reproducible.exp, mp.exp, GENERATOR.uniform(-1, 1, 500), 1.0),
        (reproducible.log1p, mp.log1p, GENERATOR.uniform(-0.9, 3, 300), 2.5),
        (reproducible.log1p, mp.log1p, 1e-7 * GENERATOR.uniform(-1, 1, 300), 2.5),
        (reproducible.expm1, mp.expm1, GENERATOR.uniform(-2, 2, 300), 2.5),
        (reproducible.expm1, mp.expm1, 1e-7 * GENERATOR.uniform(-1, 1, 300), 2.5),
    ],
)
def test_a_function_is_right_to_the_last_digits(
    ours: Callable[[Floats], Floats], theirs: Callable[[Any], Any], places: Floats, most: float
) -> None:
    with mp.workdps(60):
        assert ulps(ours(places), [theirs(mp.mpf(float(x))) for x in places]) <= most


def test_the_ends() -> None:
    assert reproducible.log(np.array([0.0, 1.0, math.inf])).tolist() == [-math.inf, 0.0, math.inf]
    assert np.isnan(reproducible.log(np.array([-1.0, math.nan]))).all()
    assert math.isfinite(reproducible.log(5e-324))
    assert reproducible.exp(np.array([-math.inf, 0.0, math.inf])).tolist() == [0.0, 1.0, math.inf]
    assert math.isnan(reproducible.exp(math.nan))
    assert reproducible.exp(-745.0) == 5e-324


def test_compiled_and_not_compiled_logarithms_are_the_same() -> None:
    places = np.exp(GENERATOR.uniform(-50, 50, 2000))
    assert [compiled.log(x) for x in places] == reproducible.log(places).tolist()


@pytest.mark.parametrize("shape", [(3, 4, 2), (2, 5, 9), (130, 90, 110), (1, 2000, 700)])
def test_a_product_is_right(shape: tuple[int, int, int]) -> None:
    rows, terms, columns = shape
    left = GENERATOR.standard_normal((rows, terms)) * np.exp(GENERATOR.uniform(-9, 9, (rows, 1)))
    right = GENERATOR.standard_normal((terms, columns))
    found = reproducible.dot(left, right)
    size = np.abs(left) @ np.abs(right)
    assert (np.abs(found - left @ right) <= 1e-14 * size).all()
    for i, k in [(0, 0), (rows - 1, columns - 1)]:
        pairs = zip(left[i].tolist(), right[:, k].tolist(), strict=True)
        exact = sum(Fraction(a) * Fraction(b) for a, b in pairs)
        assert abs(found[i, k] - float(exact)) <= 1e-15 * size[i, k] * math.sqrt(terms)


def test_parts_of_a_product_are_exact_in_any_order() -> None:
    left = GENERATOR.standard_normal((40, 3000))
    right = GENERATOR.standard_normal((3000, 30))
    order = GENERATOR.permutation(3000)
    found = reproducible.dot(left, right)
    assert (found == reproducible.dot(left[:, order], right[order])).all()
    assert not (left @ right == left[:, order] @ right[order]).all()  # by BLAS it does matter


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\)"):
        reproducible.dot(np.ones(2), np.ones(3))


@pytest.mark.parametrize(("size", "width"), [(1, None), (7, None), (150, None), (260, 11)])
def test_equations_are_solved(size: int, width: int | None) -> None:
    matrix = GENERATOR.standard_normal((size, size))
    if width is not None:
        places = np.arange(size)
        matrix[np.abs(places[:, None] - places) > width] = 0.0
    right = GENERATOR.standard_normal((size, 3))
    factors = LUFactors.of(matrix, width)
    for found, given in ((factors.solve(right), right), (factors.solve(right[:, 0]), right[:, 0])):
        size_of = np.abs(matrix).max() * np.abs(found).max()
        assert np.abs(matrix @ found - given).max() <= 1e-11 * size_of


def test_a_singular_matrix_gives_no_number() -> None:
    assert not np.isfinite(LUFactors.of(np.ones((3, 3))).solve(np.arange(3.0))).all()


def test_directions_that_move_nothing() -> None:
    matrix = GENERATOR.standard_normal((120, 70))
    found = LUFactors.of(matrix).left_null_space()
    assert found.shape == (50, 120)
    assert np.abs(found @ matrix).max() < 1e-11
    assert np.linalg.matrix_rank(found) == 50
