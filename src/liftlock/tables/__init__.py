"""Tables: files of any size (CSV, Parquet, Arrow) and data frames, all through Arrow arrays.

import liftlock.tables

safe = liftlock.tables.release(frame, mechanism, "job")      # pandas, Polars, PyArrow
counts = liftlock.tables.aggregate(safe, mechanism, "job")
"""

from typing import TYPE_CHECKING, Any

from liftlock.errors import extra

with extra("tables"):
    import pyarrow  # noqa: F401

if TYPE_CHECKING:
    from liftlock.tables.releases import aggregate_frame as aggregate
    from liftlock.tables.releases import release_frame as release

__all__ = ["aggregate", "release"]


def __getattr__(name: str) -> Any:
    # Files do not need what frames need.
    if name in __all__:
        from liftlock.tables import releases

        return getattr(releases, f"{name}_frame")
    raise AttributeError(f"module 'liftlock.tables' has no attribute {name!r}")
