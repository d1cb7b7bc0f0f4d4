"""Protect columns of a Spark DataFrame: learn there, design here, release there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from liftlock.errors import InputError
from liftlock.forms import StructuredChannel
from liftlock.notions.base import Notion
from liftlock.spark.columns import arrow_type, check_frame, check_same_again, place_of
from liftlock.spark.counting import aggregate
from liftlock.spark.grouped import GroupedTable
from liftlock.spark.once import check_place
from liftlock.spark.releasing import release_columns
from liftlock.tables.encoding import EncodedColumns
from liftlock.tables.protect.design import SECONDS
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.result import ProtectedColumn, Protection
from liftlock.tables.protect.spec import ColumnSpec, Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def protect(
    df: DataFrame,
    column: str | Sequence[ColumnSpec],
    secret: str | None = None,
    notion: Notion | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    policy: Policy | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    seconds: float = SECONDS,
    curve: bool = False,
    together: bool = False,
    **how: Any,
) -> tuple[DataFrame, Protection]:
    """Replace a column by what may be seen of it; return the DataFrame, and what was done.

    Spark counts how often each value occurs with each value of the secret. From these counts a
    mechanism is designed and proved on the driver, by the same rules as for files, and all columns
    are randomised in one pass, as `release` does it: once, and kept at `path`. Secrets are left out
    of the result, unless they are in `keep`.

    `policy` says what becomes of missing, rare and unseen values. `how` are other parts of a
    `ColumnSpec`: context, utility, method, numbers, domain, cells. For several columns give a list
    of specs; with `together` they are protected as one value. Numbers that must be cut into cells
    come to the driver all of them.
    """
    specs = _wishes(column, secret, notion, policy, how)
    check_frame(df)
    check_same_again(df)
    learned: set[str] = set()
    numeric: set[str] = set()
    for spec in specs:
        if spec.local:
            raise InputError(
                "priors of each row's own in a Spark DataFrame",
                value=spec.column,
                remedy="release files or data frames with them",
            )
        for name in (spec.column, spec.secret):
            if name is not None:
                arrow_type(df.schema[place_of(df, name)])
                learned.add(name)
        kind = arrow_type(df.schema[place_of(df, spec.column)])
        typed = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        if typed or spec.numbers or spec.domain is not None or spec.cells is not None:
            numeric.add(spec.column)
    place = None if path is None else os.fspath(path)
    check_place(df.sparkSession, place)
    source = GroupedTable(df, frozenset(learned), frozenset(numeric))
    prepared = prepare(
        source,
        specs,
        name="Spark DataFrame",
        drop=drop,
        keep=keep,
        seconds=seconds,
        curve=curve,
        together=together,
    )
    workers = [
        EncodedColumns.of(each.mechanism)
        for each in prepared.columns
        if not each.mechanism.per_user
    ]
    result = release_columns(df, workers, path=place, dropped=prepared.dropped)
    columns = tuple(_counted(result, each) for each in prepared.columns)
    return result, replace(prepared, columns=columns, output=place)


def _wishes(
    column: str | Sequence[ColumnSpec],
    secret: str | None,
    notion: Notion | None,
    policy: Policy | None,
    how: dict[str, Any],
) -> list[ColumnSpec]:
    if not isinstance(column, str):
        if secret is not None or notion is not None or policy is not None or how:
            raise InputError(
                "specs with something beside them",
                value=", ".join(how) or None,
                remedy="say it in each spec",
            )
        return list(column)
    if notion is None:
        raise InputError(
            "no notion to keep", remedy="give one, such as notion=ALIP(lower='1.3', upper='0.7')"
        )
    policy = Policy() if policy is None else policy
    return [ColumnSpec(column, notion, secret, policy=policy, **how)]


def _counted(result: DataFrame, column: ProtectedColumn) -> ProtectedColumn:
    """Add how often each output came out."""
    made = column.mechanism
    if isinstance(made.channel, StructuredChannel):
        return column
    found = aggregate(result, made, None if made.group is not None else column.name)
    return replace(column, counts=dict(zip(made.table.outputs.labels, found.counts, strict=True)))
