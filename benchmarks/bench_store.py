"""How fast the embedded store takes and folds reports, against SQLite itself on the same disk.

The limits are what SQLite does in the same minute: a journal of blobs in groups, one commit after
the other, and a plain insert of sorted ids into a table that knows as many. Both sides take turns,
and the median ratio counts; a disk of a shared machine is several times slower a minute later.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from rich.table import Table as Grid

from liftlock.collect.store.sqlite import CACHE, SqliteStore
from liftlock.collect.wire import Batch
from tests.unit.collect.store.homes import NAME, NEVER, Mechanism, served

THREE = Mechanism(3)
ROUNDS = 5
SENDERS = 64
BATCHES = 4_000
SINGLE, SINGLE_SENDERS = 3_000, 256
FOLD = 100_000
KNOWN = (0, 3_000_000)
LIMITS = {"batches": 0.5, "single": 20, "fold": 0.8}
LAG = 2.0
SLOW = 1e-3
"""Seconds of a sync from which on batches are compared; below it threads are, and not the disk."""


def bodies(number: int, reports: int, seed: int) -> list[bytes]:
    """Return bodies of random reports."""
    chance = np.random.default_rng(seed)
    made = chance.integers(0, 256, (number * reports, 17), dtype=np.uint8)
    made[:, 16] %= 3
    content = made.tobytes()
    return [content[at : at + 17 * reports] for at in range(0, len(content), 17 * reports)]


def batch(body: bytes) -> Batch:
    return Batch(NAME, THREE.digest, 1, body)


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds it takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


class Plain:
    """SQLite without a store around it."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        for setting in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "wal_autocheckpoint = 0",
            f"cache_size = -{CACHE}",
        ):
            self.connection.execute(f"PRAGMA {setting}")
        self.connection.execute("CREATE TABLE journal (seq INTEGER PRIMARY KEY, body BLOB)")
        self.connection.execute("CREATE TABLE seen (id BLOB PRIMARY KEY) WITHOUT ROWID")

    def append(self, content: list[bytes], group: int) -> None:
        """Commit blobs, so many at a time."""
        for at in range(0, len(content), group):
            self.connection.execute("BEGIN")
            self.connection.executemany(
                "INSERT INTO journal (body) VALUES (?)",
                [(body,) for body in content[at : at + group]],
            )
            self.connection.execute("COMMIT")

    def insert(self, ids: list[bytes]) -> None:
        """Insert sorted ids in one transaction, and bring them to the file."""
        self.connection.execute("BEGIN")
        self.connection.executemany(
            "INSERT OR IGNORE INTO seen (id) VALUES (?)", [(one,) for one in ids]
        )
        self.connection.execute("COMMIT")
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def send(store: SqliteStore, content: list[bytes], senders: int) -> None:
    """Let so many send at once, each its next batch when the last one is answered."""

    async def sender(left: Iterator[bytes]) -> None:
        for body in left:
            await store.submit(batch(body))

    async def all_of_them() -> None:
        left = iter(content)
        await asyncio.gather(*(sender(left) for _ in range(senders)))

    asyncio.run(all_of_them())


def take(folder: Path) -> tuple[float, float, float, float]:
    """Compare batches of 100 with a journal of SQLite, and single reports with its commits."""
    plain = Plain(folder / "plain.sqlite")
    batches, singles, syncs = [], [], []
    rate = 0.0
    for seed in range(ROUNDS):
        # A new one each time, which has not folded yet and does not while it is measured.
        store = SqliteStore(folder / f"store-{seed}.sqlite", every=NEVER, at_most=1 << 40)
        store.register(NAME, served(THREE), {})
        content = bodies(BATCHES, 100, seed)
        ours = timed(partial(send, store, content, SENDERS))
        theirs = timed(partial(plain.append, content, SENDERS))
        batches.append(theirs / ours)
        rate = max(rate, 100 * BATCHES / ours)
        content = bodies(SINGLE, 1, 100 + seed)
        ours = timed(partial(send, store, content, SINGLE_SENDERS))
        some = content[: SINGLE // 20]
        theirs = timed(partial(plain.append, some, 1))
        syncs.append(theirs / len(some))
        singles.append(syncs[-1] / (ours / SINGLE))
        store.shutdown()
    plain.connection.close()
    return median(batches), median(singles), median(syncs), rate


def fold(folder: Path, known: int) -> tuple[float, float, float]:
    """Compare folding with an insert of sorted ids; return the ratio, the lag and a read."""
    store = SqliteStore(folder / f"fold-{known}.sqlite", every=NEVER, at_most=1 << 40)
    store.register(NAME, served(THREE), {})
    plain = Plain(folder / f"insert-{known}.sqlite")
    ratios, lags = [], []
    for seed in range(known // 500_000 + ROUNDS):
        measured = seed >= known // 500_000
        number = FOLD if measured else 500_000
        content = bodies(number // 1000, 1000, 200 + seed)
        for body in content:
            store.store(batch(body))
        ours = timed(lambda: store.counts(NAME))
        ids = sorted(body[at : at + 16] for body in content for at in range(0, len(body), 17))
        theirs = timed(partial(plain.insert, ids))
        if measured:
            ratios.append(theirs / ours)
            lags.append(ours)
    read = min(timed(lambda: store.counts(NAME)) for _ in range(20))
    store.shutdown()
    plain.connection.close()
    return median(ratios), max(lags), read


def run() -> Grid:
    """Compare the store with SQLite."""
    grid = Grid(title=f"The embedded store and SQLite {sqlite3.sqlite_version}")
    for name in ("what", "ratio", "at least", "besides"):
        grid.add_column(name)

    def row(what: str, ratio: float, least: float, besides: str) -> None:
        said = f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"
        grid.add_row(what, said if ratio >= least else f"[red]{said}[/]", f"{least:g}", besides)

    with tempfile.TemporaryDirectory() as name:
        batches, singles, sync, rate = take(Path(name))
        row(
            f"batches of 100, {SENDERS} senders / journal of SQLite",
            batches,
            LIMITS["batches"] if sync >= SLOW else 0,
            f"{rate:,.0f} reports/s; a commit takes {1000 * sync:.2f} ms",
        )
        row(
            f"single reports, {SINGLE_SENDERS} senders / commits",
            singles,
            LIMITS["single"],
            "",
        )
        for known in KNOWN:
            ratio, lag, read = fold(Path(name), known)
            row(
                f"fold of {FOLD:,} into {known:,} / sorted insert",
                ratio,
                LIMITS["fold"],
                f"{lag:.2f} s at most (<= {LAG:g}), counts read in {1000 * read:.2f} ms",
            )
    return grid
