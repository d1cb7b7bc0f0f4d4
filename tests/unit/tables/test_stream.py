"""Tables from file to file: what is not changed is kept, whatever its type."""

from __future__ import annotations

import datetime
import decimal
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from liftlock import Step
from liftlock.errors import FileError, InputError
from liftlock.tables.formats import open_table
from liftlock.tables.formats import parquet as parquet_file
from liftlock.tables.formats import parquet as parquet_sink
from liftlock.tables.formats.base import RowBatch
from liftlock.tables.formats.csv_types import survives_cast
from liftlock.tables.stream import TableChange, rewrite_table

ROWS = 600


def repeated(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array([values[at % len(values)] for at in range(ROWS)], kind)


def every_type() -> pa.Table:
    """Return a table with a column of every type that Parquet stores, nulls in all of them."""
    when = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)
    point = pa.struct([("x", pa.int32()), pa.field("name", pa.string(), nullable=False)])
    columns: dict[str, pa.Array] = {
        "bool": repeated([True, False, None], pa.bool_()),
        **{
            str(kind): repeated([0, 7, None, 100], kind)
            for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())
        },
        **{
            str(kind): repeated([0, 200, None], kind)
            for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
        },
        "half": pa.array(np.arange(ROWS, dtype=np.float16)),
        "float": repeated([0.1, -0.0, float("nan"), None, float("inf")], pa.float32()),
        "double": repeated([0.1, -0.0, float("nan"), None], pa.float64()),
        "decimal": repeated([decimal.Decimal("1.20"), None], pa.decimal128(20, 2)),
        "wide": repeated([decimal.Decimal("-1.200"), None], pa.decimal256(60, 3)),
        "date": repeated([when.date(), None], pa.date32()),
        "time": repeated([when.time(), None], pa.time64("us")),
        "ns": repeated([1, None, 10**18 + 1], pa.timestamp("ns")),
        "zoned": repeated([when, None], pa.timestamp("us", "Europe/Berlin")),
        "utc": repeated([when, None], pa.timestamp("ms", "UTC")),
        "span": repeated([5, None], pa.duration("s")),
        "text": repeated(["a", "", None, "ü\n,"], pa.string()),
        "many": pa.array([f"text {at * 7919}" for at in range(ROWS)], pa.string()),
        "large": repeated(["a", None], pa.large_string()),
        "view": repeated(["a", None, "a text that is longer than twelve"], pa.string_view()),
        "bytes": repeated([b"\0\xff", None], pa.binary()),
        "fixed": repeated([b"abc", None], pa.binary(3)),
        "category": repeated(["x", "y", None], pa.string()).dictionary_encode(),
        "number category": repeated([3, 4], pa.int64()).dictionary_encode(),
        "list": repeated([[1, None], [], None], pa.list_(pa.int16())),
        "texts": repeated([["a", "b"], None], pa.large_list(pa.string())),
        "triple": repeated([[1, 2, 3], None], pa.list_(pa.int32(), 3)),
        "point": repeated([{"x": 1, "name": "p"}, None], point),
        "points": repeated([[{"x": None, "name": "p"}], []], pa.list_(point)),
        "map": repeated([[("k", 1)], None], pa.map_(pa.string(), pa.int32())),
        "nothing": pa.nulls(ROWS),
        "a.b": repeated([1, 2], pa.int64()),
        "a": repeated([{"b": 5}], pa.struct([("b", pa.int64())])),
    }
    fields = [
        pa.field("answer", pa.string(), metadata={"asked": "in May"}),
        pa.field("sure", pa.int32(), nullable=False),
        *(pa.field(name, array.type, metadata={"n": name}) for name, array in columns.items()),
    ]
    arrays = [
        repeated(["yes", "no", None, "no"], pa.string()),
        pa.array(range(ROWS), pa.int32()),
        *columns.values(),
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"who": "us"}))


