"""PostgreSQL itself: killed servers, lost answers, several processes, servers that do not fit."""

from __future__ import annotations

import asyncio
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import date, timedelta
from pathlib import Path

import psycopg
import pytest

from liftlock.collect.store import Closed, NotWritable, OtherMechanism, UnknownCollection
from liftlock.collect.store import connection as connecting
from liftlock.collect.store.connection import connect, place_of
from liftlock.collect.store.copies import fill_from_copy
from liftlock.collect.store.postgres import (
    PostgresStore,
    drop_days,
    fold_if_free,
    fold_some,
    make_day,
    migrate,
    take_lock,
)
from liftlock.collect.store.sqlite import SqliteStore
from liftlock.errors import FileError, InputError, LiftlockError
from tests.docs.pages import ROOT
from tests.postgres_cluster import Cluster, cluster, missing, shared_cluster
from tests.soak import sized
from tests.unit.collect.store.homes import DAY, NAME, NEVER, Mechanism, served

NUMBERED = Mechanism(1 << 16)
"""Each report names an output of its own: counted 2 is a replay, 0 a loss."""


@pytest.fixture
def url() -> str:
    return shared_cluster().create_schema()


@pytest.fixture
def own() -> Iterator[Cluster]:
    """A server that a test may kill."""
    if missing():
        pytest.skip(missing())
    with cluster() as made:
        yield made


def open_store(url: str, *, every: float = 0.05) -> PostgresStore:
    store = PostgresStore(url, every=every)
    store.register(NAME, served(NUMBERED), {})
    return store


def numbered(numbers: range) -> list[tuple[int, int]]:
    """Return reports whose ids are spread, each with an output of its own."""
    return [
        (number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128), number) for number in numbers
    ]


def once(store: PostgresStore, number: int) -> bool:
    """Tell whether each of the first outputs was counted once, and no other."""
    found = store.counts(NAME).mechanisms[NUMBERED.digest]
    return found[:number] == (1,) * number and not any(found[number:])


# --- servers that end -----------------------------------------------------------------------------


async def send_all(store: PostgresStore, batches: int, size: int, stop: asyncio.Event) -> int:
    """Send batches from eight clients, each until it is answered; return how many were repeated."""
    left = iter(range(batches))
    repeated = 0

    async def client() -> None:
        nonlocal repeated
        for at in left:
            batch = NUMBERED.batch(numbered(range(at * size, (at + 1) * size)))
            while True:
                try:
                    await store.submit(batch)
                    break
                except NotWritable:
                    repeated += 1
                    await asyncio.sleep(0.01)
            if at % 3 == 0:
                await store.submit(batch)

    await asyncio.gather(*(client() for _ in range(8)))
    stop.set()
    return repeated


@pytest.mark.soak
def test_a_server_that_is_killed_under_load(own: Cluster) -> None:
    kills = sized(3, 60)
    batches, size = 1600, 40
    store = open_store(own.create("killed"))
    chance = random.Random(1)

    async def run() -> int:
        stop = asyncio.Event()
        sending = asyncio.create_task(send_all(store, batches, size, stop))
        for _ in range(kills):
            await asyncio.sleep(chance.uniform(0.02, 0.2))
            await asyncio.to_thread(own.kill)
            await asyncio.sleep(0.02)
            own.start()
            with suppress(LiftlockError):
                await asyncio.to_thread(store.counts, NAME)
        await sending
        return kills

    assert asyncio.run(run()) == kills
    assert once(store, batches * size)
    assert store.verify() == []
    store.shutdown()


def test_a_server_that_stays_away(own: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "PATIENCE", 0.2)
    store = open_store(own.create("away"))
    own.kill()
    with pytest.raises(NotWritable, match="PostgreSQL does not answer at postgresql://postgres@"):
        store.store(NUMBERED.batch(numbered(range(10))))
    assert store.ready()["writable"] is False
    assert "does not answer" in store.ready()["failure"]
    own.start()
    end = time.monotonic() + 60
    while not store.ready()["writable"] and time.monotonic() < end:
        time.sleep(0.02)
    assert store.ready()["writable"]
    store.store(NUMBERED.batch(numbered(range(10))))
    assert once(store, 10)
    store.shutdown()


