"""Gaussian noise: E-divergences, the published and the true delta, and the least deviations.

All values are float64, accurate also where they are tiny. Distributions are given by mean and
standard deviation (`sd`). `form` is ``ediv`` (000 Cor 9) or ``def5`` (000 Def 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.errors import InputError, NotDefined, extra
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, exp, expm1, log, log1p

if TYPE_CHECKING:
    import numpy.typing as npt

CLASSICAL_LIMIT = 1.0
"""The largest epsilon for which the classical bound on delta is proved."""

_HALVINGS = 200
_CLOSE = 1e-13
_NARROW = 2.0
_NODES = 32
_LEVELS = 4001
_MOST_LOG = 690.0


# --- two normal distributions --------------------------------------------------------------------


def e_divergence(
    gamma: npt.ArrayLike,
    mean1: npt.ArrayLike,
    sd1: npt.ArrayLike,
    mean2: npt.ArrayLike,
    sd2: npt.ArrayLike,
) -> Floats:
    """Return E_gamma(N(mean1, sd1^2) || N(mean2, sd2^2)) for any gamma > 0, elementwise.

    The first density is above gamma times the second outside two points (sd1 > sd2), between two
    points or nowhere (sd1 < sd2), or on one side of a point (sd1 = sd2); the source has the first
    of these cases. For gamma < 1 the roles are swapped, so that nothing cancels:

        E_gamma(f || g) = 1 - gamma + gamma E_{1/gamma}(g || f)

    Source: 000 Def 8, Prop 3, Lemma 4.

    >>> e_divergence(1, 0, 1, 1, 1).round(6).item()  # total variation
    0.382925
    >>> e_divergence([0.25, 4], 0, 1, 0, 3).round(6).tolist()
    [0.839595, 0.0]
    """
    return _divergence(log(_positive("gamma", gamma)), mean1, sd1, mean2, sd2)


def _divergence(
    log_gamma: npt.ArrayLike,
    mean1: npt.ArrayLike,
    sd1: npt.ArrayLike,
    mean2: npt.ArrayLike,
    sd2: npt.ArrayLike,
) -> Floats:
    first, second = _positive("deviation", sd1), _positive("deviation", sd2)
    shift = np.abs(np.asarray(mean1, dtype=np.float64) - np.asarray(mean2, dtype=np.float64))
    level, shift, first, second = np.broadcast_arrays(
        np.asarray(log_gamma, dtype=np.float64), shift, first, second
    )
    swap = level < 0
    inner = np.where(swap, second, first)
    outer = np.where(swap, first, second)
    part = _above(np.abs(level), shift, inner, outer)
    value: Floats = np.where(swap, -expm1(np.minimum(level, 0.0)), 0.0) + part * np.where(
        swap, exp(np.minimum(level, 0.0)), 1.0
    )
    return value


def _above(level: Floats, shift: Floats, sd1: Floats, sd2: Floats) -> Floats:
    """Return E_gamma for gamma = e^level >= 1.

    With z and w the roots in units of the second and of the first distribution, d the distance of
    the means in units of the second, r = sd1 / sd2 and L = ln(gamma r),

        z = (-d +- r S) / (r^2 - 1),   w = (-d r +- S) / (r^2 - 1),   S^2 = d^2 + 2 (r^2 - 1) L.

    The root next to the means is written without the difference that vanishes as r tends to 1.
    """
    excess = (sd1 - sd2) / sd2
    d, r = shift / sd2, 1.0 + excess
    bend = excess * (2.0 + excess)
    height = level + log1p(excess)
    square = d**2 + 2.0 * bend * height
    some = (square > 0) & ((d > 0) | (bend != 0))
    # Where there are no roots the first distribution is nowhere above (gamma >= 1), or both are the
    # same.
    s = np.sqrt(np.where(some, square, 1.0))
    near_z = (d**2 + 2.0 * r**2 * height) / (r * s + d)
    near_w = (2.0 * height - d**2) / (s + d * r)
    with np.errstate(divide="ignore"):
        far_z, far_w = (d + r * s) / np.abs(bend), (d * r + s) / np.abs(bend)
    near = _tail(level, r, near_w, near_z)
    far = _tail(level, r, far_w, far_z)
    total = np.where(bend > 0, near + far, near - far)
    # Between two roots on either side of a mean, tails would be differences of large numbers.
    around = some & (bend < 0) & ((near_w <= 0) | (near_z <= 0))
    if around.any():
        with np.errstate(divide="ignore"):
            reference = exp(level + log(normal_mass(near_z, far_z)))
        total = np.where(around, normal_mass(near_w, far_w) - reference, total)
    narrow = some & (bend < 0) & (far_w - near_w < _NARROW)
    if narrow.any():
        total = np.where(
            narrow, _between(np.abs(bend), near_w, np.where(narrow, far_w, near_w)), total
        )
    value: Floats = np.where(some, np.clip(total, 0.0, 1.0), 0.0)
    return value


def _tail(level: Floats, r: Floats, w: Floats, z: Floats) -> Floats:
    """Return Phi(-w) - gamma Phi(-z) at a root, where phi(w) = r gamma phi(z)."""
    with extra("statistics"):
        from scipy.special import erfcx, log_ndtr, ndtr

    both = (w > 0) & (z > 0) & np.isfinite(w) & np.isfinite(z)
    positive_w, positive_z = np.where(both, w, 1.0), np.where(both, z, 1.0)
    density = exp(-0.5 * positive_w**2) / math.sqrt(2.0 * math.pi)
    mills = math.sqrt(0.5 * math.pi) * (
        erfcx(positive_w / math.sqrt(2.0)) - erfcx(positive_z / math.sqrt(2.0)) / r
    )
    plain = ndtr(-w) - exp(np.minimum(level + log_ndtr(-z), 0.0))
    value: Floats = np.where(both, density * mills, plain)
    return value


def _between(bend: Floats, low: Floats, high: Floats) -> Floats:
    """Integrate the first density less gamma times the second between two near roots.

    Both ends are in units of the first distribution, whose density is f; the logarithm of the ratio
    of the densities is the parabola bend (w - low) (high - w) / 2.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * (high - low)
    w = low[..., None] + half[..., None] * (nodes + 1.0)
    parabola = 0.5 * bend[..., None] * (w - low[..., None]) * (high[..., None] - w)
    f = exp(-0.5 * w**2) / math.sqrt(2.0 * math.pi)
    value: Floats = half * (dot(-expm1(-parabola) * f, weights))
    return value


