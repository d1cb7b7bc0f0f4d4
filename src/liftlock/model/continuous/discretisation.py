"""The arithmetic of cutting: where edges fall, and what mass, mean and variance a bin holds."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.model.continuous.distribution import Distribution

if TYPE_CHECKING:
    import numpy.typing as npt

_NODES = 16
_PANELS = np.concatenate([10.0 ** np.arange(-12, -2), np.arange(1, 64) / 64])
"""Shares of the mass at which integrals are split, so that no peak falls between two nodes."""


def quantile_edges(values: Floats, lower: float, upper: float, bins: int) -> Floats:
    """Return edges that cut sorted values into parts of nearly the same size.

    An edge is the shortest decimal number above the lower neighbour and at most the upper one, so
    it tells as little of either as can be; it may still happen to be the upper one's value.
    """
    clipped = np.clip(values, lower, upper)
    starts = _bin_starts(np.unique(clipped, return_counts=True)[1], bins)
    inner = [shortest_between(float(clipped[i - 1]), float(clipped[i])) for i in starts]
    if inner and inner[-1] >= upper:
        # Mass that sits at the upper end keeps a bin of its own, which must have a width.
        inner[-1] = _shorten_inside(float(clipped[starts[-1] - 1]), upper)
    return np.array(inner)


def _bin_starts(runs: npt.NDArray[np.int64], bins: int) -> npt.NDArray[np.int64]:
    """Return where bins begin, the first one left out, for runs of equal values in order.

    Equal values stay together. A value that takes the room of a bin or more is a bin by itself,
    and what is left is shared out among the other bins.
    """
    heavy = np.zeros(len(runs), dtype=bool)
    while True:
        left = bins - int(heavy.sum())
        more = ~heavy & (runs * left >= runs[~heavy].sum()) if left > 1 else heavy & ~heavy
        if not more.any():
            break
        heavy |= more
    ends = np.cumsum(runs)
    # A stretch of light values between two heavy ones is cut by itself.
    stretch = np.cumsum(heavy)
    sizes = np.zeros(int(stretch[-1]) + 1)
    np.add.at(sizes, stretch[~heavy], runs[~heavy])
    parts = _apportion(sizes, max(bins - int(heavy.sum()), 0))
    begins = [ends[heavy] - runs[heavy], ends[heavy]]
    for which in np.flatnonzero(sizes):
        members = np.flatnonzero(~heavy & (stretch == which))
        first = ends[members[0]] - runs[members[0]]
        wanted = first + np.arange(1, parts[which]) * sizes[which] / max(parts[which], 1)
        # The beginning of the run that is nearest to where a cut is wanted.
        possible = ends[members[:-1]]
        if len(possible) and len(wanted):
            place = np.clip(np.searchsorted(possible, wanted), 1, len(possible)) - 1
            after = np.minimum(place + 1, len(possible) - 1)
            nearer = np.abs(possible[after] - wanted) < np.abs(possible[place] - wanted)
            begins.append(possible[np.where(nearer, after, place)])
    found = np.unique(np.concatenate(begins))
    found = found[(found > 0) & (found < ends[-1])]
    while len(found) >= bins:
        # Short stretches between heavy values asked for too many: join the two smallest bins.
        bounds = np.concatenate([[0], found, [ends[-1]]])
        found = np.delete(found, np.argmin(bounds[2:] - bounds[:-2]))
    return found


def _apportion(sizes: Floats, bins: int) -> npt.NDArray[np.int64]:
    """Share bins out in proportion to sizes, at least one for each that is not empty."""
    fair = bins * sizes / max(float(sizes.sum()), 1.0)
    parts: npt.NDArray[np.int64] = np.maximum(np.floor(fair), sizes > 0).astype(np.int64)
    for place in np.argsort(parts - fair, kind="stable"):
        if parts.sum() >= bins:
            break
        parts[place] += sizes[place] > 0
    return parts


def _shorten_inside(left: float, right: float) -> float:
    """Return a short number strictly between two numbers; the upper one if there is none."""
    middle = left + 0.5 * (right - left)
    if not left < middle < right:
        return right
    return shortest_between(left, middle)


def shortest_between(left: float, right: float) -> float:
    """Return the number with the fewest digits that is above `left` and at most `right`.

    >>> shortest_between(52341.27, 52350.11), shortest_between(0.123, 0.124)
    (52350.0, 0.124)
    """
    low, high = Decimal(repr(left)), Decimal(repr(right))
    exponent = (high - low).adjusted() + 1
    while True:
        step = Decimal(1).scaleb(exponent)
        found = (high / step).to_integral_value(rounding="ROUND_FLOOR") * step
        if found > low:
            near = float(found)
            return near if near > left else right
        exponent -= 1


def count_bins(values: Floats, edges: Floats) -> tuple[tuple[int, ...], Floats, Floats, Floats]:
    """Return the counts, means and variances of values in bins, and the edges of occupied ones."""
    clipped = np.clip(values, edges[0], edges[-1])
    codes = np.searchsorted(edges[1:-1], clipped, side="right")
    counts = np.bincount(codes, minlength=len(edges) - 1)
    if (counts == 0).any():
        edges, counts = merge_empty_bins(counts, edges)
        codes = np.searchsorted(edges[1:-1], clipped, side="right")
    sums = np.bincount(codes, weights=clipped - edges[codes], minlength=len(counts))
    means = edges[:-1] + sums / counts
    squares = np.bincount(codes, weights=(clipped - means[codes]) ** 2, minlength=len(counts))
    return tuple(int(count) for count in counts), means, squares / counts, edges


def merge_empty_bins(
    counts: npt.NDArray[np.int64], edges: Floats
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Join each empty bin with the occupied one before it; those at the start with the first."""
    used = np.flatnonzero(counts)
    starts = edges[used].copy()
    starts[0] = edges[0]
    return np.append(starts, edges[-1]), counts[used]


