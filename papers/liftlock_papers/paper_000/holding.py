"""From whether a claim holds to its verdict."""

from __future__ import annotations

from liftlock_papers.figure import Verdict


def confirmed_if(holds: bool) -> Verdict:
    """Confirm a claim that holds, and refute any other.

    >>> confirmed_if(2 > 1).value
    'confirmed'
    """
    return Verdict.CONFIRMED if holds else Verdict.REFUTED
