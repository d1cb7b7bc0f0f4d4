"""Compiled loops for users who have a prior each; imported only when there are any.

`user_blocks` says how priors become integers, `user_distributions` what the two distributions are,
and `liftlock.sampling.per_user` how they are drawn from.

All sums are of integers that float64 holds exactly, at most 1024 users at a time, so that the
loops over symbols run several at once and yet no order of users or batches changes a bit. Squares
and variances are rounded to multiples of 2^-42, each by itself, and added as integers too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.compiled import compiled

_POINTS = 1 << 32
_CIRCLE = float(_POINTS)
_MASK = np.uint64(_POINTS - 1)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_PLACE_BITS = 15
_PLACES = (1 << _PLACE_BITS) - 1
_FINE = 2.0**42
_SINGULAR = 1e-9
"""A pivot that is a smaller part of its own entry is mostly rounding."""
_THIRD = 11
_THIRD_MASK = (1 << _THIRD) - 1

ARC_ROWS = 5
"""Points of the prior, points inside the window, points raised by one, squares, variances."""
SAFE_ROWS = 7
"""Points of the prior, three sums of products, points kept, squares, variances. For both methods
one more row has the largest of min(p, 2^32 - p) or of T of any user."""

# --- priors as integers -------------------------------------------------------------------------


@compiled()
def round_masses(
    rows: npt.NDArray[np.float64], tolerance: float, counts: npt.NDArray[np.int64]
) -> int:
    """Round each row to integers that sum to 2^32; return the first row that cannot be, or -1."""
    symbols = rows.shape[1]
    for user in range(rows.shape[0]):
        total = 0.0
        least = 0.0
        for symbol in range(symbols):
            total += rows[user, symbol]
            least = min(least, rows[user, symbol])
        # NaN and infinity show in the sum.
        if not (least >= 0.0 and 0.0 < total < np.inf and abs(total - 1.0) <= tolerance):
            return user
        scale = _POINTS / total
        left = np.int64(_POINTS)
        best = np.int64(-1)
        for symbol in range(symbols):
            mass = rows[user, symbol]
            count = max(np.int64(mass * scale), np.int64(mass > 0.0))
            counts[user, symbol] = count
            left -= count
            # The first of the largest, without a branch that cannot be foreseen.
            best = max(best, (count << _PLACE_BITS) | (_PLACES - symbol))
        counts[user, _PLACES - (best & _PLACES)] += left
    return -1


# --- how often a value is kept -------------------------------------------------------------------


@compiled()
def keep_limits_of_priors(
    counts: npt.NDArray[np.int64],
    most: int,
    gain: np.uint64,
    enough: int,
    found: npt.NDArray[np.int64],
) -> None:
    """Fill in T of users with one prior each: see `SafeDistribution.keep`."""
    for user in range(counts.shape[0]):
        least = np.int64(_POINTS)
        for symbol in range(counts.shape[1]):
            # Counts of 0 become the largest of all numbers, and so never the least.
            least = min(least, np.int64((np.uint64(counts[user, symbol]) - _ONE) & _MASK) + 1)
        if least >= enough:
            found[user] = most
        else:
            found[user] = np.int64((gain * np.uint64(least)) // np.uint64(_POINTS - least))


@compiled()
def keep_limits_of_sets(
    counts: npt.NDArray[np.int64],
    lowest: npt.NDArray[np.int64],
    highest: npt.NDArray[np.int64],
    most: int,
    gain: np.uint64,
    found: npt.NDArray[np.int64],
) -> None:
    """Fill in T of users with a set of priors each; see `user_distributions`.

    Floats say where the limit of a symbol is, to less than one; integers decide.
    """
    circle = float(_POINTS)
    for user in range(counts.shape[0]):
        keep = np.int64(most)
        for symbol in range(counts.shape[1]):
            p, a, b = counts[user, symbol], lowest[user, symbol], highest[user, symbol]
            # Nothing is to be protected where a value is certain, or where it cannot be.
            if keep == 0 or a == _POINTS or b == 0 or _allows(keep, p, a, b, most, gain):
                continue
            room = float(p) * float(most)
            near = circle * room / (room + float(b) * (circle - float(most)))
            above = circle * (circle - float(a)) - float(gain) * (float(a) - float(p))
            if above > 0.0:
                near = min(near, float(gain) * circle * float(p) / above)
            keep = min(keep, np.int64(near) + 2)
            while keep > 0 and not _allows(keep, p, a, b, most, gain):
                keep -= 1
        found[user] = keep


@compiled()
def _allows(keep: int, p: int, a: int, b: int, most: int, gain: np.uint64) -> bool:
    """Tell whether both limits of the lift hold at a symbol of p points, in a set a to b points.

    F T b <= (2^32 - F) (2^32 - T) p and 2^32 T (2^32 - a) <= G ((2^32 - T) p + T a), exactly.
    """
    points = np.uint64(_POINTS)
    kept = np.uint64(keep)
    drawn = points - kept
    if not _at_most(
        (points - np.uint64(most)) * np.uint64(b), kept, np.uint64(most) * np.uint64(p), drawn
    ):
        return False
    return bool(
        _at_most(
            kept * (points - np.uint64(a)), points, drawn * np.uint64(p) + kept * np.uint64(a), gain
        )
    )


@compiled()
def _at_most(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> bool:
    """Tell whether a b <= c d, for products of 128 bits."""
    left, below = _product(a, b)
    right, beneath = _product(c, d)
    return bool(left < right or (left == right and below <= beneath))


@compiled()
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the upper and the lower half of a product of 128 bits, multiplied in halves."""
    a_high, a_low, b_high, b_low = a >> _HALF, a & _MASK, b >> _HALF, b & _MASK
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF)
    other = a_low * b_high + (middle & _MASK)
    high = a_high * b_high + (middle >> _HALF) + (other >> _HALF)
    return high, (other << _HALF) | (low & _MASK)


