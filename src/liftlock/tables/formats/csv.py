"""A CSV file of any size as a table: bytes cut into whole rows, cells as Arrow arrays of text."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from liftlock._runtime.progress import Progress, Step
from liftlock.errors import FileError, InputError
from liftlock.files import DELIMITERS, Note
from liftlock.files.sheet import split_row
from liftlock.tables.formats import csv_kernels as kernels
from liftlock.tables.formats.base import RowBatch, RowStream, column_position, is_tsv_name
from liftlock.tables.formats.csv_kernels import Bytes, Places
from liftlock.tables.pipeline import read_ahead

CHUNK = 4 << 20
"""Bytes read at a time."""


MOST_ROWS = 1 << 17
"""Rows found at a time, which bounds the memory for their places."""


MOST_RECORD = 64 << 20
"""A longer row is refused: most likely a quotation mark is not closed."""


BOM = b"\xef\xbb\xbf"

_QUOTED = re.compile(r'"(?:[^"]|"")*("|\Z)')

_NAMES = {",": "commas", **dict(DELIMITERS)}


@dataclass(frozen=True)
class CsvLayout:
    """How the cells of a CSV are laid out: what separates them, and where the rows begin."""

    path: Path
    packed: bool
    mark: str
    columns: tuple[str, ...]
    header: bool
    """Whether the names of the columns are in the file."""
    header_line: int
    head: bytes
    """The bytes before the rows: byte-order mark, empty lines, header."""
    header_start: int
    """Where in the head the header starts."""

    @property
    def kinds(self) -> Bytes:
        """Which bytes end a cell: 1 for the mark, 2 for line ends."""
        return byte_classes(self.mark)

    def line_of(self, place: int) -> int:
        """Return the number of the line on which a byte is; reads up to there."""
        line, before = 1, b""
        with open_for_reading(self.path, packed=self.packed) as stream:
            while place > 0 and (data := stream.read(min(CHUNK, place))):
                joined = np.frombuffer(before + data, dtype=np.uint8)
                # A line end that is cut in two counts once, with its first half.
                line += kernels.count_line_ends(joined, len(joined))
                line -= kernels.count_line_ends(joined, len(before))
                before = data[-1:]
                place -= len(data)
        return line

    def where(self, place: int) -> str:
        """Name the line on which a byte is."""
        return f"{self.path}, line {self.line_of(place)}"


@dataclass(frozen=True)
class RawRows:
    """Whole rows as bytes, and where the cells of some columns are in them."""

    buffer: Bytes
    start: int
    stop: int
    starts: Places
    stops: Places
    first_row: int
    offset: int
    """The place of the buffer in the (unpacked) file."""
    done: int
    """How many bytes of the file have been read."""

    def __len__(self) -> int:
        return len(self.starts)


def byte_classes(mark: str) -> Bytes:
    """Return which bytes end a cell: 1 for the mark, 2 for line ends."""
    kinds = np.zeros(256, dtype=np.uint8)
    kinds[ord(mark)] = 1
    kinds[[10, 13]] = 2
    return kinds


@contextmanager
def open_for_reading(path: Path, *, packed: bool) -> Iterator[IO[bytes]]:
    """Open a file for reading, and name it in whatever goes wrong."""
    try:
        with path.open("rb", buffering=0) as raw:
            yield gzip.GzipFile(fileobj=raw, mode="rb") if packed else raw  # type: ignore[misc]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(
            "incomplete gzip file", where=str(path), value=str(error), remedy="compress it again"
        ) from None
    except OSError as error:
        raise FileError(
            "cannot read", where=str(path), value=error.strerror, remedy="check its permissions"
        ) from None


def raw_rows(layout: CsvLayout, columns: Sequence[int]) -> Iterator[RawRows]:
    """Give all rows below the header, with the places of the cells of these columns."""
    width = len(layout.columns)
    wanted = np.full(width, -1, dtype=np.int64)
    wanted[list(columns)] = np.arange(len(columns))
    kinds = layout.kinds
    first_row = 0
    with open_for_reading(layout.path, packed=layout.packed) as stream:
        stream.seek(len(layout.head))
        offset = len(layout.head)
        carry = b""
        final = False
        while not final:
            block = stream.read(CHUNK)
            final = not block
            data = carry + block
            buffer = np.frombuffer(data, dtype=np.uint8)
            done = _position(stream)
            start, full = 0, True
            while full:
                # Each cell takes a byte at least, with the mark or the line end behind it.
                most = min(MOST_ROWS, (len(data) - start) // width + 1)
                starts = np.empty((most, len(columns)), dtype=np.int64)
                stops = np.empty_like(starts)
                rows, stop, status, bad, cells = kernels.scan(
                    buffer, start, final, kinds, width, wanted, starts, stops
                )
                _check_text(
                    layout,
                    data,
                    start,
                    stop if status == kernels.FINE else len(data),
                    offset,
                    whole=status == kernels.FINE,
                )
                if status != kernels.FINE:
                    raise _malformed_row_error(layout, data, bad, offset, status, cells)
                if stop > start:
                    yield RawRows(
                        buffer, start, stop, starts[:rows], stops[:rows], first_row, offset, done
                    )
                first_row += rows
                full = rows == most
                start = stop
            carry = data[start:]
            offset += start
            if len(carry) > MOST_RECORD:
                raise FileError(
                    f"a row longer than {MOST_RECORD >> 20} MiB",
                    where=layout.where(offset),
                    remedy="check for a missing quotation mark",
                )


def _position(stream: IO[bytes]) -> int:
    raw = getattr(stream, "fileobj", None)
    return stream.tell() if raw is None else int(raw.tell())


def _check_text(
    layout: CsvLayout, data: bytes, start: int, stop: int, offset: int, *, whole: bool
) -> None:
    """Refuse bytes that are not text in UTF-8."""
    if stop <= start:
        return
    region = np.frombuffer(data, dtype=np.uint8)[start:stop]
    if not region.min():
        place = offset + start + int(np.argmin(region))
        raise FileError(
            "not a text file",
            where=f"{layout.path}, byte {place + 1}",
            remedy="give CSV in UTF-8, Parquet or Arrow",
        )
    if region.max() < 128:
        return
    try:
        data[start:stop].decode()
    except UnicodeDecodeError as error:
        if not whole and error.end == stop - start and "unexpected end" in error.reason:
            return
        place = offset + start + error.start
        raise FileError(
            "not UTF-8",
            where=f"{layout.where(place)}, byte {place + 1}",
            value=data[start + error.start : start + error.start + 1],
            remedy="save the file as UTF-8",
        ) from None


def _malformed_row_error(
    layout: CsvLayout, data: bytes, bad: int, offset: int, status: int, cells: int
) -> FileError:
    where = layout.where(offset + bad)
    if status == kernels.RAGGED:
        row = data[bad : bad + 200].splitlines()[0].decode(errors="replace")
        source = "the header has" if layout.header else "names were given for"
        remedy = f"separate the cells of every row by {_NAMES.get(layout.mark, layout.mark)}"
        return FileError(
            f"{cells} cell{'s' * (cells != 1)}, but {source} {len(layout.columns)}",
            where=where,
            value=row,
            remedy=f"{remedy}, and quote a cell that contains it",
        )
    if status == kernels.AFTER_QUOTE:
        return FileError(
            "text after a closing quotation mark",
            where=f"{where}, column {cells}",
            remedy="double the quotation marks inside a quoted cell",
        )
    return FileError(
        "a quotation mark is never closed",
        where=f"{where}, column {cells}",
        remedy="close it, or double it if it belongs to the text",
    )


# --- the header -----------------------------------------------------------------------------


def read_layout(
    path: Path, *, packed: bool, delimiter: str | None, names: Sequence[str] | None
) -> CsvLayout:
    """Read the head of a CSV: what separates its cells, and how its columns are called."""
    if delimiter is not None:
        _check_delimiter(delimiter)
    limit = CHUNK
    while True:
        with open_for_reading(path, packed=packed) as stream:
            data = _read_all(stream, limit)
        final = len(data) < limit
        found = _find_header(path, packed, data, final, delimiter, names)
        if found is not None:
            return found
        if limit > MOST_RECORD:
            raise FileError(
                f"a header longer than {MOST_RECORD >> 20} MiB",
                where=str(path),
                remedy="check that it is a CSV, and for a missing quotation mark",
            )
        limit *= 4


def _read_all(stream: IO[bytes], size: int) -> bytes:
    parts = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _find_header(
    path: Path,
    packed: bool,
    data: bytes,
    final: bool,
    delimiter: str | None,
    names: Sequence[str] | None,
) -> CsvLayout | None:
    """Find the header in the first bytes of a file; None if they are not enough."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileError("UTF-16 text", where=str(path), remedy="save the file as UTF-8")
    start = len(BOM) if data.startswith(BOM) else 0
    body = data[start:].lstrip()
    if final and not body:
        raise FileError("empty file", where=str(path), remedy="check that it is the right one")
    if body[:1] in (b"{", b"["):
        raise FileError(
            "JSON is not a table with columns",
            where=str(path),
            remedy="give a CSV with a header, Parquet or Arrow",
        )
    mark = delimiter or _find_delimiter(path, body, None if names is None else len(names))
    layout = CsvLayout(path, packed, mark, tuple(names or ()), names is None, 0, data[:start], 0)
    if names is not None:
        return layout
    buffer = np.frombuffer(data, dtype=np.uint8)
    nowhere: npt.NDArray[Any] = np.empty((1, 0), dtype=np.int64)
    unwanted = np.empty(0, dtype=np.int64)
    while True:
        rows, stop, status, bad, cells = kernels.scan(
            buffer, start, final, layout.kinds, -1, unwanted, nowhere, nowhere
        )
        known = stop if status == kernels.FINE else len(data)
        _check_text(layout, data, start, known, 0, whole=final or status == kernels.FINE)
        if status != kernels.FINE:
            raise _malformed_row_error(layout, data, bad, 0, status, cells)
        if not rows:
            if final:
                raise FileError(
                    "only empty cells", where=str(path), remedy="check that it is the right file"
                )
            return None
        text = data[start:stop].decode().lstrip("\r\n")
        header = split_row(text, mark)
        if any(header):
            break
        start = stop
    place = stop - len(text.encode())
    line = 1 + kernels.count_line_ends(buffer, place)
    if len(header) == 1 and delimiter is None:
        _check_one_column(path, line, header[0])
    return CsvLayout(path, packed, mark, tuple(header), True, line, data[:stop], place)


