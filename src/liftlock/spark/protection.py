"""Protect columns of a Spark DataFrame: learn there, design here, release there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pyarrow as pa

from liftlock._runtime.progress import Progress, Step, ignore_progress
from liftlock.errors import InputError
from liftlock.model.structured import StructuredChannel
from liftlock.spark.aggregation import aggregate, counts
from liftlock.spark.columns import (
    arrow_type,
    check_deterministic,
    check_frame,
    column_position,
    number_columns,
)
from liftlock.spark.materialisation import check_destination
from liftlock.spark.refusals import raise_refusals
from liftlock.spark.releases import release_columns
from liftlock.tables.formats.base import RowBatch
from liftlock.tables.protect.api import ProtectedFrame
from liftlock.tables.protect.design import SECONDS
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.result import ProtectedColumn
from liftlock.tables.protect.spec import (
    AnyNotion,
    ColumnSpec,
    SpecOptions,
    column_specs,
    is_numeric,
)
from liftlock.tables.randomiser import ColumnRandomiser

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def protect(
    df: DataFrame,
    column: str | Sequence[str] | Sequence[ColumnSpec],
    notion: AnyNotion | Mapping[str, AnyNotion] | None = None,
    *,
    secret: str | Sequence[str | None] | None = None,
    path: str | os.PathLike[str] | None = None,
    together: bool = False,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    seconds: float = SECONDS,
    curve: bool = False,
    watch: Progress | None = None,
    **how: Unpack[SpecOptions],
) -> ProtectedFrame:
    """Replace columns by what may be seen of them; return the DataFrame, and what was done.

    Spark counts how often each value occurs with each value of the secret. From these counts a
    mechanism is designed and proved on the driver, by the same rules as for files, and all columns
    are randomised in one pass, as `release` does it: once, and kept at `path`. Secrets are left out
    of the result, unless they are in `keep`.

    All but `path` is as in `liftlock.protect`. Numbers that must be cut into cells come to the
    driver all of them. Priors of each row's own are for files and data frames.
    """
    specs = column_specs(column, notion, secret, **how)
    check_frame(df)
    check_deterministic(df)
    learned: set[str] = set()
    numeric: set[str] = set()
    for spec in specs:
        if spec.local:
            raise InputError(
                "per-user priors in a Spark DataFrame",
                value=spec.column,
                remedy="use a file or a data frame",
            )
        for name in (spec.column, spec.secret):
            if name is not None:
                arrow_type(df.schema[column_position(df, name)])
                learned.add(name)
        if is_numeric(spec, arrow_type(df.schema[column_position(df, spec.column)])):
            numeric.add(spec.column)
    place = None if path is None else os.fspath(path)
    with raise_refusals():
        check_destination(df.sparkSession, place)
    source = GroupedTable(df, frozenset(learned), frozenset(numeric))
    prepared = prepare(
        source,
        specs,
        name="Spark DataFrame",
        drop=drop,
        keep=keep,
        seconds=seconds,
        curve=curve,
        together=together,
        watch=ignore_progress if watch is None else watch,
    )
    workers = [ColumnRandomiser.of(each.mechanism) for each in prepared.columns]
    result = release_columns(df, workers, path=place, dropped=prepared.dropped)
    columns = tuple(_add_counts(result, each) for each in prepared.columns)
    return ProtectedFrame(result, replace(prepared, columns=columns, output=place))


def _add_counts(result: DataFrame, column: ProtectedColumn) -> ProtectedColumn:
    """Add how often each output came out."""
    made = column.mechanism
    if isinstance(made.channel, StructuredChannel):
        return column
    found = aggregate(result, made)
    return replace(column, counts=dict(zip(made.table.outputs.labels, found.counts, strict=True)))


# --- a table that can be learned from, without its rows on the driver -----------------------------


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
