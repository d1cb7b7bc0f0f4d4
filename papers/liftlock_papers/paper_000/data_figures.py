"""The figures of paper 000 on real data, and what the paper says about them."""

from __future__ import annotations

from liftlock_papers.figure import Figure

DATA_FIGURES: tuple[Figure, ...] = ()
