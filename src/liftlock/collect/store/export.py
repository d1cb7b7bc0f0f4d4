"""What leaves a store: counts by day in common files, aggregates, and sums over several servers.

An export holds no id and no answer: it says how often each output of a mechanism was reported. The
aggregates of servers that took different reports add up to the aggregate of all. That two servers
did take different reports is for copies of their stores to tell, as these have the ids.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, fields
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liftlock._runtime.storage import open_atomically
from liftlock.errors import FileError, InputError, extra

if TYPE_CHECKING:
    from liftlock.collect.store.protocol import Store
    from liftlock.collect.survey import Collection
    from liftlock.estimate import Aggregate
    from liftlock.mechanism import Mechanism

NOTE = "how often each output of a mechanism was reported: these are not answers"
FORMAT = "liftlock.collect-export"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Line:
    """How often an output was reported on a day; the name of the column says what it is not."""

    day: str
    collection: str
    mechanism: str
    output: str
    reports_not_answers: int


@dataclass(frozen=True)
class Export:
    """The counts of a collection by day, with its mechanisms by their digests.

    >>> import liftlock as ll
    >>> coin = ll.design(ll.Prior.uniform(["no", "yes"]), ll.LIP("1"))
    >>> export = Export("health.flu", {"c0ffee": coin}, {"2026-11-19": {"c0ffee": (3, 5)}})
    >>> [(line.output, line.reports_not_answers) for line in export.lines()]
    [('no', 3), ('yes', 5)]
    >>> export.aggregates()["c0ffee"].counts
    (3, 5)
    """

    collection: str
    mechanisms: Mapping[str, Mechanism]
    days: Mapping[str, Mapping[str, Sequence[int]]]

    @classmethod
    def of_store(cls, store: Store, name: str) -> Export:
        """Read a collection of a store; what was answered before is in it."""
        from liftlock.mechanism import Mechanism

        days = store.history(name)
        mechanisms = {}
        for digest in store.collections()[name].mechanisms:
            file = store.mechanism(digest)
            assert file is not None, "a collection has its mechanisms"
            mechanisms[digest] = Mechanism.from_data(json.loads(file))
        return cls(name, mechanisms, days)

    @classmethod
    def of_collection(
        cls, collection: Collection, days: Mapping[str, Mapping[str, Sequence[int]]]
    ) -> Export:
        """Take the history of a collection whose survey is at hand."""
        made = {digest: each.mechanism for digest, each in collection.mechanisms.items()}
        return cls(collection.name, made, days)

    def lines(self) -> Iterator[Line]:
        """Return a line for each output that was reported, day by day."""
        for day, found in sorted(self.days.items()):
            for digest, counts in found.items():
                labels = self._mechanism(digest).reported.outputs.labels
                for label, number in zip(labels, counts, strict=True):
                    if number:
                        yield Line(day, self.collection, digest, str(label), number)

    def aggregates(self) -> dict[str, Aggregate]:
        """Return what the reports of each mechanism add up to over all days, by its digest."""
        from liftlock.estimate import Aggregate

        made = {}
        for digest, mechanism in self.mechanisms.items():
            every = [counts[digest] for counts in self.days.values() if digest in counts]
            if every:
                total = tuple(map(sum, zip(*every, strict=True)))
                made[digest] = Aggregate(mechanism.reported.fingerprint, total, sum(total))
        return made

    def _mechanism(self, digest: str) -> Any:
        found = self.mechanisms.get(digest)
        if found is None:
            raise InputError(
                "counts of another mechanism",
                where=self.collection,
                value=digest,
                remedy="export with the survey that the reports were collected for",
            )
        return found


# --- files --------------------------------------------------------------------------------------


def to_csv(exports: Iterable[Export]) -> bytes:
    """Return all lines as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in fields(Line)])
    writer.writerows(astuple(line) for export in exports for line in export.lines())
    return text.getvalue().encode()


def to_json(exports: Iterable[Export]) -> bytes:
    """Return all lines as JSON."""
    lines = [asdict(line) for export in exports for line in export.lines()]
    data = {"format": FORMAT, "version": VERSION, "note": NOTE, "lines": lines}
    return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode()