def _check_delimiter(delimiter: str) -> None:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(
            "not a separator",
            value=delimiter,
            remedy="give one character, such as , ; | or a tab",
        )


_LOOKED_AT = 1 << 16


def _find_delimiter(path: Path, body: bytes, columns: int | None = None) -> str:
    """Return what separates cells: a comma, unless the header has none and one of the others.

    Without a header it is what separates as many cells as there are columns, in the most lines.
    """
    if is_tsv_name(path):
        return "\t"
    if columns is not None and columns > 1:
        lines = [
            _QUOTED.sub("", line)
            for line in body[:_LOOKED_AT].decode(errors="replace").splitlines()
        ]
        fits = {
            mark: sum(line.count(mark) == columns - 1 for line in lines)
            for mark in (",", *(mark for mark, _ in DELIMITERS))
        }
        return max(fits, key=lambda mark: fits[mark])
    end = re.search(rb'^(?:"(?:[^"]|"")*"|[^"\r\n])*', body)
    header = _QUOTED.sub("", (end.group() if end else body).decode(errors="replace"))
    found = [mark for mark, _ in DELIMITERS if mark in header]
    return found[0] if len(found) == 1 and "," not in header else ","


def _check_one_column(path: Path, line: int, name: str) -> None:
    found = [words for mark, words in DELIMITERS if mark in name]
    if found:
        raise FileError(
            f"cells separated by {' or '.join(found)}",
            where=f"{path}, line {line}",
            value=name,
            remedy="give the separator (--delimiter, delimiter= in Python)",
        )