# --- reports ------------------------------------------------------------------------------------


@compiled()
def draw_windows(
    counts: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    pending: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    low: int,
    high: int,
    width: int,
    extra: int,
    reports: npt.NDArray[np.uint32],
) -> int:
    """Draw for the pending users; return how many are settled, the others moved to the front.

    A negative result -k says that the value of user k - 1 has no points.
    """
    inside = np.uint64(width) * np.uint64(high) + np.uint64(extra)
    taller = np.uint64(extra) * np.uint64(high + 1)
    waiting = 0
    for place in range(len(pending)):
        user = pending[place]
        code = codes[user]
        length = counts[user, code]
        if length <= 0:
            return int(-user - 1)
        start = np.int64(0)
        for symbol in range(code):
            start += counts[user, symbol]
        n = np.uint64(length)
        inner, rest = _product(words[2 * place], n)
        if rest < n and rest < (~n + np.uint64(1)) % n:
            pending[waiting] = user
            waiting += 1
            continue
        point = np.uint64(start) + inner
        unit = words[2 * place + 1] >> np.uint64(2)
        if unit < taller:
            point -= unit // np.uint64(high + 1)
        elif unit < inside:
            point -= np.uint64(extra) + (unit - taller) // np.uint64(high)
        else:
            point += np.uint64(1) + (unit - inside) // np.uint64(low)
        reports[user] = np.uint32(point & _MASK)
    return int(len(pending) - waiting)


@compiled()
def draw_kept(
    counts: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    keeps: npt.NDArray[np.int64],
    reports: npt.NDArray[np.int64],
) -> int:
    """Draw a report for each user; return the first whose value has probability 0, or -1."""
    for user in range(counts.shape[0]):
        if counts[user, codes[user]] <= 0:
            return user
        word = words[user]
        if np.int64(word >> _HALF) < keeps[user]:
            reports[user] = codes[user]
            continue
        point = np.int64(word & _MASK)
        symbol = 0
        while point >= counts[user, symbol]:
            point -= counts[user, symbol]
            symbol += 1
        reports[user] = symbol
    return -1