# --- one deviation for all -----------------------------------------------------------------------


def delta_at(
    x: npt.ArrayLike,
    mean: float,
    sd_x: float,
    sd_n: npt.ArrayLike,
    epsilon: float,
    form: str = "ediv",
) -> Floats:
    """Return the delta that a value x needs when X ~ N(mean, sd_x^2) gets noise N(0, sd_n^2).

        max{E_E(N(x, sd_n^2) || N(mean, sd_x^2 + sd_n^2)), E_E(these two swapped)},  E = e^epsilon

    and in def5 with the first divided by E. It rises with |x - mean| to 1 (1/E for the first side
    of def5), so no deviation protects every x: see `smallest_sigma`.

    Source: 000 Thm 5, Cor 9; Def 5.

    >>> delta_at([0, 5, 10, 20], 0, 5, 10, 1).round(6).tolist()
    [0.000537, 0.028027, 0.146875, 0.491697]
    """
    _check_form(form)
    noise = _positive("deviation", sd_n)
    whole = np.hypot(sd_x, noise)
    up = _divergence(epsilon, x, noise, mean, whole)
    down = _divergence(epsilon, mean, whole, x, noise)
    worst: Floats = np.maximum(up * (exp(-epsilon) if form == "def5" else 1.0), down)
    return worst


