"""Data frames of every kind and columns of every type: one column private, all else the same."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest

import liftlock.tables
from liftlock import (
    LDP,
    LIP,
    Alphabet,
    Channel,
    Draft,
    Joint,
    Mechanism,
    Prior,
    ProfileGraph,
    ProfilePrivacy,
    continuous,
    design,
    lock,
)
from liftlock.errors import CellError, InputError
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.tables.releases import aggregate_frame, release_frame

ROWS = 6


def turned(labels: list[Any], column: ColumnEncoding | None = None) -> Mechanism:
    """A mechanism without noise: each label becomes the next one, so that results can be known.

    A secret that is independent of the value is safe whatever is released.
    """
    rules = None if column is None else TableEncoding((column,))
    moved = np.roll(np.eye(len(labels)), 1, axis=1)
    joint = Joint.from_rows(
        Prior.uniform(["s", "t"]).alphabet, Prior.uniform(labels).alphabet, [[1] * len(labels)] * 2
    )
    return replace(lock(Draft.of(labels, labels, moved), LIP("0.1"), joint), encoding=rules)


def following(labels: list[Any]) -> dict[Any, Any]:
    return {label: labels[(at + 1) % len(labels)] for at, label in enumerate(labels)}


# --- the columns --------------------------------------------------------------------------------

DAYS = [datetime.date(2024, 2, 28), datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)]
DAY_LABELS = [str(day) for day in DAYS]
TEXTS = ["clerk", "nurse", "cook"]

PANDAS_COLUMNS: dict[str, tuple[list[Any], Any]] = {
    "text": (TEXTS, "str"),
    "object": (TEXTS, object),
    "string": (TEXTS, "string"),
    "arrow-text": (TEXTS, pd.ArrowDtype(pa.string())),
    "arrow-dictionary": (TEXTS, pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "category": (TEXTS, pd.CategoricalDtype(["nurse", "cook", "clerk", "baker"])),
    "ordered": (TEXTS, pd.CategoricalDtype(["nurse", "cook", "clerk"], ordered=True)),
    "numbers-category": ([3, 1, 2], pd.CategoricalDtype([1, 2, 3])),
    **{kind: ([3, 1, 2], kind) for kind in ("int8", "uint8", "int32", "int64", "uint64")},
    "Int64": ([3, 1, 2], "Int64"),
    "UInt8": ([3, 1, 2], "UInt8"),
    "arrow-int": ([3, 1, 2], pd.ArrowDtype(pa.int16())),
    "float": ([0.5, 1.0, 2.5], "float64"),
    "whole-float": ([1, 2, 3], "float64"),
    "Float32": ([0.5, 1.0, 2.5], "Float32"),
    "bool": ([True, False], "bool"),
    "boolean": ([True, False], "boolean"),
    "date": (DAYS, object),
    "arrow-date": (DAYS, pd.ArrowDtype(pa.date32())),
    "time": ([pd.Timestamp("2024-02-28 10:00"), pd.Timestamp("2024-03-01")], "datetime64[us]"),
}
POLARS_COLUMNS: dict[str, tuple[list[Any], Any]] = {
    "text": (TEXTS, pl.String),
    "categorical": (TEXTS, pl.Categorical),
    "enum": (TEXTS, pl.Enum(["nurse", "cook", "clerk", "baker"])),
    **{str(kind): ([3, 1, 2], kind) for kind in (pl.Int8, pl.UInt8, pl.Int32, pl.UInt64)},
    "float": ([0.5, 1.0, 2.5], pl.Float64),
    "bool": ([True, False], pl.Boolean),
    "date": (DAYS, pl.Date),
}
ARROW_COLUMNS: dict[str, tuple[list[Any], Any]] = {
    "text": (TEXTS, pa.string()),
    "large": (TEXTS, pa.large_string()),
    "view": (TEXTS, pa.string_view()),
    "dictionary": (TEXTS, pa.dictionary(pa.int8(), pa.string())),
    **{str(kind): ([3, 1, 2], kind) for kind in (pa.int8(), pa.uint16(), pa.int64(), pa.uint64())},
    "float": ([0.5, 1.0, 2.5], pa.float64()),
    "bool": ([True, False], pa.bool_()),
    "date": (DAYS, pa.date32()),
    "number-dictionary": ([3, 1, 2], pa.dictionary(pa.uint8(), pa.int64())),
}


def drawn(values: list[Any], missing: bool) -> list[Any]:
    cells = [values[at % len(values)] for at in range(ROWS)]
    return [*cells[:2], None, *cells[3:]] if missing else cells


def pandas_frame(cells: list[Any], kind: Any) -> Any:
    frame = pd.DataFrame(
        {
            "before": pd.Series([1, None, 3, None, 5, 6], dtype="Int64"),
            "x": pd.Series(cells, dtype=kind),
            7: pd.Categorical(list("bababa"), categories=["b", "a", "c"], ordered=True),
            "after": pd.Series([0.1, None, 0.3, None, -0.0, 6]),
        }
    )
    frame.index = pd.Index([5, 5, 4, 3, 2, 1], name="id")
    frame.attrs["source"] = "a survey"
    return frame


def polars_frame(cells: list[Any], kind: Any) -> Any:
    return pl.DataFrame(
        {
            "before": pl.Series([1, None, 3, None, 5, 6], dtype=pl.Int16),
            "x": pl.Series(cells, dtype=kind, strict=False),
            "after": pl.Series(list("bababa"), dtype=pl.Enum(["b", "a", "c"])),
            "list": [[1], [], None, [2, 3], [4], [5]],
        }
    )


def arrow_table(cells: list[Any], kind: Any) -> Any:
    half = ROWS // 2
    parts = [pa.array(cells[:half], type=kind), pa.array(cells[half:], type=kind)]
    if pa.types.is_dictionary(kind):
        parts = [pa.array(cells[at : at + half]).dictionary_encode() for at in (0, half)]
        parts = [part.cast(kind) for part in parts]
    fields = [
        pa.field("before", pa.int16(), metadata={"unit": "years"}),
        pa.field("x", kind, metadata={"asked": "2024"}),
        pa.field("after", pa.dictionary(pa.int8(), pa.string(), True)),
    ]
    after = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0, 1, 0, None], pa.int8()), ["b", "a"], ordered=True
    )
    arrays = [pa.array([1, None, 3, None, 5, 6], pa.int16()), pa.chunked_array(parts), after]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, {"source": "a survey"}))


def expected(cells: list[Any], values: list[Any]) -> list[Any]:
    """What a turned mechanism makes of cells, in plain Python."""
    after = following(values)
    return [None if cell is None else after[cell] for cell in cells]


def labels_of(values: list[Any]) -> list[Any]:
    plain = (str, int, float, bool)
    return [value if isinstance(value, plain) else str(value) for value in values]


def for_column(values: list[Any], missing: bool) -> Mechanism:
    return turned(labels_of(values), ColumnEncoding("x", keeps_missing=missing))


@pytest.mark.parametrize("missing", [False, True], ids=["whole", "with-missing"])
@pytest.mark.parametrize("name", PANDAS_COLUMNS)
def test_pandas(name: str, missing: bool) -> None:
    values, kind = PANDAS_COLUMNS[name]
    if missing and isinstance(kind, str) and kind in ("int8", "uint8", "int32", "int64", "uint64"):
        kind = "Int64"
    if missing and kind == "bool":
        kind = "boolean"
    cells = drawn(values, missing)
    frame = pandas_frame(cells, kind)
    untouched = frame.copy(deep=True)
    # In so few rows a column can go one to one with another by chance.
    safe = release_frame(frame, for_column(values, missing), "x", keep=[7])  # type: ignore[list-item]
    pd.testing.assert_frame_equal(frame, untouched)
    assert frame.attrs == safe.attrs == {"source": "a survey"}
    pd.testing.assert_frame_equal(safe, pandas_frame(expected(cells, values), kind))
    if missing:
        assert aggregate_frame(safe, for_column(values, True), "x").reports == ROWS - 1


@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
@pytest.mark.parametrize("name", POLARS_COLUMNS)
def test_polars(name: str, lazy: bool) -> None:
    values, kind = POLARS_COLUMNS[name]
    cells = drawn(values, missing=True)
    frame = polars_frame(cells, kind)
    untouched = frame.clone()
    safe = release_frame(frame.lazy() if lazy else frame, for_column(values, True), "x")
    assert isinstance(safe, pl.LazyFrame if lazy else pl.DataFrame)
    polars.testing.assert_frame_equal(frame, untouched)
    wanted = polars_frame(expected(cells, values), kind)
    polars.testing.assert_frame_equal(safe.lazy().collect(), wanted)
    counted = aggregate_frame(safe, for_column(values, True), "x")
    told = [cell for cell in expected(cells, values) if cell is not None]
    assert counted.counts == tuple(told.count(value) for value in values)


@pytest.mark.parametrize("batch", [False, True], ids=["table", "batch"])
@pytest.mark.parametrize("name", ARROW_COLUMNS)
def test_arrow(name: str, batch: bool) -> None:
    values, kind = ARROW_COLUMNS[name]
    cells = drawn(values, missing=True)
    table = arrow_table(cells, kind)
    given = table.combine_chunks().to_batches()[0] if batch else table
    safe = release_frame(given, for_column(values, True), "x")
    assert isinstance(safe, pa.RecordBatch if batch else pa.Table)
    wanted = arrow_table(expected(cells, values), kind)
    assert safe.schema.equals(wanted.schema)
    assert safe.schema.metadata == wanted.schema.metadata
    assert safe.schema.field("before").metadata == wanted.schema.field("before").metadata
    assert safe.schema.field("x").metadata is None  # it may list the values that were there
    assert safe.to_pydict() == wanted.to_pydict()
    assert safe.column("before").equals(given.column("before"))
    assert table.equals(arrow_table(cells, kind), check_metadata=True)


# --- the rules of the column --------------------------------------------------------------------


def test_missing_values_are_a_category() -> None:
    """The release of a missing category is written as a missing cell, in every kind of frame."""
    code = ColumnEncoding("x", missing="(missing)", other="other", merged=("rare",), unseen="map")
    made = turned(["a", "(missing)", "other"], code)  # a -> missing -> other -> a
    cells = ["a", None, "rare", "new"]
    wanted = [None, "other", "a", "a"]
    for frame in (pa.table({"x": cells}), pl.DataFrame({"x": cells})):
        assert nw.from_native(release_frame(frame, made, "x"))["x"].to_list() == wanted
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        frame = pd.DataFrame({"x": pd.Series(["a", missing, "rare", "new"], dtype=object)})
        assert release_frame(frame, made, "x")["x"].tolist() == wanted
    with pytest.raises(
        CellError, match=r"not an input of the mechanism at row 4, column 'x': 'new'"
    ):
        release_frame(pa.table({"x": cells}), made, "x", unseen="refuse")


def test_types_do_not_depend_on_what_is_drawn() -> None:
    """A column of pandas' plain integers that may come out missing becomes one that may hold it."""
    made = turned([1, 2, "(missing)"], ColumnEncoding("x", missing="(missing)"))
    for cells, wanted in (([1, 1], [2, 2]), ([1, 2], [2, pd.NA])):
        frame = pd.DataFrame({"x": np.array(cells, dtype=np.int64)})
        after = release_frame(frame, made, "x")["x"]
        assert after.dtype == "Int64"
        assert after.tolist() == wanted
    assert release_frame(frame.iloc[:0], made, "x")["x"].dtype == "Int64"


