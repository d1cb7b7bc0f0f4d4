"""Laplace noise on the line: published scales, the exact leakage, and errors in closed form.

The noise has density exp(-|n| / b) / (2 b). *Bounded* noise is renormalised on the domain [l, u];
*clamped* noise is unbounded, and what falls outside [l, u] is moved to its nearer end. All of this
is for the continuous mechanism with a finite number of atoms, before its output is discretised into
bins.
"""

from __future__ import annotations

import math

import numpy as np

from liftlock.errors import extra
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, exp, expm1, log, log1p

_ROUNDS = 200
_BLOCK = 1 << 22
_CACHED = 1 << 16


# --- scales that were published ------------------------------------------------------------------


def context_free_scale(epsilon: float, width: float) -> float:
    """Return the scale of epsilon-LDP, b = Delta / epsilon.

    Source: 003 eq. (11).

    >>> context_free_scale(0.5, 3.0)
    6.0
    """
    return width / epsilon


def scale_for_every_epsilon(epsilon: float, p_min: float, width: float) -> float:
    """Return b = Delta / ln((e^epsilon - P_min) / (1 - P_min)), safe when Delta = u - l.

    It is exact for two atoms at the ends of the domain, and larger than necessary otherwise.

    Source: 003 eq. (17), first branch, for every epsilon.

    >>> round(scale_for_every_epsilon(0.69, 0.5, 1.0), 4), scale_for_every_epsilon(1.0, 1.0, 1.0)
    (0.9137, 0.0)
    """
    if p_min >= 1:
        return 0.0  # a single value: nothing to protect
    # ln((E - p) / (1 - p)) = ln(1 + (E - 1) / (1 - p)), which loses no digits for small budgets.
    return width / _log_one_plus(epsilon, p_min)


def _log_one_plus(epsilon: float, p_min: float) -> float:
    if epsilon > 700:
        return epsilon - float(log1p(-p_min))
    return float(log1p(expm1(epsilon) / (1.0 - p_min)))


def published_scale(epsilon: float, p_min: float, width: float) -> float:
    """Return the scale as published; from epsilon = ln(1 / P_min) on it jumps to Delta / epsilon.

    Source: 003 eq. (17); 000 eq. (25).

    >>> [round(published_scale(epsilon, 0.5, 1.0), 4) for epsilon in (0.69, 0.70)]
    [0.9137, 1.4286]
    """
    if epsilon < -log(p_min):
        return scale_for_every_epsilon(epsilon, p_min, width)
    return context_free_scale(epsilon, width)


def published_alpha(epsilon: float, p_min: float) -> float:
    """Return the alpha that makes the scale by instance meet the common one at the rarest value.

    The source does not define it; this is the only natural reading.

    Source: 000 eq. (26), with eq. (25) at P_min.

    >>> round(published_alpha(1.0, 0.05), 4), published_alpha(3.0, 0.05)
    (0.6546, 0.0)
    """
    if epsilon >= -log(p_min):
        return 0.0
    return (_log_one_plus(epsilon, p_min) - epsilon) / p_min


def instance_scales(masses: Floats, epsilon: float, alpha: float, width: float) -> Floats:
    """Return b(x) = Delta / (alpha P(x) + epsilon), one scale for each value.

    Source: 000 eq. (26). Only alpha = 0 keeps epsilon-LIP in general.

    >>> instance_scales(np.array([0.5, 0.25]), 1.0, 2.0, 3.0).tolist()
    [1.5, 2.0]
    """
    scales: Floats = width / (alpha * np.asarray(masses, dtype=np.float64) + epsilon)
    return scales


# --- probabilities of bins ----------------------------------------------------------------------


def normaliser(points: Floats, scales: float | Floats, lower: float, upper: float) -> Floats:
    """Return C_x(b), the probability that unbounded noise stays within the domain.

    Source: 003 eq. (15).

    >>> normaliser(np.array([0.0, 1.0]), 1.0, 0.0, 2.0).round(6).tolist()
    [0.432332, 0.632121]
    """
    below, above = (points - lower) / scales, (upper - points) / scales
    inside: Floats = -0.5 * (expm1(-below) + expm1(-above))
    return inside