def radius_delta(
    radius: npt.ArrayLike,
    sd_x: float,
    sd_n: npt.ArrayLike,
    epsilon: float,
    form: str = "ediv",
) -> Floats:
    """Return the delta of all values with |x - mean| <= radius: that at the radius itself.

    Source: 000 Thm 5.

    >>> bool(radius_delta(10, 5, 10, 1) == delta_at(-10, 0, 5, 10, 1))
    True
    """
    return delta_at(radius, 0.0, sd_x, sd_n, epsilon, form)


def smallest_sigma(
    radius: npt.ArrayLike, sd_x: float, epsilon: float, delta: float, form: str = "ediv"
) -> Floats:
    """Return the least deviation of the noise that protects all values with |x - mean| <= radius.

    More noise never needs a larger delta, so it is a root. Values beyond the radius are
    NOT protected.

    Source: 000 Thm 5.

    >>> smallest_sigma([0, 10], 5, 1, 1e-4).round(4).tolist()
    [11.5417, 35.2762]
    """
    reach = np.asarray(radius, dtype=np.float64)
    return _root(
        lambda sd: radius_delta(reach, sd_x, sd, epsilon, form),
        _check_delta(delta),
        np.broadcast_to(float(sd_x), reach.shape),
    )


# --- a deviation for each value ------------------------------------------------------------------


def instance_sigma(
    x: npt.ArrayLike, mean: float, sd_x: float, epsilon: float, delta: float, form: str = "ediv"
) -> Floats:
    """Return the published deviation of the noise of each value.

    It takes the output for N(mean, sd_x^2 + sd_n^2) as if every other value had the same noise.
    They have not, and the true delta is far larger: see `true_delta`.

    Source: 000 Cor 10.

    >>> instance_sigma([0, 10], 0, 5, 1, 1e-4).round(4).tolist()
    [11.5417, 35.2762]
    """
    distance = np.abs(np.asarray(x, dtype=np.float64) - mean)
    return smallest_sigma(distance, sd_x, epsilon, delta, form)


def output_deltas(
    x: npt.ArrayLike,
    sd: npt.ArrayLike,
    weights: Floats,
    points: Floats,
    sds: Floats,
    epsilon: float,
    form: str = "ediv",
) -> Floats:
    """Return the delta of values x with noise `sd` when the output is a normal mixture.

    The positive parts are summed over a grid of y, to about 1e-5.

    >>> peaks = np.array([-1.0, 1.0])
    >>> output_deltas(peaks, 1.0, np.array([0.5, 0.5]), peaks, np.ones(2), 0.1).round(4).tolist()
    [0.3259, 0.3259]
    """
    _check_form(form)
    values, own = np.broadcast_arrays(
        np.asarray(x, dtype=np.float64), np.asarray(sd, dtype=np.float64)
    )
    found = []
    for value, deviation in zip(values.ravel(), own.ravel(), strict=True):
        y, steps = _levels(float(value), float(deviation), points, sds)
        mixed = dot(_density(y[:, None], points, sds), weights)
        alone = _density(y, np.float64(value), np.float64(deviation))
        ratio = exp(min(epsilon, _MOST_LOG))
        up = float(dot(np.maximum(alone - ratio * mixed, 0.0), steps))
        down = float(dot(np.maximum(mixed - ratio * alone, 0.0), steps))
        found.append(max(up / ratio if form == "def5" else up, down))
    return np.array(found).reshape(values.shape)


def _levels(value: float, sd: float, points: Floats, sds: Floats) -> tuple[Floats, Floats]:
    """Return places y and trapezium weights, dense where input and output have mass."""
    reach = np.linspace(-9.0, 9.0, _LEVELS)
    low, high = float((points - 9.0 * sds).min()), float((points + 9.0 * sds).max())
    y = np.union1d(value + sd * reach, np.linspace(low, high, _LEVELS))
    gaps = np.diff(y)
    steps = 0.5 * (np.concatenate([[0.0], gaps]) + np.concatenate([gaps, [0.0]]))
    return y, steps