# --- what reports say ---------------------------------------------------------------------------


@compiled()
def arc_sums(
    counts: npt.NDArray[np.int64],
    reports: npt.NDArray[np.uint32],
    low: float,
    high: float,
    width: float,
    extra: float,
    found: npt.NDArray[np.float64],
    totals: npt.NDArray[np.int64],
) -> None:
    """Fill in P(x | u) of the arc mechanism and add it up, by how much of each arc is covered.

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
            found[user, symbol] = posterior * 2.0**-21
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
    keeps: npt.NDArray[np.int64],
    found: npt.NDArray[np.float64],
    totals: npt.NDArray[np.int64],
) -> int:
    """Fill in P(x | y) of the safe response and add it up; return the first impossible report.

    If all are possible, -1 is returned.

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
        own = keeps[user]
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
            found[user, symbol] = posterior * 2.0**-21
            sums[5, symbol] += np.floor(posterior * posterior + 0.5)
            part = lengths[symbol] * (1.0 / _CIRCLE)
            sums[6, symbol] += np.floor(factor * (part * (1.0 - part)) + 0.5)
        sums[4, report] += float(own)
        posterior = lengths[report] * unit
        sums[5, report] -= np.floor(posterior * posterior + 0.5)
        posterior += kept * 2.0**21
        found[user, report] = posterior * 2.0**-21
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


# --- scores without a prior -----------------------------------------------------------------------


@compiled()
def safe_scores(
    counts: npt.NDArray[np.int64],
    reports: npt.NDArray[np.int64],
    keeps: npt.NDArray[np.int64],
    scores: npt.NDArray[np.float64],
    reaches: npt.NDArray[np.float64],
) -> None:
    """Fill in ([x = y] - (1 - t) P(x)) / t, right on average whatever the user has; at most 1 / t.

    A user who keeps nothing has no such scores: they are 0, and the reach is infinite.
    """
    for user in range(counts.shape[0]):
        kept = float(keeps[user]) / _CIRCLE
        if keeps[user] == 0:
            scores[user] = 0.0
            reaches[user] = np.inf
            continue
        for symbol in range(counts.shape[1]):
            drawn = (1.0 - kept) * (float(counts[user, symbol]) / _CIRCLE)
            seen = 1.0 if symbol == reports[user] else 0.0
            scores[user, symbol] = (seen - drawn) / kept
        reaches[user] = 1.0 / kept