def test_outputs_that_do_not_fit_the_type() -> None:
    joint = Joint.from_counts({"s": {1: 1, 2: 1}, "t": {1: 1, 2: 1}})
    made = lock(Draft.of([1, 2], ["low", "high"], [[1, 0], [0, 1]]), LIP("1"), joint)
    ordered = pd.CategoricalDtype([2, 1], ordered=True)
    safe = release_frame(pd.DataFrame({"x": pd.Series([2, 1], dtype=ordered)}), made, "x")
    assert safe["x"].tolist() == ["high", "low"]
    assert safe["x"].dtype == pd.CategoricalDtype(["low", "high"], ordered=False)
    assert release_frame(pa.table({"x": [2, 1]}), made, "x").column("x").to_pylist() == [
        "high",
        "low",
    ]
    enum = pl.DataFrame({"x": pl.Series(["2", "1"], dtype=pl.Enum(["1", "2"]))})
    assert release_frame(enum, made, "x")["x"].to_list() == ["high", "low"]


def test_pandas_reads_a_table_whose_column_has_another_type() -> None:
    """What pandas noted about a column would make it refuse the new one."""
    joint = Joint.from_counts({"s": {1: 1, 2: 1}, "t": {1: 1, 2: 1}})
    made = lock(Draft.of([1, 2], ["low", "high"], [[1, 0], [0, 1]]), LIP("1"), joint)
    frame = pd.DataFrame({"x": pd.Series([2, 1], dtype="Int64"), "y": pd.array([1, None])})
    after = release_frame(pa.Table.from_pandas(frame), made, "x").to_pandas()
    assert after["x"].tolist() == ["high", "low"]
    pd.testing.assert_series_equal(after["y"], frame["y"])


