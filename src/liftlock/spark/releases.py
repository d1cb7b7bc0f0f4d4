"""Randomise columns of a Spark DataFrame: once for each row, whatever happens to the tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from liftlock.mechanism import Mechanism
from liftlock.spark.columns import (
    arrow_type,
    check_frame,
    column_position,
    number_columns,
    spark_type,
)
from liftlock.spark.materialisation import check_destination, compute_once
from liftlock.spark.refusals import raise_refusals, send_refusals
from liftlock.spark.sources import GroupedTable, count_names
from liftlock.tables.kept import choose_columns
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.tonight import measure_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

Batches = Iterator[pa.RecordBatch]


def release(
    df: DataFrame,
    mechanism: Mechanism,
    column: str | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    unseen: str | None = None,
    drop: Sequence[str] = (),
    keep: Collection[str] = (),
    check: bool = False,
) -> DataFrame:
    """Randomise a column with the operating system's entropy; return a DataFrame that stays so.

    This is not lazy: when it returns, every row has been randomised, and the result is kept where
    nothing randomises it again, whatever is done with it and however often.

    - With `path`: as Parquet files in that folder, which must not exist, and which on a cluster is
      a URL or a folder that driver and workers share. Only one attempt of each task is committed,
      and the folder appears under its name when all are and no row is missing. The result is what
      is read from there.
    - Without, if the session has a checkpoint directory: the same in a new folder there, which
      nobody deletes.
    - Without both, in a local session: in a local checkpoint. On a cluster it is refused.

    What failed, lost or speculative tasks drew is thrown away; while the job runs it lies in a
    hidden folder of mode 700. What interrupts this (Ctrl-C) stops the job, and leaves nothing. A
    driver that is killed leaves that folder: `leftovers` lists it, and until it is deleted there is
    no other release to `path`. Calling `release` again draws again:
    that is a second release of the same values, and belongs into a ledger (`liftlock.accounting`).

    Without a column it is the one that the mechanism was made for; one that was made for several
    columns as one value releases all of them. All other columns stay as they are, and the rows of a
    partition keep their order. The column keeps its type if all outputs fit it. From Parquet, Spark
    reads every column as nullable.

    What is left out and what is refused is as in `liftlock.tables.release`: Spark looks at all rows
    for the values of the secrets, and at some rows for copies. With `check` Spark counts the joint
    of secrets and values in all rows first, and a DataFrame in which the mechanism leaks more than
    promised is refused (`NotCertified`).
    """
    worker = ColumnRandomiser.of(mechanism, column, unseen)
    check_frame(df)
    check_destination(df.sparkSession, None if path is None else os.fspath(path))
    source = GroupedTable(df, frozenset())
    others = choose_columns(source, worker, drop=drop, keep=keep, count=count_names)
    if check:
        given = worker.encoding.given
        read = {*worker.needs, *others.secrets, *(() if given is None else given.names)}
        counted = GroupedTable(df, frozenset(read.intersection(df.columns)))
        measure_table(counted, worker, others.secrets).require_kept()
    return release_columns(df, [worker], path=path, dropped=others.dropped)


def release_columns(
    df: DataFrame,
    workers: Sequence[ColumnRandomiser],
    *,
    path: str | os.PathLike[str] | None = None,
    dropped: Sequence[str] = (),
) -> DataFrame:
    """Randomise the columns of several mechanisms in one pass, and leave others out."""
    check_frame(df)
    chosen = [(worker, [column_position(df, name) for name in worker.needs]) for worker in workers]
    left = {column_position(df, name) for name in dropped}
    kept = [place for place in range(len(df.columns)) if place not in left]
    schema = _schema(df.schema, chosen, kept)
    place = None if path is None else os.fspath(path)
    work = randomise_task(chosen, kept, df.columns)
    released = ", ".join(name for worker in workers for name in worker.names)
    with raise_refusals():
        check_destination(df.sparkSession, place)
        return compute_once(
            number_columns(df), work, schema, place, f"liftlock: release {released}"
        )


Placed = Sequence[tuple[ColumnRandomiser, Sequence[int]]]
"""Workers, each with the positions of what it reads: first the columns that it replaces."""


def randomise_task(
    workers: Placed, kept: Sequence[int], names: Sequence[str]
) -> Callable[[Batches], Batches]:
    """Return what each task does. Nothing random is in it: workers draw their own key each time."""
    left = [names[place] for place in kept]

    def work(batches: Batches) -> Batches:
        for batch in batches:
            arrays = dict(enumerate(batch.columns))
            for worker, places in workers:
                with send_refusals(names[places[0]]):
                    released = worker.release([batch.column(place) for place in places])
                own = places[: len(released)]
                arrays |= dict(zip(own, map(_to_variable_length, released), strict=True))
            yield pa.RecordBatch.from_arrays([arrays[place] for place in kept], left)

    return work


def _to_variable_length(cells: pa.Array) -> pa.Array:
    """Return packed reports as Spark knows bytes, which has none of a fixed length."""
    return cells.cast(pa.binary()) if pa.types.is_fixed_size_binary(cells.type) else cells


def _schema(before: StructType, workers: Placed, kept: Sequence[int]) -> Any:
    from pyspark.sql.types import StructType

    fields = {place: before[place] for place in kept}
    for worker, needed in workers:
        places = needed[: len(worker.names)]
        kinds = [arrow_type(before[place]) for place in places]
        for at, (place, kind) in enumerate(zip(places, worker.released_types(kinds), strict=True)):
            fields[place] = _field(before[place], kinds[at], kind, worker.may_be_missing(at))
    return StructType([fields[place] for place in kept])


def _field(
    before: StructField, kind: pa.DataType, released: pa.DataType, missing: bool
) -> StructField:
    from pyspark.sql.types import StructField

    made = before.dataType if released == kind else spark_type(released)
    # Other notes may list the values that were there, as those of MLlib do.
    notes = {key: text for key, text in before.metadata.items() if key == "comment"}
    return StructField(before.name, made, before.nullable or missing, notes)
