"""Columns at work on the batches of a table, and how often each output came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from liftlock.alphabet import Label
from liftlock.forms import SupportChannel
from liftlock.frames.arrow_column import ArrowColumn
from liftlock.frames.arrow_group import ArrowGroup
from liftlock.frames.change import Change
from liftlock.frames.table_file import Piece
from liftlock.frames.written_cells import Codes
from liftlock.mechanism import Mechanism
from liftlock.protection.learning import Source, placed
from liftlock.protection.per_user import UserColumn
from liftlock.protection.result import ProtectedColumn, Protection


def type_before(source: Source, column: str) -> pa.DataType:
    """Return the type that a released column should keep: none if a CSV calls everything text."""
    return pa.null() if getattr(source, "untyped", False) else source.type_of(column)


@dataclass
class ColumnRelease:
    """One column of a source through a mechanism, batch after batch."""

    mechanism: Mechanism
    column: str
    source: Source
    unseen: str | None = None
    counts: Counter[Label] = field(default_factory=Counter)
    """How often each output came out; nothing for encodings."""
    kept: int = 0
    """How many cells stayed missing, outside of the mechanism."""
    worker: ArrowColumn = field(init=False)

    def __post_init__(self) -> None:
        named = self.mechanism
        if named.column is not None and named.column.name != self.column:
            named = replace(named, column=replace(named.column, name=self.column))
        self.worker = ArrowColumn(named, self.unseen)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (self.column,)

    def released_type(self, before: pa.DataType) -> pa.DataType:
        """Return the type of the released column."""
        return self.worker.released_type(before)

    def released(self, batch: pa.RecordBatch) -> pa.Array:
        """Randomise one batch, and count what came out."""
        cells = batch.column(self.column)
        outputs, kept = self.worker.drawn(cells)
        seen = outputs if kept is None else outputs[~kept]
        self.kept += len(outputs) - len(seen)
        if not isinstance(self.mechanism.channel, SupportChannel):
            _tally(self.counts, self.mechanism, seen)
        return self.worker.decoded(outputs, type_before(self.source, self.column), kept)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are replaced."""
        return (self.column,)

    def may_be_missing(self) -> dict[str, bool]:
        """Return which columns may have missing cells once they are released."""
        return {self.column: self.worker.code.keeps_missing or self.worker.may_be_none}

    def gives(self) -> dict[str, pa.DataType]:
        """Return the types of the columns that are replaced."""
        return {self.column: self.released_type(type_before(self.source, self.column))}

    def arrays(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Randomise one batch."""
        return [self.released(batch)]

    def change(self, dropped: Sequence[str] = ()) -> Change:
        """Return what is to be done to the table."""
        return change_of(self.source, [self], dropped)


@dataclass
class GroupRelease:
    """Several columns of a source as one value through a mechanism, batch after batch."""

    mechanism: Mechanism
    source: Source
    unseen: str | None = None
    counts: Counter[Label] = field(default_factory=Counter)
    kept: int = 0
    worker: ArrowGroup = field(init=False)

    def __post_init__(self) -> None:
        self.worker = ArrowGroup(self.mechanism, self.unseen)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are replaced."""
        return self.worker.names

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.columns

    def may_be_missing(self) -> dict[str, bool]:
        """Return which columns may have missing cells once they are released."""
        return {name: self.worker.may_be_none(at) for at, name in enumerate(self.columns)}

    def gives(self) -> dict[str, pa.DataType]:
        """Return the types of the columns that are replaced."""
        return dict(zip(self.columns, self.worker.released_types(self._before), strict=True))

    @property
    def _before(self) -> list[pa.DataType]:
        return [type_before(self.source, name) for name in self.columns]

    def arrays(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Randomise one batch, and count what came out."""
        cells = [batch.column(name) for name in self.columns]
        outputs = self.worker.drawn(cells)
        _tally(self.counts, self.mechanism, outputs)
        return self.worker.decoded(outputs, self._before)

    def change(self, dropped: Sequence[str] = ()) -> Change:
        """Return what is to be done to the table."""
        return change_of(self.source, [self], dropped)


@dataclass
class UserRelease:
    """A column of a source whose rows bring priors of their own."""

    worker: UserColumn
    source: Source

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are replaced."""
        return (self.worker.column,)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.worker.needs

    def may_be_missing(self) -> dict[str, bool]:
        """Return which columns may have missing cells once they are released: none."""
        return dict.fromkeys(self.columns, False)

    def gives(self) -> dict[str, pa.DataType]:
        """Return the types of the columns that are replaced."""
        name = self.worker.column
        return {name: self.worker.released_type(self.source.type_of(name))}

    def arrays(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Randomise one batch."""
        return [self.worker.released(batch)]


Worker = ColumnRelease | GroupRelease | UserRelease


def _tally(counts: Counter[Label], mechanism: Mechanism, outputs: Codes) -> None:
    labels = mechanism.table.outputs.labels
    numbers = np.bincount(outputs, minlength=len(labels)).tolist()
    for label, number in zip(labels, numbers, strict=True):
        counts[label] += number


def change_of(source: Source, workers: Sequence[Worker], dropped: Sequence[str]) -> Change:
    """Return the change that replaces columns by what their workers release."""
    needs = tuple(dict.fromkeys(name for worker in workers for name in worker.needs))
    gives = {name: kind for worker in workers for name, kind in worker.gives().items()}

    def apply(piece: Piece) -> list[pa.Array]:
        with placed(source, piece):
            return [array for worker in workers for array in worker.arrays(piece.batch)]

    return Change(needs, gives, apply, tuple(dropped))


@dataclass
class Releasing:
    """All columns of a protection at work on a source."""

    protection: Protection
    source: Source
    local: Mapping[str, Mapping[Label, str]] = field(default_factory=dict)
    """For columns with local priors: the column with the probability of each value."""
    budgets: Mapping[str, str | None] = field(default_factory=dict)
    """And the column with the budget of each row, where these differ."""
    workers: dict[str, Worker] = field(init=False)

    def __post_init__(self) -> None:
        self.workers = {column.name: self._worker(column) for column in self.protection.columns}

    def _worker(self, column: ProtectedColumn) -> Worker:
        if column.mechanism.per_user:
            local = UserColumn(
                column.mechanism,
                column.name,
                self.local[column.name],
                self.budgets.get(column.name),
            )
            return UserRelease(local, self.source)
        if column.mechanism.group is not None:
            return GroupRelease(column.mechanism, self.source)
        return ColumnRelease(column.mechanism, column.name, self.source)

    def change(self) -> Change:
        """Return what is to be done to the table."""
        return change_of(self.source, list(self.workers.values()), self.protection.dropped)

    def done(self) -> Protection:
        """Return the protection with how often each output was released."""
        columns = tuple(
            column
            if isinstance(worker := self.workers[column.name], UserRelease)
            else replace(column, counts=dict(worker.counts))
            for column in self.protection.columns
        )
        return replace(self.protection, columns=columns)
