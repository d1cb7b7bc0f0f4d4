"""Stores of reports: an embedded one, and one for several servers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from liftlock.collect.store.protocol import (
    Busy,
    Closed,
    Counts,
    Entry,
    Malformed,
    MechanismsDiffer,
    NotWritable,
    OtherMechanism,
    OutOfRange,
    Record,
    Stopped,
    Store,
    StoreError,
    UnknownCollection,
)

__all__ = [
    "Busy",
    "Closed",
    "Counts",
    "Entry",
    "Malformed",
    "MechanismsDiffer",
    "NotWritable",
    "OtherMechanism",
    "OutOfRange",
    "Record",
    "Stopped",
    "Store",
    "StoreError",
    "UnknownCollection",
    "open_store",
]


def open_store(where: str | Path) -> Store:
    """Open the store in a file, or in the PostgreSQL database that a URL names."""
    if str(where).startswith(("postgresql://", "postgres://")):
        postgres = import_module("liftlock.collect.store.postgres")
        store: Store = postgres.PostgresStore(str(where))
        return store
    from liftlock.collect.store.sqlite import SqliteStore

    return SqliteStore(where)
