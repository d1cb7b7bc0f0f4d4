"""A table from one file to another, some columns replaced and all else kept, at any size."""

from __future__ import annotations

import bisect
import gzip
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
from pyarrow import types

from liftlock.errors import FileError
from liftlock.files import Note, silent
from liftlock.progress import Progress, Step
from liftlock.storage import check_free, check_writable, opened_atomically
from liftlock.tables.change import Change, changed_schema
from liftlock.tables.formats.arrow import ArrowSink, ArrowTable, whole_dictionaries
from liftlock.tables.formats.base import (
    RowGroup,
    RowStream,
    TableFile,
    TableSink,
    named_tsv,
    row_group,
)
from liftlock.tables.formats.csv_sink import CsvSink
from liftlock.tables.formats.parquet import ParquetSink, ParquetTable, settings_like
from liftlock.tables.pipeline import read_ahead, written_behind

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


__all__ = ["FORMS", "Change", "check_output", "rewrite"]


def rewrite(
    source: TableFile,
    output: Path,
    change: Change,
    *,
    watch: Progress | None = None,
    force: bool = False,
    note: Note = silent,
    before_naming: Callable[[], None] | None = None,
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

    `watch` is told in the source's unit. `force` replaces a file that is there. `before_naming` is
    called once the rows are written, and before the file appears under its name: if it raises, none
    does.
    """
    finish = before_naming or (lambda: None)
    form = check_output(source, output, force=force)
    change.checked(source)
    columnar = isinstance(source, ParquetTable | ArrowTable)
    if form == "csv" and not columnar:
        from liftlock.tables.formats.csv import CsvFile
        from liftlock.tables.formats.csv_copy import check_marks, rewrite_csv

        assert isinstance(source, CsvFile)
        check_marks(source, output)
        with _opened(output, force=force) as stream:
            rows = rewrite_csv(source, stream, change, watch)
            finish()
            return rows
    plan = _Plan.of(source, change)
    rows_in = _row_stream(source, plan, watch)
    schema = changed_schema(rows_in.schema, change)
    if form == "csv":
        note(f"all values of {output} are text: a CSV does not store types")
    with _opened(output, force=force) as stream:
        sink = _sink(source, stream, schema, plan, form, output)
        rows = _write_all(rows_in, sink, plan, change, watch)
        finish()
        return rows


def check_output(source: TableFile, output: Path, *, force: bool = False) -> str:
    """Refuse an output that cannot be written; return what it is written as."""
    form = FORMS.get("".join(output.suffixes[-2:]).lower()) or FORMS.get(output.suffix.lower())
    if form is None:
        raise FileError(
            "unknown output format",
            where=str(output),
            remedy=f"give it a name that ends in {', '.join(FORMS)}",
        )
    check_writable(output)
    if output.exists() and output.samefile(source.path):
        raise FileError(
            "the output is the input",
            where=str(output),
            remedy="choose another name: the input is never overwritten",
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
class _Plan:
    """Where the columns of the output come from; columns of the source go by position."""

    kept: tuple[int, ...]
    """All columns of the output."""
    given: dict[int, int]
    """Which of the new columns replaces one."""
    same: tuple[int, ...]
    """Those that are not replaced."""
    needs: tuple[int, ...]
    """Those that the change reads."""

    @classmethod
    def of(cls, source: TableFile, change: Change) -> _Plan:
        columns, order = source.columns, list(change.gives)
        kept = tuple(at for at, name in enumerate(columns) if name not in change.dropped)
        given = {at: order.index(columns[at]) for at in kept if columns[at] in change.gives}
        same = tuple(at for at in kept if at not in given)
        return cls(kept, given, same, tuple(columns.index(name) for name in change.needs))


def _row_stream(source: TableFile, plan: _Plan, watch: Progress | None) -> RowStream:
    if isinstance(source, ParquetTable):
        return RowStream(_parquet_groups(source, plan), source.schema, source.rows)
    if isinstance(source, ArrowTable):
        return RowStream(_arrow_groups(source, plan), source.schema, source.rows)
    from liftlock.tables.formats.csv import CsvFile
    from liftlock.tables.formats.csv_types import csv_stream

    assert isinstance(source, CsvFile)
    return csv_stream(source, plan.same, plan.needs, watch)


def _parquet_groups(source: ParquetTable, plan: _Plan) -> Iterator[RowGroup]:
    places = sorted({*plan.same, *plan.needs})
    groups = range(source.metadata.num_row_groups)
    stops = list(itertools.accumulate(source.metadata.row_group(at).num_rows for at in groups))
    for piece in source.pieces(places):
        group = bisect.bisect_right(stops, piece.first_row)
        yield row_group(piece, places, plan.same, plan.needs, group)


def _arrow_groups(source: ArrowTable, plan: _Plan) -> Iterator[RowGroup]:
    places = sorted({*plan.same, *plan.needs})
    for piece in source.pieces(places):
        yield row_group(piece, places, plan.same, plan.needs, 0)


def _sink(
    source: TableFile,
    stream: BinaryIO,
    schema: pa.Schema,
    plan: _Plan,
    form: str,
    output: Path,
) -> TableSink:
    if form == "csv":
        return CsvSink(stream, schema, "\t" if named_tsv(output) else ",")
    if form == "arrow":
        packed = "lz4" if output.suffix.lower() == ".feather" else None
        return ArrowSink(stream, schema, packed, _dictionaries(source, plan))
    if isinstance(source, ParquetTable):
        return ParquetSink(stream, schema, settings_like(source, schema, plan.kept, plan.given))
    return ParquetSink(stream, schema)


def _dictionaries(source: TableFile, plan: _Plan) -> dict[int, pa.Array]:
    """Return all entries of the dictionaries that are kept, by position in the output."""
    if not isinstance(source, ParquetTable | ArrowTable):
        return {}
    kinds = [field.type for field in source.schema]
    wanted = [at for at in plan.same if types.is_dictionary(kinds[at])]
    found = whole_dictionaries(source, wanted)
    return {plan.kept.index(at): entries for at, entries in found.items()}


def _write_all(
    rows_in: RowStream, sink: TableSink, plan: _Plan, change: Change, watch: Progress | None
) -> int:
    """Send all rows through the change into a sink: one thread reads, one writes, one changes."""
    count = 0

    def write(item: tuple[Sequence[pa.Array], int]) -> None:
        sink.write(*item)

    with ExitStack() as failing:
        failing.callback(sink.abandon)
        with written_behind(write) as hand, read_ahead(rows_in.groups) as groups:
            for rows in groups:
                new = change.applied(rows.needs)
                arrays = [
                    new[plan.given[at]] if at in plan.given else rows.kept[at] for at in plan.kept
                ]
                hand((arrays, rows.group))
                count += rows.needs.batch.num_rows
                if watch is not None:
                    watch(Step("writing", rows.done, rows_in.total))
        sink.close()
        failing.pop_all()
    return count
