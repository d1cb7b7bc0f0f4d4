"""Numbers that the text of paper 001 states about its figures: none that could be counted here.

41,270 pages (Fig. 9a) and 6,442,892 check-ins (Fig. 9b) are of files of which only parts are at
hand; that 83 districts occur is judged with the figure.
"""

from __future__ import annotations

from liftlock_papers.figure import Stated

CLICKS: tuple[Stated, ...] = ()
