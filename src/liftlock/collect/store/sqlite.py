"""The embedded store: one SQLite file, one connection, one thread.

A journal of whole batches takes what is answered; folding turns it into ids and counts, in one
transaction. That only one connection exists, in a process that alone has the file, is also why the
defect of SQLite 3.7.0 to 3.51.2 cannot occur: it needs two that write or checkpoint.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liftlock.collect.store.fold import Row, sift
from liftlock.collect.store.place import Place
from liftlock.collect.store.protocol import (
    ID,
    Closed,
    Counts,
    Entry,
    MechanismsDiffer,
    NotWritable,
    OtherMechanism,
    Record,
    State,
    UnknownCollection,
    check_reports,
    width_of,
)
from liftlock.collect.store.seen import FRESH, Seen
from liftlock.collect.store.sqlite_file import (
    APPLICATION,
    Connection,
    StandardConnection,
    migrate,
    transaction,
    version,
    write_copy,
)
from liftlock.collect.store.writer import Writer
from liftlock.errors import FileError, InputError

if TYPE_CHECKING:
    from liftlock.collect.wire import Batch

OLDEST = (3, 38, 0)
"""The first SQLite in which all that is used here is always there."""
SLICE = 8 << 20
"""Bytes of reports that are folded in one transaction."""
JOINED = 1 << 20
"""Bytes of batches that are joined in one row of the journal."""
ROWS = 64
"""Rows of the journal that are written in one step."""
CACHE = 24 << 10
"""KiB of pages kept in memory."""


def today() -> date:
    """Return the day it is, in the one zone that all servers share."""
    return datetime.now(UTC).date()


_SLICE = (
    "SELECT seq, mechanism, day, body FROM"
    " (SELECT *, sum(length(body)) OVER (ORDER BY seq) - length(body) AS before FROM journal)"
    " WHERE before < ? ORDER BY seq"
)


@dataclass(slots=True)
class _Collection:
    """What the thread knows of a collection, so that it need not ask the file for each batch."""

    key: int
    record: Record
    keys: dict[str, int]
    """The key of each mechanism."""
    seen: Seen
    counts: Counts | None = None


@dataclass(frozen=True, slots=True)
class _Tally:
    """What a fold found in the reports of one collection."""

    counted: list[tuple[int, str, int, int]]
    """Mechanism, day, output, how many."""
    repeated: int
    conflicts: int


class SqliteStore:
    """A store in a file; see `Store`."""

    def __init__(
        self,
        path: str | Path,
        *,
        connect: Callable[[Path], Connection] = StandardConnection,
        today: Callable[[], date] = today,
        fresh: int = FRESH,
        **limits: Any,
    ) -> None:
        self._writer = Writer(lambda: _Journal(Path(path), connect, today, fresh), **limits)
        journal = self._writer.journal
        assert isinstance(journal, _Journal)
        self._journal = journal
        self._ask = self._writer.ask
        self.path = journal.path

    def submit(self, batch: Batch) -> asyncio.Future[None]:
        """Store a batch; the future is done when it is on disk, or has the refusal."""
        return self._writer.submit(batch)

    def store(self, batch: Batch) -> None:
        """Store a batch and wait until it is on disk."""
        self._writer.store(batch)

    def register(
        self,
        name: str,
        mechanisms: Mapping[str, tuple[int, bytes]],
        settings: Mapping[str, Any],
    ) -> None:
        """Make a collection, or state it again."""
        check_mechanisms(name, mechanisms)
        self._ask(lambda: self._journal.register(name, mechanisms, json.dumps(dict(settings))))

    def counts(self, name: str) -> Counts:
        """Return the counts of a collection, of everything that was answered before."""
        return self._ask(lambda: self._folded().counts(name))

    def history(self, name: str) -> dict[str, dict[str, tuple[int, ...]]]:
        """Return the counts by day (ISO) and digest."""
        return self._ask(lambda: self._folded().history(name))

    def collections(self) -> dict[str, Record]:
        """Return what is known of each collection, by its name."""
        return self._ask(self._journal.records)

    def mechanism(self, digest: str) -> bytes | None:
        """Return the file of a mechanism."""
        return self._ask(lambda: self._journal.file(digest))

    def close(self, name: str) -> None:
        """Take no more reports of a collection; repeatable."""
        self._ask(lambda: self._folded().close(name))

    def erase(self, name: str) -> None:
        """Remove everything of a collection."""
        self._ask(lambda: self._folded().erase(name))

    def backup(self, path: str | Path) -> None:
        """Write a copy of the store to a new file."""
        self._ask(lambda: self._folded().backup(Path(path)))

    def verify(self) -> list[str]:
        """Check the store, and return what is wrong with it, in words."""
        return self._ask(lambda: self._folded().verify())

    def shutdown(self) -> None:
        """Store what was accepted, fold it, and let go of the file; repeatable."""
        self._writer.stop()

    def add_token(self, name: str, role: str, hash: str) -> None:
        """Keep the hash of a token under a new name."""
        self._ask(lambda: self._journal.add_token(name, role, hash))

    def find_token(self, hash: str) -> tuple[str, str] | None:
        """Return the name and the role of a token, by its hash."""
        return self._ask(lambda: self._journal.find_token(hash))

    def revoke_token(self, name: str) -> None:
        """Forget a token."""
        self._ask(lambda: self._journal.revoke_token(name))

    def tokens(self) -> dict[str, str]:
        """Return the role of each token, by its name."""
        return self._ask(self._journal.tokens)

    def note(self, who: str, what: str, collection: str = "") -> None:
        """Add a line to the audit trail."""
        self._ask(lambda: self._journal.note(who, what, collection))

    def trail(self) -> list[Entry]:
        """Return the audit trail, oldest first."""
        return self._ask(self._journal.trail)

    def ready(self) -> dict[str, Any]:
        """Say how it goes, without waiting."""
        return self._writer.ready()

    def _folded(self) -> _Journal:
        self._writer.fold()
        return self._journal


def check_mechanisms(name: str, mechanisms: Mapping[str, tuple[int, bytes]]) -> None:
    """Refuse a collection without mechanisms, or with one that is not what its digest says."""
    if not name or not mechanisms:
        raise InputError(
            "a collection without a name or without mechanisms",
            value=name,
            remedy="give it both",
        )
    for digest, (outputs, file) in mechanisms.items():
        if hashlib.sha256(file).hexdigest() != digest or outputs < 1:
            raise InputError(
                "not the file of this mechanism",
                where=name,
                value=digest,
                remedy="a mechanism is named by the SHA-256 of its file",
            )


class _Journal:
    """The database; everything here happens in the thread of the writer."""

    def __init__(
        self,
        path: Path,
        connect: Callable[[Path], Connection],
        today: Callable[[], date],
        fresh: int,
    ) -> None:
        if sqlite3.sqlite_version_info < OLDEST:
            raise InputError(
                "an old SQLite",
                value=sqlite3.sqlite_version,
                remedy=f"use a Python with SQLite {'.'.join(map(str, OLDEST))} or later",
            )
        self._place = Place(path)
        self.path = self._place.path
        self._today = today
        self._least = fresh
        try:
            self._place.create()
            self._connection = connect(self.path)
            try:
                self._open()
            except BaseException:
                with suppress(Exception):
                    self._connection.close()
                raise
        except BaseException:
            self._place.release()
            raise

    def _open(self) -> None:
        self._prepare()
        # What SQLite has just deleted must not come back: an old journal would undo everything.
        self._place.sync()
        migrate(self._connection, self.path)
        self._written = True
        ((day,),) = self._run(
            "SELECT max(day) FROM (SELECT max(day) AS day FROM counts"
            " UNION ALL SELECT max(day) FROM journal)"
        )
        self._day = date.fromisoformat(day) if day else date.min
        self._load()
        sizes = self._run("SELECT mechanism, sum(length(body)) FROM journal GROUP BY mechanism")
        self._unfolded: int = sum(size // (ID + self._widths[key]) for key, size in sizes)

    def _prepare(self) -> None:
        run = self._run
        # Nobody else can open the file, and the index of the WAL is kept in memory alone.
        run("PRAGMA locking_mode = EXCLUSIVE")
        ((mark,),) = run("PRAGMA application_id")
        ((tables,),) = run("SELECT count(*) FROM sqlite_schema")
        if mark != APPLICATION and (mark or tables):
            raise FileError(
                "a database of another program", where=str(self.path), remedy="choose another file"
            )
        if run("PRAGMA journal_mode = WAL") != [("wal",)]:
            raise NotWritable(f"cannot write {self.path} ahead; choose another disk")
        for setting in (
            "synchronous = FULL",
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
            "wal_autocheckpoint = 0",
            "secure_delete = ON",
            "temp_store = MEMORY",
            "foreign_keys = ON",
            f"cache_size = -{CACHE}",
        ):
            run(f"PRAGMA {setting}")

    def _run(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self._connection.run(sql, parameters)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._written = True
        with transaction(self._connection):
            yield

    # --- what is known ----------------------------------------------------------------------------

    def _load(self) -> None:
        """Read the collections again, after a change of them."""
        known: dict[str, _Collection] = {}
        names: dict[int, str] = {}
        for key, name, state, settings, counted in self._run(
            "SELECT id, name, state, settings, (SELECT coalesce(sum(n), 0) FROM counts"
            " JOIN mechanism ON mechanism.id = mechanism WHERE collection = collection.id)"
            " FROM collection ORDER BY id"
        ):
            record = Record(name, state, {}, json.loads(settings))
            known[name] = _Collection(key, record, {}, self._seen(key))
            known[name].seen.load(counted)
            names[key] = name
        self._widths: dict[int, int] = {}
        self._owners: dict[int, str] = {}
        for key, collection, digest, outputs in self._run(
            "SELECT id, collection, sha256, outputs FROM mechanism ORDER BY id"
        ):
            known[names[collection]].record.mechanisms[digest] = outputs
            known[names[collection]].keys[digest] = key
            self._widths[key] = width_of(outputs)
            self._owners[key] = names[collection]
        self._known = known

    def _seen(self, key: int) -> Seen:
        return Seen(self._connection, key, self._least)

    def _find(self, name: str) -> _Collection:
        found = self._known.get(name)
        if found is None:
            raise UnknownCollection(name)
        return found

    def records(self) -> dict[str, Record]:
        """Return what is known of each collection."""
        return {
            name: replace(
                known.record,
                mechanisms=dict(known.record.mechanisms),
                settings=dict(known.record.settings),
            )
            for name, known in self._known.items()
        }

    def file(self, digest: str) -> bytes | None:
        """Return the file of a mechanism."""
        found = self._run("SELECT content FROM file WHERE sha256 = ?", digest)
        return bytes(found[0][0]) if found else None

    # --- reports ----------------------------------------------------------------------------------

    def commit(self, batches: Sequence[Batch]) -> Sequence[Exception | None]:
        """Put batches on disk, in this order; return what refuses each."""
        errors: list[Exception | None] = []
        rows: list[tuple[int, list[bytes]]] = []
        accepted = size = 0
        for batch in batches:
            try:
                key, number = self._accept(batch)
            except InputError as error:
                errors.append(error)
                continue
            errors.append(None)
            accepted += number
            if rows and rows[-1][0] == key and size < JOINED:
                rows[-1][1].append(batch.reports)
                size += len(batch.reports)
            else:
                rows.append((key, [batch.reports]))
                size = len(batch.reports)
        if rows:
            self._append([(key, b"".join(bodies)) for key, bodies in rows])
            self._unfolded += accepted
        return errors

    def _accept(self, batch: Batch) -> tuple[int, int]:
        """Return the key of the mechanism and the number of reports, or refuse."""
        found = self._find(batch.collection)
        if found.record.state == "closed":
            raise Closed(batch.collection)
        outputs = found.record.mechanisms.get(batch.mechanism)
        if outputs is None:
            raise OtherMechanism(batch.mechanism, tuple(found.record.mechanisms))
        return found.keys[batch.mechanism], check_reports(batch, outputs)

    def _append(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Write rows of the journal: in one step, which commits, unless they are very many.

        Each step of SQLite lets other threads run, and then waits for them.
        """
        day = self._file_under().isoformat()
        steps = [rows[at : at + ROWS] for at in range(0, len(rows), ROWS)]
        if len(steps) == 1:
            self._written = True
            self._append_step(steps[0], day)
        else:
            with self._transaction():
                for step in steps:
                    self._append_step(step, day)

    def _append_step(self, rows: Sequence[tuple[int, bytes]], day: str) -> None:
        values = ", ".join(["(?, ?, ?)"] * len(rows))
        parameters = [value for key, body in rows for value in (key, day, body)]
        self._run(f"INSERT INTO journal (mechanism, day, body) VALUES {values}", *parameters)

    def _file_under(self) -> date:
        """Return the day of what comes now: never before the last one, if the clock slips a bit.

        By more than a day it does not slip; it was wrong before, and was set right.
        """
        now = self._today()
        if (self._day - now).days != 1:
            self._day = now
        return self._day

    def unfolded(self) -> int:
        """Return how many reports were committed and not counted yet."""
        return self._unfolded

    def fold(self) -> None:
        """Count everything that was committed, and let nothing else of it be left on disk."""
        if self._unfolded:
            while self._fold_slice():
                pass
            self._unfolded = 0
        self._clear()

    def _clear(self) -> None:
        """Move everything from the WAL to the file, and empty the WAL."""
        if self._written:
            ((busy, *_),) = self._run("PRAGMA wal_checkpoint(TRUNCATE)")
            assert not busy, "there is one connection, and it reads nothing now"
            self._written = False

    def _fold_slice(self) -> bool:
        """Fold the oldest rows of the journal; return whether there were any."""
        journal = self._run(_SLICE, SLICE)
        if not journal:
            return False
        rows: dict[str, list[Row]] = {}
        for _, key, day, body in journal:
            rows.setdefault(self._owners[key], []).append(Row(key, day, self._widths[key], body))
        before = {name: self._known[name].seen.sizes for name in rows}
        try:
            with self._transaction():
                tallies = {name: self._count(self._known[name], rows[name]) for name in rows}
                self._run("DELETE FROM journal WHERE seq <= ?", journal[-1][0])
        except BaseException:
            for name, sizes in before.items():
                self._known[name].seen.sizes = sizes
            raise
        for name, tally in tallies.items():
            self._advance(self._known[name], tally)
        return True

    def _count(self, collection: _Collection, rows: Sequence[Row]) -> _Tally:
        """Remember the ids of reports, and count those that are new."""
        found = sift(rows)
        known = collection.seen.add(found.ids)
        tally = _Tally(found.count(known), found.repeated + len(known), found.conflicts)
        self._run(
            "INSERT INTO counts (mechanism, day, output, n)"
            " SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)"
            " WHERE true"
            " ON CONFLICT (mechanism, day, output) DO UPDATE SET n = n + excluded.n",
            json.dumps(tally.counted),
        )
        self._run(
            "UPDATE collection SET repeated = repeated + ?, conflicts = conflicts + ?,"
            " revision = revision + 1 WHERE id = ?",
            tally.repeated,
            tally.conflicts,
            collection.key,
        )
        return tally

    def _advance(self, collection: _Collection, tally: _Tally) -> None:
        """Keep the counts in memory in step with the file."""
        before = collection.counts
        if before is None:
            return
        digests = {key: digest for digest, key in collection.keys.items()}
        changed: dict[str, list[int]] = {}
        for key, _, output, number in tally.counted:
            digest = digests[key]
            if digest not in changed:
                changed[digest] = list(before.mechanisms[digest])
            changed[digest][output] += number
        collection.counts = Counts(
            before.mechanisms | {digest: tuple(numbers) for digest, numbers in changed.items()},
            before.repeated + tally.repeated,
            before.conflicts + tally.conflicts,
            before.revision + 1,
        )

    # --- reading ----------------------------------------------------------------------------------

    def counts(self, name: str) -> Counts:
        """Return the counts of a collection."""
        known = self._find(name)
        if known.counts is None:
            known.counts = self._read_counts(known)
        return replace(known.counts, mechanisms=dict(known.counts.mechanisms))

    def _read_counts(self, known: _Collection) -> Counts:
        numbers = {digest: [0] * outputs for digest, outputs in known.record.mechanisms.items()}
        for digest, output, number in self._run(
            "SELECT sha256, output, sum(n) FROM counts JOIN mechanism ON mechanism.id = mechanism"
            " WHERE collection = ? GROUP BY sha256, output",
            known.key,
        ):
            numbers[digest][output] = int(number)
        (rest,) = self._run(
            "SELECT repeated, conflicts, revision FROM collection WHERE id = ?", known.key
        )
        return Counts({digest: tuple(found) for digest, found in numbers.items()}, *rest)

    def history(self, name: str) -> dict[str, dict[str, tuple[int, ...]]]:
        """Return the counts by day and digest."""
        known = self._find(name)
        days: dict[str, dict[str, list[int]]] = {}
        for day, digest, output, number in self._run(
            "SELECT day, sha256, output, n FROM counts JOIN mechanism ON mechanism.id = mechanism"
            " WHERE collection = ? ORDER BY day, mechanism",
            known.key,
        ):
            outputs = known.record.mechanisms[digest]
            days.setdefault(day, {}).setdefault(digest, [0] * outputs)[output] = number
        return {
            day: {digest: tuple(numbers) for digest, numbers in found.items()}
            for day, found in days.items()
        }

    # --- collections ------------------------------------------------------------------------------

    def register(
        self, name: str, mechanisms: Mapping[str, tuple[int, bytes]], settings: str
    ) -> None:
        """Make a collection, or state it again."""
        wanted = {digest: outputs for digest, (outputs, _) in mechanisms.items()}
        known = self._known.get(name)
        if known is not None and known.record.mechanisms != wanted and self._has_reports(known):
            raise MechanismsDiffer(
                "a collection with reports of other mechanisms",
                value=name,
                remedy="give the survey another name, or erase the collection first",
            )
        with self._transaction():
            if known is None:
                key = self._make(name, settings)
            else:
                key = known.key
                self._run("UPDATE collection SET settings = ? WHERE id = ?", settings, key)
            if known is None or known.record.mechanisms != wanted:
                self._set_mechanisms(key, mechanisms)
        self._load()
        self._clear()

    def _make(self, name: str, settings: str) -> int:
        self._run("INSERT INTO collection (name, settings) VALUES (?, ?)", name, settings)
        ((key,),) = self._run("SELECT id FROM collection WHERE name = ?", name)
        self._seen(key).create()
        return int(key)

    def _set_mechanisms(self, key: int, mechanisms: Mapping[str, tuple[int, bytes]]) -> None:
        self._run("DELETE FROM mechanism WHERE collection = ?", key)
        for digest, (outputs, file) in mechanisms.items():
            self._run("INSERT OR IGNORE INTO file (sha256, content) VALUES (?, ?)", digest, file)
            self._run(
                "INSERT INTO mechanism (collection, sha256, outputs) VALUES (?, ?, ?)",
                key,
                digest,
                outputs,
            )
        self._drop_files()

    def _drop_files(self) -> None:
        self._run("DELETE FROM file WHERE sha256 NOT IN (SELECT sha256 FROM mechanism)")

    def _has_reports(self, known: _Collection) -> bool:
        self.fold()
        return bool(known.seen.sizes.large or known.seen.sizes.small)

    def close(self, name: str) -> None:
        """Take no more reports of a collection."""
        self._set_state(self._find(name), "closed")

    def _set_state(self, known: _Collection, state: State) -> None:
        with self._transaction():
            self._run("UPDATE collection SET state = ? WHERE id = ?", state, known.key)
        known.record = replace(known.record, state=state)
        self._clear()

    def erase(self, name: str) -> None:
        """Remove everything of a collection."""
        key = self._find(name).key
        with self._transaction():
            self._known[name].seen.drop()
            self._run(
                "DELETE FROM counts WHERE mechanism IN"
                " (SELECT id FROM mechanism WHERE collection = ?)",
                key,
            )
            self._run("DELETE FROM mechanism WHERE collection = ?", key)
            self._drop_files()
            self._run("DELETE FROM collection WHERE id = ?", key)
        self._load()
        self._clear()

    # --- tokens and the trail ---------------------------------------------------------------------

    def add_token(self, name: str, role: str, hash: str) -> None:
        """Keep the hash of a token under a new name."""
        if self._run("SELECT 1 FROM token WHERE name = ? OR hash = ?", name, hash):
            raise InputError(
                "there is such a token", value=name, remedy="revoke it first, or use another name"
            )
        self._change("INSERT INTO token (name, role, hash) VALUES (?, ?, ?)", name, role, hash)

    def find_token(self, hash: str) -> tuple[str, str] | None:
        """Return the name and the role of a token, by its hash."""
        found = self._run("SELECT name, role FROM token WHERE hash = ?", hash)
        return (found[0][0], found[0][1]) if found else None

    def revoke_token(self, name: str) -> None:
        """Forget a token."""
        if name not in self.tokens():
            raise InputError("no such token", value=name, remedy="check its name")
        self._change("DELETE FROM token WHERE name = ?", name)

    def tokens(self) -> dict[str, str]:
        """Return the role of each token, by its name."""
        return dict(self._run("SELECT name, role FROM token ORDER BY name"))

    def note(self, who: str, what: str, collection: str) -> None:
        """Add a line to the audit trail."""
        self._change(
            "INSERT INTO trail (day, who, what, collection) VALUES (?, ?, ?, ?)",
            self._file_under().isoformat(),
            who,
            what,
            collection,
        )

    def trail(self) -> list[Entry]:
        """Return the audit trail, oldest first."""
        return [
            Entry(*row)
            for row in self._run("SELECT day, who, what, collection FROM trail ORDER BY seq")
        ]

    def _change(self, sql: str, *parameters: Any) -> None:
        self._written = True
        self._run(sql, *parameters)

    # --- the file ---------------------------------------------------------------------------------

    def probe(self) -> None:
        """Write something, to see whether that is possible again."""
        self._change(f"PRAGMA user_version = {version(self._connection)}")

    def backup(self, path: Path) -> None:
        """Write a copy to a new file, which appears when it is whole."""
        write_copy(self._connection, path)

    def verify(self) -> list[str]:
        """Check the file, and say what is wrong with it."""
        wrong = [str(line) for (line,) in self._run("PRAGMA integrity_check") if line != "ok"]
        wrong += [
            f"a row of {table} belongs to nothing"
            for table, *_ in self._run("PRAGMA foreign_key_check")
        ]
        wrong += [
            f"the file of mechanism {digest} is not what its digest says"
            for digest, content in self._run("SELECT sha256, content FROM file")
            if hashlib.sha256(content).hexdigest() != digest
        ]
        wrong += [
            f"{name}: output {output} is counted, an output that its mechanism does not have"
            for name, output in self._run(
                "SELECT name, output FROM counts JOIN mechanism ON mechanism.id = mechanism"
                " JOIN collection ON collection.id = collection"
                " WHERE output NOT BETWEEN 0 AND outputs - 1 OR n < 1"
            )
        ]
        for name, known in self._known.items():
            ids = known.seen.count()
            ((counted,),) = self._run(
                "SELECT coalesce(sum(n), 0) FROM counts WHERE mechanism IN"
                " (SELECT id FROM mechanism WHERE collection = ?)",
                known.key,
            )
            if ids != counted:
                wrong.append(f"{name}: {counted:,} reports are counted, of {ids:,} ids")
        return wrong

    def release(self) -> None:
        """Let go of the file."""
        try:
            self._connection.close()
        finally:
            self._place.release()
