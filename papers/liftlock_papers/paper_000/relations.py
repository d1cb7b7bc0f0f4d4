"""What epsilon-LIP allows at most in LDP and in identifiability: published bounds, and the maximum.

The posteriors that epsilon-LIP allows are P/E <= v <= E P with sum v = 1. A ratio of two of their
coordinates is largest at a vertex of this polytope, where all coordinates but one are at an end.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np

import liftlock as ll
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

FOUR: Mapping[str, tuple[int, ...]] = {"P1": (1, 33, 33, 33), "P2": (25, 25, 25, 25)}
"""The priors of the figure, in percent."""
TWO: Mapping[str, tuple[int, ...]] = {"1 %": (1, 99), "10 %": (10, 90), "50 %": (50, 50)}
"""Priors of two symbols, by the smaller probability."""

_NOTHING = 1e-12


def relations(setting: Setting) -> Iterator[Point]:
    """Compute the figure: LDP (a) and identifiability (b) of epsilon-LIP, and two symbols (c)."""
    steps = setting.choose(full=100, quick=20)
    for step in setting.each(range(steps + 1), "budgets"):
        epsilon = 5.0 * step / steps
        for name, counts in FOUR.items():
            masses = np.array(counts) / sum(counts)
            spread = math.log(masses.max() / masses.min())
            found = vertices(masses, math.exp(epsilon))
            yield Point("a", f"{name}, Prop 1", epsilon, ldp_bound(masses, epsilon))
            yield Point("a", f"{name}, maximum", epsilon, largest_log_ratio(found / masses))
            yield Point("b", f"{name}, Thm 3", epsilon, 2 * epsilon + spread)
            yield Point("b", f"{name}, maximum", epsilon, largest_log_ratio(found))
            if step % (steps // 10) == 0:
                table = implications(counts, epsilon)
                yield Point("a", f"{name}, liftlock", epsilon, table["ldp"])
                yield Point("b", f"{name}, liftlock", epsilon, table["identifiability"])
        yield Point("a", "ε", epsilon, epsilon)
        yield Point("a", "2ε", epsilon, 2 * epsilon)
        for name, counts in TWO.items():
            masses = np.array(counts) / sum(counts)
            found = vertices(masses, math.exp(epsilon))
            yield Point("c", f"{name}, Prop 1", epsilon, ldp_bound(masses, epsilon))
            yield Point("c", f"{name}, maximum", epsilon, largest_log_ratio(found / masses))


def ldp_bound(masses: Floats, epsilon: float) -> float:
    """Return min{2 epsilon, ln((E - 1 + P_min) / P_min)}, 000 Prop 1.

    >>> round(ldp_bound(np.full(4, 0.25), 2.0), 4)
    3.2793
    """
    return min(2 * epsilon, math.log1p(math.expm1(epsilon) / float(masses.min())))


def vertices(masses: Floats, ratio: float) -> Floats:
    """Return the vertices of the posteriors with all lifts in [1/E, E], one in each row.

    >>> vertices(np.array([0.5, 0.5]), 2.0).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    size = len(masses)
    found = []
    for free in range(size):
        others = [x for x in range(size) if x != free]
        for lifts in itertools.product((1 / ratio, ratio), repeat=size - 1):
            posterior = np.zeros(size)
            posterior[others] = masses[others] * lifts
            rest = 1.0 - posterior.sum()
            low, high = masses[free] / ratio, masses[free] * ratio
            if low * (1 - _NOTHING) <= rest <= high * (1 + _NOTHING):
                posterior[free] = rest
                found.append(posterior)
    return np.array(found)


def largest_log_ratio(rows: Floats) -> float:
    """Return the largest ln(v(x') / v(x)) of two entries of a row, 000 eq. (9) and (10)."""
    return float(np.log(rows.max(axis=1) / rows.min(axis=1)).max())


def implications(counts: tuple[int, ...], epsilon: float) -> dict[str, float]:
    """Return what liftlock says that epsilon-LIP implies, in closed form."""
    prior = ll.Prior.from_counts(dict(enumerate(counts)))
    table = ll.implications(ll.LIP(f"{epsilon:g}"), prior)
    return {row.target: float(row.bound) for row in table if row.bound is not None}
