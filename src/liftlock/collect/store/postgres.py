"""Reports in PostgreSQL: one database for several server processes or machines.

Each process commits what waited during its last sync as one statement. Any of them folds: who
holds the lock counts what all have committed, in one transaction, so that nothing is counted twice
and nothing is lost, whichever process or server ends when. A commit that was never answered is
repeated: the ids make it count once.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from liftlock.collect.store.connection import Session
from liftlock.collect.store.fold import Row, Sifted, sift
from liftlock.collect.store.protocol import (
    Closed,
    Counts,
    Entry,
    MechanismsDiffer,
    OtherMechanism,
    Record,
    Stopped,
    StoreError,
    UnknownCollection,
    check_reports,
    width_of,
)
from liftlock.collect.store.sqlite import check_mechanisms
from liftlock.collect.store.writer import EVERY, Writer
from liftlock.errors import InputError, LiftlockError, extra

with extra("collect"):
    import psycopg
    from psycopg import sql
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

if TYPE_CHECKING:
    import asyncio

    from psycopg import Connection

    from liftlock.collect.wire import Batch

Result = TypeVar("Result")

LOCK = 0x11F7
"""The first key of the advisory lock under which a process folds or changes collections."""
AT_ONCE = 50_000
"""Reports that are folded in one transaction, about; and after so many it is time to fold."""
BACKLOG = 2
"""How many times as many reports may wait to be folded: then storing waits for the fold."""
PAUSE = 0.02
"""Seconds between two looks at how far another process has come with folding."""
SLOWEST = 5.0
"""Seconds that a group waits for the fold at most."""
DEAD = 10_000
"""Rows of the journal that were folded before their room is used again."""


# --- ids as PostgreSQL takes them ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ids:
    """Many ids, 16 bytes each."""

    raw: bytes


class _IdsDumper(Dumper):
    """Writes ids as an array of uuid without an object for each."""

    format = Format.BINARY
    oid = psycopg.adapters.types["uuid"].array_oid

    def dump(self, obj: Ids) -> bytes:
        """Return the array in PostgreSQL's binary form: its head, and each id after its length."""
        number = len(obj.raw) // 16
        element = psycopg.adapters.types["uuid"].oid
        records = np.empty(number, dtype=[("length", ">i4"), ("id", "V16")])
        records["length"] = 16
        records["id"] = np.frombuffer(obj.raw, dtype="V16")
        return np.array([1, 0, element, number, 1], dtype=">i4").tobytes() + records.tobytes()


psycopg.adapters.register_dumper(Ids, _IdsDumper)


# --- what is done in the database ---------------------------------------------------------------

_STORE = """
WITH given AS (
    SELECT * FROM unnest(%(mechanisms)b::int4[], %(bodies)b::bytea[])
    WITH ORDINALITY AS given (mechanism, body, place)
), accepted AS (
    SELECT place, mechanism.id AS mechanism, body
    FROM given
    JOIN mechanism ON mechanism.id = given.mechanism
    JOIN collection ON collection.id = mechanism.collection AND collection.state = 'open'
), stored AS (
    INSERT INTO journal (mechanism, day, body)
    SELECT mechanism, %(day)s::date, body FROM accepted ORDER BY place
)
SELECT coalesce(array_agg(place), '{}') FROM accepted
"""
"""A group: what is not accepted, as its collection was closed meanwhile, is not in the answer."""

_WAITING = """
SELECT journal.seq, journal.mechanism, journal.day::text, journal.body, mechanism.collection,
    mechanism.outputs
FROM journal LEFT JOIN mechanism ON mechanism.id = journal.mechanism
ORDER BY journal.seq
"""

_SEE = sql.SQL("""
WITH given AS (SELECT id FROM unnest(%(ids)s) AS given (id)),
fresh AS (INSERT INTO {seen} (id) SELECT id FROM given ON CONFLICT DO NOTHING RETURNING id)
SELECT id FROM given EXCEPT SELECT id FROM fresh
""")
"""Adds ids to those that were counted, and returns the ones that were there."""

_ADD = """
INSERT INTO counts (mechanism, day, output, n)
SELECT * FROM unnest(%s::int4[], %s::date[], %s::int4[], %s::int8[])
ON CONFLICT (mechanism, day, output) DO UPDATE SET n = counts.n + excluded.n
"""

