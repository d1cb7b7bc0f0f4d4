"""The embedded store: its file, byte by byte, and what happens to it."""

from __future__ import annotations

import asyncio
import os
import random
import re
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from liftlock.collect.store import Busy, NotWritable, open_store
from liftlock.collect.store import sqlite_file as embedded
from liftlock.collect.store.place import InUse, refuse_network
from liftlock.collect.store.sqlite import SqliteStore
from liftlock.collect.store.sqlite_file import migrations, statements
from liftlock.errors import FileError
from tests.unit.collect.store.disk import Disk
from tests.unit.collect.store.homes import NAME, NEVER, Mechanism, SqliteHome, served, spread

LARGE = Mechanism(70_000)
"""Its outputs take 4 bytes: none comes by chance behind the id of its report."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path, every=NEVER)
    opened.register(NAME, served(LARGE), {})
    yield opened
    opened.shutdown()


def on_disk(path: Path) -> bytes:
    """Return every byte of every file in the folder."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.iterdir()))


# --- byte by byte ---------------------------------------------------------------------------------


def plant(store: SqliteStore, seed: int) -> list[bytes]:
    """Send reports in batches of every size; return each as it was sent, id and output."""
    chance = random.Random(seed)
    planted: list[bytes] = []
    for size in chance.sample([1, 2, 3, 30, 100, 300, 1000, 3000], 5):
        batch = LARGE.batch(
            (chance.getrandbits(128), chance.randrange(LARGE.outputs)) for _ in range(size)
        )
        planted += [batch.reports[at : at + 20] for at in range(0, len(batch.reports), 20)]
        store.store(batch)
        if chance.random() < 0.3:
            store.counts(NAME)
    return planted


def pieces(content: bytes, wanted: list[bytes]) -> int:
    """Count which of the strings, all of one length, occur."""
    size = len(wanted[0])
    found = {content[at : at + size] for at in range(len(content) - size + 1)}
    return sum(one in found for one in wanted)


@pytest.mark.parametrize("seed", range(3))
def test_once_folded_no_id_stands_beside_its_output(path: Path, seed: int) -> None:
    store = SqliteStore(path, every=NEVER)
    store.register(NAME, served(LARGE), {})
    store.counts(NAME)
    planted = plant(store, seed)
    store.store(LARGE.batch([(1, 69_999)]))
    assert (1).to_bytes(16, "big") + (69_999).to_bytes(4, "little") in on_disk(path)
    store.counts(NAME)
    left = on_disk(path)
    assert pieces(left, [report[:16] for report in planted[:500]]) == len(planted[:500])
    assert pieces(left, planted) == 0
    assert (1).to_bytes(16, "big") + (69_999).to_bytes(4, "little") not in left
    assert Path(f"{path}-wal").stat().st_size == 0
    store.shutdown()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert pieces(on_disk(path), planted) == 0


def test_after_a_kill_too(tmp_path: Path) -> None:
    disk = Disk()
    path = tmp_path / "store.sqlite"
    store = SqliteStore(path, connect=disk.connect, every=NEVER)
    store.register(NAME, served(LARGE), {})
    planted = plant(store, 7)
    store.store(LARGE.batch([(1, 69_999)]))
    disk.kill()
    with suppress(NotWritable):
        store.shutdown()
    store = SqliteStore(path, connect=disk.connect, every=NEVER)
    left = b"".join(bytes(file.now) for file in disk.files.values())
    assert pieces(left, [report[:16] for report in planted]) == len(planted)
    assert pieces(left, planted) == 0
    store.shutdown()


