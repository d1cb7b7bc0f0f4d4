"""A real Spark session on this machine: what comes out, how often, and what is refused.

Starting a session takes longer than most checks, and the tests of a module may run in several
processes. So all checks that need one are parts of one test.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from scipy.stats import binom

import liftlock as ll
from liftlock import spark as ls
from liftlock.errors import CellError, FileError, InputError, LabelError, NotCertified
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.spark import materialisation, refusals, releases, workers
from liftlock.spark.folders import Folder
from liftlock.tables.protect.spec import ColumnSpec, Policy
from liftlock.tables.randomiser import ColumnRandomiser
from tests import published_rows
from tests.docs.pages import DOCS, blocks
from tests.spark_sessions import HAS_JAVA, session, wait_for

pytestmark = [
    # PySpark says so of every call that may hand over data frames, and hands over none here.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

RARELY = 1e-9
"""How often a test of chance may fail although all is well."""

LETTERS = "abcdefghijklmnop"
NOISY = ll.design(ll.Prior.uniform(LETTERS), ll.LIP("1"), method="k-rr")
"""Two draws for one row agree with probability below 1/8."""

JOBS = ll.Prior.from_counts({"clerk": 5, "nurse": 3, "cook": 2})


@dataclass(frozen=True)
class Here:
    """What a check needs."""

    spark: SparkSession
    folder: Path
    monkeypatch: pytest.MonkeyPatch


CHECKS: list[Callable[[Here], None]] = []


def check(function: Callable[[Here], None]) -> Callable[[Here], None]:
    CHECKS.append(function)
    return function


@pytest.mark.skipif(not HAS_JAVA, reason="Spark needs Java, and none is installed")
def test_in_one_session(
    subtests: pytest.Subtests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(tmp_path / "spark") as spark:
        for each in CHECKS:
            folder = tmp_path / each.__name__
            folder.mkdir()
            with subtests.test(each.__name__), monkeypatch.context() as patched:
                each(Here(spark, folder, patched))


# --- once ---------------------------------------------------------------------------------------


def constant_rows(spark: SparkSession, value: str = "a") -> DataFrame:
    """Four partitions of 60 rows, all with the same value."""
    return spark.range(0, 240, 1, 4).withColumn("letter", F.lit(value))


def by_id(rows: Sequence[Row]) -> dict[int, str]:
    found = {row["id"]: row["letter"] for row in rows}
    assert len(found) == len(rows), "a row occurs twice"
    return found


def dying(notes: Path) -> Callable[..., Any]:
    """Return what makes tasks that note every batch they hand over, and die at first.

    Partition 0 dies after two of three batches, partition 1 after the last one.
    """
    make, folder = releases.randomise_task, str(notes)

    def recording(*given: Any) -> Any:
        work = make(*given)

        def dies(batches: Any) -> Any:
            import json
            from pathlib import Path

            from pyspark import TaskContext

            task = TaskContext.get()
            assert task is not None
            partition, attempt = task.partitionId(), task.attemptNumber()
            note = Path(folder) / f"{partition}.{attempt}"
            for number, batch in enumerate(work(batches)):
                with note.open("a") as stream:
                    stream.write(json.dumps(batch.to_pydict()) + "\n")
                yield batch
                if attempt == 0 and partition == 0 and number == 1:
                    raise RuntimeError("died halfway")
            if attempt == 0 and partition == 1:
                raise RuntimeError("died at the end")
            if partition == 3:
                hidden = Path(folder).parent.glob(".*/rows/part-*")
                (Path(folder) / "visible").write_text("".join(map(str, hidden)))

        return dies

    return recording


def noted(notes: Path) -> dict[tuple[int, int], dict[int, str]]:
    """Return what each attempt of each task drew, by id."""
    found: dict[tuple[int, int], dict[int, str]] = {}
    for note in notes.glob("?.?"):
        partition, attempt = map(int, note.name.split("."))
        drawn = found.setdefault((partition, attempt), {})
        for line in note.read_text().splitlines():
            batch = json.loads(line)
            drawn.update(zip(batch["id"], batch["letter"], strict=True))
    return found


def check_once(here: Here, result: DataFrame) -> dict[int, str]:
    """Check that a result is that of the attempts that counted, whatever is done with it."""
    drawn = noted(here.folder / "notes")
    assert {place: len(rows) for place, rows in drawn.items()} == {
        (0, 0): 40,
        (0, 1): 60,
        (1, 0): 60,
        (1, 1): 60,
        (2, 0): 60,
        (3, 0): 60,
    }
    # 100 rows were drawn twice; that all agree has probability below 8^-100.
    thrown = {**drawn[0, 0], **drawn[1, 0]}
    counted = {**drawn[0, 1], **drawn[1, 1], **drawn[2, 0], **drawn[3, 0]}
    assert any(thrown[place] != counted[place] for place in thrown)

    assert by_id(result.collect()) == counted
    here.spark.catalog.clearCache()
    grouped = {row["letter"]: row["count"] for row in result.groupBy("letter").count().collect()}
    assert grouped == Counter(counted.values())
    again = result.toDF("id", "other")
    assert result.join(again, "id").where("letter <> other").count() == 0
    result.write.parquet(str(here.folder / "copy"))
    assert by_id(here.spark.read.parquet(str(here.folder / "copy")).collect()) == counted
    return counted


def prepare_notes(here: Here) -> None:
    (here.folder / "notes").mkdir()
    here.monkeypatch.setattr(releases, "randomise_task", dying(here.folder / "notes"))


@check
def without_care_a_result_changes(here: Here) -> None:
    """The danger is real: the same DataFrame, two actions, two draws for each row."""
    df = constant_rows(here.spark)
    work = releases.randomise_task(
        [(ColumnRandomiser.of(NOISY, "letter"), [1])], [0, 1], df.columns
    )
    lazy = df.mapInArrow(work, df.schema)
    assert by_id(lazy.collect()) != by_id(lazy.collect())


@check
def retried_tasks_and_files(here: Here) -> None:
    prepare_notes(here)
    settings = here.spark.sparkContext._jsc.hadoopConfiguration()
    version = "mapreduce.fileoutputcommitter.algorithm.version"
    settings.set(version, "2")
    path = here.folder / "safe"
    try:
        result = ls.release(constant_rows(here.spark), NOISY, "letter", path=path)
    finally:
        settings.set(version, "1")
    counted = check_once(here, result)
    # Not even tasks that are done show their files before all are: that is version 1.
    assert (here.folder / "notes" / "visible").read_text() == ""
    assert (path / "_SUCCESS").exists()
    assert len(list(path.glob("part-*"))) == 4
    assert {each.name for each in here.folder.iterdir()} == {"safe", "notes", "copy"}
    assert by_id(here.spark.read.parquet(str(path)).collect()) == counted
    with pytest.raises(FileError, match="exists already"):
        ls.release(constant_rows(here.spark), NOISY, "letter", path=str(path))


@check
def retried_tasks_and_blocks(here: Here) -> None:
    prepare_notes(here)
    result = ls.release(constant_rows(here.spark), NOISY, "letter")
    counted = check_once(here, result)
    lineage = result.rdd.toDebugString()
    assert lineage is not None
    assert b"MapInArrow" not in lineage
    result.unpersist()
    assert by_id(result.collect()) == counted


@check
def a_checkpoint_directory_is_used(here: Here) -> None:
    context = here.spark.sparkContext
    here.monkeypatch.setattr(context, "getCheckpointDir", lambda: str(here.folder))
    result = ls.release(constant_rows(here.spark), NOISY, "letter")
    (made,) = here.folder.iterdir()
    assert made.name.startswith("liftlock-")
    assert by_id(result.collect()) == by_id(here.spark.read.parquet(str(made)).collect())


@check
def a_failed_release_leaves_nothing(here: Here) -> None:
    df = constant_rows(here.spark).withColumn(
        "letter", F.when(F.col("id") == 200, "?").otherwise("a")
    )
    with pytest.raises(
        InputError, match="not an input of the mechanism at column 'letter': '\\?'"
    ) as refused:
        ls.release(df, NOISY, "letter", path=str(here.folder / "safe"))
    assert "\n" not in str(refused.value)
    assert refused.value.value == "?"
    assert list(here.folder.iterdir()) == []


@check
def places_that_are_not_safe(here: Here) -> None:
    df, path = constant_rows(here.spark), str(here.folder / "safe")
    context = here.spark.sparkContext
    with here.monkeypatch.context() as patched:
        patched.setattr(context, "master", "spark://elsewhere:7077")
        with pytest.raises(InputError, match="a release on a cluster needs a place"):
            ls.release(df, NOISY, "letter")
    for name, safe in materialisation.SAFE.items():
        here.spark.conf.set(name, safe[0])
        try:
            materialisation.check_destination(here.spark, path)
            with here.monkeypatch.context() as patched:
                patched.setitem(materialisation.SAFE, name, ("another",))
                with pytest.raises(InputError, match="output of failed attempts"):
                    ls.release(df, NOISY, "letter", path=path)
        finally:
            here.spark.conf.unset(name)
    # Something came there while tasks ran: it is neither replaced nor added to.
    final = Folder.of(here.spark, path)
    fresh = final.sibling(".fresh")
    for place in (path, str(here.folder / ".fresh")):
        Path(place).mkdir()
    with pytest.raises(Exception, match="exist"):
        final.receive(fresh)
    assert list(Path(path).iterdir()) == []


# --- the two ends -------------------------------------------------------------------------------


def slow(notes: Path) -> Callable[..., Any]:
    """Return what makes tasks that note what they see.

    All but the first one wait until there is a file `go`.
    """
    make, folder = releases.randomise_task, str(notes)

    def waiting(*given: Any) -> Any:
        work = make(*given)

        def waits(batches: Any) -> Any:
            from pathlib import Path

            from pyspark import TaskContext

            task = TaskContext.get()
            assert task is not None
            for batch in work(batches):
                yield batch
                note = Path(folder) / f"{task.partitionId()}.{task.attemptNumber()}"
                modes = [oct(each.stat().st_mode) for each in Path(folder).parent.glob(".*")]
                note.write_text(" ".join(modes))
                until = time.monotonic() + 300
                while task.partitionId() and time.monotonic() < until:
                    if (Path(folder) / "go").exists():
                        break
                    time.sleep(0.05)

        return waits

    return waiting


def some_is_committed(folder: Path) -> bool:
    """Tell whether a task is done and others have drawn, of those that `slow` makes."""
    done = list(folder.glob(".safe.*/rows/_temporary/0/task_*/part-*"))
    return bool(done) and len(list((folder / "notes").glob("?.?"))) > 2


@check
def an_interrupted_release_leaves_nothing(here: Here) -> None:
    """As in a notebook, where Spark's own answer to Ctrl-C is not installed."""
    notes, path = here.folder / "notes", here.folder / "safe"
    notes.mkdir()
    here.monkeypatch.setattr(releases, "randomise_task", slow(notes))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        wait_for(lambda: some_is_committed(here.folder))
        os.kill(os.getpid(), signal.SIGINT)

    killer = threading.Thread(target=interrupt)
    killer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ls.release(constant_rows(here.spark), NOISY, "letter", path=path)
    finally:
        killer.join()
        signal.signal(signal.SIGINT, before)
    assert here.spark.sparkContext.statusTracker().getActiveJobsIds() == []
    # Whatever still ran would find that it may go on, and write.
    (notes / "go").touch()
    assert {each.name for each in here.folder.iterdir()} == {"notes"}
    assert ls.leftovers(path) == ()
    assert ls.release(constant_rows(here.spark), NOISY, "letter", path=path).count() == 240
    # What its owner alone may enter, while it was made.
    seen = {mode for note in notes.glob("?.?") for mode in note.read_text().split()}
    assert seen == {"0o40700"}


