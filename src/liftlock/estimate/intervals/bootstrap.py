"""Intervals by simulation: the channel is run again on people who look like those who reported.

About the people, as many people with each value as the reports make likely report again; about the
population, people are drawn again as well. For the Bayes estimator the values of the people are
drawn from what the prior and the reports say of them.

The ends are quantiles of the simulated estimates (mid-p). In the settings where the ways were
compared, quantiles held the truth at least 91 times in 100 with intervals of 95 %; reflecting them
at the estimate, or correcting for its bias, 42 and 73 times. For rarer values quantiles were seen
to do so 70 times only, and no rule tells where: every such interval says that others are better.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.estimate.estimators import Estimator, Linear
from liftlock.estimate.estimators.likelihood import most_likely
from liftlock.estimate.intervals.base import Spread, whole_counts
from liftlock.estimate.model import Dense
from liftlock.estimate.question import About
from liftlock.exact.integers import Floats

DRAWS = 2000
MOST_WORK = 100_000_000
"""So many binomial numbers are drawn at most, a few seconds' worth."""

Counts = npt.NDArray[np.int64]


def simulated_counts(
    model: Dense, people: Counts, draws: int, about: About, source: np.random.Generator
) -> Floats:
    """Return counts of outputs (draws, k) of people (m) who report again, or are drawn again."""
    if about == "population":
        mixed = model.mixture(people / people.sum())
        return source.multinomial(int(people.sum()), mixed / mixed.sum(), draws).astype(np.float64)
    found = np.zeros((draws, model.rows.shape[1]))
    for number, row in zip(people.tolist(), model.rows, strict=True):
        if number:
            found += source.multinomial(number, row / row.sum(), draws)
    return found


def bootstrap(
    estimator: Estimator[Dense], counts: Counts, level: float, about: About, seed: int
) -> Spread:
    """Return quantiles of the estimates from simulated reports."""
    model = estimator.model
    _refuse_large(model.rows.size)
    source = np.random.default_rng(seed)
    likely = most_likely(model.rows, counts.astype(np.float64), model.reference).shares
    people = whole_counts(counts.sum() * likely).astype(np.int64)
    drawn = estimator.values(simulated_counts(model, people, DRAWS, about, source))
    return _spread(drawn, level)


def posterior_bootstrap(
    estimator: Linear[Dense], counts: Counts, level: float, seed: int
) -> Spread:
    """Return equal tails of sums over people whose values are drawn from P(x | y)."""
    model = estimator.model
    _refuse_large(model.rows.size)
    source = np.random.default_rng(seed)
    people = np.zeros((DRAWS, model.symbols))
    for number, belief in zip(counts.tolist(), model.posteriors, strict=True):
        if number:
            people += source.multinomial(number, belief / belief.sum(), DRAWS)
    return _spread(people @ estimator.question.values, level)


def _spread(drawn: Floats, level: float) -> Spread:
    low, high = np.array([middle_quantiles(column, level) for column in drawn.T]).T
    return Spread(drawn.std(axis=0, ddof=1), low, high, "bootstrap")


def middle_quantiles(drawn: Floats, level: float) -> tuple[float, float]:
    """Return the least and the largest value with more than (1 - level)/2 on either side.

    A value that was drawn often counts half to each side (mid-p), so that few different values do
    not make the interval wider.

    >>> middle_quantiles(np.array([0.0] * 4 + [1.0] * 92 + [2.0] * 4), 0.95)
    (1.0, 1.0)
    """
    values, numbers = np.unique(drawn, return_counts=True)
    below = (np.cumsum(numbers) - numbers / 2) / len(drawn)
    tail = (1 - level) / 2
    inside = values[(below > tail) & (below < 1 - tail)]
    if not len(inside):
        inside = values[[int(np.argmax(numbers))]]
    return float(inside[0]), float(inside[-1])


def _refuse_large(cells: int) -> None:
    if DRAWS * cells > MOST_WORK:
        raise InputError(
            f"a bootstrap of a channel with {cells:,} entries takes too long",
            remedy="ask for normal intervals, which need no simulation",
        )
