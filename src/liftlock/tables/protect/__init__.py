"""Protecting the columns of a table: learn, design, account, release, and say what was done."""

from liftlock.notions.lift import LeakRange
from liftlock.tables.protect.judgement import judge
from liftlock.tables.protect.result import (
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
)
from liftlock.tables.protect.verdict import Finding, Remedy, Verdict

__all__ = [
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
    "Verdict",
    "judge",
]