def to_parquet(exports: Iterable[Export]) -> bytes:
    """Return all lines as Parquet."""
    with extra("tables"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    lines = [line for export in exports for line in export.lines()]
    schema = pa.schema(
        {
            "day": pa.date32(),
            "collection": pa.string(),
            "mechanism": pa.string(),
            "output": pa.string(),
            "reports_not_answers": pa.int64(),
        },
        metadata={"liftlock.format": FORMAT, "liftlock.note": NOTE},
    )
    table = {name: [getattr(line, name) for line in lines] for name in schema.names}
    table["day"] = pa.array(table["day"], pa.string()).cast(pa.date32())
    written = pa.BufferOutputStream()
    pq.write_table(pa.table(table, schema=schema), written)
    content: bytes = written.getvalue().to_pybytes()
    return content


FORMS: Mapping[str, Callable[[Iterable[Export]], bytes]] = {
    ".csv": to_csv,
    ".json": to_json,
    ".parquet": to_parquet,
}
"""How counts are written, by the ending of the file."""


def write_export(exports: Iterable[Export], path: str | Path, *, replace: bool = False) -> None:
    """Write counts to a file; its ending says how."""
    place = Path(path)
    form = FORMS.get(place.suffix.lower())
    if form is None:
        raise FileError(
            "no such kind of export",
            where=str(path),
            value=place.suffix,
            remedy=f"end the name of the file with {', '.join(FORMS)}",
        )
    content = form(exports)
    _write(place, content, replace)


def write_aggregates(
    export: Export, folder: str | Path, *, replace: bool = False
) -> dict[str, Path]:
    """Write a `liftlock.aggregate` file for each mechanism; return where, by its digest."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = {}
    for digest, aggregate in export.aggregates().items():
        written[digest] = Path(folder) / f"{export.collection}.{digest[:16]}.aggregate.json"
        _write(written[digest], aggregate.to_json().encode() + b"\n", replace)
    return written


def _write(path: Path, content: bytes, replace: bool) -> None:
    if path.exists() and not replace:
        raise FileError("exists already", where=str(path), remedy="choose another name")
    with open_atomically(path, replace=replace) as stream:
        stream.write(content)


# --- several servers ----------------------------------------------------------------------------


def merge_aggregates(paths: Iterable[str | Path]) -> Aggregate:
    """Add up the aggregates of one mechanism from several servers.

    A report that two servers took is counted twice: the sum is right if their ids are disjoint.
    `shared_ids` tells, from copies of their stores.
    """
    from liftlock.estimate import Aggregate

    aggregates = [Aggregate.load(path) for path in paths]
    if not aggregates:
        raise InputError("no aggregates", remedy="name the files of at least one server")
    return sum(aggregates[1:], start=aggregates[0])


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many ids of a collection two servers have both counted."""

    one: str
    other: str
    ids: int


def shared_ids(copies: Sequence[str | Path], name: str) -> list[Overlap]:
    """Compare what servers have counted, by copies of their stores (`liftlock collect backup`).

    As no id stands beside its output, this says how many reports a sum counts twice, and not which
    outputs they said: the total of the sum is too high by that number, and no count by more.
    """
    return [
        Overlap(str(one), str(other), _count_shared(Path(one), Path(other), name))
        for one, other in combinations(copies, 2)
    ]


def _count_shared(one: Path, other: Path, name: str) -> int:
    with closing(sqlite3.connect("file::memory:", uri=True)) as connection:
        tables = []
        for schema, path in (("one", one), ("other", other)):
            if not path.is_file():
                raise FileError("no such copy", where=str(path), remedy="check the path")
            try:
                connection.execute(f"ATTACH ? AS {schema}", (f"{path.resolve().as_uri()}?mode=ro",))
                found = connection.execute(
                    f"SELECT id FROM {schema}.collection WHERE name = ?", (name,)
                ).fetchone()
            except sqlite3.Error as error:
                raise FileError(
                    "not a copy of a store",
                    where=str(path),
                    value=str(error),
                    remedy="make one by liftlock collect backup",
                ) from None
            if found is None:
                raise InputError(
                    "no such collection", where=str(path), value=name, remedy="check its name"
                )
            tables.append([f"{schema}.seen_{found[0]}", f"{schema}.fresh_{found[0]}"])
        # Each copy keeps its ids in two tables, and none in both.
        counted = (
            connection.execute(f"SELECT count(*) FROM {first} JOIN {second} USING (id)").fetchone()
            for first, second in product(*tables)
        )
        return sum(number for (number,) in counted)
