"""Compiled loops that add up what reports say of users who have a prior each.

All sums are of integers that float64 holds exactly, at most 1024 users at a time, so that the
loops over symbols run several at once and yet no order of users or batches changes a bit. Squares
and variances are rounded to multiples of 2^-42, each by itself, and added as integers too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.compiled import compiled
from liftlock.sampling.safe_kernels import keep

_POINTS = 1 << 32
_CIRCLE = float(_POINTS)
_FINE = 2.0**42
_THIRD = 11
_THIRD_MASK = (1 << _THIRD) - 1

ARC_ROWS = 5
"""Points of the prior, points inside the window, points raised by one, squares, variances."""
SAFE_ROWS = 7
"""Points of the prior, three sums of products, points kept, squares, variances. For both methods
one more row has the largest of min(p, 2^32 - p) or of T of any user."""


@compiled()
def arc_sums(
    counts: npt.NDArray[np.int64],
    reports: npt.NDArray[np.uint32],
    low: float,
    high: float,
    width: float,
    extra: float,
    totals: npt.NDArray[np.int64],
) -> None:
    """Add up posteriors of the arc mechanism, by how much of each arc the window covers.

    A posterior is (low length + (high - low) covered + raised) / 2^62. Its variance over the
    reports is ((high - low) / 2^30)^2 times that of the covered share of the circle, which for an
    arc and a window of lengths l, w <= 1/2 with a = min(l, w), b = max(l, w) is a^2 b (1 - b) -
    a^3 / 3; a longer one may be replaced by its complement.
    """
    symbols = counts.shape[1]
    sums = np.zeros((ARC_ROWS, symbols))
    edges = np.empty(symbols + 1)
    inside = np.empty(symbols + 1)
    raised = np.empty(symbols + 1)
    largest = np.zeros(symbols)
    rise = high - low
    # So that the square of a posterior is in units of 2^-42.
    unit = 2.0 ** (21 - 62)
    factor = (rise * 2.0**-30) ** 2 * _FINE
    share = min(width, _CIRCLE - width) / _CIRCLE
    for user in range(counts.shape[0]):
        place = np.int64(_POINTS) - np.int64(reports[user])
        edges[0] = float(place)
        for symbol in range(symbols):
            place += counts[user, symbol]
            edges[symbol + 1] = float(place)
        for edge in range(symbols + 1):
            once = edges[edge]
            twice = once - _CIRCLE
            twice = twice if twice > 0.0 else 0.0
            inside[edge] = (once if once < width else width) + (twice if twice < width else width)
            raised[edge] = (once if once < extra else extra) + (twice if twice < extra else extra)
        for symbol in range(symbols):
            length = edges[symbol + 1] - edges[symbol]
            covered = inside[symbol + 1] - inside[symbol]
            more = raised[symbol + 1] - raised[symbol]
            posterior = (low * length + rise * covered + more) * unit
            sums[0, symbol] += length
            sums[1, symbol] += covered
            sums[2, symbol] += more
            sums[3, symbol] += np.floor(posterior * posterior + 0.5)
        for symbol in range(symbols):
            part = (edges[symbol + 1] - edges[symbol]) * (1.0 / _CIRCLE)
            part = part if part < 0.5 else 1.0 - part
            largest[symbol] = part if part > largest[symbol] else largest[symbol]
            small = part if part < share else share
            large = part if part > share else share
            variance = small * small * (large - large * large - small * (1.0 / 3.0))
            sums[4, symbol] += np.floor(factor * variance + 0.5)
    for symbol in range(symbols):
        for row in range(ARC_ROWS):
            totals[row, symbol] += np.int64(sums[row, symbol])
        totals[ARC_ROWS, symbol] = max(
            totals[ARC_ROWS, symbol], np.int64(largest[symbol] * _CIRCLE)
        )


@compiled()
def safe_sums(
    counts: npt.NDArray[np.int64],
    reports: npt.NDArray[np.int64],
    most: int,
    gain: np.uint64,
    enough: int,
    totals: npt.NDArray[np.int64],
) -> int:
    """Add up posteriors of the safe response; return the first impossible report, or -1.

    A posterior is ((2^32 - T) p(x) + T 2^32 [x = y]) / 2^64, the product added up in three parts of
    11 bits of 2^32 - T. Its variance over the reports is t^2 P(x) (1 - P(x)), with t = T / 2^32.
    """
    symbols = counts.shape[1]
    sums = np.zeros((SAFE_ROWS, symbols))
    lengths = np.empty(symbols)
    largest = np.int64(0)
    for user in range(counts.shape[0]):
        report = reports[user]
        if counts[user, report] <= 0:
            return user
        own = keep(counts[user], most, gain, enough)
        largest = max(largest, own)
        rest = _POINTS - own
        first = float(rest & _THIRD_MASK)
        second = float((rest >> _THIRD) & _THIRD_MASK)
        third = float(rest >> (2 * _THIRD))
        unit = float(rest) * 2.0 ** (21 - 64)
        kept = float(own) / _CIRCLE
        factor = kept * kept * _FINE
        for symbol in range(symbols):
            lengths[symbol] = float(counts[user, symbol])
        for symbol in range(symbols):
            length = lengths[symbol]
            sums[0, symbol] += length
            sums[1, symbol] += first * length
            sums[2, symbol] += second * length
            sums[3, symbol] += third * length
        for symbol in range(symbols):
            posterior = lengths[symbol] * unit
            sums[5, symbol] += np.floor(posterior * posterior + 0.5)
            part = lengths[symbol] * (1.0 / _CIRCLE)
            sums[6, symbol] += np.floor(factor * (part * (1.0 - part)) + 0.5)
        sums[4, report] += float(own)
        posterior = lengths[report] * unit
        sums[5, report] -= np.floor(posterior * posterior + 0.5)
        posterior += kept * 2.0**21
        sums[5, report] += np.floor(posterior * posterior + 0.5)
    for symbol in range(symbols):
        for row in range(SAFE_ROWS):
            totals[row, symbol] += np.int64(sums[row, symbol])
        totals[SAFE_ROWS, symbol] = max(totals[SAFE_ROWS, symbol], largest)
    return -1


@compiled()
def moments(
    posteriors: npt.NDArray[np.float64],
    columns: npt.NDArray[np.float64],
    means: npt.NDArray[np.float64],
    variances: npt.NDArray[np.float64],
) -> None:
    """Fill in mean and variance of each column under each user's posterior, user by user.

    A product of matrices would round differently for users in another batch.
    """
    for user in range(posteriors.shape[0]):
        for answer in range(columns.shape[0]):
            mean = 0.0
            for symbol in range(columns.shape[1]):
                mean += posteriors[user, symbol] * columns[answer, symbol]
            variance = 0.0
            for symbol in range(columns.shape[1]):
                apart = columns[answer, symbol] - mean
                variance += posteriors[user, symbol] * (apart * apart)
            means[user, answer] = mean
            variances[user, answer] = variance


@compiled()
def window_variances(
    counts: npt.NDArray[np.int64],
    width: int,
    column: npt.NDArray[np.float64],
    found: npt.NDArray[np.float64],
) -> None:
    """Fill in the variance, over a uniform start, of the integral of a column over the window.

    The column is centred first, so that the integral has mean 0. It is linear between the starts
    where one end of the window meets an edge, and its square is integrated piece by piece.
    """
    symbols = counts.shape[1]
    edges = np.zeros(symbols + 1, dtype=np.int64)
    values = np.empty(symbols)
    for user in range(counts.shape[0]):
        mean = 0.0
        for symbol in range(symbols):
            edges[symbol + 1] = edges[symbol] + counts[user, symbol]
            mean += float(counts[user, symbol]) / _CIRCLE * column[symbol]
        for symbol in range(symbols):
            values[symbol] = column[symbol] - mean
        back, front = 0, 0
        level = 0.0
        while edges[front + 1] <= width:
            level += values[front] * float(counts[user, front]) / _CIRCLE
            front += 1
        level += values[front] * float(width - edges[front]) / _CIRCLE
        start, turn = np.int64(0), np.int64(0)
        total = 0.0
        while start < _POINTS:
            step = min(edges[back + 1] - start, edges[front + 1] + turn - start - width)
            length = float(step) / _CIRCLE
            after = level + (values[front] - values[back]) * length
            total += length * (level * level + level * after + after * after) / 3.0
            level = after
            start += step
            if start == edges[back + 1]:
                back += 1
            if start + width == edges[front + 1] + turn:
                front += 1
                if front == symbols:
                    front = 0
                    turn = np.int64(_POINTS)
        found[user] = total
