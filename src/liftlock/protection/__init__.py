"""Protecting the columns of a table: learn, design, account, release, and say what was done."""

from liftlock.protection.result import (
    CombinedLeak,
    Curve,
    CurvePoint,
    InTable,
    KeptColumn,
    ProtectedColumn,
    Protection,
    Resampled,
)

__all__ = [
    "CombinedLeak",
    "Curve",
    "CurvePoint",
    "InTable",
    "KeptColumn",
    "ProtectedColumn",
    "Protection",
    "Resampled",
]
