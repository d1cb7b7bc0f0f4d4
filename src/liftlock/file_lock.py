"""The lock of a ledger: one release at a time, and one that was killed locks nobody out for good.

The lock is a file beside the ledger that names the process that made it. Whoever finds it takes it
over if that process is certainly gone: it ran on this machine, since it was started, among the same
processes, and no process has its number. In all other cases the file must be deleted by hand.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from liftlock.errors import FileError
from liftlock.storage import check_writable, destination

_MOST_BYTES = 4096


@contextmanager
def kept_alone(path: Path) -> Iterator[Path]:
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
    lock = place.with_name(f".{place.name}.lock")
    try:
        ours = _made(lock) or _taken_over(lock)
    except OSError as error:
        raise FileError(
            "cannot write",
            where=str(lock),
            value=error.strerror,
            remedy="keep the ledger in a folder that you may write to",
        ) from None
    if not ours:
        raise FileError(
            "the ledger is in use by another release",
            where=str(place),
            remedy=f"wait for it; if none is running, delete {lock}",
        )
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


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


def _made(lock: Path) -> bool:
    """Make a lock that names this process, if there is none."""
    try:
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return False
    try:
        os.write(handle, _name(_machine(), os.getpid()))
    except BaseException:
        lock.unlink()
        raise
    finally:
        os.close(handle)
    return True


def _taken_over(lock: Path) -> bool:
    """Make the lock of a process that is gone ours, in its place.

    The file is never deleted, which would let two take over one after the other; of those who try
    at once, the second finds the name of the first.
    """
    if sys.platform == "win32":  # pragma: no cover - asking for a process would end it there
        return False
    import fcntl

    try:
        handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there = os.path.samestat(os.fstat(handle), lock.lstat())
        if not there or not _is_gone(os.read(handle, _MOST_BYTES)):
            return False
        os.ftruncate(handle, 0)
        os.pwrite(handle, _name(_machine(), os.getpid()), 0)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _is_gone(name: bytes) -> bool:
    """Tell whether the process that a lock names is certainly gone."""
    machine = _machine()
    parts = name.decode(errors="replace").split("\n")
    # A lock that is just being written has no end of line yet.
    if len(parts) != 3 or parts[2] or not machine or parts[0] != machine:
        return False
    if not parts[1].isdecimal() or int(parts[1]) < 1:
        return False
    try:
        os.kill(int(parts[1]), 0)  # signal 0 only asks
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _name(machine: str, process: int) -> bytes:
    return f"{machine}\n{process}\n".encode()


def _machine() -> str:
    """Name the machine, since when it runs, and the processes it numbers; empty if unknown.

    A host name alone is not enough: containers may share it and a folder, and each numbers its
    processes from 1.
    """
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{platform.node()} {started} {Path('/proc/self/ns/pid').readlink()}"
    except (OSError, ValueError):
        return ""
