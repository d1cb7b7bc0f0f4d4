"""The figures of paper 001, and what the paper says about them."""

from __future__ import annotations

from liftlock_papers.figure import Figure
from liftlock_papers.paper_001.domain_figures import FIGURE_6, FIGURE_7
from liftlock_papers.paper_001.people_figures import FIGURE_8, FIGURE_9A, FIGURE_9B
from liftlock_papers.paper_001.survey_figures import FIGURE_2, FIGURE_5

FIGURES: tuple[Figure, ...] = (
    FIGURE_2,
    FIGURE_5,
    FIGURE_6,
    FIGURE_7,
    FIGURE_8,
    FIGURE_9A,
    FIGURE_9B,
)
