"""Whether the priors of the users were right: the reports test all of them together.

If every prior is right, a posterior mass is the prior mass on average, so

    z(x) = sum_i (P_i(x | report) - P_i(x)) / sqrt(sum_i Var_i P_i(x | report))

has mean 0 and variance 1, with variances that are known before any report. A positive z says that
more people have the value x than their priors expected.
"""

from __future__ import annotations

import math

from liftlock.alphabet import Alphabet
from liftlock.estimate.choosing import WRONG, p_text
from liftlock.estimate.fit import Drift, Fit
from liftlock.local.aggregate import LocalAggregate

ENOUGH = 5.0
"""Symbols that fewer people are expected to have, or not to have, are too rare for a normal law."""


def test_priors(alphabet: Alphabet, aggregate: LocalAggregate) -> Fit:
    """Test the priors symbol by symbol; the p-value is the smallest, times how many were tested."""
    people = aggregate.reports
    posteriors, priors = aggregate.floats("posteriors"), aggregate.floats("priors")
    spreads = aggregate.floats("spreads")
    drifts = []
    for label, found, expected, variance in zip(
        alphabet.labels, posteriors, priors, spreads, strict=True
    ):
        if variance > 0 and ENOUGH <= expected <= people - ENOUGH:
            score = float((found - expected) / math.sqrt(variance))
            drifts.append(Drift(label, float(expected / people), None, score))
    drifts.sort(key=lambda drift: -abs(drift.score))
    if not drifts:
        return Fit(1.0, 0.0, None, (), "too few people for a test")
    largest = abs(drifts[0].score)
    p_value = min(1.0, len(drifts) * math.erfc(largest / math.sqrt(2.0)))
    note = f"the largest of {len(drifts)} standard scores"
    return Fit(p_value, largest, None, tuple(drifts), note)


def misfit(fit: Fit) -> str | None:
    """Return the warning about priors that do not fit, with the direction, or None if they may."""
    if fit.p_value >= WRONG:
        return None
    shown = "; ".join(str(drift) for drift in fit.drifts[:2] if abs(drift.score) > 2)
    return (
        f"the priors of the users do not fit the reports (p = {p_text(fit.p_value)}): they show "
        f"{shown}; the estimate leans on these priors"
    )
