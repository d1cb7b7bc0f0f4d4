"""The figures of paper 000 on mechanisms for numbers: sampling, Gaussian and Laplace noise."""

from __future__ import annotations

from liftlock_papers.figure import Figure
from liftlock_papers.paper_000.gaussian_figures import FIG8, FIG9
from liftlock_papers.paper_000.laplace_figures import FIG10
from liftlock_papers.paper_000.sampling_figures import FIG7

MECHANISM_FIGURES: tuple[Figure, ...] = (FIG7, FIG8, FIG9, FIG10)
