"""Spark DataFrames: release columns of them, count reports, protect a secret.

Needs the extra ``liftlock[spark]``, on the driver and on every worker.
"""

from __future__ import annotations

from importlib.util import find_spec

from liftlock.errors import MissingLibrary, extra

with extra("spark"):
    import pyarrow  # noqa: F401
    import pyspark  # noqa: F401

# PySpark wants it before it hands over Arrow batches, though none of it is used here.
if find_spec("pandas") is None:
    raise MissingLibrary("spark")

from liftlock.spark.aggregation import aggregate, counts
from liftlock.spark.folders import leftovers
from liftlock.spark.protection import protect
from liftlock.spark.releases import release

__all__ = ["aggregate", "counts", "leftovers", "protect", "release"]
