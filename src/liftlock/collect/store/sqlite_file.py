"""A SQLite file: connections to it, what their errors mean, transactions, versions and copies."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from liftlock._runtime.naming import status, write_errors_at
from liftlock._runtime.storage import check_writable, destination
from liftlock.collect.store.place import sync_folder
from liftlock.collect.store.protocol import NotWritable
from liftlock.errors import FileError

APPLICATION = 0x4C4C434F
"""Marks a SQLite file as a store of reports."""


class Connection(Protocol):
    """What is needed of a connection to SQLite; `failure` says what its errors become."""

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement, and return its rows."""

    @property
    def changes(self) -> int:
        """How many rows were changed since it was opened."""

    def close(self) -> None:
        """Close it."""


class StandardConnection:
    """A connection through the `sqlite3` of Python."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._errors():
            self._raw = sqlite3.connect(path.absolute(), isolation_level=None, timeout=0)

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement, and return its rows."""
        with self._errors():
            return self._raw.execute(sql, parameters).fetchall()

    @property
    def changes(self) -> int:
        """How many rows were changed since it was opened."""
        return self._raw.total_changes

    def close(self) -> None:
        """Close it."""
        with self._errors():
            self._raw.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code is None:
                raise
            raise failure(code, str(error), self._path) from error


def failure(code: int, text: str, path: Path) -> Exception:
    """Return what an error of SQLite means for whoever uses the store."""
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_FULL:
        return NotWritable(f"the disk of {path} is full; make space: the store then goes on")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return NotWritable(f"cannot write {path} ({text}); check its disk and its permissions")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return FileError(
            "another program has the store open", where=str(path), remedy="close it there"
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return FileError(
            "not a store, or damaged", where=str(path), value=text, remedy="restore a backup"
        )
    return sqlite3.DatabaseError(f"{text} ({code})")


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Do everything in the block, or nothing of it."""
    connection.run("BEGIN IMMEDIATE")
    try:
        yield
        connection.run("COMMIT")
    except BaseException:
        # After some errors SQLite has rolled back already.
        with suppress(Exception):
            connection.run("ROLLBACK")
        raise


def migrations() -> list[str]:
    """Return the numbered changes, the first one first."""
    folder = files("liftlock.collect.store") / "migrations" / "sqlite"
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(folder / name).read_text("utf-8") for name in found]


def version(connection: Connection) -> int:
    """Return how many of the changes were made."""
    return int(connection.run("PRAGMA user_version")[0][0])


def migrate(connection: Connection, path: Path, changes: Sequence[str] | None = None) -> None:
    """Bring a file to the newest version in one transaction, after a backup."""
    changes = migrations() if changes is None else changes
    found = version(connection)
    if found > len(changes):
        raise FileError(
            "a store of a later version",
            where=str(path),
            value=found,
            remedy=f"this liftlock knows versions up to {len(changes)}; use the one that made it",
        )
    if found == len(changes):
        return
    if found:
        write_copy(connection, _free(path.with_name(f"{path.name}.version-{found}")))
    with transaction(connection):
        for change in changes[found:]:
            for statement in statements(change):
                connection.run(statement)
        connection.run(f"PRAGMA application_id = {APPLICATION}")
        connection.run(f"PRAGMA user_version = {len(changes)}")


def _free(path: Path) -> Path:
    """Return a name that is not taken: an earlier attempt may have left its copy."""
    taken = 0
    free = path
    while status(free) is not None:
        taken += 1
        free = path.with_name(f"{path.name}-{taken}")
    return free


def statements(script: str) -> Iterator[str]:
    """Split a script into its statements.

    >>> list(statements("CREATE TABLE a (b); -- c;\\nCREATE TABLE d (e);"))
    ['CREATE TABLE a (b);', '-- c;\\nCREATE TABLE d (e);']
    """
    part = ""
    for piece in script.split(";"):
        part += piece + ";"
        if sqlite3.complete_statement(part):
            if part.strip(" \n;"):
                yield part.strip()
            part = ""


def write_copy(connection: Connection, path: Path) -> None:
    """Write a copy of a database to a new file, which appears when it is whole and on disk."""
    check_writable(path)
    place = destination(path)
    if status(place) is not None:
        raise FileError("the file exists already", where=str(path), remedy="choose another name")
    # What a kill leaves is overwritten by the next copy.
    partial = place.with_name(f".{place.name}.new")
    with write_errors_at(path):
        try:
            # Only the owner may read it, from the first byte on.
            os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
            connection.run("VACUUM INTO ?", (str(partial),))
            with partial.open("rb+") as stream:
                os.fsync(stream.fileno())
            partial.rename(place)
            sync_folder(place.parent)
        finally:
            partial.unlink(missing_ok=True)
