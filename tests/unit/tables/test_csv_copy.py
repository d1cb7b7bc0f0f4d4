"""From CSV to CSV only the replaced cells change, and they tell nothing of what stood there."""

from __future__ import annotations

import csv
import gzip
import io
import re
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from liftlock.errors import FileError, InputError
from liftlock.tables.formats import csv as csv_bytes
from liftlock.tables.formats import open_table
from liftlock.tables.formats.base import RowBatch
from liftlock.tables.stream import TableChange, rewrite_table

from .test_csv import anything, cells, ends


def written(text: str, alone: bool = False) -> str:
    """Return a cell as short as can be."""
    if re.search(r'[",\r\n]', text) or text != text.strip() or (alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv")


new_values = st.one_of(st.none(), anything)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_other_character_stays(folder: Path, data: st.DataObject) -> None:
    """The output is put together here from the same parts that the input was."""
    width = data.draw(st.integers(1, 4))
    replaced = data.draw(st.sets(st.integers(0, width - 1), max_size=2))
    dropped = data.draw(st.sets(st.integers(0, width - 1), max_size=width - 1)) - replaced
    left = [at for at in range(width) if at not in dropped]
    alone = len(left) == 1
    before = data.draw(st.sampled_from(["", "\ufeff", "\n", "\ufeff\r\n\n"]))
    names = ["A", '" b"', " c ", '"d,"""'][:width]
    old, new, values = [before, ",".join(names)], [before, ",".join(names[at] for at in left)], []
    for _ in range(data.draw(st.integers(0, 5))):
        row = [data.draw(cells) for _ in range(width)]
        if width == 1 and row == [""]:
            row = ['""']
        fresh = {at: data.draw(new_values) for at in sorted(replaced)}
        values.append(fresh)
        end = data.draw(ends) * data.draw(st.integers(1, 2))
        out = [written(fresh[at] or "", alone) if at in replaced else row[at] for at in left]
        if alone and out == [""]:
            out = ['""']
        old += [end, ",".join(row)]
        new += [end, ",".join(out)]
    tail = data.draw(st.sampled_from(["", "\n", "\r\n\n"]))
    source, output = folder / "old.csv", folder / "new.csv"
    source.write_bytes("".join([*old, tail]).encode())
    columns = ["A", "b", "c", 'd,"'][:width]
    as_dictionary = data.draw(st.booleans())

    def apply(piece: RowBatch) -> list[pa.Array]:
        part = values[piece.first_row : piece.first_row + piece.batch.num_rows]
        arrays = [pa.array([row[at] for row in part], pa.string()) for at in sorted(replaced)]
        return [array.dictionary_encode() for array in arrays] if as_dictionary else arrays

    change = TableChange(
        needs=tuple(columns[at] for at in sorted(replaced)),
        gives={columns[at]: pa.string() for at in sorted(replaced)},
        apply=apply,
        dropped=tuple(columns[at] for at in sorted(dropped)),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_bytes, "CHUNK", data.draw(st.sampled_from([1, 5, 1 << 20])))
        patch.setattr(csv_bytes, "MOST_ROWS", data.draw(st.sampled_from([1, 2, 100])))
        assert rewrite_table(open_table(source), output, change, force=True) == len(values)
    assert output.read_bytes() == "".join([*new, tail]).encode()
    read = list(csv.reader(io.StringIO(output.read_text("utf-8-sig"), newline=""), strict=True))
    assert len([row for row in read if row]) == len(values) + 1


def lower(column: str, kind: pa.DataType | None = None) -> TableChange:
    """Return a change that writes one column in small letters."""
    import pyarrow.compute as pc

    return TableChange(
        (column,), {column: pa.string()}, lambda p: [pc.utf8_lower(p.batch.column(0))]
    )


def test_numbers_truths_and_nulls(tmp_path: Path) -> None:
    path, out = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_bytes(b'x;y;z\r\n"1";2;3\r\n4;5;6\r\n')
    change = TableChange(
        ("x",),
        {"x": pa.float64(), "z": pa.bool_(), "y": pa.int64()},
        lambda _: [pa.array([0.5, None]), pa.array([None, True]), pa.array([-7, 8])],
    )
    assert rewrite_table(open_table(path), out, change) == 2
    assert out.read_bytes() == b"x;y;z\r\n0.5;-7;\r\n;8;true\r\n"


def test_packed_files_and_files_without_a_header(tmp_path: Path) -> None:
    path, out = tmp_path / "a.csv.gz", tmp_path / "b.tsv.gz"
    path.write_bytes(gzip.compress(b"A\tB \nC\t D", mtime=5))
    rewrite_table(open_table(path, delimiter="\t", names=["n", "m"]), out, lower("m"))
    assert gzip.decompress(out.read_bytes()) == b"A\tb\nC\td"


def test_a_change_that_reads_nothing(tmp_path: Path) -> None:
    path, out = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("a,b\n1,2\n")
    rewrite_table(open_table(path), out, TableChange((), {}, lambda _: [], dropped=("a",)))
    assert out.read_text() == "b\n2\n"


def test_refusals(tmp_path: Path) -> None:
    path, out = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("a,b\n1,2\n")
    source = open_table(path)
    with pytest.raises(FileError, match=r"no such column at .*: 'c'; it has a, b"):
        rewrite_table(source, out, lower("c"))
    with pytest.raises(InputError, match="both replaced and dropped: 'a'"):
        rewrite_table(
            source, out, TableChange((), {"a": pa.string()}, lambda _: [], dropped=("a",))
        )
    with pytest.raises(InputError, match="all columns are dropped"):
        rewrite_table(source, out, TableChange((), {}, lambda _: [], dropped=("a", "b")))
    with pytest.raises(InputError, match=r"not separated by tabs at .*tsv; give the output"):
        rewrite_table(source, tmp_path / "b.tsv", lower("a"))
    with pytest.raises(InputError, match="cannot be written to a CSV"):
        rewrite_table(
            source, out, TableChange((), {"a": pa.binary()}, lambda _: [pa.array([b"1"])])
        )
    for given_back in ([], [pa.array(["1", "2"])], [pa.array([1])]):
        change = TableChange((), {"a": pa.string()}, Mock(return_value=given_back))
        with pytest.raises(InputError, match=r"wrong|number of rows"):
            rewrite_table(source, out, change)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["a.csv"]
