"""What every table format owes: what is written is read again, from and to every other format."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from liftlock.errors import FileError, InputError
from liftlock.tables.change import TableChange
from liftlock.tables.formats import FORMATS, Format, format_named, open_table, stem
from liftlock.tables.formats.base import RowBatch
from liftlock.tables.stream import check_output, rewrite_table

ROWS = 1000
TABLE = pa.table(
    {
        "answer": ["yes", "no", "yes, but", 'a "no"', "ü"] * (ROWS // 5),
        "age": list(range(ROWS)),
        "height": [at / 8 for at in range(ROWS)],
    }
)
CAPITALS = TABLE.set_column(0, "answer", pc.utf8_upper(TABLE["answer"]))


def capitals() -> TableChange:
    def apply(piece: RowBatch) -> list[pa.Array]:
        return [pc.utf8_upper(piece.batch.column(0).cast(pa.string()))]

    return TableChange(("answer",), {"answer": pa.string()}, apply)


def unchanged() -> TableChange:
    return TableChange((), {}, lambda _: [])


def written(folder: Path, form: Format, suffix: str = "") -> Path:
    """Write the table in a format, from an Arrow file."""
    source = folder / "source.arrow"
    if not source.exists():
        with pa.ipc.new_file(source, TABLE.schema) as sink:
            sink.write_table(TABLE)
    path = folder / f"table{suffix or form.suffixes[0]}"
    assert rewrite_table(open_table(source), path, unchanged()) == ROWS
    return path


def read(path: Path) -> pa.Table:
    """Read all columns, by whatever types the format has."""
    source = open_table(path)
    pieces = list(source.batches(source.columns))
    assert [piece.first_row for piece in pieces] == [
        sum(each.batch.num_rows for each in pieces[:at]) for at in range(len(pieces))
    ]
    return pa.Table.from_batches([piece.batch for piece in pieces])


def texts(table: pa.Table) -> list[list[str]]:
    """Return the cells as numbers or text, so that formats without types can be compared."""
    numbers = (table[name].cast(pa.float64()).to_pylist() for name in ("age", "height"))
    return [table["answer"].cast(pa.string()).to_pylist(), *numbers]


@pytest.mark.parametrize("key", FORMATS)
def test_a_format_says_what_it_is(key: str) -> None:
    form = FORMATS[key]
    assert form.key == key
    assert form.title.startswith(("a ", "an "))
    assert form.suffixes
    for suffix in form.suffixes:
        assert suffix.startswith(".")
        assert suffix == suffix.lower()
        path = Path(f"people{suffix.upper()}")
        assert format_named(path) is form
        assert stem(path) == "people"


OWN = [key for key, form in FORMATS.items() if form.open.__module__.startswith("liftlock.")]


@pytest.mark.parametrize("key", OWN)
def test_a_format_is_documented(key: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "howto" / "protect-a-table.md"
    rows = [row for row in page.read_text(encoding="utf-8").splitlines() if row.startswith("|")]
    for suffix in FORMATS[key].suffixes:
        assert any(f"`{suffix}`" in row for row in rows), suffix


@pytest.mark.parametrize("key", FORMATS)
def test_every_ending_is_written_and_recognised_without_its_name(key: str, tmp_path: Path) -> None:
    form = FORMATS[key]
    for suffix in form.suffixes:
        path = written(tmp_path, form, suffix)
        assert texts(read(path)) == texts(TABLE)
        assert open_table(path).format == key
        if form.magic:
            with path.open("rb") as stream:
                assert stream.read(8).startswith(form.magic)
            other = path.rename(tmp_path / "data.bin")
            assert open_table(other).format == key


@pytest.mark.parametrize("key", FORMATS)
@pytest.mark.parametrize("to", FORMATS)
def test_columns_are_replaced_on_the_way_to_every_format(key: str, to: str, tmp_path: Path) -> None:
    source = open_table(written(tmp_path, FORMATS[key]))
    output = tmp_path / f"out{FORMATS[to].suffixes[0]}"
    seen: list[str] = []
    assert rewrite_table(source, output, capitals(), note=seen.append) == ROWS
    found = read(output)
    assert found.column_names == TABLE.column_names
    assert texts(found) == texts(CAPITALS)
    if FORMATS[key].typed and FORMATS[to].typed:
        assert [
            open_table(output).type_of(name) for name in TABLE.column_names
        ] == TABLE.schema.types
    lost = not FORMATS[to].typed and key != to
    assert bool(seen) == lost
    with pytest.raises(FileError, match=r"there already|exists"):
        rewrite_table(source, output, capitals())


@pytest.mark.parametrize("key", FORMATS)
def test_no_rows(key: str, tmp_path: Path) -> None:
    empty, path = tmp_path / "empty.arrow", tmp_path / f"none{FORMATS[key].suffixes[0]}"
    with pa.ipc.new_file(empty, TABLE.schema) as sink:
        sink.write_table(TABLE.slice(0, 0))
    assert rewrite_table(open_table(empty), path, capitals()) == 0
    source = open_table(path)
    assert source.columns == tuple(TABLE.column_names)
    assert sum(piece.batch.num_rows for piece in source.batches(["age"])) == 0


@pytest.mark.parametrize("key", FORMATS)
def test_what_fails_leaves_no_file(key: str, tmp_path: Path) -> None:
    source = open_table(written(tmp_path, FORMATS[key]))
    before = sorted(tmp_path.iterdir())

    def fail(_: RowBatch) -> list[pa.Array]:
        raise InputError("no luck")

    change = TableChange(("answer",), {"answer": pa.string()}, fail)
    with pytest.raises(InputError, match="no luck"):
        rewrite_table(source, tmp_path / f"out{FORMATS[key].suffixes[0]}", change)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("key", FORMATS)
def test_what_is_no_table_of_the_format_is_refused(key: str, tmp_path: Path) -> None:
    form = FORMATS[key]
    source = open_table(written(tmp_path, form))
    with pytest.raises(FileError, match="no such column"):
        list(source.batches(["nobody"]))
    assert source.where(2, "age").startswith(str(source.path))
    if form.magic:
        other = tmp_path / f"other{form.suffixes[0]}"
        other.write_bytes(b"answer,age\nyes,1\n")
        with pytest.raises(FileError, match=f"not {form.title}"):
            open_table(other)
        with pytest.raises(FileError, match="leave out delimiter and names"):
            open_table(source.path, names=["a", "b"])
    nested = pa.list_(pa.int64())
    if not form.stores(nested):
        lists = pa.table({"answer": [[1], [2]]})
        with pa.ipc.new_file(tmp_path / "lists.arrow", lists.schema) as sink:
            sink.write_table(lists)
        with pytest.raises(InputError, match=r"column 'answer' of list.* cannot be a column of"):
            rewrite_table(
                open_table(tmp_path / "lists.arrow"), tmp_path / f"l{form.suffixes[0]}", unchanged()
            )


def test_an_unknown_ending_names_all_that_are_known(tmp_path: Path) -> None:
    source = open_table(written(tmp_path, FORMATS["csv"]))
    with pytest.raises(FileError, match="unknown output format") as refused:
        check_output(source, tmp_path / "out.xlsx")
    assert all(form.suffixes[0] in str(refused.value) for form in FORMATS.values())
