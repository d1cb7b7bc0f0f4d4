"""One randomisation of each row that anybody ever sees.

Spark computes lazily, and computes again: a task that failed, an executor that was lost, a slow
task that is run twice to see which is faster, a second action on the same DataFrame. For noise each
of these is another draw for the same person, and two draws tell more than the budget (for LIP more
than twice as much). So what is random is computed at once, and kept where it stays:

- *As Parquet.* Every attempt of a task writes a file of its own. The driver gives leave to commit
  to one attempt of each task, and only committed files become part of the result, when all tasks
  are done. That is version 1 of Hadoop's algorithm, asked for here whatever the session says: in
  version 2 a task moves its files into the result by itself, where they stay if it dies halfway or
  if the job fails. Files are written beside the final name, under a hidden one, and moved there in
  one step, so a job that fails or is killed leaves nothing under the final name.
- *In this process*, for a local session without a folder: a local checkpoint. Its blocks are in
  memory or on disk, each is stored once, and how it was made is forgotten. A block that is lost can
  only fail a later action, not draw again.

On a cluster a local checkpoint is not enough: an executor that was given up for lost may come back
with its own copy of a block that was drawn again meanwhile, and an action reads either. So without
a folder it is refused there.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from liftlock.errors import FileError, InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


def compute_once(frame: DataFrame, path: str | None) -> DataFrame:
    """Compute a DataFrame now, and return the one result that there will ever be of it."""
    spark = frame.sparkSession
    if path is not None:
        return _write_and_read(frame, path)
    kept = spark.sparkContext.getCheckpointDir()
    if kept is not None:
        return _write_and_read(frame, f"{kept.rstrip('/')}/liftlock-{uuid.uuid4().hex}")
    check_destination(spark, path)
    return frame.localCheckpoint(eager=True)


def check_destination(spark: SparkSession, path: str | None) -> None:
    """Refuse, before any work, what could not be kept safely."""
    if path is not None:
        _check_committer(spark)
        folder = Folder.of(spark, path)
        if folder.exists():
            raise _exists_error(path)
        return
    if spark.sparkContext.getCheckpointDir() is not None:
        _check_committer(spark)
    elif not _is_local(spark):
        raise InputError(
            "a release on a cluster needs a place to be stored, or a lost row would be drawn again",
            value=spark.sparkContext.master,
            remedy="give path=, or set a folder with spark.sparkContext.setCheckpointDir(...)",
        )


def _exists_error(path: str) -> FileError:
    return FileError(
        "the output exists already",
        where=path,
        remedy="nothing is overwritten: choose another path, or delete it if nobody has seen it",
    )


def _is_local(spark: SparkSession) -> bool:
    master = str(spark.sparkContext.master)
    return master == "local" or master.startswith("local[")


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


def _write_and_read(frame: DataFrame, path: str) -> DataFrame:
    spark = frame.sparkSession
    final = Folder.of(spark, path)
    fresh = final.sibling(f".{final.name}.{uuid.uuid4().hex}")
    try:
        frame.write.mode("error").options(**WRITING).parquet(fresh.text)
        if final.exists():
            raise _exists_error(path)
        final.receive(fresh)
    finally:
        fresh.delete()
    return spark.read.schema(frame.schema).parquet(final.text)


@dataclass(frozen=True)
class Folder:
    """A folder on any file system that Spark can write to."""

    jvm: Any
    configuration: Any
    place: Any

    @classmethod
    def of(cls, spark: SparkSession, path: str) -> Folder:
        """Return the folder of that name, relative ones as Spark understands them."""
        jvm: Any = spark.sparkContext._jvm
        configuration = spark.sparkContext._jsc.hadoopConfiguration()
        place = jvm.org.apache.hadoop.fs.Path(path)
        system = place.getFileSystem(configuration)
        return cls(jvm, configuration, system.makeQualified(place))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return str(self.place.getName())

    @property
    def text(self) -> str:
        """The whole path."""
        return str(self.place.toString())

    @property
    def _system(self) -> Any:
        return self.place.getFileSystem(self.configuration)

    def exists(self) -> bool:
        """Tell whether anything is there."""
        return bool(self._system.exists(self.place))

    def sibling(self, name: str) -> Folder:
        """Return another folder in the same one."""
        return Folder(
            self.jvm,
            self.configuration,
            self.jvm.org.apache.hadoop.fs.Path(self.place.getParent(), name),
        )

    def receive(self, fresh: Folder) -> None:
        """Move a folder here, in one step; refuse if something came here meanwhile."""
        files = self.jvm.org.apache.hadoop.fs.FileContext.getFileContext(
            self.place.toUri(), self.configuration
        )
        # `FileSystem.rename` would move it *into* a folder that exists.
        rename = self.jvm.org.apache.hadoop.fs.Options.Rename
        kinds = self._gateway().new_array(rename, 1)
        kinds[0] = rename.NONE
        files.rename(fresh.place, self.place, kinds)

    def _gateway(self) -> Any:
        from pyspark import SparkContext

        return SparkContext._gateway

    def delete(self) -> None:
        """Remove it with all that is in it, if it is there."""
        self._system.delete(self.place, True)
