"""The figures of paper 000 on relations between notions, composition and transfer, and what the paper says about them."""

from __future__ import annotations

from liftlock_papers.figure import Figure

THEORY_FIGURES: tuple[Figure, ...] = ()