def test_after_a_kill_between_the_fold_and_the_end_of_the_wal(tmp_path: Path) -> None:
    disk = Disk()
    path = tmp_path / "store.sqlite"
    store = SqliteStore(path, connect=disk.connect, every=NEVER)
    store.register(NAME, served(LARGE), {})
    planted = plant(store, 7)
    store._ask(store._journal._fold_slice)
    disk.kill()
    with suppress(NotWritable):
        store.shutdown()

    def left() -> bytes:
        return b"".join(bytes(file.now) for file in disk.files.values())

    assert pieces(left(), planted) > 0
    store = SqliteStore(path, connect=disk.connect, every=NEVER)
    assert pieces(left(), planted) == 0
    assert store.counts(NAME).total == len(planted)
    store.shutdown()


def test_erasing_leaves_no_byte(store: SqliteStore, path: Path) -> None:
    store.register("another", served(Mechanism(3)), {})
    store.store(Mechanism(3).batch([(5, 1)], "another"))
    planted = plant(store, 1)
    store.counts(NAME)
    plant(store, 2)
    store.erase(NAME)
    left = on_disk(path)
    assert pieces(left, [report[:16] for report in planted]) == 0
    for secret in (NAME.encode(), LARGE.file, LARGE.digest.encode()):
        assert secret not in left
    assert (5).to_bytes(16, "big") in left
    assert store.verify() == []


def test_what_is_stored_of_a_report_is_in_two_tables(store: SqliteStore, path: Path) -> None:
    store.store(LARGE.batch([(1 << 100, 9)]))
    store.shutdown()
    with sqlite3.connect(path) as look:
        rows = {
            name: look.execute(f"SELECT * FROM {name}").fetchall()
            for (name,) in look.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
    look.close()
    assert rows["seen_1"] == rows["journal"] == rows["trail"] == rows["token"] == []
    assert rows["fresh_1"] == [((1 << 100).to_bytes(16, "big"),)]
    ((mechanism, day, output, n),) = rows["counts"]
    assert (mechanism, output, n) == (1, 9, 1)
    assert len(day) == len("2026-11-19")
    assert set(rows) == {
        "collection",
        "counts",
        "file",
        "fresh_1",
        "journal",
        "mechanism",
        "seen_1",
        "sqlite_sequence",
        "token",
        "trail",
    }


# --- one process ----------------------------------------------------------------------------------


def test_a_second_store_on_the_file_is_refused(store: SqliteStore, path: Path) -> None:
    with pytest.raises(InUse, match=rf"in use .*store\.sqlite: {os.getpid()}; stop that server"):
        SqliteStore(path)
    link = path.with_name("link.sqlite")
    link.symlink_to(path)
    with pytest.raises(InUse, match="in use"):
        SqliteStore(link)
    store.store(LARGE.batch([(1, 1)]))
    assert store.counts(NAME).total == 1


def test_no_other_program_can_open_it_meanwhile(store: SqliteStore, path: Path) -> None:
    look = sqlite3.connect(path, timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        look.execute("SELECT count(*) FROM counts")
    look.close()


def test_a_program_that_has_it_open_is_named(path: Path) -> None:
    SqliteStore(path).shutdown()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(FileError, match="another program has the store open"):
        SqliteStore(path)
    other.close()
    SqliteStore(path).shutdown()


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_only_its_owner_may_read_it(store: SqliteStore, path: Path) -> None:
    store.store(LARGE.batch([(1, 1)]))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(["store.sqlite", "store.sqlite-wal", "store.sqlite.lock"], 0o600)


MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 0:30 / /mnt/office rw shared:9 - nfs4 office:/ rw
41 22 0:31 / /mnt/with\\040blank rw - cifs //office/x rw
42 40 254:1 / /mnt/office/local rw - xfs /dev/vdb rw
43 22 0:32 / /mnt/home rw - fuse.sshfs me@office: rw
44 22 0:33 / /tmp/ram rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("/mnt/office/x.sqlite", "nfs4"),
        ("/mnt/with blank/deep/x.sqlite", "cifs"),
        ("/mnt/home/x.sqlite", "fuse.sshfs"),
        ("/mnt/office/local/x.sqlite", ""),
        ("/mnt/office2/x.sqlite", ""),
        ("/tmp/ram/x.sqlite", ""),
    ],
)
def test_disks_of_other_machines_are_refused(tmp_path: Path, where: str, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    if kind:
        with pytest.raises(FileError, match=rf"a network disk \({kind}\) at .*; .*PostgreSQL"):
            refuse_network(Path(where), mounts)
    else:
        refuse_network(Path(where), mounts)
    refuse_network(Path(where), tmp_path / "no such file")


def test_what_is_no_store_is_refused_and_left_alone(path: Path) -> None:
    path.write_text("name,count\nflu,3\n" * 100)
    with pytest.raises(FileError, match="not a store, or damaged"):
        SqliteStore(path)
    assert path.read_text() == "name,count\nflu,3\n" * 100
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE people (name TEXT)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(FileError, match="a database of another program"):
        SqliteStore(path)
    assert path.read_bytes() == before
    for where in (path.parent, path.parent / "missing" / "store.sqlite"):
        with pytest.raises(FileError, match=r"a folder|no such folder"):
            open_store(where)
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]


