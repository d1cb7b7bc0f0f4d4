"""Where a changed table goes, batch by batch; and CSV files that are made from types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from liftlock.errors import InputError
from liftlock.frames.change import is_bytes, value_type


class TableSink(Protocol):
    """A file in the making."""

    def write(self, arrays: Sequence[pa.Array], group: int) -> None:
        """Add rows: a column each; `group` is the row group that they come from."""

    def close(self) -> None:
        """Write what is left, and the end of the file."""

    def abandon(self) -> None:
        """Give up: nobody will read the file."""


class AbandonableStream:
    """A stream whose writes can be switched off: libraries write an end even after a failure."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.abandoned = False
        self.closed = False

    def write(self, data: bytes) -> int:
        """Write, unless given up."""
        return len(data) if self.abandoned else self.stream.write(data)

    def flush(self) -> None:
        """Do nothing: the owner of the stream flushes it."""

    def tell(self) -> int:
        """Return the position."""
        return self.stream.tell()

    def writable(self) -> bool:
        """Say yes."""
        return True

    def readable(self) -> bool:
        """Say no."""
        return False

    def seekable(self) -> bool:
        """Say no."""
        return False

    def close(self) -> None:
        """Leave the stream open for its owner."""
        self.closed = True


class CsvSink:
    """A CSV file with a header, written as pyarrow writes values."""

    def __init__(self, stream: BinaryIO, schema: pa.Schema, mark: str) -> None:
        self._stream = AbandonableStream(stream)
        fields = [(field.name, _csv_type(field)) for field in schema]
        # A null alone on its line would be no row: as text it stands in quotation marks.
        self._schema = pa.schema(fields if len(fields) > 1 else [(fields[0][0], pa.string())])
        options = arrow_csv.WriteOptions(delimiter=mark, quoting_style="needed")
        self._writer = arrow_csv.CSVWriter(self._stream, self._schema, write_options=options)

    def write(self, arrays: Sequence[pa.Array], group: int) -> None:  # noqa: ARG002
        """Add rows."""
        columns = [
            conformed(array, field.type) for array, field in zip(arrays, self._schema, strict=True)
        ]
        if len(columns) == 1:
            columns = [pc.fill_null(columns[0], "")]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()

    def abandon(self) -> None:
        """Give up."""
        self._stream.abandoned = True
        self._writer.close()


def _csv_type(field: pa.Field) -> pa.DataType:
    kind = value_type(field.type)
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if is_bytes(kind) or not _has_text(kind):
        raise InputError(
            f"column {field.name!r} of {kind} cannot be a column of a CSV",
            remedy="write it as .parquet or .arrow",
        )
    types = pa.types
    plain = types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind)
    return kind if plain else pa.string()


def _has_text(kind: pa.DataType) -> bool:
    try:
        pa.nulls(0, kind).cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False
    return not pa.types.is_nested(kind)


def conformed(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the same values as another type: a dictionary, or what it is a dictionary of."""
    if array.type == kind:
        return array
    if isinstance(array, pa.ExtensionArray) and not isinstance(kind, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        if pa.types.is_dictionary(kind):
            values = array.dictionary.cast(kind.value_type)
            indices = array.indices.cast(kind.index_type)
            return pa.DictionaryArray.from_arrays(indices, values, ordered=kind.ordered)
        return array.dictionary.cast(kind).take(array.indices)
    if pa.types.is_dictionary(kind):
        return conformed(array.cast(kind.value_type).dictionary_encode(), kind)
    return array.cast(kind)


def no_rows(schema: pa.Schema) -> list[pa.Array]:
    """Return columns without a value."""
    return [pa.nulls(0, field.type) for field in schema]


def joined(parts: Sequence[Sequence[pa.Array]], schema: pa.Schema) -> pa.Table:
    """Return several batches as one table, each dictionary the same in all of them."""
    columns = [pa.chunked_array(chunks) for chunks in zip(*parts, strict=True)]
    table = pa.Table.from_arrays(columns, schema=schema)
    return table.unify_dictionaries() if len(parts) > 1 else table
