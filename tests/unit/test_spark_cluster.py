"""A real standalone cluster on this machine: whatever is killed, no row is lost or drawn twice.

Starting it takes longer than most checks, so these are parts of one test, as in test_spark.py.
Nothing here depends on how fast the machine is: who waits, waits for something to be so.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from liftlock import spark as ls
from liftlock.errors import FileError
from liftlock.spark import materialisation, releases, workers
from tests.docs.pages import ROOT
from tests.spark_sessions import (
    HAS_JAVA,
    PYTHONPATH,
    Cluster,
    cluster,
    end_all,
    processes_of,
    session,
    wait_for,
)
from tests.unit.test_spark import NOISY, by_id, some_is_committed

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.skipif(not HAS_JAVA, reason="Spark needs Java, and none is installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]

ROWS, PARTS = 240, 4


@dataclass(frozen=True)
class There:
    """What a check needs."""

    cluster: Cluster
    spark: SparkSession
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def notes(self) -> Path:
        return self.folder / "notes"


CHECKS: list[Callable[[There], None]] = []


def check(function: Callable[[There], None]) -> Callable[[There], None]:
    CHECKS.append(function)
    return function


def test_on_a_cluster(
    subtests: pytest.Subtests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        # What a session says of this does not count.
        "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.5",
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "100ms",
    }
    with cluster(tmp_path / "cluster") as there:
        with subtests.test("a driver is interrupted, and killed"):
            a_driver_is_stopped(tmp_path / "driver", there)
        with session(tmp_path / "spark", there.settings | settings) as spark:
            with subtests.test("what a killed driver left is found"):
                leftovers_are_found(tmp_path / "driver" / "killed")
            for each in CHECKS:
                folder = tmp_path / each.__name__
                (folder / "notes").mkdir(parents=True)
                two_executors_work(spark, tmp_path)
                with subtests.test(each.__name__), monkeypatch.context() as patched:
                    each(There(there, spark, folder, patched))
    assert processes_of(there.leader) == []


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


# --- the driver ---------------------------------------------------------------------------------


def a_driver_is_stopped(folder: Path, there: Cluster) -> None:
    folder.mkdir()
    interrupted, killed = folder / "interrupted", folder / "killed"
    log = folder / "log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [
                *(sys.executable, "-W", "ignore", "-m", "tests.unit.spark_driver"),
                *(str(folder), json.dumps(there.settings)),
            ],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": PYTHONPATH},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        ) as started,
    ):

        def wait_for_draws(place: Path) -> None:
            def drawn() -> bool:
                assert started.poll() is None, log.read_text()[-2000:]
                return some_is_committed(place)

            wait_for(drawn)

        assert started.stdout is not None
        try:
            wait_for_draws(interrupted)
            started.send_signal(signal.SIGINT)
            assert select.select([started.stdout], [], [], 300)[0], "it does not stop"
            assert json.loads(started.stdout.readline()) == {"jobs": [], "left": ["notes"]}
            # Whatever still ran would find that it may go on, and write.
            (interrupted / "notes" / "go").touch()
            wait_for_draws(killed)
        finally:
            # Python and Java at once.
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
            end_all(started.pid)
    wait_for(lambda: there.executors() == 0)
    assert names_in(interrupted) == ["notes"]


def leftovers_are_found(folder: Path) -> None:
    (hidden,) = set(names_in(folder)) - {"notes"}
    assert (folder / hidden).stat().st_mode & 0o777 == 0o700
    assert list((folder / hidden).rglob("part-*"))
    assert ls.leftovers(folder / "safe") == (str(folder / hidden),)
    rows = constant_rows(SparkSession.active())
    with pytest.raises(FileError, match="was killed, or still runs") as refused:
        ls.release(rows, NOISY, "letter", path=folder / "safe")
    assert refused.value.value == hidden
    assert set(names_in(folder)) == {"notes", hidden}


# --- executors ----------------------------------------------------------------------------------


def constant_rows(spark: SparkSession) -> DataFrame:
    return spark.range(0, ROWS, 1, PARTS).withColumn("letter", F.lit("a"))


Act = Callable[[Any], None]


def acting(notes: Path, act: Act) -> Callable[..., Any]:
    """Return what makes tasks that note every batch they hand over, and act after each.

    A note is named after the partition and the attempt, and says which process is the executor.
    """
    make, folder = releases.randomise_task, str(notes)

    def recording(*given: Any) -> Any:
        work = make(*given)

        def acts(batches: Any) -> Any:
            import json
            import os
            import signal
            import time
            from pathlib import Path
            from types import SimpleNamespace

            from pyspark import TaskContext

            def parent(process: int) -> int:
                stat = Path(f"/proc/{process}/stat").read_text()
                return int(stat.rpartition(")")[2].split()[1])

            def wait(condition: Any) -> None:
                until = time.monotonic() + 300
                while not condition():
                    if time.monotonic() > until:
                        raise RuntimeError("waited for too long")
                    time.sleep(0.05)

            def kill(process: int) -> None:
                os.kill(process, signal.SIGKILL)

            task = TaskContext.get()
            assert task is not None
            me = SimpleNamespace(
                notes=Path(folder),
                partition=task.partitionId(),
                executor=parent(os.getppid()),
                batches=0,
                wait=wait,
                kill=kill,
            )
            note = me.notes / f"{me.partition}.{task.taskAttemptId()}.{me.executor}"
            # One that is first says so.
            me.is_first = not list(me.notes.glob(f"{me.partition}.*"))
            for batch in work(batches):
                with note.open("a") as stream:
                    stream.write(json.dumps(batch.to_pydict()) + "\n")
                me.batches += 1
                act(me)
                yield batch
            me.batches = -1
            act(me)

        return acts

    return recording


def two_executors_work(spark: SparkSession, folder: Path) -> None:
    """Wait until two executors run tasks: those that were killed are replaced after a while."""
    notes = folder / "both"
    shutil.rmtree(notes, ignore_errors=True)
    notes.mkdir()

    def meet(_: Any) -> Any:
        import os
        import time

        (notes / str(os.getppid())).touch()
        until = time.monotonic() + 300
        while len(list(notes.iterdir())) < 2:
            if time.monotonic() > until:
                raise RuntimeError("only one executor works")
            time.sleep(0.05)
        return []

    spark.sparkContext.parallelize(range(2), 2).mapPartitions(meet).collect()


def check_once(there: There, rows: Sequence[Row]) -> None:
    """Check that each partition is what one attempt drew of it, and that others drew too."""
    found = by_id(rows)
    assert sorted(found) == list(range(ROWS))
    partitions: dict[str, list[dict[int, str]]] = {}
    for note in there.notes.glob("*.*.*"):
        drawn: dict[int, str] = {}
        for line in note.read_text().splitlines():
            batch = json.loads(line)
            drawn.update(zip(batch["id"], batch["letter"], strict=True))
        partitions.setdefault(note.name.split(".")[0], []).append(drawn)
    counted: dict[int, str] = {}
    for attempts in partitions.values():
        everything = max(attempts, key=len).keys()
        mine = {row: found[row] for row in everything}
        assert mine in attempts
        counted |= mine
    assert counted == found
    others = [
        (row, letter)
        for attempts in partitions.values()
        for attempt in attempts
        for row, letter in attempt.items()
        if found[row] != letter
    ]
    # At least 20 rows were drawn twice; that all agree has probability below 8^-20.
    assert others


def release(there: There, df: DataFrame, act: Act, path: Path | None = None) -> DataFrame:
    there.monkeypatch.setattr(releases, "randomise_task", acting(there.notes, act))
    return ls.release(df, NOISY, "letter", path=there.folder / "safe" if path is None else path)


@check
def a_stage_is_run_again(there: There) -> None:
    """All executors are killed, and with them what the rows were shuffled into."""

    def act(me: Any) -> None:
        if me.partition == 0 and me.is_first and me.batches == 1:

            def others() -> set[int]:
                return {int(note.name.split(".")[2]) for note in me.notes.glob("*.*.*")} - {
                    me.executor
                }

            me.wait(others)
            for other in others():
                me.kill(other)
            me.kill(me.executor)
            me.wait(lambda: False)
        elif me.partition == 1 and me.is_first and me.batches == 1:
            # Until it is killed.
            me.wait(lambda: len(list(me.notes.glob("0.*.*"))) > 1)

    result = release(there, constant_rows(there.spark).repartition(PARTS, "id"), act)
    status: Any = there.spark.sparkContext.statusTracker()
    jobs = there.spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    every = [jobs.apply(place).jobId() for place in range(jobs.size())]
    stages = [status.getStageInfo(stage) for job in every for stage in status.getJobInfo(job)[1]]
    assert max(stage.currentAttemptId for stage in stages if stage) > 0
    check_once(there, result.collect())


@check
def a_slow_task_is_run_twice(there: There) -> None:
    """The first attempt never ends by itself, and the second one is taken."""

    def act(me: Any) -> None:
        if me.partition == 0 and me.is_first and me.batches == 3:
            me.wait(lambda: False)

    result = release(there, constant_rows(there.spark), act)
    check_once(there, result.collect())
    assert len(list(there.notes.glob("0.*.*"))) > 1
    assert set(names_in(there.folder)) == {"notes", "safe"}


@check
def a_task_commits_and_its_executor_dies(there: There) -> None:
    """In the middle of its next task; what it committed is kept, and was not shown: version 1."""

    def act(me: Any) -> None:
        began, seen = me.notes / "began", me.notes / "seen"
        if me.partition == 0 and me.batches == 1:
            # It runs beside partition 1, so in another executor.
            me.wait(began.exists)
        elif me.partition == 1 and me.is_first and me.batches == 1:
            began.touch()

            def written() -> list[str]:
                hidden = me.notes.parent
                done = [*hidden.glob(".safe.*/rows/_temporary/0/task_*/part-00000-*")]
                shown = [*hidden.glob(".safe.*/rows/part-00000-*")]
                return ["committed"] * len(done) + ["shown"] * len(shown)

            me.wait(written)
            found = written()
            (note,) = me.notes.glob("0.*.*")
            process = note.name.split(".")[2]
            me.wait(lambda: [*me.notes.glob(f"2.*.{process}"), *me.notes.glob(f"3.*.{process}")])
            me.kill(int(process))
            seen.write_text(" ".join(found))
        elif me.batches == 1:
            me.wait(seen.exists)

    result = release(there, constant_rows(there.spark), act)
    assert (there.notes / "seen").read_text() == "committed"
    check_once(there, result.collect())
    assert set(names_in(there.folder)) == {"notes", "safe"}


# --- a folder of its own ------------------------------------------------------------------------


def own_folder(there: There) -> Path:
    """Return a folder that is another one for the second worker."""
    if not there.cluster.own:
        pytest.skip("a mount of its own is not permitted here (unshare --mount)")
    made = Path(there.cluster.own) / there.folder.name
    made.mkdir()
    return made


def files_of(there: There, own: Path) -> list[str]:
    """Return the files in such a folder, for the driver and for the second worker."""
    every = [*own.rglob("*"), *there.cluster.seen_by_second(own).rglob("*")]
    return [str(file) for file in every if file.is_file()]


@check
def a_folder_that_is_not_shared_is_refused(there: There) -> None:
    own = own_folder(there)

    def act(me: Any) -> None:
        pass

    there.monkeypatch.setattr(workers, "PATIENCE", 0.2)
    with pytest.raises(FileError, match="do not share this folder") as refused:
        release(there, constant_rows(there.spark), act, own / "safe")
    assert refused.value.where == str(own / "safe")
    assert "does not see the driver's files" in str(refused.value.value)
    assert names_in(there.notes) == []
    assert names_in(own) == files_of(there, own) == []


@check
def a_worker_that_comes_later_draws_nothing(there: There) -> None:
    own = own_folder(there)

    def act(me: Any) -> None:
        # Whoever shares the folder waits until the other one has been tried often enough.
        me.wait(lambda: False)

    there.monkeypatch.setattr(workers, "PATIENCE", 0.2)
    there.monkeypatch.setattr(materialisation, "check_shared", lambda *_: None)
    with pytest.raises(FileError, match="do not share this folder") as refused:
        release(there, constant_rows(there.spark), act, own / "safe")
    assert refused.value.where == str(own / "safe")
    assert len({note.name.split(".")[2] for note in there.notes.glob("*.*.*")}) == 1
    assert names_in(own) == files_of(there, own) == []


@check
def rows_that_do_not_arrive_are_missed(there: There) -> None:
    """As it would be if nobody had looked before."""
    own = own_folder(there)

    def act(me: Any) -> None:
        # Both draw, and no other attempt of a task is taken.
        me.wait(lambda: me.is_first)
        me.wait(lambda: len({note.name.split(".")[2] for note in me.notes.glob("*.*.*")}) > 1)

    there.monkeypatch.setattr(materialisation, "check_shared", lambda *_: None)
    there.monkeypatch.setattr(materialisation, "draw_where_shared", lambda work, *_: work)
    with pytest.raises(FileError, match="other rows than were drawn") as refused:
        release(there, constant_rows(there.spark), act, own / "safe")
    found, whole = str(refused.value.value).removesuffix(" rows").split(" of ")
    assert int(whole) == ROWS
    assert int(found) in {60, 120, 180}
    assert names_in(own) == files_of(there, own) == []
