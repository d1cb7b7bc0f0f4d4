"""Rounding rows: exact sums, within one unit, and the same by both routes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.errors import RowError
from liftlock.exact.weights import round_integer_rows, round_row, round_rows
from tests.strategies import counts

BITS = st.sampled_from([1, 2, 4, 10, 52, 62])


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    width = draw(st.integers(1, 8))
    return draw(st.lists(counts(width), min_size=1, max_size=4))


@given(tables(), BITS)
def test_sums_are_exact_and_every_weight_within_one_unit(table: list[list[int]], bits: int) -> None:
    for row in table:
        weights = round_row(row, bits)
        assert sum(weights) == 1 << bits
        for value, weight in zip(row, weights, strict=True):
            share = Fraction(value << bits, sum(row))
            assert weight >= 0
            assert abs(weight - share) < 1
            assert weight == share or share.denominator != 1


@given(tables(), BITS)
def test_largest_remainders_first_and_ties_to_the_earlier(
    table: list[list[int]], bits: int
) -> None:
    for row in table:
        weights = round_row(row, bits)
        shares = [Fraction(value << bits, sum(row)) for value in row]
        rests = [share - int(share) for share in shares]
        raised = [w > s for w, s in zip(weights, shares, strict=True)]
        for i, up in enumerate(raised):
            for j, other in enumerate(raised):
                if up and not other:
                    assert (rests[i], -i) > (rests[j], -j)


@given(tables(), BITS)
def test_the_whole_matrix_is_rounded_like_its_rows(table: list[list[int]], bits: int) -> None:
    found = round_integer_rows(np.array(table, dtype=object), bits)
    assert found.dtype == np.int64
    assert found.tolist() == [round_row(row, bits) for row in table]


def test_wide_rows_stay_exact() -> None:
    found = round_integer_rows(np.array([[1, 2]], dtype=object), 100)
    assert found.tolist() == [round_row([1, 2], 100)]
    assert sum(found.tolist()[0]) == 1 << 100


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), BITS)
def test_float_rows_are_rounded_as_their_62_bit_integers(row: list[float], bits: int) -> None:
    integers = [int(Fraction(value) * 2**62) for value in row]
    if not any(integers):
        integers[0], row[0] = 1 << 62, 1.0
    assert round_rows(np.array([row]), bits).tolist() == [round_row(integers, bits)]


def test_a_row_without_weight_is_refused_with_its_place() -> None:
    with pytest.raises(RowError, match="without any weight"):
        round_row([0, 0])
    with pytest.raises(RowError, match="without any weight at row 2"):
        round_integer_rows(np.array([[1, 0], [0, 0]]))