# --- full, read-only, busy ------------------------------------------------------------------------


def test_a_full_disk_refuses_and_the_store_goes_on_when_there_is_space(tmp_path: Path) -> None:
    disk = Disk()
    store = SqliteStore(tmp_path / "store.sqlite", connect=disk.connect, every=0.02)
    store.register(NAME, served(LARGE), {})
    store.store(LARGE.batch([(1, 1)]))
    assert store.counts(NAME).total == 1
    disk.room = 0
    for _ in range(3):
        with pytest.raises(NotWritable, match="is full; make space"):
            store.store(LARGE.batch((at, 2) for at in range(2, 1000)))
    said = store.ready()
    assert not said["writable"]
    assert "is full" in said["failure"]
    assert store.counts(NAME).total == 1
    disk.room = None
    # Nobody need send anything: it tries by itself.
    until(lambda: store.ready()["writable"])
    store.store(LARGE.batch((at, 2) for at in range(2, 1000)))
    assert store.counts(NAME).mechanisms[LARGE.digest][:3] == (0, 1, 998)
    store.shutdown()


def test_a_disk_that_fills_between_answer_and_fold(tmp_path: Path) -> None:
    disk = Disk()
    store = SqliteStore(tmp_path / "store.sqlite", connect=disk.connect, every=NEVER)
    store.register(NAME, served(LARGE), {})
    store.store(LARGE.batch((at, 2) for at in range(1000)))
    disk.room = sum(len(file.now) for file in disk.files.values())
    with pytest.raises(NotWritable, match="full"):
        store.counts(NAME)
    assert store.ready()["unfolded"] == 1000
    with pytest.raises(NotWritable, match="full"):
        store.store(LARGE.batch([(1000, 2)]))
    assert not store.ready()["writable"]
    disk.room = None
    assert store.counts(NAME).total == 1000
    assert store.ready()["writable"]
    assert store.verify() == []
    store.shutdown()


def test_a_fold_that_fails_is_forgotten(tmp_path: Path) -> None:
    disk = Disk()
    store = SqliteStore(tmp_path / "store.sqlite", connect=disk.connect, every=NEVER, fresh=9)
    store.register(NAME, served(LARGE), {})
    store.store(LARGE.batch((spread(at), 1) for at in range(300)))
    assert store.counts(NAME).total == 300
    seen = store._journal._known[NAME].seen
    before = seen.sizes
    assert before.small
    assert before.large
    store.store(LARGE.batch((spread(at), 2) for at in range(200, 600)))
    for room in (0, 6_000, 12_000):
        disk.room = sum(len(file.now) for file in disk.files.values()) + room
        with pytest.raises(NotWritable, match="full"):
            store.counts(NAME)
        assert seen.sizes == before
    disk.room = None
    counts = store.counts(NAME)
    assert counts.mechanisms[LARGE.digest][:3] == (0, 300, 300)
    assert counts.repeated == 100
    assert seen.sizes.small + seen.sizes.large == seen.count() == 600
    store.shutdown()


