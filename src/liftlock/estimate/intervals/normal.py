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

import numpy as np

from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.encoding import Encoding, sums_symbols
from liftlock.estimate.estimators import Linear
from liftlock.estimate.estimators.consistent import projected
from liftlock.estimate.intervals.base import Spread, Tally, likely_counts, quantile, within
from liftlock.estimate.mixture import Mixture, ThroughProfiles
from liftlock.estimate.model import Dense
from liftlock.estimate.per_user import PosteriorSums
from liftlock.estimate.question import About, Question
from liftlock.exact.integers import Floats

_TINY = 1e-12
_FEW = 4.0
"""Counts of people with a smaller variance are not nearly normal."""
_ENOUGH = 5.0
"""With fewer expected supports of an encoding than this the normal law is rough."""


def student(level: float, people: Floats) -> Floats:
    """Return the same quantile of Student's law, for a variance estimated from so many people.

    >>> student(0.95, np.array([31.0, 1e9])).round(4).tolist()
    [2.0423, 1.96]
    """
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(people - 1, 1.0), 0.5 + level / 2))


# --- Bayes --------------------------------------------------------------------------------------


def posterior_normal(estimator: Linear[Dense], tally: Tally, level: float) -> Spread:
    """Return estimate +- z sqrt(sum_y (sum a_i^2)_y Var(f | y)), kept within what is possible."""
    values = estimator.values(tally.amounts)
    errors = np.sqrt(tally.squares @ estimator.model.posterior_variances(estimator.question))
    reach = quantile(level) * errors
    low, high = within(estimator.question, tally, values - reach, values + reach)
    return Spread(errors, low, high, "normal")


def sums_normal(question: Question, counted: PosteriorSums, level: float) -> Spread:
    """Return the sums of posterior means +- z sqrt(sum_i Var(f | report i))."""
    errors = np.sqrt(counted.variances)
    reach = quantile(level) * errors
    low, high = counted.sums - reach, counted.sums + reach
    if not question.counts or counted.weighted:
        return Spread(errors, low, high, "normal")
    low, high = np.clip([low, high], 0.0, float(counted.reports))
    found = Spread(errors, low, high, "normal")
    if (counted.variances >= _FEW).all():
        return found
    return found.remarked("intervals of counts with an error below 2 are rough: the count is whole")


# --- unbiased -----------------------------------------------------------------------------------


def unbiased_normal(estimator: Linear[Dense], tally: Tally, level: float, about: About) -> Spread:
    """Return all s with |estimate - s| <= z sqrt(Var(s)), kept within what is possible."""
    values = estimator.values(tally.amounts)
    if tally.weighted:
        variance, slope, bend = _weighted(estimator, tally, about)
    else:
        variance, slope = _variance_and_slope(estimator, tally, values, about)
        bend = float(about == "population") / tally.reports
    low, high = solve(_reach(estimator.question, tally, level), variance, slope, bend)
    ends = within(estimator.question, tally, values + low, values + high)
    return Spread(np.sqrt(np.maximum(variance, 0.0)), *ends, "normal")


def _reach(question: Question, tally: Tally, level: float) -> Floats | float:
    """Return the quantile: Student's where the variance under each possible sum is not known."""
    if question.counts or len(question.inputs) <= 2:
        return quantile(level)
    return student(level, tally.reports)


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


def _variance_and_slope(
    estimator: Linear[Dense], tally: Tally, values: Floats, about: About
) -> tuple[Floats, Floats]:
    """Return Var(s) at the estimate, and how fast it grows with s.

    With w(x) = E[g(Y)^2 | x] about the middle of what f can be, and f for f - middle,

        Var(s) = sum_x n_x w(x) - sum_x n_x f(x)^2      about the people,
        Var(s) = sum_x n_x w(x) - s^2 / n               about the population.

    Along the regression of the summands on f this is linear in s (but for the s^2 that is written
    out), and for two symbols exactly so.
    """
    people = likely_counts(estimator.model, tally.counts)
    variance, slope, f = _regression(estimator, people, about)
    middle = estimator.question.values[0] - f[0]
    ahead = values - tally.reports * middle
    variance = variance + slope * (ahead - people @ f)
    if about == "population":
        variance = variance - ahead**2 / tally.reports
        slope = slope - 2 * ahead / tally.reports
    return variance, slope


def _regression(
    estimator: Linear[Dense], people: Floats, about: About
) -> tuple[Floats, Floats, Floats]:
    """Return sum_x n_x v(x), the slope of v on f, and f about its middle.

    v is w - f^2 about the people and w about the population.
    """
    question, rows = estimator.question, estimator.model.rows
    middle = (question.values.min(axis=0) + question.values.max(axis=0)) / 2
    f, squares = question.values - middle, (estimator.scores - middle) ** 2
    # One more person, who is like everybody: no symbol is without weight in the regression.
    weights = people + estimator.model.reference
    mixed = weights @ rows @ squares
    if question.is_histogram:
        # w is needed for the symbol itself only: a product of matrices would be most of the work.
        own = np.einsum("xy,yx->x", rows, squares)
        products = weights * own + mixed * f.min(axis=0)
    else:
        products = weights @ (f * (rows @ squares))
    sums, variance = mixed, people @ rows @ squares
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
    return variance, slope, f


