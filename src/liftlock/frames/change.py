"""What is done to a table on its way from one file to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from liftlock.errors import InputError
from liftlock.frames.table_file import Piece, TableFile


@dataclass(frozen=True)
class Change:
    """Some columns replaced by new ones, some left out, and all others kept.

    `apply` gets pieces that have the columns `needs`, in order, and returns the new columns in the
    order of `gives`, which names their types. A column of text may be returned as a dictionary of
    such text.
    """

    needs: tuple[str, ...]
    gives: Mapping[str, pa.DataType]
    apply: Callable[[Piece], Sequence[pa.Array]]
    dropped: tuple[str, ...] = ()

    def checked(self, source: TableFile) -> None:
        """Refuse columns that the source does not have, and contradictions."""
        for column in (*self.needs, *self.gives, *self.dropped):
            source.type_of(column)
        both = [column for column in self.gives if column in self.dropped]
        if both:
            raise InputError(
                "a column is both replaced and left out", value=both[0], remedy="decide for one"
            )
        if set(source.columns) <= set(self.dropped):
            raise InputError("all columns are left out", remedy="keep one")

    def applied(self, piece: Piece) -> list[pa.Array]:
        """Return the new columns of a piece, as long as it and of the promised types."""
        arrays = [_one_array(array) for array in self.apply(piece)]
        if len(arrays) != len(self.gives):
            raise InputError(
                "not as many columns as promised",
                value=len(arrays),
                remedy=f"return {', '.join(self.gives)}",
            )
        for array, (column, kind) in zip(arrays, self.gives.items(), strict=True):
            if len(array) != piece.batch.num_rows:
                raise InputError(
                    f"not as many values of {column!r} as rows",
                    value=len(array),
                    remedy=f"return {piece.batch.num_rows}",
                )
            if array.type != kind and value_type(array.type) != kind:
                raise InputError(
                    f"values of {column!r} of another type than promised",
                    value=str(array.type),
                    remedy=f"return {kind}",
                )
        return arrays


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return what a dictionary is a dictionary of, and any other type itself."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_bytes(kind: pa.DataType) -> bool:
    """Tell whether values are bytes, which may be no text."""
    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _one_array(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
