"""Data frames in, the same kind out: pandas, Polars, PyArrow and whatever else speaks Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from liftlock._runtime.progress import Progress, Step
from liftlock.errors import InputError, extra
from liftlock.estimate.weights import numbers_each
from liftlock.exact.integers import Floats
from liftlock.tables.change import TableChange, changed_schema, new_field
from liftlock.tables.formats.base import RowBatch, TableSource

if TYPE_CHECKING:
    import narwhals as nw


_LISTED = 8


def arrow_columns(frame: Any) -> dict[Any, pa.ChunkedArray]:
    """Return the columns of a frame by name, as Arrow arrays.

    >>> {name: cells.type for name, cells in arrow_columns(pa.table({"age": [31, 47]})).items()}
    {'age': DataType(int64)}
    """
    adapter = FrameAdapter.of(frame)
    return {name: adapter.cells(name) for name in adapter.frame.columns}


@dataclass(frozen=True)
class ReleasedColumn:
    """A released column, what it was before, and whether it may come out missing."""

    released: pa.ChunkedArray
    before: pa.ChunkedArray
    may_be_none: bool


@dataclass(frozen=True)
class FrameAdapter:
    """A frame as narwhals sees it, and the way back to its own kind."""

    frame: nw.DataFrame[Any]
    back: Callable[[Any], Any]

    @classmethod
    def of(cls, given: Any, needed: list[Any] | None = None) -> FrameAdapter:
        """Open a frame; `needed` are the only columns of a lazy one that will be looked at."""
        with extra("tables"):
            import narwhals as nw
            from narwhals.exceptions import DuplicateError

        native: Any = given
        back: Callable[[Any], Any] = _same
        if isinstance(given, pa.RecordBatch):
            native, back = pa.Table.from_batches([given]), _one_batch
        try:
            frame: Any = nw.from_native(native)
            if isinstance(frame, nw.LazyFrame):
                frame = _collect(frame, needed)
                back = _lazy
            frame.columns  # noqa: B018 - names are checked when they are asked for
        except DuplicateError:
            raise InputError(
                "two columns of the same name", remedy="rename one: nothing was released"
            ) from None
        except TypeError:
            if not hasattr(given, "__arrow_c_stream__") or _is_series(given):
                raise _not_a_frame_error(given) from None
            frame = nw.from_native(pa.table(given))
        return cls(frame, back)

    @property
    def columns(self) -> tuple[Any, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    def cells(self, column: Any) -> pa.ChunkedArray:
        """Return a column as Arrow arrays."""
        with extra("tables"):
            import narwhals as nw

        if column not in self.frame.columns:
            raise InputError("no such column", value=column, remedy=f"columns are {self._listed}")
        series = self.frame.get_column(column)
        try:
            if self.frame.implementation.is_pandas():
                found = as_arrow(series.to_native())
            elif series.dtype == nw.Object:
                raise TypeError  # Arrow would get the addresses of the objects
            else:
                found = series.to_arrow()
        except (pa.ArrowException, TypeError, ValueError):
            raise InputError(
                f"the column {column!r} holds mixed or unsupported types",
                remedy="make them all text, all whole numbers or all booleans",
            ) from None
        return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])

    def numbers(self, given: Any, name: str) -> Floats | None:
        """Return one number for each row: of a column, or as they were given."""
        if isinstance(given, str):
            given = self.cells(given).to_numpy()
        return numbers_each(given, len(self.frame), name)

    def replace_columns(
        self, columns: Mapping[Any, ReleasedColumn], dropped: Sequence[Any] = ()
    ) -> Any:
        """Return the frame with other columns in the place of some, in its own kind."""
        with extra("tables"):
            import narwhals as nw

        native: Any = self.frame.to_native()
        if isinstance(native, pa.Table):
            for name, new in columns.items():
                native = _replace_in_table(native, name, new.released, new.before)
        elif self.frame.implementation.is_pandas():
            # Columns are replaced in a copy of the frame's outline, not of its cells.
            native = native.copy(deep=False)
            for name, new in columns.items():
                native[name] = from_arrow(
                    new.released, native[name], new.before.type, new.may_be_none
                )
        else:
            series = [self._series(name, new.released) for name, new in columns.items()]
            native = self.frame.with_columns(*series).to_native()
        if dropped:
            native = nw.from_native(native).drop(list(dropped)).to_native()
        return self.back(native)

    def _series(self, column: Any, released: pa.ChunkedArray) -> nw.Series[Any]:
        with extra("tables"):
            import narwhals as nw

        table = pa.table({"released": released})
        series = nw.from_arrow(table, backend=self.frame.implementation).get_column("released")
        if self.frame.implementation.is_polars():
            kind = self.frame.to_native().schema[column]
            if _has_categories(kind, released):
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


def _collect(lazy: Any, needed: list[Any] | None) -> Any:
    """Collect a lazy frame of Polars; those of others run again whenever they are looked at."""
    if lazy.implementation.is_polars():
        known = lazy.collect_schema().names()
        wanted = dict.fromkeys(needed or known)
        return (lazy.select(*wanted) if wanted.keys() <= set(known) else lazy).collect()
    raise InputError(
        "a lazy frame would draw again whenever it is computed",
        value=str(lazy.implementation),
        remedy="collect it into a PyArrow table first; for Spark use liftlock.spark",
    )


def _is_series(given: Any) -> bool:
    with extra("tables"):
        import narwhals as nw

    return isinstance(
        nw.from_native(given, allow_series=True, pass_through=True), nw.Series
    ) or isinstance(given, pa.ChunkedArray)


def _not_a_frame_error(given: Any) -> InputError:
    return InputError(
        "not a data frame",
        value=type(given).__name__,
        remedy="give one of pandas, Polars or PyArrow, or any that has __arrow_c_stream__",
    )


def _replace_in_table(
    table: pa.Table, column: str, released: pa.ChunkedArray, before: pa.ChunkedArray
) -> pa.Table:
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    if pa.types.is_dictionary(field.type) and field.type.ordered:
        released = _keep_dictionary_order(released, before)
    # Notes of pandas about the column are made true again: it would not read it otherwise.
    change = TableChange((column,), {column: released.type}, lambda _: ())
    metadata = changed_schema(table.schema, change).metadata
    field = new_field(field, released.type)
    return table.set_column(place, field, released).replace_schema_metadata(metadata)


def _keep_dictionary_order(released: pa.ChunkedArray, before: pa.ChunkedArray) -> pa.ChunkedArray:
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


def _has_categories(kind: Any, released: pa.ChunkedArray) -> bool:
    """Tell whether a type of Polars is one of categories, and has all outputs among them."""
    import polars as pl

    if not pa.types.is_dictionary(released.type):
        return False
    if not isinstance(kind, pl.Enum):
        return isinstance(kind, pl.Categorical)
    return set(released.chunk(0).dictionary.to_pylist()) <= set(kind.categories.to_list())


@dataclass(frozen=True)
class FrameSource(TableSource):
    """A data frame, read as a table is."""

    adapter: FrameAdapter
    index: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    """The levels of an index of pandas, which stays like a column."""
    lenient: bool = False
    """Whether columns of mixed types are read by their text, instead of refused."""

    @classmethod
    def of(cls, adapter: FrameAdapter, *, lenient: bool = False) -> FrameSource:
        """Take an opened frame, with its index if it has one that is more than row numbers."""
        native: Any = adapter.frame.to_native()
        if not adapter.frame.implementation.is_pandas():
            return cls(adapter, {}, lenient)
        return cls(adapter, index_levels(native), lenient)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, and of the levels of the index."""
        return (*self._names, *self.index)

    @cached_property
    def _names(self) -> dict[str, Any]:
        """What the frame calls its columns: numbers, for example."""
        names = {str(name): name for name in self.adapter.columns}
        if len(names) < len(self.adapter.columns):
            raise InputError("two columns of the same name", remedy="rename one")
        return names

    def cells(self, column: str) -> pa.ChunkedArray:
        """Return a column, or a level of the index, in Arrow."""
        if column in self.index:
            return self.index[column]
        name = self._names.get(column, column)
        try:
            return self.adapter.cells(name)
        except InputError:
            if not self.lenient or name not in self.adapter.columns:
                raise
            return pa.chunked_array([_as_texts(self.adapter.frame.get_column(name).to_list())])

    def replace_columns(
        self, columns: Mapping[Any, ReleasedColumn], dropped: Sequence[str] = ()
    ) -> Any:
        """Return the frame with some columns replaced, and others or levels of its index left out.

        >>> source = FrameSource.of(FrameAdapter.of(pa.table({"age": [31], "who": ["Ann"]})))
        >>> source.replace_columns({}, ["who"]).column_names
        ['age']
        """
        names = [self._names[name] for name in dropped if name in self._names]
        safe = self.adapter.replace_columns(columns, names)
        levels = [at for at, name in enumerate(self.index) if name in dropped]
        return safe.reset_index(level=levels, drop=True) if levels else safe

    def type_of(self, column: str) -> pa.DataType:
        """Return the type of a column in Arrow."""
        return self.cells(column).type

    def batches(self, columns: Sequence[str], watch: Progress | None = None) -> Iterator[RowBatch]:
        """Give all rows, in as many pieces as the columns have in common."""
        table = pa.table({column: self.cells(column) for column in columns})
        first = 0
        for batch in table.to_batches():
            yield RowBatch(batch, first)
            first += batch.num_rows
            if watch is not None:
                watch(Step("reading", first, table.num_rows))

    def where(self, row: int, column: str) -> str:
        """Name the place of a cell."""
        return f"row {row + 1:,}, column {column!r}"


