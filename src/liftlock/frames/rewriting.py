"""A table from one file to another, some columns replaced and all else kept, at any size."""

from __future__ import annotations

import bisect
import gzip
import itertools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from liftlock.errors import FileError, InputError
from liftlock.files import Note, silent
from liftlock.frames.arrow_file import ArrowTable
from liftlock.frames.change import Change
from liftlock.frames.csv_bytes import raw_rows
from liftlock.frames.csv_file import CsvFile, cell_texts
from liftlock.frames.csv_rewriting import check_marks, rewrite_csv
from liftlock.frames.csv_types import number_types
from liftlock.frames.kept_schema import changed_schema
from liftlock.frames.parquet_file import ParquetTable
from liftlock.frames.parquet_sink import ParquetSink, settings_like
from liftlock.frames.pipeline import read_ahead, written_behind
from liftlock.frames.table_file import Piece, TableFile, Watch
from liftlock.frames.table_sinks import ArrowSink, CsvSink, TableSink
from liftlock.storage import check_free, check_writable, opened_atomically

FORMS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
"""What a file is written as, by how its name ends."""

_ROUNDS = 2
"""A CSV is read twice to become something else: once for its types."""

__all__ = ["FORMS", "Change", "check_output", "rewrite"]


def rewrite(
    source: TableFile,
    output: Path,
    change: Change,
    *,
    watch: Watch | None = None,
    force: bool = False,
    note: Note = silent,
) -> int:
    """Write the changed table as a new file, whole or not at all; return its number of rows.

    The order of rows, the names and order of columns, and every value of the columns that are not
    in the change are kept:

    - CSV to CSV character by character, with quotation marks, blanks and line ends;
    - Parquet to Parquet with schema, notes (also those of pandas), codecs and row groups (those
      too large for the memory are divided);
    - CSV to Parquet or Arrow: a column becomes int64 or double only if every cell is the same text
      again afterwards, otherwise it is text, character by character. A cell without a character is
      null;
    - Parquet or Arrow to CSV: all types become text, as pyarrow writes it.

    `watch` is told of the source's unit. `force` replaces a file that is there.
    """
    form = check_output(source, output, force=force)
    change.checked(source)
    if isinstance(source, CsvFile) and form == "csv":
        check_marks(source, output)
        with _opened(output, force=force) as stream:
            return rewrite_csv(source, stream, change, watch)
    flow = _flow(source, change, watch)
    if form == "csv":
        note(f"the values of {output} are text, as in every CSV: their types are lost")
    with _opened(output, force=force) as stream:
        return _pour(flow, _sink(source, stream, flow, form, output), change, watch)


def check_output(source: TableFile, output: Path, *, force: bool = False) -> str:
    """Refuse an output that cannot be written; return what it is written as."""
    form = FORMS.get("".join(output.suffixes[-2:]).lower()) or FORMS.get(output.suffix.lower())
    if form is None:
        raise FileError(
            "unknown kind of output",
            where=str(output),
            remedy=f"let its name end in {', '.join(FORMS)}",
        )
    check_writable(output)
    if output.exists() and output.samefile(source.path):
        raise FileError(
            "the output is the input",
            where=str(output),
            remedy="choose another name: the input is never replaced",
        )
    if not force:
        check_free(output)
    return form


@contextmanager
def _opened(output: Path, *, force: bool) -> Iterator[BinaryIO]:
    with opened_atomically(output, replace=force) as stream:
        if output.suffix.lower() != ".gz":
            yield stream
            return
        with gzip.GzipFile(
            filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0
        ) as packed:
            yield cast("BinaryIO", packed)


# --- from columns to columns --------------------------------------------------------------------


@dataclass(frozen=True)
class _Slab:
    """Some rows on their way: the columns kept, by position, and those that the change reads."""

    kept: dict[int, pa.Array]
    needs: Piece
    group: int
    done: int


@dataclass(frozen=True)
class _Flow:
    """A source and what becomes of it."""

    slabs: Iterator[_Slab]
    schema: pa.Schema
    total: int | None
    kept: tuple[int, ...]
    """Where in the source each column of the output is."""
    given: dict[int, int]
    """Which of the new columns replaces the one at a position in the source."""


