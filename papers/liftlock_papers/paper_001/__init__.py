"""Paper 001: Context-Aware Data Aggregation with Localized Information Privacy."""

from liftlock_papers.figure import Paper
from liftlock_papers.paper_001.figures import FIGURES
from liftlock_papers.paper_001.statements import STATEMENTS

PAPER = Paper(
    "001", "Context-Aware Data Aggregation with Localized Information Privacy", FIGURES, STATEMENTS
)
