"""A CSV file with a header and one row for each person or report, read by column."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from liftlock.errors import FileError, InputError
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.files import MARKS, Note, first_line, is_json, mark_of, sheet_lines
from liftlock.profile_files import column_place
from liftlock.storage import read_text


@dataclass(frozen=True)
class Columns:
    """The rows of a table, each with the line that it starts on, and the names of its columns."""

    path: Path
    mark: str
    header: list[str]
    header_line: int
    rows: list[tuple[int, list[str]]]
    """The line and the cells of each row below the header, as they are read."""

    @classmethod
    def of_text(cls, path: Path, text: str, note: Note, row: str = "observation") -> Columns:
        """Read the text of a file that holds a row for each observation, or whatever they are."""
        if is_json(path, text):
            raise FileError(
                "JSON is not a table with columns",
                where=str(path),
                remedy="give a CSV with a header",
            )
        mark = mark_of(text)
        if mark != ",":
            note(f"the cells of {path} are separated by {dict(MARKS)[mark]}, and were read so")
        lines = sheet_lines(path, text, records=True, mark=mark)
        header_line, header = first_line(path, lines)
        rows = list(lines)
        if not rows:
            raise FileError(
                "no rows below the header",
                where=f"{path}, line {header_line}",
                value=mark.join(header),
                remedy=f"the first line names the columns, the others hold one {row} each",
            )
        return cls(path, mark, header, header_line, rows)

    @classmethod
    def of_file(cls, path: Path, note: Note, row: str = "observation") -> Columns:
        """Read a file."""
        return cls.of_text(path, read_text(path), note, row)

    def place(self, column: str) -> int:
        """Return the position of a column."""
        if self.header.count(column) > 1:
            raise FileError(
                "column name given twice",
                where=f"{self.path}, line {self.header_line}",
                value=column,
                remedy="the names of columns are different from one another",
            )
        return column_place(self.path, self.header_line, self.header, column)

    def where(self, row: int, column: int) -> str:
        """Name the place of a cell."""
        line = self.rows[row][0]
        return f"{self.path}, line {line}, column {column + 1} ({self.header[column]!r})"

    def numbers(self, column: str) -> Floats:
        """Read a column of numbers."""
        at = self.place(column)
        found = np.empty(len(self.rows))
        for row, (_, cells) in enumerate(self.rows):
            try:
                found[row] = float(exact(cells[at]))
            except (InputError, OverflowError):
                raise FileError(
                    "not a number",
                    where=self.where(row, at),
                    value=cells[at] or None,
                    remedy="correct it; nothing was counted",
                ) from None
        return found
