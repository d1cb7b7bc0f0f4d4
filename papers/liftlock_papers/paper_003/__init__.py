"""Paper 003: Context-Aware Laplacian Mechanism for Local Information Privacy."""

from liftlock_papers.figure import Paper
from liftlock_papers.paper_003.figures import FIGURES

PAPER = Paper("003", "Context-Aware Laplacian Mechanism for Local Information Privacy", FIGURES)
