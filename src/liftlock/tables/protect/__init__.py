"""Protecting the columns of a table: learn, design, account, release, and say what was done."""

from liftlock.tables.protect.result import (
    BootstrapLeakage,
    CombinedLeak,
    Curve,
    CurvePoint,
    EmpiricalLeakage,
    KeptColumn,
    ProtectedColumn,
    Protection,
)

__all__ = [
    "BootstrapLeakage",
    "CombinedLeak",
    "Curve",
    "CurvePoint",
    "EmpiricalLeakage",
    "KeptColumn",
    "ProtectedColumn",
    "Protection",
]
