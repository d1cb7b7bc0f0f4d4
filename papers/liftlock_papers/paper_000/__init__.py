"""Paper 000: Context-Aware Local Information Privacy."""

from liftlock_papers.figure import Paper
from liftlock_papers.paper_000.figures import FIGURES
from liftlock_papers.paper_000.statements import STATEMENTS

PAPER = Paper("000", "Context-Aware Local Information Privacy", FIGURES, STATEMENTS)
