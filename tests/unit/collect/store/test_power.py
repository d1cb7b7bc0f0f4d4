"""The power goes at any event, or just after any sync: what was answered is there, once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from liftlock.collect.store import StoreError
from liftlock.collect.store.sqlite import SqliteStore
from liftlock.collect.store.sqlite_file import Connection
from tests.soak import sized
from tests.unit.collect.store.disk import Disk
from tests.unit.collect.store.homes import NAME, NEVER, Mechanism, served, spread

WIDE = Mechanism(100)
"""Each report has an output of its own: a count of 2 is a replay, and one of 0 a loss."""


class World:
    """A store on a disk whose power is cut, and a client that remembers what was answered."""

    def __init__(self, folder: Path, wrap: Callable[[Connection], Connection] | None = None):
        self.folder, self.disk, self.wrap = folder, Disk(), wrap
        self.sent: set[int] = set()
        self.answered: set[int] = set()

    def connect(self, path: Path) -> Connection:
        connection: Connection = self.disk.connect(path)
        return self.wrap(connection) if self.wrap else connection

    def open(self) -> SqliteStore:
        # With so little room in the small table, ids go on to the large one.
        return SqliteStore(self.folder / "store.sqlite", connect=self.connect, fresh=4, every=NEVER)

    def live(self) -> None:
        """Do everything a store does, until it is done or the power goes."""
        with suppress(StoreError):
            store = self.open()
            try:
                self._use(store)
            finally:
                store.shutdown()

    def _use(self, store: SqliteStore) -> None:
        store.register(NAME, served(WIDE), {})
        store.register("another", served(WIDE), {})
        for step in range(6):
            for half in range(2):
                reports = range(10 * step + 5 * half, 10 * step + 5 * half + 5)
                self.sent |= set(reports)
                store.store(WIDE.batch((spread(at), at) for at in reports))
                self.answered |= set(reports)
            if step % 2:
                store.counts(NAME)
        store.erase("another")

    def check(self) -> None:
        """Switch it on, and count."""
        store = self.open()
        try:
            assert store.verify() == []
            if NAME in store.collections():
                counts = store.counts(NAME).mechanisms[WIDE.digest]
                assert max(counts) <= 1, "counted twice"
                found = {output for output, n in enumerate(counts) if n}
            else:
                found = set()
            assert self.answered <= found <= self.sent, self.answered - found
        finally:
            store.shutdown()


@pytest.mark.soak
def test_at_any_event(tmp_path: Path) -> None:
    whole = World(tmp_path)
    whole.live()
    assert whole.answered == set(range(60))
    assert whole.disk.syncs > 25
    for seed in range(sized(1, 20)):
        for at in range(1 + seed % 2, whole.disk.events + 1, sized(2, 1)):
            world = World(tmp_path)
            world.disk.cut_at = at
            world.live()
            assert not world.disk.on
            world.disk.cut(random.Random(1000 * seed + at))
            world.check()


@pytest.mark.soak
def test_just_after_any_sync(tmp_path: Path) -> None:
    whole = World(tmp_path)
    whole.live()
    for seed in range(sized(2, 50)):
        for after in range(1, whole.disk.syncs + 1):
            world = World(tmp_path)
            world.disk.cut_after = after
            world.live()
            world.disk.cut(random.Random(1000 * seed + after))
            world.check()


def test_again_while_it_recovers(tmp_path: Path) -> None:
    for seed in range(20):
        chance = random.Random(seed)
        world = World(tmp_path)
        world.disk.cut_at = chance.randrange(100, 200)
        world.live()
        for _ in range(3):
            world.disk.cut(chance)
            world.disk.cut_at = world.disk.events + chance.randrange(1, 30)
            with suppress(StoreError):
                world.open().shutdown()
        world.disk.cut(chance)
        world.check()


class Unsynced:
    """A connection that does not wait for the disk."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        sql = sql.replace("synchronous = FULL", "synchronous = NORMAL")
        return self._connection.run(sql, parameters)

    @property
    def changes(self) -> int:
        return self._connection.changes

    def close(self) -> None:
        self._connection.close()


def test_the_disk_does_lose_what_is_not_synced(tmp_path: Path) -> None:
    def lost() -> Iterator[bool]:
        for at in range(100, 200, 3):
            world = World(tmp_path, Unsynced)
            world.disk.cut_at = at
            world.live()
            world.disk.cut(random.Random(at))
            try:
                world.check()
            except AssertionError:
                yield True

    assert any(lost())
