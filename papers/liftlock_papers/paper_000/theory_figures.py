"""The figures of paper 000 on what LIP implies, its composition and transfer."""

from __future__ import annotations

from liftlock_papers.figure import Figure

THEORY_FIGURES: tuple[Figure, ...] = ()