def _flow(source: TableFile, change: Change, watch: Watch | None) -> _Flow:
    columns = source.columns
    kept = tuple(at for at, name in enumerate(columns) if name not in change.dropped)
    order = list(change.gives)
    given = {at: order.index(name) for at, name in enumerate(columns) if name in change.gives}
    same = [at for at in kept if at not in given]
    needs = [columns.index(name) for name in change.needs]
    slabs: Iterator[_Slab]
    if isinstance(source, ParquetTable):
        slabs, before, total = _parquet_slabs(source, same, needs), source.schema, source.rows
    elif isinstance(source, ArrowTable):
        slabs, before = _arrow_slabs(source, same, needs), source.schema
        total = source.rows  # type: ignore[assignment]
    elif isinstance(source, CsvFile):
        for name in columns:
            source.place(name)  # a name given twice cannot be told apart later
        size = source.path.stat().st_size
        total = _ROUNDS * size
        types = number_types(
            source, same, None if watch is None else lambda done: watch(done, _ROUNDS * size)
        )
        chosen = dict(zip(same, types, strict=True))
        before = pa.schema([(name, chosen.get(at, pa.string())) for at, name in enumerate(columns)])
        slabs = _csv_slabs(source, chosen, needs, size)
    else:
        raise InputError("unknown kind of table", value=type(source).__name__)
    return _Flow(slabs, changed_schema(before, change), total, kept, given)


def _parquet_slabs(
    source: ParquetTable, same: Sequence[int], needs: Sequence[int]
) -> Iterator[_Slab]:
    places = sorted({*same, *needs})
    sizes = [
        source.metadata.row_group(group).num_rows for group in range(source.metadata.num_row_groups)
    ]
    stops = list(itertools.accumulate(sizes))
    for piece in source.pieces(places):
        group = bisect.bisect_right(stops, piece.first_row)
        yield _slab(piece, places, same, needs, group)


def _arrow_slabs(source: ArrowTable, same: Sequence[int], needs: Sequence[int]) -> Iterator[_Slab]:
    places = sorted({*same, *needs})
    for piece in source.pieces(places):
        yield _slab(piece, places, same, needs, 0)


def _slab(
    piece: Piece, places: list[int], same: Sequence[int], needs: Sequence[int], group: int
) -> _Slab:
    batch = piece.batch
    return _Slab(
        {at: batch.column(places.index(at)) for at in same},
        Piece(batch.select([places.index(at) for at in needs]), piece.first_row),
        group,
        piece.first_row + batch.num_rows,
    )


def _csv_slabs(
    source: CsvFile, same: dict[int, pa.DataType], needs: Sequence[int], size: int
) -> Iterator[_Slab]:
    places = sorted({*same, *needs})
    schema = pa.schema([(source.columns[at], pa.string()) for at in needs])
    for rows in raw_rows(source.layout, places):
        if not len(rows):
            continue
        read = [cell_texts(rows, places.index(at)) for at in needs]
        cells = pa.Array.from_buffers(pa.struct(list(schema)), len(rows), [None], children=read)
        kept = {
            at: cell_texts(rows, places.index(at), strip=False).cast(kind)
            for at, kind in same.items()
        }
        batch = pa.RecordBatch.from_struct_array(cells)
        yield _Slab(kept, Piece(batch, rows.first_row), 0, size + rows.done)


def _sink(source: TableFile, stream: BinaryIO, flow: _Flow, form: str, output: Path) -> TableSink:
    if form == "csv":
        tabs = ".tsv" in [suffix.lower() for suffix in output.suffixes[-2:]]
        return CsvSink(stream, flow.schema, "\t" if tabs else ",")
    if form == "arrow":
        packed = "lz4" if output.suffix.lower() == ".feather" else None
        return ArrowSink(stream, flow.schema, packed)
    if isinstance(source, ParquetTable):
        settings = settings_like(source, flow.schema, flow.kept, list(flow.given))
        return ParquetSink(stream, flow.schema, settings)
    return ParquetSink(stream, flow.schema)


def _pour(flow: _Flow, sink: TableSink, change: Change, watch: Watch | None) -> int:
    """Send all rows through the change into a sink: one thread reads, one writes, one changes."""
    count = 0

    def write(item: tuple[list[pa.Array], int]) -> None:
        sink.write(*item)

    with ExitStack() as failing:
        failing.callback(sink.abandon)
        with written_behind(write) as hand, read_ahead(flow.slabs) as slabs:
            for slab in slabs:
                new = change.applied(slab.needs)
                arrays = [
                    new[flow.given[at]] if at in flow.given else slab.kept[at] for at in flow.kept
                ]
                hand((arrays, slab.group))
                count += slab.needs.batch.num_rows
                if watch is not None:
                    watch(slab.done, flow.total)
        sink.close()
        failing.pop_all()
    return count