def test_a_store_opens_on_a_full_disk_and_folds_when_there_is_space(tmp_path: Path) -> None:
    disk = Disk()
    store = SqliteStore(tmp_path / "store.sqlite", connect=disk.connect, every=NEVER)
    store.register(NAME, served(LARGE), {})
    store.store(LARGE.batch((spread(at), 2) for at in range(1000)))
    disk.kill()
    with suppress(NotWritable):
        store.shutdown()
    disk.room = 0
    store = SqliteStore(tmp_path / "store.sqlite", connect=disk.connect, every=0.02)
    assert not store.ready()["writable"]
    assert store.ready()["unfolded"] == 1000
    assert list(store.collections()) == [NAME]
    disk.room = None
    until(lambda: store.ready()["unfolded"] == 0)
    assert store.counts(NAME).total == 1000
    store.shutdown()


def test_a_disk_that_becomes_read_only(tmp_path: Path) -> None:
    disk = Disk()
    store = SqliteStore(tmp_path / "store.sqlite", connect=disk.connect, every=NEVER)
    store.register(NAME, served(LARGE), {})
    disk.read_only = True
    with pytest.raises(NotWritable, match=r"cannot write .*check its disk"):
        store.store(LARGE.batch([(1, 1)]))
    store.shutdown()
    disk.read_only = False
    store = SqliteStore(tmp_path / "store.sqlite", connect=disk.connect)
    assert store.counts(NAME).total == 0
    store.shutdown()


def test_a_store_on_a_read_only_disk_is_not_opened_and_not_locked(tmp_path: Path) -> None:
    disk = Disk()
    path = tmp_path / "store.sqlite"
    SqliteStore(path, connect=disk.connect).shutdown()
    disk.read_only = True
    with pytest.raises(NotWritable, match="cannot write"):
        SqliteStore(path, connect=disk.connect)
    disk.read_only = False
    store = SqliteStore(path, connect=disk.connect)
    store.note("Ada", "looks")
    assert len(store.trail()) == 1
    store.shutdown()


LIMITED = """
import resource, sys
from liftlock.collect.store import NotWritable, open_store
from tests.unit.collect.store.homes import NAME, Mechanism, served

store = open_store(sys.argv[1])
wide = Mechanism(1000)
store.register(NAME, served(wide), {})
store.store(wide.batch([(1, 1)]))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
stored = 1
try:
    while True:
        store.store(wide.batch((at, 2) for at in range(stored + 1, stored + 501)))
        stored += 500
except NotWritable:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
store.store(wide.batch([(stored + 1, 2)]))
assert store.counts(NAME).total == stored + 1, (store.counts(NAME).total, stored)
assert store.verify() == []
store.shutdown()
print(stored)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_file_that_may_not_grow_in_a_real_process(path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 500


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until something is true."""
    end = threading.Event()
    for _ in range(int(seconds / 0.01)):
        if true():
            return
        end.wait(0.01)
    raise AssertionError("it never was")


def test_a_full_queue_is_busy_and_takes_more_later(path: Path) -> None:
    store = SqliteStore(path, every=NEVER, queue=5)
    store.register(NAME, served(LARGE), {})
    go, held = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        go.wait(30)

    holding = threading.Thread(target=lambda: store._ask(hold))
    holding.start()
    assert held.wait(30)

    async def send() -> None:
        sent = [store.submit(LARGE.batch([(at, 1)])) for at in range(5)]
        with pytest.raises(Busy, match="try again in 1 s"):
            store.submit(LARGE.batch([(9, 1)]))
        assert store.ready()["queue"] == 5
        go.set()
        await asyncio.gather(*sent)
        await store.submit(LARGE.batch([(9, 1)]))

    asyncio.run(send())
    holding.join()
    assert store.counts(NAME).total == 6
    store.shutdown()


