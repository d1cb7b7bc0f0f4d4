"""Writing Parquet as it was: codecs, encodings, row groups and notes like those of the source."""

from __future__ import annotations

import base64
from collections.abc import Container, Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from liftlock.frames.change import value_type
from liftlock.frames.parquet_file import ParquetTable, leaf_ranges
from liftlock.frames.table_sinks import AbandonableStream, conformed, joined, no_rows

GROUP_BYTES = 96 << 20
"""A row group is ended when it takes so much memory, even if the source's is larger."""

GROUP_ROWS = 1 << 20

_ENCODINGS = (
    "DELTA_BINARY_PACKED",
    "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BYTE_ARRAY",
    "BYTE_STREAM_SPLIT",
)
_CODECS = {"UNCOMPRESSED": "NONE"}


class ParquetSink:
    """A Parquet file with the schema given, stored as in the source as far as there is one.

    Columns of text that come as dictionaries are stored from these at once; the schema of the file
    says text all the same.
    """

    def __init__(
        self, stream: BinaryIO, schema: pa.Schema, settings: Mapping[str, Any] | None = None
    ) -> None:
        self._stream = AbandonableStream(stream)
        self._schema = schema
        self._settings = settings or {}
        self._writer: pq.ParquetWriter | None = None
        self._stored = schema
        self._parts: list[list[pa.Array]] = []
        self._bytes = 0
        self._rows = 0
        self._group = 0

    def write(self, arrays: Sequence[pa.Array], group: int) -> None:
        """Add rows; those of another group start a row group of their own."""
        if self._writer is None:
            self._open(arrays)
        if group != self._group:
            self._flush()
            self._group = group
        fields = zip(arrays, self._stored, strict=True)
        part = [conformed(array, field.type) for array, field in fields]
        self._parts.append(part)
        self._rows += len(part[0])
        self._bytes += sum(array.nbytes for array in part)
        if self._bytes >= GROUP_BYTES or self._rows >= GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        """Write the last row group, and what the file says about itself."""
        if self._writer is None:
            self._open(no_rows(self._schema))
        self._flush()
        assert self._writer is not None
        text = base64.b64encode(self._schema.serialize().to_pybytes())
        metadata = {**(self._schema.metadata or {}), b"ARROW:schema": text}
        self._writer.add_key_value_metadata(metadata)
        self._writer.close()

    def abandon(self) -> None:
        """Give up."""
        self._stream.abandoned = True
        self._parts = []
        if self._writer is not None:
            self._writer.close()

    def _open(self, arrays: Sequence[pa.Array]) -> None:
        fields = []
        for field, array in zip(self._schema, arrays, strict=True):
            ready = array.type != field.type and value_type(array.type) == field.type
            fields.append(field.with_type(array.type) if ready else field)
        self._stored = pa.schema(fields)
        self._writer = pq.ParquetWriter(
            self._stream, self._stored, store_schema=False, **self._settings
        )

    def _flush(self) -> None:
        if self._parts:
            assert self._writer is not None
            table = joined(self._parts, self._stored)
            self._parts, self._bytes, self._rows = [], 0, 0
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))


def settings_like(
    source: ParquetTable, schema: pa.Schema, kept: Sequence[int], replaced: Container[int]
) -> dict[str, Any]:
    """Return the settings that store columns as the source does.

    `schema` is that of the new file, `kept` the position in the source of each of its columns, and
    `replaced` those positions whose values are new: they are stored by dictionary, as few values
    are expected.
    """
    metadata = source.metadata
    if not metadata.num_row_groups:
        return {}
    paths = _stored_paths(schema)
    leaves = source.leaves
    group = metadata.row_group(0)
    codecs: dict[str, str] = {}
    encodings: dict[str, str] = {}
    by_dictionary: list[str] = []
    old_times = integers = index = False
    for names, place in zip(paths, kept, strict=True):
        for number, path in enumerate(names):
            leaf = leaves[place][min(number, len(leaves[place]) - 1)]
            chunk = group.column(leaf)
            codecs[path] = _CODECS.get(chunk.compression, chunk.compression)
            index |= bool(chunk.has_column_index)
            if place in replaced:
                by_dictionary.append(path)
                continue
            old_times |= chunk.physical_type == "INT96"
            stored = metadata.schema.column(leaf)
            integers |= stored.logical_type.type == "DECIMAL" and stored.physical_type in (
                "INT32",
                "INT64",
            )
            if chunk.has_dictionary_page:
                by_dictionary.append(path)
            else:
                found = [name for name in chunk.encodings if name in _ENCODINGS]
                if found:
                    encodings[path] = found[0]
    return {
        "compression": codecs,
        "use_dictionary": by_dictionary or False,
        "column_encoding": encodings or None,
        "use_deprecated_int96_timestamps": old_times,
        "store_decimal_as_integer": integers,
        "write_page_index": index,
        "sorting_columns": _sorting(source, kept, replaced),
    }


def _stored_paths(schema: pa.Schema) -> list[list[str]]:
    """Return the names that a Parquet file gives to the parts of each column."""
    sink = pa.BufferOutputStream()
    # Not `empty_table`, which imports pandas.
    pq.write_table(pa.Table.from_arrays(no_rows(schema), schema=schema), sink)
    stored = pq.read_metadata(pa.BufferReader(sink.getvalue())).schema
    return [[stored.column(at).path for at in leaves] for leaves in leaf_ranges(schema)]


def _sorting(source: ParquetTable, kept: Sequence[int], replaced: Container[int]) -> Any:
    """Return by which columns the rows are sorted, if the file says so and it is still true."""
    found = source.metadata.row_group(0).sorting_columns
    new = {leaf for place in kept if place in replaced for leaf in source.leaves[place]}
    if not found or len(kept) < len(source.schema) or any(c.column_index in new for c in found):
        return None
    return found