def as_arrow(series: Any) -> pa.Array | pa.ChunkedArray:
    """Return a column as Arrow; what only pandas has, such as periods and intervals, by text."""
    import pandas as pd

    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        names = kind.categories
        if not _is_arrow_type(names.dtype) or pd.api.types.infer_dtype(names).startswith("mixed"):
            names = names.map(str)
        codes = series.cat.codes.to_numpy()
        indices = pa.array(codes, mask=codes < 0)
        dictionary = pa.array(names.to_numpy(dtype=object), from_pandas=True)
        return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=bool(kind.ordered))
    if isinstance(kind, pd.SparseDtype):
        series = series.sparse.to_dense()
    elif not _is_arrow_type(kind):
        series = series.astype("string")
    return pa.Array.from_pandas(series)


def from_arrow(
    released: pa.ChunkedArray, before: Any, arrow_type: pa.DataType, may_be_none: bool
) -> Any:
    """Return a series with the index, the name and, where the outputs fit, the type of before.

    What the type becomes depends on the mechanism, never on what happened to be drawn.
    """
    import pandas as pd

    kind = before.dtype
    kept = released.type == arrow_type
    values: Any
    if isinstance(kind, pd.ArrowDtype):
        values = pd.arrays.ArrowExtensionArray(released)
    elif pa.types.is_dictionary(released.type):
        values = _to_categorical(released, kind)
    elif kind == np.dtype(object):
        values = np.empty(len(released), dtype=object)
        values[:] = released.to_pylist()
    elif kept and _is_arrow_type(kind) and hasattr(kind, "__from_arrow__"):
        values = kind.__from_arrow__(released)
    elif may_be_none and pa.types.is_integer(released.type):
        values = pd.array(released.to_pylist(), dtype="Int64")
    elif may_be_none and pa.types.is_boolean(released.type):
        values = pd.array(released.to_pylist(), dtype="boolean")
    elif kept and isinstance(kind, np.dtype) and kind.kind in "biuf":
        values = released.to_numpy().astype(kind, copy=False)
    else:
        values = released.to_pandas().array
    # Pandas would call a column of objects that are all text one of text.
    return pd.Series(values, index=before.index, name=before.name, dtype=values.dtype)


