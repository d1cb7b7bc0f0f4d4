"""Counting a table: how often the cells of some columns occur together, batch after batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liftlock._runtime.progress import Progress
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Alphabet, Label, plain_label
from liftlock.model.columns import (
    MISSING_LABEL,
    CellReader,
    ColumnEncoding,
)
from liftlock.tables.cells import column_to_floats, whole_array
from liftlock.tables.formats.base import RowBatch, TableSource, cell_errors_in
from liftlock.tables.protect.spec import reserved_label_error

MOST_VALUES = 10_000
"""A column with more different values than this is not one of categories."""


_NOTHING = Alphabet.of([0])
"""No text is an input yet."""


@dataclass
class CombinationCounter:
    """How often the cells of some columns occur together, counted batch after batch.

    >>> tally = CombinationCounter(("sex", "job"))
    >>> tally.add(pa.record_batch({"sex": ["f", "m", "f"], "job": ["nurse", None, "nurse"]}))
    >>> dict(tally.counts)
    {('f', 'nurse'): 2, ('m', None): 1}
    """

    columns: tuple[str, ...]
    counts: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    def add(self, batch: pa.RecordBatch) -> None:
        """Count one batch."""
        if not batch.num_rows:
            return
        for key, number in group_rows(
            [to_countable(batch.column(name), name) for name in self.columns]
        ):
            self.counts[key] += number

    def refuse_many_values(self, most: int = MOST_VALUES) -> None:
        """Refuse columns that cannot be categories, before they fill the memory."""
        if len(self.counts) > most * len(self.columns):
            for place, name in enumerate(self.columns):
                values = len({key[place] for key in self.counts})
                if values > most:
                    raise InputError(
                        f"the column {name!r} has more than {most:,} distinct values",
                        remedy="leave it out, merge its values, or treat it as numeric (--numbers)",
                    )


def group_rows(arrays: Sequence[pa.Array]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Return the combinations of values that rows have, each with the number of its rows."""
    names = [str(place) for place in range(len(arrays))]
    counted = pa.table(arrays, names=names).group_by(names).aggregate([([], "count_all")])
    keys = [counted.column(name).to_pylist() for name in names]
    for *key, number in zip(*keys, counted.column("count_all").to_pylist(), strict=True):
        yield tuple(key), number


def to_countable(column: pa.Array, name: str, *, trim: bool = True) -> pa.Array:
    """Return a column as it can be grouped: plain, texts without blanks around, NaN missing."""
    column = whole_array(column)
    if pa.types.is_dictionary(column.type):
        # Batches bring dictionaries of their own, which grouping does not join.
        column = whole_array(column.dictionary_decode())
    kind = column.type
    if pa.types.is_nested(kind):
        raise InputError(
            f"the column {name!r} holds lists or structs",
            value=str(kind),
            remedy="choose a column of text, numbers or booleans",
        )
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pc.utf8_trim_whitespace(column) if trim else column
    if pa.types.is_floating(kind):
        # Not a number is not equal to itself, and would be counted again in each batch.
        return pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    return column


@dataclass
class NumberCollector:
    """The numbers of a column with the values of secrets beside them, batch after batch."""

    column: str
    hidden: tuple[str, ...] = ()
    """The secrets."""
    spelled: tuple[str, ...] = ()
    parts: list[Floats] = field(default_factory=list)
    whole: bool = True
    """Whether all of them are whole numbers."""
    told: dict[str, list[pa.Array]] = field(default_factory=dict)

    def add(self, piece: RowBatch) -> None:
        """Take the numbers of one batch."""
        reader = CellReader(ColumnEncoding(self.column, spelled=self.spelled), _NOTHING)
        numbers = column_to_floats(piece.batch.column(self.column), reader)
        self.whole = self.whole and bool((np.isnan(numbers) | (numbers == np.rint(numbers))).all())
        self.parts.append(numbers)
        for secret in self.hidden:
            array = to_countable(piece.batch.column(secret), secret)
            self.told.setdefault(secret, []).append(array)

    def numbers(self) -> Floats:
        """Return all numbers; not a number where a cell is missing."""
        return np.concatenate(self.parts) if self.parts else np.zeros(0)

    def secrets(self, secret: str | None) -> pa.ChunkedArray | None:
        """Return a secret of each row."""
        return None if secret is None else pa.chunked_array(self.told[secret])


def count_columns(
    source: TableSource,
    pairs: Sequence[tuple[str | None, str]],
    numbers: Sequence[NumberCollector] = (),
    watch: Progress | None = None,
) -> tuple[list[Counts], int]:
    """Count pairs of a secret and a column in one pass, and gather numbers; return the rows too."""
    tallies = [
        CombinationCounter((column,) if secret is None else (secret, column))
        for secret, column in pairs
    ]
    wanted = {name for tally in tallies for name in tally.columns}
    wanted |= {name for each in numbers for name in (each.column, *each.hidden)}
    wanted = wanted or {source.columns[0]}  # there are rows to be counted in any case
    rows = 0
    for piece in source.batches([name for name in source.columns if name in wanted], watch):
        with cell_errors_in(source, piece):
            for tally in tallies:
                tally.add(piece.batch)
                tally.refuse_many_values()
            for each in numbers:
                each.add(piece)
        rows += piece.batch.num_rows
    if not rows:
        where = str(getattr(source, "path", "the table"))
        raise InputError("no rows", where=where, remedy="give a table with at least one")
    found: list[Counts] = []
    for (secret, _), tally in zip(pairs, tallies, strict=True):
        if secret is None:
            found.append({(None, value): count for (value,), count in tally.counts.items()})
        else:
            found.append({(told, value): count for (told, value), count in tally.counts.items()})
    return found, rows


Counts = Mapping[tuple[Any, Any], int]
"""How often each pair of a secret's value and a column's value occurs; None is a missing cell. If
the value itself is the secret, the first of each pair is None."""


def label_of(value: Any) -> Any:
    """Return a label that can be one: dates and the like by how they are written."""
    if isinstance(value, str):
        return value.strip()
    return value if isinstance(value, bool | int | float | np.generic) else str(value)


def secret_label(told: Any) -> Label:
    """Return the label of a cell of the secret; a missing one is a value of its own."""
    if told is None or (isinstance(told, float) and told != told):
        return MISSING_LABEL
    written = label_of(told)
    if written == MISSING_LABEL:
        # It would be joined with missing cells, and what is joined is proved less about.
        raise reserved_label_error("a value of the secret", MISSING_LABEL)
    return MISSING_LABEL if written == "" else plain_label(written)


def count_tuples(
    piece: RowBatch,
    codes: Sequence[Any],
    secrets: Sequence[str | None],
    tallies: Sequence[Counter[tuple[Any, ...]]],
) -> None:
    """Add the tuples (secret, code, code, ...) of one batch."""
    arrays = [pa.array(each) for each in codes]
    for secret, tally in zip(secrets, tallies, strict=True):
        if secret is None:
            told = pa.nulls(piece.batch.num_rows, pa.string())
        else:
            told = to_countable(piece.batch.column(secret), secret)
        for (first, *key), number in group_rows([told, *arrays]):
            tally[None if secret is None else secret_label(first), *key] += number