def bounded_bin_masses(points: Floats, edges: Floats, scales: float | Floats) -> Floats:
    """Return the probability of each bin (columns) given each value (rows), noise renormalised.

    The scale is one number, or one for each value. Nothing is subtracted that is nearly equal, so
    the smallest probability is as precise as the largest.

    Source: 003 Def 6, eq. (14), (15), integrated over bins.

    >>> bounded_bin_masses(np.array([0.0, 2.0]), np.array([0.0, 1.0, 2.0]), 1.0).round(6).tolist()
    [[0.731059, 0.268941], [0.268941, 0.731059]]
    """
    masses = _bin_masses(points, edges, scales)
    masses /= normaliser(points, scales, float(edges[0]), float(edges[-1]))[:, None]
    return masses


def clamped_bin_masses(points: Floats, edges: Floats, scales: float | Floats) -> Floats:
    """Return the probability of each bin, those at the ends taking all that lies beyond them.

    >>> clamped_bin_masses(np.array([0.0, 2.0]), np.array([0.0, 1.0, 2.0]), 1.0).round(6).tolist()
    [[0.81606, 0.18394], [0.18394, 0.81606]]
    """
    masses = _bin_masses(points, edges, scales)
    masses[:, 0] += 0.5 * exp((edges[0] - points) / scales)
    masses[:, -1] += 0.5 * exp((points - edges[-1]) / scales)
    return masses