def index_levels(frame: Any) -> dict[str, pa.ChunkedArray]:
    """Return the levels of a frame's index by name; none if it only numbers the rows.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 47], "who": ["Ann", "Bob"]})
    >>> list(index_levels(people.set_index("who"))), list(index_levels(people))
    (['who'], [])
    """
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex):
        return {}
    found: dict[str, pa.ChunkedArray] = {}
    for at in range(frame.index.nlevels):
        level = frame.index.get_level_values(at)
        name = "(index)" if level.name is None else str(level.name)
        while name in found or name in frame.columns:
            name = f"{name} (index)"
        try:
            cells = as_arrow(level.to_series())
        except (pa.ArrowException, TypeError, ValueError):
            cells = _as_texts(level)
        found[name] = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    return found


def _as_texts(values: Iterable[Any]) -> pa.Array:
    """Return values of mixed types by their text."""
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _is_arrow_type(kind: Any) -> bool:
    """Tell whether Arrow has values like these: periods and intervals are pandas' own."""
    import pandas as pd

    return not isinstance(kind, pd.PeriodDtype | pd.IntervalDtype)


def _to_categorical(released: pa.ChunkedArray, kind: Any) -> Any:
    """Return a categorical of the same categories, if each output is one of them."""
    import pandas as pd

    whole = released.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    outputs = whole.dictionary.to_pylist()
    by_text = {str(name): at for at, name in enumerate(kind.categories)}
    places = [by_text.get(str(output)) for output in outputs]
    if None in places:
        kind, places = pd.CategoricalDtype(outputs), list(range(len(outputs)))
    indices = whole.indices.cast(pa.int64()).fill_null(len(outputs)).to_numpy(zero_copy_only=False)
    codes = np.array([*places, -1], dtype=np.int64)[indices]
    return pd.Categorical.from_codes(codes, dtype=kind)