_NOTE_FOLD = """
UPDATE collection SET repeated = repeated + %s, conflicts = conflicts + %s, revision = revision + 1
WHERE id = %s
"""

_FORGET = """
DELETE FROM journal USING unnest(%b::int8[]) AS folded (seq)
WHERE journal.seq = folded.seq AND journal.day = ANY(%s::date[])
"""

_COUNT_WAITING = """
SELECT coalesce(sum(octet_length(body) / (16 + CASE
    WHEN outputs <= 256 THEN 1 WHEN outputs <= 65536 THEN 2 ELSE 4 END)), 0)::int8,
    coalesce(min(seq), 0)
FROM journal JOIN mechanism ON mechanism.id = journal.mechanism
"""

_LOCK = "SELECT pg_advisory_xact_lock(%s, hashtext(current_schema()))"
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%s, hashtext(current_schema()))"


JOINED = 1_900
"""Bytes of batches that are joined in one row of the journal, so that it fits in a page."""


def today() -> date:
    """Return the day it is, in the one zone that all servers share."""
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class _Known:
    """A collection as this process last saw it."""

    id: int
    record: Record
    ids: dict[str, int]
    """The number of each mechanism in the database, by its digest."""


@dataclass
class _Calendar:
    """The day of what comes now: never before the last one, if the clock slips a bit.

    By more than a day it does not slip; it was wrong before, and was set right.
    """

    today: Callable[[], date]
    last: date = date.min

    def day(self) -> str:
        """Return the day."""
        now = self.today()
        if (self.last - now).days != 1:
            self.last = now
        return self.last.isoformat()


