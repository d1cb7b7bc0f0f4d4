"""The lock of a ledger: one release at a time.

The lock is held by the system, so that of a process that was killed is free. Its file is deleted by
whoever holds it; one who had opened it before finds that it has no name any more, and begins again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from liftlock.errors import FileError
from liftlock.storage import check_writable, destination


@contextmanager
def exclusive_access(path: Path) -> Iterator[Path]:
    """Give the file that a ledger is kept in, and keep others from using it meanwhile.

    A symbolic link is followed first: under all its names a ledger has one lock.
    """
    check_writable(path)
    place = destination(path)
    with locked(place):
        check_one_name(place)
        yield place


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Keep others from using a file while the block runs, or refuse it if they do."""
    import filelock  # loads much that only a ledger needs

    lock = filelock.FileLock(place.with_name(f".{place.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise FileError(
            "the ledger is in use by another release",
            where=str(place),
            remedy="wait until it is done",
        ) from None
    except (OSError, NotImplementedError) as error:
        raise FileError(
            "cannot write",
            where=str(lock.lock_file),
            value=getattr(error, "strerror", None) or str(error),
            remedy="keep the ledger in a folder that you may write to",
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()


def check_one_name(path: Path) -> None:
    """Refuse a ledger with hard links: written under one name, it would stay old under others."""
    try:
        names = path.stat().st_nlink
    except OSError:
        return  # not there yet, or refused with its reason when it is read
    if names > 1:
        raise FileError(
            f"a ledger with {names} names (hard links)",
            where=str(path),
            remedy="delete all but one, as what is written under one is missing under the others; "
            "a symbolic link can take their place",
        )
