"""The figures of paper 000."""

from __future__ import annotations

from liftlock_papers.figure import Figure
from liftlock_papers.paper_000.composition_figures import FIG5
from liftlock_papers.paper_000.gaussian_figures import FIG8, FIG9
from liftlock_papers.paper_000.laplace_figures import FIG10
from liftlock_papers.paper_000.relation_figures import RELATION_FIGURES
from liftlock_papers.paper_000.salary_figure import SALARIES
from liftlock_papers.paper_000.sampling_figures import FIG7
from liftlock_papers.paper_000.student_figure import STUDENTS
from liftlock_papers.paper_000.transfer_figures import FIG6

FIGURES: tuple[Figure, ...] = (
    *RELATION_FIGURES,
    FIG5,
    FIG6,
    FIG7,
    FIG8,
    FIG9,
    FIG10,
    STUDENTS,
    SALARIES,
)