@check
def leftovers_are_not_drawn_again(here: Here) -> None:
    df = constant_rows(here.spark)
    for name in ("safe", "s[a]f?{e}*\\", "s,"):
        path, hidden = here.folder / name, f".{name}.{'0a' * 16}"
        for other in (f".x{name}.{'0a' * 16}", f".{name}.{'0a' * 15}", f"{hidden}.asked", name[:1]):
            (here.folder / other).mkdir(exist_ok=True)
        assert ls.leftovers(path) == ()
        (here.folder / hidden).mkdir()
        assert ls.leftovers(path, here.spark) == (str(here.folder / hidden),)
        with pytest.raises(FileError, match="was killed, or still runs") as refused:
            ls.release(df, NOISY, "letter", path=path)
        assert refused.value.value == hidden
        assert not path.exists()
        (here.folder / hidden).rmdir()
    assert ls.release(df, NOISY, "letter", path=here.folder / "safe").count() == 240
    assert ls.leftovers(here.folder / "nowhere" / "safe") == ()
    assert ls.leftovers("/") == ()


@check
def rows_that_are_lost_are_missed(here: Here) -> None:
    look = materialisation._check_rows

    def lose(written: Any, drawn: int, final: Folder, hidden: Folder) -> None:
        assert drawn == 240
        next(here.folder.glob(".safe.*/rows/part-*")).unlink()
        look(here.spark.read.parquet(hidden.child("rows").text), drawn, final, hidden)

    here.monkeypatch.setattr(materialisation, "_check_rows", lose)
    with pytest.raises(FileError, match="other rows than were drawn") as refused:
        ls.release(constant_rows(here.spark), NOISY, "letter", path=here.folder / "safe")
    assert refused.value.value == "180 of 240 rows"
    assert list(here.folder.iterdir()) == []


