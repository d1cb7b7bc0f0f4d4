"""The options that name reports: a column of tables of any size, or counts written before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from liftlock._runtime.progress import Step
from liftlock._runtime.storage import errors_at, parse_json, read_text
from liftlock.cli._console import Notes, ProgressBar
from liftlock.cli._options import (
    FILE,
    NORMALISE,
    OptionGroup,
    TableOptions,
    column_of,
    nested_group,
    option,
)
from liftlock.errors import FileError, InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.exact.integers import Floats
from liftlock.files.sheet import DIVIDED
from liftlock.mechanism import Mechanism
from liftlock.model import PerUserPriors
from liftlock.model.alphabet import Alphabet
from liftlock.model.columns import CellReader, ColumnEncoding

if TYPE_CHECKING:
    from liftlock.tables.formats.base import RowBatch
    from liftlock.tables.per_user import PerUserRandomiser

_START = 64
_OF_USERS = ("--local-priors", "--local-budgets", "--priors-from")
_ANY = Alphabet.of(["any"])


@dataclass(frozen=True)
class ReportOptions(OptionGroup):
    """Where reports are, and what else their rows tell."""

    column: str | None = option(
        "--column",
        metavar="NAME",
        help="Column of reports.  [default: the mechanism's column]",
    )
    weights: str | None = option("--weights", metavar="NAME", help="Column of weights.")
    offsets: str | None = option(
        "--offsets", metavar="NAME", help="Column to add to the weighted sum."
    )
    local_priors: str | None = option(
        "--local-priors",
        metavar="PREFIX",
        help="Each report has a prior of its own, in columns called PREFIX and a value.",
    )
    local_budgets: str | None = option(
        "--local-budgets", metavar="NAME", help="Per-user budgets: the column that holds them."
    )
    priors_from: Path | None = option(
        "--priors-from",
        type=FILE,
        metavar="TABLE",
        help="Table with these columns, in the same row order.  [default: the table of reports]",
    )
    normalise: bool = option("--normalise", **NORMALISE)
    table: TableOptions = nested_group(TableOptions)

    def check(self, made: Mechanism, paths: Sequence[Path]) -> None:
        """Refuse options that say nothing about reports of the mechanism."""
        if made.per_user:
            if self.priors_from is not None and len(paths) > 1:
                raise click.UsageError("--priors-from takes one table of reports")
            return
        for name in self.given_options():
            if name in _OF_USERS:
                raise click.UsageError(f"the mechanism has one prior for all: leave out {name}")

    def read(
        self,
        made: Mechanism,
        paths: Sequence[Path],
        asked: tuple[str, Any],
        note: Notes,
        shown: ProgressBar,
    ) -> Aggregate | PerUserAggregate:
        """Add up all files; the first that cannot be read stops everything.

        `asked` is the question and its value, which decide what is added up of users with a prior
        each.
        """
        total: Any = None
        seen: set[Path] = set()
        for path in paths:
            if path.resolve() in seen:
                raise FileError(
                    "the same reports are given twice",
                    where=str(path),
                    remedy="name each file once",
                )
            seen.add(path.resolve())
            shown(Step(f"counting {path}"))
            part: Any
            if _holds_json(path):
                part = self._read_counts(made, path)
            else:
                part = self._count_table(made, path, asked, note, shown)
            try:
                total = part if total is None else total + part
            except InputError as error:
                raise FileError(
                    error.what, where=str(path), value=error.value, remedy=error.remedy
                ) from None
        assert isinstance(total, Aggregate | PerUserAggregate)
        return total

    def _read_counts(self, made: Mechanism, path: Path) -> Aggregate | PerUserAggregate:
        """Read counts that were written before, which must be of the same mechanism."""
        for name in self.given_options():
            if name in ("--weights", "--offsets"):
                raise click.UsageError(f"{name} names a column, but {path} holds counts")
        with errors_at(path):
            data = parse_json(read_text(path), path)
            if made.per_user:
                return PerUserAggregate.from_data(data)
            return Aggregate.from_data(data).check_channel(made.reported)

    def _count_table(
        self,
        made: Mechanism,
        path: Path,
        asked: tuple[str, Any],
        note: Notes,
        shown: ProgressBar,
    ) -> Aggregate | PerUserAggregate:
        """Count the reports of a table."""
        column = column_of(
            made, self.column, f"no column of reports: name the one in {path} by --column"
        )
        if made.per_user:
            counting = self._per_user_counter(made, str(column), asked, note)
        else:
            counting = _shared_counter(made, column)
        source = self.table.open(path, note)
        from liftlock.tables.formats.base import cell_errors_in

        numbers = {"weights": self.weights, "offsets": self.offsets}
        given = (name for name in numbers.values() if name is not None)
        wanted = list(dict.fromkeys([*counting.columns, *given]))
        shown.unit = source.unit
        total: Any = None
        rows = 0
        for piece in source.batches(wanted, shown):
            start, rows = rows, rows + piece.batch.num_rows
            if counting.rows is not None and rows > counting.rows:
                break
            with cell_errors_in(source, piece):
                beside = {
                    option: None if name is None else _numbers(piece, name)
                    for option, name in numbers.items()
                }
                part = counting.count(piece.batch, start, **beside)
            with errors_at(path):
                total = part if total is None else total + part
        if counting.rows is not None and rows != counting.rows:
            raise FileError(
                f"{counting.rows:,} rows of priors do not match the reports",
                where=str(self.priors_from),
                remedy=f"give one row per report of {path}, in the same order",
            )
        if not rows:
            raise FileError("no rows", where=str(path), remedy="check that it is the right file")
        assert isinstance(total, Aggregate | PerUserAggregate)
        return total

    def _per_user_counter(
        self, made: Mechanism, column: str, asked: tuple[str, Any], note: Notes
    ) -> _ReportCounter:
        """Count reports of users with a prior each, which is in their row or in another table."""
        if self.local_priors is None:
            raise click.UsageError(
                "the mechanism uses per-user priors: name their columns by --local-priors"
            )
        from liftlock.tables.per_user import PerUserRandomiser

        columns = {label: f"{self.local_priors}{label}" for label in made.channel.inputs.labels}
        worker = PerUserRandomiser(made, column, columns, self.local_budgets, self.normalise)
        if self.normalise:
            note(f"the probabilities of each row were {DIVIDED}")
        known = None if self.priors_from is None else self._priors(worker, note)
        of, value = asked

        def count(batch: Any, start: int, **numbers: Floats | None) -> PerUserAggregate:
            if known is None:
                priors = worker.gather_priors([batch])
            else:
                priors = known.part(start, start + batch.num_rows)
            return worker.count_reports(batch.column(column), priors, of, value, **numbers)

        if known is None:
            return _ReportCounter([column, *worker.prior_columns], count)
        return _ReportCounter([column], count, len(known))

    def _priors(self, worker: PerUserRandomiser, note: Notes) -> PerUserPriors:
        """Read the priors, and the budgets, of all rows from a table of their own."""
        from liftlock.tables.formats.base import cell_errors_in

        assert self.priors_from is not None
        source = self.table.open(self.priors_from, note)
        found = []
        for piece in source.batches(list(worker.prior_columns), None):
            with cell_errors_in(source, piece):
                worker.gather_priors([piece.batch])  # what is wrong is named with its line
            found.append(piece.batch)
        return worker.gather_priors(found)


@dataclass(frozen=True)
class _ReportCounter:
    """How the reports of a table are counted, piece by piece."""

    columns: list[str]
    """The columns that are read."""
    count: Callable[..., Aggregate | PerUserAggregate]
    """Counts a piece, of which it is told where it starts."""
    rows: int | None = None
    """How many rows the table must have, if that is known."""


def _shared_counter(made: Mechanism, column: str | None) -> _ReportCounter:
    """Count reports of a column, or of several columns that are one value."""
    from liftlock.tables.randomiser import ColumnRandomiser

    work = ColumnRandomiser.of(made, column)
    return _ReportCounter(
        list(work.needs),
        lambda batch, _, **numbers: work.count_reports(
            [batch.column(name) for name in work.needs], **numbers
        ),
    )


def _holds_json(path: Path) -> bool:
    """Tell whether a file holds JSON, whatever its name: counts are objects."""
    try:
        with path.open("rb") as stream:
            start = stream.read(_START).removeprefix(b"\xef\xbb\xbf").lstrip()
    except (OSError, ValueError):
        return path.suffix.lower() == ".json"
    return start.startswith((b"{", b"[")) or path.suffix.lower() == ".json"


def _numbers(piece: RowBatch, column: str) -> Floats:
    """Return the numbers of a column; none may be missing."""
    import numpy as np

    from liftlock.errors import CellError
    from liftlock.tables.cells import column_to_floats

    reader = CellReader(ColumnEncoding(column), _ANY)
    found = column_to_floats(piece.batch.column(column), reader)
    missing = np.isnan(found)
    if missing.any():
        raise CellError(
            "not a number",
            int(np.argmax(missing)),
            column,
            remedy="correct it; nothing was counted",
        )
    return found
