"""Where a store may be: a file on a disk of this machine, used by one process.

A file beside it is locked while a process has it, and holds the number of that process.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from liftlock._runtime.naming import POSIX, lock_handle, status, write_errors_at
from liftlock._runtime.storage import check_writable, destination, refuse_hard_links
from liftlock.errors import FileError

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|coda|ceph|glusterfs|lustre|beegfs|ocfs2|gfs2?|gpfs|ncpfs"
    r"|davfs|fuse\.(sshfs|glusterfs|ceph.*|davfs2?|s3fs|rclone|gcsfuse|smbnetfs|curlftpfs)"
)
"""File systems whose locks and syncs do not hold what a database relies on."""


class InUse(FileError):
    """Another process has the store."""


class Place:
    """The file of a store, which nobody else uses as long as this one is not released."""

    def __init__(self, path: Path) -> None:
        check_writable(path)
        self.path = destination(path)
        # The working folder may change later.
        self._absolute = self.path.absolute()
        refuse_network(self.path)
        refuse_hard_links(self.path)
        self._beside = self._absolute.with_name(f"{self.path.name}.lock")
        self._lock = _lock(self._beside, self.path)

    def create(self) -> None:
        """Make an empty file that only its owner may read, and let it have its name for good."""
        with write_errors_at(self.path), suppress(FileExistsError):
            os.close(os.open(self._absolute, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        self.sync()

    def sync(self) -> None:
        """Let what was made and deleted in the folder survive a power failure."""
        sync_folder(self._absolute.parent)

    def release(self) -> None:
        """Let others use it."""
        with suppress(OSError):
            self._beside.unlink()
        os.close(self._lock)


def sync_folder(folder: Path) -> None:
    """Let the names of new files in a folder survive a power failure."""
    if not POSIX:
        return  # no other system has such a call
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refuse_network(path: Path, mounts: Path = _MOUNTS) -> None:
    """Refuse a disk of another machine, where Linux says what kind of disk it is."""
    kind = _file_system(path.resolve(), mounts)
    if _NETWORK.fullmatch(kind):
        raise FileError(
            f"a network disk ({kind})",
            where=str(path),
            remedy="keep the store on a disk of this machine, or use PostgreSQL",
        )


def _file_system(path: Path, mounts: Path) -> str:
    """Return the kind of file system a path is on; empty if that cannot be told."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return ""
    deepest, kind = -1, ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), before.split()[4])
        # Of two mounts on one folder the later one is seen.
        if path.is_relative_to(point) and len(point) >= deepest:
            deepest, kind = len(point), after.split()[0]
    return kind


def _lock(beside: Path, path: Path) -> int:
    """Lock a file, and write into it who has it."""
    while True:
        try:
            handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise FileError(
                "cannot write",
                where=str(beside),
                value=error.strerror,
                remedy="keep the store in a folder that you may write to",
            ) from None
        try:
            _lock_handle(handle)
        except OSError as error:
            refusal = _refusal(handle, error, path)
            os.close(handle)
            raise refusal from None
        found = status(beside)
        if found is None or not os.path.samestat(found, os.fstat(handle)):
            os.close(handle)  # whoever had it removed it in between
            continue
        with suppress(OSError):  # it only says who has it
            os.truncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        return handle


def _refusal(handle: int, error: OSError, path: Path) -> FileError:
    """Return why a lock cannot be had: somebody has it, or the disk has none."""
    if POSIX and not isinstance(error, BlockingIOError):
        return FileError(
            "cannot lock",
            where=str(path),
            value=error.strerror,
            remedy="keep the store on a disk that has locks",
        )
    holder = os.read(handle, 20).decode("ascii", "replace").strip()
    return InUse(
        "the store is in use by another process",
        where=str(path),
        value=int(holder) if holder.isdigit() else None,
        remedy="stop that server first, or send it your requests: one process has a store",
    )


def _lock_handle(handle: int) -> None:
    if POSIX:
        lock_handle(handle)
    elif sys.platform == "win32":
        import msvcrt

        # A byte far behind the number, which others can still read.
        os.lseek(handle, 1 << 20, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
