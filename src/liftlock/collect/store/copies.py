"""Copies between the two stores: PostgreSQL into an SQLite file, and a file into PostgreSQL.

A copy goes on where the store was: what had been counted is known, and counted no second time.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from liftlock._runtime.naming import refuse_existing
from liftlock._runtime.storage import check_writable, destination
from liftlock.collect.store import sqlite_file
from liftlock.collect.store.connection import Session
from liftlock.collect.store.place import sync_folder
from liftlock.collect.store.postgres import (
    make_day,
    make_seen,
    migrate,
    take_lock,
    take_snapshot,
)
from liftlock.collect.store.seen import CREATE, tables
from liftlock.errors import FileError, InputError, extra

with extra("collect"):
    from psycopg import sql

if TYPE_CHECKING:
    from psycopg import Connection

TABLES = {
    "collection": "id, name, state, settings, repeated, conflicts, revision",
    "file": "sha256, content",
    "mechanism": "id, collection, sha256, outputs",
    "journal": "seq, mechanism, day, body",
    "counts": "mechanism, day, output, n",
    "token": "name, role, hash",
    "trail": "seq, day, who, what, collection",
}
"""Every table but those of the ids, which are named after their collections."""
NUMBERED = ("collection", "mechanism", "trail")
"""Tables whose rows PostgreSQL numbers itself."""


def write_copy(connection: Connection[Any], path: Path) -> None:
    """Write everything, as of one moment, to a new SQLite store."""
    check_writable(path)
    place = destination(path)
    refuse_existing(place)
    unfinished = place.with_name(f".{place.name}.{os.getpid()}.new")
    try:
        unfinished.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        empty = sqlite_file.StandardConnection(unfinished)
        sqlite_file.migrate(empty, unfinished)
        empty.close()
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as copy:
            copy.execute("PRAGMA foreign_keys = OFF")
            copy.execute("BEGIN")
            with take_snapshot(connection):
                _write_tables(connection, copy)
            copy.execute("COMMIT")
        with unfinished.open("rb") as written:
            os.fsync(written.fileno())
        os.link(unfinished, place)
        sync_folder(place.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _write_tables(connection: Connection[Any], copy: sqlite3.Connection) -> None:
    for table, columns in TABLES.items():
        read = ", ".join("day::text" if name == "day" else name for name in columns.split(", "))
        with connection.cursor("copied", binary=True) as rows:
            rows.execute(f"SELECT {read} FROM {table}")
            copy.executemany(f"INSERT INTO {table} ({columns}) VALUES ({_marks(columns)})", rows)
    for (key,) in copy.execute("SELECT id FROM collection").fetchall():
        for table in tables(key):
            copy.execute(CREATE.format(table))
        with connection.cursor("ids", binary=True) as ids:
            ids.itersize = 10_000
            ids.execute(sql.SQL("SELECT uuid_send(id) FROM {} ORDER BY id").format(_ids_of(key)))
            copy.executemany(f"INSERT INTO {tables(key)[0]} (id) VALUES (?)", ids)


def fill_from_copy(url: str, path: str | Path) -> None:
    """Fill an empty PostgreSQL database with a copy of a store, or with one that nobody serves.

    It happens in one transaction: the database is filled, or as empty as before.
    """
    place = Path(path)
    if not place.is_file():
        raise FileError("no such copy", where=str(path), remedy="check the path")
    session = Session(url)
    try:
        session.open()
        session.run(migrate)
        with closing(sqlite3.connect(f"{place.resolve().as_uri()}?mode=ro", uri=True)) as copy:
            session.run(lambda connection: _fill(connection, copy, place))
    finally:
        session.stop()


def _fill(connection: Connection[Any], copy: sqlite3.Connection, path: Path) -> None:
    with connection.transaction():
        take_lock(connection)
        if connection.execute("SELECT EXISTS (SELECT FROM collection)").fetchone() == (True,):
            raise InputError(
                "the database has collections",
                where=connection.info.dbname,
                remedy="give the copy a database of its own",
            )
        try:
            _read_tables(connection, copy)
        except sqlite3.Error as error:
            raise FileError(
                "not a copy of a store", where=str(path), value=str(error), remedy="make one"
            ) from None


def _read_tables(connection: Connection[Any], copy: sqlite3.Connection) -> None:
    for (day,) in copy.execute("SELECT DISTINCT day FROM journal").fetchall():
        make_day(connection, day)
    for table, columns in TABLES.items():
        with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN") as rows:
            for row in copy.execute(f"SELECT {columns} FROM {table}"):
                rows.write_row(row)
    for table in NUMBERED:
        name = "seq" if table == "trail" else "id"
        connection.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', '{name}'), max({name}))"
            f" FROM {table} HAVING max({name}) IS NOT NULL"
        )
    connection.execute(
        "SELECT setval('journal_seq', max(seq)) FROM journal HAVING max(seq) IS NOT NULL"
    )
    for (key,) in copy.execute("SELECT id FROM collection").fetchall():
        connection.execute(make_seen(key))
        into = sql.SQL("COPY {} (id) FROM STDIN (FORMAT BINARY)").format(_ids_of(key))
        with connection.cursor().copy(into) as ids:
            ids.set_types(["uuid"])
            for (found,) in copy.execute(
                f"SELECT id FROM seen_{key} UNION SELECT id FROM fresh_{key} ORDER BY id"
            ):
                ids.write_row((UUID(bytes=found),))


def _ids_of(key: int) -> sql.Identifier:
    return sql.Identifier(f"seen_{key}")


def _marks(columns: str) -> str:
    return ", ".join("?" * len(columns.split(",")))
