"""The five papers, reproduced: every figure and table, beside what the papers say about it."""

from liftlock_papers.catalogue import FIGURES, PAPERS, find_figure
from liftlock_papers.figure import Curve, Figure, Finding, Panel, Paper, Verdict
from liftlock_papers.points import Point, Points
from liftlock_papers.running import Result, run
from liftlock_papers.setting import Setting

__all__ = [
    "FIGURES",
    "PAPERS",
    "Curve",
    "Figure",
    "Finding",
    "Panel",
    "Paper",
    "Point",
    "Points",
    "Result",
    "Setting",
    "Verdict",
    "find_figure",
    "run",
]
