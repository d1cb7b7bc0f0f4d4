"""Rows on their way from one file to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from liftlock.frames.table_file import Piece

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Slab:
    """Some rows: the columns that are kept, by position, and those that a change reads."""

    kept: dict[int, pa.Array]
    needs: Piece
    group: int
    """The row group of the source."""
    done: int
    """How much of the source has been read, in its unit."""


@dataclass(frozen=True)
class Flow:
    """All rows of a source, the schema they have there, and how much is to be read."""

    slabs: Iterator[Slab]
    schema: pa.Schema
    total: int | None


def slab_of(
    piece: Piece, places: list[int], same: Sequence[int], needs: Sequence[int], group: int
) -> Slab:
    """Return a piece that has the columns at these places, taken apart."""
    batch = piece.batch
    slots = {place: slot for slot, place in enumerate(places)}
    return Slab(
        {at: batch.column(slots[at]) for at in same},
        Piece(batch.select([slots[at] for at in needs]), piece.first_row),
        group,
        piece.first_row + batch.num_rows,
    )