class Proxy:
    """Stands between a store and its server, and can lose the answer to what it forwards."""

    def __init__(self, own: Cluster) -> None:
        self.target = str(own.folder / ".s.PGSQL.5432")
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.lose_answers_to = b""
        self.lost = 0
        self.threads: list[threading.Thread] = []
        self._start(self._accept)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}?sslmode=disable&gssencmode=disable"

    def close(self) -> None:
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for thread in self.threads:
            thread.join(10)

    def _start(self, work: Callable[..., None], *given: socket.socket) -> None:
        self.threads.append(threading.Thread(target=work, args=given, daemon=True))
        self.threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.target)
                self._start(self._serve, client, server)

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        cut = threading.Event()

        def answer() -> None:
            with server, client, suppress(OSError):
                while data := server.recv(1 << 16):
                    if cut.is_set():
                        # The server has done it, and nobody is told.
                        self.lost += 1
                        break
                    client.sendall(data)
                client.shutdown(socket.SHUT_RDWR)

        self._start(answer)
        with suppress(OSError):
            while data := client.recv(1 << 20):
                if self.lose_answers_to and self.lose_answers_to in data:
                    self.lose_answers_to = b""
                    cut.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "statement", [b"INSERT INTO journal", b"COMMIT"], ids=["storing", "folding"]
)
def test_a_commit_whose_answer_is_lost(statement: bytes) -> None:
    server = shared_cluster()
    name = f"lost{len(statement)}"
    server.create(name)
    proxy = Proxy(server)
    store = open_store(proxy.url(name), every=NEVER)
    for at in range(0, 300, 100):
        proxy.lose_answers_to = statement
        store.store(NUMBERED.batch(numbered(range(at, at + 100))))
        store.counts(NAME)
    assert proxy.lost == 3
    assert once(store, 300)
    repeated = store.counts(NAME).repeated
    assert repeated == (300 if statement.startswith(b"INSERT") else 0)
    assert store.verify() == []
    store.shutdown()
    proxy.close()


# --- several at once ------------------------------------------------------------------------------

WRITER = """
import asyncio, json, sys
from liftlock.collect.store import NotWritable
from tests.unit.collect.store.test_postgres import NUMBERED, numbered, open_store

async def main(url, begin, end, size):
    store = open_store(url)
    print("ready", flush=True)
    for at in range(begin, end, size):
        await store.submit(NUMBERED.batch(numbered(range(at, at + size))))
        print(at, flush=True)
    await asyncio.to_thread(store.shutdown)

asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
"""


def start_writer(url: str, begin: int, end: int, size: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url, *map(str, (begin, end, size))],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.soak
def test_two_processes_of_which_one_is_killed(url: str) -> None:
    size, rounds = 20, sized(2, 40)
    end = 40 * size * rounds
    for turn in range(rounds):
        begin, stop = end * turn // rounds, end * (turn + 1) // rounds
        # Both send everything; what the killed one has said is stored, the other finds stored.
        pair = [start_writer(url, begin, stop, size) for _ in range(2)]
        first, second = pair
        assert first.stdout is not None
        answered = [first.stdout.readline() for _ in range(2 + 10 * (turn % 4))]
        first.kill()
        answered += first.stdout.readlines()
        said = {int(line) for line in answered if line.strip().isdigit()}
        assert said
        out, _ = second.communicate(timeout=60)
        assert second.returncode == 0
        assert len(out.split()) == 1 + (stop - begin) // size
        first.wait()
        first.stdout.close()
    with_all = open_store(url)
    assert once(with_all, end)
    assert with_all.counts(NAME).repeated > 0
    assert with_all.verify() == []
    with_all.shutdown()


