"""An Arrow (IPC, Feather) file as a table, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from liftlock.frames.table_file import Piece, readable
from liftlock.frames.typed_table import TypedTable

PIECE_BYTES = 24 << 20
MOST_ROWS = 1 << 20


@dataclass(frozen=True)
class ArrowTable(TypedTable):
    """An Arrow file, or a stream of Arrow batches that was saved."""

    path: Path
    schema: pa.Schema
    number: int | None
    stream: bool

    @classmethod
    def opened(cls, path: Path, *, stream: bool) -> ArrowTable:
        """Read what the file says about itself."""
        with readable(path, "Arrow"), pa.OSFile(str(path)) as file:
            if stream:
                return cls(path, pa.ipc.open_stream(file).schema, None, stream)
            reader = pa.ipc.open_file(file)
            return cls(path, reader.schema, _count(path), stream)

    @property
    def rows(self) -> int | None:
        """The number of rows; a stream does not say."""
        return self.number

    def pieces(self, places: Sequence[int]) -> Iterator[Piece]:
        """Give the columns at these positions; a large batch comes in several pieces."""
        wanted = sorted(set(places))
        order = [wanted.index(place) for place in places]
        options = pa.ipc.IpcReadOptions(included_fields=wanted)
        first_row = 0
        with readable(self.path, "Arrow"), pa.OSFile(str(self.path)) as file:
            for batch in _batches(file, options, stream=self.stream):
                size = max(1, min(MOST_ROWS, _rows_of(batch)))
                for start in range(0, batch.num_rows, size):
                    part = batch.slice(start, size).select(order)
                    yield Piece(part, first_row)
                    first_row += part.num_rows


def _batches(
    file: pa.NativeFile, options: pa.ipc.IpcReadOptions, *, stream: bool
) -> Iterator[pa.RecordBatch]:
    if stream:
        yield from pa.ipc.open_stream(file, options=options)
        return
    reader = pa.ipc.open_file(file, options=options)
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _rows_of(batch: pa.RecordBatch) -> int:
    return int(PIECE_BYTES * max(batch.num_rows, 1) / max(batch.nbytes, 1))


def _count(path: Path) -> int:
    """Return the number of rows, from the heads of the batches alone."""
    from pyarrow import dataset

    return int(dataset.dataset(path, format="ipc").count_rows())
