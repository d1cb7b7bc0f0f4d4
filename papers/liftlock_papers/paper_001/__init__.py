"""Paper 001: Context-Aware Data Aggregation with Localized Information Privacy."""

from liftlock_papers.figure import Paper
from liftlock_papers.paper_001.figures import FIGURES

PAPER = Paper("001", "Context-Aware Data Aggregation with Localized Information Privacy", FIGURES)
