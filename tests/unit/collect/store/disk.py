"""A disk in memory that forgets what was not synced, under SQLite as apsw has it.

Each write, truncation and deletion is remembered until the next sync of its file. A power cut then
keeps, drops or tears each of them by itself, sector by sector, in any combination: a disk may write
what it was given in any order. A kill keeps everything that was written. Afterwards every handle
that was open is dead, as its process is.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import apsw

from liftlock.collect.store.sqlite_file import failure

SECTOR = 512
_names = itertools.count()


class PowerCut(Exception):
    """The machine is off."""


@dataclass
class File:
    """What a file holds, and what of it would survive."""

    now: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    since: list[tuple[int, bytes | None]] = field(default_factory=list)
    """What was written since the last sync: (offset, bytes), or (length, None) if it was cut."""
    named: bool = False
    """Whether its name would survive."""

    def write(self, offset: int, data: bytes) -> None:
        self.since.append((offset, data))
        apply(self.now, offset, data)

    def truncate(self, length: int) -> None:
        self.since.append((length, None))
        apply(self.now, length, None)

    def sync(self) -> None:
        self.synced = bytes(self.now)
        self.since.clear()

    def survive(self, chance: random.Random) -> None:
        """Become what a power cut leaves."""
        left = bytearray(self.synced)
        kept = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for offset, data in self.since:
            if data is None:
                if chance.random() < kept:
                    apply(left, offset, None)
                continue
            for at in range(0, len(data), SECTOR):
                piece = data[at : at + SECTOR]
                if chance.random() < kept:
                    apply(left, offset + at, piece)
                elif chance.random() < 0.2:
                    apply(left, offset + at, piece[: chance.randrange(len(piece))])
        self.now, self.synced, self.named = left, bytes(left), True
        self.since.clear()


def apply(content: bytearray, offset: int, data: bytes | None) -> None:
    """Write at an offset, or cut there."""
    if data is None:
        del content[offset:]
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class Disk:
    """Files in memory; `cut` or `kill` it at any time, or from inside at an event."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.deleted: dict[str, File] = {}
        """Files whose deletion would not survive."""
        self.life = 0
        self.on = True
        self.room: int | None = None
        """How many bytes fit on it; None if there is no end."""
        self.read_only = False
        self.events = 0
        self.syncs = 0
        self.cut_at: int | None = None
        """The event at which the power goes; it does not happen any more."""
        self.cut_after: int | None = None
        """The sync after which the power goes."""

    def connect(self, path: Path) -> ApswConnection:
        """Open a database on it, for a process that lives until the next cut or kill."""
        return ApswConnection(path, Mount(self))

    # --- what happens to it -----------------------------------------------------------------------

    def cut(self, chance: random.Random) -> None:
        """Cut the power, and switch it on again."""
        for path, file in self.deleted.items():
            if path not in self.files and chance.random() < 0.5:
                self.files[path] = file
        for path, file in list(self.files.items()):
            if not file.named and chance.random() < 0.5:
                del self.files[path]
            else:
                file.survive(chance)
        self._restart()

    def kill(self) -> None:
        """End the process; what it wrote is in the memory of the system."""
        self._restart()

    def _restart(self) -> None:
        self.deleted.clear()
        self.life += 1
        self.on = True
        self.cut_at = self.cut_after = None

    def sync_folder(self) -> None:
        """Let what was made and deleted survive."""
        self.deleted.clear()
        for file in self.files.values():
            file.named = True

    def happen(self, life: int) -> None:
        """Count an event, and refuse it if there is no power, or none any more for this process."""
        if life != self.life or not self.on:
            raise refusal(apsw.SQLITE_IOERR)
        self.events += 1
        if self.cut_at is not None and self.events >= self.cut_at:
            self.on = False
            raise refusal(apsw.SQLITE_IOERR)

    def check_room(self, more: int) -> None:
        if self.read_only:
            raise refusal(apsw.SQLITE_READONLY)
        used = sum(len(file.now) for file in self.files.values())
        if self.room is not None and more > 0 and used + more > self.room:
            raise refusal(apsw.SQLITE_FULL)


