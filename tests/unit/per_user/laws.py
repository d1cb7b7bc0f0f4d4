"""The laws of users on Python's integers, as `liftlock.forms.user_laws` writes them down."""

from __future__ import annotations

from collections.abc import Sequence

from liftlock.forms.user_laws import ArcLaw, SafeLaw


def arc_weight(law: ArcLaw, distance: int) -> int:
    """Return f for a start so many points before T, around the circle."""
    before = distance % law.points
    if before >= law.width:
        return law.low
    return law.high + (before < law.extra)


def safe_weights(law: SafeLaw, counts: Sequence[int], x: int) -> list[int]:
    """Return P(y | x) times 2^(2 bits) for each y."""
    keep = law.keep(min(count for count in counts if count))
    drawn = [(law.points - keep) * count for count in counts]
    drawn[x] += keep * law.points
    return drawn


def keep_in_set(
    law: SafeLaw, counts: Sequence[int], lowest: Sequence[int], highest: Sequence[int]
) -> int:
    """Return T for a user who draws from `counts` and whose prior is between two rows."""
    keep = law.most
    for p, a, b in zip(counts, lowest, highest, strict=True):
        if not keep or a == law.points or not b:
            continue
        keep = min(keep, law.most * p * law.points // (law.floor * b + law.most * p))
        above = law.points * (law.points - a) - law.gain * (a - p)
        if above > 0:
            keep = min(keep, law.gain * law.points * p // above)
    return keep
