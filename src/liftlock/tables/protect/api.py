"""Protecting the columns of a data frame: the same frame comes back, safe, with what was done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa

from liftlock._runtime.progress import Progress, ignore_progress
from liftlock.mechanism import Mechanism
from liftlock.model.person import PerPerson
from liftlock.tables.formats.frame import FrameAdapter, FrameSource, ReleasedColumn
from liftlock.tables.protect.design import SECONDS
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.result import Protection, ReportHead
from liftlock.tables.protect.spec import (
    AnyNotion,
    AnySecrets,
    ColumnSpec,
    SpecOptions,
    column_specs,
    read_total,
)
from liftlock.tables.protect.verdict import Verdict
from liftlock.tables.releases import TableRelease


@dataclass(frozen=True)
class ProtectedFrame:
    """A frame whose columns were replaced, and what was done to it."""

    frame: Any
    protection: Protection

    @property
    def mechanisms(self) -> Mapping[str, Mechanism]:
        """The mechanism of each column, or of columns that are one value."""
        return {column.name: column.mechanism for column in self.protection.columns}

    @property
    def verdict(self) -> Verdict:
        """Whether the rows of the frame keep what was promised, and what is against it."""
        return self.protection.verdict

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        purpose: str = "",
        responsible: str = "",
        data_date: str = "",
        edition: str = "",
    ) -> None:
        """Write the report for people: one page of HTML, whose head says what it is told here."""
        from liftlock.report.html import write_report

        head = ReportHead(purpose, responsible, data_date, edition)
        write_report(replace(self.protection, head=head), Path(path))

    def __repr__(self) -> str:
        names = ", ".join(self.mechanisms)
        return f"<ProtectedFrame {names}: {self.protection.rows:,} rows, {self.verdict.words}>"


def protect(
    frame: Any,
    column: str | Sequence[str] | Sequence[ColumnSpec],
    notion: AnyNotion | Mapping[str, AnyNotion] | None = None,
    *,
    secret: AnySecrets = None,
    together: bool = False,
    total: AnyNotion | None = None,
    weights: Mapping[str, object] | None = None,
    person: str | None = None,
    per_person: PerPerson | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    seconds: float = SECONDS,
    curve: bool = False,
    watch: Progress | None = None,
    **how: Unpack[SpecOptions],
) -> ProtectedFrame:
    """Replace columns of a frame by what may be seen of them, and prove how little that tells.

    pandas, Polars and PyArrow go in, the same kind comes out: the order of rows and all other
    columns are kept, secrets are left out. What is not given for each column is for all of them;
    a secret of None is the value itself. A notion may be written as a claim, ``"alip=1.3,0.7"``; a
    number is an epsilon of LIP. The options are those of ``liftlock protect``: `how` may give
    context, local, local_budgets, utility, method, missing, spelled, unseen, rare, smooth, numbers,
    domain and cells (see `liftlock.tables.protect.spec.SpecOptions`). Columns that differ in any of
    these are given as a list of `ColumnSpec`, without a notion beside it.

    A column may have several secrets, ``secret=["sex", "race"]`` or ``{"job": ["sex", "race"]}``:
    one mechanism keeps a guarantee about each, the common one or that of `budget_of`, and with
    `value_budget` one about its own value besides.

    With `given`, columns that stay and that the mechanism may use, the promise holds given each of
    their values; values in fewer than `given_rows` rows share one table.

    Instead of a notion for each, ``total="lip=1"`` is what all columns together may tell about each
    secret; it is split so that they keep the most, or in proportion to `weights`.

    With `person`, the column that says whose each row is, the promise is for all rows of a person:
    the budget is divided among them, or one report stands in all of them (`per_person` is "divide"
    or "repeat"; by default what keeps more). That column is left out, unless it is in `keep`.

    >>> from liftlock.notions.lip import LIP
    >>> people = pa.table({"job": ["cook", "cook", "nurse"] * 40, "sex": ["f", "m", "f", "m"] * 30})
    >>> done = protect(people, "job", LIP("0.5"), secret="sex")
    >>> done.frame.column_names, done.mechanisms["job"].certificate.holds
    (['job'], True)
    """
    whole = read_total(total, notion)
    specs = column_specs(column, whole or notion, secret, **how)
    adapter = FrameAdapter.of(frame)
    for spec in specs:
        adapter.cells(spec.column)  # no level of an index, which is never replaced
    source = FrameSource.of(adapter)
    protection = prepare(
        source,
        specs,
        name="data frame",
        drop=drop,
        keep=keep,
        seconds=seconds,
        curve=curve,
        together=together,
        total=whole,
        weights=weights,
        person=person,
        per_person=per_person,
        watch=ignore_progress if watch is None else watch,
    )
    release = TableRelease(protection, source, specs)
    safe = _release_frame(adapter, source, release)
    return ProtectedFrame(safe, release.counted_protection())


def _release_frame(adapter: FrameAdapter, source: FrameSource, release: TableRelease) -> Any:
    """Return the frame with its columns replaced, and others left out."""
    change = release.change()
    parts: dict[str, list[pa.Array]] = {name: [] for name in change.gives}
    for piece in source.batches(change.needs):
        for name, array in zip(change.gives, change.apply_to(piece), strict=True):
            parts[name].append(array)
    missing = release.may_be_missing()
    columns = {
        name: ReleasedColumn(
            pa.chunked_array(parts[name], type=kind), adapter.cells(name), missing[name]
        )
        for name, kind in change.gives.items()
    }
    return source.replace_columns(columns, change.dropped)