def _weighted(
    estimator: Linear[Dense], tally: Tally, about: About
) -> tuple[Floats, Floats, Floats]:
    """Return sum_i a_i^2 Var at the estimate, its slope, and its bend.

    About the people a_i^2 is estimated for each value, so weights may go with values. About the
    population they do not (people are drawn at random), and the variance is that of any person.
    """
    total, squares = tally.total, tally.squares.sum(axis=-1, keepdims=True)
    if about == "people":
        people = likely_counts(estimator.model, tally.squares)
        variance, slope, _ = _regression(estimator, people, about)
        return variance, np.zeros_like(slope), np.zeros_like(total)
    # As if all had the same weight: then the sum is this many times that of the reports.
    scale = total / tally.reports
    alike = estimator.values(tally.counts)
    if not tally.signed:
        alike = estimator.values(tally.amounts) / np.where(scale > 0, scale, 1.0)
    variance, slope = _variance_and_slope(estimator, Tally.plain(tally.counts), alike, about)
    larger = squares / tally.reports
    if tally.signed:
        return larger * variance, np.zeros_like(slope), np.zeros_like(total)
    ratio = np.divide(larger, scale, out=np.zeros_like(scale), where=scale > 0)
    bend = np.divide(squares, total**2, out=np.zeros_like(total), where=total > 0)
    return larger * variance, ratio * slope, bend


# --- values, read through profiles ----------------------------------------------------------------


def profiles_normal(estimator: Linear[Mixture], tally: Tally, level: float) -> Spread:
    """Return intervals for the values of the people, of whom the reports tell the profiles.

    Given the profiles, people are independent, and their values and reports are drawn together:

        Var(estimate - truth) = sum_i n_i E[(g(Y) - f(X))^2 | profile i].

    If the reports do not determine how many people n_i have each profile, the largest term counts
    for all of them.
    """
    question = estimator.question
    assert isinstance(question, ThroughProfiles)
    each = estimator.model.error_variances(estimator.scores, question)
    values = estimator.values(tally.amounts)
    if estimator.model.inverse.full:
        variance = likely_counts(estimator.model, tally.squares) @ each
    else:
        variance = tally.squares.sum(axis=-1, keepdims=True) * each.max(axis=0)
    errors = np.sqrt(variance)
    reach = student(level, tally.people) * errors
    found = Spread(errors, *within(question, tally, values - reach, values + reach), "normal")
    if estimator.model.inverse.full:
        return found
    return found.remarked(
        "the reports do not determine the profiles, only this: the variance is that of the profile "
        "with the largest one, wide enough whatever the shares"
    )


# --- encodings ----------------------------------------------------------------------------------


def encoding_normal(
    estimator: Linear[Encoding], aggregate: Aggregate, level: float, about: About
) -> Spread:
    """Return normal intervals from the counts of an encoding.

    For one symbol without weights the variance is that of a binomial count: known for each count
    that it may be.
    """
    model, question = estimator.model, estimator.question
    p, q = model.rates
    values = estimator.values(model.statistic(aggregate))
    variance = encoding_variances(estimator, aggregate, about)
    slope: Floats = np.zeros_like(values)
    bend = 0.0
    if question.counts and not sums_symbols(question) and aggregate.weights is None:
        slope = slope + (1 - p - q) / (p - q)
        if about == "population":
            rate = q + (p - q) * values / aggregate.reports
            variance = aggregate.reports * rate * (1 - rate) / (p - q) ** 2
            slope = (1 - 2 * rate) / (p - q)
            bend = 1.0 / aggregate.reports
    low, high = solve(quantile(level), variance, slope, bend)
    low, high = values + low, values + high
    if aggregate.weights is None:
        least, most = question.values.min(axis=0), question.values.max(axis=0)
        low, high = np.clip([low, high], aggregate.reports * least, aggregate.reports * most)
    found = Spread(np.sqrt(np.maximum(variance, 0.0)), low, high, "normal")
    if aggregate.reports * min(q, 1 - p) >= _ENOUGH:
        return found
    return found.remarked("the normal law is rough for so few reports: the level is not kept")


def encoding_variances(estimator: Linear[Encoding], aggregate: Aggregate, about: About) -> Floats:
    """Return unbiased estimates of the variances, about the people or the population.

    A population adds the variance of f(X) itself, with the shares that the reports speak for.
    """
    model = estimator.model
    parts = estimator.scores[:-1] ** 2
    squares, total = aggregate.squares(), aggregate.total_squares
    if about == "people":
        found: Floats = model.noise(model.counts(squares, total), np.array(total)) @ parts
        return found
    number = float(aggregate.reports)
    shares = projected(model.counts(aggregate.floats(), number) / number, np.ones(1))
    f = estimator.question.values - shares @ estimator.question.values
    drawn = model.noise(shares, np.ones(())) @ parts + shares @ f**2
    spread: Floats = total * drawn
    return spread
