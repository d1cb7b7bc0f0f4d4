"""A table in a file, read piece by piece: CSV, Parquet, or Arrow."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import pyarrow as pa

from liftlock.errors import FileError
from liftlock.files import Note, silent
from liftlock.progress import Progress

"""Told how much is done, and of how much: in the file's `unit`."""

_FOREIGN = {
    b"PK\x03\x04": ("an Excel workbook or another archive", "save the sheet as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "save the sheet as CSV"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "unpack it first"),
    b"BZh": ("compressed by bzip2", "unpack it first"),
    b"\xfd7zXZ\x00": ("compressed by xz", "unpack it first"),
    b"FEA1": ("the first version of Feather", "write it again as Arrow or Parquet"),
    b"PARE": ("an encrypted Parquet file", "decrypt it first"),
}
_PARQUET, _ARROW, _ARROW_STREAM, _GZIP = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x1f\x8b"


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a table, and the number of the first of them (from 0)."""

    batch: pa.RecordBatch
    first_row: int


class TableFile(Protocol):
    """A table in a file, of which some columns are read piece by piece, as often as one likes."""

    @property
    def path(self) -> Path:
        """Where the file is."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""

    @property
    def rows(self) -> int | None:
        """The number of rows, if the file says so without being read."""

    @property
    def unit(self) -> Literal["rows", "bytes"]:
        """What progress is counted in."""

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column: text for all those of a CSV."""

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[Piece]:
        """Give the rows in order, these columns only, in this order.

        A column of text may come as a dictionary of such text, where the file stores it so.
        """

    def where(self, row: int, column: str) -> str:
        """Name the place of a cell, for an error; may read the whole file."""


def open_table(
    path: Path,
    *,
    note: Note = silent,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
) -> TableFile:
    """Open a table; what it is follows from its first bytes.

    `delimiter` is what separates the cells of a CSV, instead of what the header tells; `names` are
    the columns of a CSV that has no header.
    """
    start = _first_bytes(path)
    for magic, (what, remedy) in _FOREIGN.items():
        if start.startswith(magic):
            raise FileError(what, where=str(path), remedy=remedy)
    columnar = start.startswith((_PARQUET, _ARROW, _ARROW_STREAM))
    if columnar and (delimiter is not None or names is not None):
        raise FileError(
            "not a CSV",
            where=str(path),
            remedy="it names its columns itself: leave out delimiter and names",
        )
    if start.startswith(_PARQUET):
        from liftlock.frames.parquet_file import ParquetTable

        return ParquetTable.opened(path)
    if start.startswith((_ARROW, _ARROW_STREAM)):
        from liftlock.frames.arrow_file import ArrowTable

        return ArrowTable.opened(path, stream=start.startswith(_ARROW_STREAM))
    suffix = path.suffix.lower()
    if start and suffix in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
        kind = "a Parquet" if suffix in (".parquet", ".pq") else "an Arrow"
        raise FileError(
            f"not {kind} file", where=str(path), remedy="is it whole, and the right one?"
        )
    from liftlock.frames.csv_file import CsvFile

    return CsvFile.opened(
        path, packed=start.startswith(_GZIP), note=note, delimiter=delimiter, names=names
    )


def _first_bytes(path: Path) -> bytes:
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise FileError(
                "a folder, not a file", where=str(path), remedy="name the file inside it"
            )
        if not stat.S_ISREG(found.st_mode):
            # It is read more than once: for its types, its prior, and to word an error.
            raise FileError(
                "a pipe or a device, not a file", where=str(path), remedy="save it as a file first"
            )
        with path.open("rb") as stream:
            return stream.read(8)
    except FileNotFoundError:
        raise FileError("no such file", where=str(path), remedy="check the path") from None
    except OSError as error:
        raise FileError(
            "cannot read", where=str(path), value=error.strerror, remedy="check its permissions"
        ) from None
    except ValueError as error:
        if isinstance(error, FileError):
            raise
        raise FileError("not a file name", where=repr(str(path)), remedy="check the path") from None


def named_tsv(path: Path) -> bool:
    """Tell whether the name of a file says that tabs separate its cells.

    >>> [named_tsv(Path(name)) for name in ("a.tsv", "a.TSV.gz", "a.tsv.csv")]
    [True, True, False]
    """
    return path.name.lower().endswith((".tsv", ".tsv.gz"))


def column_place(where: str, columns: Sequence[str], column: str, *, header: bool = False) -> int:
    """Return the position of a column that is there exactly once; `header` is a line of text."""
    found = [at for at, name in enumerate(columns) if name == column]
    if not found:
        shown = ", ".join(columns[:_SHOWN])
        more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        remedy = f"it has {shown}{more}"
        if header and sum(_is_number(name) for name in columns) > 1:
            # What stands there may be a person's row.
            remedy = "the first line looks like data: if there is no header, give --names"
        raise FileError("no such column", where=where, value=column, remedy=remedy)
    if len(found) > 1:
        raise FileError(
            "column name given twice",
            where=f"{where}, columns {found[0] + 1} and {found[1] + 1}",
            value=column,
            remedy="the names of columns are different from one another",
        )
    return found[0]


_SHOWN = 20


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Name the file when Arrow cannot read it."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        # Arrow reports damaged content as an error of the system, but without its number.
        failed = isinstance(error, OSError) and error.errno
        raise FileError(
            "cannot read" if failed else f"not a whole {kind} file",
            where=str(path),
            value=os.strerror(failed) if failed else str(error).partition("\n")[0],
            remedy="check its permissions and its disk" if failed else "write it again",
        ) from None
