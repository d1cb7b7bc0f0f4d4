"""What tables of all formats have in common: sources of rows, and sinks for them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Literal, Protocol

import pyarrow as pa

from liftlock._runtime.progress import Progress, Step
from liftlock.errors import CellError, FileError
from liftlock.files import Note, ignore_note
from liftlock.tables.pipeline import read_ahead

if TYPE_CHECKING:
    from liftlock.tables.change import TableChange


@dataclass(frozen=True)
class RowBatch:
    """Consecutive rows of a table, and the number of the first of them (from 0)."""

    batch: pa.RecordBatch
    first_row: int


class TableSource(Protocol):
    """A table of which some columns are read piece by piece, as often as one likes."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column: text for all those of a CSV."""

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[RowBatch]:
        """Give the rows in order, these columns only, in this order.

        A column of text may come as a dictionary of such text, where it is stored so.
        """

    def where(self, row: int, column: str) -> str:
        """Name the place of a cell, for an error; may read the whole table."""


class TableFile(TableSource, Protocol):
    """A table in a file."""

    @property
    def path(self) -> Path:
        """Where the file is."""

    @property
    def rows(self) -> int | None:
        """The number of rows, if the file says so without being read."""

    @property
    def unit(self) -> Literal["rows", "bytes"]:
        """What progress is counted in."""

    @property
    def format(self) -> str:
        """The key of its format."""

    def row_stream(
        self, same: Sequence[int], needs: Sequence[int], watch: Progress | None = None
    ) -> RowStream:
        """Give all rows: the columns that are kept as they are, and those that a change reads."""


def is_tsv_name(path: Path) -> bool:
    """Tell whether the name of a file says that tabs separate its cells.

    >>> [is_tsv_name(Path(name)) for name in ("a.tsv", "a.TSV.gz", "a.tsv.csv")]
    [True, True, False]
    """
    return path.name.lower().endswith((".tsv", ".tsv.gz"))


def column_position(
    where: str, columns: Sequence[str], column: str, *, header: bool = False
) -> int:
    """Return the position of a column that is there exactly once; `header` is a line of text."""
    found = [at for at, name in enumerate(columns) if name == column]
    if not found:
        shown = ", ".join(columns[:_SHOWN])
        more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        remedy = f"it has {shown}{more}"
        if header and sum(_is_number(name) for name in columns) > 1:
            # What stands there may be a person's row.
            remedy = "the first line looks like data: if there is no header, give --names"
        raise FileError("no such column", where=where, value=column, remedy=remedy)
    if len(found) > 1:
        raise FileError(
            "column name given twice",
            where=f"{where}, columns {found[0] + 1} and {found[1] + 1}",
            value=column,
            remedy="give each column a different name",
        )
    return found[0]


_SHOWN = 20


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Name the file when Arrow cannot read it."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        # Arrow reports damaged content as an error of the system, but without its number.
        failed = isinstance(error, OSError) and error.errno
        raise FileError(
            "cannot read" if failed else f"incomplete {kind} file",
            where=str(path),
            value=os.strerror(failed) if failed else str(error).partition("\n")[0],
            remedy="check its permissions and its disk" if failed else "write it again",
        ) from None


class TypedTable(ABC):
    """A table in a file with a schema of its own; see `liftlock.tables.formats.base.TableFile`."""

    path: Path
    schema: pa.Schema
    format: ClassVar[str] = ""
    """The key of its format."""

    @property
    @abstractmethod
    def rows(self) -> int | None:
        """The number of rows, if the file says so."""

    @abstractmethod
    def batches_at(self, places: Sequence[int]) -> Iterator[RowBatch]:
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
        return column_position(str(self.path), self.columns, column)

    def where(self, row: int, column: str) -> str:
        """Name the row, counted from 1, and the column of a cell."""
        return f"{self.path}, row {row + 1:,}, column {column!r}"

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[RowBatch]:
        """Give the rows; text comes as a dictionary where the file stores it so."""
        places = [self.place(column) for column in columns]
        with read_ahead(self.batches_at(places)) as pieces:
            for piece in pieces:
                yield piece
                if watch is not None:
                    done = piece.first_row + piece.batch.num_rows
                    watch(Step("reading", done, self.rows))

    def row_stream(
        self,
        same: Sequence[int],
        needs: Sequence[int],
        watch: Progress | None = None,  # noqa: ARG002 - types are known without a look
    ) -> RowStream:
        """Give all rows, in pieces that fit into memory."""

        def groups() -> Iterator[RowGroup]:
            places = sorted({*same, *needs})
            for piece in self.batches_at(places):
                yield row_group(piece, places, same, needs, self.group_at(piece.first_row))

        return RowStream(groups(), self.schema, self.rows)

    def group_at(self, row: int) -> int:  # noqa: ARG002
        """Return the row group that a row is stored in, where the format has such groups."""
        return 0