def masses_between(distribution: Distribution, edges: Floats) -> Floats:
    """Return the mass between neighbouring edges, from the side that loses fewer digits."""
    below, above = distribution.below(edges), distribution.above(edges)
    rising, falling = np.diff(below), -np.diff(above)
    masses: Floats = np.clip(np.where(above[1:] < 0.5, falling, rising), 0.0, None)
    return masses


def moments(distribution: Distribution, edges: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Return the mean and variance of the clamped X inside each bin.

    With a the lower end, E (X - a) = integral of P(x < X < b), and E (X - a)^2 has 2 (x - a) in it.
    """
    parts = _split(distribution, edges)
    first_part = np.searchsorted(parts, edges[:-1])
    bin_index = np.searchsorted(edges, parts[:-1], side="right") - 1
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    left, step = edges[:-1][bin_index], np.diff(parts)
    inside = parts[:-1, None] + 0.5 * step[:, None] * (nodes + 1.0)
    flat = inside.ravel()
    under, over = (
        distribution.below(flat).reshape(inside.shape),
        distribution.above(flat).reshape(inside.shape),
    )
    tops = edges[1:]
    top_under, top_over = (
        distribution.below(tops)[bin_index, None],
        distribution.above(tops)[bin_index, None],
    )
    beyond = np.clip(np.where(top_over < 0.5, over - top_over, top_under - under), 0.0, None)
    # What is above the domain sits at its upper end.
    beyond[bin_index == len(edges) - 2] += float(distribution.above(edges[-1]))
    scaled = 0.5 * step[:, None] * weights
    first = np.add.reduceat((beyond * scaled).sum(axis=1), first_part) / masses
    second = (2.0 * (inside - left[:, None]) * beyond * scaled).sum(axis=1)
    second = np.add.reduceat(second, first_part) / masses
    width = np.diff(edges)
    first = np.clip(first, 0.0, width)
    return edges[:-1] + first, np.clip(second - first**2, 0.0, width**2 / 4)


def _split(distribution: Distribution, edges: Floats) -> Floats:
    """Return the edges, and between them the places where a distribution is steep or has a kink."""
    extra = [
        distribution.quantile(_PANELS),
        distribution.quantile(1.0 - _PANELS),
        np.array(distribution.kinks),
    ]
    found = np.concatenate([edges, *extra])
    return np.unique(found[(found >= edges[0]) & (found <= edges[-1])])