def _bin_masses(points: Floats, edges: Floats, scales: float | Floats) -> Floats:
    """Integrate exp(-|y - x| / b) / (2 b) over the bins between the edges."""
    every = np.broadcast_to(np.asarray(scales, dtype=np.float64), points.shape)
    masses = np.empty((len(points), len(edges) - 1))
    widths = np.diff(edges)
    if np.ptp(widths) <= 1e-9 * widths[0]:
        widths = np.array([(edges[-1] - edges[0]) / len(widths)])
    step = max(1, _CACHED // masses.shape[1])  # blocks that stay in the cache are twice as fast
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        place, rate = points[rows, None], 1.0 / every[rows, None]
        near = np.maximum(edges[:-1] - place, place - edges[1:])
        inside = np.nonzero(near < 0)  # at most one bin of each row
        np.maximum(near, 0.0, out=near)
        near *= -rate
        near = exp(near)
        near *= -0.5 * expm1(-widths * rate)
        row, column = inside
        left, right = edges[column] - place[row, 0], place[row, 0] - edges[column + 1]
        own = rate[row, 0]
        near[inside] = -0.5 * (expm1(left * own) + expm1(right * own))
        masses[rows] = near
    return masses


# --- what truly leaks ----------------------------------------------------------------------------


def leakage(
    points: Floats, masses: Floats, b: float, lower: float, upper: float
) -> tuple[float, float]:
    """Return the exact (eps_lower, eps_upper) of bounded Laplace noise with one scale.

    Between neighbouring atoms f_Y / f_{Y|x} is A + B e^{+-2y/b}, hence monotone: both ends of the
    leakage are reached on the atoms or at the ends of the domain.

    >>> fair = np.array([0.5, 0.5])
    >>> b = scale_for_every_epsilon(0.5, 0.5, 1.0)  # Delta = x_max - x_min is not enough
    >>> [round(side, 4) for side in leakage(np.array([0.0, 1.0]), fair, b, 0.0, 2.0)]
    [0.7423, 0.4213]
    """
    places = np.unique(np.concatenate([points, [lower, upper]]))
    shift = log(normaliser(points, b, lower, upper))
    return _range_of_lifts(points, masses, b, places, shift)


def clamped_leakage(points: Floats, masses: Floats, b: float) -> tuple[float, float]:
    """Return the exact (eps_lower, eps_upper) of unbounded Laplace noise with one scale.

    Beyond the outermost atoms the ratios no longer change, so clamping to any domain that holds all
    atoms neither hides nor reveals more.

    >>> two = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> b = scale_for_every_epsilon(0.5, 0.5, 1.0)
    >>> [round(side, 4) for side in clamped_leakage(*two, b)]
    [0.5, 0.3318]
    """
    return _range_of_lifts(points, masses, b, np.unique(points), np.zeros(len(points)))


def _range_of_lifts(
    points: Floats, masses: Floats, b: float, places: Floats, shift: Floats
) -> tuple[float, float]:
    """Return the extreme log-lifts at some places; rows are places, columns values."""
    logs = log(masses)
    least, most = math.inf, -math.inf
    step = max(1, _BLOCK // len(points))
    for start in range(0, len(places), step):
        given = np.abs(places[start : start + step, None] - points)
        given /= -b
        given -= shift
        weighted = given + logs
        top = weighted.max(axis=1, keepdims=True)
        weighted -= top
        total = top[:, 0] + log(exp(weighted).sum(axis=1))
        least = min(least, float((given.min(axis=1) - total).min()))
        most = max(most, float((given.max(axis=1) - total).max()))
    return max(-least, 0.0), max(most, 0.0)


def instance_leakage(
    points: Floats, masses: Floats, scales: Floats, lower: float, upper: float
) -> tuple[float, float]:
    """Return (eps_lower, eps_upper) of bounded Laplace noise with one scale for each value.

    Between neighbouring atoms f_Y / f_{Y|x} is a sum of exponentials with positive weights, hence
    convex: its maximum is on an atom or an end, its minimum is found by ternary search. Meant for
    few atoms.

    >>> points, masses = np.array([0.0, 1.5, 3.0]), np.array([0.9, 0.05, 0.05])
    >>> scales = instance_scales(masses, 1.0, published_alpha(1.0, 0.05), 3.0)
    >>> [round(side, 4) for side in instance_leakage(points, masses, scales, 0.0, 3.0)]
    [1.183, 1.1956]
    """
    shift = log(scales * normaliser(points, scales, lower, upper))
    logs = log(masses)

    def log_lifts(places: Floats) -> Floats:
        """Return the log-lift of each value at its own place in each row."""
        given = -np.abs(places[..., None] - points) / scales - shift
        own = -np.abs(places - points) / scales - shift
        weighted = given + logs
        top = weighted.max(axis=-1)
        lifts: Floats = own - top - log(exp(weighted - top[..., None]).sum(axis=-1))
        return lifts

    places = np.unique(np.concatenate([points, [lower, upper]]))
    at_ends = log_lifts(np.repeat(places[:, None], len(points), axis=1))
    left = np.repeat(places[:-1, None], len(points), axis=1)
    right = np.repeat(places[1:, None], len(points), axis=1)
    for _ in range(_ROUNDS):
        first, second = left + (right - left) / 3.0, right - (right - left) / 3.0
        rising = log_lifts(first) < log_lifts(second)
        left, right = np.where(rising, first, left), np.where(rising, right, second)
        if (right - left).max() <= 1e-9 * (upper - lower):
            break
    between = log_lifts(0.5 * (left + right))
    most = max(float(at_ends.max()), float(between.max()))
    return max(-float(at_ends.min()), 0.0), max(most, 0.0)


# --- what it is worth ----------------------------------------------------------------------------


def mean_error(
    points: Floats,
    masses: Floats,
    scales: float | Floats,
    lower: float,
    upper: float,
    *,
    bounded: bool = True,
    power: int = 2,
) -> float:
    """Return E |Y - X|^power in closed form, of bounded or of clamped noise.

    With g(k, t) the integral of n^k e^-n from 0 to t, one side of bounded noise contributes
    b^k g(k, (u - x) / b) / (2 C_x).

    Source: 003 eq. (18), (19).

    >>> certain = np.array([0.0]), np.array([1.0]), 1.0, -99.0, 99.0
    >>> round(mean_error(*certain), 6), round(mean_error(*certain, power=1), 6)
    (2.0, 1.0)
    """
    with extra("statistics"):
        from scipy.special import gammainc

    sides = np.stack([points - lower, upper - points])
    reach = sides / scales
    # The incomplete gamma function keeps its digits where 2 - e^-t (t^2 + 2 t + 2) loses them.
    inside = math.factorial(power) * gammainc(power + 1, reach) * np.asarray(scales) ** power
    if bounded:
        errors = inside.sum(axis=0) / (2.0 * normaliser(points, scales, lower, upper))
    else:
        errors = 0.5 * (inside + sides**power * exp(-reach)).sum(axis=0)
    return float(dot(np.asarray(masses), errors))
