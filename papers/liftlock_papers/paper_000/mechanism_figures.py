"""The figures of paper 000 on mechanisms for continuous data, and what the paper says about them."""

from __future__ import annotations

from liftlock_papers.figure import Figure

MECHANISM_FIGURES: tuple[Figure, ...] = ()
