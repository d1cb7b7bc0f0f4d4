"""A connection to PostgreSQL that is checked when it is made, and made again when it was lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from liftlock.collect.store.protocol import NotWritable, Stopped
from liftlock.errors import InputError, extra

with extra("collect"):
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

if TYPE_CHECKING:
    from psycopg import Connection

Result = TypeVar("Result")

OLDEST = 15
"""The oldest version of the server."""
PATIENCE = 10.0
"""How many seconds a server that was lost may take to come back."""
LONGEST_PAUSE = 0.5
DEFAULTS = {
    "application_name": "liftlock collect",
    "connect_timeout": "5",
    # A machine that vanished is noticed within seconds, not within hours.
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "client_encoding": "UTF8",
}
GONE = ("57P01", "57P02", "57P03", "57P05", "08000", "08003", "08006")
"""The server ends, or begins, or threw us out."""
AGAIN = ("40001", "40P01")
"""Two transactions were in each other's way."""


def place_of(url: str) -> str:
    """Return where a URL leads, without what is secret in it.

    >>> place_of("postgresql://ann:secret@db.example:5433/collect")
    'postgresql://ann@db.example:5433/collect'
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "postgresql://..."
    user = f"{parts['user']}@" if "user" in parts else ""
    host = str(parts.get("host", ""))
    port = f":{parts['port']}" if "port" in parts else ""
    return f"postgresql://{user}{host}{port}/{parts.get('dbname', '')}"


def connect(url: str) -> Connection[Any]:
    """Connect once; what can be wrong with a server is said in a line."""
    try:
        told = {name: str(value) for name, value in conninfo_to_dict(url).items()}
        connection = psycopg.connect(make_conninfo(**{**DEFAULTS, **told}), autocommit=True)
    except psycopg.ProgrammingError as error:
        raise InputError(
            "not the address of a PostgreSQL database",
            value=place_of(url),
            remedy=f"{_line(error)}; write postgresql://USER@HOST/DATABASE",
        ) from None
    except psycopg.OperationalError as error:
        raise _Unreachable(url, error) from None
    try:
        _check(connection, url)
    except BaseException:
        connection.close()
        raise
    return connection


class _Unreachable(InputError):
    """There is no server, or it lets nobody in."""

    def __init__(self, url: str, error: Exception) -> None:
        super().__init__(
            f"cannot connect to PostgreSQL: {_line(error)}",
            where=place_of(url),
            remedy="start the server, and check address, user, password and database",
        )


def _check(connection: Connection[Any], url: str) -> None:
    """Refuse a server on which an answer would not mean that the reports are on disk."""
    where = place_of(url)
    version = connection.info.server_version
    if version < OLDEST * 10_000:
        raise InputError(
            f"PostgreSQL {version // 10_000} is too old",
            where=where,
            remedy=f"use version {OLDEST} or newer",
        )
    names = ("fsync", "full_page_writes", "server_encoding", "transaction_read_only")
    found = connection.execute(
        "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", (list(names),)
    ).fetchall()
    settings = dict(found)
    for name in names[:2]:
        if settings[name] != "on":
            raise InputError(
                f"the server runs with {name} = off: what it says is stored may be lost",
                where=where,
                remedy=f"set {name} = on",
            )
    if settings["server_encoding"] != "UTF8":
        raise InputError(
            "the database is not in UTF-8",
            where=where,
            value=settings["server_encoding"],
            remedy="make one with: create database NAME encoding 'UTF8' template template0",
        )
    if settings["transaction_read_only"] == "on":
        raise InputError(
            "the database takes no writes",
            where=where,
            remedy="connect to the primary server, not to a copy of it",
        )
    connection.execute("SET synchronous_commit = on")


def _line(error: Exception) -> str:
    """Return what an error says in one line: the last one names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    cause = [line for line in lines if not line.startswith(("Is the server", "Multiple", "- "))]
    return (cause or lines or [type(error).__name__])[0].removeprefix("connection failed: ")


def has_ended(error: Exception, connection: Connection[Any]) -> bool:
    """Tell whether an error means that the connection, not the statement, is at fault."""
    if connection.closed or connection.broken:
        return True
    return isinstance(error, psycopg.Error) and error.sqlstate in GONE


@dataclass
class Session:
    """One connection, used by one thread at a time.

    What is run is run again if the connection was lost meanwhile, even if it may have happened
    already: all of it can be repeated without harm.
    """

    url: str
    patience: float = field(default_factory=lambda: PATIENCE)
    lock: threading.RLock = field(default_factory=threading.RLock)
    _stopped: bool = False
    _connection: Connection[Any] | None = None
    _down: bool = False
    """Whether patience ran out already: then a single try is enough."""

    def open(self) -> None:
        """Connect without patience."""
        with self.lock:
            self._connection = connect(self.url)

    def run(self, work: Callable[[Connection[Any]], Result]) -> Result:
        """Do something, and again after the connection was lost."""
        with self.lock:
            if self._stopped:
                raise Stopped
            end = time.monotonic() + (0 if self._down else self.patience)
            pause = 0.02
            while True:
                try:
                    result = self._attempt(work)
                except _Again as again:
                    if time.monotonic() + pause > end:
                        self._down = True
                        raise NotWritable(
                            f"PostgreSQL does not answer at {place_of(self.url)}: {again}"
                        ) from None
                    time.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
                else:
                    self._down = False
                    return result

    def stop(self) -> None:
        """Disconnect for good."""
        with self.lock:
            self._stopped = True
            self.close()

    def close(self) -> None:
        """Disconnect."""
        with self.lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _attempt(self, work: Callable[[Connection[Any]], Result]) -> Result:
        if self._connection is None:
            try:
                self._connection = connect(self.url)
            except (InputError, psycopg.Error) as error:
                raise _Again(error) from None
        connection = self._connection
        try:
            return work(connection)
        except psycopg.Error as error:
            if has_ended(error, connection):
                self.close()
                raise _Again(_line(error)) from None
            if error.sqlstate in AGAIN:
                raise _Again(_line(error)) from None
            if isinstance(error, psycopg.errors.InsufficientPrivilege):
                raise rights_missing(self.url, error) from None
            raise NotWritable(f"PostgreSQL does not store it: {_line(error)}") from None


class _Again(Exception):
    """It did not happen, or nobody knows: the next attempt will tell."""


def rights_missing(url: str, error: Exception) -> InputError:
    """Say that the user of a URL may not do what the store must."""
    return InputError(
        f"the database does not let this user do it: {_line(error)}",
        where=place_of(url),
        remedy="give the service a database of its own: create database NAME owner USER",
    )
