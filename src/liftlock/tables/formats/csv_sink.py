"""CSV files that are made from types; nothing compiled is needed to write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from liftlock.errors import InputError
from liftlock.tables.formats.base import AbandonableStream, conformed, is_bytes, value_type


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
            f"column {field.name!r} of {kind} cannot be written to a CSV",
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
