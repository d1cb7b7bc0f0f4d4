"""Exports: what they hold and what they do not, and the sums over several servers."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import astuple
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import liftlock as ll
from liftlock.collect.store import Store
from liftlock.collect.store.export import (
    NOTE,
    Export,
    Line,
    merge_aggregates,
    shared_ids,
    write_aggregates,
    write_export,
)
from liftlock.collect.survey import Collection, Survey
from liftlock.collect.wire import Batch
from liftlock.errors import FileError, InputError
from tests.unit.collect.store.homes import DAY, HOMES, NEVER

NAME = "health.flu"


@pytest.fixture(scope="module")
def collection() -> Collection:
    survey = {
        "survey": "health",
        "questions": [
            {
                "name": "flu",
                "ask": "How are you?",
                "values": ["none", "cold", "flu"],
                "prior": {"none": 700, "cold": 200, "flu": 100},
                "guarantee": "lip=1",
            }
        ],
    }
    return Survey.from_data(survey).collections()[NAME]


def fill(store: Store, collection: Collection, reports: list[tuple[int, int]]) -> None:
    body = b"".join(id.to_bytes(16, "big") + bytes([output]) for id, output in reports)
    store.store(Batch(NAME, collection.default.digest, 1, body))


@pytest.fixture(params=HOMES)
def store(
    request: pytest.FixtureRequest, tmp_path: Path, collection: Collection
) -> Iterator[Store]:
    days = [DAY]
    opened = HOMES[request.param](tmp_path).open(lambda: days[-1], every=NEVER)
    first = collection.default
    opened.register(NAME, {first.digest: (first.outputs, first.file)}, {})
    fill(opened, collection, [(1, 0), (2, 1), (3, 1)])
    days.append(DAY + timedelta(days=1))
    fill(opened, collection, [(4, 2), (4, 2)])
    yield opened
    opened.shutdown()


def test_lines(store: Store, collection: Collection) -> None:
    digest = collection.default.digest
    export = Export.of_store(store, NAME)
    assert list(export.lines()) == [
        Line("2026-11-19", NAME, digest, "r1", 1),
        Line("2026-11-19", NAME, digest, "r2", 2),
        Line("2026-11-20", NAME, digest, "r3", 1),
    ]
    assert list(Export.of_collection(collection, store.history(NAME)).lines()) == list(
        export.lines()
    )


def test_files_say_the_same_and_that_it_is_no_answer(
    store: Store, collection: Collection, tmp_path: Path
) -> None:
    export = Export.of_store(store, NAME)
    for ending in ("csv", "json", "parquet"):
        write_export([export], tmp_path / f"counts.{ending}")
    with (tmp_path / "counts.csv").open() as file:
        rows = list(csv.DictReader(file))
    told = json.loads((tmp_path / "counts.json").read_text())
    table = pq.read_table(tmp_path / "counts.parquet")
    lines = list(export.lines())
    assert [(*row.values(),) for row in rows] == [(*map(str, astuple(line)),) for line in lines]
    assert [Line(**line) for line in told["lines"]] == lines
    assert [Line(**{**row, "day": row["day"].isoformat()}) for row in table.to_pylist()] == lines
    assert told["note"] == NOTE
    assert table.schema.metadata[b"liftlock.note"].decode() == NOTE
    for path in tmp_path.glob("counts.*"):
        content = path.read_bytes()
        assert (4).to_bytes(16, "big").hex().encode() not in content
        assert b"not_answers" in content
        for answer in (b"none", b"cold"):
            assert answer not in content


def test_an_ending_that_says_nothing_and_a_file_that_is_there(store: Store, tmp_path: Path) -> None:
    export = Export.of_store(store, NAME)
    with pytest.raises(FileError, match=r"no such kind of export .*'\.xlsx'; .*\.parquet"):
        write_export([export], tmp_path / "counts.xlsx")
    write_export([export], tmp_path / "counts.csv")
    with pytest.raises(FileError, match="exists already"):
        write_export([export], tmp_path / "counts.csv")
    write_export([], tmp_path / "counts.csv", replace=True)
    assert (tmp_path / "counts.csv").read_text().count("\n") == 1


def test_counts_of_another_mechanism_are_refused(collection: Collection) -> None:
    export = Export.of_collection(collection, {"2026-11-19": {"ab" * 32: (1,)}})
    with pytest.raises(InputError, match="counts of another mechanism"):
        list(export.lines())


def test_an_aggregate_estimates_what_the_counts_do(
    store: Store, collection: Collection, tmp_path: Path
) -> None:
    export = Export.of_store(store, NAME)
    first = collection.default
    (path,) = write_aggregates(export, tmp_path).values()
    assert path.name == f"{NAME}.{first.digest[:16]}.aggregate.json"
    read = ll.Aggregate.load(path)
    assert read == first.mechanism.aggregate(["r1", "r2", "r2", "r3"])
    counts = store.counts(NAME).mechanisms
    assert (
        first.mechanism.estimate(read).to_data() == collection.estimate(counts).estimate.to_data()
    )


def test_servers_add_up(collection: Collection, tmp_path: Path) -> None:
    paths: list[Path] = []
    copies: list[Path] = []
    streams = [
        [(1, 0), (2, 1), (3, 1)],
        [(4, 2), (5, 0)],
        [(3, 1), (5, 2), (6, 0)],  # one repeats its report here, another changes it
    ]
    for at, reports in enumerate(streams):
        folder = tmp_path / str(at)
        folder.mkdir()
        store = HOMES["sqlite"](folder).open(every=NEVER)
        first = collection.default
        store.register(NAME, {first.digest: (first.outputs, first.file)}, {})
        fill(store, collection, reports)
        paths += write_aggregates(Export.of_store(store, NAME), folder).values()
        store.backup(folder / "copy.sqlite")
        copies.append(folder / "copy.sqlite")
        store.shutdown()
    disjoint = merge_aggregates(paths[:2])
    assert disjoint == collection.default.mechanism.aggregate(["r1", "r2", "r2", "r3", "r1"])
    assert merge_aggregates(paths).reports == 8
    assert [each.ids for each in shared_ids(copies, NAME)] == [0, 1, 1]
    # The sum is too high by as many as are shared; there are six people.
    assert merge_aggregates(paths).reports - sum(e.ids for e in shared_ids(copies, NAME)) == 6


def test_copies_that_are_none(tmp_path: Path, collection: Collection) -> None:
    store = HOMES["sqlite"](tmp_path).open(every=NEVER)
    store.backup(tmp_path / "copy.sqlite")
    store.shutdown()
    (tmp_path / "text").write_text("nothing of this kind" * 100)
    copies = [tmp_path / "copy.sqlite", tmp_path / "missing.sqlite"]
    with pytest.raises(InputError, match="no such collection"):
        shared_ids(copies, NAME)
    with pytest.raises(FileError, match="no such copy"):
        shared_ids(copies[::-1], NAME)
    with pytest.raises(FileError, match="not a copy of a store"):
        shared_ids([tmp_path / "text", copies[0]], NAME)
    with pytest.raises(InputError, match="no aggregates"):
        merge_aggregates([])


def test_aggregates_of_other_mechanisms_are_not_added(
    store: Store, collection: Collection, tmp_path: Path
) -> None:
    (path,) = write_aggregates(Export.of_store(store, NAME), tmp_path).values()
    other = ll.design(ll.Prior.uniform(["r1", "r2", "r3", "r4"]), ll.LIP("1"))
    other.aggregate(["r1"]).save(tmp_path / "other.json")
    with pytest.raises(InputError, match="different mechanisms"):
        merge_aggregates([path, tmp_path / "other.json"])
