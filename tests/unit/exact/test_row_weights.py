"""Rounding rows: exact sums, within one unit, and the same by both routes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.errors import RowError
from liftlock.exact.rounding import LARGE, round_integer_rows, round_row, round_rows
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


# --- large drafts, which are rounded in floats --------------------------------------------------


def many_rows(kind: str, rows: int = 140, columns: int = 1900) -> np.ndarray:
    """Return a matrix above `LARGE` cells, of which each row is worse than the one before."""
    rng = np.random.default_rng(7)
    matrix = rng.random((rows, columns))
    if kind == "steep":
        matrix **= np.linspace(1, 60, rows)[:, None]
    elif kind == "sparse":
        matrix[rng.random((rows, columns)) < np.linspace(0, 0.999, rows)[:, None]] = 0.0
        matrix[:, -1] += 1e-3
    elif kind == "peaks":
        matrix *= 1e-12
        matrix[np.arange(rows), rng.integers(0, columns, rows)] = 1.0
    else:
        matrix[:] = 1.0
    assert matrix.size > LARGE
    return matrix / matrix.sum(axis=1, keepdims=True) if kind != "peaks" else matrix


@pytest.mark.parametrize("bits", [20, 52])
@pytest.mark.parametrize("kind", ["even", "steep", "sparse", "peaks"])
def test_large_drafts_are_within_two_units_of_exact_rounding(kind: str, bits: int) -> None:
    matrix = many_rows(kind)
    found = round_rows(matrix, bits)
    assert found.dtype == np.int64
    for values, weights in zip(matrix[::7], found[::7], strict=True):
        # Floats are fractions over a power of two: the shares are exact.
        exact = [int(Fraction(value) * 2**1074) for value in values.tolist()]
        truth = round_row(exact, bits)
        off = np.abs(weights - np.array(truth))
        # The float sum of a row is off by a few of its last digits, which the largest share bears.
        bearer = int(weights.argmax())
        assert off[bearer] <= 2 + (len(values) * max(truth) >> 52)
        assert np.delete(off, bearer).max() <= 2
    assert (found.sum(axis=1) == 1 << bits).all()
    assert (found >= 0).all()


def test_large_drafts_leave_zero_what_is_zero() -> None:
    matrix = many_rows("sparse")
    found = round_rows(matrix, 52)
    assert not found[matrix == 0].any()


def test_equal_shares_of_a_large_draft_go_up_from_the_left() -> None:
    found = round_rows(many_rows("even", 1, 300_000), 52)[0]
    share, rest = divmod(1 << 52, 300_000)
    assert found.tolist() == [share + 1] * rest + [share] * (300_000 - rest)


def test_a_large_draft_with_an_empty_row_is_refused_with_its_place() -> None:
    matrix = many_rows("even")
    matrix[17] = 0.0
    with pytest.raises(RowError, match="without any weight at row 18"):
        round_rows(matrix)


def test_wide_rows_of_large_drafts_are_exact() -> None:
    matrix = many_rows("steep")[:, :]
    found = round_rows(matrix, 62)
    for values, weights in zip(matrix[::50], found[::50], strict=True):
        assert weights.tolist() == round_row(
            [int(Fraction(v) * 2**62) for v in values.tolist()], 62
        )


def test_a_row_without_weight_is_refused_with_its_place() -> None:
    with pytest.raises(RowError, match="without any weight"):
        round_row([0, 0])
    with pytest.raises(RowError, match="without any weight at row 2"):
        round_integer_rows(np.array([[1, 0], [0, 0]]))
