"""Numbers that the text of paper 000 states about its figures 2 to 10: none but their parameters.

What it says in words is judged where the figures are declared.
"""

from __future__ import annotations

from liftlock_papers.figure import Stated

THEORY: tuple[Stated, ...] = ()
MECHANISMS: tuple[Stated, ...] = ()
