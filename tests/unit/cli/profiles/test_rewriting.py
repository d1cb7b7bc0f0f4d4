"""Tables are written again character by character, for any quoting that csv can read."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock.cli.profiles.rewriting import RawTable
from liftlock.errors import FileError

CELLS = st.text(alphabet='ab ,;"\n\r\té', max_size=5)
TABLES = st.lists(st.tuples(CELLS, st.sampled_from(["x", "y"]), CELLS), min_size=1, max_size=5)


def written(cell: str, always: bool) -> str:
    """Write a cell as CSV; Python's own writer may leave a carriage return bare."""
    special = any(sign in cell for sign in ',"\r\n')
    return '"' + cell.replace('"', '""') + '"' if special or always else cell


@settings(deadline=None, max_examples=60)
@given(TABLES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str]],
    end: str,
    always: bool,
    last: bool,
) -> None:
    lines = [("first", "value", "third"), *rows]
    text = end.join(",".join(written(cell, always) for cell in row) for row in lines)
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_bytes((text + end * last).encode())
    table = RawTable.read(path, lambda _: None)
    assert [cells[1] for _, cells in table.rows] == [row[1] for row in rows]
    swapped = ["y" if row[1] == "x" else "x" for row in rows]
    found = list(csv.reader(io.StringIO(table.written(1, swapped, None).decode(), newline="")))
    wanted = [[row[0], value, row[2]] for row, value in zip(rows, swapped, strict=True)]
    assert found[1:] == wanted
    short = list(csv.reader(io.StringIO(table.written(1, swapped, 0).decode(), newline="")))
    assert short == [["value", "third"], *(row[1:] for row in wanted)]
    if not always:
        # What is not replaced is there byte by byte.
        assert table.written(1, [row[1] for row in rows], None) == path.read_bytes()


def test_blank_lines_and_places(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('\n\na,"b"\n\n"1\n2",x\n\n3,y\n\n', encoding="utf-8")
    table = RawTable.read(path, lambda _: None)
    assert table.header_line == 3
    assert table.where_in(1, 1) == f"{path}, line 8, column 2 ('b')"
    assert table.written(1, ["u", "v"], None).decode() == '\n\na,"b"\n\n"1\n2",u\n\n3,v\n\n'
    assert table.written(1, ["u", "v"], 0).decode() == '\n\n"b"\n\nu\n\nv\n\n'


def test_one_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("v\nx\n", encoding="utf-8")
    table = RawTable.read(path, lambda _: None)
    assert table.written(0, [""], None) == b'v\n""\n'
    with pytest.raises(FileError, match=r"no such column at .*line 1: 'w'; it has v"):
        table.column("w")
