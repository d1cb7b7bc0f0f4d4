"""Counting tables batch after batch."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from liftlock.errors import FileError, InputError
from liftlock.tables.formats import open_table
from liftlock.tables.protect.count import (
    MOST_VALUES,
    CombinationCounter,
    NumberCollector,
    count_columns,
)
from tests.unit.tables.protect.memory import Memory

SEX = ["f", "m", None, "f"] * 25
JOB = ["nurse", "cook", None, "nurse ", " judge"] * 20
PLAIN = [None if job is None else job.strip() for job in JOB]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
        pa.dictionary(pa.int8(), pa.binary()),
        pa.dictionary(pa.int8(), pa.string_view()),
    ],
)
def test_pairs_are_counted_whatever_holds_the_texts(size: int, kind: pa.DataType) -> None:
    job = pa.array(JOB)
    if pa.types.is_dictionary(kind):
        known = job.dictionary_encode()
        entries = known.dictionary.cast(kind.value_type)
        job = pa.DictionaryArray.from_arrays(known.indices.cast(kind.index_type), entries)
    source = Memory.of(size, sex=SEX, job=job.cast(kind))
    (both, alone), rows = count_columns(source, [("sex", "job"), (None, "job")])
    assert rows == 100
    assert dict(both) == dict(Counter(zip(SEX, PLAIN, strict=True)))
    assert dict(alone) == dict(Counter((None, job) for job in PLAIN))


def test_batches_with_dictionaries_of_their_own_are_joined() -> None:
    tally = CombinationCounter(("job",))
    for entries in (["a", "b"], ["b", "c", "unused"], ["a"]):
        codes = pa.array([0, None, len(entries) - 1 if len(entries) < 3 else 1, 0], pa.int8())
        tally.add(
            pa.record_batch({"job": pa.DictionaryArray.from_arrays(codes, pa.array(entries))})
        )
    assert tally.counts == {("a",): 5, ("b",): 3, ("c",): 1, (None,): 3}


def test_parquet_dictionaries_are_counted_like_plain_columns(tmp_path: Path) -> None:
    table = pa.table({"job": pa.array(JOB).dictionary_encode(), "sex": SEX})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=13)
    (both,), rows = count_columns(open_table(tmp_path / "t.parquet"), [("sex", "job")])
    assert rows == 100
    assert dict(both) == dict(Counter(zip(SEX, PLAIN, strict=True)))


def test_not_a_number_is_one_missing_value_in_all_batches() -> None:
    source = Memory.of(2, x=pa.array([1.5, math.nan, None, 1.5, math.nan, 2.5]))
    (counts,), _ = count_columns(source, [(None, "x")])
    assert counts == {(None, 1.5): 2, (None, 2.5): 1, (None, None): 3}


def test_dates_and_truth_values_are_counted() -> None:
    day = datetime.date(2024, 2, 29)
    source = Memory.of(3, day=[day, day, None, day], yes=[True, False, None, True])
    (days, truths), _ = count_columns(source, [(None, "day"), ("day", "yes")])
    assert days == {(None, day): 3, (None, None): 1}
    assert truths == {(day, True): 2, (day, False): 1, (None, None): 1}


def test_lists_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="'tags' holds lists"):
        count_columns(Memory.of(tags=[[1], [2]]), [(None, "tags")])


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InputError, match="no rows"):
        count_columns(Memory.of(x=pa.array([], pa.string())), [(None, "x")])


def test_rows_are_counted_if_nothing_else_is() -> None:
    assert count_columns(Memory.of(x=["a"] * 11), []) == ([], 11)


def test_columns_of_identities_are_refused_before_they_fill_the_memory() -> None:
    names = [f"person {at}" for at in range(MOST_VALUES + 1)]
    with pytest.raises(InputError, match="'name' has more than 10,000"):
        count_columns(
            Memory.of(5000, name=names, a=["x"] * len(names)), [(None, "a"), (None, "name")]
        )


def test_numbers_are_gathered_with_their_secrets_however_many_there_are() -> None:
    values = np.arange(3.0 * MOST_VALUES)
    values[5] = np.nan
    secrets: list[Any] = ["f", "m", None] * MOST_VALUES
    numbers = NumberCollector("pay", ("sex",))
    counts, rows = count_columns(Memory.of(4096, sex=secrets, pay=values), [], [numbers])
    assert (counts, rows) == ([], len(values))
    assert np.array_equal(numbers.numbers(), values, equal_nan=True)
    told = numbers.secrets("sex")
    assert told is not None
    assert told.to_pylist() == secrets


def test_texts_that_are_no_numbers_are_refused_at_their_place() -> None:
    source = Memory.of(4, pay=["1", "2.5", "", "?", " 4e1 ", "six"])
    with pytest.raises(FileError, match=r"not a number at row 6, column 'pay': 'six'"):
        count_columns(source, [], [NumberCollector("pay", (), ("?",))])
    good = NumberCollector("pay", (), ("?",))
    count_columns(Memory.of(4, pay=["1", "2.5", "", "?", " 4e1 "]), [], [good])
    assert np.array_equal(good.numbers(), [1, 2.5, np.nan, np.nan, 40], equal_nan=True)


@pytest.mark.parametrize("wrong", ["inf", "nan", "-Infinity", "1,5", "0x10", "yes"])
def test_numbers_are_finite(wrong: str) -> None:
    with pytest.raises(FileError, match="not a number at row 2"):
        count_columns(Memory.of(pay=["1", wrong]), [], [NumberCollector("pay")])
    if wrong == "inf":
        with pytest.raises(FileError, match="not a finite number at row 2"):
            count_columns(Memory.of(pay=[1.0, math.inf]), [], [NumberCollector("pay")])