@dataclass(frozen=True)
class RowGroup:
    """Some rows: the columns that are kept, by position, and those that a change reads."""

    kept: dict[int, pa.Array]
    needs: RowBatch
    group: int
    """The row group of the source."""
    done: int
    """How much of the source has been read, in its unit."""


@dataclass(frozen=True)
class RowStream:
    """All rows of a source, the schema they have there, and how much is to be read."""

    groups: Iterator[RowGroup]
    schema: pa.Schema
    total: int | None


def row_group(
    piece: RowBatch, places: list[int], same: Sequence[int], needs: Sequence[int], group: int
) -> RowGroup:
    """Return a piece that has the columns at these places, taken apart."""
    batch = piece.batch
    slots = {place: slot for slot, place in enumerate(places)}
    return RowGroup(
        {at: batch.column(slots[at]) for at in same},
        RowBatch(batch.select([slots[at] for at in needs]), piece.first_row),
        group,
        piece.first_row + batch.num_rows,
    )


class TableSink(Protocol):
    """A file in the making."""

    def write(self, arrays: Sequence[pa.Array], group: int) -> None:
        """Add rows: a column each; `group` is the row group that they come from."""

    def close(self) -> None:
        """Write what is left, and the end of the file."""

    def abandon(self) -> None:
        """Give up: nobody will read the file."""


@dataclass(frozen=True)
class Target:
    """A file to be written: where it goes, its schema, and the columns of the source that it has.

    Columns of the source go by position.
    """

    stream: BinaryIO
    path: Path
    schema: pa.Schema
    source: TableFile
    kept: tuple[int, ...]
    """The place in the source of each column."""
    replaced: Collection[int]
    """Those of them whose values are new."""


@dataclass(frozen=True)
class Reading:
    """How a table is to be opened: its first bytes, and what was said of a CSV."""

    start: bytes
    note: Note = ignore_note
    delimiter: str | None = None
    names: Sequence[str] | None = None


@dataclass(frozen=True)
class Format:
    """A format of tables in files: how it is recognised, opened and written, and what it stores."""

    key: str
    title: str
    """What a file of it is called, such as ``a Parquet file``."""
    suffixes: tuple[str, ...]
    """How the names of its files end; the first is the usual one."""
    open: Callable[[Path, Reading], TableFile]
    sink: Callable[[Target], TableSink]
    magic: tuple[bytes, ...] = ()
    """What its files begin with; one that has none is recognised by its name."""
    typed: bool = True
    """Whether columns keep their types."""
    stores: Callable[[pa.DataType], bool] = lambda kind: True  # noqa: ARG005
    """Whether a column of a type can be written."""
    options: tuple[str, ...] = ()
    """What may be said when a file is opened, of ``delimiter`` and ``names``."""
    copy: Callable[[TableFile, Path, BinaryIO, TableChange, Progress | None], int] | None = None
    """Writes a file of the same format as its source, if that is to be done in another way."""


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


def cast_array(array: pa.Array, kind: pa.DataType) -> pa.Array:
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
        return cast_array(array.cast(kind.value_type).dictionary_encode(), kind)
    return array.cast(kind)


def empty_arrays(schema: pa.Schema) -> list[pa.Array]:
    """Return columns without a value."""
    return [pa.nulls(0, field.type) for field in schema]


def concatenate_batches(parts: Sequence[Sequence[pa.Array]], schema: pa.Schema) -> pa.Table:
    """Return several batches as one table, each dictionary the same in all of them."""
    columns = [pa.chunked_array(chunks) for chunks in zip(*parts, strict=True)]
    table = pa.Table.from_arrays(columns, schema=schema)
    return table.unify_dictionaries() if len(parts) > 1 else table


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


@contextmanager
def cell_errors_in(source: TableSource, piece: RowBatch) -> Iterator[None]:
    """Name the place in the table of a cell that is refused while a batch is worked on."""
    try:
        yield
    except CellError as error:
        name = error.column or (piece.batch.schema.names or [""])[0]
        raise FileError(
            error.what,
            where=source.where(piece.first_row + error.row, name),
            value=error.value,
            remedy=error.remedy,
        ) from None
