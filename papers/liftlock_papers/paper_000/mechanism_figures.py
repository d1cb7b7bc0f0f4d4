"""The figures of paper 000 on mechanisms for continuous data."""

from __future__ import annotations

from liftlock_papers.figure import Figure

MECHANISM_FIGURES: tuple[Figure, ...] = ()