@dataclass(frozen=True)
class CsvFile:
    """A CSV file; see `liftlock.tables.formats.base.TableFile`."""

    layout: CsvLayout
    stripped: bool = True
    """Whether cells are read without the blanks around them."""

    @classmethod
    def from_file(
        cls,
        path: Path,
        *,
        packed: bool,
        note: Note,
        delimiter: str | None,
        names: Sequence[str] | None,
    ) -> CsvFile:
        """Read the header of a file."""
        layout = read_layout(path, packed=packed, delimiter=delimiter, names=names)
        known = dict(DELIMITERS)
        if delimiter is None and layout.mark in known:
            note(f"the cells of {path} are separated by {known[layout.mark]}, and were read so")
        return cls(layout)

    @property
    def as_written(self) -> CsvFile:
        """The same file with the blanks around its cells, as they go out if a column stays."""
        return replace(self, stripped=False)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.layout.path

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in the header, without blanks around them."""
        return self.layout.columns

    @property
    def rows(self) -> None:
        """Nobody knows how many rows a CSV has before it is read."""
        return

    @property
    def format(self) -> str:
        """The key of its format."""
        return "csv"

    def row_stream(
        self, same: Sequence[int], needs: Sequence[int], watch: Progress | None = None
    ) -> RowStream:
        """Give all rows, each column with the type that keeps its text."""
        from liftlock.tables.formats.csv_types import csv_stream

        return csv_stream(self, same, needs, watch)

    @property
    def unit(self) -> Literal["bytes"]:
        """What progress is counted in: bytes of the file, packed ones if it is."""
        return "bytes"

    @property
    def untyped(self) -> bool:
        """Whether columns have no types of their own: text may be numbers."""
        return True

    def type_of(self, column: str) -> pa.DataType:
        """Return text, which every cell of a CSV is."""
        self.place(column)
        return pa.string()

    def place(self, column: str) -> int:
        """Return the position of a column."""
        layout = self.layout
        where = f"{layout.path}, line {layout.header_line}" if layout.header else str(layout.path)
        return column_position(where, layout.columns, column, header=layout.header)

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[RowBatch]:
        """Give the cells without quotation marks and blanks around them; empty ones are null.

        If they are not `stripped`, blanks stay, and null is what has not even quotation marks.
        """
        places = [self.place(column) for column in columns]
        total = self.path.stat().st_size
        schema = pa.schema([(column, pa.string()) for column in columns])
        texts = _read_texts(self.layout, places, schema, strip=self.stripped)
        with read_ahead(texts) as pieces:
            for piece, done in pieces:
                yield piece
                if watch is not None:
                    watch(Step("reading", done, total))

    def where(self, row: int, column: str) -> str:
        """Name the line and the column of a cell; reads the file up to there."""
        at = self.place(column)
        for rows in raw_rows(self.layout, [0]):
            if row < rows.first_row + len(rows):
                place = rows.offset + int(rows.starts[row - rows.first_row, 0])
                return f"{self.layout.where(place)}, column {at + 1} ({column!r})"
        return f"{self.path}, row {row + 1}, column {at + 1} ({column!r})"


def _read_texts(
    layout: CsvLayout, places: Sequence[int], schema: pa.Schema, *, strip: bool
) -> Iterator[tuple[RowBatch, int]]:
    distinct = sorted(set(places))
    for rows in raw_rows(layout, distinct):
        if not len(rows):
            continue
        slots = [distinct.index(place) for place in places]
        yield text_batch(rows, slots, schema, strip=strip), rows.done


def text_batch(
    rows: RawRows, slots: Sequence[int], schema: pa.Schema, *, strip: bool = True
) -> RowBatch:
    """Return some columns as they are read; it has all rows even if there is no column."""
    arrays = [cell_texts(rows, slot, strip=strip) for slot in slots]
    cells = pa.Array.from_buffers(pa.struct(list(schema)), len(rows), [None], children=arrays)
    return RowBatch(pa.RecordBatch.from_struct_array(cells), rows.first_row)


def cell_texts(rows: RawRows, slot: int, *, strip: bool = True) -> pa.StringArray:
    """Return the texts of a column's cells.

    With `strip` as the rest of liftlock reads cells: without white space around them, and null if
    nothing is left. Otherwise character by character, and null only if there is not even a
    quotation mark.
    """
    count = len(rows)
    starts = np.ascontiguousarray(rows.starts[:, slot])
    stops = np.ascontiguousarray(rows.stops[:, slot])
    begins = np.empty(count, dtype=np.int64)
    doubled = np.empty(count, dtype=np.bool_)
    valid = np.empty(count, dtype=np.bool_)
    offsets = np.empty(count + 1, dtype=np.int32)
    missing = kernels.measure(rows.buffer, starts, stops, strip, begins, doubled, offsets, valid)
    texts = np.empty(offsets[-1], dtype=np.uint8)
    kernels.gather(rows.buffer, begins, doubled, offsets, texts)
    bitmap = pa.py_buffer(np.packbits(valid, bitorder="little")) if missing else None
    return pa.StringArray.from_buffers(
        count, pa.py_buffer(offsets), pa.py_buffer(texts), bitmap, missing
    )
