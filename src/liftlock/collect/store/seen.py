"""The ids of a collection: a large table, and a small one for those that came last.

A random id falls on a page of its own. In one large table a fold would write as many pages as it
has ids; so ids go into a small table first, and from there to the large one by ranges, many to each
page. Each step of SQLite is for thousands of ids: after each, the thread waits for the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt

from liftlock.collect.store.protocol import ID
from liftlock.collect.store.sqlite_file import Connection

MOST = 1 << 18
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


CREATE = "CREATE TABLE {} (id BLOB PRIMARY KEY) WITHOUT ROWID"


def tables(key: int) -> tuple[str, str]:
    """Return the names of the large table and of the small one of a collection."""
    return f"seen_{key}", f"fresh_{key}"


class Seen:
    """The ids of one collection; `key` is the collection's."""

    def __init__(self, connection: Connection, key: int, least: int) -> None:
        self._run = connection.run
        self._connection = connection
        self._least = least
        self.large, self.small = tables(key)

    def create(self) -> None:
        """Make the tables."""
        for table in (self.large, self.small):
            self._run(CREATE.format(table))

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
        for at in range(0, len(ids), ID * MOST):
            known += [at // ID + place for place in self._add(ids[at : at + ID * MOST])]
        self._settle()
        return known

    def _add(self, ids: bytes) -> list[int]:
        known = self._look_up(ids)
        if known:
            new = sorted(set(range(len(ids) // ID)).difference(known))
            ids = b"".join(ids[ID * place : ID * (place + 1)] for place in new)
        number = len(ids) // ID
        if number:
            insert = f"INSERT INTO {self.small} {_NUMBERS}SELECT {_ONE} FROM numbers"
            self._run(insert, (ids, number))
        self.sizes = replace(self.sizes, small=self.sizes.small + number)
        return known

    def _look_up(self, ids: bytes) -> list[int]:
        """Return the places of ids that are in one of the tables."""
        tables = [self.small] if self.sizes.small else []
        tables += [self.large] if self.sizes.large else []
        if not tables:
            return []
        there = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE id = {_ONE})" for table in tables)
        ((found,),) = self._run(
            f"{_NUMBERS}SELECT group_concat(i) FROM numbers WHERE {there}", (ids, len(ids) // ID)
        )
        return list(map(int, found.split(","))) if found else []

    def _settle(self) -> None:
        """Move ranges from the small table to the large one, until the small one is small.

        Both cost least if it is the geometric mean of what it holds at least and of all ids.
        """
        every = self.sizes.large + self.sizes.small
        most = isqrt(self._least * max(self._least, every))
        moved = 0
        while self.sizes.small > most and moved < RANGES:
            # As many as it takes if all are alike; those that wait longest hold more.
            ranges = -(-RANGES * (self.sizes.small - most) // (2 * self.sizes.small))
            ranges = min(ranges, RANGES - self.sizes.range)
            self._move(self.sizes.range, self.sizes.range + ranges)
            moved += ranges

    def _move(self, first: int, end: int) -> None:
        where, bounds = _between(first, end)
        self._run(f"INSERT INTO {self.large} SELECT id FROM {self.small} WHERE {where}", bounds)
        before = self._connection.changes
        self._run(f"DELETE FROM {self.small} WHERE {where}", bounds)
        moved = self._connection.changes - before
        self.sizes = Sizes(self.sizes.large + moved, self.sizes.small - moved, end % RANGES)


def _between(first: int, end: int) -> tuple[str, tuple[bytes, ...]]:
    """Return the condition for ids of some ranges, by their first byte.

    >>> _between(0, 2), _between(254, 256)
    (('id >= ? AND id < ?', (b'\\x00', b'\\x02')), ('id >= ?', (b'\\xfe',)))
    """
    if end == RANGES:
        return "id >= ?", (bytes([first]),)
    return "id >= ? AND id < ?", (bytes([first]), bytes([end]))
