"""The columns of a Spark DataFrame: which can be used, and what they are in Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from liftlock.errors import InputError, LabelError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructField

_LISTED = 8


def check_frame(df: Any) -> None:
    """Refuse what is no DataFrame of a classic session with an end."""
    from pyspark.sql import DataFrame
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    if not isinstance(df, DataFrame):
        raise InputError(
            "not a Spark DataFrame",
            value=type(df).__name__,
            remedy="use liftlock.protect for other tables",
        )
    if not isinstance(df, ClassicDataFrame):
        raise InputError(
            "a DataFrame of Spark Connect",
            remedy="Spark Connect cannot tell which task attempts committed; use a classic session",
        )
    if df.isStreaming:
        raise InputError(
            "a streaming DataFrame",
            remedy="use it inside foreachBatch, with a separate path per batch: a repeated batch "
            "must not be randomised again",
        )


def column_position(df: DataFrame, column: str) -> int:
    """Return which column has a name, exactly as it is written."""
    places = [place for place, name in enumerate(df.columns) if name == column]
    if len(places) == 1:
        return places[0]
    if places:
        raise LabelError(
            f"{len(places)} columns of the same name", value=column, remedy="rename one of them"
        )
    shown = ", ".join(map(repr, df.columns[:_LISTED]))
    more = len(df.columns) - _LISTED
    raise LabelError(
        "no such column",
        value=column,
        remedy=f"it has {shown}{f' and {more} more' if more > 0 else ''}",
    )


def number_columns(df: DataFrame) -> DataFrame:
    """Call the columns c0, c1, ...: PySpark takes dots in names for fields of structures."""
    return df.toDF(*(f"c{place}" for place in range(len(df.columns))))


def select_columns(df: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return some columns of categories or numbers, called v0, v1, ... in the order asked for.

    Texts are compared by their characters, as they are when they are released: a collation would
    count those together that only look alike.
    """
    places = [column_position(df, name) for name in columns]
    plain = number_columns(df)
    chosen = []
    for number, place in enumerate(places):
        cells = plain[f"c{place}"]
        if pa.types.is_string(arrow_type(df.schema[place])):
            cells = cells.cast("string")
        chosen.append(cells.alias(f"v{number}"))
    return plain.select(*chosen)


def check_deterministic(df: DataFrame) -> None:
    """Refuse rows that would be others when they are released than when they were counted."""
    plan: Any = df._jdf.queryExecution().analyzed()  # type: ignore[operator, unused-ignore]
    if not plan.deterministic():
        raise InputError(
            "the DataFrame draws random values whenever it is computed",
            remedy="store it first: the rows counted must be the rows released",
        )


def arrow_type(field: StructField) -> pa.DataType:
    """Return the type in which the values of a column reach a worker."""
    from pyspark.sql import types

    kind = field.dataType
    if isinstance(kind, types.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, types.StringType | types.CharType | types.VarcharType):
        return pa.string()
    for known, arrow in (
        (types.BooleanType, pa.bool_()),
        (types.ByteType, pa.int8()),
        (types.ShortType, pa.int16()),
        (types.IntegerType, pa.int32()),
        (types.LongType, pa.int64()),
        (types.FloatType, pa.float32()),
        (types.DoubleType, pa.float64()),
        (types.BinaryType, pa.binary()),
        (types.DateType, pa.date32()),
    ):
        if isinstance(kind, known):
            return arrow
    raise InputError(
        f"the column {field.name!r} holds no text, numbers or booleans",
        value=kind.simpleString(),
        remedy="cast it, or choose another column",
    )


def spark_type(kind: pa.DataType) -> DataType:
    """Return the Spark type of released values."""
    from pyspark.sql import types

    if pa.types.is_decimal(kind):
        return types.DecimalType(kind.precision, kind.scale)
    if pa.types.is_fixed_size_binary(kind):
        return types.BinaryType()
    found: dict[pa.DataType, DataType] = {
        pa.bool_(): types.BooleanType(),
        pa.int8(): types.ByteType(),
        pa.int16(): types.ShortType(),
        pa.int32(): types.IntegerType(),
        pa.int64(): types.LongType(),
        pa.float32(): types.FloatType(),
        pa.float64(): types.DoubleType(),
        pa.binary(): types.BinaryType(),
        pa.date32(): types.DateType(),
    }
    return found.get(kind, types.StringType())
