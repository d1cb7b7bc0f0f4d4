"""Protecting the columns of a table: learn, design, account, release, and say what was done."""

from liftlock.notions.lift import LeakRange
from liftlock.tables.protect.result import (
    BudgetShare,
    CombinedLeak,
    Curve,
    CurvePoint,
    EmpiricalLeakage,
    KeptColumn,
    ProtectedColumn,
    Protection,
    RowLeak,
    RowWitness,
    TotalBudget,
)

__all__ = [
    "BudgetShare",
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
    "TotalBudget",
]
