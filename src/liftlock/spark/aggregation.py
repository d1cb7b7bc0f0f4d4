"""Count reports, and the values of columns, in a Spark DataFrame."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from liftlock.errors import InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.weights import numbers_each
from liftlock.mechanism import Mechanism
from liftlock.spark.columns import arrow_type, check_frame, column_position, select_columns
from liftlock.spark.refusals import pack_refusal, raise_refusals, unpack_refusal
from liftlock.tables.randomiser import ColumnRandomiser

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_CELLS = 1_000_000
"""More different combinations of values than this are no table of counts."""


def aggregate(
    df: DataFrame,
    mechanism: Mechanism,
    column: str | None = None,
    *,
    weights: str | float | None = None,
    offsets: str | float | None = None,
) -> Aggregate:
    """Count a column of reports; `weights` and `offsets` name columns, or are one number for all.

    Each task counts its rows and returns one small object, and the driver adds these up: exactly,
    so neither partitions nor their order change a bit of it. Tasks that ran twice are counted once:
    what is added up are the results of an action, of which Spark takes one for each partition.
    (Accumulators would count failed attempts too.)

    The aggregate merges with others by ``+``, and ``mechanism.estimate`` takes it.
    """
    worker = ColumnRandomiser.of(mechanism, column)
    check_frame(df)
    numbers = {"weights": weights, "offsets": offsets}
    named = [given for given in numbers.values() if isinstance(given, str)]
    for name in named:
        if not _is_number(arrow_type(df.schema[column_position(df, name)])):
            raise InputError(
                f"the column {name!r} holds no numbers",
                value=df.schema[column_position(df, name)].dataType.simpleString(),
                remedy="cast it, or name another column: weights and offsets are numbers",
            )
    few = select_columns(df, [*worker.needs, *named])
    work = aggregate_task(worker, numbers)
    with raise_refusals():
        parts = few.mapInArrow(work, "part string, refused string").collect()
    total = Aggregate.empty(mechanism.reported)
    for part, refused in parts:
        if refused is not None:
            raise unpack_refusal(refused)
        total += Aggregate.from_data(json.loads(part))
    return total


def aggregate_task(
    reports: ColumnRandomiser, numbers: dict[str, str | float | None]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what each task does: one row with the aggregate of all its reports."""

    def count_reports(batch: pa.RecordBatch) -> Aggregate:
        number = len(reports.needs)
        columns = iter(batch.columns[number:])
        each: dict[str, Any] = {}
        for kind, given in numbers.items():
            each[kind] = given
            if isinstance(given, str):
                floats = next(columns).cast(pa.float64(), safe=False)
                with _refuse_in_column(given):
                    each[kind] = numbers_each(
                        floats.to_numpy(zero_copy_only=False), batch.num_rows, kind[:-1]
                    )
        with _refuse_in_column(reports.names[0]):
            return reports.count_reports(batch.columns[:number], **each)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = Aggregate.empty(reports.mechanism.reported)
        refused = None
        try:
            for batch in batches:
                total += count_reports(batch)
        except _RefusedColumn as error:
            # A result and no failure: Spark would try the same again, and again.
            refused = str(error)
        part = None if refused else total.to_json()
        texts = [pa.array([part], pa.string()), pa.array([refused], pa.string())]
        yield pa.RecordBatch.from_arrays(texts, ["part", "refused"])

    return work


class _RefusedColumn(Exception):
    """What is wrong with which column, packed."""


@contextmanager
def _refuse_in_column(column: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise _RefusedColumn(pack_refusal(error, column)) from None


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def counts(df: DataFrame, columns: Sequence[str]) -> dict[tuple[Any, ...], int]:
    """Return how often the values of some columns occur together; None is a missing value.

    This is of the truth, not of reports: it stays where the truth may be.
    """
    check_frame(df)
    if isinstance(columns, str):
        columns = [columns]
    if not columns:
        raise InputError("no columns to count", remedy="name at least one")
    few = select_columns(df, columns)
    with raise_refusals():
        rows = few.groupBy(*few.columns).count().limit(MOST_CELLS + 1).collect()
    if len(rows) > MOST_CELLS:
        raise InputError(
            f"more than {MOST_CELLS:,} distinct combinations of values",
            value=", ".join(columns),
            remedy="discretise numbers, or merge rare values first",
        )
    return {tuple(row)[:-1]: row[-1] for row in rows}
