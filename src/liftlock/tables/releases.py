"""Columns through their mechanisms, batch by batch, and how often each output came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from liftlock.alphabet import Label
from liftlock.contexts.columns import check_secret_gone
from liftlock.errors import CellError, InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.forms import SupportChannel
from liftlock.mechanism import Mechanism
from liftlock.tables.cells import Codes
from liftlock.tables.change import Change
from liftlock.tables.encoding import ArrowColumn, ArrowGroup
from liftlock.tables.formats.base import Piece, Source, placed
from liftlock.tables.formats.frame import NewColumn, OpenedFrame
from liftlock.tables.per_user import UserColumn
from liftlock.tables.protect.result import ProtectedColumn, Protection


def release_frame(
    frame: Any,
    mechanism: Mechanism,
    column: Any = None,
    *,
    unseen: str | None = None,
    keep: Collection[str] = (),
) -> Any:
    """Return a frame of the same kind in which one column is private; the frame stays as it is.

    Every other column, the index and their metadata are the same. The column keeps its type where
    all outputs of the mechanism fit it. A lazy frame of Polars is collected here, once, and comes
    back as a lazy frame of what was released: collecting that again draws nothing again.
    Ask each person once: releasing the same frame twice reveals more.

    Without a column it is the one that the mechanism was made for. One that was made for several
    columns as one value releases all of them. A frame that holds the secret which the mechanism
    hides is refused, unless the secret is in `keep`.

    >>> from liftlock import LIP, Prior, design
    >>> made = design(Prior.from_counts({"no": 3, "yes": 1}), LIP("1"), method="safe-response")
    >>> people = pa.table({"age": [31, 47], "answer": ["no", "yes"]})
    >>> safe = release_frame(people, made, "answer")
    >>> safe.column("age").equals(people.column("age")), safe.schema == people.schema
    (True, True)
    """
    _check(mechanism)
    opened = OpenedFrame.of(frame)
    check_secret_gone(mechanism.group or mechanism.column, opened.columns, keep)
    if mechanism.group is not None:
        return opened.replaced(_released_together(opened, mechanism, column, unseen))
    name, work = _name(mechanism, column), ArrowColumn(mechanism, unseen)
    cells = opened.cells(name)
    parts = [_named(name, first, work.released, part) for first, part in _chunks(cells)]
    released = pa.chunked_array(parts, type=work.released_type(cells.type))
    return opened.replaced({name: NewColumn(released, cells, work.may_be_none)})


def aggregate_frame(
    frame: Any,
    mechanism: Mechanism,
    column: Any = None,
    *,
    weights: Any = None,
    offsets: Any = None,
) -> Aggregate:
    """Count the reports in one column of a frame, as `release_frame` writes them.

    Weights and offsets are numbers, one for each row or one for all, or the names of columns.

    >>> from liftlock import LIP, Prior, design
    >>> made = design(Prior.from_counts({"no": 3, "yes": 1}), LIP("1"), method="safe-response")
    >>> aggregate_frame(pa.table({"answer": ["no", "yes", "no"]}), made, "answer").counts
    (2, 1)
    """
    _check(mechanism)
    group = mechanism.group
    names = _names(mechanism, column) if group is not None else (_name(mechanism, column),)
    opened = OpenedFrame.of(frame, [*names, *(n for n in (weights, offsets) if isinstance(n, str))])
    numbers = {
        name: opened.numbers(given, name[:-1])
        for name, given in (("weights", weights), ("offsets", offsets))
    }
    if group is not None:
        columns = [opened.cells(name).combine_chunks() for name in names]
        return ArrowGroup(mechanism).counted(columns, **numbers)
    work, total = ArrowColumn(mechanism), Aggregate.none(mechanism.channel)
    for first, part in _chunks(opened.cells(names[0])):
        rows = slice(first, first + len(part))
        of_rows = {name: each if each is None else each[rows] for name, each in numbers.items()}
        total += _named(names[0], first, partial(work.counted, **of_rows), part)
    return total


def _check(mechanism: Mechanism) -> None:
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            "not a mechanism for columns",
            value=type(mechanism).__name__,
            remedy="give one that design(...), lock(...) or Mechanism.load(...) made",
        )


def _name(mechanism: Mechanism, column: Any) -> Any:
    """Return the column that is meant: the one given, or the mechanism's own."""
    if column is not None:
        return column
    if mechanism.column is None or not mechanism.column.name:
        raise InputError("no column", remedy="name one: the mechanism was made for none of its own")
    return mechanism.column.name


def _names(mechanism: Mechanism, columns: Any) -> tuple[Any, ...]:
    """Return the columns of a group: those given, in its order, or its own."""
    assert mechanism.group is not None
    own = mechanism.group.names
    given = own if columns is None else columns
    if isinstance(given, str) or len(given) != len(own):
        raise InputError(
            "a mechanism for several columns at once",
            value=", ".join(own),
            remedy="leave the column out, or name one for each of them, in this order",
        )
    return tuple(given)


def _released_together(
    opened: OpenedFrame, mechanism: Mechanism, columns: Any, unseen: str | None
) -> dict[Any, NewColumn]:
    work, names = ArrowGroup(mechanism, unseen), _names(mechanism, columns)
    cells = [opened.cells(name) for name in names]
    released = work.released([each.combine_chunks() for each in cells])
    return {
        name: NewColumn(pa.chunked_array([after]), before, work.may_be_none(at))
        for at, (name, after, before) in enumerate(zip(names, released, cells, strict=True))
    }


def _chunks(cells: pa.ChunkedArray) -> Iterator[tuple[int, pa.Array]]:
    """Return the parts of a column, each with the number of rows before it."""
    first = 0
    for part in cells.chunks or [cells.combine_chunks()]:
        yield first, part
        first += len(part)


def _named(column: Any, first: int, work: Callable[[pa.Array], Any], part: pa.Array) -> Any:
    """Work on a part of a column; what is refused is named by its row in the frame."""
    try:
        return work(part)
    except CellError as refusal:
        raise refusal.at(first + refusal.row, str(column)) from None


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
