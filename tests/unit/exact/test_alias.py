"""The alias table: exact distribution, the documented construction, and refusals."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.errors import InputError, NumberError, RowError
from liftlock.exact.alias import AliasTable, decode
from tests.vectors.make_decode import sweep


@st.composite
def rows(draw: st.DrawFn, bits: st.SearchStrategy[int]) -> tuple[list[list[int]], int]:
    """Return a few rows of the same length that sum to 2^bits, with many zeros and ties."""
    width = draw(bits)
    outputs = draw(st.integers(1, min(1 << width, 20)))
    total = 1 << width

    def row() -> list[int]:
        cuts = draw(st.lists(st.integers(0, total), min_size=outputs - 1, max_size=outputs - 1))
        ends = [0, *sorted(cuts), total]
        parts = [b - a for a, b in pairwise(ends)]
        order = draw(st.permutations(range(outputs)))
        return [parts[i] for i in order]

    return [row() for _ in range(draw(st.integers(1, 3)))], width


@given(rows(st.integers(1, 12)))
@settings(max_examples=150, deadline=None)
def test_every_output_owns_exactly_its_weight(case: tuple[list[list[int]], int]) -> None:
    weights, bits = case
    table = AliasTable.build(np.array(weights), bits)
    for row, expected in enumerate(weights):
        counts = Counter(decode(table, row, r << (64 - bits)) for r in range(1 << bits))
        assert [counts[output] for output in range(len(expected))] == expected
        assert counts.total() == 1 << bits


@given(rows(st.integers(1, 62)))
@settings(max_examples=300, deadline=None)
def test_table_is_the_documented_sweep(case: tuple[list[list[int]], int]) -> None:
    weights, bits = case
    table = AliasTable.build(np.array(weights, dtype=np.int64), bits)
    bins = range(1 << table.bin_bits)
    for row, expected in enumerate(weights):
        threshold, alias = sweep(expected, bits)
        assert [table.threshold(row, b) for b in bins] == threshold
        assert [table.alias(row, b) for b in bins] == alias


@given(rows(st.integers(1, 62)))
@settings(max_examples=150, deadline=None)
def test_units_add_up_to_the_weights(case: tuple[list[list[int]], int]) -> None:
    weights, bits = case
    table = AliasTable.build(np.array(weights, dtype=np.int64), bits)
    for row, expected in enumerate(weights):
        units: Counter[int] = Counter()
        for b in range(1 << table.bin_bits):
            assert 0 <= table.threshold(row, b) <= table.capacity
            units[b] += table.threshold(row, b)
            units[table.alias(row, b)] += table.capacity - table.threshold(row, b)
        assert [units[b] for b in range(1 << table.bin_bits)] == expected + [0] * (
            (1 << table.bin_bits) - len(expected)
        )


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (300, 300), (1, 70_000), (40_000, 3)])
def test_large_tables_are_the_documented_sweep(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(5)
    # Powers of uniform numbers make heavy bins rare, zeros make padding-like bins common.
    parts = (generator.random(shape) ** 4 * (generator.random(shape) < 0.7) * 2**30).astype(
        np.int64
    )
    parts[:, -1] += 2**52 - parts.sum(axis=1)
    table = AliasTable.build(parts, 52)
    bins = 1 << table.bin_bits
    mask = np.uint64(bins - 1)
    # 8191 and 8192: the build handles that many rows of four bins together.
    for row in {*range(0, shape[0], 997), 8191 % shape[0], 8192 % shape[0], shape[0] - 1}:
        threshold, alias = sweep(parts[row].tolist(), 52)
        assert (table.packed[row] >> np.uint64(table.bin_bits)).tolist() == threshold
        assert (table.packed[row] & mask).tolist() == alias


def test_padded_bins_have_threshold_zero() -> None:
    table = AliasTable.build(np.array([[2, 3, 3, 4, 4]]), 4)
    assert [table.threshold(0, b) for b in (5, 6, 7)] == [0, 0, 0]
    assert all(table.alias(0, b) < 5 for b in range(8))


def test_widest_rows_fit_the_packed_word() -> None:
    table = AliasTable.build(np.array([[1 << 62]]), 62)
    assert (table.bin_bits, table.threshold(0, 0), table.alias(0, 0)) == (0, 1 << 62, 0)
    assert decode(table, 0, (1 << 64) - 1) == 0


def test_low_bits_of_the_word_are_not_used() -> None:
    table = AliasTable.build(np.array([[1, 15]]), 4)
    for r in range(16):
        outputs = {decode(table, 0, (r << 60) | low) for low in (0, 1, (1 << 60) - 1)}
        assert len(outputs) == 1


def test_table_is_read_only_and_does_not_hold_the_weights() -> None:
    weights = np.array([[1, 3, 12]])
    table = AliasTable.build(weights, 4)
    before = table.packed.copy()
    weights[:] = 0
    assert (table.packed == before).all()
    with pytest.raises(ValueError, match="read-only"):
        table.packed[0, 0] = 0


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64])
def test_any_integer_type_of_weights(dtype: type[np.integer]) -> None:
    table = AliasTable.build(np.array([[1, 3, 12]], dtype=dtype), 4)
    assert (table.packed == AliasTable.build(np.array([[1, 3, 12]]), 4).packed).all()


@pytest.mark.parametrize("bits", [-1, 0, 63, 104])
def test_refuses_widths_that_a_word_cannot_decide(bits: int) -> None:
    with pytest.raises(NumberError, match="1 to 62 bits"):
        AliasTable.build(np.array([[1]]), bits)


def test_refuses_more_outputs_than_units() -> None:
    with pytest.raises(RowError, match="5 outputs do not fit rows of 2 bits; use at least 3 bits"):
        AliasTable.build(np.array([[1, 1, 1, 1, 0]]), 2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.array([[4, 12], [5, 12]]), "do not sum to 2^4 at row 2: 17"),
        (np.array([[4, 12], [17, -1]]), "outside 0 to 2^4 at row 2, output 1: 17"),
        (np.array([[4, 13, -1]]), "outside 0 to 2^4 at row 1, output 3: -1"),
        (np.array([4, 12]), "not a matrix"),
        (np.array([[0.25, 0.75]]), "not a matrix of 64-bit integers"),
        (np.array([[4, 12]], dtype=object), "not a matrix of 64-bit integers"),
        (np.empty((0, 2), dtype=np.int64), "without rows"),
        (np.empty((2, 0), dtype=np.int64), "without rows"),
    ],
)
def test_refuses_rows_that_are_not_distributions(
    weights: np.ndarray[tuple[int, ...], np.dtype[np.generic]], message: str
) -> None:
    with pytest.raises(RowError) as error:
        AliasTable.build(weights, 4)
    assert message in str(error.value)


def test_refuses_a_sum_that_overflows_back_to_the_right_value() -> None:
    weights = np.full((1, 5), 1 << 62)
    assert weights.sum() == 1 << 62
    with pytest.raises(RowError, match="do not sum"):
        AliasTable.build(weights, 62)


def test_reports_the_right_row_in_a_later_group() -> None:
    weights = np.full((50_000, 2), 8)
    weights[40_000, 1] = 9
    with pytest.raises(RowError, match="row 40001: 17"):
        AliasTable.build(weights, 4)


@pytest.mark.parametrize("row", [-1, 1])
def test_decode_refuses_rows_outside_the_table(row: int) -> None:
    table = AliasTable.build(np.array([[8, 8]]), 4)
    with pytest.raises(InputError, match="no such row"):
        decode(table, row, 0)


@pytest.mark.parametrize("word", [-1, 1 << 64])
def test_decode_refuses_words_that_are_not_words(word: int) -> None:
    table = AliasTable.build(np.array([[8, 8]]), 4)
    with pytest.raises(NumberError, match="64-bit word"):
        decode(table, 0, word)
