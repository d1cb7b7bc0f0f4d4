"""Numbers that the text of paper 001 states about its data."""

from __future__ import annotations

from liftlock_papers.figure import Stated
from liftlock_papers.paper_001.check_ins import FACTS
from liftlock_papers.paper_001.clicks import OF_HOW_MANY

CLICKS = (
    Stated("data", OF_HOW_MANY, 0, 41_270, 0.5, "section V-B", "the number of pages of Kosarak"),
)
CHECK_INS = (
    Stated(
        "data",
        FACTS[0],
        0,
        83,
        8,
        "section V-B",
        "the number of districts of Gowalla that occur (in the 1,000 users that are public)",
    ),
)
