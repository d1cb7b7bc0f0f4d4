"""Protecting the columns of a table: learn, design, account, release, and say what was done."""

from liftlock.tables.protect.result import (
    CombinedLeak,
    Curve,
    CurvePoint,
    EmpiricalLeakage,
    KeptColumn,
    LeakRange,
    ProtectedColumn,
    Protection,
    RowLeak,
    RowWitness,
)

__all__ = [
    "CombinedLeak",
    "Curve",
    "CurvePoint",
    "EmpiricalLeakage",
    "KeptColumn",
    "LeakRange",
    "ProtectedColumn",
    "Protection",
    "RowLeak",
    "RowWitness",
]