def test_each_sees_what_another_changes(url: str) -> None:
    one, other = open_store(url, every=NEVER), open_store(url, every=NEVER)
    small = Mechanism(3)
    one.register("survey.new", served(small), {})
    other.store(small.batch([(1, 2)], "survey.new"))
    assert one.counts("survey.new").mechanisms == {small.digest: (0, 0, 1)}
    wider = Mechanism(5)
    one.register("survey.other", served(small), {})
    other.collections()
    one.register("survey.other", served(wider), {})
    with pytest.raises(OtherMechanism, match="does not use"):
        other.store(small.batch([(1, 2)], "survey.other"))
    other.store(wider.batch([(1, 4)], "survey.other"))
    one.close(NAME)
    with pytest.raises(Closed, match="closed"):
        other.store(NUMBERED.batch(numbered(range(5))))
    one.erase("survey.new")
    with pytest.raises(UnknownCollection, match=r"'survey\.new'"):
        other.store(small.batch([(2, 2)], "survey.new"))
    assert other.counts(NAME).total == 0
    one.shutdown()
    other.shutdown()


def test_closing_waits_for_what_is_being_stored(url: str) -> None:
    store = open_store(url, every=NEVER)
    answers: list[str] = []

    async def send() -> None:
        async def one(at: int) -> None:
            try:
                await store.submit(NUMBERED.batch(numbered(range(at, at + 1))))
                answers.append("stored")
            except Closed:
                answers.append("closed")

        sending = [asyncio.create_task(one(at)) for at in range(2000)]
        await asyncio.sleep(0.01)
        other = await asyncio.to_thread(open_store, url)
        await asyncio.to_thread(other.close, NAME)
        final = await asyncio.to_thread(lambda: other.counts(NAME).total)
        await asyncio.gather(*sending)
        assert final == (await asyncio.to_thread(store.counts, NAME)).total
        assert final == answers.count("stored")
        await asyncio.to_thread(other.shutdown)

    asyncio.run(send())
    assert len(answers) == 2000
    store.shutdown()


def test_two_that_fold_at_once(url: str) -> None:
    stores = [open_store(url, every=0.001) for _ in range(3)]
    for at in range(0, 3000, 10):
        stores[at % 3].store(NUMBERED.batch(numbered(range(at, at + 10))))
    for store in stores:
        assert once(store, 3000)
        store.shutdown()


def test_a_process_does_not_wait_for_another_one_that_folds(url: str) -> None:
    store = open_store(url, every=NEVER)
    store.store(NUMBERED.batch(numbered(range(10))))
    with connect(url) as one, connect(url) as other, one.transaction():
        take_lock(one)
        assert fold_if_free(other).last == 0
        assert store.ready()["unfolded"] == 10
    with connect(url) as other:
        assert fold_if_free(other).reports == 10
    assert once(store, 10)
    store.shutdown()


def test_the_lag_is_that_of_the_oldest_report(url: str) -> None:
    store = open_store(url, every=0.01)
    with connect(url) as one:
        with one.transaction():
            take_lock(one)
            for at in range(20):
                store.store(NUMBERED.batch(numbered(range(at, at + 1))))
                time.sleep(0.01)
            begun = time.monotonic()
            lag = store.ready()["lag"]
            assert lag >= 0.1
            assert store.ready()["unfolded"] > 0
        end = time.monotonic() + 60
        while store.ready()["unfolded"] and time.monotonic() < end:
            time.sleep(0.01)
        assert store.ready()["lag"] < lag + time.monotonic() - begun
    assert once(store, 20)
    store.shutdown()


# --- the same as SQLite ---------------------------------------------------------------------------