class PostgresStore:
    """A store in a PostgreSQL database: see `Store`."""

    def __init__(self, url: str, *, today: Callable[[], date] = today, **limits: Any) -> None:
        self.url = url
        self._calendar = _Calendar(today)
        self._known: dict[str, _Known] = {}
        self._control = Session(url)
        self._control.open()
        try:
            self._control.run(migrate)
            self._refresh()
            self._calendar.last = self._control.run(_last_day)
            self._folder = _Folder(url, self._refresh, **limits)
            journal = _Journal(self, self._folder, self._calendar)
            self._writer = Writer(lambda: journal, **limits)
        except BaseException:
            self._control.close()
            raise
        self._folder.start()

    # --- reports --------------------------------------------------------------------------------

    def submit(self, batch: Batch) -> asyncio.Future[None]:
        """Store a batch; the future is done when it is on disk, or has the refusal."""
        return self._writer.submit(batch)

    def store(self, batch: Batch) -> None:
        """Store a batch and wait until it is on disk."""
        self._writer.store(batch)

    def counts(self, name: str) -> Counts:
        """Return the counts of a collection, of everything that was answered before."""
        self._folder.fold_all()
        return self._control.run(lambda connection: _read_counts(connection, name))

    def history(self, name: str) -> dict[str, dict[str, tuple[int, ...]]]:
        """Return the counts by day and digest."""
        self._folder.fold_all()
        return self._control.run(lambda connection: _read_history(connection, name))

    # --- collections ----------------------------------------------------------------------------

    def register(
        self,
        name: str,
        mechanisms: Mapping[str, tuple[int, bytes]],
        settings: Mapping[str, Any],
    ) -> None:
        """Make a collection, or state it again: digest -> (outputs, file)."""
        check_mechanisms(name, mechanisms)
        self._change(lambda connection: _register(connection, name, mechanisms, settings))

    def collections(self) -> dict[str, Record]:
        """Return what is known of each collection, by its name."""
        self._refresh()
        return {name: known.record for name, known in self._known.items()}

    def mechanism(self, digest: str) -> bytes | None:
        """Return the file of a mechanism."""
        row = self._one("SELECT content FROM file WHERE sha256 = %s", digest)
        return None if row is None else bytes(row[0])

    def close(self, name: str) -> None:
        """Take no more reports of a collection, from whichever process."""

        def shut(connection: Connection[Any]) -> None:
            _hold_back(connection)
            done = connection.execute(
                "UPDATE collection SET state = 'closed' WHERE name = %s", (name,)
            )
            if not done.rowcount:
                raise UnknownCollection(name)

        self._change(shut)
        self._folder.fold_all()

    def erase(self, name: str) -> None:
        """Remove everything of a collection."""
        self._change(lambda connection: _erase(connection, name))

    # --- the database ---------------------------------------------------------------------------

    def backup(self, path: str | Path) -> None:
        """Write everything to a new SQLite file, which can be served like any store."""
        from liftlock.collect.store.copies import write_copy

        self._folder.fold_all()
        self._apart(lambda connection: write_copy(connection, Path(path)))

    def verify(self) -> list[str]:
        """Check the store, and return what is wrong with it, in words."""
        self._folder.fold_all()
        return self._apart(_verify)

    def shutdown(self) -> None:
        """Store what was accepted, fold it, and let go of the database; repeatable."""
        self._writer.stop()
        self._folder.stop()
        self._control.stop()

    def ready(self) -> dict[str, Any]:
        """Say how it goes, without waiting."""
        said = self._writer.ready()
        failure = said["failure"] or self._folder.failure
        return {
            **said,
            "writable": said["writable"] and not failure,
            "failure": failure,
            "lag": self._folder.lag(),
            "unfolded": self._folder.backlog,
        }

    # --- access ---------------------------------------------------------------------------------

    def add_token(self, name: str, role: str, hash: str) -> None:
        """Keep the hash of a token under a new name."""
        row = self._one(
            "INSERT INTO token (name, role, hash) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING RETURNING name",
            *(name, role, hash),
        )
        if row is None:
            raise InputError(
                "there is such a token", value=name, remedy="revoke it first, or use another name"
            )

    def find_token(self, hash: str) -> tuple[str, str] | None:
        """Return the name and the role of a token, by its hash."""
        row = self._one("SELECT name, role FROM token WHERE hash = %s", hash)
        return None if row is None else (row[0], row[1])

    def revoke_token(self, name: str) -> None:
        """Forget a token."""
        if self._one("DELETE FROM token WHERE name = %s RETURNING name", name) is None:
            raise InputError("no such token", value=name, remedy="check its name")

    def tokens(self) -> dict[str, str]:
        """Return the role of each token, by its name."""
        return dict(self._all("SELECT name, role FROM token ORDER BY name"))

    def note(self, who: str, what: str, collection: str = "") -> None:
        """Add a line to the audit trail."""
        self._one(
            "INSERT INTO trail (day, who, what, collection) VALUES (%s, %s, %s, %s) RETURNING seq",
            *(self._calendar.day(), who, what, collection),
        )

    def trail(self) -> list[Entry]:
        """Return the audit trail, oldest first."""
        rows = self._all("SELECT day::text, who, what, collection FROM trail ORDER BY seq")
        return [Entry(*row) for row in rows]

    # --- how ------------------------------------------------------------------------------------

    def _one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        return self._control.run(lambda to: to.execute(statement, values).fetchone())

    def _all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._control.run(lambda to: to.execute(statement, values).fetchall())

    def _apart(self, work: Callable[[Connection[Any]], Result]) -> Result:
        """Do something that takes long on a connection of its own."""
        session = Session(self.url)
        try:
            return session.run(work)
        finally:
            session.close()

    def _change(self, work: Callable[[Connection[Any]], Result]) -> Result:
        """Change collections in a transaction, while nobody folds or changes others."""

        def change(connection: Connection[Any]) -> Result:
            with connection.transaction():
                take_lock(connection)
                return work(connection)

        try:
            return self._control.run(change)
        finally:
            self._refresh()

    def _refresh(self) -> None:
        """Learn which collections there are; another process may have changed them."""
        self._known = self._control.run(_read_collections)

    def find(self, batch: Batch) -> tuple[int, int]:
        """Return the key of a batch's mechanism and its number of reports, or refuse it."""
        known = self._known.get(batch.collection)
        if known is None or batch.mechanism not in known.ids:
            # Another process may have made it a moment ago.
            self._refresh()
            known = self._known.get(batch.collection)
        if known is None:
            raise UnknownCollection(batch.collection)
        if known.record.state == "closed":
            raise Closed(batch.collection)
        outputs = known.record.mechanisms.get(batch.mechanism)
        if outputs is None:
            raise OtherMechanism(batch.mechanism, tuple(known.record.mechanisms))
        return known.ids[batch.mechanism], check_reports(batch, outputs)

    def refused(self, batch: Batch) -> Exception:
        """Say why the database did not take a batch that this process had let through."""
        self._refresh()
        try:
            self.find(batch)
        except InputError as error:
            return error
        return StoreError("the collection was changed meanwhile; send it again")