def test_an_ordered_dictionary_keeps_its_order() -> None:
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    cells = pa.DictionaryArray.from_arrays(
        pa.array([2, 1, None], pa.int8()), ["low", "middle", "high"], ordered=True
    )
    made = turned(["high", "middle", "low"], ColumnEncoding("x", keeps_missing=True))
    after = release_frame(pa.table({"x": cells}), made, "x").column("x")
    assert after.type == kind
    assert after.to_pylist() == ["middle", "low", None]
    assert after.chunk(0).dictionary.to_pylist() == ["low", "middle", "high"]


def test_what_only_pandas_has_is_read_by_its_text() -> None:
    months = pd.Series(pd.period_range("2024-01", periods=2, freq="M"))
    after = release_frame(pd.DataFrame({"x": months}), turned(["2024-01", "2024-02"]), "x")
    assert after["x"].tolist() == ["2024-02", "2024-01"]
    sparse = pd.DataFrame({"x": pd.arrays.SparseArray([0, 0, 5])})
    assert release_frame(sparse, turned([0, 5]), "x")["x"].tolist() == [5, 5, 0]
    cut = pd.cut(pd.Series([1, 5, 9]), [0, 3, 6, 10])
    made = turned(["(0, 3]", "(3, 6]", "(6, 10]"])
    after = release_frame(pd.DataFrame({"x": cut}), made, "x")["x"]
    assert after.dtype == cut.dtype
    assert after.tolist() == pd.cut(pd.Series([5, 9, 1]), [0, 3, 6, 10]).tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, pa.record_batch])