def upper(column: str = "answer", kind: pa.DataType | None = None) -> TableChange:
    """Return a change that writes a column of text in capitals."""

    def apply(piece: RowBatch) -> list[pa.Array]:
        assert piece.batch.schema.names == [column]
        cells = piece.batch.column(0)
        assert cells.type == pa.string() or cells.type.value_type == pa.string()
        new = pc.utf8_upper(cells.cast(pa.string()))
        return [new if kind is None else new.cast(pa.string()).dictionary_encode()]

    return TableChange((column,), {column: kind or pa.string()}, apply)


def capitals(table: pa.Table) -> pa.Table:
    at = table.schema.get_field_index("answer")
    # Notes about values that were replaced are gone; Parquet's number of the column is not.
    notes = table.schema.field(at).metadata or {}
    left = {key: value for key, value in notes.items() if key == b"PARQUET:field_id"}
    field = table.schema.field(at).with_metadata(left)
    return table.set_column(at, field, pc.utf8_upper(table.column(at)))


def same(left: pa.Table, right: pa.Table) -> bool:
    """Tell whether two tables agree in everything, NaNs and negative zeros included."""
    assert left.schema.equals(right.schema, check_metadata=True), (left.schema, right.schema)
    for name, one, other in zip(left.schema.names, left.columns, right.columns, strict=True):
        first, second = (str(column.to_pylist()) for column in (one, other))
        assert first == second, name
    return True


