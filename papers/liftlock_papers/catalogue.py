"""All papers and all their figures."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from liftlock import InputError
from liftlock_papers.figure import Figure, Paper
from liftlock_papers.paper_000 import PAPER as PAPER_000
from liftlock_papers.paper_001 import PAPER as PAPER_001
from liftlock_papers.paper_002 import PAPER as PAPER_002
from liftlock_papers.paper_003 import PAPER as PAPER_003
from liftlock_papers.paper_004 import PAPER as PAPER_004

PAPERS: tuple[Paper, ...] = (PAPER_000, PAPER_001, PAPER_002, PAPER_003, PAPER_004)
EVERYTHING = "all"
FIGURES: dict[str, Figure] = {figure.key: figure for paper in PAPERS for figure in paper.figures}


def find_figure(key: str) -> Figure:
    """Return a figure by its key; the letter of a panel may follow (000-fig5a)."""
    whole = key if key in FIGURES else key.rstrip("abcd")
    if whole in FIGURES:
        return FIGURES[whole]
    near = difflib.get_close_matches(key, FIGURES, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise InputError(
        "no such figure", value=key, remedy=f"{meant}`liftlock papers list` names them all"
    )


def find_figures(names: Iterable[str]) -> list[Figure]:
    """Return the figures of some names: keys, papers (002), or `all`; each once, in order."""
    wanted: set[str] = set()
    papers = {paper.key: paper for paper in PAPERS}
    for name in names:
        if name == EVERYTHING:
            wanted |= set(FIGURES)
        elif name in papers:
            wanted |= {figure.key for figure in papers[name].figures}
        else:
            wanted.add(find_figure(name).key)
    return [figure for key, figure in FIGURES.items() if key in wanted]