# --- storing ------------------------------------------------------------------------------------


class _Journal:
    """What the thread of the writer does: store groups of batches."""

    def __init__(self, store: PostgresStore, folder: _Folder, calendar: _Calendar) -> None:
        self._store = store
        self._folder = folder
        self._calendar = calendar
        self._session = Session(store.url)
        self._made = ""
        """The day that has a part of the journal."""

    def commit(self, batches: Sequence[Batch]) -> Sequence[Exception | None]:
        """Store a group in one transaction."""
        self._folder.wait()
        errors: list[Exception | None] = [None] * len(batches)
        rows: list[tuple[int, list[int]]] = []
        number = size = 0
        for place, batch in enumerate(batches):
            try:
                key, reports = self._store.find(batch)
            except InputError as error:
                errors[place] = error
                continue
            number += reports
            size += len(batch.reports)
            if rows and rows[-1][0] == key and size <= JOINED:
                rows[-1][1].append(place)
            else:
                rows.append((key, [place]))
                size = len(batch.reports)
        if rows:
            keys = [key for key, _ in rows]
            bodies = [b"".join([batches[place].reports for place in row]) for _, row in rows]
            accepted = self._session.run(lambda to: self._insert(to, keys, bodies))
            for at, (_, places) in enumerate(rows, start=1):
                if at not in accepted:
                    for place in places:
                        errors[place] = self._store.refused(batches[place])
            self._folder.add(number)
        return errors

    def _insert(
        self, connection: Connection[Any], keys: list[int], bodies: list[bytes]
    ) -> set[int]:
        day = self._calendar.day()
        if day != self._made:
            make_day(connection, day)
            self._made = day
        given = {"mechanisms": keys, "bodies": bodies, "day": day}
        row = connection.execute(_STORE, given).fetchone()
        assert row is not None
        return set(row[0])

    def fold(self) -> None:
        """Leave it to the thread that folds."""

    def unfolded(self) -> int:
        """Let the writer never fold."""
        return 0

    def probe(self) -> None:
        """See whether the database takes writes."""
        self._session.run(lambda to: to.execute("SELECT nextval('journal_seq')"))

    def release(self) -> None:
        """Disconnect."""
        self._session.stop()


def take_lock(connection: Connection[Any]) -> None:
    """Let no other process fold or change collections until the transaction ends."""
    connection.execute(_LOCK, (LOCK,))


def make_day(connection: Connection[Any], day: str) -> None:
    """Make room for the reports of a day."""
    until = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    with connection.transaction():
        # Two processes at once would both find nothing and both make it.
        connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LOCK + 1, day))
        connection.execute("SET LOCAL client_min_messages = warning")
        connection.execute(
            sql.SQL(
                "CREATE TABLE IF NOT EXISTS {} PARTITION OF journal FOR VALUES FROM ({}) TO ({})"
            ).format(_table_of(day), sql.Literal(day), sql.Literal(until))
        )


def _table_of(day: str) -> sql.Identifier:
    return sql.Identifier(f"journal_{day.replace('-', '')}")


# --- folding ------------------------------------------------------------------------------------


