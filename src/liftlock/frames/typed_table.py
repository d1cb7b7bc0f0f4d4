"""What files that name and type their columns have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from liftlock.frames.pipeline import read_ahead
from liftlock.frames.table_file import Piece, column_place
from liftlock.progress import Progress, Step

if TYPE_CHECKING:
    import pyarrow as pa


class TypedTable(ABC):
    """A table in a file with a schema of its own; see `liftlock.frames.table_file.TableFile`."""

    path: Path
    schema: pa.Schema

    @property
    @abstractmethod
    def rows(self) -> int | None:
        """The number of rows, if the file says so."""

    @abstractmethod
    def pieces(self, places: Sequence[int]) -> Iterator[Piece]:
        """Give the columns at these positions, in pieces that fit into memory."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; nested ones count once."""
        return tuple(self.schema.names)

    @property
    def unit(self) -> Literal["rows"]:
        """What progress is counted in."""
        return "rows"

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column."""
        return self.schema.field(self.place(column)).type

    def place(self, column: str) -> int:
        """Return the position of a column."""
        return column_place(str(self.path), self.columns, column)

    def where(self, row: int, column: str) -> str:
        """Name the row, counted from 1, and the column of a cell."""
        return f"{self.path}, row {row + 1:,}, column {column!r}"

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[Piece]:
        """Give the rows; text comes as a dictionary where the file stores it so."""
        places = [self.place(column) for column in columns]
        with read_ahead(self.pieces(places)) as pieces:
            for piece in pieces:
                yield piece
                if watch is not None:
                    done = piece.first_row + piece.batch.num_rows
                    watch(Step("reading", done, self.rows))
