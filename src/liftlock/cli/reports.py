"""Reading reports: a column of a CSV file, or counts that were written before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from liftlock.cli.columns import Columns
from liftlock.cli.console import Notes
from liftlock.errors import FileError
from liftlock.estimate.aggregate import Aggregate
from liftlock.files import is_json
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
    rows = Columns.of_text(path, text, note, "report")
    reports = _reports(made, rows, column)
    numbers = {
        name: None if chosen is None else rows.numbers(chosen)
        for name, chosen in (("weights", weights), ("offsets", offsets))
    }
    with located(path):
        return made.aggregate(reports, **numbers)


def _reports(made: Mechanism, rows: Columns, column: str) -> Any:
    """Return the reports of a column as the mechanism releases them."""
    at = rows.place(column)
    if isinstance(made.context, GridPrior):
        return rows.numbers(column)
    known = {str(label): label for label in made.table.outputs.labels}
    found = []
    for row, (_, cells) in enumerate(rows.rows):
        if cells[at] not in known:
            raise FileError(
                "a report that is no output of the mechanism",
                where=rows.where(row, at),
                value=cells[at] or None,
                remedy=f"outputs are {', '.join(list(known)[:6])}"
                f"{' ...' if len(known) > 6 else ''}; nothing was counted",
            )
        found.append(known[cells[at]])
    return found
