"""The figures of paper 001, and what the paper says about them."""

from __future__ import annotations

from liftlock_papers.figure import Figure

FIGURES: tuple[Figure, ...] = ()
