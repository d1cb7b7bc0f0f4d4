"""The five papers, reproduced: every figure and table, beside what the papers say about it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liftlock_papers.catalogue import FIGURES, PAPERS, find_figure
    from liftlock_papers.figure import Curve, Figure, Finding, Panel, Paper, Statement, Verdict
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
    "Statement",
    "Verdict",
    "find_figure",
    "run",
]

_NAMES = {
    "liftlock_papers.catalogue": ["FIGURES", "PAPERS", "find_figure"],
    "liftlock_papers.figure": [
        *("Curve", "Figure", "Finding", "Panel", "Paper", "Statement", "Verdict"),
    ],
    "liftlock_papers.points": ["Point", "Points"],
    "liftlock_papers.running": ["Result", "run"],
    "liftlock_papers.setting": ["Setting"],
}

_HOMES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # The help of the command needs nothing of the papers, which load the whole library.
    if name not in _HOMES:
        raise AttributeError(f"module 'liftlock_papers' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