def _density(y: Floats, means: Any, sds: Any) -> Floats:
    value: Floats = exp(-0.5 * ((y - means) / sds) ** 2) / (sds * math.sqrt(2.0 * math.pi))
    return value


# --- baselines that ignore the prior -------------------------------------------------------------


def classical_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return the deviation that the classical bound asks for, for epsilon in (0, 1].

        sigma = Delta sqrt(2 ln(1.25 / delta)) / epsilon

    Source: 000 IV-C2 (vanilla Gaussian).

    >>> round(classical_sigma(1, 1e-4, 1), 4)
    4.3436
    """
    if not epsilon > 0:
        raise InputError(
            "the classical deviation needs an epsilon above 0",
            value=epsilon,
            remedy="use the analytic one",
        )
    return sensitivity * math.sqrt(2.0 * log(1.25 / _check_delta(delta))) / epsilon


def analytic_delta(epsilon: float, sigma: float, sensitivity: float) -> float:
    """Return the exact delta of (epsilon, delta)-LDP of Gaussian noise.

        Phi(D / 2 sigma - epsilon sigma / D) - E Phi(-D / 2 sigma - epsilon sigma / D)

    Source: 000 eq. (24).

    >>> round(analytic_delta(1, 3.1857, 1), 7)
    0.0001
    """
    return float(_divergence(epsilon, 0.0, sigma, sensitivity, sigma))


def analytic_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return the least deviation with (epsilon, delta)-LDP.

    Source: 000 eq. (24).

    >>> round(analytic_sigma(1, 1e-4, 1), 4)
    3.1857
    """
    start = np.array(float(sensitivity))
    found = _root(
        lambda sd: _divergence(epsilon, 0.0, sd, sensitivity, sd), _check_delta(delta), start
    )
    return float(found)


def normal_mass(low: Floats, high: Floats) -> Floats:
    """Return the standard normal mass between two ends, from the side that loses no digits.

    >>> normal_mass(np.array(8.0), np.array(9.0)).item() > 6e-16
    True
    """
    with extra("statistics"):
        from scipy.special import ndtr

    right = low > 0
    mass: Floats = np.clip(
        ndtr(np.where(right, -low, high)) - ndtr(np.where(right, -high, low)), 0.0, None
    )
    return mass


# --- roots and checks ----------------------------------------------------------------------------


def _root(need: Callable[[Floats], Floats], delta: float, start: Floats) -> Floats:
    """Return the least deviations at which a falling need is at most delta, from the safe side."""
    high = np.array(start, dtype=np.float64)
    for _ in range(_HALVINGS * 5):
        over = need(high) > delta
        if not over.any():
            break
        high = np.where(over, 2.0 * high, high)
    else:
        raise InputError("no finite deviation is enough", value=delta, remedy="allow more delta")
    low = 0.5 * high
    for _ in range(_HALVINGS * 5):
        kept = need(low) <= delta
        if not kept.any():
            break
        high = np.where(kept, low, high)
        low = np.where(kept, 0.5 * low, low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        kept = need(middle) <= delta
        low, high = np.where(kept, low, middle), np.where(kept, middle, high)
        if np.all(high - low <= _CLOSE * high):
            break
    return high


def _positive(name: str, numbers: npt.ArrayLike) -> Floats:
    found = np.asarray(numbers, dtype=np.float64)
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise InputError(
            f"a {name} is not a positive number", value=found.tolist(), remedy="correct it"
        )
    return found


def _check_delta(delta: float) -> float:
    if not 0 < delta < 1:
        raise InputError(
            "a formula for Gaussian noise needs a delta between 0 and 1",
            value=delta,
            remedy="without delta the noise would have to be infinite",
        )
    return float(delta)


def _check_form(form: str) -> None:
    if form not in ("ediv", "def5"):
        raise NotDefined(
            "the delta of a continuous X", f"the form {form}", "each value alone has mass 0"
        )
