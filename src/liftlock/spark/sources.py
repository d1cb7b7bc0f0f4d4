"""A DataFrame as a table that can be learned from, without its rows on the driver."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from liftlock._runtime.progress import Progress, Step
from liftlock.errors import InputError
from liftlock.spark.aggregation import counts
from liftlock.spark.columns import arrow_type, column_position, number_columns
from liftlock.spark.refusals import raise_refusals
from liftlock.tables.formats.base import RowBatch, TableSource
from liftlock.tables.kept import NameCounter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LOOKED_AT = 100_000
"""Columns that stay are looked at in so many rows, whichever Spark finds first."""

MOST_NUMBERS = 50_000_000
"""So many numbers fit on a driver."""

_ROWS = 1 << 20


@dataclass
class GroupedTable:
    """The rows of some columns, as often as they occur, in no order.

    Spark counts how often each combination of values occurs, and only these counts come to the
    driver. Of other columns it is sent some rows.
    """

    df: DataFrame
    learned: frozenset[str]
    """The columns that are learned from; others are only looked at."""
    numeric: frozenset[str] = frozenset()
    """Those of them whose numbers are all needed, to cut them into cells."""
    counted: dict[tuple[str, ...], dict[tuple[Any, ...], int]] = field(default_factory=dict)

    @property
    def unordered(self) -> bool:
        """Whether rows come in no order: those that are equal come together."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.df.columns)

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column; null for one that can only stay or go."""
        found = self.df.schema[column_position(self.df, column)]
        if column in self.learned:
            return arrow_type(found)
        try:
            return arrow_type(found)
        except InputError:
            return pa.null()

    def where(self, _row: int, column: str) -> str:
        """Name the place of a cell: its column, since rows have no number."""
        return f"column {column!r}"

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[RowBatch]:
        """Return rows of some columns, batch after batch."""
        if not self.learned.issuperset(columns):
            yield from self._some_rows(columns)
            return
        names = tuple(columns)
        if names not in self.counted:
            self.counted[names] = counts(self.df, names)
        grouped = self.counted[names]
        arrays = [
            pa.array([key[at] for key in grouped], self.type_of(name))
            for at, name in enumerate(names)
        ]
        values = pa.RecordBatch.from_arrays(arrays, list(names))
        numbers = np.fromiter(grouped.values(), dtype=np.int64, count=len(grouped))
        ends = np.cumsum(numbers)
        total = int(ends[-1]) if len(ends) else 0
        if total > MOST_NUMBERS and self.numeric.intersection(names):
            raise InputError(
                f"more than {MOST_NUMBERS:,} numbers to be discretised on the driver",
                value=total,
                remedy="discretise the column in Spark, or protect it with a public prior or "
                "joint (context=)",
            )
        for start in range(0, total, _ROWS):
            rows = np.arange(start, min(start + _ROWS, total))
            batch = values.take(pa.array(np.searchsorted(ends, rows, side="right")))
            yield RowBatch(batch, start)
            if watch is not None:
                watch(Step("reading", int(rows[-1]) + 1, total))

    def _some_rows(self, columns: Sequence[str]) -> Iterator[RowBatch]:
        places = [column_position(self.df, name) for name in columns]
        plain = number_columns(self.df)
        with raise_refusals():
            table = plain.select(*(f"c{place}" for place in places)).limit(LOOKED_AT).toArrow()
        first = 0
        for batch in table.rename_columns(list(columns)).to_batches(_ROWS):
            yield RowBatch(batch, first)
            first += batch.num_rows


# --- columns that name what is hidden -------------------------------------------------------------


def count_names(source: TableSource, tally: NameCounter) -> None:
    """Look at all rows where they are; only how many cells name a label comes to the driver."""
    assert isinstance(source, GroupedTable)
    df = source.df
    looked = [name for name in tally.columns if not pa.types.is_null(source.type_of(name))]
    if not looked:
        return
    plain = number_columns(df)
    few = plain.select(*(plain[f"c{column_position(df, name)}"] for name in looked))
    with raise_refusals():
        parts = few.mapInArrow(names_task(looked, tally), "part string").collect()
    for (part,) in parts:
        rows, named, filled = json.loads(part)
        tally.merge(rows, {(name, place): n for name, place, n in named}, dict(filled))


def names_task(
    columns: Sequence[str], tally: NameCounter
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what each task does: one row with what it found in all its cells."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = NameCounter(tuple(columns), tally.alphabets)
        for batch in batches:
            found.add(batch.rename_columns(list(columns)))
        named = [(name, place, number) for (name, place), number in found.named.items()]
        part = json.dumps([found.rows, named, list(found.filled.items())])
        yield pa.RecordBatch.from_arrays([pa.array([part], pa.string())], ["part"])

    return work