def test_frames_without_rows(make: Any) -> None:
    frame = make({"x": pa.array([], pa.string()) if make in (pa.table, pa.record_batch) else []})
    safe = release_frame(frame, turned(TEXTS), "x")
    assert isinstance(safe, type(frame))
    assert len(safe) == 0 if make is not pa.record_batch else safe.num_rows == 0
    assert aggregate_frame(safe, turned(TEXTS), "x").reports == 0


def test_anything_that_speaks_arrow_becomes_a_table() -> None:
    reader = pa.table({"x": TEXTS}).to_reader(max_chunksize=2)
    safe = release_frame(reader, turned(TEXTS), "x")
    assert isinstance(safe, pa.Table)
    assert safe.column("x").to_pylist() == expected(TEXTS, TEXTS)


def test_the_column_of_the_mechanism() -> None:
    made = turned(TEXTS, ColumnEncoding("job"))
    frame = pl.DataFrame({"job": TEXTS})
    safe = release_frame(frame, made)
    assert safe["job"].to_list() == expected(TEXTS, TEXTS)
    assert aggregate_frame(safe, made).reports == 3
    with pytest.raises(InputError, match="no column; name one"):
        release_frame(frame, turned(TEXTS))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, pa.record_batch])
def test_columns_that_are_one_value(make: Any) -> None:
    jobs, towns = ["clerk", "cook"], [1, 2]
    pairs = [("clerk", 1), ("clerk", 2), ("cook", 1)]
    group = TableEncoding(
        (ColumnEncoding("job"), ColumnEncoding("town")), (Alphabet.of(jobs), Alphabet.of(towns))
    )
    made = replace(turned(pairs), encoding=group)
    cells = {"job": ["cook", "clerk", "clerk"], "age": [1.5, 2.5, 3.5], "town": [1, 2, 1]}
    frame = make(cells)
    safe = release_frame(frame, made)
    assert isinstance(safe, type(frame))
    wanted = {"job": ["clerk", "cook", "clerk"], "age": [1.5, 2.5, 3.5], "town": [1, 1, 2]}
    table = pa.table(safe)
    assert table.to_pydict() == wanted
    assert table.schema.types == pa.table(frame).schema.types
    assert aggregate_frame(safe, made).counts == (1, 1, 1)
    again = make({"j": cells["job"], "t": cells["town"]})
    assert pa.table(release_frame(again, made, ["j", "t"]))["j"].to_pylist() == wanted["job"]
    with pytest.raises(InputError, match="several columns at once: 'job, town'"):
        release_frame(frame, made, "job")
    with pytest.raises(CellError, match=r"combination of values .* at row 1"):
        release_frame(make({"job": ["cook"], "town": [2]}), made)


