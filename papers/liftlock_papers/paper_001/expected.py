"""Numbers that the text of paper 001 states about its data."""

from __future__ import annotations

from liftlock_papers.figure import Stated
from liftlock_papers.paper_001.clicks import PAGES

CLICKS = (Stated("c", PAGES, 1, 41_270, 0.5, "section V-B", "the number of pages of Kosarak"),)
