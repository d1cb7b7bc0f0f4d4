"""From CSV to CSV: some cells replaced, every other character kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from liftlock._runtime.progress import Progress, Step
from liftlock.errors import InputError
from liftlock.tables.change import TableChange
from liftlock.tables.formats import csv_kernels as kernels
from liftlock.tables.formats.base import RowBatch, is_bytes, is_tsv_name
from liftlock.tables.formats.csv import (
    CsvFile,
    CsvLayout,
    RawRows,
    byte_classes,
    raw_rows,
    text_batch,
)
from liftlock.tables.formats.csv_kernels import Bytes, Places
from liftlock.tables.pipeline import read_ahead, write_behind


@dataclass(frozen=True)
class _CopyPlan:
    """Which cells are found in the bytes, and what happens to each."""

    layout: CsvLayout
    columns: tuple[int, ...]
    """The places of all columns that are read, replaced or left out, in the order of the file."""
    needs: tuple[int, ...]
    gives: tuple[int, ...]
    deeds: npt.NDArray[np.int64]

    @classmethod
    def of(cls, source: CsvFile, change: TableChange) -> _CopyPlan:
        needs = tuple(source.place(column) for column in change.needs)
        gives = tuple(source.place(column) for column in change.gives)
        dropped = {source.place(column) for column in change.dropped}
        kept = [at for at in range(len(source.columns)) if at not in dropped]
        # An empty cell alone on its line would make the row vanish.
        lonely = set(kept) - set(gives) if len(kept) == 1 and dropped else set()
        columns = tuple(sorted({*needs, *gives, *dropped, *lonely}))
        deeds = []
        for at in columns:
            if at in gives:
                deeds.append(kernels.REPLACE)
            elif at in dropped:
                leading = at < kept[0]
                deeds.append(
                    kernels.DROP_WITH_MARK_BEHIND if leading else kernels.DROP_WITH_MARK_BEFORE
                )
            else:
                deeds.append(kernels.KEEP_VISIBLE if at in lonely else kernels.KEEP)
        return cls(source.layout, columns, needs, gives, np.array(deeds, dtype=np.int64))

    @property
    def alone(self) -> bool:
        """Whether one column is left."""
        drops = (kernels.DROP_WITH_MARK_BEFORE, kernels.DROP_WITH_MARK_BEHIND)
        return len(self.layout.columns) - int(np.isin(self.deeds, drops).sum()) == 1


def rewrite_csv(
    source: CsvFile, stream: BinaryIO, change: TableChange, watch: Progress | None = None
) -> int:
    """Write a CSV again with other cells in some columns; return the number of rows.

    New cells are as short as can be whatever stood there: quotation marks and blanks that were
    kept would tell what the value had been.
    """
    plan = _CopyPlan.of(source, change)
    schema = pa.schema([(column, pa.string()) for column in change.needs])
    slots = [plan.columns.index(at) for at in plan.needs]
    total = source.path.stat().st_size
    count = 0

    def read() -> Iterator[tuple[RawRows, RowBatch]]:
        for rows in raw_rows(plan.layout, plan.columns):
            yield rows, text_batch(rows, slots, schema)

    def write(item: tuple[RawRows, list[pa.Array]]) -> None:
        stream.write(_assemble_rows(plan, *item))

    stream.write(_head(plan))
    with write_behind(write) as hand, read_ahead(read()) as pieces:
        for rows, piece in pieces:
            if len(rows):
                arrays = change.apply_to(piece)
            else:
                arrays = [pa.nulls(0, kind) for kind in change.gives.values()]
            hand((rows, arrays))
            count += len(rows)
            if watch is not None:
                watch(Step("writing", rows.done, total))
    return count


def _head(plan: _CopyPlan) -> bytes:
    """Return what stands before the rows, the header without the columns that are left out."""
    layout = plan.layout
    if not layout.header:
        return layout.head
    # Rows of empty cells above the header stay: they are no part of the table.
    buffer = np.frombuffer(layout.head, dtype=np.uint8)
    width = len(layout.columns)
    wanted = np.full(width, -1, dtype=np.int64)
    wanted[list(plan.columns)] = np.arange(len(plan.columns))
    starts = np.empty((1, len(plan.columns)), dtype=np.int64)
    stops = np.empty_like(starts)
    place = layout.header_start
    kernels.scan(buffer, place, True, layout.kinds, width, wanted, starts, stops)
    deeds = np.where(plan.deeds == kernels.REPLACE, kernels.KEEP, plan.deeds)
    nothing = np.empty((1, 0), dtype=np.int64)
    out = np.empty(len(buffer) + 2, dtype=np.uint8)
    empty = np.empty(0, dtype=np.uint8)
    size = kernels.assemble(
        buffer, 0, len(buffer), starts, stops, deeds, empty, nothing, nothing, out
    )
    return out[:size].tobytes()


def _assemble_rows(plan: _CopyPlan, rows: RawRows, arrays: Sequence[pa.Array]) -> memoryview:
    count, slots = len(rows), len(plan.columns)
    text_starts = np.empty((count, slots), dtype=np.int64)
    text_stops = np.empty((count, slots), dtype=np.int64)
    parts, before, longest = [], 0, 0
    for at, array in zip(plan.gives, arrays, strict=True):
        texts, starts, stops = format_cells(array, plan.layout.mark, alone=plan.alone)
        slot = plan.columns.index(at)
        text_starts[:, slot] = starts + before
        text_stops[:, slot] = stops + before
        longest += int((stops - starts).sum())
        parts.append(texts)
        before += len(texts)
    texts = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint8)
    out = np.empty(rows.stop - rows.start + longest + 2 * count, dtype=np.uint8)
    size = kernels.assemble(
        rows.buffer,
        rows.start,
        rows.stop,
        rows.starts,
        rows.stops,
        plan.deeds,
        texts,
        text_starts,
        text_stops,
        out,
    )
    return memoryview(out[:size])  # type: ignore[arg-type, unused-ignore]


# --- cells as they are written ----------------------------------------------------------------


def format_cells(array: pa.Array, mark: str, *, alone: bool) -> tuple[Bytes, Places, Places]:
    """Return the cells of a column as one text, and where in it each cell starts and stops."""
    if pa.types.is_dictionary(array.type):
        texts, starts, stops = format_cells(array.dictionary, mark, alone=alone)
        if array.null_count:
            missing = _cell("", mark, alone=alone).encode()
            starts = np.append(starts, len(texts))
            texts = np.concatenate([texts, np.frombuffer(missing, dtype=np.uint8)])
            stops = np.append(stops, len(texts))
        indices = pc.fill_null(array.indices.cast(pa.int64()), len(array.dictionary)).to_numpy()
        return texts, starts[indices], stops[indices]
    text = _as_text(array)
    texts, offsets = _texts_and_offsets(text)
    plain = not (alone and (text.null_count or bool((np.diff(offsets) == 0).any())))
    if not plain or kernels.needs_quotes(texts, offsets, byte_classes(mark)):
        texts, offsets = _texts_and_offsets(_quote_texts(text.to_pylist(), mark, alone=alone))
    return texts, offsets[:-1], offsets[1:]


def _as_text(array: pa.Array) -> pa.Array:
    if pa.types.is_nested(array.type) or is_bytes(array.type):
        raise InputError(
            f"a column of {array.type} cannot be written to a CSV",
            remedy="write it as .parquet or .arrow",
        )
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), pa.large_string())
    return array.cast(pa.large_string())


def _texts_and_offsets(text: pa.Array) -> tuple[Bytes, Places]:
    _, places, data = text.buffers()
    offsets = np.frombuffer(places, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    if data is None:
        return np.empty(0, dtype=np.uint8), np.zeros(len(text) + 1, dtype=np.int64)
    start, stop = int(offsets[0]), int(offsets[-1])
    return np.frombuffer(data, dtype=np.uint8)[start:stop], offsets - start


def _quote_texts(values: Sequence[Any], mark: str, *, alone: bool) -> pa.Array:
    return pa.array([_cell(value or "", mark, alone=alone) for value in values], pa.large_string())


def _cell(value: str, mark: str, *, alone: bool) -> str:
    special = any(sign in value for sign in (mark, '"', "\r", "\n"))
    if special or value != value.strip() or (alone and not value):
        return '"' + value.replace('"', '""') + '"'
    return value


def check_output_delimiter(source: CsvFile, output: Path) -> None:
    """Refuse to write cells that are separated otherwise than the output's name says."""
    if is_tsv_name(output) and source.layout.mark != "\t":
        raise InputError(
            f"the cells of {source.path} are not separated by tabs",
            where=str(output),
            remedy="give the output a name that ends in .csv: the separator stays the same",
        )
