"""A column whose rows each bring a prior of their own, in other columns of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from liftlock.errors import CellError, InputError
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.exact.integers import Floats
from liftlock.files.sheet import NORMALISE
from liftlock.mechanism import Mechanism
from liftlock.model import PerUserPriors
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.columns import CellReader, ColumnEncoding
from liftlock.model.per_user import divide_by_sums, read_limits
from liftlock.model.structured import ArcChannel
from liftlock.tables.cells import CellDecoder, CellEncoder, column_to_floats
from liftlock.tables.formats.base import TableSource, cell_errors_in

_SUMS = 1e-6


@dataclass(frozen=True)
class PerUserRandomiser:
    """A mechanism of users at work on batches: the value in one column, its prior in others."""

    mechanism: Mechanism
    column: str
    priors: Mapping[Label, str]
    budgets: str | None = None
    """The column that holds the budget of each row, if they differ."""
    normalise: bool = False
    """Whether the probabilities of a row are divided by their sum."""

    def __post_init__(self) -> None:
        missing = [label for label in self._alphabet.labels if label not in self.priors]
        if missing:
            raise InputError(
                "no column holds the probability of a value",
                value=missing[0],
                remedy="give one column per value",
            )

    @property
    def _alphabet(self) -> Alphabet:
        return self.mechanism.channel.inputs

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are replaced: one."""
        return (self.column,)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (self.column, *self.prior_columns)

    @property
    def prior_columns(self) -> tuple[str, ...]:
        """The columns that say what is known of each row: its prior, and its budget."""
        own = tuple(self.priors[label] for label in self._alphabet.labels)
        return own if self.budgets is None else (*own, self.budgets)

    @property
    def hides(self) -> tuple[str, ...]:
        """The columns of priors: a model's opinion of a person is a statement about that person."""
        return tuple(self.priors[label] for label in self._alphabet.labels)

    @cached_property
    def _cells(self) -> CellEncoder:
        return CellEncoder(ColumnEncoding(self.column), self._alphabet)

    def released_types(self, before: Sequence[pa.DataType]) -> list[pa.DataType]:
        """Return the type of the released column: a number of 32 bits for the arc."""
        arc = isinstance(self.mechanism.channel, ArcChannel)
        return [pa.uint32() if arc else self._written.released_type(kind) for kind in before]

    def may_be_missing(self, _place: int) -> bool:
        """Tell whether the column may have missing cells once it is released: never."""
        return False

    def release(self, batch: pa.RecordBatch) -> pa.Array:
        """Randomise each value under the prior of its own row."""
        cells = batch.column(self.column)
        codes = self._cells.codes(cells).astype(np.int64)
        priors = self.gather_priors([batch])
        own = priors.rows(0, len(codes))[np.arange(len(codes)), codes]
        for row in np.flatnonzero(own <= 0)[:1]:
            raise CellError(
                "the value has probability 0 in the user's prior, so it cannot be protected",
                int(row),
                self.column,
                value=cells[int(row)].as_py(),
                remedy="smooth the model's probabilities so that none is 0",
            )
        reports = self.mechanism.release(codes, priors, coded=True)
        if isinstance(self.mechanism.channel, ArcChannel):
            return pa.array(np.asarray(reports), type=pa.uint32())
        return self._written.decode_outputs(np.asarray(reports, dtype=np.int64), cells.type)

    @cached_property
    def _written(self) -> CellDecoder:
        """What the values are written as."""
        return CellDecoder.of([str(label) for label in self._alphabet.labels])

    def count_reports(
        self, cells: pa.Array, priors: PerUserPriors, of: str, value: Any = None, **numbers: Any
    ) -> PerUserAggregate:
        """Add up a column of reports under the priors of their rows, for one question."""
        if isinstance(self.mechanism.channel, ArcChannel):
            reports = self._points(cells)
        else:
            reports = self._cells.codes(cells).astype(np.int64)
        return self.mechanism.aggregate(reports, priors, of, value=value, coded=True, **numbers)

    def _points(self, cells: pa.Array) -> npt.NDArray[np.int64]:
        """Return the numbers that the arc reports."""
        found = column_to_floats(cells, self._cells.reader)
        for row in np.flatnonzero(~(np.floor(found) == found))[:1]:
            raise CellError(
                "the report is not a whole number",
                int(row),
                self.column,
                value=cells[int(row)].as_py(),
                remedy="give the released reports; nothing was counted",
            )
        return found.astype(np.int64)

    def gather_priors(self, batches: Sequence[pa.RecordBatch]) -> PerUserPriors:
        """Return the prior and the budget of each row of some batches."""
        rows = [self._masses(batch) for batch in batches]
        width = len(self._alphabet)
        masses = np.concatenate(rows) if rows else np.empty((0, width))
        found = PerUserPriors.of(self._alphabet, masses)
        name = self.budgets
        if name is None:
            return found
        budgets = [text for batch in batches for text in budget_texts(batch.column(name), name)]
        return found.with_budgets(budgets)

    def _masses(self, batch: pa.RecordBatch) -> Floats:
        columns: Sequence[Any] = [
            column_to_floats(
                batch.column(self.priors[label]),
                CellReader(ColumnEncoding(self.priors[label]), self._alphabet),
            )
            for label in self._alphabet.labels
        ]
        masses: Floats = np.stack(columns, axis=1)
        masses = divide_by_sums(masses) if self.normalise else masses
        wrong = np.isnan(masses).any(axis=1) | (masses < 0).any(axis=1)
        wrong |= np.abs(masses.sum(axis=1) - 1) > _SUMS
        for row in np.flatnonzero(wrong)[:1]:
            raise CellError(
                "the probabilities of the row are not a prior",
                int(row),
                next(iter(self.priors.values())),
                value=[float(mass) for mass in masses[row][:8]],
                remedy=f"give numbers of 0 or more that sum to 1, or {NORMALISE}",
            )
        return masses


def budget_texts(cells: pa.Array, column: str) -> list[str]:
    """Return the budgets of rows as texts; refuse a cell that is none.

    >>> budget_texts(pa.array(["1", "0.5", "1"]), "epsilon")
    ['1', '0.5', '1']
    """
    known: set[str] = set()
    found = []
    for row, cell in enumerate(cells.to_pylist()):
        text = "" if cell is None else str(cell).strip()
        if text not in known:
            try:
                read_limits(text)
            except InputError as error:
                raise CellError(
                    "not a budget", row, column, value=cell, remedy=error.remedy or "give a number"
                ) from None
            known.add(text)
        found.append(text)
    return found


def distinct_budgets(source: TableSource, column: str) -> list[str]:
    """Return the different budgets of the rows of a table, in the order of their first rows."""
    found: dict[str, None] = {}
    for piece in source.batches([column]):
        with cell_errors_in(source, piece):
            found |= dict.fromkeys(budget_texts(piece.batch.column(column), column))
    return list(found)
