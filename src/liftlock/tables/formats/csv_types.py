"""A CSV on its way to a file that has types: numbers where every text survives, else text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from liftlock._runtime.progress import Progress, Step
from liftlock.tables.formats.base import (
    RowGroup,
    RowStream,
)
from liftlock.tables.formats.csv import CsvFile, cell_texts, raw_rows, text_batch
from liftlock.tables.pipeline import read_ahead

_CANDIDATES = (pa.int64(), pa.float64())

_DECIMAL = r"^-?[0-9]+\.[0-9]+$"

_PLAIN = (1e-4, 1e9)
"""Between these Arrow writes all digits, as Python does; beyond, it may write an exponent."""


def infer_types(
    source: CsvFile, places: Sequence[int], watch: Callable[[int], None] | None = None
) -> list[pa.DataType]:
    """Return int64 or double for columns whose every text survives it, and text for the others.

    A text survives if the number, as Python, pandas and Polars write it, is the same text again:
    in a column of whole numbers ``7`` does, in one of decimals ``7.0`` and ``0.5`` do; ``007``,
    ``+7``, ``0.50``, ``1e+20`` and `` 7`` never do. Reads the whole file, unless
    all columns turn out to be text before.

    >>> survives_cast(pa.array(["7", None, "-12"]), pa.int64())
    True
    >>> survives_cast(pa.array(["0.50"]), pa.float64())
    False
    >>> survives_cast(pa.array(["7.0", "0.5"]), pa.float64())
    True
    """
    left = {place: list(_CANDIDATES) for place in places}
    seen = dict.fromkeys(places, False)

    def read() -> Iterator[tuple[int, dict[int, pa.StringArray]]]:
        for rows in raw_rows(source.layout, places):
            wanted = [(slot, place) for slot, place in enumerate(places) if left[place]]
            yield rows.done, {place: cell_texts(rows, slot, strip=False) for slot, place in wanted}

    with read_ahead(read()) as pieces:
        for done, texts in pieces:
            for place, text in texts.items():
                if text.null_count < len(text):
                    seen[place] = True
                    left[place] = [kind for kind in left[place] if survives_cast(text, kind)]
            if watch is not None:
                watch(done)
            if not any(left.values()):
                break
    return [left[at][0] if seen[at] and left[at] else pa.string() for at in places]


def survives_cast(text: pa.Array, kind: pa.DataType) -> bool:
    """Tell whether texts are the same again after having been numbers of a type."""
    floating = pa.types.is_floating(kind)
    if floating and not _all(pc.match_substring_regex(text, _DECIMAL)):
        return False
    try:
        numbers = text.cast(kind)
    except pa.ArrowInvalid:
        return False
    if floating:
        size = pc.abs(numbers)
        small = pc.and_(pc.less(size, _PLAIN[0]), pc.not_equal(size, 0.0))
        odd = pc.or_(small, pc.greater(size, _PLAIN[1]))
        if any(repr(float(cell)) != cell for cell in text.filter(odd).to_pylist()):
            return False
        usual = pc.invert(odd)
        numbers, text = numbers.filter(usual), text.filter(usual)
        # Arrow writes 7.0 as 7.
        text = pc.replace_substring_regex(text, r"\.0$", "")
    return bool(numbers.cast(pa.string()).equals(text))


def _all(truths: pa.Array) -> bool:
    return pc.all(truths).as_py() is not False


_ROUNDS = 2
"""A CSV is read twice: once for its types."""


def csv_stream(
    source: CsvFile, same: Sequence[int], needs: Sequence[int], watch: Progress | None
) -> RowStream:
    """Give the columns `same` as they will be stored, and `needs` as cells are read."""
    for name, times in Counter(source.columns).items():
        if times > 1:
            source.place(name)  # refused: the two could not be told apart later
    size = source.path.stat().st_size
    total = _ROUNDS * size
    told = None if watch is None else lambda done: watch(Step("reading", done, total))
    kinds = dict(zip(same, infer_types(source, same, told), strict=True))
    fields = [(name, kinds.get(at, pa.string())) for at, name in enumerate(source.columns)]
    return RowStream(_row_groups(source, kinds, needs, size), pa.schema(fields), total)


def _row_groups(
    source: CsvFile, same: dict[int, pa.DataType], needs: Sequence[int], size: int
) -> Iterator[RowGroup]:
    places = sorted({*same, *needs})
    slots = {place: slot for slot, place in enumerate(places)}
    schema = pa.schema([(source.columns[at], pa.string()) for at in needs])
    for rows in raw_rows(source.layout, places):
        if not len(rows):
            continue
        kept = {
            at: cell_texts(rows, slots[at], strip=False).cast(kind) for at, kind in same.items()
        }
        read = text_batch(rows, [slots[at] for at in needs], schema)
        yield RowGroup(kept, read, 0, size + rows.done)
