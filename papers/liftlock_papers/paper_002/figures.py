"""The figures of paper 002, and what the paper says about them."""

from __future__ import annotations

from liftlock_papers.figure import Figure
from liftlock_papers.paper_002.merging_figures import (
    FIGURE_6,
    FIGURE_7,
    FIGURE_11,
    FIGURE_12,
    FIGURE_13,
)
from liftlock_papers.paper_002.response_figures import (
    FIGURE_4,
    FIGURE_5,
    FIGURE_8,
    FIGURE_9,
    FIGURE_10,
)
from liftlock_papers.paper_002.watchdog_figures import FIGURE_1, FIGURE_2, FIGURE_3

FIGURES: tuple[Figure, ...] = (
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FIGURE_6,
    FIGURE_7,
    FIGURE_8,
    FIGURE_9,
    FIGURE_10,
    FIGURE_11,
    FIGURE_12,
    FIGURE_13,
)
