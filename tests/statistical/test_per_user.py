"""Users with priors of their own: intervals cover, errors are as large as expected, tests hold.

What leans on the priors is tested with people of these priors, what does not with others.

Seeds are fixed. The coverage of 95 % intervals in 2,000 runs has a standard error below 0.5 % for
each symbol and 0.25 % for all five, so with other seeds limits of 1.5 % for all would fail less
than once in 10^6 times, and those of 2 % for each once in 10^4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from liftlock import Mechanism, PerUserPriors, design
from liftlock.estimate import Answer, PerUserAggregate
from liftlock.model.structured import ArcChannel, SafeChannel
from liftlock.notions import LIP

RUNS = 2000
USERS = 200
NUMBERS = [0, 1, 2, 3, 4]
METHODS = ("arc", "safe-response")


@pytest.fixture(scope="module", params=METHODS)
def runs(request: pytest.FixtureRequest) -> tuple[Mechanism, Any, Any, Any]:
    """2,000 runs of 200 users, each with a random prior, a value from it, and a report."""
    rng = np.random.default_rng(11)
    masses = rng.dirichlet(np.ones(5), RUNS * USERS)
    people = (rng.random(RUNS * USERS)[:, None] > masses.cumsum(axis=1)).sum(axis=1)
    people = np.minimum(people, 4)
    mechanism = design(NUMBERS, LIP("1.5"), method=request.param)
    priors = PerUserPriors.of(NUMBERS, masses)
    reports = mechanism.simulate(people, priors, seed=5, coded=True)
    return mechanism, masses, people, reports


def each_run(
    runs: tuple[Mechanism, Any, Any, Any], number: int
) -> list[tuple[PerUserPriors, npt.NDArray[Any], npt.NDArray[Any]]]:
    _, masses, people, reports = runs
    found = []
    for run in range(number):
        some = slice(run * USERS, (run + 1) * USERS)
        found.append((PerUserPriors.of(NUMBERS, masses[some]), people[some], reports[some]))
    return found


def test_intervals_cover_and_errors_are_as_expected(
    runs: tuple[Mechanism, Any, Any, Any],
) -> None:
    """Histograms: coverage of 95 %, the mean squared error, and false alarms of the fit."""
    mechanism, masses, _, _ = runs
    inside, squared, alarms = [], [], []
    total: PerUserAggregate | None = None
    for priors, people, reports in each_run(runs, RUNS):
        aggregate = mechanism.aggregate(reports, priors, coded=True)
        found = mechanism.estimate(aggregate, method="bayes")
        truth = np.bincount(people, minlength=5)
        values = np.array([answer.value for answer in found.answers])
        low = np.array([answer.low for answer in found.answers])
        high = np.array([answer.high for answer in found.answers])
        inside.append((low <= truth) & (truth <= high))
        squared.append((values - truth) ** 2)
        assert found.fit is not None
        alarms.append(found.fit.p_value < 0.05)
        total = aggregate if total is None else total + aggregate
    assert 0.935 < np.mean(inside) < 0.965
    assert np.mean(inside, axis=0).min() > 0.93
    expected = mechanism.expected_error(PerUserPriors.of(NUMBERS, masses))
    errors = np.mean(squared, axis=0) / USERS
    # A mean of 2,000 squares of nearly normal errors has a relative error of sqrt(2 / 2000).
    assert errors == pytest.approx(expected.per_person, rel=5 * np.sqrt(2 / RUNS))
    assert np.mean(errors) == pytest.approx(np.mean(expected.per_person), rel=0.06)
    # For so few users a bound, times five symbols: at most 5 %, and much less.
    assert np.mean(alarms) < 0.05
    assert total is not None
    assert total == mechanism.aggregate(runs[3], PerUserPriors.of(NUMBERS, masses), coded=True)


def test_false_alarms_of_larger_groups(runs: tuple[Mechanism, Any, Any, Any]) -> None:
    """40 groups of 10,000 users: more than 8 alarms at 5 % have probability below 4e-4."""
    mechanism, masses, _, reports = runs
    alarms = 0
    for start in range(0, len(masses), 10_000):
        some = slice(start, start + 10_000)
        found = mechanism.estimate(
            reports[some], priors=PerUserPriors.of(NUMBERS, masses[some]), coded=True
        )
        assert found.fit is not None
        alarms += found.fit.p_value < 0.05
    assert alarms <= 8


def test_weighted_sums_cover(runs: tuple[Mechanism, Any, Any, Any]) -> None:
    """300 runs: the standard error of the coverage is 1.3 %; all limits are four such errors."""
    mechanism = runs[0]
    value = [0, 3] if isinstance(mechanism.channel, ArcChannel) else None
    rng = np.random.default_rng(3)
    weights, offsets = rng.gamma(2.0, 1.0, USERS), rng.normal(size=USERS)
    scores = []
    for priors, people, reports in each_run(runs, 300):
        found = mechanism.estimate(
            reports,
            "sum" if value is None else "survey",
            priors=priors,
            value=value,
            weights=weights,
            offsets=offsets,
            coded=True,
            method="bayes",
        ).answer
        numbers = people if value is None else np.isin(people, value)
        truth = float(weights @ numbers + offsets.sum())
        assert found.error is not None
        scores.append((found.value - truth) / found.error)
    assert abs(np.mean(scores)) < 4 / np.sqrt(300)
    assert np.std(scores) == pytest.approx(1, abs=4 / np.sqrt(600))
    assert np.mean(np.abs(scores) < 1.959964) == pytest.approx(0.95, abs=0.05)


@pytest.mark.parametrize("method", ["arc", "safe-response"])
def test_budgets_that_differ_by_user(method: str) -> None:
    """400 runs of 1,000 users with three budgets. All limits are four standard errors.

    The chance of a false alarm is below 1 in 10,000 for each of the three limits.
    """
    rng = np.random.default_rng(11)
    users, runs = 1000, 400
    masses = rng.dirichlet(np.full(len(NUMBERS), 1.5), users)
    own = [("0.3", "1", "3")[place] for place in rng.integers(0, 3, users)]
    priors = PerUserPriors.of(NUMBERS, masses).with_budgets(own)
    made = design(NUMBERS, LIP("3"), method=method, budgets=["0.3", "1", "3"])
    expected = made.expected_error(priors, "survey", value=NUMBERS[0])
    scores, errors = [], []
    for run in range(runs):
        drawn = (rng.random(users)[:, None] > masses.cumsum(axis=1)).sum(axis=1)
        people = np.minimum(drawn, len(NUMBERS) - 1)
        reports = made.simulate(people, priors, seed=run, coded=True)
        found = made.estimate(
            reports, "survey", value=NUMBERS[0], priors=priors, coded=True, method="bayes"
        ).answer
        assert found.error is not None
        errors.append(found.value - (people == 0).sum())
        scores.append(errors[-1] / found.error)
    assert abs(np.mean(scores)) < 4 / runs**0.5
    inside = np.mean(np.abs(scores) < 1.959964)
    assert abs(inside - 0.95) < 4 * (0.95 * 0.05 / runs) ** 0.5
    # The square of a normal error has the relative variance 2.
    ratio = np.mean(np.square(errors)) / expected.errors[0] ** 2
    assert abs(ratio - 1) < 4 * (2 / runs) ** 0.5


def test_reports_under_a_set_of_priors_are_the_table_that_is_proved() -> None:
    """A chi-square test of 200,000 reports of one value: a false alarm in 1 of 100,000 runs."""
    from scipy.stats import chisquare

    members = np.array([[0.2, 0.3, 0.5], [0.3, 0.3, 0.4], [0.1, 0.5, 0.4]])
    priors = PerUserPriors.families("abc", np.broadcast_to(members, (200_000, 3, 3)))
    made = design("abc", LIP("1"), method="safe-response")
    assert isinstance(made.channel, SafeChannel)
    block = next(made.channel.blocks(priors))
    keep = int(made.channel.keeps(block)[0])
    points = 2.0**32
    chances = (points - keep) / points * block.counts[0] / points
    chances[1] += keep / points
    reports = made.simulate(np.ones(200_000, dtype=np.int64), priors, seed=4, coded=True)
    seen = np.bincount(np.asarray(reports), minlength=3)
    assert chisquare(seen, 200_000 * chances / chances.sum()).pvalue > 1e-5


DRIFTS = (0.0, 0.05, 0.3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("users", [100, 1000])
def test_intervals_hold_whatever_the_users_have(method: str, users: int) -> None:
    """People off their priors: 300 runs each of three drifts, about the people and the population.

    A part of the users has the last value, whatever their priors say. An interval whose coverage is
    0.95 holds 267 times or more of 300 but with probability 1e-5: the 33 limits of one call fail
    once in 3,000 seeds at most. Nothing here keeps so often if it leans on the priors.
    """
    rng = np.random.default_rng(23)
    made = design(NUMBERS, LIP("1.5"), method=method)
    leaning = 0
    for drift in DRIFTS:
        masses = np.maximum(rng.dirichlet(np.full(5, 2.0), users), 1e-3)
        masses /= masses.sum(axis=1, keepdims=True)
        priors = PerUserPriors.of(NUMBERS, masses)
        true = (1.0 - drift) * masses + drift * np.eye(5)[4]
        shares = true.sum(axis=0)
        held, drawn, means, leans = np.zeros(5), np.zeros(5), 0, 0
        for run in range(300):
            draws = rng.random(users)[:, None] > true.cumsum(axis=1)
            people = np.minimum(draws.sum(axis=1), 4)
            reports = made.simulate(people, priors, seed=run, coded=True)
            sums = made.aggregate(reports, priors, coded=True)
            found = made.estimate(sums)
            assert found.holds == "whatever the truth"
            assert found.beside is not None
            truth = np.bincount(people, minlength=5)
            held += [
                inside(answer, count) for answer, count in zip(found.answers, truth, strict=True)
            ]
            leans += inside(found.beside.answers[4], truth[4])
            wide = made.estimate(sums, about="population").answers
            drawn += [inside(answer, count) for answer, count in zip(wide, shares, strict=True)]
            mean = made.estimate(reports, "mean", priors=priors, coded=True).answer
            means += inside(mean, float(np.mean(people)))
        assert min(held.min(), drawn.min(), means) >= 267, (drift, held, drawn, means)
        leaning = leans
    assert leaning < 100


def inside(answer: Answer, truth: float) -> bool:
    assert answer.low is not None
    assert answer.high is not None
    return bool(answer.low - 1e-9 <= truth <= answer.high + 1e-9)
