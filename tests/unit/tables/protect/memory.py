"""A table in memory that is read in batches, as files are, and exact leakage by enumeration."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa

from liftlock import Mechanism, Progress, Step
from liftlock.errors import InputError
from liftlock.tables.formats.base import RowBatch


@dataclass(frozen=True)
class Memory:
    """A table in batches of a few rows."""

    table: pa.Table
    size: int = 7

    @classmethod
    def of(cls, size: int = 7, **columns: Any) -> Memory:
        return cls(pa.table(columns), size)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    def type_of(self, column: str) -> pa.DataType:
        if column not in self.columns:
            raise InputError("no such column", value=column)
        return self.table.schema.field(column).type

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[RowBatch]:
        row = 0
        for batch in self.table.select(list(columns)).to_batches(max_chunksize=self.size):
            yield RowBatch(batch, row)
            row += batch.num_rows
            if watch is not None:
                watch(Step("reading", row, self.table.num_rows))

    def where(self, row: int, column: str) -> str:
        return f"row {row + 1}, column {column!r}"


Leak = tuple[Fraction | None, Fraction]
"""The least and the largest lift; None is a least lift of 0."""


def lifts(
    rows: Mapping[tuple[Any, ...], int], distribution: Callable[..., Mapping[Any, Fraction]]
) -> Leak:
    """Return the extreme lifts P(s, y) / (P(s) P(y)) of a secret, counted over all rows.

    Keys of `rows` are a secret and what is in the columns; `distribution` gives each output its
    probability.
    """
    total = sum(rows.values())
    both: dict[tuple[Any, Any], Fraction] = defaultdict(Fraction)
    secrets: dict[Any, Fraction] = defaultdict(Fraction)
    outputs: dict[Any, Fraction] = defaultdict(Fraction)
    for (secret, *cells), count in rows.items():
        secrets[secret] += Fraction(count, total)
        for output, chance in distribution(*cells).items():
            both[secret, output] += Fraction(count, total) * chance
            outputs[output] += Fraction(count, total) * chance
    found = [
        both[secret, output] / (secrets[secret] * outputs[output])
        for secret, output in itertools.product(secrets, outputs)
        if secrets[secret] and outputs[output]
    ]
    return min(found) or None, max(found)


def rows_of(made: Mechanism) -> dict[Any, dict[Any, Fraction]]:
    """Return the probabilities of a mechanism, read off its integers."""
    table = made.table
    whole = 1 << table.bits
    return {
        label: {
            output: Fraction(int(weight), whole)
            for output, weight in zip(table.outputs.labels, line, strict=True)
            if weight
        }
        for label, line in zip(table.inputs.labels, table.weights.tolist(), strict=True)
    }


def within(lift: Leak, lower: float, upper: float) -> bool:
    """Tell whether beliefs fall and rise by no more nats than that."""
    tiny = 1e-12
    falls = math.inf if lift[0] is None else -math.log(lift[0])
    return falls <= lower + tiny and math.log(lift[1]) <= upper + tiny