# --- noise, encodings and numbers ---------------------------------------------------------------


def test_noise_is_fresh_and_has_the_law_of_the_table() -> None:
    """False-alarm rate below 1e-9: Hoeffding's bound for 200,000 reports is 0.0074."""
    prior = Prior.from_counts({"none": 7, "cold": 2, "flu": 1})
    made = design(prior, LIP("1"), method="safe-response")
    rows = 200_000
    frame = pl.DataFrame({"x": pl.Series(["flu"] * rows, dtype=pl.Categorical)})
    safe = release_frame(frame.lazy(), made, "x")
    once, twice = safe.collect(), safe.collect()
    polars.testing.assert_frame_equal(once, twice)
    row = made.table.floats()[made.table.inputs.index("flu")]
    shares = np.array(aggregate_frame(once, made, "x").counts) / rows
    assert np.abs(shares - row).max() < 0.0074
    assert not release_frame(frame, made, "x").equals(once)


def test_encodings_are_columns_of_bytes() -> None:
    prior = Prior.uniform([f"v{at}" for at in range(20)])
    made = design(prior, LDP("2"), method="oue")
    cells = ["v3", "v19"] * 500
    for frame in (pd.DataFrame({"x": cells}), pl.DataFrame({"x": cells}), pa.table({"x": cells})):
        safe = release_frame(frame, made, "x")
        reports = nw.from_native(safe)["x"].to_list()
        packed = np.array([list(report) for report in reports], dtype=np.uint8)
        assert aggregate_frame(safe, made, "x") == made.aggregate(packed)
    with pytest.raises(CellError, match="not an output of the mechanism at row 1, column 'x'"):
        aggregate_frame(pa.table({"x": [b"\xff"]}), made, "x")


def test_numbers_on_a_grid() -> None:
    distribution = continuous.normal(40, 10, domain=(0, 100))
    made = design(distribution, LIP("1"), method="quantile-blocks", bins=16)
    ages = [12, 39, 41, 250]
    points = {float(point) for point in made.table.outputs.coordinates or ()}
    for frame in (pd.DataFrame({"x": ages}), pl.DataFrame({"x": ages}), pa.table({"x": ages})):
        safe = release_frame(frame, made, "x")
        assert set(nw.from_native(safe)["x"].to_list()) <= points
        assert aggregate_frame(safe, made, "x").reports == 4
    with pytest.raises(CellError, match="missing value at row 2, column 'x'"):
        release_frame(pa.table({"x": [1.5, None]}), made, "x")
    with pytest.raises(CellError, match="not a finite number at row 3, column 'x': inf"):
        release_frame(pd.DataFrame({"x": [1.5, 2.0, float("inf")]}), made, "x")


