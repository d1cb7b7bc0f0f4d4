"""CSV as a format, and CSV files made from types: nothing compiled is needed to write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from liftlock._runtime.progress import Progress
from liftlock.tables.formats.base import (
    AbandonableStream,
    Format,
    Reading,
    TableFile,
    cast_array,
    is_bytes,
    is_tsv_name,
    value_type,
)

if TYPE_CHECKING:
    from liftlock.tables.change import TableChange


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
            cast_array(array, field.type) for array, field in zip(arrays, self._schema, strict=True)
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
    kind = _stored(field.type)
    types = pa.types
    plain = types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind)
    return kind if plain else pa.string()


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return what the values of a type are stored as."""
    kind = value_type(kind)
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _has_text(kind: pa.DataType) -> bool:
    kind = _stored(kind)
    try:
        pa.nulls(0, kind).cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False
    return not pa.types.is_nested(kind) and not is_bytes(kind)


# --- the format -----------------------------------------------------------------------------------


def _opened(path: Path, asked: Reading) -> TableFile:
    from liftlock.tables.formats.csv import CsvFile

    return CsvFile.from_file(
        path,
        packed=asked.start.startswith(_GZIP),
        note=asked.note,
        delimiter=asked.delimiter,
        names=asked.names,
    )


def _copied(
    source: TableFile, output: Path, stream: BinaryIO, change: TableChange, watch: Progress | None
) -> int:
    """Copy every character but those of the cells that change."""
    from liftlock.tables.formats.csv import CsvFile
    from liftlock.tables.formats.csv_copy import check_output_delimiter, rewrite_csv

    assert isinstance(source, CsvFile)
    check_output_delimiter(source, output)
    return rewrite_csv(source, stream, change, watch)


_GZIP = b"\x1f\x8b"

CSV = Format(
    "csv",
    "a CSV",
    (".csv", ".tsv", ".csv.gz", ".tsv.gz"),
    open=_opened,
    sink=lambda to: CsvSink(to.stream, to.schema, "\t" if is_tsv_name(to.path) else ","),
    typed=False,
    stores=_has_text,
    options=("delimiter", "names"),
    copy=_copied,
)
