"""What is done to a table on its way, and the schema it has afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from liftlock.errors import InputError
from liftlock.tables.formats.base import RowBatch, TableFile, value_type


@dataclass(frozen=True)
class TableChange:
    """Some columns replaced by new ones, some left out, and all others kept.

    `apply` gets pieces that have the columns `needs`, in order, and returns the new columns in the
    order of `gives`, which names their types. A column of text may be returned as a dictionary of
    such text.
    """

    needs: tuple[str, ...]
    gives: Mapping[str, pa.DataType]
    apply: Callable[[RowBatch], Sequence[pa.Array]]
    dropped: tuple[str, ...] = ()

    def check_columns(self, source: TableFile) -> None:
        """Refuse columns that the source does not have, and contradictions."""
        for column in (*self.needs, *self.gives, *self.dropped):
            source.type_of(column)
        both = [column for column in self.gives if column in self.dropped]
        if both:
            raise InputError(
                "a column is both replaced and dropped", value=both[0], remedy="choose one"
            )
        if set(source.columns) <= set(self.dropped):
            raise InputError("all columns are dropped", remedy="keep one")

    def apply_to(self, piece: RowBatch) -> list[pa.Array]:
        """Return the new columns of a piece, as long as it and of the promised types."""
        arrays = [_one_array(array) for array in self.apply(piece)]
        if len(arrays) != len(self.gives):
            raise InputError(
                "wrong number of columns",
                value=len(arrays),
                remedy=f"return {', '.join(self.gives)}",
            )
        for array, (column, kind) in zip(arrays, self.gives.items(), strict=True):
            if len(array) != piece.batch.num_rows:
                raise InputError(
                    f"the number of values of {column!r} is not the number of rows",
                    value=len(array),
                    remedy=f"return {piece.batch.num_rows}",
                )
            if array.type != kind and value_type(array.type) != kind:
                raise InputError(
                    f"values of {column!r} of the wrong type",
                    value=str(array.type),
                    remedy=f"return {kind}",
                )
        return arrays


def _one_array(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


_PANDAS = b"pandas"

_FIELD_NUMBER = b"PARQUET:field_id"

_SPARK = b"org.apache.spark.sql.parquet.row.metadata"


def changed_schema(schema: pa.Schema, change: TableChange) -> pa.Schema:
    """Return the schema with new types for replaced columns, and without those left out.

    Field names and their order stay, and so do metadata and whether it may be null of every other
    column. Metadata of replaced columns go: they may list the values that were there.
    """
    fields = []
    for field in schema:
        if field.name in change.dropped:
            continue
        kind = change.gives.get(field.name)
        fields.append(field if kind is None else new_field(field, kind))
    return pa.schema(fields, metadata=_metadata(schema, change))


def new_field(field: pa.Field, kind: pa.DataType) -> pa.Field:
    """Return the field of a replaced column: what was noted of its values is not true any more.

    Polars lists all categories of an Enum there, also those that are never released. A missing cell
    may be what comes out, even where none was before.
    """
    number = (field.metadata or {}).get(_FIELD_NUMBER)
    metadata = None if number is None else {_FIELD_NUMBER: number}
    return pa.field(field.name, kind, nullable=True, metadata=metadata)


def _metadata(schema: pa.Schema, change: TableChange) -> dict[bytes, bytes] | None:
    metadata = dict(schema.metadata or {})
    kinds = {name: schema.field(name).type for name in change.gives}
    if change.dropped or kinds != dict(change.gives):
        # Spark believes this rather than the columns; without it, it looks at them.
        metadata.pop(_SPARK, None)
    if _PANDAS not in metadata:
        return metadata or None
    try:
        notes = json.loads(metadata[_PANDAS])
        notes = _pandas_metadata(notes, schema, change)
    except (ValueError, KeyError, TypeError, AttributeError):
        return metadata
    return {**metadata, _PANDAS: json.dumps(notes).encode()}


def _pandas_metadata(
    notes: dict[str, Any], schema: pa.Schema, change: TableChange
) -> dict[str, Any]:
    """Return what pandas wrote about its columns, true again.

    A replaced column of another type would not be read at all with the old notes; and the number
    of categories is a fact about the data as it was.
    """
    columns = []
    for column in notes["columns"]:
        name = column.get("field_name") or column.get("name")
        if name in change.dropped:
            continue
        kind = change.gives.get(name)
        if kind is not None:
            if kind != schema.field(name).type:
                told = _pandas_type(kind)
                column = {**column, "pandas_type": told[0], "numpy_type": told[1], "metadata": None}
            elif isinstance(column.get("metadata"), dict):
                kept = {k: v for k, v in column["metadata"].items() if k != "num_categories"}
                column = {**column, "metadata": kept}
        columns.append(column)
    indices = [entry for entry in notes["index_columns"] if entry not in change.dropped]
    return {**notes, "columns": columns, "index_columns": indices}


def _pandas_type(kind: pa.DataType) -> tuple[str, str]:
    if pa.types.is_dictionary(kind):
        return "categorical", str(kind.index_type)
    if pa.types.is_boolean(kind):
        return "bool", "bool"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        name = str(kind.to_pandas_dtype().__name__)
        return name, name
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "unicode", "object"
    return "object", "object"
