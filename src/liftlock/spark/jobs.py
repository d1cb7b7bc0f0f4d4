"""Jobs that have a name in Spark's pages, and stop when they are told to.

An interrupted action leaves its job running: the call returns, the tasks do not, and the files of a
job that is done are committed by the driver afterwards. Tasks that are killed go on for a while as
well, when their job has failed or another attempt was faster. So work is done in a thread of its
own, which can be waited for, and all its jobs have one tag.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

T = TypeVar("T")

_GROUP = "spark.jobGroup.id"

LONGEST_WAIT = 60.0
"""So many seconds tasks have to end after their job; most need a few, after which Spark kills."""

_PAUSE = 0.1


def run_stoppable(spark: SparkSession, description: str, work: Callable[[], T]) -> T:
    """Do some work with Spark; when this returns or raises, no task of it runs any more.

    What interrupts this (Ctrl-C) cancels its jobs first. Tasks that do not end within a minute are
    not waited for, which a note at the exception says. Jobs keep the group of the caller, who may
    cancel that one too; without one they get their own.
    """
    from pyspark.util import InheritableThread

    context = spark.sparkContext
    tag = f"liftlock-{uuid.uuid4().hex}"
    results: list[T] = []
    failures: list[BaseException] = []
    # Threads themselves cannot be waited for: after an interrupt, `is_alive` of Python 3.11 denies.
    done = Event()

    def run() -> None:
        try:
            context.addJobTag(tag)
            if context.getLocalProperty(_GROUP) is None:
                context.setJobGroup(tag, description)
            else:
                context.setJobDescription(description)
            results.append(work())
        except BaseException as error:
            failures.append(error)
        finally:
            done.set()

    thread = InheritableThread(target=run, session=spark)
    try:
        thread.start()
        done.wait()
        if failures:
            raise failures[0]
    except BaseException as error:
        while thread.ident is not None and not done.is_set():
            # Again and again: the next job may start between two of them.
            with suppress(Exception):
                context.cancelJobsWithTag(tag)
            done.wait(0.5)
        if not _wait_for_tasks(context, tag):
            error.add_note(
                "some tasks may still run, and write what liftlock.spark.leftovers finds"
            )
        raise
    _wait_for_tasks(context, tag)
    return results[0]


def _wait_for_tasks(context: SparkContext, tag: str) -> bool:
    """Wait until no task runs that belongs to a job of this tag, and tell whether that happened."""
    until = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < until:
        try:
            if not _is_running(context, tag):
                return True
        except Exception:  # Spark is gone
            return False
        time.sleep(_PAUSE)
    return False


def _is_running(context: SparkContext, tag: str) -> bool:
    status = context.statusTracker()
    tagged: Any = context._jsc.sc().statusTracker()
    for number in tagged.getJobIdsForTag(tag):
        job = status.getJobInfo(number)
        if job is None:
            continue
        if job.status == "RUNNING":
            return True
        stages = map(status.getStageInfo, job.stageIds)
        if any(stage is not None and stage.numActiveTasks for stage in stages):
            return True
    return False
