"""The process that Spark forks its workers from, with liftlock loaded once for all of them.

A worker that dies is replaced by another, which would load everything again.
"""

import pyarrow  # noqa: F401
from pyspark.daemon import manager

import liftlock.spark  # noqa: F401

if __name__ == "__main__":
    manager()
