"""Protect columns of a Spark DataFrame: learn there, design here, release there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, cast

from liftlock._runtime.progress import Progress, ignore_progress
from liftlock.errors import InputError
from liftlock.model.channel import Channel
from liftlock.model.structured import StructuredChannel
from liftlock.spark.aggregation import aggregate
from liftlock.spark.columns import (
    arrow_type,
    check_deterministic,
    check_frame,
    column_position,
)
from liftlock.spark.materialisation import check_destination
from liftlock.spark.refusals import raise_refusals
from liftlock.spark.releases import release_columns
from liftlock.spark.sources import GroupedTable
from liftlock.tables.protect.api import ProtectedFrame
from liftlock.tables.protect.design import SECONDS
from liftlock.tables.protect.plan import prepare
from liftlock.tables.protect.result import ProtectedColumn
from liftlock.tables.protect.spec import (
    AnyNotion,
    AnySecrets,
    ColumnSpec,
    SpecOptions,
    column_specs,
    is_numeric,
)
from liftlock.tables.randomiser import ColumnRandomiser

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def protect(
    df: DataFrame,
    column: str | Sequence[str] | Sequence[ColumnSpec],
    notion: AnyNotion | Mapping[str, AnyNotion] | None = None,
    *,
    secret: AnySecrets = None,
    path: str | os.PathLike[str] | None = None,
    together: bool = False,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    seconds: float = SECONDS,
    curve: bool = False,
    watch: Progress | None = None,
    **how: Unpack[SpecOptions],
) -> ProtectedFrame:
    """Replace columns by what may be seen of them; return the DataFrame, and what was done.

    Spark counts how often each value occurs with each value of the secret. From these counts a
    mechanism is designed and proved on the driver, by the same rules as for files, and all columns
    are randomised in one pass, as `release` does it: once, and kept at `path`. Secrets are left out
    of the result, unless they are in `keep`.

    All but `path` is as in `liftlock.protect`. Numbers that must be cut into cells come to the
    driver all of them. Priors of each row's own are for files and data frames.
    """
    specs = column_specs(column, notion, secret, **how)
    check_frame(df)
    check_deterministic(df)
    learned: set[str] = set()
    numeric: set[str] = set()
    for spec in specs:
        if spec.local:
            raise InputError(
                "per-user priors in a Spark DataFrame",
                value=spec.column,
                remedy="use a file or a data frame",
            )
        for name in (spec.column, *spec.secrets, *spec.given):
            arrow_type(df.schema[column_position(df, name)])
            learned.add(name)
        if is_numeric(spec, arrow_type(df.schema[column_position(df, spec.column)])):
            numeric.add(spec.column)
    place = None if path is None else os.fspath(path)
    with raise_refusals():
        check_destination(df.sparkSession, place)
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
        watch=ignore_progress if watch is None else watch,
    )
    workers = [ColumnRandomiser.of(each.mechanism) for each in prepared.columns]
    result = release_columns(df, workers, path=place, dropped=prepared.dropped)
    columns = tuple(_add_counts(result, each) for each in prepared.columns)
    return ProtectedFrame(result, replace(prepared, columns=columns, output=place))


def _add_counts(result: DataFrame, column: ProtectedColumn) -> ProtectedColumn:
    """Add how often each output came out."""
    made = column.mechanism
    if isinstance(made.channel, StructuredChannel):
        return column
    given = made.encoding.given if made.encoding is not None and made.uses_given else None
    if given is not None and not set(given.names) <= set(result.columns):
        return column  # which report is whose table's cannot be told any more
    found = aggregate(result, made)
    reported = made.reported
    assert isinstance(reported, Channel)
    counts = Counter[Any]()
    for label, number in zip(reported.outputs.labels, found.counts, strict=True):
        counts[label if given is None else cast("Any", label)[1]] += number
    return replace(column, counts=dict(counts))
