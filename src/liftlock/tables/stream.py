"""A table from one file to another, some columns replaced and all else kept, at any size."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from liftlock._runtime.naming import refuse_existing
from liftlock._runtime.progress import Progress, Step
from liftlock._runtime.storage import check_writable, open_atomically
from liftlock.errors import FileError, InputError
from liftlock.files import Note, ignore_note
from liftlock.tables.change import TableChange, changed_schema
from liftlock.tables.formats import FORMATS, format_named
from liftlock.tables.formats.base import Format, RowStream, TableFile, TableSink, Target
from liftlock.tables.pipeline import read_ahead, write_behind

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TableChange", "check_output", "rewrite_table"]


def rewrite_table(
    source: TableFile,
    output: Path,
    change: TableChange,
    *,
    watch: Progress | None = None,
    force: bool = False,
    note: Note = ignore_note,
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

    `watch` is told in the source's unit. `force` replaces a file that is there.
    """
    form = check_output(source, output, force=force)
    change.check_columns(source)
    plan = _ColumnMap.of(source, change)
    if form.copy is not None and source.format == form.key:
        with _open_output(output, force=force) as stream:
            return form.copy(source, output, stream, change, watch)
    rows_in = source.row_stream(plan.same, plan.needs, watch)
    schema = changed_schema(rows_in.schema, change)
    _check_types(schema, form)
    if not form.typed:
        note(f"all values of {output} are text: a CSV does not store types")
    with _open_output(output, force=force) as stream:
        sink = form.sink(Target(stream, output, schema, source, plan.kept, plan.given))
        return _write_all(rows_in, sink, plan, change, watch)


def _check_types(schema: pa.Schema, form: Format) -> None:
    """Refuse a column that a format cannot store, and name those that can."""
    for field in schema:
        if not form.stores(field.type):
            others = [each.suffixes[0] for each in FORMATS.values() if each.stores(field.type)]
            raise InputError(
                f"column {field.name!r} of {field.type} cannot be a column of {form.title}",
                remedy=f"write it as {' or '.join(others)}" if others else "leave it out",
            )


def check_output(source: TableFile, output: Path, *, force: bool = False) -> Format:
    """Refuse an output that cannot be written; return what it is written as."""
    form = format_named(output)
    if form is None:
        known = [end for each in FORMATS.values() for end in each.suffixes]
        raise FileError(
            "unknown output format",
            where=str(output),
            remedy=f"give it a name that ends in {', '.join(known)}",
        )
    check_writable(output)
    if output.exists() and output.samefile(source.path):
        raise FileError(
            "the output is the input",
            where=str(output),
            remedy="choose another name: the input is never overwritten",
        )
    if not force:
        refuse_existing(output)
    return form


@contextmanager
def _open_output(output: Path, *, force: bool) -> Iterator[BinaryIO]:
    with open_atomically(output, replace=force) as stream:
        if output.suffix.lower() != ".gz":
            yield stream
            return
        with gzip.GzipFile(
            filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0
        ) as packed:
            yield cast("BinaryIO", packed)


# --- from columns to columns --------------------------------------------------------------------


@dataclass(frozen=True)
class _ColumnMap:
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
    def of(cls, source: TableFile, change: TableChange) -> _ColumnMap:
        columns, order = source.columns, list(change.gives)
        kept = tuple(at for at, name in enumerate(columns) if name not in change.dropped)
        given = {at: order.index(columns[at]) for at in kept if columns[at] in change.gives}
        same = tuple(at for at in kept if at not in given)
        return cls(kept, given, same, tuple(columns.index(name) for name in change.needs))


def _write_all(
    rows_in: RowStream,
    sink: TableSink,
    plan: _ColumnMap,
    change: TableChange,
    watch: Progress | None,
) -> int:
    """Send all rows through the change into a sink: one thread reads, one writes, one changes."""
    count = 0

    def write(item: tuple[Sequence[pa.Array], int]) -> None:
        sink.write(*item)

    with ExitStack() as failing:
        failing.callback(sink.abandon)
        with write_behind(write) as hand, read_ahead(rows_in.groups) as groups:
            for rows in groups:
                new = change.apply_to(rows.needs)
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
