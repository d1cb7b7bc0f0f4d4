"""The distributions of users on Python's integers, as `user_distributions` writes them down."""

from __future__ import annotations

from collections.abc import Sequence

from liftlock.model.structured.user_distributions import ArcDistribution, SafeDistribution


def arc_weight(distribution: ArcDistribution, distance: int) -> int:
    """Return f for a start so many points before T, around the circle."""
    before = distance % distribution.points
    if before >= distribution.width:
        return distribution.low
    return distribution.high + (before < distribution.extra)


def safe_weights(distribution: SafeDistribution, counts: Sequence[int], x: int) -> list[int]:
    """Return P(y | x) times 2^(2 bits) for each y."""
    keep = distribution.keep(min(count for count in counts if count))
    drawn = [(distribution.points - keep) * count for count in counts]
    drawn[x] += keep * distribution.points
    return drawn


def keep_in_set(
    distribution: SafeDistribution,
    counts: Sequence[int],
    lowest: Sequence[int],
    highest: Sequence[int],
) -> int:
    """Return T for a user who draws from `counts` and whose prior is between two rows."""
    keep = distribution.most
    for p, a, b in zip(counts, lowest, highest, strict=True):
        if not keep or a == distribution.points or not b:
            continue
        keep = min(
            keep,
            distribution.most
            * p
            * distribution.points
            // (distribution.floor * b + distribution.most * p),
        )
        above = distribution.points * (distribution.points - a) - distribution.gain * (a - p)
        if above > 0:
            keep = min(keep, distribution.gain * distribution.points * p // above)
    return keep
