"""Reading reports: a column of a CSV file, or counts that were written before."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click
import numpy as np

from liftlock.cli.console import Notes
from liftlock.errors import FileError, InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.exact.numbers import exact
from liftlock.files import MARKS, first_line, is_json, mark_of, sheet_lines
from liftlock.forms import SupportChannel
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.storage import located, parse_json, read_text


def read_reports(
    made: Mechanism,
    path: Path,
    column: str | None,
    weights: str | None,
    offsets: str | None,
    note: Notes,
) -> Aggregate:
    """Count the reports of one file; a file of counts must be of the same mechanism."""
    text = read_text(path)
    if is_json(path, text):
        for option, name in (("--weights", weights), ("--offsets", offsets)):
            if name is not None:
                raise click.UsageError(f"{option} names a column, and {path} holds counts")
        with located(path):
            return Aggregate.from_data(parse_json(text, path)).checked(made.channel)
    if isinstance(made.channel, SupportChannel):
        raise FileError(
            "reports of an encoding are packed bytes, not a column of a table",
            where=str(path),
            remedy="count them in Python with mechanism.aggregate(...).save(...), and give that",
        )
    if column is None:
        raise click.UsageError(f"which column of {path} holds the reports? give --column")
    rows = _Columns.read(path, text, note)
    reports = _reports(made, rows, column)
    numbers = {
        name: None if chosen is None else rows.numbers(chosen)
        for name, chosen in (("weights", weights), ("offsets", offsets))
    }
    with located(path):
        return made.aggregate(reports, **numbers)


def _reports(made: Mechanism, rows: _Columns, column: str) -> Any:
    """Return the reports of a column as the mechanism releases them."""
    at = rows.place(column)
    if isinstance(made.context, GridPrior):
        return rows.numbers(column)
    known = {str(label): label for label in made.table.outputs.labels}
    found = []
    for line, cells in rows.lines:
        if cells[at] not in known:
            raise FileError(
                "a report that is no output of the mechanism",
                where=rows.where(line, at),
                value=cells[at] or None,
                remedy=f"outputs are {', '.join(list(known)[:6])}"
                f"{' ...' if len(known) > 6 else ''}; nothing was counted",
            )
        found.append(known[cells[at]])
    return found


class _Columns:
    """The rows of a CSV file by column."""

    def __init__(self, path: Path, head: int, header: list[str], lines: Any) -> None:
        self.path, self.head, self.header, self.lines = path, head, header, lines

    @classmethod
    def read(cls, path: Path, text: str, note: Notes) -> _Columns:
        mark = mark_of(text)
        if mark != ",":
            note(f"the cells of {path} are separated by {dict(MARKS)[mark]}, and were read so")
        lines = sheet_lines(path, text, records=True, mark=mark)
        head, header = first_line(path, lines)
        try:
            rows = list(lines)
        except csv.Error as error:
            raise FileError("not a table", where=str(path), value=str(error)) from None
        if not rows:
            raise FileError(
                "no reports below the header",
                where=f"{path}, line {head}",
                remedy="one row for each report",
            )
        return cls(path, head, header, rows)

    def place(self, column: str) -> int:
        if self.header.count(column) != 1:
            twice = column in self.header
            raise FileError(
                "column name given twice" if twice else "no such column",
                where=f"{self.path}, line {self.head}",
                value=column,
                remedy="name columns differently" if twice else f"it has {', '.join(self.header)}",
            )
        return self.header.index(column)

    def where(self, line: int, at: int) -> str:
        return f"{self.path}, line {line}, column {at + 1} ({self.header[at]!r})"

    def numbers(self, column: str) -> np.ndarray:
        at = self.place(column)
        found = np.empty(len(self.lines))
        for place, (line, cells) in enumerate(self.lines):
            try:
                found[place] = float(exact(cells[at]))
            except (InputError, OverflowError):
                raise FileError(
                    "not a number",
                    where=self.where(line, at),
                    value=cells[at] or None,
                    remedy="correct it; nothing was counted",
                ) from None
        return found