def test_a_group_is_one_row_and_one_sync(tmp_path: Path) -> None:
    disk = Disk()
    store = SqliteStore(tmp_path / "store.sqlite", connect=disk.connect, every=NEVER)
    store.register(NAME, served(LARGE), {})
    go = threading.Event()
    holding = threading.Thread(target=lambda: store._ask(lambda: go.wait(30)))
    holding.start()
    before = disk.syncs

    async def send() -> None:
        sent = [store.submit(LARGE.batch([(at, 1)])) for at in range(300)]
        go.set()
        await asyncio.gather(*sent)

    asyncio.run(send())
    holding.join()
    # The second one: the header of the WAL, which was empty.
    assert disk.syncs - before <= 2
    assert store._ask(lambda: store._journal._run("SELECT count(*) FROM journal")) == [(1,)]
    assert store.counts(NAME).total == 300
    store.shutdown()


# --- ids in two tables ----------------------------------------------------------------------------


def test_ids_move_from_the_small_table_to_the_large_one(path: Path) -> None:
    narrow = Mechanism(3)
    chance = random.Random(4)
    store = SqliteStore(path, every=NEVER, fresh=100)
    store.register(NAME, served(narrow), {})
    first: dict[int, int] = {}
    for fold in range(30):
        old = chance.sample(sorted(first), min(len(first), 40))
        ids = [chance.getrandbits(128) >> chance.choice((0, 0, 5, 120)) for _ in range(200)] + old
        chance.shuffle(ids)
        reports = [(id, chance.randrange(3)) for id in ids]
        for id, output in reports:
            first.setdefault(id, output)
        store.store(narrow.batch(reports))
        counts = store.counts(NAME)
        assert counts.total == len(first), fold
        assert counts.repeated == (fold + 1) * 240 - 40 - len(first)
        if fold == 17:
            store.shutdown()
            store = SqliteStore(path, every=NEVER, fresh=100)
    sizes = store._journal._known[NAME].seen.sizes
    assert sizes.small < 1000 < sizes.large
    assert sizes.small + sizes.large == len(first)
    expected = tuple(list(first.values()).count(output) for output in range(3))
    assert store.counts(NAME).mechanisms[narrow.digest] == expected
    assert store.verify() == []
    store.shutdown()
    with sqlite3.connect(path) as look:
        tables = [
            {id for (id,) in look.execute(f"SELECT id FROM {table}")}
            for table in ("seen_1", "fresh_1")
        ]
    look.close()
    assert not tables[0] & tables[1]
    assert tables[0] | tables[1] == {id.to_bytes(16, "big") for id in first}


# --- backup and verification ----------------------------------------------------------------------


def test_a_backup_is_a_store(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    store.store(LARGE.batch([(1, 5), (2, 7)]))
    store.add_token("Ada", "owner", "ab" * 32)
    folder = tmp_path / "backups"
    folder.mkdir()
    copy = folder / "copy.sqlite"
    store.backup(copy)
    with pytest.raises(FileError, match="exists already"):
        store.backup(copy)
    with pytest.raises(FileError, match="no such folder"):
        store.backup(folder / "missing" / "copy.sqlite")
    assert [file.name for file in folder.iterdir()] == ["copy.sqlite"]
    assert stat.S_IMODE(copy.stat().st_mode) & 0o077 == 0 or os.name != "posix"
    store.store(LARGE.batch([(3, 5)]))
    with_it = SqliteStore(copy)
    assert with_it.counts(NAME).total == 2
    assert with_it.find_token("ab" * 32) == ("Ada", "owner")
    with_it.store(LARGE.batch([(2, 7), (4, 5)]))
    assert with_it.counts(NAME).mechanisms[LARGE.digest][5] == 2
    assert with_it.counts(NAME).repeated == 1
    assert with_it.verify() == []
    with_it.shutdown()
    assert store.counts(NAME).total == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE counts SET n = n + 1", r"health\.flu: 3 reports are counted, of 2 ids"),
        ("DELETE FROM fresh_1 WHERE id = (SELECT min(id) FROM fresh_1)", "2 reports .* of 1 id"),
        ("UPDATE file SET content = x'00'", "is not what its digest says"),
        ("DELETE FROM file", "belongs to nothing"),
        ("UPDATE counts SET output = 70000", "an output that its mechanism does not have"),
    ],
)
def test_what_was_changed_by_others_is_found(path: Path, change: str, said: str) -> None:
    store = SqliteStore(path)
    store.register(NAME, served(LARGE), {})
    store.store(LARGE.batch([(1, 5), (2, 5)]))
    assert store.verify() == []
    store.shutdown()
    with sqlite3.connect(path) as other:
        other.execute(change)
    other.close()
    store = SqliteStore(path)
    assert re.search(said, "\n".join(store.verify()))
    store.shutdown()