def test_weights_are_numbers_or_a_column() -> None:
    frame = pd.DataFrame({"x": ["a", None, "b"], "w": [2.0, 100.0, 3.0]})
    made = turned(["a", "b"], ColumnEncoding("x", keeps_missing=True))
    named = aggregate_frame(frame, made, "x", weights="w", offsets=1)
    assert named == aggregate_frame(frame, made, "x", weights=[2, 100, 3], offsets=[1, 1, 1])
    assert named.weights is not None
    assert [int(each) for each in named.weights.sums] == [2, 3]
    assert named.weights.offset == 2
    with pytest.raises(InputError, match="weights of shape"):
        aggregate_frame(frame, made, "x", weights=[1, 2])


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"y": [1]}), "no such column: 'x'; columns are 'y'"),
        (pl.DataFrame({"y": [1]}).lazy(), "no such column: 'x'; columns are 'y'"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "two columns of the same name"),
        (pa.table([[1], [2]], names=["x", "x"]), "two columns of the same name"),
        (pd.DataFrame({"x": ["a", 1]}), "holds mixed or unsupported types"),
        (pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)}), "mixed or unsupported types"),
        (pa.table({"x": [["a"]]}), "the column holds lists or structs"),
        (pd.Series(["a"], name="x"), "not a data frame: 'Series'"),
        (pl.Series("x", ["a"]), "not a data frame: 'Series'"),
        ({"x": ["a"]}, "not a data frame: 'dict'"),
    ],
)
def test_frames_that_are_refused(frame: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        release_frame(frame, turned(["a", "b"]), "x")


def test_the_row_is_named_across_chunks() -> None:
    table = pa.table({"x": pa.chunked_array([["a", "b"], ["a", "c"]])})
    with pytest.raises(CellError, match="row 4, column 'x': 'c'") as refusal:
        release_frame(table, turned(["a", "b"]), "x")
    assert refusal.value.row == 3
    with pytest.raises(CellError, match="missing value at row 2, column 'x'"):
        release_frame(pd.DataFrame({"x": ["a", None]}), turned(["a", "b"]), "x")


def test_the_module_has_two_functions() -> None:
    assert liftlock.tables.release is release_frame
    assert liftlock.tables.aggregate is aggregate_frame
    with pytest.raises(AttributeError, match="no attribute 'secure'"):
        liftlock.tables.secure  # noqa: B018


def test_no_mechanism_is_refused() -> None:
    made = design(ProfileGraph.bernoulli(["0.2", "0.4"]), ProfilePrivacy("1"))
    with pytest.raises(InputError, match="not a mechanism for columns"):
        release_frame(pa.table({"x": [0]}), made.channel, "x")  # type: ignore[arg-type]


# --- profiles -------------------------------------------------------------------------------------


def flipping() -> Mechanism:
    """A mechanism without noise: ann's bit is kept, bob's is turned round."""
    graph = ProfileGraph.complete({"ann": {0: 1, 1: 1}, "bob": {0: 1, 1: 1}})
    rows = {
        (who, bit): {y: int(y == bit ^ (who == "bob")) for y in (0, 1)}
        for who, bit in (("bob", 1), ("ann", 0), ("bob", 0), ("ann", 1))
    }
    return lock(Channel.from_rows(rows), ProfilePrivacy("0"), graph)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_each_row_goes_by_its_own_profile(kind: Any) -> None:
    frame = kind({"bit": [0, 0, 1, 1], "who": ["ann", "bob", "ann", "bob"], "k": [1, 2, 3, 4]})
    safe = liftlock.tables.release(frame, flipping(), "bit", profiles="who")
    assert nw.from_native(safe).to_dict(as_series=False) == {"bit": [0, 1, 1, 0], "k": [1, 2, 3, 4]}
    kept = liftlock.tables.release(frame, flipping(), "bit", profiles="who", keep=["who"])
    assert nw.from_native(kept).columns == ["bit", "who", "k"]


def test_profiles_that_are_refused() -> None:
    frame = pa.table({"bit": [0, 0], "who": ["ann", "eve"]})
    with pytest.raises(CellError, match=r"unknown profile at row 2, column 'who': 'eve'"):
        liftlock.tables.release(frame, flipping(), "bit", profiles="who")
    with pytest.raises(InputError, match="the same column"):
        liftlock.tables.release(frame, flipping(), "bit", profiles="bit")
    with pytest.raises(InputError, match="no profiles, and the mechanism uses the profile"):
        liftlock.tables.release(frame, flipping(), "bit")
    plain = design(Prior.uniform([0, 1]), LIP("1"), method="safe-response")
    with pytest.raises(InputError, match="profiles for a mechanism that knows none"):
        liftlock.tables.release(frame, plain, "bit", profiles="who")


def test_impossible_values_are_refused_or_ignored() -> None:
    graph = ProfileGraph.bernoulli({"often": "0.9", "always": "1"})
    rows = Channel.from_rows({0: {0: "0.9", 1: "0.1"}, 1: {0: "0.2", 1: "0.8"}})
    made = lock(rows, ProfilePrivacy("1"), graph, impossible="ignore")
    frame = pa.table({"bit": [0, 1, 0], "who": ["often", "always", "always"]})
    with pytest.raises(CellError, match=r"calls impossible.* at row 3, column 'bit'"):
        release_frame(frame, made, "bit", profiles="who")
    with pytest.raises(InputError, match="would give them away"):
        release_frame(frame, made, "bit")
    for profiles in (None, "who"):
        safe = release_frame(
            frame, made, "bit", profiles=profiles, impossible="ignore", drop=["who"]
        )
        assert set(safe.column("bit").to_pylist()) <= {0, 1}
