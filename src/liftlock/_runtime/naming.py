"""New files: written without a name, then named, all of a set or none.

Until its content is whole a file has no name (`O_TMPFILE`), so a process that is killed leaves
nothing. No system names several files in one step. So a process of its own gives the names of a
set, which a kill of ours does not reach; if it is killed itself, we finish what it began, and if a
name cannot be given, those given before are taken back.

A file on its way is locked by whoever writes it. That is how a leftover of a power failure is told
from the work of others; the next file in its place removes it. Folders are locked while a set is
named, so that the files of two runs do not mix.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import signal
import stat
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from liftlock.errors import FileError

POSIX = os.name == "posix"
if POSIX:
    import fcntl

_BUFFER = 1 << 20
_OPEN_FILES = Path("/proc/self/fd")
_LONGEST = 60
"""How many characters of a name its hidden one has: with the rest at most 255 bytes."""
_NO_LINKS = (errno.EPERM, errno.EMLINK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


_HELPED: ContextVar[bool] = ContextVar("helped", default=False)


@dataclass(eq=False)
class NewFile:
    """A file that is being written, and the name that it is to have."""

    path: Path
    """As somebody asked for it."""
    place: Path
    """Where it is to appear: what a symbolic link leads to."""
    stream: BinaryIO
    hidden: Path
    """Its name just before the last step; from the first on where files must have names."""
    nameless: bool
    replace: bool
    private_like: Path | None
    replaces: bool = False
    """Whether there is a file in its place, which it is to replace."""

    @classmethod
    def open(
        cls, path: Path, place: Path, *, replace: bool = True, private_like: Path | None = None
    ) -> NewFile:
        """Open a new file that only its owner may read yet."""
        remove_leftovers(place)
        hidden = place.with_name(f".{place.name[:_LONGEST]}.{secrets.token_hex(4)}.new")
        with write_errors_at(path):
            handle = _open_nameless(place.parent)
            nameless = handle is not None
            if handle is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
                handle = os.open(hidden, flags, 0o600)
            with suppress(OSError):
                lock_handle(handle)
            stream = os.fdopen(handle, "wb", buffering=_BUFFER)
        return cls(path, place, stream, hidden, nameless, replace, private_like)

    @property
    def content(self) -> Path:
        """The name under which this process can read it."""
        return _OPEN_FILES / str(self.stream.fileno()) if self.nameless else self.hidden

    def finish(self, *, durable: bool = False) -> None:
        """Complete the content, and let those read it who may."""
        with write_errors_at(self.path):
            self.stream.flush()
            before = status(self.place)
            mode = _mode(before)
            if before is None and self.private_like is not None:
                like = self.private_like.stat().st_mode
                mode &= stat.S_IMODE(like) | stat.S_IRUSR | stat.S_IWUSR
            self.content.chmod(mode)
            if durable or _HELPED.get():
                os.fsync(self.stream.fileno())

    def close(self) -> None:
        """Close it; without a name it is gone."""
        # What could not be written is tried again by `close`, and fails again.
        with suppress(OSError):
            self.stream.close()
        if not self.nameless:
            self.hidden.unlink(missing_ok=True)

    # Every step may have been done by a process that was killed, and is then not done again.

    def prepare(self, *, keep_old: bool) -> None:
        """Do what may fail while nothing is lost: names beside the one that is replaced."""
        if not self.replaces or self.is_named():
            return
        if keep_old:
            try:
                os.link(self.place, self._old)
            except FileExistsError:
                pass
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
        self._link_hidden()

    def give_name(self) -> None:
        """Let it appear in its place."""
        if self.is_named():
            return
        if self.replaces:
            self.hidden.replace(self.place)
            return
        try:
            self._link(self.place)
        except FileExistsError:
            if not self.replace:
                refuse_existing(self.path)
            self._link_hidden()
            self.hidden.replace(self.place)
        except OSError as error:
            if self.nameless or error.errno not in _NO_LINKS:
                raise
            if not self.replace:
                refuse_existing(self.path)
            self.hidden.replace(self.place)

    def take_name_back(self) -> None:
        """Restore what was there before."""
        if self.is_named() and not self.replaces:
            self.place.unlink()
        elif self.is_named() and status(self._old) is not None:
            self._old.replace(self.place)

    def tidy(self) -> None:
        """Remove the names that were needed on the way."""
        if self.nameless or self.is_named():
            self.hidden.unlink(missing_ok=True)
        self._old.unlink(missing_ok=True)

    @property
    def _old(self) -> Path:
        """The name of the replaced file until all names are given."""
        return self.hidden.with_suffix(".old")

    def is_named(self) -> bool:
        """Tell whether it is in its place."""
        found = status(self.place)
        return found is not None and os.path.samestat(found, os.fstat(self.stream.fileno()))

    def _link_hidden(self) -> None:
        if self.nameless:
            with suppress(FileExistsError):
                self._link(self.hidden)

    def _link(self, target: Path) -> None:
        if not self.nameless:
            os.link(self.hidden, target)
            return
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            # Only with a folder does Python follow the link that leads to the open file.
            os.link(self.content, target.name, dst_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)


@contextmanager
def surviving_kills() -> Iterator[None]:
    """Let a process of its own give the names of files that are written in the block.

    The commands do so. A program that uses the library may have threads and processes that want no
    copy: there, several files are named one after the other, and a kill in between can be seen.
    """
    outer = _HELPED.set(True)
    try:
        yield
    finally:
        _HELPED.reset(outer)


def name_files(files: Sequence[NewFile], *, durable: bool = False) -> None:
    """Give finished files their names, in this order: all of them, or none if one cannot be given.

    Durable names outlast a power failure once this returns, and those of commands always do.
    """
    helped = _HELPED.get()
    for file in files:
        file.replaces = file.replace and status(file.place) is not None
    folders = sorted({Path(os.path.realpath(file.place.parent)) for file in files})
    one_step = len(files) == 1 and files[0].nameless and not files[0].replaces
    with _locked(folders if helped else []), _signals_held():
        try:
            if helped and not one_step:
                _outlive(lambda: _name_all(files))
            else:
                _name_all(files)
        except BaseException:
            # Helpers that were killed may have come to the end all the same.
            if not all(file.is_named() for file in files):
                for file in reversed(files):
                    with suppress(OSError):
                        file.take_name_back()
                raise
        finally:
            _tidy(files)
    if durable or helped:
        for folder in folders:
            _sync_folder(folder)


def _name_all(files: Sequence[NewFile]) -> None:
    for file in files:
        with write_errors_at(file.path):
            file.prepare(keep_old=len(files) > 1)
    for file in files:
        with write_errors_at(file.path):
            file.give_name()
    _tidy(files)


def _tidy(files: Sequence[NewFile]) -> None:
    for file in files:
        with suppress(OSError):
            file.tidy()


_HELPERS = 5
"""How many helpers may be killed before nothing is written; each begins where one ended."""


def _outlive(work: Callable[[], None]) -> None:
    """Do some work in a process that outlives us, and in another one if that is killed.

    The work is nothing but calls of the system, which other threads cannot have locked.
    """
    for _ in range(_HELPERS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
                child = os.fork()
        except (AttributeError, OSError):
            return work()
        if child == 0:
            code = 1
            try:
                os.setsid()
                work()
                code = 0
            finally:
                os._exit(code)
        try:
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except ChildProcessError:  # somebody else waited for it
            code = 1
        if code == 0:
            return None
        if code > 0:  # to fail here in the same way
            return work()
    raise FileError("the helper that names files was killed", remedy="run it again")


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the block is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        held.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, hold) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if held:
            signal.raise_signal(held[0])


# --- locks --------------------------------------------------------------------------------------


_PATIENCE = 10.0
"""How many seconds we wait for another run to name its files, which takes milliseconds."""


def lock_handle(handle: int, seconds: float = 0.0) -> None:
    """Lock an open file until it is closed, which a process that dies does too.

    If somebody else still has it locked after some seconds, this is a `BlockingIOError`.
    """
    end = time.monotonic() + seconds
    locked = not POSIX
    while not locked:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked = True
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.005)


@contextmanager
def _locked(folders: Iterable[Path]) -> Iterator[None]:
    """Keep other runs from naming files in folders; our helper keeps the locks if we are killed."""
    with ExitStack() as held:
        for folder in folders:
            # Not every system can open or lock a folder: then two runs at once may mix.
            with suppress(OSError):
                handle = os.open(folder, os.O_RDONLY)
                held.callback(os.close, handle)
                lock_handle(handle, _PATIENCE)
        yield


def remove_leftovers(place: Path) -> None:
    """Remove what a power failure left beside a file, and nobody is writing any more."""
    pattern = re.compile(rf"\.{re.escape(place.name[:_LONGEST])}\.[0-9a-f]{{8}}\.(new|old)")
    with suppress(OSError):
        found = [file for file in place.parent.iterdir() if pattern.fullmatch(file.name)]
        if not found or not POSIX:
            return
        with ExitStack() as held:
            folder = os.open(place.parent, os.O_RDONLY)
            held.callback(os.close, folder)
            lock_handle(folder)
            for file in found:
                with suppress(OSError):
                    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
                    held.callback(os.close, handle)
                    lock_handle(handle)
                    file.unlink()


# --- the system ---------------------------------------------------------------------------------


def _open_nameless(folder: Path) -> int | None:
    """Open a file without a name in a folder, where the system and the disk know such files."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not _OPEN_FILES.is_dir():
        return None
    try:
        return os.open(folder, flag | os.O_RDWR, 0o600)
    except OSError:
        return None


def _sync_folder(folder: Path) -> None:
    """Write the names of a folder onto the disk: until then a file may be lost that is on it."""
    if os.name == "nt":  # pragma: no cover - folders cannot be opened there
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        # Some file systems keep names safe on their own, and know no such call.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise write_error(folder, error) from None


def _mode(before: os.stat_result | None) -> int:
    """Return who may read and write a file: as before, or if there was none as the system says."""
    if before is not None:
        return stat.S_IMODE(before.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def status(path: Path) -> os.stat_result | None:
    """Return what the system says about a file, if it is there."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def refuse_existing(path: Path) -> None:
    """Refuse to write where a file is already."""
    if status(path) is not None or path.is_symlink():
        raise FileError(
            "the file exists already",
            where=str(path),
            remedy="choose another name, or overwrite it (--force, force=True in Python)",
        )


@contextmanager
def write_errors_at(path: Path) -> Iterator[None]:
    """Name the file that could not be written."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from None


def write_error(path: Path, error: OSError | ValueError) -> FileError:
    """Return what the system said as an error of ours."""
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return FileError(
        "cannot write",
        where=str(path),
        value=getattr(error, "strerror", None) or str(error),
        remedy="make room, or choose another disk"
        if full
        else "choose a file that you may write to",
    )
