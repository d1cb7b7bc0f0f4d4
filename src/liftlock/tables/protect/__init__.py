"""Protecting the columns of a table: learn, design, account, release, and say what was done."""

from liftlock.notions.lift import LeakRange
from liftlock.tables.protect.judgement import judge
from liftlock.tables.protect.result import (
    BudgetShare,
    CombinedLeak,
    Curve,
    CurvePoint,
    EmpiricalLeakage,
    KeptColumn,
    ProtectedColumn,
    Protection,
    ReportHead,
    RowLeak,
    RowWitness,
    TotalBudget,
)
from liftlock.tables.protect.verdict import Finding, Remedy, Verdict

__all__ = [
    "BudgetShare",
    "CombinedLeak",
    "Curve",
    "CurvePoint",
    "EmpiricalLeakage",
    "Finding",
    "KeptColumn",
    "LeakRange",
    "ProtectedColumn",
    "Protection",
    "Remedy",
    "ReportHead",
    "RowLeak",
    "RowWitness",
    "TotalBudget",
    "Verdict",
    "judge",
]