@pytest.mark.parametrize("piece", [1000, 64 << 20])
def test_parquet_keeps_every_type_and_note(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row groups are kept if they fit; those that do not are read in parts and written whole."""
    monkeypatch.setattr(parquet_file, "PIECE_BYTES", piece)
    table = every_type()
    source, output = tmp_path / "a.parquet", tmp_path / "b.parquet"
    codecs = dict.fromkeys(table.schema.names, "NONE") | {"answer": "ZSTD", "many": "GZIP"}
    pq.write_table(table, source, row_group_size=250, compression=codecs)
    assert rewrite_table(open_table(source), output, upper()) == ROWS
    assert same(pq.read_table(output), capitals(pq.read_table(source)))
    before, after = pq.ParquetFile(source).metadata, pq.ParquetFile(output).metadata
    assert before.schema.equals(after.schema)
    assert after.num_row_groups == 3
    for group in range(3):
        old, new = before.row_group(group), after.row_group(group)
        assert old.num_rows == new.num_rows
        for at in range(before.num_columns):
            assert old.column(at).compression == new.column(at).compression
            assert old.column(at).has_dictionary_page == new.column(at).has_dictionary_page
    assert set(before.metadata) == set(after.metadata)


def test_large_row_groups_are_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_file, "PIECE_BYTES", 1000)
    monkeypatch.setattr(parquet_sink, "GROUP_BYTES", 2000)
    table = every_type().select(["answer", "category", "many"])
    pq.write_table(table, tmp_path / "a.parquet")
    rewrite_table(open_table(tmp_path / "a.parquet"), tmp_path / "b.parquet", upper())
    assert same(pq.read_table(tmp_path / "b.parquet"), capitals(table))
    assert pq.ParquetFile(tmp_path / "b.parquet").num_row_groups > 5


def test_ways_of_storing_are_kept(tmp_path: Path) -> None:
    table = pa.table(
        {
            "answer": repeated(["yes", "no"], pa.string()),
            "delta": pa.array(range(ROWS)),
            "split": pa.array(np.linspace(0, 1, ROWS)),
            "old": repeated([1, None], pa.timestamp("ns")),
            "money": repeated([decimal.Decimal("1.20")], pa.decimal128(9, 2)),
        }
    )
    pq.write_table(
        table,
        tmp_path / "a.parquet",
        use_dictionary=["answer"],
        column_encoding={"delta": "DELTA_BINARY_PACKED", "split": "BYTE_STREAM_SPLIT"},
        use_deprecated_int96_timestamps=True,
        store_decimal_as_integer=True,
        write_page_index=True,
        sorting_columns=[pq.SortingColumn(1)],
    )
    rewrite_table(open_table(tmp_path / "a.parquet"), tmp_path / "b.parquet", upper())
    before, after = (
        pq.ParquetFile(tmp_path / name).metadata for name in ("a.parquet", "b.parquet")
    )
    assert before.schema.equals(after.schema)
    assert before.row_group(0).sorting_columns == after.row_group(0).sorting_columns
    for at in range(5):
        old, new = before.row_group(0).column(at), after.row_group(0).column(at)
        assert set(old.encodings) == set(new.encodings)
        assert old.physical_type == new.physical_type
        assert old.has_column_index == new.has_column_index


def test_statistics_and_dictionaries_hold_new_values_only(tmp_path: Path) -> None:
    """Nothing of the old values may be left in the new file."""
    values = [f"secret-{at}" for at in range(5)]
    frame = pd.DataFrame({"answer": pd.Categorical([values[at % 5] for at in range(ROWS)])})
    frame.to_parquet(tmp_path / "a.parquet", compression=None)
    kind = open_table(tmp_path / "a.parquet").type_of("answer")

    def apply(piece: RowBatch) -> list[pa.Array]:
        codes = pa.array(np.zeros(piece.batch.num_rows), kind.index_type)
        return [pa.DictionaryArray.from_arrays(codes, pa.array(["public"], kind.value_type))]

    for name in ("b.parquet", "b.arrow", "b.csv"):
        change = TableChange(("answer",), {"answer": kind}, apply)
        rewrite_table(open_table(tmp_path / "a.parquet"), tmp_path / name, change)
        assert b"secret" not in (tmp_path / name).read_bytes()
        assert b"num_categories" not in (tmp_path / name).read_bytes()
    assert pd.read_parquet(tmp_path / "b.parquet")["answer"].tolist() == ["public"] * ROWS


def test_pandas_reads_its_notes_again(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 3], dtype="Int64"),
            "answer": ["a", "b", None],
            "c": pd.Categorical(["u", "v", "u"]),
        },
        index=pd.Index([5, 6, 7], name="row"),
    )
    frame.to_parquet(tmp_path / "a.parquet")
    source = open_table(tmp_path / "a.parquet")
    to_text = TableChange(
        ("n",), {"n": pa.string()}, lambda p: [pa.array(["x"] * p.batch.num_rows)], ("c",)
    )
    rewrite_table(source, tmp_path / "b.parquet", to_text)
    expected = frame.drop(columns="c").assign(n=["x", "x", "x"])
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "b.parquet"), expected, check_dtype=False
    )
    rewrite_table(source, tmp_path / "c.parquet", TableChange((), {}, lambda _: [], ("row",)))
    found = pd.read_parquet(tmp_path / "c.parquet")
    assert found.columns.tolist() == ["n", "answer", "c"]
    assert found["n"].dtype == "Int64"


def test_polars_files(tmp_path: Path) -> None:
    frame = pl.DataFrame({"answer": ["a", None, "b"], "n": [1, 2, None], "l": [[1], [], None]})
    frame = frame.with_columns(pl.col("answer").cast(pl.Categorical).alias("k"))
    frame.write_parquet(tmp_path / "a.parquet")
    source = open_table(tmp_path / "a.parquet")
    change = TableChange(
        ("answer",),
        {"answer": source.type_of("answer")},
        lambda p: [p.batch.column(0)],
    )
    rewrite_table(source, tmp_path / "b.parquet", change)
    assert pl.read_parquet(tmp_path / "b.parquet").equals(frame)


def test_notes_about_replaced_values_go(tmp_path: Path) -> None:
    jobs = pl.Series("job", ["cook", "nurse"] * 20, dtype=pl.Enum(["cook", "nurse", "only once"]))
    source = tmp_path / "enum.parquet"
    jobs.to_frame().with_row_index("id").write_parquet(source)
    change = TableChange(("job",), {"job": pa.string()}, lambda _: [pa.array(["x"] * 40)])
    readers = {"safe.parquet": pl.read_parquet, "safe.arrow": pl.read_ipc}
    for name, read in readers.items():
        rewrite_table(open_table(source), tmp_path / name, change)
        frame = read(tmp_path / name)
        assert frame.schema["job"] == pl.String
        assert frame["job"].to_list() == ["x"] * 40
    assert b"only once" not in (tmp_path / "safe.arrow").read_bytes()


def test_arrow_files_and_streams(tmp_path: Path) -> None:
    """Dictionaries that differ from batch to batch grow together."""
    names = ["answer", "sure", "zoned", "points", "map", "category", "view", "nothing"]
    table = every_type().select(names)
    parts = [table.slice(start, 100) for start in range(0, ROWS, 100)]
    fresh = pa.array(["z", "x", None, "w"] * 25).dictionary_encode()
    at = names.index("category")
    parts[1] = parts[1].set_column(at, table.schema.field(at), fresh)
    table = pa.concat_tables(parts)
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    source = open_table(tmp_path / "a.arrow")
    assert source.rows is None
    for name in ("b.arrow", "b.feather"):
        rewrite_table(source, tmp_path / name, upper())
        found = open_table(tmp_path / name)
        assert found.rows == ROWS
        assert same(pa.ipc.open_file(tmp_path / name).read_all(), capitals(table))
        # Polars does not know dictionaries that grow.
        assert pl.read_ipc(tmp_path / name, columns=["category"]).to_series().to_list() == (
            table["category"].to_pylist()
        )
    rewrite_table(found, tmp_path / "c.parquet", upper())
    read = pq.read_table(tmp_path / "c.parquet")
    assert str(read.to_pydict()) == str(capitals(table).to_pydict())
    pieces = list(found.batches(["sure", "answer"]))
    assert pieces[0].batch.schema.names == ["sure", "answer"]
    assert found.where(6, "sure") == f"{tmp_path / 'b.feather'}, row 7, column 'sure'"


def test_empty_tables(tmp_path: Path) -> None:
    table = every_type().slice(0, 0)
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("answer,b\n")
    for name in ("b.parquet", "b.arrow"):
        assert rewrite_table(open_table(tmp_path / "a.parquet"), tmp_path / name, upper()) == 0
        assert open_table(tmp_path / name).rows == 0
    before = capitals(pq.read_table(tmp_path / "a.parquet"))
    assert same(pq.read_table(tmp_path / "b.parquet"), before)
    rewrite_table(open_table(tmp_path / "a.csv"), tmp_path / "c.parquet", upper())
    assert pq.read_table(tmp_path / "c.parquet").schema.names == ["answer", "b"]


def test_from_csv_to_columns(tmp_path: Path) -> None:
    """A column is a number only if each of its texts comes back."""
    columns = {
        "answer": [" Yes", '"n""o"', "", "yes"],
        "int": ["1", "-2", "", "9223372036854775807"],
        "double": ["1.0", "-0.5", "", "0.1"],
        "zip": ["01234", "1", "2", "3"],
        "big": ["9223372036854775808", "1", "2", "3"],
        "round": ["0.50", "1.0", "2.0", "3.0"],
        "mixed": ["1", "2.5", "3", "4"],
        "tiny": ["1e-05", "0.5", "0.5", "0.5"],
        "small": ["0.00001", "0.5", "0.5", "0.5"],
        "blank": [" 1", "2", "3", "4"],
        "quoted": ['"1"', "2", "3", "4"],
        "empty": ["", "", "", ""],
        "marked": ['""', '" a "', '"x,y"', "é"],
        "nan": ["nan", "1.5", "inf", "2.5"],
    }
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    rewrite_table(open_table(tmp_path / "a.csv"), tmp_path / "b.parquet", upper())
    table = pq.read_table(tmp_path / "b.parquet")
    kinds = {name: str(table.schema.field(name).type) for name in columns}
    numbers = {"int": "int64", "double": "double", "quoted": "int64"}
    assert kinds == {name: numbers.get(name, "string") for name in columns}
    found = table.to_pydict()
    assert found["answer"] == ["YES", 'N"O', None, "YES"]
    assert found["int"] == [1, -2, None, 2**63 - 1]
    assert found["double"] == [1.0, -0.5, None, 0.1]
    assert found["blank"] == [" 1", "2", "3", "4"]
    assert found["marked"] == ["", " a ", "x,y", "é"]
    assert found["empty"] == [None] * 4
    assert found["zip"][0] == "01234"


def test_numbers_survive_as_python_writes_them() -> None:
    random = np.random.default_rng(3)
    floats = (random.standard_normal(300) * 10.0 ** random.integers(-6, 18, 300)).tolist()
    for number in [*floats, 1e16, 9999999999999998.0, 1e-4, 0.00009999, 0.0, -0.0, 123.0]:
        text = repr(number)
        assert survives_cast(pa.array([text]), pa.float64()) == ("e" not in text), text
        if len(text) > 4:
            assert not survives_cast(pa.array([text[:-1] + "0" + text[-1] * 17]), pa.float64())


def test_a_name_given_twice_cannot_become_a_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("answer,b,b\n1,2,3\n")
    with pytest.raises(FileError, match="column name given twice"):
        rewrite_table(open_table(tmp_path / "a.csv"), tmp_path / "b.parquet", upper())
    table = pa.table([pa.array(["x"]), pa.array([1]), pa.array([2])], names=["answer", "b", "b"])
    pq.write_table(table, tmp_path / "a.parquet")
    rewrite_table(open_table(tmp_path / "a.parquet"), tmp_path / "b.parquet", upper())
    assert pq.ParquetFile(tmp_path / "b.parquet").read().columns[2].to_pylist() == [2]


def test_from_columns_to_csv(tmp_path: Path) -> None:
    table = every_type().select(["answer", "zoned", "decimal", "category", "double", "bool"])
    pq.write_table(table.slice(0, 2), tmp_path / "a.parquet")
    notes: list[str] = []
    source = open_table(tmp_path / "a.parquet")
    rewrite_table(source, tmp_path / "b.csv", upper(), note=notes.append)
    assert (tmp_path / "b.csv").read_text() == (
        '"answer","zoned","decimal","category","double","bool"\n'
        '"YES",2024-02-29 13:30:15.123456+0100,1.20,"x",0.1,true\n'
        '"NO",,,"y",-0,false\n'
    )
    assert "a CSV does not store types" in notes[0]
    pq.write_table(table.select(["answer"]), tmp_path / "one.parquet")
    rewrite_table(open_table(tmp_path / "one.parquet"), tmp_path / "c.csv", upper())
    pieces = open_table(tmp_path / "c.csv").batches(["answer"])
    read = [cell for piece in pieces for cell in piece.batch.column(0).to_pylist()]
    assert read == capitals(table)["answer"].to_pylist()
    pq.write_table(every_type(), tmp_path / "all.parquet")
    with pytest.raises(InputError, match=r"column 'bytes' of binary cannot be a column of a CSV"):
        rewrite_table(open_table(tmp_path / "all.parquet"), tmp_path / "d.csv", upper())
    assert not (tmp_path / "d.csv").exists()


def test_outputs_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("answer\nx\n")
    source = open_table(path)
    (tmp_path / "there.csv").write_text("old")
    with pytest.raises(FileError, match=r"the file exists already at .*there.csv; .*--force"):
        rewrite_table(source, tmp_path / "there.csv", upper())
    for name in ("soft.csv", "hard.csv"):
        link = tmp_path / name
        link.symlink_to(path) if name == "soft.csv" else link.hardlink_to(path)
        with pytest.raises(FileError, match="the output is the input"):
            rewrite_table(source, link, upper(), force=True)
    with pytest.raises(FileError, match="the output is the input"):
        rewrite_table(source, path, upper(), force=True)
    for name in ("b", "b.xlsx", "b.parquet.gz", "b.json"):
        with pytest.raises(
            FileError, match=r"unknown output format at .*; give it a name that ends in"
        ):
            rewrite_table(source, tmp_path / name, upper())
    (tmp_path / "there.csv").chmod(0o640)
    rewrite_table(source, tmp_path / "there.csv", upper(), force=True)
    assert (tmp_path / "there.csv").read_text() == "answer\nX\n"
    assert (tmp_path / "there.csv").stat().st_mode & 0o777 == 0o640


def test_damaged_files(tmp_path: Path) -> None:
    pq.write_table(every_type(), tmp_path / "a.parquet", compression="zstd")
    raw = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(raw[:-100])
    with pytest.raises(FileError, match="incomplete Parquet file"):
        open_table(tmp_path / "cut.parquet")
    (tmp_path / "bad.parquet").write_bytes(raw[:200] + b"\xaa" * 2000 + raw[2200:])
    with pytest.raises(FileError, match="incomplete Parquet file"):
        rewrite_table(open_table(tmp_path / "bad.parquet"), tmp_path / "b.parquet", upper())
    (tmp_path / "cut.arrow").write_bytes(b"ARROW1\0\0and more")
    with pytest.raises(FileError, match="incomplete Arrow file"):
        open_table(tmp_path / "cut.arrow")
    assert not (tmp_path / "b.parquet").exists()


def test_spark_notes_of_other_types_go(tmp_path: Path) -> None:
    """Spark believes its notes rather than the columns."""
    key = b"org.apache.spark.sql.parquet.row.metadata"
    table = pa.table({"answer": ["x"], "n": [1]}).replace_schema_metadata({key: b"{}"})
    pq.write_table(table, tmp_path / "a.parquet")
    source = open_table(tmp_path / "a.parquet")
    rewrite_table(source, tmp_path / "same.parquet", upper())
    assert key in pq.read_schema(tmp_path / "same.parquet").metadata
    change = TableChange((), {"n": pa.string()}, lambda p: [pa.array(["x"] * p.batch.num_rows)])
    rewrite_table(source, tmp_path / "other.parquet", change)
    assert key not in (pq.read_schema(tmp_path / "other.parquet").metadata or {})


def test_the_notes_of_pandas_stay_json(tmp_path: Path) -> None:
    pd.DataFrame({"answer": ["x"], "n": [1]}).to_parquet(tmp_path / "a.parquet")
    change = TableChange((), {"n": pa.int64()}, lambda p: [pa.array([2])])
    rewrite_table(open_table(tmp_path / "a.parquet"), tmp_path / "b.parquet", change)
    before, after = (pq.read_schema(tmp_path / name) for name in ("a.parquet", "b.parquet"))
    assert json.loads(before.metadata[b"pandas"]) == json.loads(after.metadata[b"pandas"])


def test_the_watch_is_told_of_all_that_is_read(tmp_path: Path) -> None:
    """Of rows, or for a CSV of bytes: twice as many if it must be read for its types first."""
    (tmp_path / "a.csv").write_text("answer,n\n" + "x,1\n" * ROWS)
    size = (tmp_path / "a.csv").stat().st_size
    pq.write_table(every_type(), tmp_path / "a.parquet", row_group_size=100)
    for name, output, total in (
        ("a.csv", "b.csv", size),
        ("a.csv", "b.parquet", 2 * size),
        ("a.parquet", "c.parquet", ROWS),
    ):
        told: list[Step] = []
        source = open_table(tmp_path / name)
        rewrite_table(source, tmp_path / output, upper(), watch=told.append)
        seen = [step.done for step in told if step.done is not None]
        assert seen[-1] == total
        assert {step.total for step in told} == {total}
        assert sorted(seen) == seen


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_released_cell_may_be_missing_where_none_was(tmp_path: Path, ending: str) -> None:
    fields = [pa.field("job", pa.string(), nullable=False), pa.field("age", pa.int64(), False)]
    table = pa.table([pa.array(["cook", "nurse"]), pa.array([31, 47])], schema=pa.schema(fields))
    pq.write_table(table, tmp_path / "in.parquet")
    output = tmp_path / f"out.{ending}"
    change = TableChange(("job",), {"job": pa.string()}, lambda _: [pa.array([None, "cook"])])
    rewrite_table(open_table(tmp_path / "in.parquet"), output, change)
    read = pq.read_table(output) if ending == "parquet" else pa.ipc.open_file(output).read_all()
    assert read.column("job").to_pylist() == [None, "cook"]
    assert [field.nullable for field in read.schema] == [True, False]


def test_files_with_types_need_nothing_compiled() -> None:
    """The compiler takes more memory than a table that goes through piece by piece."""
    code = "import sys, liftlock.tables.stream, liftlock.tables.formats; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "liftlock.tables.stream" in done.stdout.split()
    assert "numba" not in done.stdout.split()
