"""Paper 002: On the Lift, Related Privacy Measures, and Privacy-Utility Trade-Offs."""

from liftlock_papers.figure import Paper
from liftlock_papers.paper_002.figures import FIGURES
from liftlock_papers.paper_002.statements import STATEMENTS

PAPER = Paper(
    "002",
    "On the Lift, Related Privacy Measures, and Applications to Privacy–Utility Trade-Offs",
    FIGURES,
    STATEMENTS,
)
