"""CSV files are read as Python's csv reads them, whatever the size of the chunks."""

from __future__ import annotations

import csv
import gzip
import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from liftlock import Step
from liftlock.errors import FileError, InputError
from liftlock.tables.formats import csv as csv_bytes
from liftlock.tables.formats import open_table

BLANKS = " \t\v\x1f\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000"
SIGNS = 'ab,;\t|"\r\né€😀\ufeff' + BLANKS

anything = st.text(st.sampled_from(SIGNS), max_size=6)
plain = anything.map(lambda text: re.sub(r'[",\r\n]', "", text))
quoted = anything.map(lambda text: '"' + text.replace('"', '""') + '"')
inner_quote = plain.map(lambda text: "x" + text + '"y')
"""A quotation mark that does not stand first is a character like any other."""
cells = st.one_of(plain, quoted, inner_quote)
ends = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Draw a CSV of three columns with all that may go wrong and all that looks so."""
    parts = [draw(st.sampled_from(["", "\n", "\r\n\r"]))]
    parts.append(draw(st.sampled_from(["a,b,c", '"a", b ,"c"', ' a,"b",c'])))
    for _ in range(draw(st.integers(0, 6))):
        parts.append(draw(ends) * draw(st.integers(1, 2)))
        row = ",".join(draw(cells) for _ in range(3))
        parts.append(row)
    if draw(st.booleans()):
        parts.append(draw(ends))
    return "".join(parts)


def oracle(text: str) -> list[tuple[int, list[str]]]:
    """Return each row below the header and the line it starts on, as Python's csv reads them."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found, start = [], 1
    for row in reader:
        line, start = start, reader.line_num + 1
        if row:
            found.append((line, [cell.strip() for cell in row]))
    return found[1:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv")


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.sampled_from([1, 3, 7, 1 << 20]), st.booleans(), st.booleans())
def test_cells_are_those_of_python(
    folder: Path, text: str, chunk: int, bom: bool, packed: bool
) -> None:
    path = folder / "t.csv"
    raw = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    path.write_bytes(gzip.compress(raw) if packed else raw)
    expected = oracle(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_bytes, "CHUNK", chunk)
        patch.setattr(csv_bytes, "MOST_ROWS", 1 + chunk % 5)
        table = open_table(path)
        assert table.columns == ("a", "b", "c")
        pieces = list(table.batches(["c", "a", "b"]))
        rows = [row for piece in pieces for row in piece.batch.to_pylist()]
        assert [[row["a"] or "", row["b"] or "", row["c"] or ""] for row in rows] == [
            cells for _, cells in expected
        ]
        assert "" not in [cell for row in rows for cell in row.values()]
        sizes = [piece.batch.num_rows for piece in pieces]
        assert [piece.first_row for piece in pieces] == [sum(sizes[:n]) for n in range(len(sizes))]
        for piece in pieces:
            piece.batch.validate(full=True)
        for row, (line, _) in enumerate(expected[-2:], start=max(0, len(expected) - 2)):
            assert table.where(row, "b") == f"{path}, line {line}, column 2 ('b')"


def write(folder: Path, raw: bytes | str) -> Path:
    path = folder / "people.csv"
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return path


def read(path: Path, *columns: str, **options: object) -> list[dict[str, str | None]]:
    table = open_table(path, **options)  # type: ignore[arg-type]
    pieces = table.batches(columns or table.columns)
    return [row for piece in pieces for row in piece.batch.to_pylist()]


BAD: list[tuple[bytes, str]] = [
    (b"", r"^empty file at .*people\.csv"),
    (b"\xef\xbb\xbf \n\n", "^empty file"),
    (b"a,b\n1,2\n3\n", r"^1 cell, but the header has 2 at .*csv, line 3: '3'"),
    (b'a,b\n"1\n\n",2\n\n3,4,5\n', r"^3 cells, but the header has 2 at .*csv, line 6"),
    (b'a,b\n1,2\n3,"4\n5,6\n', r"^a quotation mark is never closed at .*line 3, column 2"),
    (b'a,b\n1,"2" 3\n', r"^text after a closing quotation mark at .*line 2, column 2"),
    (b"a,b\n1,2\n\0,3\n", r"^not a text file at .*csv, byte 9"),
    (b"a,b\n1,2\n3,\xff\n", r"^not UTF-8 at .*csv, line 3, byte 11: b'\\xff'; save"),
    (b"a,b\n1,2\n3,\xe2\x82", r"^not UTF-8 at .*csv, line 3, byte 11"),
    (b"a\xe4,b\n1,2\n", r"^not UTF-8 at .*csv, line 1, byte 2"),
    ("a,b\n1,2\n".encode("utf-16"), "^UTF-16 text at .*; save the file as UTF-8"),
    (b'{"a": 1}', "^JSON is not a table"),
    (b",,\n , \n", "^only empty cells"),
    (b"PK\x03\x04", "^an Excel workbook"),
    (b"\x1f\x8b\x08rest", "^incomplete gzip file"),
    (gzip.compress(b"a,b\n1,2\n" * 50, mtime=0)[:-9], "^incomplete gzip file"),
    (b"a;b\tc\n1;2\t3\n", "^cells separated by semicolons or tabs at .*--delimiter"),
    (b"a,b,a\n1,2,3\n", r"^column name given twice at .*line 1, columns 1 and 3: 'a'"),
    (b"x,b\n1,2\n", r"^no such column at .*csv, line 1: 'a'; it has x, b$"),
]


