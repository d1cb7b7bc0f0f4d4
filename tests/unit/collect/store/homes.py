"""Where stores of each kind are kept in tests, and the reports that are sent to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from liftlock.collect.store import Store
from liftlock.collect.store.protocol import width_of
from liftlock.collect.store.sqlite import SqliteStore
from liftlock.collect.wire import Batch
from tests.postgres_cluster import shared_cluster

NAME = "health.flu"
DAY = date(2026, 11, 19)
NEVER = 1e6
"""Seconds, for a store that folds when it is asked to."""


class Home(Protocol):
    """Where one store is kept; it is opened again and again, by one at a time."""

    def open(self, today: Callable[[], date] = lambda: DAY, **limits: Any) -> Store:
        """Open it; `limits` are those of the writer (``every``, ``at_most``, ``queue``)."""


@dataclass
class SqliteHome:
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "store.sqlite"

    def open(self, today: Callable[[], date] = lambda: DAY, **limits: Any) -> Store:
        return SqliteStore(self.path, today=today, **limits)


@dataclass
class PostgresHome:
    url: str

    @classmethod
    def of(cls, _: Path) -> PostgresHome:
        return cls(shared_cluster().create_schema())

    def open(self, today: Callable[[], date] = lambda: DAY, **limits: Any) -> Store:
        from liftlock.collect.store.postgres import PostgresStore

        return PostgresStore(self.url, today=today, **limits)


HOMES: dict[str, Callable[[Path], Home]] = {"sqlite": SqliteHome, "postgres": PostgresHome.of}
"""A kind of store, and how to make an empty one in a folder; it may skip the test."""


@dataclass(frozen=True)
class Mechanism:
    """Stands for the file of a mechanism: a store looks at its digest alone."""

    outputs: int
    note: str = ""

    @property
    def file(self) -> bytes:
        return f"{self.outputs} outputs {self.note}".encode()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.file).hexdigest()

    def batch(self, reports: Iterable[tuple[int, int]], name: str = NAME) -> Batch:
        """Return a batch of reports: (id, output)."""
        width = width_of(self.outputs)
        body = b"".join(
            id.to_bytes(16, "big") + output.to_bytes(width, "little") for id, output in reports
        )
        return Batch(name, self.digest, width, body)


def spread(number: int) -> int:
    """Return an id for a number; ids of neighbours are far from one another, as random ones are."""
    return number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128)


def served(*mechanisms: Mechanism) -> dict[str, tuple[int, bytes]]:
    """Return what a collection is registered with."""
    return {made.digest: (made.outputs, made.file) for made in mechanisms}
