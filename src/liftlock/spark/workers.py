"""Whether the workers see the folder that the driver sees.

A path without a scheme names a folder on the disk of each machine. If it is not the same folder,
tasks write where the driver does not look: rows are lost, and their draws stay behind. Before any
draw the driver asks: it leaves a marker, each worker must see it and leave an answer, and the
driver must see that. A worker may join later, so every task looks for the marker again before it
draws. URLs lead all machines to the same place, so nobody is asked about them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyarrow as pa

from liftlock.errors import FileError
from liftlock.spark.jobs import run_stoppable
from liftlock.spark.refusals import send_refusals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
Batches = Iterator[pa.RecordBatch]
Work = Callable[[Batches], Batches]

MARKER = "marker"

PATIENCE = 5.0
"""So many seconds a file has to become visible elsewhere: network file systems remember names."""

_ROUNDS = 5


def is_local(spark: SparkSession) -> bool:
    """Tell whether driver and workers are one process."""
    master = str(spark.sparkContext.master)
    return master == "local" or master.startswith("local[")


def check_shared(spark: SparkSession, folder: str, path: str) -> None:
    """Refuse a folder that some worker does not share with the driver; `path` is its public name.

    All workers are asked that the driver knows of, unless some stay busy with other jobs for
    several rounds.
    """
    leave_marker(folder)
    for answer in _ask_workers(spark, f"liftlock: do the workers share {path}?", _answer(folder)):
        seen = _wait_for(Path(folder) / answer.said, PATIENCE) if answer.said else False
        if not seen:
            raise unshared(path, answer.host, answer.trouble or "the driver does not see its files")


def leave_marker(folder: str) -> None:
    """Leave the file that workers look for."""
    (Path(folder) / MARKER).write_text("")


def unshared(path: str, host: str, trouble: str) -> FileError:
    """Return the refusal of a folder."""
    return FileError(
        "the workers do not share this folder with the driver",
        where=path,
        value=f"{host}: {trouble}",
        remedy="give a URL that all of them reach (hdfs://, s3a://), or a folder that is mounted "
        "under the same path on all of them",
    )


def draw_where_shared(work: Work, folder: str, path: str) -> Work:
    """Return the same task, which draws nothing where the marker cannot be seen.

    Once the driver has deleted the folder, no batch more is drawn for it.
    """
    patience = PATIENCE

    def seen(batches: Batches) -> Batches:
        import socket

        for batch in batches:
            trouble = _look_for_marker(folder, patience)
            if trouble:
                with send_refusals():
                    raise unshared(path, socket.gethostname(), trouble)
            yield batch

    def checked(batches: Batches) -> Batches:
        return work(seen(batches))

    return checked


def delete_on_workers(spark: SparkSession, folder: str) -> None:
    """Delete a folder wherever a worker sees one of this name."""

    def delete() -> tuple[str, str]:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
        return "", ""

    _ask_workers(spark, f"liftlock: delete {folder}", delete)


class Answer(NamedTuple):
    """What one task found on its worker."""

    host: str
    said: str
    """The name of the file that it wrote, empty if it wrote none."""
    trouble: str


def _answer(folder: str) -> Callable[[], tuple[str, str]]:
    patience = PATIENCE

    def answer() -> tuple[str, str]:
        name = uuid.uuid4().hex
        trouble = _look_for_marker(folder, patience)
        if not trouble:
            try:
                (Path(folder) / name).touch(exist_ok=False)
            except OSError as error:
                trouble = f"it cannot write there ({error.strerror})"
        return "" if trouble else name, trouble

    return answer


def _look_for_marker(folder: str, patience: float) -> str:
    """Return why a worker does not see what the driver left, or nothing if it does."""
    try:
        seen = _wait_for(Path(folder) / MARKER, patience)
    except OSError as error:
        return f"it cannot look into it ({error.strerror})"
    return "" if seen else "it does not see the driver's files"


def _wait_for(path: Path, patience: float) -> bool:
    """Tell whether a file can be seen, after some time if need be."""
    import time

    until = time.monotonic() + patience
    while not path.exists():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def _ask_workers(
    spark: SparkSession, description: str, question: Callable[[], tuple[str, str]]
) -> list[Answer]:
    """Ask each worker that the driver knows of, or as many as answer in several rounds of tasks.

    Which worker runs a task is up to Spark, so there are more tasks than places for them, and they
    take longer from round to round.
    """
    context = spark.sparkContext

    def ask(pause: float) -> list[tuple[tuple[str, str], Answer]]:
        def task(numbers: Iterable[int]) -> Iterator[tuple[tuple[str, str], Answer]]:
            import os
            import socket
            import time

            for _ in numbers:
                time.sleep(pause)
                host = socket.gethostname()
                # A folder that each worker makes for itself.
                yield (host, os.environ.get("SPARK_LOCAL_DIRS", "")), Answer(host, *question())

        known = len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1
        tasks = 2 * max(context.defaultParallelism, known)
        return context.parallelize(range(tasks), tasks).mapPartitions(task).collect()

    answers: list[Answer] = []
    asked: set[tuple[str, str]] = set()
    for number in range(_ROUNDS):
        found = run_stoppable(spark, description, partial(ask, 0.2 * number))
        asked.update(who for who, _ in found)
        answers += [answer for _, answer in found]
        if len(asked) >= len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1:
            break
    return answers
