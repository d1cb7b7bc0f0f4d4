"""All panels of Fig. 2: flipping probabilities of couplets, and costs of categories."""

from __future__ import annotations

from collections.abc import Iterator

from liftlock_papers.paper_004.categories import categories
from liftlock_papers.paper_004.couplets import couplets
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting


def compute(setting: Setting) -> Iterator[Point]:
    """Compute every panel."""
    yield from couplets(setting)
    yield from categories(setting)
