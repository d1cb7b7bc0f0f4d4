"""A Spark DataFrame as a table that can be learned from, without its rows on the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from liftlock.errors import InputError
from liftlock.progress import Progress, Step
from liftlock.spark.columns import arrow_type, place_of, plainly_named
from liftlock.spark.counting import counts
from liftlock.spark.refusals import understanding
from liftlock.tables.formats.base import Piece

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
        found = self.df.schema[place_of(self.df, column)]
        if column in self.learned:
            return arrow_type(found)
        try:
            return arrow_type(found)
        except InputError:
            return pa.null()

    def where(self, _row: int, column: str) -> str:
        """Name the place of a cell: its column, since rows have no number."""
        return f"column {column!r}"

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[Piece]:
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
            yield Piece(batch, start)
            if watch is not None:
                watch(Step("reading", int(rows[-1]) + 1, total))

    def _some_rows(self, columns: Sequence[str]) -> Iterator[Piece]:
        places = [place_of(self.df, name) for name in columns]
        plain = plainly_named(self.df)
        with understanding():
            table = plain.select(*(f"c{place}" for place in places)).limit(LOOKED_AT).toArrow()
        first = 0
        for batch in table.rename_columns(list(columns)).to_batches(_ROWS):
            yield Piece(batch, first)
            first += batch.num_rows
