"""Columns of a CSV file: what is wrong is named with its line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from liftlock.cli.columns import Columns
from liftlock.errors import FileError
from liftlock.files import Note, silent


def read(tmp_path: Path, text: str, note: Note = silent) -> Columns:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    return Columns.of_file(path, note, "report")


def test_numbers_are_read_exactly(tmp_path: Path) -> None:
    notes: list[str] = []
    table = read(tmp_path, "id;w\na;0.1\nb;1/4\nc;25%\n", notes.append)
    assert table.numbers("w").tolist() == [0.1, 0.25, 0.25]
    assert "separated by" in notes[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,w\na,1\nb,\n", "not a number at .*line 3, column 2 \\('w'\\)"),
        ("id,w\na,1\nb,nan\n", "not a number at .*line 3"),
        ("id,w\na,1e999999\n", "not a number at .*line 2"),
        ("id,v\na,1\n", "no such column at .*line 1: 'w'"),
        ("w,w\n1,2\n", "given twice"),
        ("id,w\n", "no rows below the header"),
        ('{"w": 1}', "JSON is not a table"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(FileError, match=said):
        read(tmp_path, text).numbers("w")
