"""Intervals from exact variance formulas and the normal law.

Bayes: given the reports, people are independent, so Var = sum_y n_y Var(f(X) | y).

Unbiased, about the people: Var(s) = sum_x n_x Var[g(Y) | x]. About the population:
Var(s) = n (E[g(Y)^2] - (s/n)^2). Both depend on the sum s itself. The interval holds every s with
|estimate - s| <= z sqrt(Var(s)), a quadratic equation: for a count this is Wilson's score interval,
and for two symbols the variance under each s is exact. What else the variance depends on (how the
rest of the people spread) is taken from non-negative estimates of their counts.

Source: 001 eq. (14).
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from liftlock.estimate.bayes import posterior_variances
from liftlock.estimate.estimator import Linear
from liftlock.estimate.intervals.shares import likely_counts
from liftlock.estimate.intervals.spread import Spread, Tally
from liftlock.estimate.question import Question
from liftlock.estimate.result import About
from liftlock.exact.integers import Floats

_TINY = 1e-12


def quantile(level: float) -> float:
    """Return z with P(|Z| <= z) = level for a standard normal Z.

    >>> round(quantile(0.95), 4)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + level / 2)


def student(level: float, people: Floats) -> Floats:
    """Return the same quantile of Student's law, for a variance estimated from so many people.

    >>> student(0.95, np.array([31.0, 1e9])).round(4).tolist()
    [2.0423, 1.96]
    """
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(people - 1, 1.0), 0.5 + level / 2))


# --- Bayes --------------------------------------------------------------------------------------


def posterior_normal(estimator: Linear, tally: Tally, level: float) -> Spread:
    """Return estimate +- z sqrt(sum_y (sum a_i^2)_y Var(f | y)), kept within what is possible."""
    values = estimator.values(tally.amounts)
    errors = np.sqrt(tally.squares @ posterior_variances(estimator.model, estimator.question))
    reach = quantile(level) * errors
    low, high = within(estimator.question, tally, values - reach, values + reach)
    return Spread(errors, low, high, "normal")


# --- unbiased -----------------------------------------------------------------------------------


def unbiased_normal(estimator: Linear, tally: Tally, level: float, about: About) -> Spread:
    """Return all s with |estimate - s| <= z sqrt(Var(s)), kept within what is possible."""
    values = estimator.values(tally.amounts)
    if tally.weighted:
        variance = _weighted_variance(estimator, tally, about)
        slope = np.zeros_like(values)
    else:
        variance, slope = _variance_and_slope(estimator, tally, values, about)
    bend = 1.0 / tally.reports if about == "population" and not tally.weighted else 0.0
    low, high = solve(_reach(estimator.question, tally, level), variance, slope, bend)
    ends = within(estimator.question, tally, values + low, values + high)
    return Spread(np.sqrt(np.maximum(variance, 0.0)), *ends, "normal")


def _reach(question: Question, tally: Tally, level: float) -> Floats | float:
    """Return the quantile: Student's where the variance is not known for each possible sum."""
    known = question.counts or len(question.inputs) <= 2
    return quantile(level) if known and not tally.weighted else student(level, tally.people)


def solve(
    z: Floats | float, variance: Floats, slope: Floats, bend: Floats | float
) -> tuple[Floats, Floats]:
    """Return the ends of all d with d^2 <= z^2 (variance + slope d - bend d^2).

    >>> low, high = solve(2.0, np.array([1.0]), np.array([0.0]), 0.0)
    >>> float(low[0]), float(high[0])
    (-2.0, 2.0)
    """
    lead = 1.0 + z**2 * bend
    half = z**2 * slope / 2
    root = np.sqrt(np.maximum(half**2 + lead * z**2 * variance, 0.0))
    return (half - root) / lead, (half + root) / lead


def within(question: Question, tally: Tally, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Keep the ends where the truth can be; with negative weights it can be anywhere."""
    if tally.signed:
        return low, high
    least, most = possible(question, tally)
    return np.clip(low, least, most), np.clip(high, least, most)


def possible(question: Question, tally: Tally) -> tuple[Floats, Floats]:
    """Return the least and the largest sum there can be, if no weight is negative."""
    return tally.total * question.values.min(axis=0), tally.total * question.values.max(axis=0)


def _variance_and_slope(
    estimator: Linear, tally: Tally, values: Floats, about: About
) -> tuple[Floats, Floats]:
    """Return Var(s) at the estimate, and how fast it grows with s.

    With w(x) = E[g(Y)^2 | x] about the middle of what f can be, and f for g - middle on average,

        Var(s) = sum_x n_x w(x) - sum_x n_x f(x)^2      about the people,
        Var(s) = sum_x n_x w(x) - s^2 / n               about the population.

    Along the regression of the summands on f this is linear in s (but for the s^2 that is written
    out), and for two symbols exactly so.
    """
    question, rows, reports = estimator.question, estimator.model.rows, tally.reports
    middle = (question.values.min(axis=0) + question.values.max(axis=0)) / 2
    f, squares = question.values - middle, (estimator.scores - middle) ** 2
    people = likely_counts(estimator.model, tally.counts)
    # One more person, who is like everybody: no symbol is without weight in the regression.
    weights = people + estimator.model.reference
    if question.of == "histogram":
        # w is needed where f is not -1/2 only: a product of matrices would be most of the work.
        own = np.einsum("xy,yx->x", rows, squares)
        products = weights * own + (weights @ rows @ squares) * f.min(axis=0)
    else:
        products = weights @ (f * (rows @ squares))
    sums, variance = weights @ rows @ squares, people @ rows @ squares
    if about == "people":
        products = products - weights @ f**3
        sums, variance = sums - weights @ f**2, variance - people @ f**2
    total = weights.sum(axis=-1, keepdims=True)
    centre = weights @ f / total
    along = weights @ f**2 / total - centre**2
    across = products / total - centre * sums / total
    # Where everybody counts alike there is no slope, whatever the unit f is measured in.
    varied = along > _TINY * np.abs(f).max(axis=0) ** 2
    slope = np.divide(across, along, out=np.zeros_like(across), where=varied)
    ahead = values - reports * middle
    variance = variance + slope * (ahead - people @ f)
    if about == "population":
        variance = variance - ahead**2 / reports
        slope = slope - 2 * ahead / reports
    return variance, slope


def _weighted_variance(estimator: Linear, tally: Tally, about: About) -> Floats:
    """Return sum_i a_i^2 Var: given x about the people, of any person's score about all."""
    if about == "people":
        found: Floats = likely_counts(estimator.model, tally.squares) @ estimator.variances
        return found
    total = tally.total
    centre = np.divide(
        estimator.values(tally.amounts),
        total,
        out=np.array(estimator.values(tally.counts) / tally.reports),
        where=total**2 > _TINY * tally.squares.sum(axis=-1, keepdims=True),
    )
    gaps = estimator.scores - centre[..., None, :]
    drawn: Floats = np.einsum("...k,...kt->...t", tally.squares, gaps**2)
    return drawn * tally.reports / np.maximum(tally.reports - 1, 1)
