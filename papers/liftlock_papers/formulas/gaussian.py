"""Gaussian noise before it is cut into cells: what published rules truly need, and mixtures.

`form` is ``ediv`` (000 Cor 9) or ``def5`` (000 Def 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock import InputError, NotDefined
from liftlock.designs.formulas import gaussian

Floats = npt.NDArray[np.float64]

_FAR = 45.0
"""Beyond so many deviations a normal distribution has no mass that a float could hold."""
_HALVINGS = 200
_MOST_LOG = 690.0


def classical_delta(epsilon: float, sigma: float, sensitivity: float) -> float:
    """Return the classical bound on the delta of (epsilon, delta)-LDP.

        delta <= 1.25 exp(-epsilon^2 sigma^2 / (2 Delta^2))

    It is proved for epsilon <= 1 alone, and can be too small beyond.

    Source: 000 IV-C2 (vanilla Gaussian).

    >>> round(classical_delta(10, 0.3, 1), 4), round(gaussian.analytic_delta(10, 0.3, 1), 4)
    (0.0139, 0.0575)
    """
    return min(1.0, 1.25 * math.exp(-0.5 * (epsilon * sigma / sensitivity) ** 2))


def unprotected_mass(radius: npt.ArrayLike, sd_x: float) -> Floats:
    """Return P(|X - mean| > radius) of a normal X.

    >>> unprotected_mass(10, 5).round(6).item()
    0.0455
    """
    from scipy.special import erfc

    return np.asarray(erfc(np.asarray(radius, dtype=np.float64) / (sd_x * math.sqrt(2.0))))


def true_delta(
    x: npt.ArrayLike, mean: float, sd_x: float, epsilon: float, delta: float, form: str = "ediv"
) -> Floats:
    """Return the delta that values truly need under the published deviations, by quadrature.

    The output has the density f_Y(y) = E phi((y - X) / sd(X)) / sd(X), which is not normal.

    Source: 000 Cor 10.

    >>> true_delta(0, 0, 5, 1, 1e-4).round(3).item()  # 1,200 times the 1e-4 that it is made for
    0.12
    """
    nodes, weights = _normal_nodes()
    points = mean + sd_x * nodes
    sds = gaussian.instance_sigma(points, mean, sd_x, epsilon, delta, form)
    values = np.asarray(x, dtype=np.float64)
    own = gaussian.instance_sigma(values, mean, sd_x, epsilon, delta, form)
    return gaussian.output_deltas(values, own, weights, points, sds, epsilon, form)


@cache
def _normal_nodes() -> tuple[Floats, Floats]:
    """Return nodes and weights for means over a standard normal distribution."""
    nodes = np.linspace(-9.0, 9.0, 721)
    weights = np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum()


def mixture_delta(
    x: npt.ArrayLike,
    weights: npt.ArrayLike,
    means: npt.ArrayLike,
    sds: npt.ArrayLike,
    sd_n: float,
    epsilon: float,
    form: str = "ediv",
) -> Floats:
    """Return the delta that each x needs when X is a normal mixture with noise sd_n.

    The output is the mixture of N(mean_i, sd_i^2 + sd_n^2). Each component is no narrower than the
    noise, so ln f_Y - ln f_{Y|x} is convex: it is below a level between two points, which bisection
    finds, and the rest is distribution functions. A component with sd 0 is an atom of X.

    Source: 000 Remark 2.

    >>> mixture_delta([0, 10], [1.0], [0.0], [5.0], 10, 1).round(6).tolist()
    [0.000537, 0.146875]
    >>> mixture_delta([-1, 0, 1], [0.5, 0.5], [-1, 1], [0.1, 0.1], 2, 0.5).round(5).tolist()
    [0.08016, 0.00379, 0.08016]
    """
    if form not in ("ediv", "def5"):
        raise NotDefined("a delta of mixtures", f"the form {form}", "each value alone has mass 0")
    shares = np.asarray(weights, dtype=np.float64)
    if not ((shares > 0).all() and np.isfinite(shares).all() and sd_n > 0):
        raise InputError("a weight or deviation is not a positive number", remedy="correct it")
    shares = shares / shares.sum()
    centres = np.asarray(means, dtype=np.float64)
    wide = np.hypot(np.asarray(sds, dtype=np.float64), sd_n)
    values = np.asarray(x, dtype=np.float64)
    flat = values.ravel()
    logs = np.log(shares) - np.log(wide / sd_n)

    def terms(y: Floats) -> tuple[Floats, Floats]:
        standard = (y[:, None] - centres) / wide
        exponents = logs - 0.5 * standard**2
        top = exponents.max(axis=1)
        parts = np.exp(exponents - top[:, None])
        total = parts.sum(axis=1)
        slope = -(parts * standard / wide).sum(axis=1) / total
        return top + np.log(total), slope

    def height(y: Floats) -> Floats:
        return terms(y)[0] + 0.5 * ((y - flat) / sd_n) ** 2

    def rises(y: Floats) -> npt.NDArray[np.bool_]:
        return terms(y)[1] + (y - flat) / sd_n**2 > 0

    reach = _FAR * max(float(wide.max()), sd_n)
    low = np.minimum(flat, centres.min()) - reach
    high = np.maximum(flat, centres.max()) + reach
    bottom = _first(rises, low, high)

    def inside(level: float) -> tuple[Floats, Floats]:
        """Return the ends of the interval in which the convex function is below a level."""
        left = _first(lambda y: height(y) < level, low, bottom)
        right = _first(lambda y: height(y) >= level, bottom, high)
        empty = height(bottom) >= level
        left, right = np.where(empty, bottom, left), np.where(empty, bottom, right)
        return left, right

    ratio = math.exp(min(epsilon, _MOST_LOG))
    left, right = inside(-epsilon)
    up = _mass(left, right, flat[:, None], np.array([sd_n]))[:, 0]
    up = np.clip(up - ratio * (_mass(left, right, centres, wide) @ shares), 0.0, 1.0)
    left, right = inside(epsilon)
    down = _outside(left, right, centres, wide) @ shares
    alone = _outside(left, right, flat[:, None], np.array([sd_n]))[:, 0]
    down = np.clip(down - ratio * alone, 0.0, 1.0)
    worst: Floats = np.maximum(up / ratio if form == "def5" else up, down)
    return worst.reshape(values.shape)


def _first(holds: Callable[[Floats], Any], low: Floats, high: Floats) -> Floats:
    """Return where a condition begins to hold between two ends, if it holds from there on."""
    low, high = low.copy(), high.copy()
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        yes = holds(middle)
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
        if np.all(high - low <= 4e-16 * (np.abs(low) + np.abs(high))):
            break
    return high


def _mass(left: Floats, right: Floats, means: Any, sds: Floats) -> Floats:
    """Return the mass of normal distributions (columns) between two ends (rows)."""
    return gaussian.normal_mass((left[:, None] - means) / sds, (right[:, None] - means) / sds)


def _outside(left: Floats, right: Floats, means: Any, sds: Floats) -> Floats:
    from scipy.special import ndtr

    mass: Floats = ndtr((left[:, None] - means) / sds) + ndtr(-(right[:, None] - means) / sds)
    return mass
