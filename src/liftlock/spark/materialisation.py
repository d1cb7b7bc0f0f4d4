"""One randomisation of each row that anybody ever sees.

Spark computes lazily, and computes again: a task that failed, an executor that was lost, a slow
task that is run twice to see which is faster, a second action on the same DataFrame. For noise each
of these is another draw for the same person, and two draws tell more than the budget (for LIP more
than twice as much). So what is random is computed at once, and kept where it stays:

- *As Parquet.* Every attempt of a task writes a file of its own. The driver gives leave to commit
  to one attempt of each task, and only committed files become part of the result, when all tasks
  are done. That is version 1 of Hadoop's algorithm, asked for here whatever the session says: in
  version 2 a task moves its files into the result by itself, where they stay if it dies halfway or
  if the job fails. Files are written beside the final name, in a hidden folder, and moved there in
  one step when their rows are as many as were drawn, so a job that fails or is killed leaves
  nothing under the final name. What a killed driver leaves beside it keeps others from drawing the
  same rows again.
- *In this process*, for a local session without a folder: a local checkpoint. Its blocks are in
  memory or on disk, each is stored once, and how it was made is forgotten. A block that is lost can
  only fail a later action, not draw again.

On a cluster a local checkpoint is not enough: an executor that was given up for lost may come back
with its own copy of a block that was drawn again meanwhile, and an action reads either. So without
a folder it is refused there.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from liftlock.errors import FileError, InputError
from liftlock.spark.folders import Folder
from liftlock.spark.jobs import run_stoppable
from liftlock.spark.workers import (
    Batches,
    Work,
    check_shared,
    delete_on_workers,
    draw_where_shared,
    is_local,
    leave_marker,
)

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_COMMIT = "spark.sql.sources.commitProtocolClass"
_COMMITTER = "spark.sql.sources.outputCommitterClass"
_PARQUET = "spark.sql.parquet.output.committer.class"
_COORDINATED = "spark.hadoop.outputCommitCoordination.enabled"

SAFE = {
    _COMMIT: (
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol",
        "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol",
        "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol",
    ),
    _COMMITTER: (
        "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter",
        "org.apache.parquet.hadoop.ParquetOutputCommitter",
    ),
    _PARQUET: (
        "org.apache.parquet.hadoop.ParquetOutputCommitter",
        "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter",
    ),
}
"""Settings that decide which files count, and the values under which one attempt of each does."""

WRITING = {
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.cleanup.skipped": "false",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
}


FRESH = "rows"
"""The folder in the hidden one that becomes the result."""


def compute_once(
    rows: DataFrame, work: Work, schema: StructType, path: str | None, description: str
) -> DataFrame:
    """Let tasks do their work on rows now, and return the one result that there will ever be."""
    spark = rows.sparkSession
    place = _destination(spark, path)
    if place is None:
        once = rows.mapInArrow(work, schema)
        return run_stoppable(spark, description, lambda: once.localCheckpoint(eager=True))
    return _write_and_read(rows, work, schema, place, description)


def check_destination(spark: SparkSession, path: str | None) -> None:
    """Refuse, before any work, what could not be kept safely."""
    place = _destination(spark, path)
    if place is None:
        if not is_local(spark):
            raise InputError(
                "a release on a cluster needs a place to be stored, or a lost row would be drawn "
                "again",
                value=spark.sparkContext.master,
                remedy="give path=, or set a folder with spark.sparkContext.setCheckpointDir(...)",
            )
        return
    _check_committer(spark)
    folder = Folder.of(spark, place)
    if folder.exists():
        raise _exists_error(folder)
    left = folder.leftovers()
    if left:
        raise FileError(
            "an earlier release to this path was killed, or still runs",
            where=folder.shown,
            value=left[0].name,
            remedy="its draws are in this hidden folder beside the path: when no release to it "
            "runs any more, delete what liftlock.spark.leftovers(path) lists; if anybody could "
            "read that, count it as a release",
        )
    if folder.local is not None and not is_local(spark):
        # A name that is not one of leftovers: nothing is drawn here.
        with folder.hidden(".asked") as asked:
            assert asked.local is not None
            check_shared(spark, asked.local, folder.shown)


def _destination(spark: SparkSession, path: str | None) -> str | None:
    """Return the folder that files go to, None if they go nowhere."""
    if path is not None:
        return path
    kept = spark.sparkContext.getCheckpointDir()
    return None if kept is None else f"{kept.rstrip('/')}/liftlock-{uuid.uuid4().hex}"


def _exists_error(folder: Folder) -> FileError:
    return FileError(
        "the output exists already",
        where=folder.shown,
        remedy="nothing is overwritten: choose another path, or delete it if nobody has seen it",
    )


def _check_committer(spark: SparkSession) -> None:
    for name, safe in SAFE.items():
        chosen = spark.conf.get(name, None)
        if chosen is not None and chosen not in safe:
            raise InputError(
                "the commit protocol may expose output of failed attempts",
                where=name,
                value=chosen,
                remedy=f"use {safe[0]}",
            )
    if spark.sparkContext.getConf().get(_COORDINATED, "true") != "true":
        raise InputError(
            "two attempts of one task may both be committed",
            where=_COORDINATED,
            value="false",
            remedy="start the session without this setting",
        )


def _write_and_read(
    rows: DataFrame, work: Work, schema: StructType, path: str, description: str
) -> DataFrame:
    spark = rows.sparkSession
    final = Folder.of(spark, path)
    drawn = spark.sparkContext.accumulator(0)
    task = _count_rows(work, drawn)
    received = False
    with final.hidden() as hidden:
        fresh = hidden.child(FRESH)
        if hidden.local is not None:
            leave_marker(hidden.local)
            task = draw_where_shared(task, hidden.local, final.shown)
        once = rows.mapInArrow(task, schema)

        def write() -> None:
            nonlocal received
            once.write.mode("error").options(**WRITING).parquet(fresh.text)
            _check_rows(spark.read.schema(schema).parquet(fresh.text), drawn.value, final, hidden)
            if final.exists():
                raise _exists_error(final)
            final.receive(fresh)
            received = True

        try:
            run_stoppable(spark, description, write)
            result = spark.read.schema(once.schema).parquet(final.text)
        except BaseException:
            if received:
                final.delete()
            raise
    return result


def _count_rows(work: Work, drawn: Accumulator[int]) -> Work:
    """Return the same task, which also counts the rows that it hands over.

    Of each task of an action Spark takes the count of one attempt, as it does of its results.
    """

    def counted(batches: Batches) -> Batches:
        for batch in work(batches):
            drawn.add(batch.num_rows)
            yield batch

    return counted


def _check_rows(written: DataFrame, drawn: int, final: Folder, hidden: Folder) -> None:
    """Refuse files that hold other rows than were drawn, by the numbers in their footers."""
    spark = written.sparkSession
    found: int | None = None
    try:
        found = _count_rows_written(written, hidden)
        trouble = f"{found:,} of {drawn:,} rows"
    except Exception as error:
        trouble = f"they cannot be read ({type(error).__name__})"
    if found == drawn:
        return
    if hidden.local is not None and not is_local(spark):
        delete_on_workers(spark, hidden.local)
    raise FileError(
        "the files hold other rows than were drawn",
        where=final.shown,
        value=trouble,
        remedy="all were deleted; if a worker writes to a folder of its own, give a URL that all "
        "of them reach (hdfs://, s3a://)",
    )


def _count_rows_written(written: DataFrame, hidden: Folder) -> int:
    """Add up the rows that the footers of the files tell, of those that the driver sees."""
    if hidden.local is not None:
        files = Path(hidden.local, FRESH).glob("part-*")
        with suppress(pa.ArrowException):  # as of encrypted footers, which Spark can read
            return sum(parquet.read_metadata(file).num_rows for file in files)
    written.sparkSession.sparkContext.setJobDescription("liftlock: count the rows written")
    return written.count()
