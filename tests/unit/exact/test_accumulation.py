"""Sums of floats without rounding, against sums of fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.exact import accumulation
from liftlock.exact.accumulation import add_exact, column_sums, exact_sum, exact_sums

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(FINITE, st.integers(0, 2)), max_size=30))
def test_the_sum_of_fractions(pairs: list[tuple[float, int]]) -> None:
    """Any finite floats: huge, tiny, subnormal, of both signs."""
    values = np.array([value for value, _ in pairs], dtype=np.float64)
    groups = np.array([group for _, group in pairs], dtype=np.intp)
    expected = tuple(
        sum((Fraction(value) for value, group in pairs if group == wanted), Fraction(0))
        for wanted in range(3)
    )
    assert exact_sums(values, groups, 3) == expected
    assert exact_sum(values) == sum(expected)


@given(st.lists(FINITE, max_size=20), st.integers(0, 20))
def test_adding_up_in_parts(values: list[float], cut: int) -> None:
    array = np.array(values, dtype=np.float64)
    assert exact_sum(array[:cut]) + exact_sum(array[cut:]) == exact_sum(array)


def test_blocks_and_the_fullest_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mantissas of ones, in more than one block, both signs."""
    monkeypatch.setattr(accumulation, "_BLOCK", 1000)
    full = float((1 << 53) - 1)
    values = np.full(2500, full)
    assert exact_sum(values) == 2500 * ((1 << 53) - 1)
    assert exact_sum(-values) == -2500 * ((1 << 53) - 1)
    assert exact_sum(np.array([1e308, 1.0, -1e308, 5e-324])) == 1 + Fraction(5e-324)


def test_added_needs_the_same_length() -> None:
    assert add_exact((Fraction(1),), (Fraction(1, 2),)) == (Fraction(3, 2),)
    with pytest.raises(ValueError, match="zip"):
        add_exact((Fraction(1),), ())


def test_columns_against_fractions() -> None:
    """Of all sizes and signs, the smallest float and zeros among them, in any order of rows."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 3)) * 2.0 ** rng.integers(-600, 600, (200, 3))
    table[3, 0], table[4, 0], table[5, 1] = 5e-324, -1.7e308, 0.0
    found = column_sums(table)
    for column, total in zip(table.T.tolist(), found, strict=True):
        assert total == sum((Fraction(value) for value in column), Fraction(0))
    assert column_sums(table[::-1]) == found
    assert column_sums(np.zeros((4, 2))) == (Fraction(0), Fraction(0))