def test_the_same_stream_gives_the_same_as_sqlite(url: str, tmp_path: Path) -> None:
    chance = random.Random(3)
    day = [date(2026, 11, 1)]
    mechanisms = [Mechanism(3), Mechanism(300), Mechanism(70_000)]
    stores = (
        PostgresStore(url, today=lambda: day[-1], every=NEVER),
        SqliteStore(tmp_path / "store.sqlite", today=lambda: day[-1], every=NEVER),
    )
    for store in stores:
        for name in ("a.b", "a.c"):
            store.register(name, served(*mechanisms), {"name": name})
    for step in range(300):
        mechanism = chance.choice(mechanisms)
        reports = [
            (chance.randrange(4000) << 64, chance.randrange(mechanism.outputs))
            for _ in range(chance.randint(1, 60))
        ]
        batch = mechanism.batch(reports, chance.choice(["a.b", "a.c"]))
        if step % 40 == 0:
            day.append(day[-1] + timedelta(days=1))
        for store in stores:
            store.store(batch)
            if step % 29 == 0:
                store.counts("a.b")
    for name in ("a.b", "a.c"):
        ours, theirs = (store.counts(name) for store in stores)
        assert ours == theirs
        assert min(ours.total, ours.repeated, ours.conflicts) > 0
        assert stores[0].history(name) == stores[1].history(name)
        assert len(stores[0].history(name)) == 8
    assert stores[0].collections() == stores[1].collections()
    for store in stores:
        assert store.verify() == []
        store.shutdown()


def test_a_backup_is_a_store_in_a_file(url: str, tmp_path: Path) -> None:
    store = open_store(url, every=NEVER)
    store.add_token("Ada", "owner", "ab" * 32)
    store.note("Ada", "made", NAME)
    store.store(NUMBERED.batch(numbered(range(500))))
    store.backup(tmp_path / "copy.sqlite")
    with pytest.raises(FileError, match="exists"):
        store.backup(tmp_path / "copy.sqlite")
    copy = SqliteStore(tmp_path / "copy.sqlite", every=NEVER)
    assert copy.counts(NAME) == store.counts(NAME)
    assert copy.history(NAME) == store.history(NAME)
    assert copy.collections() == store.collections()
    assert copy.mechanism(NUMBERED.digest) == NUMBERED.file
    assert copy.find_token("ab" * 32) == ("Ada", "owner")
    assert copy.trail() == store.trail()
    assert copy.verify() == []
    # It goes on where the other one was: known ids are known, new ones are counted.
    copy.store(NUMBERED.batch(numbered(range(400, 600))))
    assert copy.counts(NAME).mechanisms[NUMBERED.digest][:600] == (1,) * 600
    copy.shutdown()
    store.shutdown()
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".new")] == []


def test_a_store_in_a_file_moves_into_a_database(url: str, tmp_path: Path) -> None:
    small = SqliteStore(tmp_path / "small.sqlite", every=NEVER)
    wide = Mechanism(70_000)
    small.register(NAME, served(NUMBERED, wide), {"least": 5})
    small.register("gone.soon", served(wide), {})
    small.erase("gone.soon")
    small.register("health.sleep", served(wide), {})
    small.add_token("Ada", "owner", "ab" * 32)
    small.note("Ada", "made", NAME)
    small.store(NUMBERED.batch(numbered(range(300))))
    small.store(wide.batch([(1, 69_999), (2, 0)], "health.sleep"))
    small.close("health.sleep")
    counts, history, known = small.counts(NAME), small.history(NAME), small.collections()
    trail = small.trail()
    small.backup(tmp_path / "copy.sqlite")
    small.shutdown()
    with closing(sqlite3.connect(tmp_path / "copy.sqlite")) as copy, copy:
        # As a server leaves it that was killed: a batch of known reports waits to be folded.
        copy.execute(
            "INSERT INTO journal (mechanism, day, body) SELECT min(id), '2026-11-18', ?"
            " FROM mechanism",
            (NUMBERED.batch(numbered(range(3))).reports,),
        )

    fill_from_copy(url, tmp_path / "copy.sqlite")
    store = PostgresStore(url, today=lambda: DAY, every=NEVER)
    found = store.counts(NAME)
    assert found.mechanisms == counts.mechanisms
    assert (counts.repeated, found.repeated) == (0, 3)
    assert store.history(NAME) == history
    assert store.collections() == known
    assert store.trail() == trail
    assert store.find_token("ab" * 32) == ("Ada", "owner")
    assert store.verify() == []
    store.store(NUMBERED.batch(numbered(range(200, 400))))
    assert store.counts(NAME).mechanisms[NUMBERED.digest][:401] == (1,) * 400 + (0,)
    store.register("survey.new", served(wide), {})
    store.note("Ada", "made", "survey.new")
    assert store.trail()[-1].collection == "survey.new"
    assert store.verify() == []
    with pytest.raises(InputError, match="the database has collections"):
        fill_from_copy(url, tmp_path / "copy.sqlite")
    store.shutdown()