class _Folder:
    """Folds what every process has stored, in a thread of its own."""

    def __init__(
        self,
        url: str,
        tick: Callable[[], None],
        every: float = EVERY,
        at_most: int = AT_ONCE,
        **_: Any,
    ) -> None:
        self.failure = ""
        self.backlog = 0
        """Reports that wait to be folded, as far as this process knows."""
        self._every = every
        self._at_most = at_most
        self._tick = tick
        self._session = Session(url)
        self._one_at_a_time = threading.Lock()
        self._changed = threading.Condition()
        self._since: float | None = None
        """When the oldest report that is not folded yet was stored, or later."""
        self._marks: deque[tuple[float, int]] = deque(maxlen=1000)
        """When the journal ended with which row."""
        self._dead: dict[str, int] = {}
        self._stopping = False
        self._cleaned: date | None = None
        self._thread = threading.Thread(target=self._run, name="fold", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Fold what is there, and end; repeatable."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
            with suppress(LiftlockError):
                self.fold_all()
        self._session.stop()

    def add(self, number: int) -> None:
        """Note that so many reports were stored."""
        with self._changed:
            self.backlog += number
            if self._since is None:
                self._since = time.monotonic()
            if self.backlog >= self._at_most:
                self._changed.notify_all()

    def wait(self) -> None:
        """Let storing wait for folding, where that falls behind."""
        with self._changed:
            most = BACKLOG * self._at_most
            self._changed.wait_for(lambda: self.backlog < most or self._stopping, SLOWEST)

    def lag(self) -> float:
        """Return how many seconds the oldest report has waited that is not folded."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    def fold_all(self) -> None:
        """Fold everything that was stored before."""
        with self._one_at_a_time:
            last = self._session.run(_last_row)
            reached = 0
            while reached < last:
                folded = self._session.run(fold_some)
                if not folded.last:
                    break  # another process has folded the rest
                reached = folded.last
                self._note(folded)

    def _note(self, folded: _Folded) -> None:
        for day, rows in folded.rows.items():
            self._dead[day] = self._dead.get(day, 0) + rows
        with self._changed:
            self.backlog = max(0, self.backlog - folded.reports)
            if not self.backlog:
                self._since = None
            self._changed.notify_all()

    def _run(self) -> None:
        while not self._stopping:
            with self._changed:
                self._changed.wait_for(self._is_due, self._every)
            self._turn()

    def _is_due(self) -> bool:
        return self._stopping or (self.backlog >= self._at_most and not self.failure)

    def _turn(self) -> None:
        """Fold what waits, or see how far another process has come with it."""
        try:
            with self._one_at_a_time:
                self._marks.append((time.monotonic(), self._session.run(_last_row)))
                folded = self._session.run(fold_if_free)
                self._note(folded)
                waiting, first = self._session.run(_count_waiting)
                self._clean()
            self._tick()
            self.failure = ""
        except Stopped:
            return
        except LiftlockError as error:
            self.failure = str(error)
            return
        with self._changed:
            self.backlog = waiting
            self._since = self._time_before(first) if waiting else None
            self._changed.notify_all()
        if not folded.last and waiting >= self._at_most:
            time.sleep(PAUSE)

    def _time_before(self, row: int) -> float:
        """Return a time at which a row of the journal was not there yet."""
        while len(self._marks) > 1 and self._marks[1][1] < row:
            self._marks.popleft()
        return self._marks[0][0]

    def _clean(self) -> None:
        """Use the room of folded rows again, and remove days that are over."""
        for day, rows in list(self._dead.items()):
            if rows >= DEAD:
                vacuum = sql.SQL("VACUUM (TRUNCATE false) {}").format(_table_of(day))
                self._session.run(partial(_execute, vacuum))
                self._dead[day] = 0
        now = today()
        if self._cleaned != now:
            self._session.run(lambda to: drop_days(to, now))
            self._cleaned = now
            self._dead.clear()


@dataclass(frozen=True, slots=True)
class _Folded:
    """What one transaction has folded."""

    last: int
    """The number of the last row; 0: there was none."""
    reports: int
    rows: dict[str, int]
    """The rows by day."""


def fold_some(connection: Connection[Any]) -> _Folded:
    """Fold the oldest rows of the journal in one transaction."""
    with connection.transaction():
        take_lock(connection)
        return _fold(connection)


def fold_if_free(connection: Connection[Any]) -> _Folded:
    """Do the same, but nothing if another process does."""
    with connection.transaction():
        ((free,),) = connection.execute(_TRY_LOCK, (LOCK,)).fetchall()
        return _fold(connection) if free else _Folded(0, 0, {})


def _fold(connection: Connection[Any]) -> _Folded:
    waiting: dict[int, list[Row]] = {}
    folded: list[int] = []
    days: Counter[str] = Counter()
    reports = 0
    for seq, row, collection in _read_rows(connection):
        folded.append(seq)
        days[row.day] += 1
        if collection is not None:
            waiting.setdefault(collection, []).append(row)
            reports += len(row.body) // (16 + row.width)
        if reports >= AT_ONCE:
            break
    if not folded:
        return _Folded(0, 0, {})
    for collection, rows in waiting.items():
        _count(connection, collection, sift(rows))
    connection.execute(_FORGET, (folded, list(days)))
    return _Folded(folded[-1], reports, dict(days))


def _read_rows(connection: Connection[Any]) -> Iterator[tuple[int, Row, int | None]]:
    """Read the journal from its oldest row on, without the rest of it in memory.

    A row without a collection was stored while its collection was erased.
    """
    with connection.cursor("waiting", binary=True) as cursor:
        cursor.itersize = 512
        cursor.execute(_WAITING)
        for seq, mechanism, day, body, collection, outputs in cursor:
            width = 0 if outputs is None else width_of(outputs)
            yield seq, Row(mechanism, day, width, body), collection


def _count(connection: Connection[Any], collection: int, found: Sifted) -> None:
    """Count the reports of a collection whose ids are new to it."""
    see = _SEE.format(seen=sql.Identifier(f"seen_{collection}"))
    with connection.cursor(binary=True) as cursor:
        again = b"".join(row[0].bytes for row in cursor.execute(see, {"ids": Ids(found.ids)}))
    known = _places(found.ids, again)
    counted = found.count(known)
    if counted:
        connection.execute(_ADD, [list(column) for column in zip(*counted, strict=True)])
    connection.execute(_NOTE_FOLD, (found.repeated + len(known), found.conflicts, collection))


def _places(ids: bytes, some: bytes) -> list[int]:
    """Return the places of some ids among sorted ones."""
    # As text of one length they are compared byte by byte, which is how they are sorted.
    every, wanted = (np.frombuffer(each, dtype="S16") for each in (ids, some))
    places: list[int] = np.searchsorted(every, wanted).tolist()
    return places


def _last_row(connection: Connection[Any]) -> int:
    last: int
    ((last,),) = connection.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchall()
    return last


def _count_waiting(connection: Connection[Any]) -> tuple[int, int]:
    """Return how many reports wait, and the first row that does."""
    ((waiting, first),) = connection.execute(_COUNT_WAITING).fetchall()
    return waiting, first


def _execute(statement: sql.Composed, connection: Connection[Any]) -> None:
    connection.execute(statement)


def drop_days(connection: Connection[Any], now: date) -> None:
    """Remove the parts of the journal of days that are over, once they are empty."""
    # Another machine may still think that it is yesterday.
    before = f"journal_{now - timedelta(days=1):%Y%m%d}"
    parts = connection.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'journal'::regclass ORDER BY 1"
    ).fetchall()
    for (part,) in parts:
        if part >= before:
            continue
        table = sql.Identifier(part)
        with suppress(psycopg.errors.LockNotAvailable), connection.transaction():
            take_lock(connection)
            # Who stores is not held up: the next time there may be a moment for it.
            connection.execute("SET LOCAL lock_timeout = '100ms'")
            connection.execute("LOCK TABLE journal IN ACCESS EXCLUSIVE MODE")
            rest = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(table)
            if connection.execute(rest).fetchone() == (False,):
                connection.execute(sql.SQL("DROP TABLE {}").format(table))


# --- collections --------------------------------------------------------------------------------


def _read_collections(connection: Connection[Any]) -> dict[str, _Known]:
    known: dict[str, _Known] = {}
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        rows = connection.execute("SELECT id, name, state, settings FROM collection ORDER BY id")
        by_id = {}
        for key, name, state, settings in rows.fetchall():
            known[name] = _Known(key, Record(name, state, {}, json.loads(settings)), {})
            by_id[key] = known[name]
        mechanisms = connection.execute(
            "SELECT id, collection, sha256, outputs FROM mechanism ORDER BY id"
        )
        for key, collection, digest, outputs in mechanisms.fetchall():
            by_id[collection].record.mechanisms[digest] = outputs
            by_id[collection].ids[digest] = key
    return known


def _last_day(connection: Connection[Any]) -> date:
    days = "SELECT day FROM counts UNION ALL SELECT day FROM journal"
    found: date | None
    ((found,),) = connection.execute(f"SELECT max(day) FROM ({days}) AS days").fetchall()
    return found or date.min


def _find(connection: Connection[Any], name: str) -> tuple[int, dict[str, int]]:
    """Return the key of a collection, and the outputs of each of its mechanisms."""
    row = connection.execute("SELECT id FROM collection WHERE name = %s", (name,)).fetchone()
    if row is None:
        raise UnknownCollection(name)
    mechanisms = connection.execute(
        "SELECT sha256, outputs FROM mechanism WHERE collection = %s ORDER BY id", row
    )
    return row[0], dict(mechanisms.fetchall())


@contextmanager
def take_snapshot(connection: Connection[Any]) -> Iterator[None]:
    """Let everything that is read in the block be of one moment."""
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _read_counts(connection: Connection[Any], name: str) -> Counts:
    with take_snapshot(connection):
        key, mechanisms = _find(connection, name)
        numbers = {digest: [0] * outputs for digest, outputs in mechanisms.items()}
        rows = connection.execute(
            "SELECT sha256, output, sum(n)::int8 FROM counts"
            " JOIN mechanism ON mechanism.id = mechanism"
            " WHERE collection = %s GROUP BY sha256, output",
            (key,),
        )
        for digest, output, number in rows.fetchall():
            numbers[digest][output] = number
        rest = connection.execute(
            "SELECT repeated, conflicts, revision FROM collection WHERE id = %s", (key,)
        ).fetchone()
    assert rest is not None
    return Counts({digest: tuple(found) for digest, found in numbers.items()}, *rest)


def _read_history(connection: Connection[Any], name: str) -> dict[str, dict[str, tuple[int, ...]]]:
    days: dict[str, dict[str, list[int]]] = {}
    with take_snapshot(connection):
        key, mechanisms = _find(connection, name)
        rows = connection.execute(
            "SELECT day::text, sha256, output, n FROM counts"
            " JOIN mechanism ON mechanism.id = mechanism"
            " WHERE collection = %s ORDER BY day, mechanism",
            (key,),
        )
        for day, digest, output, number in rows.fetchall():
            found = days.setdefault(day, {}).setdefault(digest, [0] * mechanisms[digest])
            found[output] = number
    return {
        day: {digest: tuple(numbers) for digest, numbers in found.items()}
        for day, found in days.items()
    }


def _hold_back(connection: Connection[Any]) -> None:
    """Let groups that are being stored finish, and later ones wait for what is changed."""
    connection.execute("LOCK TABLE journal IN SHARE ROW EXCLUSIVE MODE")


def _register(
    connection: Connection[Any],
    name: str,
    mechanisms: Mapping[str, tuple[int, bytes]],
    settings: Mapping[str, Any],
) -> None:
    wanted = {digest: outputs for digest, (outputs, _) in mechanisms.items()}
    text = json.dumps(dict(settings))
    row = connection.execute(
        "UPDATE collection SET settings = %s WHERE name = %s RETURNING id", (text, name)
    ).fetchone()
    if row is None:
        row = connection.execute(
            "INSERT INTO collection (name, settings) VALUES (%s, %s) RETURNING id", (name, text)
        ).fetchone()
        assert row is not None
        connection.execute(make_seen(row[0]))
    elif _find(connection, name)[1] == wanted:
        return
    else:
        _hold_back(connection)
        _refuse_reports(connection, row[0], name)
        connection.execute("DELETE FROM mechanism WHERE collection = %s", row)
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO file (sha256, content) VALUES (%s, %b) ON CONFLICT DO NOTHING",
            [(digest, file) for digest, (_, file) in mechanisms.items()],
        )
        cursor.executemany(
            "INSERT INTO mechanism (collection, sha256, outputs) VALUES (%s, %s, %s)",
            [(row[0], digest, outputs) for digest, outputs in wanted.items()],
        )
    _drop_files(connection)


def make_seen(key: int) -> sql.Composed:
    """Return what makes the table of the ids of a collection."""
    return sql.SQL("CREATE TABLE {} (id uuid PRIMARY KEY)").format(sql.Identifier(f"seen_{key}"))


def _refuse_reports(connection: Connection[Any], key: int, name: str) -> None:
    """Refuse to change the mechanisms of a collection that has reports, folded or not."""
    waiting = "SELECT FROM journal JOIN mechanism ON mechanism.id = mechanism WHERE collection = %s"
    some = sql.SQL("SELECT EXISTS (SELECT FROM {}) OR EXISTS ({})").format(
        sql.Identifier(f"seen_{key}"), sql.SQL(waiting)
    )
    if connection.execute(some, (key,)).fetchone() == (True,):
        raise MechanismsDiffer(
            "a collection with reports of other mechanisms",
            value=name,
            remedy="give the survey another name, or erase the collection first",
        )


def _drop_files(connection: Connection[Any]) -> None:
    connection.execute("DELETE FROM file WHERE sha256 NOT IN (SELECT sha256 FROM mechanism)")


def _erase(connection: Connection[Any], name: str) -> None:
    key, _ = _find(connection, name)
    _hold_back(connection)
    own = "(SELECT id FROM mechanism WHERE collection = %s)"
    connection.execute(f"DELETE FROM journal WHERE mechanism IN {own}", (key,))
    connection.execute(f"DELETE FROM counts WHERE mechanism IN {own}", (key,))
    connection.execute("DELETE FROM mechanism WHERE collection = %s", (key,))
    connection.execute("DELETE FROM collection WHERE id = %s", (key,))
    connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(f"seen_{key}")))
    _drop_files(connection)


# --- the database -------------------------------------------------------------------------------


def migrations() -> list[str]:
    """Return the numbered changes, the first one first."""
    folder = files("liftlock.collect.store") / "migrations" / "postgres"
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(folder / name).read_text("utf-8") for name in found]


def migrate(connection: Connection[Any], changes: Sequence[str] | None = None) -> None:
    """Bring a database to the newest version, in one transaction."""
    changes = migrations() if changes is None else changes
    with connection.transaction():
        # Of several processes that start at once, one does it.
        take_lock(connection)
        found = _version(connection)
        if found > len(changes):
            raise InputError(
                "a store of a later version",
                where=connection.info.dbname,
                value=found,
                remedy=f"this liftlock knows versions up to {len(changes)};"
                " use the one that made it",
            )
        for change in changes[found:]:
            connection.execute(change.encode())
        if found < len(changes):
            connection.execute("DELETE FROM meta")
            connection.execute("INSERT INTO meta (version) VALUES (%s)", (len(changes),))


def _version(connection: Connection[Any]) -> int:
    """Return how many of the changes were made."""
    row = connection.execute(
        "SELECT to_regclass('meta') IS NOT NULL, to_regclass('collection') IS NOT NULL"
    ).fetchone()
    assert row is not None
    ours, others = row
    if not ours:
        if others:
            raise InputError(
                "a database of another program",
                where=connection.info.dbname,
                remedy="give the service a database of its own",
            )
        return 0
    row = connection.execute("SELECT version FROM meta").fetchone()
    return 0 if row is None else int(row[0])


def _verify(connection: Connection[Any]) -> list[str]:
    wrong: list[str] = []
    with take_snapshot(connection):
        for digest, content in connection.execute("SELECT sha256, content FROM file").fetchall():
            if hashlib.sha256(content).hexdigest() != digest:
                wrong.append(f"the file of mechanism {digest} is not what its digest says")
        collections = connection.execute("SELECT id, name FROM collection ORDER BY id").fetchall()
        for key, name in collections:
            wrong += _verify_collection(connection, key, name)
    return wrong


def _verify_collection(connection: Connection[Any], key: int, name: str) -> list[str]:
    wrong = []
    seen = sql.Identifier(f"seen_{key}")
    ids = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(seen)).fetchone()
    counted, beyond = connection.execute(
        "SELECT coalesce(sum(n), 0)::int8, count(*) FILTER (WHERE output >= outputs OR n < 1)"
        " FROM counts JOIN mechanism ON mechanism.id = mechanism WHERE collection = %s",
        (key,),
    ).fetchall()[0]
    assert ids is not None
    if ids[0] != counted:
        wrong.append(f"{name}: {counted:,} reports are counted, of {ids[0]:,} ids")
    if beyond:
        wrong.append(f"{name}: {beyond:,} counts are of no output, or of no report")
    return wrong
