"""Files: written whole or not at all, read with errors that say where, JSON, and locks.

The lock of a ledger lets one release through at a time. The system holds it on the ledger itself,
so that of a process that was killed is free. Saving locks the new ledger before it has its name;
one who had opened the old one finds that it is not there any more, and begins again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

from liftlock._runtime.naming import (
    POSIX,
    NewFile,
    lock_handle,
    name_files,
    status,
    write_error,
    write_errors_at,
)
from liftlock.errors import FileError, InputError, LiftlockError


def destination(path: Path) -> Path:
    """Return the file that a path names, which for a symbolic link is what it leads to."""
    try:
        return Path(os.path.realpath(path)) if path.is_symlink() else path
    except (OSError, ValueError) as error:
        raise write_error(path, error) from None


def check_writable(path: Path) -> None:
    """Refuse a file that could not be written, before any work is done.

    Only a regular file is ever replaced: moving a file onto a pipe or a device would delete it.
    """
    place = destination(path)
    try:
        folder, found = place.parent.is_dir(), status(path)
    except (OSError, ValueError) as error:
        raise write_error(path, error) from None
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise FileError("a folder, not a file", where=str(path), remedy="add a file name")
    if found is not None and (not stat.S_ISREG(found.st_mode) or _is_standard_output(found)):
        raise FileError(
            f"{_kind(found)}, not a regular file",
            where=str(path),
            remedy="choose a file: results can only go to a file, not to the screen or a pipe",
        )
    if not folder:
        raise FileError("no such folder", where=str(place.parent), remedy="make it first")
    if not os.access(place.parent, os.W_OK):
        raise FileError(
            "cannot write into the folder",
            where=str(place.parent),
            remedy="choose a folder that you may write to",
        )


def _is_standard_output(found: os.stat_result) -> bool:
    """Tell whether a file is where this process prints, as /dev/stdout is after ``> file``."""
    for stream in (1, 2):
        try:
            if os.path.samestat(found, os.fstat(stream)):
                return True
        except OSError:
            continue
    return False


def _kind(found: os.stat_result) -> str:
    kinds = {
        stat.S_IFREG: "where messages are printed",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(found.st_mode), "a device")


class FileSet:
    """Files that appear together: all of them once each is whole, or none."""

    def __init__(self) -> None:
        self.files: list[NewFile] = []

    def digest(self, path: Path) -> str:
        """Return the SHA-256 of a file that has no name yet."""
        (file,) = (file for file in self.files if file.path == path)
        with write_errors_at(path), file.content.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


_TOGETHER: ContextVar[FileSet | None] = ContextVar("together", default=None)


@contextmanager
def write_together() -> Iterator[FileSet]:
    """Let the files that are written in the block appear at its end, all of them or none.

    They are named in the opposite order: the first one is the result, and where it is, what
    belongs to it is there too. A kill leaves all the old files or all the new ones, and no others
    (see `liftlock._runtime.naming`).
    """
    files = FileSet()
    outer = _TOGETHER.set(files)
    try:
        yield files
        if files.files:
            name_files(files.files[::-1])
    finally:
        _TOGETHER.reset(outer)
        for file in files.files:
            file.close()


@contextmanager
def open_atomically(
    path: Path, *, replace: bool = True, private_like: Path | None = None
) -> Iterator[BinaryIO]:
    """Open a new file for writing, and give it the name `path` only when all went well.

    A symbolic link stays, and what it leads to is replaced; with ``replace=False`` a file that
    appears meanwhile is not. A file that is there already keeps who may read and write it; a new
    one may be read by nobody who may not read `private_like`.
    """
    check_writable(path)
    together = _TOGETHER.get()
    with ExitStack() as failing:
        file = NewFile.open(path, destination(path), replace=replace, private_like=private_like)
        failing.callback(file.close)
        with write_errors_at(path):
            yield file.stream
        file.finish()
        if together is None:
            name_files([file])
        else:
            failing.pop_all()
            together.files.append(file)


def write_atomically(path: Path, text: str, *, private_like: Path | None = None) -> None:
    """Write a text file completely or not at all."""
    with open_atomically(path, private_like=private_like) as stream:
        stream.write(text.encode("utf-8"))


def write_durably(path: Path, text: str) -> None:
    """Write a text file completely or not at all; once this returns, no power failure undoes it.

    It does not wait for the files that are written together with it.
    """
    check_writable(path)
    place = destination(path)
    locked = _LOCKED.get(_key(place))
    file = NewFile.open(path, place, replace=locked != [])
    try:
        with write_errors_at(path):
            file.stream.write(text.encode("utf-8"))
        file.finish(durable=True)
        try:
            name_files([file], durable=True)
        except FileError:
            if file.replace or status(place) is None:
                raise
            raise FileError(
                "another release began the ledger meanwhile",
                where=str(path),
                remedy="run it again: nothing was released",
            ) from None
        if locked is not None:
            # Whoever opens the new file finds it locked, as the old one was.
            locked.append(os.dup(file.stream.fileno()))
    finally:
        file.close()


MOST_BYTES = 512 * 1024 * 1024
"""Larger text files are refused rather than read into memory."""

JAVASCRIPT_SAFE = 1 << 53
"""Integers up to this size survive a JSON reader that uses floating point."""

MOST_DIGITS = 500
"""Longer numbers are refused: nobody measures them, and they would stall exact arithmetic."""

OURS = re.compile(rb'"format"\s*:\s*"liftlock\.')
"""What every JSON file that is written here has near its beginning."""
_LARGE_FILE, _BEGINNING = 1 << 20, 1 << 16

_LABEL_KEYS = frozenset({"labels", "inputs", "outputs", "secrets", "unprotected"})


def read_text(path: Path, *, begins: re.Pattern[bytes] | None = None) -> str:
    """Read a text file, with a clear error for everything that can be wrong with it.

    A large file must show near its beginning what it `begins` with, or no more of it is read.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(_LARGE_FILE)
            large = len(raw) == _LARGE_FILE
            other = large and begins is not None and not begins.search(raw, 0, _BEGINNING)
            if large and not other:
                # Pipes and devices have no size, so the limit is on what is read.
                raw += stream.read(max(MOST_BYTES + 1 - len(raw), 0))
    except FileNotFoundError:
        raise FileError("no such file", where=str(path), remedy="check the path") from None
    except IsADirectoryError:
        raise FileError(
            "a folder, not a file", where=str(path), remedy="name the file inside it"
        ) from None
    except OSError as error:
        raise FileError(
            "cannot read", where=str(path), value=error.strerror, remedy="check its permissions"
        ) from None
    except ValueError:
        raise FileError("not a file name", where=repr(str(path)), remedy="check the path") from None
    if other:
        raise FileError(
            "a large file of another format",
            where=str(path),
            value=raw[:40].decode("utf-8", "replace"),
            remedy="check that it is the right file: it does not begin as expected",
        )
    if len(raw) > MOST_BYTES:
        raise FileError(
            f"file larger than {_size(MOST_BYTES)}",
            where=str(path),
            value=f"{_size(path.stat().st_size)}" if path.is_file() else None,
            remedy="merge rare symbols first",
        )
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileError("UTF-16 text", where=str(path), remedy="save the file as UTF-8")
    nul = raw.find(b"\0")
    if nul >= 0:
        raise FileError(
            "not a text file", where=f"{path}, byte {nul + 1}", remedy="give CSV or JSON in UTF-8"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FileError(
            "not UTF-8",
            where=f"{path}, line {line}, byte {error.start + 1}",
            value=bytes(raw[error.start : error.start + 1]),
            remedy="save the file as UTF-8",
        ) from None
    if not text.strip():
        raise FileError("empty file", where=str(path), remedy="check that it is the right file")
    return text


def _size(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"


def read_json(path: Path, *, begins: re.Pattern[bytes] | None = None) -> Any:
    """Read a JSON file; see `parse_json`, and `read_text` for what it `begins` with."""
    return parse_json(read_text(path, begins=begins), path)


def parse_json(text: str, path: Path) -> Any:
    """Parse JSON; decimals are kept as text, so that 0.7 stays seven tenths.

    Decimals that are labels become floats again, since a label is a name and not a quantity. A key
    given twice is refused: a JSON reader would silently keep the last.
    """

    def refuse(what: str, value: object, remedy: str) -> FileError:
        return FileError(what, where=str(path), value=value, remedy=remedy)

    def integer(digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            raise refuse(f"number of {len(digits):,} digits", digits, "check the value")
        return int(digits)

    def constant(name: str) -> Any:
        raise refuse("number is not finite", name, "give a finite number")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in items:
            if key in found:
                raise refuse("key given twice", key, "labels must be different from one another")
            found[key] = _restore_floats(value) if key in _LABEL_KEYS else value
        return found

    try:
        data = json.loads(
            text,
            parse_float=_Decimal,
            parse_int=integer,
            parse_constant=constant,
            object_pairs_hook=pairs,
        )
        if "\\u" in text:
            json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise FileError(
            "not valid JSON",
            where=f"{path}, line {error.lineno}, column {error.colno}",
            value=error.msg,
            remedy="check that the file is complete",
        ) from None
    except RecursionError:
        raise refuse("JSON nested too deeply", None, "check that it is the right file") from None
    except UnicodeEncodeError as error:
        raise refuse(
            "half of a character", error.object[error.start], "write labels in whole characters"
        ) from None
    return data


class _Decimal(str):
    """A decimal number as it was written."""

    __slots__ = ()


def _restore_floats(value: Any) -> Any:
    """Turn decimals back into floats, in a list of labels."""
    if isinstance(value, list):
        return [_restore_floats(item) for item in value]
    return float(value) if isinstance(value, _Decimal) else value


@contextmanager
def errors_at(path: Path | str) -> Iterator[None]:
    """Name the file in whatever is refused while its content is being understood."""
    try:
        yield
    except InputError as error:
        place = str(path)
        if isinstance(error, FileError) and error.where.startswith(place):
            raise
        where = f"{place}, {error.where}" if error.where else place
        remedy = error.remedy or "check that it is the right file, or correct it"
        raise FileError(error.what, where=where, value=error.value, remedy=remedy) from None


@contextmanager
def malformed_data_errors() -> Iterator[None]:
    """Refuse JSON of the wrong shape: a file may hold any type anywhere."""
    try:
        yield
    except LiftlockError:
        raise
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise FileError(
            "content of the wrong shape",
            value=str(error),
            remedy="check that it is the right file, or make it again",
        ) from None


def check_format(data: Any, expected: str, *versions: int) -> None:
    """Refuse anything that is not the expected file format in a version we know."""
    if not isinstance(data, dict) or "format" not in data:
        raise FileError("not a liftlock file", remedy=f"expected an object of format {expected}")
    if data["format"] != expected:
        raise FileError("another file format", value=data["format"], remedy=f"expected {expected}")
    version = data.get("version")
    if version not in versions or not isinstance(version, int) or isinstance(version, bool):
        known = " and ".join(map(str, versions))
        raise FileError(
            f"unknown version of {expected}",
            value=version,
            remedy=f"this liftlock reads version {known}; use the release that wrote the file",
        )


def refuse_changes(stored: Any, fresh: Any, field: str = "") -> None:
    """Refuse JSON that says anything else than what was computed from it, and name the field.

    Numbers are compared by their value, so 1.0 is 1; truth values, text and keys as they are.
    """
    if isinstance(fresh, dict) and isinstance(stored, dict):
        inner = f"{field}." if field else ""
        for key in stored:
            if key not in fresh:
                raise FileError(
                    "unknown field", value=f"{inner}{key}", remedy=f"remove it, or {_RESTORE}"
                )
        for key, value in fresh.items():
            if key not in stored:
                raise FileError(
                    "missing field",
                    value=f"{inner}{key}",
                    remedy=f"computed: {_short(value)}; {_RESTORE}",
                )
            refuse_changes(stored[key], value, f"{inner}{key}")
    elif isinstance(fresh, list | tuple) and isinstance(stored, list) and len(stored) == len(fresh):
        for place, (one, other) in enumerate(zip(stored, fresh, strict=True)):
            refuse_changes(one, other, f"{field}[{place}]")
    elif not _is_same(stored, fresh):
        raise FileError(
            f"{field} does not follow from the rest of the file",
            value=stored,
            remedy=f"computed: {_short(fresh)}; {_RESTORE}",
        )


_RESTORE = "restore the file, or make it again"
_SHOWN = 80


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _is_same(stored: Any, fresh: Any) -> bool:
    """Tell whether a single value is the one that would be written."""
    if isinstance(fresh, bool) or fresh is None or isinstance(stored, bool):
        return stored is fresh
    if isinstance(fresh, float):
        return isinstance(stored, int | float | _Decimal) and float(stored) == fresh
    if isinstance(fresh, int):
        if isinstance(stored, _Decimal):
            return Decimal(stored) == fresh
        return isinstance(stored, int | float) and stored == fresh
    if isinstance(stored, int):
        # Integers that other readers would round are written as text, and read in both forms.
        return abs(stored) > JAVASCRIPT_SAFE and str(stored) == fresh
    return not isinstance(stored, _Decimal) and bool(stored == fresh)


class StoredObject(ABC):
    """Something kept in a JSON file, of a format and a version of its own.

    What else the file says is the `content`. A file of another format, or of a version that is not
    known, is refused, and so is one that would not be written as it is; writing is done completely
    or not at all.
    """

    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]
    FORMER: ClassVar[tuple[int, ...]] = ()
    """The versions that were written before, and can still be read."""
    COMPACT: ClassVar[bool] = False
    """Whether the file is for machines alone: without blanks, so that equal things are equal."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return the JSON form without format and version."""

    @classmethod
    @abstractmethod
    def from_content(cls, data: dict[str, Any]) -> Self:
        """Read the content, of which any value may have any type."""

    @property
    def version(self) -> int:
        """The version it is written in."""
        return self.VERSION

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"format": self.FORMAT, "version": self.version, **self.content()}

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Read the JSON form; refuse other formats and versions, and what was changed in it."""
        check_format(data, cls.FORMAT, *cls.FORMER, cls.VERSION)
        with malformed_data_errors():
            found = cls.from_content(data)
            refuse_changes(data, found.to_data())
        return found

    def to_json(self) -> str:
        """Return the JSON text, indented for people unless it is for machines alone."""
        if self.COMPACT:
            return json.dumps(self.to_data(), separators=(",", ":"))
        return json.dumps(self.to_data(), ensure_ascii=False, indent=1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON; an interrupted write leaves the old file whole."""
        write_atomically(Path(path), self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file and check it; what it says is not believed but proved again."""
        place = Path(path)
        data = read_json(place, begins=OURS)
        with errors_at(place):
            return cls.from_data(data)


# --- the lock of a ledger -------------------------------------------------------------------------

_LOCKED: dict[str, list[int]] = {}
"""The ledgers that this process uses, and what it has locked: nothing while there is no file."""


@contextmanager
def exclusive_access(path: Path) -> Iterator[Path]:
    """Give the file that a ledger is kept in, and keep others from using it meanwhile.

    A symbolic link is followed first: under all its names a ledger has one lock.
    """
    check_writable(path)
    place = destination(path)
    if not POSIX:
        with _lock_beside(place):
            refuse_hard_links(place)
            yield place
        return
    key = _key(place)
    if key in _LOCKED:
        raise _in_use(place)
    _LOCKED[key] = []
    try:
        _LOCKED[key] += _lock_content(place)
        refuse_hard_links(place)
        yield place
    finally:
        for handle in _LOCKED.pop(key):
            os.close(handle)


_PATIENCE = 0.25
"""How many seconds we wait for the helper of a release that was killed."""


def _key(place: Path) -> str:
    return os.path.realpath(place)


def _lock_content(place: Path) -> list[int]:
    """Lock the file itself, so that no other file can be left over or be in the way.

    A ledger that is not there yet cannot be locked: of two that begin it, the second is refused
    when it is saved.
    """
    while True:
        try:
            handle = os.open(place, os.O_RDWR if os.access(place, os.W_OK) else os.O_RDONLY)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _lock_error(place, error) from None
        try:
            lock_handle(handle, _PATIENCE)
            found = status(place)
            if found is not None and os.path.samestat(found, os.fstat(handle)):
                return [handle]
        except BlockingIOError:
            os.close(handle)
            raise _in_use(place) from None
        except OSError as error:
            os.close(handle)
            raise _lock_error(place, error) from None
        os.close(handle)  # it was replaced in between


@contextmanager
def _lock_beside(place: Path) -> Iterator[None]:
    """Lock a file beside it, where an open file cannot be replaced (Windows).

    Whoever holds the lock deletes its file; one that a kill leaves locks nobody out.
    """
    import filelock  # loads much that is needed nowhere else

    lock = filelock.FileLock(place.with_name(f".{place.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise _in_use(place) from None
    except (OSError, NotImplementedError) as error:
        raise _lock_error(Path(lock.lock_file), error) from None
    try:
        yield
    finally:
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()


def _in_use(place: Path) -> FileError:
    return FileError(
        "the ledger is in use by another release",
        where=str(place),
        remedy="wait until it is done",
    )


def _lock_error(place: Path, error: Exception) -> FileError:
    return FileError(
        "cannot lock",
        where=str(place),
        value=getattr(error, "strerror", None) or str(error),
        remedy="keep the ledger in a folder that you may write to, on a disk that has locks",
    )


def refuse_hard_links(path: Path) -> None:
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