def test_a_copy_that_is_none_leaves_the_database_empty(url: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("nothing of this kind" * 100)
    for name, words in (("missing", "no such copy"), ("text", "not a copy of a store")):
        with pytest.raises(FileError, match=words):
            fill_from_copy(url, tmp_path / name)
    store = PostgresStore(url)
    assert store.collections() == {}
    store.shutdown()


# --- the journal ----------------------------------------------------------------------------------


def test_days_that_are_over_are_removed_and_others_kept(url: str) -> None:
    day = [date(2026, 3, 1)]
    store = PostgresStore(url, today=lambda: day[-1], every=NEVER)
    store.register(NAME, served(NUMBERED), {})
    for at in range(3):
        day.append(date(2026, 3, 1 + at))
        store.store(NUMBERED.batch(numbered(range(at, at + 1))))
    assert parts(url) == ["journal_20260301", "journal_20260302", "journal_20260303"]
    store.counts(NAME)
    day.append(date(2026, 3, 4))
    store.store(NUMBERED.batch(numbered(range(3, 4))))
    with connect(url) as connection:
        drop_days(connection, date(2026, 3, 5))
    assert parts(url) == ["journal_20260304"]
    assert list(store.history(NAME)) == [f"2026-03-0{at}" for at in (1, 2, 3, 4)]
    assert once(store, 4)
    store.shutdown()


def parts(url: str) -> list[str]:
    with connect(url) as connection:
        rows = connection.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            " WHERE inhparent = 'journal'::regclass ORDER BY 1"
        )
        return [name for (name,) in rows.fetchall()]


def test_after_folding_no_id_stands_beside_its_output(url: str) -> None:
    store = open_store(url, every=NEVER)
    store.store(NUMBERED.batch(numbered(range(100))))
    store.counts(NAME)
    with connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM journal").fetchall() == [(0,)]
        assert connection.execute("SELECT count(*) FROM seen_1").fetchall() == [(100,)]
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND data_type LIKE '%time%'"
        ).fetchall()
    assert columns == []  # nothing finer than a day
    store.shutdown()


def test_rows_of_a_collection_that_is_gone_are_dropped(url: str) -> None:
    store = open_store(url, every=NEVER)
    with connect(url) as connection:
        make_day(connection, "2026-03-01")
        connection.execute(
            "INSERT INTO journal (mechanism, day, body) VALUES (99, '2026-03-01', %s)",
            (bytes(17),),
        )
        folded = fold_some(connection)
        assert (folded.reports, folded.rows) == (0, {"2026-03-01": 1})
        assert fold_some(connection).last == 0
    assert store.verify() == []
    store.shutdown()


def test_verify_says_what_is_wrong(url: str) -> None:
    store = open_store(url, every=NEVER)
    store.store(NUMBERED.batch(numbered(range(20))))
    store.counts(NAME)
    with connect(url) as connection:
        connection.execute("UPDATE counts SET n = 2 WHERE output = 7")
        connection.execute("UPDATE counts SET output = 70000 WHERE output = 8")
        connection.execute("UPDATE file SET content = 'other'")
    said = store.verify()
    assert f"{NAME}: 21 reports are counted, of 20 ids" in said
    assert f"{NAME}: 1 counts are of no output, or of no report" in said
    assert any("not what its digest says" in line for line in said)
    assert len(said) == 3
    store.shutdown()


# --- servers that do not fit ----------------------------------------------------------------------


