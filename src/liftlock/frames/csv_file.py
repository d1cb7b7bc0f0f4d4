"""A CSV file of any size as a table: its cells as Arrow arrays of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from liftlock.files import MARKS, Note
from liftlock.frames import csv_kernels as kernels
from liftlock.frames.csv_bytes import CsvLayout, RawRows, raw_rows, read_layout
from liftlock.frames.pipeline import read_ahead
from liftlock.frames.table_file import Piece, column_place
from liftlock.progress import Progress, Step


@dataclass(frozen=True)
class CsvFile:
    """A CSV file; see `liftlock.frames.table_file.TableFile`."""

    layout: CsvLayout

    @classmethod
    def opened(
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
        known = dict(MARKS)
        if delimiter is None and layout.mark in known:
            note(f"the cells of {path} are separated by {known[layout.mark]}, and were read so")
        return cls(layout)

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
        return column_place(where, layout.columns, column, header=layout.header)

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[Piece]:
        """Give the cells without quotation marks and blanks around them; empty ones are null."""
        places = [self.place(column) for column in columns]
        total = self.path.stat().st_size
        schema = pa.schema([(column, pa.string()) for column in columns])
        with read_ahead(_texts(self.layout, places, schema)) as pieces:
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


def _texts(
    layout: CsvLayout, places: Sequence[int], schema: pa.Schema
) -> Iterator[tuple[Piece, int]]:
    distinct = sorted(set(places))
    for rows in raw_rows(layout, distinct):
        if not len(rows):
            continue
        slots = [distinct.index(place) for place in places]
        yield text_piece(rows, slots, schema), rows.done


def text_piece(rows: RawRows, slots: Sequence[int], schema: pa.Schema) -> Piece:
    """Return some columns as they are read; it has all rows even if there is no column."""
    arrays = [cell_texts(rows, slot) for slot in slots]
    cells = pa.Array.from_buffers(pa.struct(list(schema)), len(rows), [None], children=arrays)
    return Piece(pa.RecordBatch.from_struct_array(cells), rows.first_row)


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
