"""The thread that writes goes on, whatever happens to those who wait or to what it writes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from liftlock.collect.store.sqlite import SqliteStore
from liftlock.collect.store.sqlite_file import StandardConnection
from liftlock.collect.store.writer import AT_MOST, LEAST
from liftlock.errors import FileError
from tests.unit.collect.store.homes import NAME, NEVER, Mechanism, served

NARROW = Mechanism(3)


def test_a_loop_that_is_gone_does_not_stop_the_others(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", every=NEVER)
    store.register(NAME, served(NARROW), {})
    go = threading.Event()
    holding = threading.Thread(target=lambda: store._ask(lambda: go.wait(30)))
    holding.start()

    async def send_and_leave() -> None:
        store.submit(NARROW.batch([(1, 1)]))

    asyncio.run(send_and_leave())
    go.set()
    holding.join()
    store.store(NARROW.batch([(2, 1)]))
    assert store.counts(NAME).mechanisms[NARROW.digest] == (0, 2, 0)
    store.shutdown()


class Failing(StandardConnection):
    """A connection with a defect that nobody has thought of."""

    broken = False

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if self.broken and sql.startswith("INSERT INTO journal"):
            raise ZeroDivisionError("a defect")
        return super().run(sql, parameters)


def test_those_who_wait_hear_of_any_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", connect=Failing, every=NEVER)
    store.register(NAME, served(NARROW), {})
    monkeypatch.setattr(Failing, "broken", True)

    async def send() -> list[BaseException | None]:
        sent = [store.submit(NARROW.batch([(at, 0)])) for at in range(3)]
        return await asyncio.gather(*sent, return_exceptions=True)

    assert [type(error) for error in asyncio.run(send())] == [ZeroDivisionError] * 3
    assert not store.ready()["writable"]
    assert store.ready()["queue"] == 0
    monkeypatch.setattr(Failing, "broken", False)
    store.store(NARROW.batch([(at, 0) for at in range(3)]))
    assert store.counts(NAME).mechanisms[NARROW.digest] == (3, 0, 0)
    store.shutdown()


class Slow(StandardConnection):
    """A connection to a disk on which folding takes its time."""

    seconds = 0.0

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if sql.startswith("INSERT INTO fresh"):
            time.sleep(self.seconds)
        return super().run(sql, parameters)


def test_where_folding_is_slow_fewer_reports_are_folded_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", connect=Slow, every=NEVER)
    store.register(NAME, served(NARROW), {})
    assert store._writer._full == AT_MOST
    monkeypatch.setattr(Slow, "seconds", 0.2)
    store.store(NARROW.batch((at, 0) for at in range(8_000)))
    store.counts(NAME)
    assert LEAST <= store._writer._full <= 20_000
    store.store(NARROW.batch([(1, 0)]))
    store.counts(NAME)
    assert LEAST <= store._writer._full <= 20_000, "few reports say nothing"
    monkeypatch.setattr(Slow, "seconds", 1.0)
    store.store(NARROW.batch((at, 0) for at in range(8_000, 16_000)))
    store.counts(NAME)
    assert store._writer._full == LEAST
    store.shutdown()


def test_an_error_of_other_work_reaches_who_asked(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", every=NEVER)
    with pytest.raises(FileError, match="no such folder"):
        store.backup(tmp_path / "missing" / "copy.sqlite")
    store.register(NAME, served(NARROW), {})
    assert list(store.collections()) == [NAME]
    store.shutdown()


def test_from_several_threads_at_once(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", at_most=50)
    store.register(NAME, served(NARROW), {})

    def send(first: int) -> None:
        for at in range(first, first + 40):
            store.store(NARROW.batch([(at, 2), (at // 2, 2)]))

    threads = [threading.Thread(target=send, args=(30 * at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        counts = store.counts(NAME)
        assert counts.total == counts.mechanisms[NARROW.digest][2]
    for thread in threads:
        thread.join()
    counts = store.counts(NAME)
    assert counts.mechanisms[NARROW.digest] == (0, 0, 250)
    assert counts.total + counts.repeated == 8 * 40 * 2
    assert store.verify() == []
    store.shutdown()
