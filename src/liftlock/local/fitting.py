"""Whether the priors of the users were right: the reports test all of them together.

If every prior is right, a posterior mass is the prior mass on average, so

    z(x) = sum_i (P_i(x | report) - P_i(x)) / sqrt(V),    V = sum_i Var_i P_i(x | report),

has mean 0 and variance 1, with variances that are known before any report. A positive z says that
more people have the value x than their priors expected. No posterior can be farther than some b
from its prior, so the skewness of z is at most b / sqrt(V), and to that order the probability of
|z| or more is at most that of a normal law times exp(b |z|^3 / (6 sqrt(V))). Where a few users have
most of the variance that says nothing, and Bennett's inequality bounds it by

    2 exp(-(V / b^2) h(b |z| / sqrt(V))),    h(u) = (1 + u) ln(1 + u) - u.

The smaller of the two is taken.
"""

from __future__ import annotations

import math

from liftlock.alphabet import Alphabet
from liftlock.estimate.fit import WRONG, Drift, Fit, p_text
from liftlock.local.aggregate import LocalAggregate

_CLEAR = 1000
"""A mean variance of fewer of its units would be mostly rounding."""


def test_priors(alphabet: Alphabet, aggregate: LocalAggregate) -> Fit:
    """Test the priors symbol by symbol; the p-value is the smallest, times how many were tested."""
    people = aggregate.reports
    found = []
    for label, posterior, expected, variance, reach, units in zip(
        alphabet.labels,
        aggregate.floats("posteriors").tolist(),
        aggregate.floats("priors").tolist(),
        aggregate.floats("spreads").tolist(),
        aggregate.floats("reaches").tolist(),
        aggregate.spreads,
        strict=True,
    ):
        if units >= _CLEAR * people:
            score = (posterior - expected) / math.sqrt(variance)
            drift = Drift(label, expected / people, None, score)
            found.append((_chance(score, reach / math.sqrt(variance)), drift))
    if not found:
        return Fit(1.0, 0.0, None, (), "the reports say too little for a test")
    drifts = sorted((drift for _, drift in found), key=lambda drift: -abs(drift.score))
    p_value = min(1.0, len(found) * min(chance for chance, _ in found))
    note = f"the largest of {len(found)} standard scores"
    return Fit(p_value, abs(drifts[0].score), None, tuple(drifts), note)


def _chance(score: float, reach: float) -> float:
    """Bound the probability of so large a score, if one user can move it by `reach` at most."""
    size = abs(score)
    away = size * reach
    bennett = 2.0 * math.exp(-((1.0 + away) * math.log1p(away) - away) / reach**2)
    skewed = math.erfc(size / math.sqrt(2.0)) * math.exp(min(reach * size**3 / 6.0, 700.0))
    return min(1.0, bennett, skewed)


def misfit(fit: Fit) -> str | None:
    """Return the warning about priors that do not fit, with the direction, or None if they may."""
    if fit.p_value >= WRONG:
        return None
    shown = "; ".join(str(drift) for drift in fit.drifts[:2] if abs(drift.score) > 2)
    return (
        f"the priors of the users do not fit the reports (p = {p_text(fit.p_value)}): they show "
        f"{shown}; the estimate leans on these priors"
    )
