"""The figures of paper 000."""

from __future__ import annotations

from liftlock_papers.figure import Figure
from liftlock_papers.paper_000.data_figures import DATA_FIGURES
from liftlock_papers.paper_000.mechanism_figures import MECHANISM_FIGURES
from liftlock_papers.paper_000.theory_figures import THEORY_FIGURES

FIGURES: tuple[Figure, ...] = (*THEORY_FIGURES, *MECHANISM_FIGURES, *DATA_FIGURES)
