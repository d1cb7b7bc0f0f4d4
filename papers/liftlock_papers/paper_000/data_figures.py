"""The figures of paper 000 on real data."""

from __future__ import annotations

from liftlock_papers.figure import Figure
from liftlock_papers.paper_000.salary_figure import SALARIES
from liftlock_papers.paper_000.student_figure import STUDENTS

DATA_FIGURES: tuple[Figure, ...] = (STUDENTS, SALARIES)
