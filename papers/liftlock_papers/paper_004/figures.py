"""The figures of paper 004, and what the paper says about them."""

from __future__ import annotations

from liftlock_papers.figure import Figure
from liftlock_papers.paper_004.chain_figure import CHAINS
from liftlock_papers.paper_004.cost_figure import COSTS
from liftlock_papers.paper_004.table_figure import TABLE

FIGURES: tuple[Figure, ...] = (COSTS, CHAINS, TABLE)