def test_where_there_is_no_server(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot connect to PostgreSQL: .*start the server"):
        PostgresStore(f"postgresql://postgres@/postgres?host={tmp_path}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(InputError, match="cannot connect") as caught:
        PostgresStore(f"postgresql://ann:secret@127.0.0.1:{port}/collect")
    assert "secret" not in str(caught.value)
    assert f"ann@127.0.0.1:{port}/collect" in str(caught.value)


def test_what_is_no_address() -> None:
    with pytest.raises(InputError, match="not the address of a PostgreSQL database") as caught:
        PostgresStore("postgresql://ann:secret@host/db?colour=blue")
    assert "secret" not in str(caught.value)
    assert place_of("postgresql://ann:secret@host/db?colour=blue") == "postgresql://..."


def test_a_database_or_user_that_is_not_there() -> None:
    for address in (shared_cluster().url("nothing"), shared_cluster().url(user="nobody_at_all")):
        with pytest.raises(InputError, match=r"cannot connect .*does not exist"):
            PostgresStore(address)


def test_an_old_server(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "OLDEST", 99)
    with pytest.raises(InputError, match=r"PostgreSQL \d+ is too old .*use version 99 or newer"):
        PostgresStore(url)


def test_a_user_without_rights(url: str) -> None:
    own = shared_cluster()
    own.tell("drop role if exists guest; create role guest login")
    own.create("closed_to_guests")
    with pytest.raises(InputError, match=r"permission denied.*create database NAME owner USER"):
        PostgresStore(own.url("closed_to_guests", user="guest"))
    store = open_store(own.url("closed_to_guests"))
    store.shutdown()
    with pytest.raises(InputError, match=r"permission denied.*create database NAME owner USER"):
        PostgresStore(own.url("closed_to_guests", user="guest"))


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_does_not_sync(setting: str) -> None:
    if missing():
        pytest.skip(missing())
    with (
        cluster({setting: "off"}) as careless,
        pytest.raises(InputError, match=f"{setting} = off: what it says is stored may be"),
    ):
        PostgresStore(careless.url())


def test_a_database_that_takes_no_writes_or_no_unicode() -> None:
    own = shared_cluster()
    own.create("readonly")
    own.tell("alter database readonly set default_transaction_read_only = on")
    with pytest.raises(InputError, match="takes no writes"):
        PostgresStore(own.url("readonly"))
    own.tell("create database latin encoding 'LATIN1' template template0")
    with pytest.raises(InputError, match=r"not in UTF-8 .*'LATIN1'"):
        PostgresStore(own.url("latin"))


def test_synchronous_commit_is_on_whatever_the_server_says() -> None:
    own = shared_cluster()
    own.create("hasty")
    own.tell("alter database hasty set synchronous_commit = off")
    with connect(own.url("hasty")) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


# --- versions -------------------------------------------------------------------------------------


def test_a_database_of_another_program(url: str) -> None:
    with connect(url) as connection:
        connection.execute("CREATE TABLE collection (stamps text)")
    with pytest.raises(InputError, match="a database of another program"):
        PostgresStore(url)


def test_a_store_of_a_later_version(url: str) -> None:
    open_store(url).shutdown()
    with connect(url) as connection:
        connection.execute("UPDATE meta SET version = 7")
    with pytest.raises(InputError, match="a store of a later version"):
        PostgresStore(url)


def test_a_change_of_version_happens_as_a_whole(url: str) -> None:
    store = open_store(url)
    store.store(NUMBERED.batch(numbered(range(3))))
    with connect(url) as connection:
        first = "SELECT 1"
        with pytest.raises(psycopg.Error, match="no_such_table"):
            migrate(connection, [first, "ALTER TABLE token ADD note text; TABLE no_such_table"])
        assert connection.execute("SELECT version FROM meta").fetchone() == (1,)
        assert connection.execute("SELECT * FROM token").description is not None
        migrate(connection, [first, "ALTER TABLE token ADD note text"])
        assert connection.execute("SELECT version FROM meta").fetchone() == (2,)
    assert once(store, 3)
    store.shutdown()


def test_many_start_at_once_on_an_empty_database(url: str) -> None:
    failures: list[Exception] = []

    def start() -> None:
        try:
            open_store(url).shutdown()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
