"""Bayes estimates with a prior of a stated strength: it counts as so many people.

People are drawn from shares that nobody knows, and the shares are drawn around the prior: from the
Dirichlet distribution whose mean is the prior P, with as much certainty as k people would give,

    Cov(shares) = (diag(P) - P P^T) / (k + 1).

Of all estimates that add up a score for each report, the best one on average over such shares
follows from the first two moments of the true sum S and of the counts N of reports,

    E[S] + Cov(S, N) Cov(N)^+ (N - E[N]),    with the error Var(S) - Cov(S, N) Cov(N)^+ Cov(N, S).

A prior of infinite strength gives the Bayes estimate, one of no strength the unbiased one. The
interval is the normal one of this error: it holds on average over priors of that strength, and for
one truth it may hold far less often than it says.

Source: math linear Bayes estimate under a Dirichlet prior.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from liftlock.errors import InputError, NotDefined
from liftlock.estimate.intervals.base import IntervalEstimate, IntervalRequest, quantile
from liftlock.estimate.models import CountedReports, Dense, Model
from liftlock.estimate.question import About
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact

if TYPE_CHECKING:
    from liftlock.estimate.estimators import Estimator

_TINY = 1e-10
_FEW = 30
"""So few reports, and intervals that reach an edge of what is possible, are not nearly normal."""


ROUGH = (
    "intervals of a prior with a strength are normal, which is rough for few reports and at the "
    "edge of what is possible: there they may hold less often than they say"
)
"""What is said of intervals that are not nearly normal."""


def read_strength(strength: object) -> float:
    """Read how many people a prior counts as.

    >>> read_strength("500")
    500.0
    """
    number = exact(strength, name="strength")
    if number <= 0:
        raise InputError(
            "the strength of the prior is not above 0",
            value=strength,
            remedy="say how many people the prior counts as",
        )
    return float(number)


def strength_words(strength: float) -> str:
    """Write when an estimate with a prior of that strength holds."""
    return f"on average over priors as good as {strength:,g} people"


def estimate_with_strength(
    estimator: Estimator[Model],
    counted: CountedReports,
    strength: float,
    level: float,
    about: About,
    together: bool,
) -> tuple[Floats, IntervalEstimate]:
    """Return the estimates and their intervals."""
    model, question = estimator.model, estimator.question
    if not isinstance(model, Dense) or question.behind is not None:
        raise NotDefined(
            "a prior of a stated strength",
            "other reports than those of a table of values",
            "leave the strength out",
        )
    if counted.weights is not None:
        raise NotDefined(
            "a prior of a stated strength", "weighted reports", "leave the strength or weights out"
        )
    tally = model.tally(counted)  # type: ignore[arg-type]
    number, masses = counted.reports, model.masses
    assert masses is not None
    f = question.values - masses @ question.values
    reports = masses @ model.rows
    # Two people have covariances through the shares only, one person also of her own.
    drawn = (np.diag(masses) - np.outer(masses, masses)) / (strength + 1.0)
    mixed = model.rows.T @ drawn
    two = mixed @ model.rows
    own = np.diag(reports) - np.outer(reports, reports)
    counts = number * own + number * (number - 1.0) * two
    joint = (masses[:, None] * f).T @ model.rows
    sums = number * joint.T + number * (number - 1.0) * (mixed @ f)
    spread = masses @ f**2
    varies = number * spread + number * (number - 1.0) * spread / (strength + 1.0)
    if about == "population":
        sums = number * number * (mixed @ f)
        varies = number**2 * spread / (strength + 1.0)
    solved = np.linalg.pinv(counts, rcond=_TINY, hermitian=True) @ sums
    values = number * (masses @ question.values) + (tally.counts - number * reports) @ solved
    errors = np.sqrt(np.maximum(varies - (sums * solved).sum(axis=0), 0.0))
    request = IntervalRequest(estimator, tally.counts, tally, level, about, together=together)
    reach = quantile(1.0 - request.one_error) * errors
    least, most = model.possible_range(question, tally) or (-np.inf, np.inf)
    low, high = values - reach, values + reach
    rough = number < _FEW or bool(((low < least) | (high > most)).any())
    remarks = (ROUGH,) if rough else ()
    low, high = np.clip(low, least, most), np.clip(high, least, most)
    return values, IntervalEstimate(errors, low, high, "normal", remarks)
