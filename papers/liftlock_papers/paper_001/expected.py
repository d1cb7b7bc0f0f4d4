"""Numbers that the text of paper 001 states about its data."""

from __future__ import annotations

from liftlock_papers.figure import Stated

CLICKS: tuple[Stated, ...] = ()
"""41,270 pages (Fig. 9a) are of a file of which only a part is at hand."""

DISTRICTS = 83
"""Districts that occur (Fig. 9b)."""
USERS = 6_442_892
"""Users of Gowalla, by the text (Fig. 9b)."""
CHECK_INS = 6_442_892
"""Check-ins in SNAP's file, `loc-gowalla_totalCheckins.txt`, by its own account."""