def refusal(code: int) -> Exception:
    """Return what SQLite turns into an error of this code."""
    return apsw.exception_for(code)


class Mount(apsw.VFS):
    """A disk as one process sees it."""

    def __init__(self, disk: Disk) -> None:
        self.name = f"disk-{next(_names)}"
        self.disk, self.life = disk, disk.life
        super().__init__(self.name, "")

    def excepthook(self, etype: object, evalue: object, etraceback: object) -> bool:
        """Say nothing: SQLite returns the error."""
        return True

    def xFullPathname(self, name: str) -> str:
        return name

    def xAccess(self, pathname: str, flags: int) -> bool:
        return pathname in self.disk.files

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.disk.happen(self.life)
        gone = self.disk.files.pop(filename, None)
        if gone is None:
            raise refusal(apsw.SQLITE_IOERR_DELETE_NOENT)
        if not syncdir:
            self.disk.deleted[filename] = gone

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.disk.happen(self.life)
        files = self.disk.files
        if path is None:
            return cast(apsw.VFSFile, Handle(self.disk, File()))  # a temporary file
        if path not in files:
            if self.disk.read_only or not flags[0] & apsw.SQLITE_OPEN_CREATE:
                raise refusal(apsw.SQLITE_CANTOPEN)
            # The store itself makes the file and syncs its folder; see `Place.create`.
            files[path] = File(named=bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB))
        flags[1] = flags[0]
        return cast(apsw.VFSFile, Handle(self.disk, files[path]))


class Handle:
    """An open file."""

    def __init__(self, disk: Disk, file: File) -> None:
        self.disk, self.file, self.life = disk, file, disk.life

    def excepthook(self, *_: Any) -> None:
        """Say nothing: SQLite returns the error."""

    def xRead(self, amount: int, offset: int) -> bytes:
        if self.life != self.disk.life or not self.disk.on:
            raise refusal(apsw.SQLITE_IOERR)
        return bytes(self.file.now[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.happen(self.life)
        self.disk.check_room(offset + len(data) - len(self.file.now))
        self.file.write(offset, bytes(data))

    def xTruncate(self, newsize: int) -> None:
        self.disk.happen(self.life)
        self.disk.check_room(0)
        self.file.truncate(newsize)

    def xSync(self, flags: int) -> None:
        self.disk.happen(self.life)
        self.disk.check_room(0)
        if not self.file.named:
            self.disk.sync_folder()  # as SQLite does with the first sync of a file it made
        self.file.sync()
        self.disk.syncs += 1
        if self.disk.cut_after is not None and self.disk.syncs >= self.disk.cut_after:
            self.disk.on = False

    def xFileSize(self) -> int:
        return len(self.file.now)

    def xLock(self, level: int) -> None: ...

    def xUnlock(self, level: int) -> None: ...

    def xCheckReservedLock(self) -> bool:
        return False

    def xSectorSize(self) -> int:
        return SECTOR

    def xDeviceCharacteristics(self) -> int:
        return 0

    def xFileControl(self, op: int, ptr: int) -> bool:
        return False

    def xClose(self) -> None: ...


class ApswConnection:
    """A connection through apsw to a database on a disk; see `sqlite_file.Connection`."""

    def __init__(self, path: Path, mount: Mount) -> None:
        self._path, self._mount = path, mount
        with self._errors():
            self._raw = apsw.Connection(str(path), vfs=mount.name)

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._raw.execute(sql, parameters).fetchall()

    @property
    def changes(self) -> int:
        return int(self._raw.total_changes())

    def close(self) -> None:
        with self._errors():
            self._raw.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            raise failure(
                getattr(error, "result", apsw.SQLITE_ERROR), str(error), self._path
            ) from None