def check(path: Path) -> None:
    """Open and verify a store; whichever finds that it is damaged."""
    store = SqliteStore(path)
    try:
        assert store.verify() == []
    finally:
        store.shutdown()


def test_a_damaged_page_is_found(path: Path) -> None:
    store = SqliteStore(path)
    store.register(NAME, served(LARGE), {})
    store.store(LARGE.batch((at << 64, at % 9) for at in range(5000)))
    store.shutdown()
    with path.open("rb+") as file:
        page = path.read_bytes().index((4000 << 64).to_bytes(16, "big")) // 4096
        file.seek(4096 * page)
        file.write(random.Random(0).randbytes(4096))
    with pytest.raises(FileError, match=r"damaged .*store\.sqlite.*restore a backup"):
        check(path)


# --- versions -------------------------------------------------------------------------------------


def test_a_later_version_is_refused_and_left_alone(path: Path) -> None:
    SqliteStore(path).shutdown()
    with sqlite3.connect(path) as other:
        other.execute(f"PRAGMA user_version = {len(migrations()) + 1}")
    other.close()
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"a store of a later version .*: \d+; this liftlock knows"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_change_of_version_is_made_whole_after_a_backup(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = migrations()
    store = SqliteHome(path.parent).open()
    store.register(NAME, served(LARGE), {})
    store.store(LARGE.batch([(1, 5)]))
    store.shutdown()
    bad = [*first, "CREATE TABLE extra (x); INSERT INTO extra VALUES (1); INSERT INTO nothing;"]
    monkeypatch.setattr(embedded, "migrations", lambda: bad)
    with pytest.raises(sqlite3.DatabaseError, match="syntax error"):
        SqliteStore(path)
    copy = path.with_name("store.sqlite.version-1")
    assert copy.exists()
    with sqlite3.connect(path) as look:
        assert look.execute("PRAGMA user_version").fetchone() == (1,)
        assert not look.execute("SELECT 1 FROM sqlite_schema WHERE name = 'extra'").fetchall()
    look.close()
    good = [*first, "CREATE TABLE extra (x); -- nothing; more\nINSERT INTO extra VALUES ('a;b');"]
    monkeypatch.setattr(embedded, "migrations", lambda: good)
    store = SqliteHome(path.parent).open()
    assert store.counts(NAME).total == 1
    store.shutdown()
    with sqlite3.connect(path) as look:
        assert look.execute("SELECT x FROM extra").fetchall() == [("a;b",)]
        assert look.execute("PRAGMA user_version").fetchone() == (2,)
    look.close()
    monkeypatch.setattr(embedded, "migrations", lambda: first)
    assert copy.with_name(f"{copy.name}-1").exists()
    old = SqliteStore(copy)
    assert old.counts(NAME).total == 1
    old.shutdown()


def test_statements_are_split_where_they_end() -> None:
    script = "CREATE TABLE a (b TEXT DEFAULT ';');\n-- one; two\nSELECT 1;\n\n"
    found = list(statements(script))
    assert found == ["CREATE TABLE a (b TEXT DEFAULT ';');", "-- one; two\nSELECT 1;"]