@check
def jobs_have_a_name(here: Here) -> None:
    context: Any = here.spark.sparkContext
    status = context._jsc.sc()

    def told(path: str) -> set[tuple[str, str]]:
        ls.release(constant_rows(here.spark), NOISY, "letter", path=here.folder / path)
        found = status.statusStore().jobsList(None)
        jobs = [found.apply(place) for place in range(found.size())]
        return {
            (str(job.description().get()), str(job.jobGroup().get()))
            for job in jobs
            if job.description().isDefined() and path in ("one", str(job.jobGroup().get()))
        }

    assert "liftlock: release letter" in {name for name, _ in told("one")}
    # The caller's group stays, so that what cancels it cancels this.
    context.setJobGroup("mine", "my own")
    try:
        assert {name for name, _ in told("mine")} >= {"liftlock: release letter"}
        assert context.getLocalProperty("spark.job.description") == "my own"
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        context.setLocalProperty("spark.job.description", None)


# --- what comes out -----------------------------------------------------------------------------


@check
def the_law_is_that_of_the_mechanism(here: Here) -> None:
    """All counts are likely ones, and no two tasks or runs share their noise."""
    rows, parts = 12_000, 4
    df = here.spark.range(0, rows, 1, parts).withColumn("job", F.lit("nurse"))
    mechanism = ll.design(JOBS, ll.LIP("1"), method="safe-response")
    here.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    try:
        runs = [sorted(ls.release(df, mechanism, "job").collect()) for _ in range(2)]
    finally:
        here.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "20")
    table = mechanism.table
    distribution = [
        Fraction(int(weight), 1 << table.bits)
        for weight in table.weights[table.inputs.index("nurse")]
    ]
    seen = Counter(row["job"] for run in runs for row in run)
    assert sum(seen.values()) == 2 * rows
    for label, chance in zip(table.outputs.labels, distribution, strict=True):
        assert unlikely(seen[label], 2 * rows, chance) > RARELY / len(distribution)
    streams = [
        [row["job"] for row in run[start : start + rows // parts]]
        for run in runs
        for start in range(0, rows, rows // parts)
    ]
    agree = sum((chance**2 for chance in distribution), Fraction(0))
    pairs = list(combinations(streams, 2))
    for one, other in pairs:
        same = sum(x == y for x, y in zip(one, other, strict=True))
        assert unlikely(same, len(one), agree) > RARELY / len(pairs)


def unlikely(seen: int, number: int, chance: Fraction) -> float:
    """Return twice the smaller tail of a binomial distribution."""
    distribution = binom(number, float(chance))
    return float(2 * min(distribution.cdf(seen), distribution.sf(seen - 1)))


@check
def everything_else_stays(here: Here) -> None:
    schema = T.StructType(
        [
            T.StructField("id", T.LongType(), False, {"comment": "kept"}),
            T.StructField("a.b", T.StringType(), True),
            T.StructField(
                "job",
                T.StringType(),
                False,
                {"comment": "also kept", "ml_attr": {"vals": ["cook"]}},
            ),
            T.StructField("size", T.ShortType(), True),
            T.StructField("flag", T.BooleanType(), True),
            T.StructField("grade", T.StringType(), True),
            T.StructField("word", T.StringType(), True),
            T.StructField("money", T.DecimalType(20, 4), True),
            T.StructField("day", T.DateType(), True),
            T.StructField("moment", T.TimestampType(), True),
            T.StructField("raw", T.BinaryType(), True),
            T.StructField("list", T.ArrayType(T.StructType([T.StructField("x", T.IntegerType())]))),
            T.StructField("map", T.MapType(T.StringType(), T.DoubleType()), True),
        ]
    )
    moment = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)
    rows = [
        (
            place,
            None if place % 3 else f"é{place}",
            ["clerk", "nurse", "cook"][place % 3],
            place % 2,
            place % 5 == 0,
            None if place % 4 == 0 else "cook",
            None if place % 4 == 0 else "nurse",
            Decimal(place) / 10000,
            moment.date(),
            None if place % 7 == 0 else moment,
            bytes([place]),
            [Row(x=place), Row(x=None), None],
            {"k": math.pi * place},
        )
        for place in range(50)
    ]
    df = here.spark.createDataFrame(rows, schema).coalesce(1)
    plain = ll.design(JOBS, ll.LIP("1"), method="safe-response")
    encoded = ll.design(JOBS, ll.LDP("2"), method="oue")
    missing = ll.design(
        ll.Prior.from_counts({"cook": 3, "(missing)": 1}), ll.LIP("1"), method="safe-response"
    )
    workers = {
        "job": encoded,
        "size": ll.design(ll.Prior.uniform([0, 1]), ll.LIP("1/2"), method="k-rr"),
        "flag": ll.design(ll.Prior.uniform([False, True]), ll.LIP("1"), method="k-rr"),
        "grade": with_code(missing, ColumnEncoding("grade", missing="(missing)")),
        "word": with_code(plain, ColumnEncoding("word", keeps_missing=True)),
    }
    for path in (None, str(here.folder / "safe")):
        named = [ColumnRandomiser.of(made, name) for name, made in workers.items()]
        result = releases.release_columns(df, named, path=path)
        kept = [place for place, name in enumerate(df.columns) if name not in workers]
        found = result.collect()
        assert [[row[place] for place in kept] for row in found] == [
            [row[place] for place in kept] for row in rows
        ]
        assert result.columns == df.columns
        for place, (before, after) in enumerate(zip(df.schema, result.schema, strict=True)):
            if path is None:
                notes = {key: told for key, told in before.metadata.items() if key == "comment"}
                assert (after.nullable, after.metadata) == (before.nullable, notes)
            assert place not in kept or after.dataType == before.dataType
        assert result.schema["job"].dataType == T.BinaryType()
        for name in ("size", "flag", "grade", "word"):
            assert result.schema[name].dataType == df.schema[name].dataType
        assert {row["size"] for row in found} == {0, 1}
        assert {row["flag"] for row in found} == {False, True}
        assert {row["grade"] for row in found} == {None, "cook"}
        assert [row["word"] is None for row in found] == [row[6] is None for row in rows]
        assert encoded.channel.fingerprint == ls.aggregate(result, encoded, "job").channel
        words = ls.aggregate(result, workers["word"], "word")
        assert words.reports == sum(row[6] is not None for row in rows)
    twice = df.toDF(*(f"x{place // 2}" for place in range(len(df.columns))))
    with pytest.raises(LabelError, match="2 columns of the same name"):
        ls.release(twice, plain, "x1")
    with pytest.raises(InputError, match="holds no text, numbers"):
        ls.release(df, plain, "map")


def with_code(mechanism: ll.Mechanism, code: ColumnEncoding) -> ll.Mechanism:
    from dataclasses import replace

    return replace(mechanism, encoding=TableEncoding((code,)))


# --- counting -----------------------------------------------------------------------------------


@check
def reports_are_counted_exactly(here: Here) -> None:
    """Also where a task counted some rows before it died."""
    mechanism = ll.design(JOBS, ll.LIP("1"), method="safe-response")
    rows = [
        (["clerk", "nurse", "cook"][place % 7 % 3], 0.1 * place, Decimal(place) / 4)
        for place in range(100)
    ]
    df = here.spark.createDataFrame(rows, "job string, w double, o decimal(10,2)").repartition(3)

    def dies_late(batches: Any) -> Any:
        from pyspark import TaskContext

        task = TaskContext.get()
        yield from batches
        if task is not None and task.attemptNumber() == 0 and task.partitionId() == 1:
            raise RuntimeError("died at the end")

    reports = df.mapInArrow(dies_late, df.schema)
    found = ls.aggregate(reports, mechanism, "job", weights="w", offsets="o")
    labels = mechanism.table.outputs.labels
    assert found.counts == tuple(sum(job == label for job, _, _ in rows) for label in labels)
    assert found.weights is not None
    assert found.weights.sums == tuple(
        sum((Fraction(w) for job, w, _ in rows if job == label), Fraction(0)) for label in labels
    )
    assert found.weights.offset == sum((Fraction(o) for _, _, o in rows), Fraction(0))
    nobody = ls.aggregate(df.limit(0), mechanism, "job")
    assert nobody.reports == 0
    assert (nobody + found) == found

    changed = df.withColumn("job", F.lit("pilot"))
    with pytest.raises(InputError, match="not an output of the mechanism at column 'job': 'pilot'"):
        ls.aggregate(changed, mechanism, "job")
    with pytest.raises(InputError, match="not a finite number at column 'w'"):
        ls.aggregate(df.withColumn("w", F.lit(None).cast("double")), mechanism, "job", weights="w")
    with pytest.raises(InputError, match="'job' holds no numbers"):
        ls.aggregate(df, mechanism, "job", weights="job")
    counted = ls.counts(df.withColumn("w", F.lit(None).cast("double")), ["w", "job"])
    assert counted == Counter((None, job) for job, _, _ in rows)


# --- protecting ---------------------------------------------------------------------------------


@check
def columns_that_are_given_stay_and_are_used(here: Here) -> None:
    table = published_rows.sites(1200)
    df = here.spark.createDataFrame([tuple(row.values()) for row in table], list(table[0]))
    path = str(here.folder / "given")
    done = ls.protect(df, "code", ll.LIP("0.5"), secret="hiv", given="site", path=path, seconds=2)
    (column,) = done.protection.columns
    made = column.mechanism
    law = published_rows.law_of_given_file(json.loads(made.to_json()))
    found = published_rows.row_lifts(table, "hiv", ["site"], law)
    assert max(found.beyond.eps_lower, found.beyond.eps_upper) <= 0.5 + 1e-9
    safe = done.frame
    assert safe.columns == ["site", "code"]
    assert Counter(row["site"] for row in safe.collect()) == Counter(r["site"] for r in table)
    counted = ls.aggregate(safe, made)
    assert counted.reports == sum(column.counts.values()) == len(table)
    again = ls.release(df.drop("hiv"), made, path=str(here.folder / "again"))
    assert ls.aggregate(again, made).reports == len(table)
    other = df.drop("hiv").withColumn("site", F.lit("E"))
    with pytest.raises(InputError, match="nothing of this given value"):
        ls.release(other, made, path=str(here.folder / "never"))


@check
def a_secret_is_protected(here: Here) -> None:
    rows = [
        (place, secret, job, city)
        for place, (secret, job, city) in enumerate(
            40 * [("ill", "nurse", "x"), ("ill", "cook", "y"), ("well", "cook", "x")]
            + 40 * [("well", "clerk", "y"), ("well", None, "x"), ("ill", "clerk", "y")]
        )
    ]
    df = here.spark.createDataFrame(rows, "id long, health string, job string, city string")
    path = str(here.folder / "safe")
    notion = ll.ALIP(lower="1", upper="1/2")
    protected = ls.protect(df, "job", notion, secret="health", path=path, seconds=2)
    safe, done = protected.frame, protected.protection
    assert safe.columns == ["id", "job", "city"]
    assert done.dropped == ("health",)
    assert (done.rows, done.output) == (240, path)
    (column,) = done.columns
    mechanism = column.mechanism
    assert isinstance(mechanism, ll.Mechanism)
    context = mechanism.context
    assert isinstance(context, ll.Joint)
    truth = Counter((secret, "(missing)" if job is None else job) for _, secret, job, _ in rows)
    assert {
        (secret, value): count
        for secret, line in zip(context.secrets.labels, context.counts, strict=True)
        for value, count in zip(context.inputs.labels, line, strict=True)
        if count
    } == truth
    assert mechanism.certificate.holds
    assert mechanism.notion == notion
    found = {row["id"]: (row["job"], row["city"]) for row in safe.collect()}
    assert [found[place][1] for place in range(240)] == [row[3] for row in rows]
    released = Counter("(missing)" if job is None else job for job, _ in found.values())
    assert {label: count for label, count in column.counts.items() if count} == released

    # Job and city as one value: one mechanism, whose reports are counted column by column.
    parts = [ColumnSpec(name, notion, "health") for name in ("job", "city")]
    pair = ls.protect(df, parts, path=str(here.folder / "both"), seconds=2, together=True)
    (group,) = pair.protection.columns
    both, made = pair.frame, group.mechanism
    assert isinstance(made, ll.Mechanism)
    assert made.encoding is not None
    pairs = Counter((row["job"] or "(missing)", row["city"]) for row in both.collect())
    assert {label: count for label, count in group.counts.items() if count} == pairs
    assert both.columns == ["id", "job", "city"]
    assert ls.release(df, made, path=str(here.folder / "again")).columns == ["id", "job", "city"]
    with pytest.raises(InputError, match="several columns at once"):
        ls.release(df.drop("health"), made, "job")

    # The joint alone does not say which column holds its secrets: their values do, in all rows.
    unnamed = replace(mechanism, encoding=TableEncoding((ColumnEncoding("job"),)))
    whole = df.fillna("(missing)", ["job"]).withColumn("health", F.upper("health"))
    with pytest.raises(InputError, match="column 'health' has the values of the secret"):
        ls.release(whole, unnamed, path=str(here.folder / "never"))
    assert not (here.folder / "never").exists()
    kept = ls.release(whole, unnamed, keep=["health"], path=str(here.folder / "kept"))
    assert kept.columns == df.columns
    safer = ls.release(whole, unnamed, drop=["health"], path=str(here.folder / "safer"))
    assert safer.columns == ["id", "job", "city"]
    moved = df.withColumn("job", F.when(df.health == "ill", "cook").otherwise("nurse"))
    with pytest.raises(NotCertified, match="in this table of 240 rows, more than chance explains"):
        ls.release(moved, mechanism, path=str(here.folder / "never"), check=True)
    with pytest.raises(InputError, match="does not say what the secret 'health' of each row is"):
        ls.release(df.drop("health"), mechanism, path=str(here.folder / "never"), check=True)
    assert not (here.folder / "never").exists()
    assert ls.release(df, mechanism, path=str(here.folder / "ok"), check=True).count() == 240

    specs = [
        ColumnSpec("job", notion, "health", policy=Policy("refuse")),
        ColumnSpec("city", ll.LIP("1")),
    ]
    with pytest.raises(InputError, match="values of 'job' are missing"):
        ls.protect(df, specs)


@check
def what_is_counted_is_what_is_released(here: Here) -> None:
    rows = [
        (told, word) for told, word in zip("fm" * 60, ["ab", "AB", "ab", "cd"] * 30, strict=True)
    ]
    df = here.spark.createDataFrame(rows, "told string, word string")
    alike = df.selectExpr("told", "word collate UTF8_LCASE as word")
    assert ls.counts(alike, ["told", "word"]) == Counter(rows)
    drawn = df.withColumn("word", F.when(F.rand() < 0.5, "ab").otherwise("cd"))
    with pytest.raises(InputError, match="draws random values whenever it is computed"):
        ls.protect(drawn, "word", ll.LIP("1"), secret="told")


@check
def the_page_is_true(here: Here) -> None:
    names: dict[str, Any] = {"__name__": "__page__"}
    found = [each for each in blocks(DOCS / "howto" / "spark.md") if each.title.endswith(".py")]
    assert found
    for block in found:
        code = block.code().replace('"safe/', f'"{here.folder}/')
        exec(compile(code, str(block.page), "exec"), names)
    assert set(names["safe"].columns) == {"id", "job"}
    assert names["estimate"] is not None


# --- refusals -----------------------------------------------------------------------------------


@check
def what_is_refused(here: Here) -> None:
    df = constant_rows(here.spark)
    with pytest.raises(LabelError, match="no such column: 'Letter'; it has 'id', 'letter'"):
        ls.release(df, NOISY, "Letter")
    with pytest.raises(InputError, match="not a mechanism"):
        ls.release(df, NOISY.channel, "letter")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not a mechanism"):
        ls.aggregate(df, None, "letter")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not a Spark DataFrame"):
        ls.release(pa.table({"letter": ["a"]}), NOISY, "letter")

    class Remote(DataFrame):
        """A DataFrame of Spark Connect is one, and no classic one."""

    with pytest.raises(InputError, match="Spark Connect"):
        ls.release(object.__new__(Remote), NOISY, "letter")
    stream = here.spark.readStream.format("rate").load().withColumn("letter", F.lit("a"))
    with pytest.raises(InputError, match="foreachBatch"):
        ls.release(stream, NOISY, "letter")
    with pytest.raises(InputError, match="no guarantee"):
        ls.protect(df, "letter")
    with pytest.raises(InputError, match="no input for unseen values"):
        ls.release(df, NOISY, "letter", unseen="map")


def test_refusals_travel() -> None:
    """A refusal in the middle of anybody's traceback is found again, whole."""
    error = CellError("not a number", 3, "age", value="x\ny", remedy='say "12"')

    def fail() -> None:
        with refusals.send_refusals("age"):
            raise error

    with pytest.raises(refusals.WorkerRefusal) as told:
        fail()
    with pytest.raises(InputError) as heard, refusals.raise_refusals():
        raise RuntimeError(f"Job aborted.\n at java.lang\n{told.value}\n SQLSTATE: 38000")
    assert str(heard.value) == "not a number at column 'age': 'x\\ny'; say \"12\""
    lacks = pytest.raises(InputError, match="workers lacks a package: 'liftlock'")
    with lacks, refusals.raise_refusals():
        raise RuntimeError("ModuleNotFoundError: No module named 'liftlock'")
    with pytest.raises(ZeroDivisionError), refusals.raise_refusals():
        raise ZeroDivisionError


def test_where_the_marker_is_not_seen_nothing_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.0)
    batch, drawn = pa.RecordBatch.from_pydict({"letter": ["a"]}), []

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for each in batches:
            drawn.append(each)
            yield each

    task = workers.draw_where_shared(draw, str(tmp_path), "/safe")
    workers.leave_marker(str(tmp_path))
    released = task(iter([batch, batch]))
    assert next(released) == batch
    (tmp_path / workers.MARKER).unlink()
    with pytest.raises(refusals.WorkerRefusal) as told:
        next(released)
    assert len(drawn) == 1
    with pytest.raises(FileError, match="do not share") as heard, refusals.raise_refusals():
        raise RuntimeError(str(told.value))
    assert heard.value.where == "/safe"


def test_leftovers_need_a_session() -> None:
    with pytest.raises(InputError, match="no active Spark session"):
        ls.leftovers("safe")


def test_without_pyspark() -> None:
    with mock.patch.dict(sys.modules, {"pyspark": None}):
        for name in [name for name in sys.modules if name.startswith("liftlock.spark")]:
            del sys.modules[name]
        with pytest.raises(InputError, match=r"needs pyspark; pip install 'liftlock\[spark\]'"):
            __import__("liftlock.spark")
