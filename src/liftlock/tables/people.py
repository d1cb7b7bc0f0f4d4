"""Several rows of one person: counted, brought to one value each, and released as the rule says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from liftlock._runtime.progress import Progress
from liftlock.errors import InputError, NotDefined
from liftlock.mechanism import Mechanism
from liftlock.model.alphabet import Alphabet
from liftlock.model.columns import CellReader, ColumnEncoding
from liftlock.model.person import PersonRule
from liftlock.tables.cells import Codes, column_to_floats
from liftlock.tables.formats.base import RowBatch, TableSource, cell_errors_in
from liftlock.tables.formats.frame import FrameAdapter, FrameSource
from liftlock.tables.protect.count import to_countable
from liftlock.tables.randomiser import ColumnRandomiser

MOST_PEOPLE = 20_000_000
"""More people, or more different cells of people, are not kept in memory at once."""

_NOTHING = Alphabet.of([0])


@dataclass
class PersonCounter:
    """How often each person has each cell of a column, batch after batch, and how many rows.

    >>> tally = PersonCounter("user", ("sex",))
    >>> tally.add(pa.record_batch({"user": ["a", "b", "a"], "sex": ["f", "m", "f"]}))
    >>> tally.rows_each, tally.is_constant("sex")
    ({'a': 2, 'b': 1}, True)
    """

    person: str
    columns: tuple[str, ...] = ()
    numeric: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of numbers, each with the texts that mean a missing cell."""
    _people: dict[Any, int] = field(default_factory=dict)
    _rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _cells: dict[str, list[pa.Table]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch, first_row: int = 0) -> None:
        """Count one batch."""
        places = self.places(batch.column(self.person), first_row, learn=True)
        if len(self._people) > len(self._rows):
            more = np.zeros(len(self._people) - len(self._rows), dtype=np.int64)
            self._rows = np.concatenate([self._rows, more])
        self._rows += np.bincount(places, minlength=len(self._rows))
        for name in self.columns:
            cells = self._read(batch.column(name), name)
            self._cells.setdefault(name, []).append(_grouped(places, cells))
            grown = sum(part.num_rows for part in self._cells[name])
            if grown > 2 * self._sizes.get(name, 0) + 100_000:
                self._pack(name)

    def _read(self, column: pa.Array, name: str) -> pa.Array:
        if name not in self.numeric:
            return to_countable(column, name)
        reader = CellReader(ColumnEncoding(name, spelled=self.numeric[name]), _NOTHING)
        return pa.array(column_to_floats(column, reader), from_pandas=True)

    def _pack(self, name: str) -> None:
        none = [_grouped(np.zeros(0, dtype=np.int64), pa.nulls(0, pa.string()))]
        parts = pa.concat_tables(self._cells.get(name, none), promote_options="default")
        packed = parts.group_by(["person", "cell"]).aggregate([("rows", "sum")])
        packed = packed.rename_columns(["person", "cell", "rows"])
        if packed.num_rows > MOST_PEOPLE:
            raise _too_many_error(self.person, packed.num_rows)
        self._cells[name], self._sizes[name] = [packed], packed.num_rows

    def places(
        self, column: pa.Array, first_row: int = 0, *, learn: bool = False
    ) -> npt.NDArray[np.int64]:
        """Return the number of the person of each row; with `learn` new ones get the next."""
        known = to_countable(column, self.person).dictionary_encode()
        if known.null_count:
            row = int(np.argmax(known.indices.is_null().to_numpy(zero_copy_only=False)))
            raise InputError(
                f"no person in the column {self.person!r}",
                where=f"row {first_row + row + 1}",
                remedy="say whose each row is, or leave out rows of nobody",
            )
        found = np.empty(len(known.dictionary), dtype=np.int64)
        for at, person in enumerate(known.dictionary.to_pylist()):
            if person == "":
                row = int(np.argmax(known.indices.to_numpy() == at))
                raise InputError(
                    f"no person in the column {self.person!r}",
                    where=f"row {first_row + row + 1}",
                    remedy="say whose each row is, or leave out rows of nobody",
                )
            if learn:
                found[at] = self._people.setdefault(person, len(self._people))
            else:
                found[at] = self._people[person]
        if len(self._people) > MOST_PEOPLE:
            raise _too_many_error(self.person, len(self._people))
        places: npt.NDArray[np.int64] = found[known.indices.to_numpy()]
        return places

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self._people)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._rows.sum())

    @property
    def most_rows(self) -> int:
        """The most rows that any of them has."""
        return int(self._rows.max(initial=0))

    @property
    def rows_each(self) -> dict[Any, int]:
        """How many rows each has."""
        return dict(zip(self._people, self._rows.tolist(), strict=True))

    def cells(self, name: str) -> pa.Table:
        """Return each person with each cell of a column, and in how many rows."""
        self._pack(name)
        return self._cells[name][0]

    def is_constant(self, name: str) -> bool:
        """Tell whether all rows of a person have the same cell."""
        return bool(self.cells(name).num_rows == self.people)

    def values(self, name: str) -> pa.Array:
        """Return one cell for each person: the most frequent one; of numbers the median.

        Of cells that are as frequent the first in their order is taken, and a missing one last.
        """
        table = self.cells(name)
        table = table.append_column("missing", pc.is_null(table.column("cell")))
        if name in self.numeric:
            order = [("person", "ascending"), ("missing", "ascending"), ("cell", "ascending")]
            table = table.sort_by(order)
            person = table.column("person").to_numpy()
            rows = np.where(table.column("missing").to_numpy(), 0, table.column("rows").to_numpy())
            total = np.bincount(person, weights=rows, minlength=self.people)
            before = np.cumsum(rows) - np.concatenate([[0.0], np.cumsum(total)[:-1]])[person]
            reached = np.flatnonzero((2 * before >= total[person]) | (total[person] == 0))
            _, first = np.unique(person[reached], return_index=True)
            return _one(table.column("cell").take(reached[first]))
        order = [
            ("person", "ascending"),
            ("rows", "descending"),
            ("missing", "ascending"),
            ("cell", "ascending"),
        ]
        table = table.sort_by(order)
        _, first = np.unique(table.column("person").to_numpy(), return_index=True)
        return _one(table.column("cell").take(first))

    def source(self) -> TableSource:
        """Return a table with one row for each person: one cell of each column."""
        cells = {name: self.values(name) for name in self.columns}
        return FrameSource.of(FrameAdapter.of(pa.table(cells)))


