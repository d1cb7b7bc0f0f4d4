"""A Parquet file of any size as a table, read a part of a row group at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from liftlock.frames.table_file import Piece, readable
from liftlock.frames.typed_table import TypedTable

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
    """A Parquet file; see `liftlock.frames.table_file.TableFile`."""

    path: Path
    schema: pa.Schema
    metadata: pq.FileMetaData

    @classmethod
    def opened(cls, path: Path) -> ParquetTable:
        """Read what the file says about itself."""
        with readable(path, "Parquet"), pq.ParquetFile(path) as file:
            return cls(path, file.schema_arrow, file.metadata)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.metadata.num_rows)

    def pieces(self, places: Sequence[int]) -> Iterator[Piece]:
        """Give the columns at these positions; a piece never reaches over two row groups."""
        names = [self.schema.field(place).name for place in places]
        every = len(set(places)) == len(self.schema)
        stored = self.stored_as_dictionary()
        first_row = 0
        with (
            readable(self.path, "Parquet"),
            pq.ParquetFile(
                self.path, read_dictionary=stored, buffer_size=_BUFFER, pre_buffer=False
            ) as file,
        ):
            for group in range(file.num_row_groups):
                batches = file.iter_batches(
                    batch_size=self.piece_rows(group, places),
                    row_groups=[group],
                    columns=None if every else names,
                )
                for batch in batches:
                    # A name can select more than asked for: "a" is also the parent of "a.b".
                    at = places if every else [batch.schema.names.index(name) for name in names]
                    yield Piece(_columns_at(batch, at), first_row)
                    first_row += batch.num_rows

    # --- what the file says about its columns ----------------------------------------------------

    @cached_property
    def leaves(self) -> list[range]:
        """Which stored columns each column consists of."""
        return leaf_ranges(self.schema)

    def stored_as_dictionary(self) -> list[str]:
        """Return the columns of text that are quicker to read as dictionaries.

        Those are stored so throughout, in a few bits each; a wrong guess costs time only.
        """
        metadata = self.metadata
        found = []
        for field, leaves in zip(self.schema, self.leaves, strict=True):
            if not _is_text(field.type):
                continue
            chunks = [metadata.row_group(group).column(leaves[0]) for group in _some(metadata)]
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

    def piece_rows(self, group: int, places: Sequence[int]) -> int:
        """Return how many rows are read at a time: a whole row group if it is small enough."""
        size = self.row_bytes(group, places)
        most = max(1, min(MOST_ROWS, int(PIECE_BYTES / max(size, 1e-9))))
        rows = max(1, int(self.metadata.row_group(group).num_rows))
        return -(-rows // -(-rows // most))


def _columns_at(batch: pa.RecordBatch, places: Sequence[int]) -> pa.RecordBatch:
    if list(places) == list(range(batch.num_columns)):
        return batch
    return batch.select(list(places))


def _some(metadata: Any) -> list[int]:
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
