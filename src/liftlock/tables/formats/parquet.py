"""Parquet files of any size, read a part of a row group at a time and written as they were."""

from __future__ import annotations

import base64
import bisect
import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from liftlock.tables.formats.base import (
    AbandonableStream,
    Format,
    RowBatch,
    Target,
    TypedTable,
    cast_array,
    concatenate_batches,
    empty_arrays,
    readable,
    value_type,
)

PIECE_BYTES = 24 << 20
"""What a piece may take in memory, about; some five of them are on their way at a time."""


MOST_ROWS = 1 << 20


_BUFFER = 1 << 20
"""Bytes that are read from a column at a time: a row group may be larger than the memory."""


_INDEX_BYTES = 4

_TEXT_BYTES = 20
"""What a text is taken for whose length is not known, because the file stores each but once."""


@dataclass(frozen=True)
class ParquetTable(TypedTable):
    """A Parquet file; see `liftlock.tables.formats.base.TableFile`."""

    path: Path
    schema: pa.Schema
    metadata: pq.FileMetaData
    format = "parquet"

    @classmethod
    def from_file(cls, path: Path) -> ParquetTable:
        """Read what the file says about itself."""
        with readable(path, "Parquet"), pq.ParquetFile(path) as file:
            return cls(path, file.schema_arrow, file.metadata)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.metadata.num_rows)

    def batches_at(self, places: Sequence[int]) -> Iterator[RowBatch]:
        """Give the columns at these positions; a piece never reaches over two row groups."""
        names = [self.schema.field(place).name for place in places]
        every = len(set(places)) == len(self.schema)
        stored = self.dictionary_columns()
        first_row = 0
        with (
            readable(self.path, "Parquet"),
            pq.ParquetFile(
                self.path, read_dictionary=stored, buffer_size=_BUFFER, pre_buffer=False
            ) as file,
        ):
            for group in range(file.num_row_groups):
                batches = file.iter_batches(
                    batch_size=self.rows_per_batch(group, places),
                    row_groups=[group],
                    columns=None if every else names,
                )
                for batch in batches:
                    # A name can select more than asked for: "a" is also the parent of "a.b".
                    at = places if every else [batch.schema.names.index(name) for name in names]
                    yield RowBatch(_columns_at(batch, at), first_row)
                    first_row += batch.num_rows

    def group_at(self, row: int) -> int:
        """Return the row group that a row is stored in."""
        return bisect.bisect_right(self._stops, row)

    @cached_property
    def _stops(self) -> list[int]:
        groups = range(self.metadata.num_row_groups)
        return list(itertools.accumulate(self.metadata.row_group(at).num_rows for at in groups))

    # --- what the file says about its columns ----------------------------------------------------

    @cached_property
    def leaves(self) -> list[range]:
        """Which stored columns each column consists of."""
        return leaf_ranges(self.schema)

    def dictionary_columns(self) -> list[str]:
        """Return the columns of text that are quicker to read as dictionaries.

        Those are stored so throughout, in a few bits each; a wrong guess costs time only.
        """
        metadata = self.metadata
        found = []
        for field, leaves in zip(self.schema, self.leaves, strict=True):
            if not _is_text(field.type):
                continue
            chunks = [
                metadata.row_group(group).column(leaves[0])
                for group in _sample_row_groups(metadata)
            ]
            if chunks and all(
                chunk.has_dictionary_page
                and chunk.total_uncompressed_size <= _INDEX_BYTES * max(chunk.num_values, 1)
                for chunk in chunks
            ):
                found.append(chunks[0].path_in_schema)
        return found

    def row_bytes(self, group: int, places: Sequence[int]) -> float:
        """Return what a row of some columns takes in memory, about."""
        rows = self.metadata.row_group(group)
        leaves = self.leaves
        total = 0.0
        for place in places:
            for leaf in leaves[place]:
                chunk = rows.column(leaf)
                stored = chunk.total_uncompressed_size / max(rows.num_rows, 1)
                values = chunk.num_values / max(rows.num_rows, 1)
                text = chunk.physical_type in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
                total += max(stored, values * (_TEXT_BYTES if text else 8))
        return total

    def rows_per_batch(self, group: int, places: Sequence[int]) -> int:
        """Return how many rows are read at a time: a whole row group if it is small enough."""
        size = self.row_bytes(group, places)
        most = max(1, min(MOST_ROWS, int(PIECE_BYTES / max(size, 1e-9))))
        rows = max(1, int(self.metadata.row_group(group).num_rows))
        return -(-rows // -(-rows // most))


def _columns_at(batch: pa.RecordBatch, places: Sequence[int]) -> pa.RecordBatch:
    if list(places) == list(range(batch.num_columns)):
        return batch
    return batch.select(list(places))


def _sample_row_groups(metadata: Any) -> list[int]:
    """Return a few row groups of a file: the first, the last, and some between."""
    groups = metadata.num_row_groups
    return sorted({round(part * (groups - 1) / 4) for part in range(5)}) if groups else []


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def leaf_ranges(schema: pa.Schema) -> list[range]:
    """Return which stored columns each column of a schema consists of."""
    stops = list(itertools.accumulate(_leaf_count(field.type) for field in schema))
    return [range(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]


def _leaf_count(kind: pa.DataType) -> int:
    """Return how many stored columns a type takes."""
    if isinstance(kind, pa.BaseExtensionType):
        return _leaf_count(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _leaf_count(kind.value_type)
    if pa.types.is_nested(kind):
        return sum(_leaf_count(kind.field(at).type) for at in range(kind.num_fields))
    return 1


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
        part = [cast_array(array, field.type) for array, field in fields]
        self._parts.append(part)
        self._rows += len(part[0])
        self._bytes += sum(array.nbytes for array in part)
        if self._bytes >= GROUP_BYTES or self._rows >= GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        """Write the last row group, and what the file says about itself."""
        if self._writer is None:
            self._open(empty_arrays(self._schema))
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
            table = concatenate_batches(self._parts, self._stored)
            self._parts, self._bytes, self._rows = [], 0, 0
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))


def writer_settings(
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
    # Not `schema.empty_table()`, which imports pandas.
    pq.write_table(pa.Table.from_arrays(empty_arrays(schema), schema=schema), sink)
    stored = pq.read_metadata(pa.BufferReader(sink.getvalue())).schema
    return [[stored.column(at).path for at in leaves] for leaves in leaf_ranges(schema)]


def _sorting(source: ParquetTable, kept: Sequence[int], replaced: Container[int]) -> Any:
    """Return by which columns the rows are sorted, if the file says so and it is still true."""
    found = source.metadata.row_group(0).sorting_columns
    new = {leaf for place in kept if place in replaced for leaf in source.leaves[place]}
    if not found or len(kept) < len(source.schema) or any(c.column_index in new for c in found):
        return None
    return found


def _sink(target: Target) -> ParquetSink:
    settings = None
    if isinstance(target.source, ParquetTable):
        settings = writer_settings(target.source, target.schema, target.kept, target.replaced)
    return ParquetSink(target.stream, target.schema, settings)


PARQUET = Format(
    "parquet",
    "a Parquet file",
    (".parquet", ".pq"),
    open=lambda path, asked: ParquetTable.from_file(path),  # noqa: ARG005
    sink=_sink,
    magic=(b"PAR1",),
)
