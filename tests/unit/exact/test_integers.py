"""Exact integer matrices against Python's own integers, from 1 to 3000 bits."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.exact.integers import (
    Integers,
    WideMatrix,
    as_integers,
    as_wide_matrix,
    multiply,
    sum_fractions,
)

WIDTHS = [1, 2, 25, 26, 31, 52, 53, 54, 61, 62, 63, 64, 65, 127, 500, 3000]
SHAPES = [(1, 1, 1), (1, 7, 3), (1, 200, 5), (4, 1, 2), (3, 33, 4), (5, 64, 1), (2, 129, 2)]


def numbers(rows: int, columns: int, bits: int, seed: int) -> list[list[int]]:
    """Return random numbers with the extreme ones among them."""
    source = random.Random(seed)
    table = [[source.getrandbits(bits) for _ in range(columns)] for _ in range(rows)]
    table[-1][-1] = (1 << bits) - 1
    table[0][0] = (1 << bits) - 1
    if rows * columns > 2:
        table[rows // 2][columns // 2] = 0
    return table


def integers(table: list[list[int]]) -> Integers:
    return as_integers(np.array(table, dtype=object))


def product(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    return [
        [
            sum(a * b for a, b in zip(row, column, strict=True))
            for column in zip(*right, strict=True)
        ]
        for row in left
    ]


def check(found: WideMatrix, expected: list[list[int]]) -> None:
    rows, columns = len(expected), len(expected[0])
    assert found.shape == (rows, columns)
    assert found.objects().tolist() == expected
    assert [found.row(i) for i in range(rows)] == expected
    assert [found.column(j) for j in range(columns)] == [
        list(c) for c in zip(*expected, strict=True)
    ]
    assert found.item(rows - 1, 0) == expected[rows - 1][0]
    assert found.positive().tolist() == [[v > 0 for v in row] for row in expected]
    if found.single is not None:
        assert found.single.tolist() == expected
    if max(max(row) for row in expected).bit_length() < 1000:
        for row, line in zip(found.floats().tolist(), expected, strict=True):
            for value, true in zip(row, line, strict=True):
                assert abs(Fraction(value) - true) <= Fraction(true) / 10**15


@pytest.mark.parametrize("left_bits", WIDTHS)
@pytest.mark.parametrize("right_bits", [1, 31, 52, 62, 63, 130, 3000])
def test_products_of_every_width(left_bits: int, right_bits: int) -> None:
    for rows, inner, columns in SHAPES if left_bits + right_bits < 1000 else SHAPES[:3]:
        left = numbers(rows, inner, left_bits, left_bits)
        right = numbers(inner, columns, right_bits, right_bits + 7)
        check(multiply(integers(left), integers(right)), product(left, right))


def test_the_largest_entries_everywhere() -> None:
    # All ones in every limb is where a sum would leave the 53 bits first.
    for bits in (26, 40, 52, 62, 63):
        for inner in (1, 3, 255, 256, 1000):
            top = (1 << bits) - 1
            left = np.full((2, inner), top)
            found = multiply(as_integers(left), as_integers(left.T))
            assert found.objects().tolist() == [[inner * top * top] * 2] * 2
            row = multiply(as_integers(left[:1]), as_integers(left.T))
            assert row.objects().tolist() == [[inner * top * top] * 2]


@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 4), st.integers(1, 200), st.data())
def test_random_products(
    rows: int, inner: int, columns: int, bits: int, data: st.DataObject
) -> None:
    cells = st.integers(0, (1 << bits) - 1)
    left = data.draw(
        st.lists(st.lists(cells, min_size=inner, max_size=inner), min_size=rows, max_size=rows)
    )
    right = data.draw(
        st.lists(
            st.lists(cells, min_size=columns, max_size=columns), min_size=inner, max_size=inner
        )
    )
    check(multiply(integers(left), integers(right)), product(left, right))


@pytest.mark.parametrize("bits", [1, 62, 63, 64, 700])
def test_wrapping_and_choosing(bits: int) -> None:
    table = numbers(4, 5, bits, 3)
    found = as_wide_matrix(integers(table))
    check(found, table)
    rows, columns = np.array([3, 0]), np.array([4, 2, 1])
    check(
        found.rows(rows).columns(columns),
        [[table[int(i)][int(j)] for j in columns] for i in rows],
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1], np.int64),
        ([2**62], np.int64),
        ([2**63 - 1, -(2**63) + 1], np.int64),
        ([2**63], object),
        ([-(2**63) - 1, 0], object),
        ([], np.int64),
    ],
)
def test_narrow_arrays_are_machine_integers(values: list[int], kind: type) -> None:
    found = as_integers(values)
    assert found.dtype == kind
    assert [int(v) for v in found] == values


def test_floats_of_a_wide_zero_and_of_one_bit() -> None:
    found = as_wide_matrix(integers([[0, 1 << 900], [1, (1 << 900) + 1]]))
    assert found.floats().tolist() == [[0.0, 2.0**900], [1.0, 2.0**900]]


@given(st.lists(st.fractions(), max_size=40))
def test_sums_of_fractions(values: list[Fraction]) -> None:
    assert sum_fractions(values) == sum(values, Fraction(0))
    assert sum_fractions(iter(values)) == sum(values, Fraction(0))
