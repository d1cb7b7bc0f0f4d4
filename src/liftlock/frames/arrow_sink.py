"""Writing Arrow files, in which a dictionary is stored but once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from liftlock.errors import InputError
from liftlock.frames.arrow_file import ArrowTable
from liftlock.frames.parquet_file import ParquetTable
from liftlock.frames.pipeline import read_ahead
from liftlock.frames.table_sinks import AbandonableStream, conformed


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
            self._on_one(at, conformed(array, field.type))
            for at, (array, field) in enumerate(zip(arrays, self._schema, strict=True))
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def _on_one(self, at: int, array: pa.Array) -> pa.Array:
        """Return the array on a dictionary that starts with the one written before."""
        if not pa.types.is_dictionary(array.type):
            return array
        whole = united(self._known.get(at), array.dictionary)
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


def united(known: pa.Array | None, more: pa.Array) -> pa.Array:
    """Return the entries of a dictionary, and behind them those of another that are new.

    >>> united(pa.array(["a", "b"]), pa.array(["c", "a"])).to_pylist()
    ['a', 'b', 'c']
    """
    if known is None or more.equals(known):
        return more
    fresh = more.filter(pc.is_null(pc.index_in(more, value_set=known)))
    return pa.concat_arrays([known, fresh]) if len(fresh) else known


def whole_dictionaries(
    source: ParquetTable | ArrowTable, places: Sequence[int]
) -> dict[int, pa.Array]:
    """Read through columns of dictionaries, and return all entries of each."""
    found: dict[int, pa.Array] = {}
    if places:
        with read_ahead(source.pieces(places)) as pieces:
            for piece in pieces:
                for place, cells in zip(places, piece.batch.columns, strict=True):
                    found[place] = united(found.get(place), cells.dictionary)
    return found
