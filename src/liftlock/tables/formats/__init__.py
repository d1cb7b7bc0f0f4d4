"""Tables in files, read piece by piece (CSV, Parquet, Arrow), and data frames read as they are."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from liftlock._runtime.registry import Registry
from liftlock.errors import FileError
from liftlock.files import Note, ignore_note
from liftlock.tables.formats.arrow import ARROW
from liftlock.tables.formats.base import Format, Reading, TableFile
from liftlock.tables.formats.csv_sink import CSV
from liftlock.tables.formats.parquet import PARQUET

__all__ = ["FORMATS", "Format", "format_named", "open_table", "stem"]

_FOREIGN = {
    b"PK\x03\x04": ("an Excel workbook or another archive", "save the sheet as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "save the sheet as CSV"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "unpack it first"),
    b"BZh": ("compressed with bzip2", "unpack it first"),
    b"\xfd7zXZ\x00": ("compressed with xz", "unpack it first"),
    b"FEA1": ("the first version of Feather", "write it again as Arrow or Parquet"),
    b"PARE": ("an encrypted Parquet file", "decrypt it first"),
}

FORMATS: Registry[Format] = Registry(
    "table format",
    "liftlock.formats",
    (
        CSV,
        PARQUET,
        ARROW,
    ),
    names=lambda form: [form.key, *form.suffixes],
    fault=lambda form: "" if isinstance(form, Format) else "give a liftlock.tables.formats.Format",
)
"""Every format of tables, by key; a new one is one file and one line here."""


def format_named(path: Path) -> Format | None:
    """Return the format that the name of a file says, by its longest ending.

    >>> [found and found.key for found in map(format_named, map(Path, ("a.TSV.gz", "a.pq", "a")))]
    ['csv', 'parquet', None]
    """
    name = path.name.lower()
    every = ((end, form) for form in FORMATS.values() for end in form.suffixes)
    fitting = [(len(end), form) for end, form in every if name.endswith(end)]
    return max(fitting, key=lambda each: each[0])[1] if fitting else None


def stem(path: Path) -> str:
    """Return the name of a table without the ending that says its format.

    >>> stem(Path("people.csv.gz")), stem(Path("people.2024"))
    ('people', 'people.2024')
    """
    form = format_named(path)
    ends = [
        end for end in (() if form is None else form.suffixes) if path.name.lower().endswith(end)
    ]
    return path.name[: -max(map(len, ends))] if ends else path.name


def open_table(
    path: Path,
    *,
    note: Note = ignore_note,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
) -> TableFile:
    """Open a table; what it is follows from its first bytes, or else from its name.

    `delimiter` is what separates the cells of a CSV, instead of what the header tells; `names` are
    the columns of a CSV that has no header.
    """
    start = _first_bytes(path)
    for magic, (what, remedy) in _FOREIGN.items():
        if start.startswith(magic):
            raise FileError(what, where=str(path), remedy=remedy)
    asked = Reading(start, note, delimiter, names)
    form = next((each for each in FORMATS.values() if start.startswith(each.magic)), None)
    if form is None:
        form = format_named(path) or CSV
        if form.magic and start:
            raise FileError(
                f"not {form.title}",
                where=str(path),
                remedy="check that it is complete, and the right file",
            )
        form = CSV if form.magic else form
    given = {"delimiter": delimiter, "names": names}
    if any(value is not None and name not in form.options for name, value in given.items()):
        raise FileError(
            "not a CSV",
            where=str(path),
            remedy="leave out delimiter and names: the file names its columns",
        )
    return form.open(path, asked)


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
