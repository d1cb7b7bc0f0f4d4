"""Protecting the columns of a data frame: the same frame comes back, safe, with what was done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from liftlock.contexts import Joint, Prior
from liftlock.contexts.columns import Missing, Unseen
from liftlock.errors import InputError
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.lip import LIP
from liftlock.notions.registry import parse_claim
from liftlock.progress import Progress, silent
from liftlock.tables.formats.frame import FrameSource, NewColumn, OpenedFrame
from liftlock.tables.protect.design import SECONDS
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.result import Protection
from liftlock.tables.protect.spec import ColumnSpec, Policy
from liftlock.tables.releases import TableRelease
from liftlock.utility.utility import Utility


@dataclass(frozen=True)
class Protected:
    """A frame whose columns were replaced, and what was done to it."""

    frame: Any
    protection: Protection

    @property
    def mechanisms(self) -> Mapping[str, Mechanism]:
        """The mechanism of each column, or of columns that are one value."""
        return {column.name: column.mechanism for column in self.protection.columns}

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report for people: one page of HTML."""
        from liftlock.report.html import write_report

        write_report(self.protection, Path(path))

    def __repr__(self) -> str:
        names = ", ".join(self.mechanisms)
        return f"<Protected {names}: {self.protection.rows:,} rows>"


def protect(
    frame: Any,
    column: str | Sequence[str],
    notion: Notion | str | float | Mapping[str, Notion | str | float],
    *,
    secret: str | Sequence[str | None] | None = None,
    together: bool = False,
    context: Joint | Prior | Mapping[str, Joint | Prior] | None = None,
    local: Mapping[Any, str] | None = None,
    local_budgets: str | None = None,
    utility: str | Utility | None = None,
    method: str | None = None,
    seconds: float = SECONDS,
    missing: Missing = "category",
    spelled: Sequence[str] = (),
    unseen: Unseen = "refuse",
    rare: int = 0,
    smooth: object = 0,
    numbers: Sequence[str] = (),
    domain: Any = None,
    cells: int | Mapping[str, int] | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    curve: bool = False,
    watch: Progress | None = None,
) -> Protected:
    """Replace columns of a frame by what may be seen of them, and prove how little that tells.

    pandas, Polars and PyArrow go in, the same kind comes out: the order of rows and all other
    columns are kept, secrets are left out. What is not given for each column is for all of them;
    a secret of None is the value itself. A notion may be written as a claim, ``"alip=1.3,0.7"``; a
    number is an epsilon of LIP. The options are those of ``liftlock protect``.

    >>> from liftlock.notions.lip import LIP
    >>> people = pa.table({"job": ["cook", "cook", "nurse"] * 40, "sex": ["f", "m", "f", "m"] * 30})
    >>> done = protect(people, "job", LIP("0.5"), secret="sex")
    >>> done.frame.column_names, done.mechanisms["job"].certificate.holds
    (['job'], True)
    """
    names = [column] if isinstance(column, str) else _names(column)
    secrets = [secret] * len(names) if secret is None or isinstance(secret, str) else list(secret)
    if len(secrets) != len(names):
        raise InputError(
            f"{len(secrets)} secrets for {len(names)} columns", remedy="give one for each, or one"
        )
    policy = Policy(missing, unseen, rare, tuple(spelled), smooth)
    specs = [
        ColumnSpec(
            name,
            _notion(_of(notion, name), name),
            hidden,
            _of(context, name),
            utility,
            method,
            policy,
            name in numbers,
            _of(domain, name),
            _of(cells, name),
            dict(local or {}),
            local_budgets,
        )
        for name, hidden in zip(names, secrets, strict=True)
    ]
    opened = OpenedFrame.of(frame)
    for name in names:
        opened.cells(name)  # no level of an index, which is never replaced
    source = FrameSource.of(opened)
    protection = prepare(
        source,
        specs,
        name="data frame",
        drop=drop,
        keep=keep,
        seconds=seconds,
        curve=curve,
        together=together,
        watch=silent if watch is None else watch,
    )
    release = TableRelease(protection, source, specs)
    safe = _released(opened, source, release)
    return Protected(safe, release.done())


def _released(opened: OpenedFrame, source: FrameSource, release: TableRelease) -> Any:
    """Return the frame with its columns replaced, and others left out."""
    change = release.change()
    parts: dict[str, list[pa.Array]] = {name: [] for name in change.gives}
    for piece in source.batches(change.needs):
        for name, array in zip(change.gives, change.applied(piece), strict=True):
            parts[name].append(array)
    missing = release.may_be_missing()
    columns = {
        name: NewColumn(pa.chunked_array(parts[name], type=kind), opened.cells(name), missing[name])
        for name, kind in change.gives.items()
    }
    safe = opened.replaced(columns, [name for name in change.dropped if name not in source.index])
    levels = [at for at, name in enumerate(source.index) if name in change.dropped]
    return safe.reset_index(level=levels, drop=True) if levels else safe


def _names(given: Any) -> list[str]:
    names = list(given) if isinstance(given, Sequence) else [given]
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                "the name of a column is not a text",
                value=name,
                remedy="rename the columns: frame.columns = frame.columns.astype(str)",
            )
    return names


def _notion(given: Any, name: str) -> Notion:
    """Read a guarantee: a notion, a claim such as ``lip=1``, or an epsilon of LIP."""
    if given is None:
        raise InputError("no guarantee is asked for", value=name, remedy="give one for each column")
    if isinstance(given, str) and "=" in given:
        return parse_claim(given)
    if isinstance(given, str | int | float | Fraction) and not isinstance(given, bool):
        return LIP(given if isinstance(given, str) else str(given))
    if not hasattr(given, "certify"):
        raise InputError(
            f"a guarantee of type {type(given).__name__}",
            value=given,
            remedy="give a notion such as LIP('0.5'), or its text lip=0.5",
        )
    found: Notion = given
    return found


def _of(given: Any, name: str) -> Any:
    """Return what is given for one column: by its name, or for all."""
    return given.get(name) if isinstance(given, Mapping) else given
