"""The ids of a collection: a large table, and a small one for those that came last.

A random id falls on a page of its own. In one large table a fold would write as many pages as it
has ids; so ids go into a small table first, and from there to the large one by ranges, many to each
page. Each step of SQLite is for thousands of ids: after each, the thread waits for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

from liftlock.collect.store.protocol import ID

CHUNK = 4_096
"""Ids that are looked up or remembered in one step."""
FRESH = 100_000
"""Ids that the small table holds; more when the large one is much larger."""
RANGES = 256
"""Ranges of ids, of which one at a time goes from the small table to the large one."""

_NUMBERS = (
    "WITH RECURSIVE numbers (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM numbers"
    " WHERE i + 1 < ?2) "
)
_ONE = f"substr(?1, 1 + {ID} * i, {ID})"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many ids are where."""

    large: int
    small: int
    range: int = 0
    """Which range goes to the large table next."""


class Seen:
    """The ids of one collection; `key` is the collection's."""

    def __init__(self, run: Callable[..., list[tuple[Any, ...]]], key: int, least: int) -> None:
        self._run = run
        self._least = least
        self.large, self.small = f"seen_{key}", f"fresh_{key}"

    def create(self) -> None:
        """Make the tables."""
        for table in (self.large, self.small):
            self._run(f"CREATE TABLE {table} (id BLOB PRIMARY KEY) WITHOUT ROWID")

    def drop(self) -> None:
        """Remove the tables, and every byte of them."""
        for table in (self.large, self.small):
            self._run(f"DROP TABLE {table}")

    def load(self, counted: int) -> None:
        """Count the ids, of which so many were counted; to count the large table takes long."""
        ((small,),) = self._run(f"SELECT count(*) FROM {self.small}")
        ((some,),) = self._run(f"SELECT EXISTS (SELECT 1 FROM {self.large})")
        self.sizes = Sizes(max(counted - small, some), small)

    def count(self) -> int:
        """Count all ids, one by one; one that is in both tables counts twice."""
        ((number,),) = self._run(
            f"SELECT (SELECT count(*) FROM {self.large}) + (SELECT count(*) FROM {self.small})"
        )
        return int(number)

    def add(self, ids: bytes) -> list[int]:
        """Remember sorted ids, each once, and return the places of those that were known."""
        known: list[int] = []
        for at in range(0, len(ids), ID * CHUNK):
            known += [at // ID + place for place in self._add(ids[at : at + ID * CHUNK])]
        self._settle()
        return known

    def _add(self, ids: bytes) -> list[int]:
        known = self._look_up(self.large, ids) if self.sizes.large else []
        places = sorted(set(range(len(ids) // ID)).difference(known))
        rest = _pick(ids, places) if known else ids
        if not places:
            return known
        self._run("SAVEPOINT chunk")
        if self._insert(rest) != len(places):
            # Which of them were there can be told only before.
            self._run("ROLLBACK TO chunk")
            found = self._look_up(self.small, rest)
            known += [places[place] for place in found]
            self._insert(rest)
            places = places[len(found) :]
        self._run("RELEASE chunk")
        self.sizes = replace(self.sizes, small=self.sizes.small + len(places))
        return known

    def _insert(self, ids: bytes) -> int:
        """Put ids into the small table; return how many were not there."""
        self._run(
            f"INSERT OR IGNORE INTO {self.small} {_NUMBERS}SELECT {_ONE} FROM numbers",
            ids,
            len(ids) // ID,
        )
        return self._changes()

    def _look_up(self, table: str, ids: bytes) -> list[int]:
        """Return the places of ids that are in a table."""
        ((found,),) = self._run(
            f"{_NUMBERS}SELECT group_concat(i) FROM numbers"
            f" WHERE EXISTS (SELECT 1 FROM {table} WHERE id = {_ONE})",
            ids,
            len(ids) // ID,
        )
        return list(map(int, found.split(","))) if found else []

    def _settle(self) -> None:
        """Move ranges from the small table to the large one, until the small one is small.

        Both cost least if it is the geometric mean of what it holds at least and of all ids.
        """
        every = self.sizes.large + self.sizes.small
        most = isqrt(self._least * max(self._least, every))
        for _ in range(RANGES):
            if self.sizes.small <= most:
                return
            self._move()

    def _move(self) -> None:
        where, bounds = _range(self.sizes.range)
        self._run(f"INSERT INTO {self.large} SELECT id FROM {self.small} WHERE {where}", *bounds)
        self._run(f"DELETE FROM {self.small} WHERE {where}", *bounds)
        moved = self._changes()
        self.sizes = Sizes(
            self.sizes.large + moved, self.sizes.small - moved, (self.sizes.range + 1) % RANGES
        )

    def _changes(self) -> int:
        ((number,),) = self._run("SELECT changes()")
        return int(number)


def _range(number: int) -> tuple[str, tuple[bytes, ...]]:
    """Return the condition for ids of one range, by their first byte.

    >>> _range(0), _range(255)
    (('id >= ? AND id < ?', (b'\\x00', b'\\x01')), ('id >= ?', (b'\\xff',)))
    """
    if number == RANGES - 1:
        return "id >= ?", (bytes([number]),)
    return "id >= ? AND id < ?", (bytes([number]), bytes([number + 1]))


def _pick(ids: bytes, places: list[int]) -> bytes:
    return b"".join(ids[ID * place : ID * (place + 1)] for place in places)