@compiled()
def arc_scores(
    counts: npt.NDArray[np.int64],
    posteriors: npt.NDArray[np.float64],
    low: float,
    rise: float,
    width: float,
    columns: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float64],
    squares: npt.NDArray[np.float64],
    reaches: npt.NDArray[np.float64],
) -> None:
    """Fill in G^-1 l(u), with the lifts l(u) of a report and G = E l l^T over uniform starts.

    E[l(U) | x] is the column G[., x], so that the mean score of somebody with x is 1 for x and 0
    for all other symbols, whatever the prior. `squares` has E (f . score)^2 = f . G^-1 f for each
    column f (without any, for each symbol), and `reaches` the largest score of any symbol at any
    start. Lifts are linear between the starts where an end of the window meets an edge. Users whose
    symbols look alike have scores of 0 and an infinite reach. `low` and `rise` are the lift outside
    the window, and how much more
    it is inside.
    """
    symbols = counts.shape[1]
    places = np.empty(symbols, dtype=np.int64)
    edges = np.empty(symbols + 1)
    inside = np.empty(symbols + 1)
    turns = np.empty(2 * symbols + 1)
    lifts = np.empty((2 * symbols + 1, symbols))
    gram = np.empty((symbols, symbols))
    inverse = np.empty((symbols, symbols))
    for user in range(counts.shape[0]):
        size = 0
        edges[0] = 0.0
        for symbol in range(symbols):
            if counts[user, symbol] > 0:
                places[size] = symbol
                edges[size + 1] = edges[size] + float(counts[user, symbol])
                size += 1
        scores[user] = 0.0
        squares[user] = 0.0
        for edge in range(size):
            turns[2 * edge] = edges[edge]
            before = edges[edge] - width
            turns[2 * edge + 1] = before if before >= 0.0 else before + _CIRCLE
        turns[: 2 * size].sort()
        for turn in range(2 * size):
            for edge in range(size + 1):
                once = _CIRCLE - turns[turn] + edges[edge]
                twice = once - _CIRCLE
                twice = twice if twice > 0.0 else 0.0
                inside[edge] = min(once, width) + min(twice, width)
            for symbol in range(size):
                length = edges[symbol + 1] - edges[symbol]
                covered = inside[symbol + 1] - inside[symbol]
                lifts[turn, symbol] = low + rise * (covered / length)
        turns[2 * size] = turns[0] + _CIRCLE
        lifts[2 * size, :size] = lifts[0, :size]
        gram[:size, :size] = 0.0
        for turn in range(2 * size):
            part = (turns[turn + 1] - turns[turn]) / _CIRCLE / 6.0
            if part == 0.0:
                continue
            for i in range(size):
                first = part * (2.0 * lifts[turn, i] + lifts[turn + 1, i])
                second = part * (lifts[turn, i] + 2.0 * lifts[turn + 1, i])
                for j in range(i + 1):
                    gram[i, j] += first * lifts[turn, j] + second * lifts[turn + 1, j]
        if not _invert(gram, size, inverse):
            reaches[user] = np.inf
            continue
        largest = 0.0
        for turn in range(2 * size):
            for i in range(size):
                score = 0.0
                for j in range(size):
                    score += inverse[i, j] * lifts[turn, j]
                largest = max(largest, abs(score))
        reaches[user] = largest
        for i in range(size):
            score = 0.0
            for j in range(size):
                place = places[j]
                mass = float(counts[user, place]) / _CIRCLE
                score += inverse[i, j] * (posteriors[user, place] / mass)
            scores[user, places[i]] = score
            if not len(columns):
                squares[user, places[i]] = inverse[i, i]
        for answer in range(columns.shape[0]):
            total = 0.0
            for i in range(size):
                row = 0.0
                for j in range(size):
                    row += inverse[i, j] * columns[answer, places[j]]
                total += row * columns[answer, places[i]]
            squares[user, answer] = total


@compiled()
def _invert(gram: npt.NDArray[np.float64], size: int, inverse: npt.NDArray[np.float64]) -> bool:
    """Invert a positive definite matrix, given its lower half, which becomes L of G = L L^T.

    False if digits do not suffice to tell that it is positive definite.
    """
    for i in range(size):
        own = gram[i, i]
        for j in range(i + 1):
            entry = gram[i, j]
            for k in range(j):
                entry -= gram[i, k] * gram[j, k]
            if i > j:
                gram[i, j] = entry / gram[j, j]
            elif entry > _SINGULAR * own:
                gram[i, i] = np.sqrt(entry)
            else:
                return False
    for column in range(size):
        for i in range(size):
            entry = 1.0 if i == column else 0.0
            for k in range(column, i):
                entry -= gram[i, k] * inverse[k, column]
            inverse[i, column] = entry / gram[i, i] if i >= column else 0.0
    for i in range(size):
        for j in range(i + 1):
            entry = 0.0
            for k in range(i, size):
                entry += inverse[k, i] * inverse[k, j]
            gram[i, j] = entry
    for i in range(size):
        for j in range(i + 1):
            inverse[i, j] = inverse[j, i] = gram[i, j]
    return True