def _one(cells: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    return pa.concat_arrays(cells.chunks) if isinstance(cells, pa.ChunkedArray) else cells


def _grouped(places: npt.NDArray[np.int64], cells: pa.Array) -> pa.Table:
    table = pa.table([pa.array(places), cells], ["person", "cell"])
    found = table.group_by(["person", "cell"]).aggregate([([], "count_all")])
    return found.rename_columns(["person", "cell", "rows"])


def _too_many_error(person: str, number: int) -> NotDefined:
    return NotDefined(
        f"protecting people by {person!r}",
        f"{number:,} of them, or of their different values",
        f"it is for at most {MOST_PEOPLE:,}: divide the table by people, and protect the parts",
    )


def count_people(
    source: TableSource,
    person: str,
    columns: Sequence[str] = (),
    numeric: Mapping[str, tuple[str, ...]] | None = None,
    watch: Progress | None = None,
) -> PersonCounter:
    """Count the rows of each person, and the cells of some columns in them."""
    tally = PersonCounter(person, tuple(columns), numeric or {})
    wanted = {person, *columns}
    for piece in source.batches([name for name in source.columns if name in wanted], watch):
        with cell_errors_in(source, piece):
            tally.add(piece.batch, piece.first_row)
    return tally


@dataclass(frozen=True)
class OneValueEach:
    """A table whose rows hold, in some columns, the value that was taken for their person.

    >>> rows = FrameSource.of(FrameAdapter.of(pa.table({"u": [1, 1, 1], "x": ["b", "a", "b"]})))
    >>> table = OneValueEach(rows, count_people(rows, "u", ["x"]))
    >>> [piece.batch["x"].to_pylist() for piece in table.batches(["x"])]
    [['b', 'b', 'b']]
    """

    source: TableSource
    people: PersonCounter
    _values: dict[str, pa.Array] = field(default_factory=dict, compare=False, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.source.columns

    @property
    def as_written(self) -> OneValueEach:
        """The same rows with the blanks around their cells, if the table reads them."""
        return replace(self, source=getattr(self.source, "as_written", self.source))

    def _value(self, name: str) -> pa.Array:
        if name not in self._values:
            self._values[name] = self.people.values(name)
        return self._values[name]

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column."""
        own = column in self.people.columns
        return self._value(column).type if own else self.source.type_of(column)

    def where(self, row: int, column: str) -> str:
        """Name the place of a cell."""
        return self.source.where(row, column)

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[RowBatch]:
        """Give the rows in order."""
        wanted = {*columns, self.people.person}
        read = [name for name in self.source.columns if name in wanted]
        for piece in self.source.batches(read, watch):
            places = pa.array(self.people.places(piece.batch.column(self.people.person)))
            arrays = [
                self._value(name).take(places)
                if name in self.people.columns
                else piece.batch.column(name)
                for name in columns
            ]
            batch = pa.RecordBatch.from_arrays(arrays, list(columns))
            yield RowBatch(batch, piece.first_row)


# --- releasing ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PersonColumn(ColumnRandomiser):
    """A mechanism whose promise is for all rows of a person, at work on a table.

    The column of people comes last in what is read, and is not released. The whole table is looked
    at first: how many rows each person has, and where a person has one report, what it is about.

    >>> from liftlock import LIP, Prior, design
    >>> from liftlock.model.columns import TableEncoding
    >>> from dataclasses import replace
    >>> rule = PersonRule("user", "repeat", 2, "lip", {"epsilon": "1"})
    >>> made = design(Prior.from_counts({"no": 3, "yes": 1}), LIP("1"), method="safe-response")
    >>> made = replace(made, encoding=TableEncoding((ColumnEncoding("x"),), person=rule))
    >>> people = pa.table({"x": ["no", "yes", "no"], "user": ["a", "b", "a"]})
    >>> work = PersonColumn.of(made)
    >>> work.look_at(FrameSource.of(FrameAdapter.of(people)))
    >>> outputs, _ = work.draw_outputs([people["x"], people["user"]])
    >>> bool(outputs[0] == outputs[2])
    True
    """

    _state: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def rule(self) -> PersonRule:
        """Whose each row is, and what is promised of them."""
        rule = self.mechanism.person
        assert rule is not None
        return rule

    @property
    def needs(self) -> tuple[Any, ...]:
        """The columns that are read: those that are replaced, and that of the people."""
        return (*self.names, self.rule.column)

    @property
    def people(self) -> PersonCounter:
        """The people of the table that was looked at."""
        found: PersonCounter = self._state["people"]
        return found

    def look_at(self, source: TableSource, watch: Progress | None = None) -> None:
        """Count the rows of each person; refuse more than the promise covers; draw one report."""
        rule = self.rule
        source.type_of(rule.column)
        divided = rule.mode == "divide"
        numeric = {
            str(name): code.spelled
            for name, code in zip(self.names, self.codes, strict=True)
            if code.numeric
        }
        columns = () if divided else tuple(map(str, self.names))
        people = count_people(source, rule.column, columns, numeric, watch)
        if divided and people.most_rows > rule.rows:
            raise InputError(
                f"a person has more rows than the {rule.rows:,} that the promise covers",
                where=str(getattr(source, "path", "")),
                value=f"{people.most_rows:,} rows of one {rule.column!r}",
                remedy="leave some of them out, or protect this table anew (--person)",
            )
        self._state["people"] = people
        if not divided:
            cells = [people.values(str(name)) for name in self.names]
            self._state["drawn"] = super().draw_outputs(cells)

    def draw_outputs(
        self, columns: Sequence[pa.Array | pa.ChunkedArray]
    ) -> tuple[Codes, Codes | None]:
        """Randomise rows; or give each the report of its person."""
        *cells, whose = columns
        if "people" not in self._state:
            raise InputError("the people of the table were not counted", remedy="look at it first")
        if self.rule.mode == "divide":
            return super().draw_outputs(cells)
        places = self.people.places(_one(whose))
        outputs, kept = self._state["drawn"]
        return outputs[places], None if kept is None else kept[places]

    def release(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> list[pa.Array]:
        """Randomise rows with the operating system's entropy."""
        outputs, kept = self.draw_outputs(columns)
        return self.decode_outputs(outputs, [cells.type for cells in columns[:-1]], kept)

    def _check_people(self) -> None:
        """They are counted."""


def person_column(worker: ColumnRandomiser) -> ColumnRandomiser:
    """Return what releases a column by its people, if that is what the mechanism promises."""
    made: Mechanism = worker.mechanism
    return worker if made.person is None else PersonColumn(made, worker.unseen, worker.names)
