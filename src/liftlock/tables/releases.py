"""Columns through their mechanisms, batch by batch, and how often each output came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from liftlock.errors import CellError
from liftlock.estimate.aggregate import Aggregate
from liftlock.mechanism import Mechanism
from liftlock.model.alphabet import Label
from liftlock.model.structured import SupportChannel
from liftlock.notions.lift import Impossible
from liftlock.tables.cells import Codes
from liftlock.tables.change import TableChange
from liftlock.tables.formats.base import RowBatch, TableSource, cell_errors_in
from liftlock.tables.formats.frame import FrameAdapter, FrameSource, ReleasedColumn
from liftlock.tables.kept import choose_columns
from liftlock.tables.people import PersonColumn, person_column
from liftlock.tables.per_user import PerUserRandomiser
from liftlock.tables.profiles import ProfileColumn, column_worker
from liftlock.tables.protect.result import ProtectedColumn, Protection
from liftlock.tables.protect.spec import ColumnSpec
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.tables.tonight import measure_table

# --- tables -------------------------------------------------------------------------------------


@dataclass
class ColumnRelease:
    """Columns of a source through one mechanism, batch after batch."""

    worker: ColumnRandomiser | PerUserRandomiser
    source: TableSource
    counts: Counter[Label] = field(default_factory=Counter)
    """How often each output came out; nothing for encodings, and for priors of each row's own."""
    kept: int = 0
    """How many cells stayed missing, outside of the mechanism."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are replaced."""
        return self.worker.names

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.worker.needs

    def gives(self) -> dict[str, pa.DataType]:
        """Return the types of the columns that are replaced."""
        return dict(zip(self.columns, self.worker.released_types(self._before), strict=True))

    @property
    def _before(self) -> list[pa.DataType]:
        """The types that the columns should keep: none if a CSV calls everything text."""
        untyped = getattr(self.source, "untyped", False) and isinstance(
            self.worker, ColumnRandomiser
        )
        return [pa.null() if untyped else self.source.type_of(name) for name in self.columns]

    def arrays(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Randomise one batch, and count what came out."""
        if isinstance(self.worker, PerUserRandomiser):
            return [self.worker.release(batch)]
        outputs, kept = self.worker.draw_outputs([batch.column(name) for name in self.needs])
        seen = outputs if kept is None else outputs[~kept]
        self.kept += len(outputs) - len(seen)
        if not isinstance(self.worker.mechanism.channel, SupportChannel):
            self._count(self.worker.mechanism, seen)
        return self.worker.decode_outputs(outputs, self._before, kept)

    def _count(self, mechanism: Mechanism, outputs: Codes) -> None:
        labels = mechanism.table.outputs.labels
        numbers = np.bincount(outputs, minlength=len(labels)).tolist()
        for label, number in zip(labels, numbers, strict=True):
            self.counts[label] += number


def make_change(
    source: TableSource, releases: Sequence[ColumnRelease], dropped: Sequence[str] = ()
) -> TableChange:
    """Return the change that replaces columns by what is released for them."""
    needs = tuple(dict.fromkeys(name for release in releases for name in release.needs))
    gives = {name: kind for release in releases for name, kind in release.gives().items()}

    def apply(piece: RowBatch) -> list[pa.Array]:
        with cell_errors_in(source, piece):
            return [array for release in releases for array in release.arrays(piece.batch)]

    return TableChange(needs, gives, apply, tuple(dropped))


@dataclass
class TableRelease:
    """All columns of a protection at work on the source that they were specified for."""

    protection: Protection
    source: TableSource
    specs: Sequence[ColumnSpec]
    releases: list[ColumnRelease] = field(init=False)

    def __post_init__(self) -> None:
        self.releases = [
            ColumnRelease(self._make_randomiser(column), self.source)
            for column in self.protection.columns
        ]

    def _make_randomiser(self, column: ProtectedColumn) -> ColumnRandomiser | PerUserRandomiser:
        if not column.mechanism.per_user:
            worker = person_column(ColumnRandomiser.of(column.mechanism))
            if isinstance(worker, PersonColumn):
                worker.look_at(self.source)
            return worker
        spec = next(spec for spec in self.specs if spec.column == column.name)
        return PerUserRandomiser(
            column.mechanism, spec.column, spec.local, spec.local_budgets, spec.normalise
        )

    def change(self) -> TableChange:
        """Return what is to be done to the table."""
        return make_change(self.source, self.releases, self.protection.dropped)

    def may_be_missing(self) -> dict[str, bool]:
        """Return which columns may have missing cells once they are released."""
        return {
            name: release.worker.may_be_missing(at)
            for release in self.releases
            for at, name in enumerate(release.columns)
        }

    def counted_protection(self) -> Protection:
        """Return the protection with how often each output was released."""
        columns = tuple(
            replace(column, counts=dict(release.counts))
            for column, release in zip(self.protection.columns, self.releases, strict=True)
        )
        return replace(self.protection, columns=columns)


# --- data frames --------------------------------------------------------------------------------


def release_frame(
    frame: Any,
    mechanism: Mechanism,
    column: Any = None,
    *,
    unseen: str | None = None,
    drop: Sequence[str] = (),
    keep: Collection[str] = (),
    profiles: Any = None,
    impossible: Impossible = "refuse",
    check: bool = False,
    insist: bool = False,
) -> Any:
    """Return a frame of the same kind in which a column is private; the given one stays as it is.

    Every other column, the index and their metadata are the same. The column keeps its type where
    all outputs of the mechanism fit it. A lazy frame of Polars is collected here, once, and comes
    back as a lazy frame of what was released: collecting that again draws nothing again.
    Ask each person once: releasing the same frame twice reveals more.

    Without a column it is the one that the mechanism was made for. One that was made for several
    columns as one value releases all of them.

    Left out are the secret, and what was left out when the mechanism was made. Other columns that
    are copies of the released one or of the secret are refused, and so are columns whose values are
    the secrets, where it is not known which column holds them. What is in `drop` goes, and what is
    in `keep` stays, whatever it tells.

    With `check` the joint of the frame is counted first, with the secret before it is left out, and
    a frame in which the mechanism leaks more than promised is refused (`NotCertified`).

    A mechanism for a graph of profiles is told whose each value is by the column `profiles`, which
    is left out as well; one that ignores the profile can do without. Values
    that their profile calls impossible and that nothing protects are refused, or with
    ``impossible="ignore"`` released without a guarantee. Rows of one profile that add up to more
    than 10 nats protect nothing, and are refused unless you `insist`.

    >>> from liftlock import LIP, Prior, design
    >>> made = design(Prior.from_counts({"no": 3, "yes": 1}), LIP("1"), method="safe-response")
    >>> people = pa.table({"age": [31, 47], "answer": ["no", "yes"]})
    >>> safe = release_frame(people, made, "answer")
    >>> safe.column("age").equals(people.column("age")), safe.schema == people.schema
    (True, True)
    """
    work = person_column(column_worker(mechanism, column, unseen, profiles, impossible))
    adapter = FrameAdapter.of(frame)
    source = FrameSource.of(adapter, lenient=True)
    drop, keep = [str(name) for name in drop], [str(name) for name in keep]
    others = choose_columns(source, work, drop=drop, keep=keep)
    if check:
        measure_table(source, work, others.secrets).require_kept()
    if isinstance(work, PersonColumn):
        work.look_at(source)
    cells = [adapter.cells(name) for name in work.needs]
    parts = []
    for first, batch in _batches(cells):
        with _cell_errors_from(first):
            parts.append(work.release(batch))
    if isinstance(work, ProfileColumn) and not insist:
        work.refuse_useless()
    kinds = work.released_types([adapter.cells(name).type for name in work.names])
    return source.replace_columns(
        {
            name: ReleasedColumn(
                pa.chunked_array([part[at] for part in parts], type=kinds[at]),
                cells[at],
                work.may_be_none(at),
            )
            for at, name in enumerate(work.names)
        },
        others.dropped,
    )


def aggregate_frame(
    frame: Any,
    mechanism: Mechanism,
    column: Any = None,
    *,
    weights: Any = None,
    offsets: Any = None,
) -> Aggregate:
    """Count the reports in one column of a frame, as `release_frame` writes them.

    Weights and offsets are numbers, one for each row or one for all, or the names of columns.

    >>> from liftlock import LIP, Prior, design
    >>> made = design(Prior.from_counts({"no": 3, "yes": 1}), LIP("1"), method="safe-response")
    >>> aggregate_frame(pa.table({"answer": ["no", "yes", "no"]}), made, "answer").counts
    (2, 1)
    """
    work = ColumnRandomiser.of(mechanism, column)
    needed = [*work.needs, *(name for name in (weights, offsets) if isinstance(name, str))]
    adapter = FrameAdapter.of(frame, needed)
    numbers = {
        name: adapter.numbers(given, name[:-1])
        for name, given in (("weights", weights), ("offsets", offsets))
    }
    total = Aggregate.empty(mechanism.reported)
    for first, batch in _batches([adapter.cells(name) for name in work.needs]):
        rows = slice(first, first + len(batch[0]))
        each = {name: given if given is None else given[rows] for name, given in numbers.items()}
        with _cell_errors_from(first):
            total += work.count_reports(batch, **each)
    return total


def _batches(columns: Sequence[pa.ChunkedArray]) -> Iterator[tuple[int, list[pa.Array]]]:
    """Give the rows of columns, in as many batches as they have in common, and their first row."""
    first = 0
    for batch in pa.table(columns, [str(at) for at in range(len(columns))]).to_batches():
        yield first, batch.columns
        first += batch.num_rows


@contextmanager
def _cell_errors_from(first: int) -> Iterator[None]:
    """Name a cell that is refused by its row in the frame."""
    try:
        yield
    except CellError as refusal:
        raise refusal.at(first + refusal.row, refusal.column) from None
