"""Paper 004: Profile-Based Privacy for Locally Private Computations."""

from liftlock_papers.figure import Paper
from liftlock_papers.paper_004.figures import FIGURES

PAPER = Paper("004", "Profile-Based Privacy for Locally Private Computations", FIGURES)
