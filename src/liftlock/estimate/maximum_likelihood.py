"""Maximum likelihood: the shares of values that make the reports most probable, with a proof.

The log-likelihood l(s) = sum_y n_y log lambda_y, lambda = s Q, is concave in the shares s. With
d_x = (1/n) sum_y n_y Q[x, y] / lambda_y, its slope towards "everybody has x" is n (d_x - 1), so

    l(best) - l(s) <= n (max_x d_x - 1):

the largest d_x proves how far any s is from the best. The iteration stops on that proof.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats

GAP = 1e-6
"""Wanted of l(best) - l(s): shares then are within 0.0015 standard errors of the best ones."""
GAP_OF_MANY = 1e-4
"""The same for many counts at once, which are there to be spread out."""
_ROUNDING = 5e-12
"""What rounding leaves of the proof for each report."""
_CYCLES = 40
"""After so many accelerated steps of EM, Newton steps go on."""
_NEWTON = 60
_WAIT = 8
"""Newton steps that prove no more: so many in a row are enough."""
_ROUNDS = 4
_CYCLES_BETWEEN = 150
_STIR = 1e-7
"""Where Newton steps get stuck: rounds of EM, its steps, and the even share that it begins with."""
_SMALL = 256
"""With more symbols, many counts at once are left to EM, and take so many of its steps."""
_CYCLES_OF_MANY = 100
_PIVOTS = 60
_PATIENCE = 5
_HALVINGS = 40
_FAINT = 1e-2
"""Symbols with less than this part of an even share begin outside; they come back if they count."""
_DAMPINGS = (1e-13, 1e-10, 1e-8, 1e-6, 1e-4)
"""What holds the step near s, as parts of the largest curvature: more where symbols look alike."""


class LikelihoodMaximum(NamedTuple):
    """Shares (..., m) near the maximum, the proved gap of the log-likelihood (...), and steps."""

    shares: Floats
    gaps: Floats
    steps: int


def maximise_likelihood(
    rows: Floats, counts: Floats, start: Floats, gap: float | None = None
) -> LikelihoodMaximum:
    """Maximise sum_y n_y log (s Q)_y over shares s, for counts (k,) or many of them (B, k).

    Steps of expectation and maximisation, s_x <- s_x d_x, extrapolated where that is likelier
    (SQUAREM), then Newton steps with the symbols that matter. The likelihood never falls. If the
    wanted gap is not reached, the gap that is returned is still proved.
    """
    numbers = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    totals = numbers.sum(axis=1)
    if (numbers < 0).any() or not (totals > 0).all():
        raise NotDefined(
            "the maximum of likelihood",
            "sums of weights that are negative or all 0",
            "ask for unbiased or bayes, which take weights of both signs",
        )
    many = len(numbers) > 1
    wanted = (GAP_OF_MANY if many else GAP) if gap is None else gap
    limits = np.maximum(wanted / totals, _ROUNDING)
    parts = numbers / totals[:, None]
    shares = np.tile(start / start.sum(), (len(parts), 1))
    polished = not many or rows.shape[0] <= _SMALL
    shares, slack, steps = _accelerate_em(
        rows, parts, shares, limits, _CYCLES if polished else _CYCLES_OF_MANY
    )
    if polished:
        # One Newton step even where EM has done: it sets shares to 0 that EM only brings near.
        for i in np.flatnonzero(slack > limits) if many else (0,):
            shares[i], slack[i], more = _polish(rows, parts[i], shares[i], limits[i])
            steps += more
    gaps = totals * np.maximum(slack, 0.0)
    return (
        LikelihoodMaximum(shares, gaps, steps)
        if np.ndim(counts) > 1
        else LikelihoodMaximum(shares[0], gaps[0], steps)
    )


def _accelerate_em(
    rows: Floats, parts: Floats, shares: Floats, limits: Floats, cycles: int
) -> tuple[Floats, Floats, int]:
    """Take extrapolated steps of EM; return shares, max d - 1 of each, and the number of steps."""
    slack = np.full(len(parts), np.inf)
    left = np.arange(len(parts))
    steps = 0
    for _ in range(cycles):
        part, old = parts[left], shares[left]
        slopes = _slopes(rows, part, old @ rows)
        slack[left] = slopes.max(axis=1) - 1.0
        going = slack[left] > limits[left]
        if not going.any():
            break
        left, part, old, slopes = left[going], part[going], old[going], slopes[going]
        once = old * slopes
        twice = once * _slopes(rows, part, once @ rows)
        first, second = once - old, twice - 2.0 * once + old
        size = np.linalg.norm(second, axis=1)
        stretch = np.maximum(np.linalg.norm(first, axis=1) / np.maximum(size, 1e-300), 1.0)
        far = np.minimum(stretch, 1e6)[:, None]
        leap = old + 2.0 * far * first + far**2 * second
        # A share of 0 would stay 0 for ever.
        leap = np.maximum(leap, 0.01 * twice)
        leap /= leap.sum(axis=1, keepdims=True)
        better = _log_likelihoods(part, leap @ rows) > _log_likelihoods(part, twice @ rows)
        shares[left] = np.where(better[:, None], leap, twice / twice.sum(axis=1, keepdims=True))
        steps += 2
    return shares, slack, steps


def _polish(rows: Floats, part: Floats, shares: Floats, limit: float) -> tuple[Floats, float, int]:
    """Take Newton steps, and between them more of EM where they get stuck."""
    shares, slack, steps = _newton_steps(rows, part, shares, limit)
    for _ in range(_ROUNDS):
        if slack <= limit:
            break
        # EM never brings back a share of 0.
        start = (1.0 - _STIR) * shares + _STIR / len(shares)
        many, _, more = _accelerate_em(
            rows, part[None], start[None], np.array([limit]), _CYCLES_BETWEEN
        )
        found, left, last = _newton_steps(rows, part, many[0], limit)
        steps += more + last
        if left < slack:
            shares, slack = found, left
    return shares, slack, steps


def _newton_steps(
    rows: Floats, part: Floats, shares: Floats, limit: float
) -> tuple[Floats, float, int]:
    """Take Newton steps on one vector of shares; return it, max d - 1, and the number of steps."""
    seen = part > 0
    rows, part = rows[:, seen], part[seen]
    slack = float((rows @ (part / (shares @ rows))).max()) - 1.0
    best, waited = slack, 0
    for step in range(_NEWTON):
        if slack <= limit and step > 0:
            return shares, slack, step
        found = newton_step(rows, part, shares)
        if found is None:
            return shares, slack, step
        left = float((rows @ (part / (found @ rows))).max()) - 1.0
        if slack <= limit < left:
            return shares, slack, step
        shares, slack = found, left
        best, waited = (slack, 0) if slack < 0.9 * best else (best, waited + 1)
        if waited >= _WAIT:
            break
    return shares, slack, _NEWTON


def _slopes(rows: Floats, parts: Floats, mixed: Floats) -> Floats:
    """Return d_x = sum_y (n_y / n) Q[x, y] / lambda_y."""
    ratios = np.divide(parts, mixed, out=np.zeros_like(mixed), where=parts > 0)
    found: Floats = ratios @ rows.T
    return found


def _log_likelihoods(parts: Floats, mixed: Floats) -> Floats:
    """Return the log-likelihood per report; minus infinity where a report would be impossible."""
    with np.errstate(divide="ignore"):
        logs = np.log(mixed, out=np.zeros_like(mixed), where=parts > 0)
    found: Floats = (parts * logs).sum(axis=1)
    return found


# --- Newton steps -------------------------------------------------------------------------------


def newton_step(rows: Floats, part: Floats, shares: Floats) -> Floats | None:
    """Return likelier shares, or None if rounding leaves no step that is.

    Maximising the likelihood over shares is the same as minimising

        -sum_y (n_y / n) log (s Q)_y + sum_x s_x    over s >= 0,

    whose solution adds up to 1 by itself. Its quadratic model at s is minimised over t >= 0.

    `rows` and `part` hold the outputs that were seen only. The gradient is 1 - d and the curvature
    H = sum_y (n_y / n) Q[., y] Q[., y]^T / lambda_y^2, with H s = d: the model is
    t H t / 2 - (2 d - 1) t up to a constant.
    """
    mixed = shares @ rows
    slopes = rows @ (part / mixed)
    scaled = rows * (np.sqrt(part) / mixed)
    curvature, pull = scaled @ scaled.T, 2.0 * slopes - 1.0
    for damping in _DAMPINGS:
        hold = damping * float(np.diag(curvature).max())
        damped = curvature.copy()
        damped[np.diag_indices_from(damped)] += hold
        target = minimise_quadratic(damped, pull + hold * shares, shares > _FAINT / len(shares))
        if target is None:
            continue
        found = _line_search(rows, part, shares, target - shares, float((slopes - 1.0) @ target))
        if found is not None:
            return found
    return None


def _line_search(
    rows: Floats, part: Floats, shares: Floats, move: Floats, reach: float
) -> Floats | None:
    """Go as far along a move as the likelihood grows with it, by halving."""
    # The slopes at the shares themselves add up to (d - 1) s = 1 - sum s.
    gain = reach - (1.0 - float(shares.sum()))
    level = _log_likelihood(part, shares @ rows) - float(shares.sum())
    # The last steps gain less than the rounding errors of a logarithm.
    fog = 4e-16 * (1.0 + abs(level))
    length = 1.0
    for _ in range(_HALVINGS):
        there = np.maximum(shares + length * move, 0.0)
        if _log_likelihood(part, there @ rows) - there.sum() >= level + 1e-4 * length * gain - fog:
            found: Floats = there / there.sum()
            return found
        length /= 2
    return None


def minimise_quadratic(
    curvature: Floats, pull: Floats, free: npt.NDArray[np.bool_]
) -> Floats | None:
    """Minimise t H t / 2 - b t over t >= 0 by exchanging blocks of symbols; None if that fails.

    Symbols with a negative t leave, symbols at 0 with a negative slope come in, all at once; when
    that does not get nearer, one at a time.

    >>> minimise_quadratic(np.eye(2), np.array([1.0, -1.0]), np.array([True, True])).tolist()
    [1.0, 0.0]
    """
    size = len(pull)
    tolerance = 1e-13 * float(np.abs(pull).max() + np.diag(curvature).max())
    fewest, patience = size + 1, _PATIENCE
    free = free.copy()
    for _ in range(_PIVOTS):
        places = np.flatnonzero(free)
        found = np.zeros(size)
        try:
            found[places] = np.linalg.solve(curvature[np.ix_(places, places)], pull[places])
        except np.linalg.LinAlgError:
            return None
        slope = curvature @ found - pull
        wrong = (free & (found < 0)) | (~free & (slope < -tolerance))
        number = int(wrong.sum())
        if number == 0:
            return found
        if number < fewest:
            fewest, patience = number, _PATIENCE
        else:
            patience -= 1
        if patience > 0:
            free ^= wrong
        else:
            last = int(np.flatnonzero(wrong)[-1])
            free[last] = not free[last]
    return None


def _log_likelihood(part: Floats, mixed: Floats) -> float:
    """Return the log-likelihood per report; minus infinity where a report would be impossible."""
    with np.errstate(divide="ignore"):
        return float(part @ np.log(mixed))
