"""Tables: files of any size (CSV, Parquet, Arrow) and data frames, all through Arrow arrays.

import liftlock.frames

safe = liftlock.frames.release(frame, mechanism, "job")      # pandas, Polars, PyArrow
counts = liftlock.frames.aggregate(safe, mechanism, "job")
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liftlock.frames.frame import aggregate_frame as aggregate
    from liftlock.frames.frame import release_frame as release

__all__ = ["aggregate", "release"]


def __getattr__(name: str) -> Any:
    # Files do not need what frames need.
    if name in __all__:
        from liftlock.frames import frame

        return getattr(frame, f"{name}_frame")
    raise AttributeError(f"module 'liftlock.frames' has no attribute {name!r}")
