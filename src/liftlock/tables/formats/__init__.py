"""Tables in files, read piece by piece (CSV, Parquet, Arrow), and data frames read as they are."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from liftlock.errors import FileError
from liftlock.files import Note, silent
from liftlock.tables.formats.base import TableFile

_FOREIGN = {
    b"PK\x03\x04": ("an Excel workbook or another archive", "save the sheet as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "save the sheet as CSV"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "unpack it first"),
    b"BZh": ("compressed with bzip2", "unpack it first"),
    b"\xfd7zXZ\x00": ("compressed with xz", "unpack it first"),
    b"FEA1": ("the first version of Feather", "write it again as Arrow or Parquet"),
    b"PARE": ("an encrypted Parquet file", "decrypt it first"),
}

_PARQUET, _ARROW, _ARROW_STREAM, _GZIP = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x1f\x8b"


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
            remedy="leave out delimiter and names: the file names its columns",
        )
    if start.startswith(_PARQUET):
        from liftlock.tables.formats.parquet import ParquetTable

        return ParquetTable.opened(path)
    if start.startswith((_ARROW, _ARROW_STREAM)):
        from liftlock.tables.formats.arrow import ArrowTable

        return ArrowTable.opened(path, stream=start.startswith(_ARROW_STREAM))
    suffix = path.suffix.lower()
    if start and suffix in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
        kind = "a Parquet" if suffix in (".parquet", ".pq") else "an Arrow"
        raise FileError(
            f"not {kind} file",
            where=str(path),
            remedy="check that it is complete, and the right file",
        )
    from liftlock.tables.formats.csv import CsvFile

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
