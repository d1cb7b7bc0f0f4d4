"""The figures of paper 000 on relations, composition and transfer."""

from __future__ import annotations

from liftlock_papers.figure import Figure
from liftlock_papers.paper_000.composition_figures import FIG5
from liftlock_papers.paper_000.relation_figures import RELATION_FIGURES
from liftlock_papers.paper_000.transfer_figures import FIG6

THEORY_FIGURES: tuple[Figure, ...] = (*RELATION_FIGURES, FIG5, FIG6)
