"""Reading reports: a column of a table of any size, or counts that were written before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from liftlock.alphabet import Alphabet
from liftlock.cli.console import Notes, Passing
from liftlock.cli.tables import opened
from liftlock.column_code import PLAIN, CellReader, ColumnCode
from liftlock.errors import FileError, InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.storage import located, parse_json, read_text

if TYPE_CHECKING:
    import pyarrow as pa

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
    *,
    delimiter: str | None = None,
    names: str | None = None,
    shown: Passing | None = None,
    users: Users | None = None,
) -> Aggregate | PerUserAggregate:
    """Count the reports of one file; a file of counts must be of the same mechanism."""
    if _holds_json(path):
        for option, name in (("--weights", weights), ("--offsets", offsets)):
            if name is not None:
                raise click.UsageError(f"{option} names a column, and {path} holds counts")
        with located(path):
            data = parse_json(read_text(path), path)
            if made.per_user:
                return PerUserAggregate.from_data(data)
            return Aggregate.from_data(data).checked(made.channel)
    if column is None and made.column is not None:
        column = made.column.name
    group = made.group
    if group is not None and column is not None:
        raise click.UsageError(
            f"the mechanism is for {' and '.join(group.names)} together: leave out --column"
        )
    if not column and group is None:
        raise click.UsageError(f"which column of {path} holds the reports? give --column")
    source = opened(path, delimiter, names, note)
    from liftlock.frames.arrow_column import ArrowColumn
    from liftlock.frames.arrow_group import ArrowGroup
    from liftlock.protection.learning import placed

    counted: Callable[[pa.RecordBatch, dict[str, Any]], Any]
    if made.per_user:
        own, asked = _user_column(made, path, column or "", users)
        reports = list(own.needs)
        counted = lambda batch, given: own.counted(batch, *asked, **given)  # noqa: E731
    elif group is not None:
        several = ArrowGroup(made)
        reports = list(group.names)
        counted = lambda batch, given: several.counted(  # noqa: E731
            [batch.column(name) for name in several.names], **given
        )
    else:
        name = column or ""
        one = ArrowColumn(replace(made, column=replace(made.column or PLAIN, name=name)))
        reports = [name]
        counted = lambda batch, given: one.counted(batch.column(name), **given)  # noqa: E731
    wanted = dict.fromkeys([*reports, *(name for name in (weights, offsets) if name is not None)])
    total: Any = none_of(made)
    steps = None
    if shown is not None:
        shown.unit = source.unit
        steps = shown.steps
    rows = 0
    for piece in source.batches(list(wanted), steps):
        rows += piece.batch.num_rows
        with placed(source, piece):
            numbers = {
                name: None if chosen is None else _numbers(piece, chosen)
                for name, chosen in (("weights", weights), ("offsets", offsets))
            }
            part = counted(piece.batch, numbers)
        try:
            total += part
        except InputError as error:
            with located(path):
                raise error
    if not rows:
        raise FileError("no rows", where=str(path), remedy="is it the right file?")
    found: Aggregate | PerUserAggregate = total
    return found


@dataclass(frozen=True)
class Users:
    """Where a table has the priors and budgets of its rows, and the question they are read for."""

    prefix: str | None
    budgets: str | None
    of: str
    value: Any


def users_of(
    made: Mechanism, prefix: str | None, budgets: str | None, of: str, value: Any
) -> Users | None:
    """Return how rows with a prior each are read; None for other mechanisms."""
    if not made.per_user:
        if prefix is not None or budgets is not None:
            raise click.UsageError(
                "--local-priors and --local-budgets are for mechanisms of rows with a prior each"
            )
        return None
    return Users(prefix, budgets, of, value)


def none_of(made: Mechanism) -> Aggregate | PerUserAggregate:
    """Return the sum of no reports."""
    if made.per_user:
        return PerUserAggregate.none(made.user_model.fingerprint, len(made.channel.inputs))
    return Aggregate.none(made.channel)


def _user_column(
    made: Mechanism, path: Path, column: str, users: Users | None
) -> tuple[UserColumn, tuple[str, Any]]:
    from liftlock.protection.per_user import UserColumn

    if users is None or users.prefix is None:
        raise click.UsageError(
            f"which columns of {path} hold the prior of each row? give --local-priors"
        )
    labels = made.channel.inputs.labels
    priors = {label: f"{users.prefix}{label}" for label in labels}
    return UserColumn(made, column, priors, users.budgets), (users.of, users.value)


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
