"""Arrow (IPC, Feather) files, read batch by batch; each dictionary is stored but once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from liftlock.errors import InputError
from liftlock.tables.formats.base import (
    AbandonableStream,
    Format,
    RowBatch,
    Target,
    TypedTable,
    cast_array,
    readable,
)
from liftlock.tables.pipeline import read_ahead

PIECE_BYTES = 24 << 20

MOST_ROWS = 1 << 20


@dataclass(frozen=True)
class ArrowTable(TypedTable):
    """An Arrow file, or a stream of Arrow batches that was saved."""

    path: Path
    schema: pa.Schema
    number: int | None
    stream: bool
    format = "arrow"

    @classmethod
    def from_file(cls, path: Path, *, stream: bool) -> ArrowTable:
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

    def batches_at(self, places: Sequence[int]) -> Iterator[RowBatch]:
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
                    yield RowBatch(part, first_row)
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


class ArrowSink:
    """An Arrow (IPC) file.

    Dictionaries that differ from batch to batch become one: those in `dictionaries` from the first
    batch on; others grow, which not every reader understands.
    """

    def __init__(
        self,
        stream: BinaryIO,
        schema: pa.Schema,
        compression: str | None = None,
        dictionaries: Mapping[int, pa.Array] | None = None,
    ) -> None:
        self._stream = AbandonableStream(stream)
        self._schema = schema
        options = pa.ipc.IpcWriteOptions(compression=compression, emit_dictionary_deltas=True)
        self._writer = pa.ipc.new_file(self._stream, schema, options=options)
        self._known = dict(dictionaries or {})

    def write(self, arrays: Sequence[pa.Array], group: int) -> None:  # noqa: ARG002
        """Add a batch."""
        columns = [
            self._extend_dictionary(at, cast_array(array, field.type))
            for at, (array, field) in enumerate(zip(arrays, self._schema, strict=True))
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def _extend_dictionary(self, at: int, array: pa.Array) -> pa.Array:
        """Return the array on a dictionary that starts with the one written before."""
        if not pa.types.is_dictionary(array.type):
            return array
        whole = merge_dictionaries(self._known.get(at), array.dictionary)
        self._known[at] = whole
        if array.dictionary.equals(whole):
            return array
        places = pc.index_in(array.dictionary, value_set=whole)
        try:
            indices = pc.take(places, array.indices).cast(array.type.index_type)
        except pa.ArrowInvalid:
            raise InputError(
                f"more values in {self._schema.field(at).name!r} than its dictionary can hold",
                value=len(whole),
                remedy="write it as .parquet",
            ) from None
        return pa.DictionaryArray.from_arrays(indices, whole, ordered=array.type.ordered)

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()

    def abandon(self) -> None:
        """Give up."""
        self._stream.abandoned = True
        self._writer.close()


def merge_dictionaries(known: pa.Array | None, more: pa.Array) -> pa.Array:
    """Return the entries of a dictionary, and behind them those of another that are new.

    >>> merge_dictionaries(pa.array(["a", "b"]), pa.array(["c", "a"])).to_pylist()
    ['a', 'b', 'c']
    """
    if known is None or more.equals(known):
        return more
    fresh = more.filter(pc.is_null(pc.index_in(more, value_set=known)))
    return pa.concat_arrays([known, fresh]) if len(fresh) else known


def collect_dictionaries(source: TypedTable, places: Sequence[int]) -> dict[int, pa.Array]:
    """Read through columns of dictionaries, and return all entries of each."""
    found: dict[int, pa.Array] = {}
    if places:
        with read_ahead(source.batches_at(places)) as pieces:
            for piece in pieces:
                for place, cells in zip(places, piece.batch.columns, strict=True):
                    found[place] = merge_dictionaries(found.get(place), cells.dictionary)
    return found


def _sink(target: Target) -> ArrowSink:
    packed = "lz4" if target.path.suffix.lower() == ".feather" else None
    return ArrowSink(target.stream, target.schema, packed, _dictionaries(target))


def _dictionaries(target: Target) -> dict[int, pa.Array]:
    """Return all entries of the dictionaries that are kept, by position in the output."""
    source = target.source
    if not isinstance(source, TypedTable):
        return {}
    same = [at for at in target.kept if at not in target.replaced]
    wanted = [at for at in same if pa.types.is_dictionary(source.schema.field(at).type)]
    found = collect_dictionaries(source, wanted)
    return {target.kept.index(at): entries for at, entries in found.items()}


_STREAM = b"\xff\xff\xff\xff"

ARROW = Format(
    "arrow",
    "an Arrow file",
    (".arrow", ".feather", ".ipc"),
    open=lambda path, asked: ArrowTable.from_file(path, stream=asked.start.startswith(_STREAM)),
    sink=_sink,
    magic=(b"ARROW1", _STREAM),
)