@pytest.mark.parametrize(("raw", "message"), BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("chunk", [3, 1 << 20])
def test_refusals(
    tmp_path: Path, raw: bytes, message: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_bytes, "CHUNK", chunk)
    with pytest.raises(FileError, match=message) as caught:
        read(write(tmp_path, raw), "a")
    assert "\n" not in str(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        open_table(tmp_path / "none.csv")
    with pytest.raises(FileError, match="a folder"):
        open_table(tmp_path)
    with pytest.raises(FileError, match="a pipe or a device"):
        open_table(Path("/dev/null"))
    (tmp_path / "x.parquet").write_text("a,b\n")
    with pytest.raises(FileError, match="not a Parquet file"):
        open_table(tmp_path / "x.parquet")


def test_a_name_given_twice_matters_only_if_it_is_needed(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a,b,a\n1,2,3\n"), "b") == [{"b": "2"}]


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    for text in ("a,b", "a,b\n", '"a",b\r\n\r\n'):
        assert read(write(tmp_path, text)) == []


def test_marks(tmp_path: Path) -> None:
    for mark, words in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        notes: list[str] = []
        path = write(tmp_path, f'a{mark}"b,;|"\n1,5{mark}2\n')
        assert read(path, note=notes.append) == [{"a": "1,5", "b,;|": "2"}]
        assert notes == [f"the cells of {path} are separated by {words}, and were read so"]
    path = write(tmp_path, "a:b,c\n1:2\n")
    assert read(path, delimiter=":") == [{"a": "1", "b,c": "2"}]
    for bad in ("", '"', "::", "\n", "é"):
        with pytest.raises(InputError, match="not a separator"):
            open_table(path, delimiter=bad)


def test_a_file_without_a_header(tmp_path: Path) -> None:
    path = write(tmp_path, "1, x\n,\n2,y")
    expected = [{"n": "1", "s": "x"}, {"n": None, "s": None}, {"n": "2", "s": "y"}]
    assert read(path, names=["n", "s"]) == expected
    assert open_table(path, names=["n", "s"]).where(2, "s") == f"{path}, line 3, column 2 ('s')"
    with pytest.raises(FileError, match=r"2 cells, but names were given for 1 at .*line 1"):
        read(path, names=["n"])
    path = write(tmp_path, "|a remark\n1;x\n2;y\n")
    with pytest.raises(FileError, match=r"1 cell, but names were given for 2 at .*line 1"):
        read(path, names=["n", "s"])  # semicolons, whatever stands in the first line
    path = write(tmp_path, "39,12,Ann\n41,7,Bob\n")
    with pytest.raises(
        FileError, match="looks like data: if there is no header, give --names"
    ) as told:
        open_table(path).type_of("age")
    assert "Ann" not in str(told.value)


def test_a_row_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_bytes, "CHUNK", 64)
    monkeypatch.setattr(csv_bytes, "MOST_RECORD", 256)
    path = write(tmp_path, 'a,b\n1,2\n3,"' + "x\n" * 1000)
    with pytest.raises(
        FileError, match=r"a row longer than .*line 3; check for a missing quotation mark"
    ):
        read(path)


def test_the_watch_sees_all_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, "a\n" + "1\n" * 1000)
    seen: list[Step] = []
    table = open_table(path)
    assert table.unit == "bytes"
    assert table.rows is None
    total = sum(piece.batch.num_rows for piece in table.batches(["a"], seen.append))
    assert total == 1000
    assert seen[-1] == Step("reading", path.stat().st_size, path.stat().st_size)
    assert np.all(np.diff([step.done for step in seen]) >= 0)
