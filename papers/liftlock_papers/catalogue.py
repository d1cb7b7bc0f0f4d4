"""All papers and all their figures."""

from __future__ import annotations

import difflib

from liftlock import InputError
from liftlock_papers.figure import Figure, Paper
from liftlock_papers.paper_000 import PAPER as PAPER_000
from liftlock_papers.paper_001 import PAPER as PAPER_001
from liftlock_papers.paper_002 import PAPER as PAPER_002
from liftlock_papers.paper_003 import PAPER as PAPER_003
from liftlock_papers.paper_004 import PAPER as PAPER_004

PAPERS: tuple[Paper, ...] = (PAPER_000, PAPER_001, PAPER_002, PAPER_003, PAPER_004)
FIGURES: dict[str, Figure] = {figure.key: figure for paper in PAPERS for figure in paper.figures}


def find_figure(key: str) -> Figure:
    """Return a figure by its key."""
    if key in FIGURES:
        return FIGURES[key]
    near = difflib.get_close_matches(key, FIGURES, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise InputError(
        "no such figure", value=key, remedy=f"{meant}`liftlock papers list` names them all"
    )
