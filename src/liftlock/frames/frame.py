"""Data frames in, the same kind out: pandas, Polars, PyArrow and whatever else speaks Arrow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from liftlock.column_code import check_secret_gone
from liftlock.errors import CellError, InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.weights import numbers_each
from liftlock.exact.integers import Floats
from liftlock.frames import pandas_column
from liftlock.frames.arrow_column import ArrowColumn
from liftlock.frames.arrow_group import ArrowGroup
from liftlock.frames.change import Change
from liftlock.frames.kept_schema import changed_schema, new_field
from liftlock.mechanism import Mechanism

if TYPE_CHECKING:
    import narwhals as nw

_LISTED = 8


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


def arrow_columns(frame: Any) -> dict[Any, pa.ChunkedArray]:
    """Return the columns of a frame by name, as Arrow arrays.

    >>> {name: cells.type for name, cells in arrow_columns(pa.table({"age": [31, 47]})).items()}
    {'age': DataType(int64)}
    """
    opened = OpenedFrame.of(frame)
    return {name: opened.cells(name) for name in opened.frame.columns}


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


@dataclass(frozen=True)
class NewColumn:
    """A released column, what it was before, and whether it may come out missing."""

    released: pa.ChunkedArray
    before: pa.ChunkedArray
    may_be_none: bool


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


@dataclass(frozen=True)
class OpenedFrame:
    """A frame as narwhals sees it, and the way back to its own kind."""

    frame: nw.DataFrame[Any]
    back: Callable[[Any], Any]

    @classmethod
    def of(cls, given: Any, needed: list[Any] | None = None) -> OpenedFrame:
        """Open a frame; `needed` are the only columns of a lazy one that will be looked at."""
        import narwhals as nw
        from narwhals.exceptions import DuplicateError

        native: Any = given
        back: Callable[[Any], Any] = _same
        if isinstance(given, pa.RecordBatch):
            native, back = pa.Table.from_batches([given]), _one_batch
        try:
            frame: Any = nw.from_native(native)
            if isinstance(frame, nw.LazyFrame):
                frame = _collected(frame, needed)
                back = _lazy
            frame.columns  # noqa: B018 - names are checked when they are asked for
        except DuplicateError:
            raise InputError(
                "two columns of the same name", remedy="rename one: nothing was released"
            ) from None
        except TypeError:
            if not hasattr(given, "__arrow_c_stream__") or _is_series(given):
                raise _no_frame(given) from None
            frame = nw.from_native(pa.table(given))
        return cls(frame, back)

    @property
    def columns(self) -> tuple[Any, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    def cells(self, column: Any) -> pa.ChunkedArray:
        """Return a column as Arrow arrays."""
        import narwhals as nw

        if column not in self.frame.columns:
            raise InputError(
                "no column of this name", value=column, remedy=f"columns are {self._listed}"
            )
        series = self.frame.get_column(column)
        try:
            if self.frame.implementation.is_pandas():
                found = pandas_column.as_arrow(series.to_native())
            elif series.dtype == nw.Object:
                raise TypeError  # Arrow would get the addresses of the objects
            else:
                found = series.to_arrow()
        except (pa.ArrowException, TypeError, ValueError):
            raise InputError(
                f"the column {column!r} holds values of different types, or of a type that no "
                "table has",
                remedy="make them all text, all whole numbers or all truth values",
            ) from None
        return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])

    def numbers(self, given: Any, name: str) -> Floats | None:
        """Return one number for each row: of a column, or as they were given."""
        if isinstance(given, str):
            given = self.cells(given).to_numpy()
        return numbers_each(given, len(self.frame), name)

    def replaced(self, columns: Mapping[Any, NewColumn], dropped: Sequence[Any] = ()) -> Any:
        """Return the frame with other columns in the place of some, in its own kind."""
        import narwhals as nw

        native: Any = self.frame.to_native()
        if isinstance(native, pa.Table):
            for name, new in columns.items():
                native = _in_table(native, name, new.released, new.before)
        elif self.frame.implementation.is_pandas():
            # Columns are replaced in a copy of the frame's outline, not of its cells.
            native = native.copy(deep=False)
            for name, new in columns.items():
                native[name] = pandas_column.from_arrow(
                    new.released, native[name], new.before.type, new.may_be_none
                )
        else:
            series = [self._series(name, new.released) for name, new in columns.items()]
            native = self.frame.with_columns(*series).to_native()
        if dropped:
            native = nw.from_native(native).drop(list(dropped)).to_native()
        return self.back(native)

    def _series(self, column: Any, released: pa.ChunkedArray) -> nw.Series[Any]:
        import narwhals as nw

        table = pa.table({"released": released})
        series = nw.from_arrow(table, backend=self.frame.implementation).get_column("released")
        if self.frame.implementation.is_polars():
            kind = self.frame.to_native().schema[column]
            if _holds(kind, released):
                series = nw.from_native(series.to_native().cast(kind), series_only=True)
        return series.alias(column)

    @property
    def _listed(self) -> str:
        names = self.frame.columns
        shown = ", ".join(map(repr, names[:_LISTED]))
        return shown + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


# --- kinds of frames ----------------------------------------------------------------------------


def _same(native: Any) -> Any:
    return native


def _lazy(native: Any) -> Any:
    return native.lazy()


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    arrays = [
        column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def _collected(lazy: Any, needed: list[Any] | None) -> Any:
    """Collect a lazy frame of Polars; those of others run again whenever they are looked at."""
    if lazy.implementation.is_polars():
        known = lazy.collect_schema().names()
        wanted = dict.fromkeys(needed or known)
        return (lazy.select(*wanted) if wanted.keys() <= set(known) else lazy).collect()
    raise InputError(
        "a lazy frame would draw again whenever it is looked at",
        value=str(lazy.implementation),
        remedy="collect it into a PyArrow table first; for Spark use liftlock.spark",
    )


def _is_series(given: Any) -> bool:
    import narwhals as nw

    return isinstance(
        nw.from_native(given, allow_series=True, pass_through=True), nw.Series
    ) or isinstance(given, pa.ChunkedArray)


def _no_frame(given: Any) -> InputError:
    return InputError(
        "not a data frame",
        value=type(given).__name__,
        remedy="give one of pandas, Polars or PyArrow, or any that has __arrow_c_stream__",
    )


def _in_table(
    table: pa.Table, column: str, released: pa.ChunkedArray, before: pa.ChunkedArray
) -> pa.Table:
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    if pa.types.is_dictionary(field.type) and field.type.ordered:
        released = _ordered(released, before)
    # Notes of pandas about the column are made true again: it would not read it otherwise.
    change = Change((column,), {column: released.type}, lambda _: ())
    metadata = changed_schema(table.schema, change).metadata
    field = new_field(field, released.type)
    return table.set_column(place, field, released).replace_schema_metadata(metadata)


def _ordered(released: pa.ChunkedArray, before: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give outputs the ordered dictionary of before, if each of them is in it."""
    if not pa.types.is_dictionary(released.type) or not before.num_chunks:
        return released
    known = before.unify_dictionaries().chunk(0).dictionary
    if known.type != released.type.value_type:
        return released
    places = {entry: at for at, entry in enumerate(known.to_pylist())}
    parts = []
    for part in released.chunks:
        codes = [places.get(entry) for entry in part.dictionary.to_pylist()]
        if None in codes:
            return released
        moved = pa.array(codes, type=before.type.index_type).take(part.indices)
        parts.append(pa.DictionaryArray.from_arrays(moved, known, ordered=True))
    return pa.chunked_array(parts, type=before.type)


def _holds(kind: Any, released: pa.ChunkedArray) -> bool:
    """Tell whether a type of Polars is one of categories, and has all outputs among them."""
    import polars as pl

    if not pa.types.is_dictionary(released.type):
        return False
    if not isinstance(kind, pl.Enum):
        return isinstance(kind, pl.Categorical)
    return set(released.chunk(0).dictionary.to_pylist()) <= set(kind.categories.to_list())
