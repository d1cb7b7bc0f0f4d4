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
    if tally.weighted or any(len(np.unique(column)) > 2 for column in question.values.T):
        return student(level, tally.people)
    return quantile(level)


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

    With a variance v(x) for each value of a person, Var(s) = sum_x n_x v(x). Along the regression
    of v on f this is linear in s, for two symbols exactly.
    """
    reports = tally.reports
    people = likely_counts(estimator.model, tally.counts)
    rows, f = estimator.model.rows, estimator.question.values
    means = rows @ estimator.scores
    each = estimator.variances
    if about == "population":
        # E[g^2 | x] about the middle of the answers; the square of the mean is taken off below.
        middle = (f.min(axis=0) + f.max(axis=0)) / 2
        each = each + (means - middle) ** 2
    slope, rest = _regression(people + estimator.model.reference, f, each, people)
    variance = rest + slope * values
    if about == "population":
        centre = values / reports - middle
        variance = variance - reports * centre**2
        slope = slope - 2 * centre
    return variance, slope


def _regression(weights: Floats, f: Floats, each: Floats, people: Floats) -> tuple[Floats, Floats]:
    """Return slope and constant of sum_x n_x v(x) as a function of s = sum_x n_x f(x)."""
    total = weights.sum(axis=-1, keepdims=True)
    centre_f = weights @ f / total
    centre_v = weights @ each / total
    across = weights @ (f * each) / total - centre_f * centre_v
    along = weights @ f**2 / total - centre_f**2
    slope = np.divide(across, along, out=np.zeros_like(across), where=along > _TINY)
    return slope, people @ each - slope * (people @ f)


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
        where=np.abs(total) > _TINY,
    )
    gaps = estimator.scores - centre[..., None, :]
    drawn: Floats = np.einsum("...k,...kt->...t", tally.squares, gaps**2)
    return drawn * tally.reports / np.maximum(tally.reports - 1, 1)
