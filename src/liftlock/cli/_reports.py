"""Reading reports: a column of a table of any size, or counts that were written before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from liftlock.alphabet import Alphabet
from liftlock.cli._console import Notes, ProgressBar
from liftlock.cli._options import TableOptions
from liftlock.column_code import PLAIN, CellReader, ColumnCode
from liftlock.contexts import PerUserPriors
from liftlock.errors import FileError, InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.storage import located, parse_json, read_text

if TYPE_CHECKING:
    from liftlock.frames.table_file import Piece
    from liftlock.protection.per_user import UserColumn

_START = 64
_ANY = Alphabet.of(["any"])


def read_reports(
    made: Mechanism,
    path: Path,
    column: str | None,
    weights: str | None,
    offsets: str | None,
    note: Notes,
    table: TableOptions,
    shown: ProgressBar,
) -> Aggregate:
    """Count the reports of one file; a file of counts must be of the same mechanism."""
    if _holds_json(path):
        _refuse_columns(path, weights, offsets)
        with located(path):
            return Aggregate.from_data(parse_json(read_text(path), path)).checked(made.channel)
    if column is None and made.column is not None:
        column = made.column.name
    group = made.group
    if group is not None and column is not None:
        raise click.UsageError(
            f"the mechanism is for {' and '.join(group.names)} together: leave out --column"
        )
    if not column and group is None:
        raise click.UsageError(f"which column of {path} holds the reports? give --column")
    source = table.open(path, note)
    from liftlock.frames.arrow_column import ArrowColumn
    from liftlock.frames.arrow_group import ArrowGroup
    from liftlock.protection.learning import placed

    if group is not None:
        several = ArrowGroup(made)
        counted, reports = several.counted, list(group.names)
    else:
        assert column is not None
        one = ArrowColumn(replace(made, column=replace(made.column or PLAIN, name=column)))
        counted, reports = (lambda cells, **given: one.counted(cells[0], **given)), [column]
    wanted = dict.fromkeys([*reports, *(name for name in (weights, offsets) if name is not None)])
    total = Aggregate.none(made.channel)
    shown.unit = source.unit
    rows = 0
    for piece in source.batches(list(wanted), shown):
        rows += piece.batch.num_rows
        with placed(source, piece):
            numbers = {
                name: None if chosen is None else _numbers(piece, chosen)
                for name, chosen in (("weights", weights), ("offsets", offsets))
            }
            part = counted([piece.batch.column(name) for name in reports], **numbers)
        try:
            total += part
        except InputError as error:
            with located(path):
                raise error
    if not rows:
        raise FileError("no rows", where=str(path), remedy="is it the right file?")
    return total


@dataclass(frozen=True)
class UserReports:
    """Where the reports of users with a prior each are, and what is asked of them."""

    column: str | None
    prefix: str | None
    """The columns of priors are called this and a value."""
    priors: Path | None
    """The table that has them, row by row; None: that of the reports."""
    budgets: str | None
    """The column of budgets, where these differ."""
    of: str
    value: Any

    def read(
        self,
        made: Mechanism,
        path: Path,
        weights: str | None,
        offsets: str | None,
        note: Notes,
        table: TableOptions,
        shown: ProgressBar,
    ) -> PerUserAggregate:
        """Add up the reports of one file; a file of sums must be of the same mechanism."""
        if _holds_json(path):
            _refuse_columns(path, weights, offsets)
            with located(path):
                return PerUserAggregate.from_data(parse_json(read_text(path), path))
        column = self.column
        if column is None and made.column is not None:
            column = made.column.name
        if not column:
            raise click.UsageError(f"which column of {path} holds the reports? give --column")
        if self.prefix is None:
            raise click.UsageError(
                "the mechanism is for users with a prior each: name their columns, --local-priors"
            )
        from liftlock.protection.learning import placed
        from liftlock.protection.per_user import UserColumn

        labels = made.channel.inputs.labels
        columns = {label: f"{self.prefix}{label}" for label in labels}
        worker = UserColumn(made, column, columns, self.budgets)
        beside = None if self.priors is None else self._known(worker, note, table)
        source = table.open(path, note)
        given = {"weights": weights, "offsets": offsets}
        wanted = [column, *(() if beside is not None else worker.knows)]
        wanted += [name for name in given.values() if name is not None]
        shown.unit = source.unit
        total: PerUserAggregate | None = None
        rows = 0
        for piece in source.batches(list(dict.fromkeys(wanted)), shown):
            start, rows = rows, rows + piece.batch.num_rows
            if beside is not None and rows > len(beside):
                break
            with placed(source, piece):
                numbers = {
                    name: None if chosen is None else _numbers(piece, chosen)
                    for name, chosen in given.items()
                }
                priors = worker.known([piece.batch]) if beside is None else beside.part(start, rows)
                cells = piece.batch.column(column)
                part = worker.counted(cells, priors, self.of, self.value, **numbers)
            total = part if total is None else total + part
        if beside is not None and rows != len(beside):
            raise FileError(
                f"{len(beside):,} rows of priors for other reports",
                where=str(self.priors),
                remedy=f"give one row for each report of {path}, in the same order",
            )
        if total is None:
            raise FileError("no rows", where=str(path), remedy="is it the right file?")
        return total

    def _known(self, worker: UserColumn, note: Notes, table: TableOptions) -> PerUserPriors:
        """Read the priors, and the budgets, of all rows from a table of their own."""
        from liftlock.protection.learning import placed

        assert self.priors is not None
        source = table.open(self.priors, note)
        found = []
        for piece in source.batches(list(worker.knows), None):
            with placed(source, piece):
                worker.known([piece.batch])  # what is wrong is named with its line
            found.append(piece.batch)
        return worker.known(found)


def _refuse_columns(path: Path, weights: str | None, offsets: str | None) -> None:
    for option, name in (("--weights", weights), ("--offsets", offsets)):
        if name is not None:
            raise click.UsageError(f"{option} names a column, and {path} holds counts")


def _holds_json(path: Path) -> bool:
    """Tell whether a file holds JSON, whatever its name: counts are objects."""
    try:
        with path.open("rb") as stream:
            start = stream.read(_START).removeprefix(b"\xef\xbb\xbf").lstrip()
    except (OSError, ValueError):
        return path.suffix.lower() == ".json"
    return start.startswith((b"{", b"[")) or path.suffix.lower() == ".json"


def _numbers(piece: Piece, column: str) -> Floats:
    """Return the numbers of a column; none may be missing."""
    import numpy as np

    from liftlock.errors import CellError
    from liftlock.frames.arrow_cells import numbers_of_column

    reader = CellReader(ColumnCode(column), _ANY)
    found = numbers_of_column(piece.batch.column(column), reader)
    missing = np.isnan(found)
    if missing.any():
        raise CellError(
            "not a number",
            int(np.argmax(missing)),
            column,
            remedy="correct it; nothing was counted",
        )
    return found
