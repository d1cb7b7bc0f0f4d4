"""The bulk sampler: the outputs of `decode`, exact counts, refusals that leave nothing behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.errors import InputError
from liftlock.exact.alias import AliasTable, decode
from liftlock.exact.rounding import round_row
from liftlock.sampling import SimulationBits, draw, report_type
from liftlock.sampling.draw import BLOCK


class GivenWords:
    """Random bits that are not random: given words, in order, and how many were asked for."""

    def __init__(self, words: npt.NDArray[np.uint64]) -> None:
        self.words = words
        self.used = 0

    def fill(self, buffer: npt.NDArray[np.uint64]) -> None:
        buffer[:] = self.words[self.used : self.used + len(buffer)]
        self.used += len(buffer)


def random_weights(rows: int, outputs: int, bits: int, seed: int = 1) -> npt.NDArray[np.int64]:
    generator = np.random.default_rng(seed)
    parts = generator.integers(0, 1000, (rows, outputs)) * generator.integers(0, 2, (rows, outputs))
    parts[:, 0] += 1
    return np.array([round_row(row, bits) for row in parts.tolist()], dtype=np.int64)


@given(st.data(), st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_every_output_owns_exactly_its_weight(data: st.DataObject, bits: int) -> None:
    parts = data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=min(1 << bits, 20)))
    weights = round_row([*parts[:-1], parts[-1] + 1], bits)
    other = weights[::-1]
    table = AliasTable.build(np.array([weights, other]), bits)
    units = 1 << bits
    words = np.arange(units, dtype=np.uint64) << np.uint64(64 - bits)
    # The low bits must not matter, so they are all set for the second row.
    low = np.uint64((1 << (64 - bits)) - 1)
    source = GivenWords(np.concatenate([words, words | low]))
    reports = draw(table, np.repeat([0, 1], units), source)
    assert np.bincount(reports[:units], minlength=len(weights)).tolist() == weights
    assert np.bincount(reports[units:], minlength=len(weights)).tolist() == other
    assert source.used == 2 * units


@pytest.mark.parametrize(
    ("rows", "outputs", "bits"),
    [(1, 1, 1), (3, 1, 52), (2, 2, 62), (16, 16, 52), (5, 300, 52), (300, 7, 61), (9, 100, 7)],
)
def test_draw_is_decode(rows: int, outputs: int, bits: int) -> None:
    table = AliasTable.build(random_weights(rows, outputs, bits), bits)
    count = BLOCK + 777
    codes = np.random.default_rng(2).integers(0, rows, count)
    words = np.empty(count, dtype=np.uint64)
    SimulationBits("draw").fill(words)
    reports = draw(table, codes, SimulationBits("draw"))
    expected = [
        decode(table, code, word) for code, word in zip(codes.tolist(), words.tolist(), strict=True)
    ]
    assert reports.tolist() == expected


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_one_word_for_each_report(count: int) -> None:
    table = AliasTable.build(random_weights(4, 4, 52), 52)
    source = GivenWords(np.zeros(count, dtype=np.uint64))
    assert len(draw(table, np.zeros(count, dtype=np.int8), source)) == count
    assert source.used == count


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">i4"])
def test_codes_of_any_integer_type(dtype: str) -> None:
    table = AliasTable.build(random_weights(100, 5, 52), 52)
    codes = np.arange(20_000) % 100
    expected = draw(table, codes, SimulationBits(1))
    assert (draw(table, codes.astype(dtype), SimulationBits(1)) == expected).all()


def test_codes_with_gaps_in_memory_and_read_only() -> None:
    table = AliasTable.build(random_weights(10, 5, 52), 52)
    wide = np.arange(60_000).reshape(20_000, 3) % 10
    wide.setflags(write=False)
    expected = draw(table, wide[:, 1].copy(), SimulationBits(1))
    assert (draw(table, wide[:, 1], SimulationBits(1)) == expected).all()


@pytest.mark.parametrize(
    ("outputs", "name"), [(1, "uint8"), (256, "uint8"), (257, "uint16"), (65_537, "uint32")]
)
def test_reports_have_the_smallest_type(outputs: int, name: str) -> None:
    table = AliasTable.build(np.array([[(1 << 20) - outputs + 1] + [1] * (outputs - 1)]), 20)
    reports = draw(table, np.zeros(3, dtype=np.intp), SimulationBits(1))
    assert reports.dtype == report_type(table) == np.dtype(name)


def test_out_is_filled_and_returned() -> None:
    table = AliasTable.build(random_weights(10, 5, 52), 52)
    codes = np.arange(20_000) % 10
    room = np.zeros(40_000, dtype=np.uint8)[::2]
    assert draw(table, codes, SimulationBits(1), out=room) is room
    assert (room == draw(table, codes, SimulationBits(1))).all()


@pytest.mark.parametrize(
    ("place", "value", "dtype"),
    [
        (0, -1, np.int8),
        (5, 10, np.uint8),
        (2 * BLOCK + 5, -1, np.int64),
        (2 * BLOCK + 5, -(1 << 63), np.int64),
        (2 * BLOCK + 5, (1 << 64) - 1, np.uint64),
        (3 * BLOCK - 1, 10, np.int32),
    ],
)
def test_a_bad_code_is_named_and_leaves_no_report_behind(
    place: int, value: int, dtype: type[np.integer[Any]]
) -> None:
    table = AliasTable.build(np.full((10, 4), 4), 4)
    codes = np.zeros(3 * BLOCK, dtype=dtype)
    codes[place] = value
    room = np.full(len(codes), 77, dtype=np.uint8)
    source = GivenWords(np.full(3 * BLOCK, 3 << 60, dtype=np.uint64))
    with pytest.raises(InputError) as error:
        draw(table, codes, source, out=room)
    assert f"at index {place}: {value}; codes are 0 to 9" in str(error.value)
    assert error.value.value == value
    assert not room.any()
    assert source.used == place // BLOCK * BLOCK


def test_an_interrupted_call_leaves_no_report_behind() -> None:
    class Broken:
        calls = 0

        def fill(self, buffer: npt.NDArray[np.uint64]) -> None:
            self.calls += 1
            if self.calls == 2:
                raise KeyboardInterrupt
            buffer[:] = 3 << 60

    table = AliasTable.build(np.full((1, 4), 4), 4)
    room = np.zeros(2 * BLOCK, dtype=np.uint8)
    with pytest.raises(KeyboardInterrupt):
        draw(table, np.zeros(2 * BLOCK, dtype=np.int64), Broken(), out=room)
    assert not room.any()


@pytest.mark.parametrize(
    "codes",
    [
        np.array([0.0]),
        np.array([True]),
        np.array([[0]]),
        np.array(["0"]),
        np.array([0], dtype=object),
    ],
)
def test_refuses_codes_that_are_not_a_column_of_whole_numbers(codes: npt.NDArray[Any]) -> None:
    table = AliasTable.build(np.full((1, 4), 4), 4)
    with pytest.raises(InputError, match="not a column of whole numbers"):
        draw(table, codes, SimulationBits(1))


def test_refuses_an_out_that_does_not_fit() -> None:
    table = AliasTable.build(np.full((1, 4), 4), 4)
    codes = np.zeros(10, dtype=np.uint8)
    for room in (np.zeros(9, dtype=np.uint8), np.zeros(10, dtype=np.uint16)):
        with pytest.raises(InputError, match="out does not fit"):
            draw(table, codes, SimulationBits(1), out=room)
    with pytest.raises(InputError, match="out overlaps the codes"):
        draw(table, codes, SimulationBits(1), out=codes)
