"""Numbers that the text of paper 003 states about its figures: none beyond their parameters."""

from __future__ import annotations

from liftlock_papers.figure import Stated

FIG3: tuple[Stated, ...] = ()
