"""The sampling mechanism: how often the value may be kept, and how far off the released one is.

Y = X with probability t (the rate), else a fresh draw from the prior. With E = e^epsilon and the
masses P of a finite alphabet:

    E_E(P(. | x) || P_Y)     = max(0, t (1 - P_x) - (E - 1) P_x)
    E_E(P_Y || P(. | x))     = (1 - P_x) max(0, 1 - E (1 - t))
    E_E(P(. | x) || P(. | z)) = max(0, t - (1 - t) (E - 1) P_x)

All rates below are where these meet a budget. With one symbol there is nothing to protect.
"""

from __future__ import annotations

import math

import numpy as np

from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot


def lift_rate(masses: Floats, lower: float, upper: float) -> float:
    """Return the largest rate with all lifts in [lower, upper].

        min{1 - L, (U - 1) P_min / (1 - P_min)}

    Source: 000 Prop 2.

    >>> round(lift_rate(np.array([0.1, 0.2, 0.7]), math.exp(-1), math.exp(1)), 6)
    0.19092
    """
    least = float(masses.min())
    if len(masses) == 1:
        return 1.0
    return _share(min(1.0 - lower, (upper - 1.0) * (least / (1.0 - least))))


def approximate_rate(masses: Floats, ratio: float, delta: float, form: str) -> float:
    """Return the largest rate with (epsilon, delta)-LIP, for E = e^epsilon given as `ratio`.

        ediv:   min{(delta + (E - 1) P_min) / (1 - P_min),   1 - (1 - delta / (1 - P_min)) / E}
        def5:   min{(delta E + (E - 1) P_min) / (1 - P_min), 1 - (1 - delta / (1 - P_min)) / E}
        joint:  min{min over x of (delta / P_x + (E - 1) P_x) / (1 - P_x),
                    1 - (1 - delta / max over x of P_x (1 - P_x)) / E}

    Source: 000 Prop 2, Cor 9; 003 Def 4.

    >>> rare = np.array([0.1, 0.2, 0.7])
    >>> [round(approximate_rate(rare, math.e, 0.05, form), 4) for form in ("def5", "ediv", "joint")]
    [0.3419, 0.2465, 0.7197]
    """
    if len(masses) == 1:
        return 1.0
    others = 1.0 - masses
    if form == "joint":
        rises = float(((delta / masses + (ratio - 1.0) * masses) / others).min())
        weight = float((masses * others).max())
    else:
        least = int(masses.argmin())
        extra = delta * ratio if form == "def5" else delta
        rises = float((extra + (ratio - 1.0) * masses[least]) / others[least])
        weight = float(others[least])
    falls = 1.0 - (1.0 - delta / weight) / ratio
    return _share(min(rises, falls))


def ldp_rate(masses: Floats, ratio: float, delta: float = 0.0) -> float:
    """Return the largest rate with (epsilon, delta)-LDP.

        (delta + (E - 1) P_min) / (1 + (E - 1) P_min)

    Source: math the largest rate under LDP; 000 Def 1.

    >>> round(ldp_rate(np.array([0.5, 0.5]), 3.0), 6)  # the binary response of ln 3
    0.5
    """
    if len(masses) == 1:
        return 1.0
    gain = (ratio - 1.0) * float(masses.min())
    return 1.0 if math.isinf(gain) else _share((delta + gain) / (1.0 + gain))


def continuous_rate(ratio: float, delta: float, form: str) -> float:
    """Return the largest rate for a continuous X, of which no value has any mass.

        def5: min{delta E, 1 - 1/E + delta/E},   ediv and (epsilon, delta)-LDP: delta

    Source: 000 Prop 2.

    >>> round(continuous_rate(math.e, 0.01, "def5"), 6), continuous_rate(math.e, 0.01, "ediv")
    (0.027183, 0.01)
    """
    if form == "joint":
        raise NotDefined(
            "the rate for a continuous X", "the form joint", "each value alone has mass 0"
        )
    if form == "def5":
        return _share(min(delta * ratio, 1.0 - (1.0 - delta) / ratio))
    return _share(delta)


def expected_error(points: Floats, masses: Floats, rate: float, power: int = 2) -> float:
    """Return E |Y - X|^power, for the power 1 or 2.

    (1 - t) E |X - X'|^power with X' an independent copy of X: for squares 2 Var X, else the mean
    difference, 2 times the integral of F (1 - F).

    Source: 000 eq. (21).

    >>> die, fair = np.arange(1.0, 7.0), np.full(6, 1 / 6)
    >>> round(expected_error(die, fair, 0.5), 6), round(expected_error(die, fair, 0.5, 1), 6)
    (2.916667, 0.972222)
    """
    if power == 2:
        centred = points - dot(masses, points)
        return float((1.0 - rate) * 2.0 * (dot(masses, centred**2)))
    if power != 1:
        raise NotDefined("the error of sampling", f"the power {power}", "use 1 or 2")
    order = np.argsort(points, kind="stable")
    below = np.cumsum(masses[order])[:-1]
    above = np.cumsum(masses[order][::-1])[::-1][1:]
    return float((1.0 - rate) * 2.0 * (dot(below * above, np.diff(points[order]))))


def _share(rate: float) -> float:
    return min(max(rate, 0.0), 1.0)
