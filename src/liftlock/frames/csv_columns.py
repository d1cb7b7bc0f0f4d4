"""A CSV on its way to a file that has types: numbers where every text survives, else text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow as pa

from liftlock.frames.csv_bytes import raw_rows
from liftlock.frames.csv_file import CsvFile, cell_texts, text_piece
from liftlock.frames.csv_types import number_types
from liftlock.frames.slab import Flow, Slab
from liftlock.progress import Progress, Step

_ROUNDS = 2
"""A CSV is read twice: once for its types."""


def csv_flow(
    source: CsvFile, same: Sequence[int], needs: Sequence[int], watch: Progress | None
) -> Flow:
    """Give the columns `same` as they will be stored, and `needs` as cells are read."""
    for name, times in Counter(source.columns).items():
        if times > 1:
            source.place(name)  # refused: the two could not be told apart later
    size = source.path.stat().st_size
    total = _ROUNDS * size
    told = None if watch is None else lambda done: watch(Step("reading", done, total))
    kinds = dict(zip(same, number_types(source, same, told), strict=True))
    fields = [(name, kinds.get(at, pa.string())) for at, name in enumerate(source.columns)]
    return Flow(_slabs(source, kinds, needs, size), pa.schema(fields), total)


def _slabs(
    source: CsvFile, same: dict[int, pa.DataType], needs: Sequence[int], size: int
) -> Iterator[Slab]:
    places = sorted({*same, *needs})
    slots = {place: slot for slot, place in enumerate(places)}
    schema = pa.schema([(source.columns[at], pa.string()) for at in needs])
    for rows in raw_rows(source.layout, places):
        if not len(rows):
            continue
        kept = {
            at: cell_texts(rows, slots[at], strip=False).cast(kind) for at, kind in same.items()
        }
        read = text_piece(rows, [slots[at] for at in needs], schema)
        yield Slab(kept, read, 0, size + rows.done)
