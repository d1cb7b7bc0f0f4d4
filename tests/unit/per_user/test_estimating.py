"""Answers from sums: against fractions, against other forms of the same number, and what warns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm

from liftlock import PerUserPriors, Prior, design
from liftlock.errors import InputError
from liftlock.estimate.question import ask
from liftlock.notions import LIP
from tests.unit.per_user.worlds import (
    LABELS,
    METHODS,
    exact_posteriors,
    posteriors_of,
    some_masses,
    some_people,
    world,
)

NUMBERS = [0, 1, 2, 5, 9]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("of", ["histogram", "survey", "sum", "mean"])
def test_posterior_means_and_variances(method: Any, weighted: bool, of: str) -> None:
    """Sum a_i E[f(X_i) | y] + b_i and sum a_i^2 Var[f(X_i) | y], on fractions."""
    masses = some_masses(30)
    mechanism = design(NUMBERS, LIP("1"), method=method)
    priors = PerUserPriors.of(NUMBERS, masses)
    reports = mechanism.simulate(some_people(masses), priors, seed=3, coded=True)
    assert isinstance(reports, np.ndarray)
    rng = np.random.default_rng(4)
    weights, offsets = rng.normal(1, 1, 30), rng.normal(size=30)
    given: dict[str, Any] = {"weights": weights, "offsets": offsets} if weighted else {}
    value = [1, 9] if of == "survey" else None
    found = mechanism.estimate(
        reports, of, priors=priors, value=value, coded=True, level="0.9", method="bayes", **given
    )
    a = [Fraction(float(w)) if weighted else Fraction(1) for w in weights]
    b = sum((Fraction(float(o)) for o in offsets), Fraction(0)) if weighted else Fraction(0)
    exact = exact_posteriors(mechanism, masses, reports)
    question = ask(mechanism.channel.inputs, of, value)
    for answer, column in zip(found.answers, question.values.T.tolist(), strict=True):
        f = [Fraction(number) for number in column]
        means = [sum(p * v for p, v in zip(row, f, strict=True)) for row in exact]
        seconds = [sum(p * v * v for p, v in zip(row, f, strict=True)) for row in exact]
        total = sum(x * m for x, m in zip(a, means, strict=True)) + b
        variance = sum(x * x * (s - m * m) for x, m, s in zip(a, means, seconds, strict=True))
        scale = sum(a) if of == "mean" else 1
        assert answer.value == pytest.approx(float(total / scale), rel=1e-9)
        assert answer.error is not None
        assert answer.error == pytest.approx(float(variance) ** 0.5 / abs(float(scale)), rel=1e-7)
        assert answer.low is not None
        assert answer.high is not None
        reach = norm.ppf(0.95) * answer.error
        low, high = answer.value - reach, answer.value + reach
        if question.counts and not weighted:
            low, high = max(low, 0), min(high, 30)
        assert (answer.low, answer.high) == pytest.approx((low, high), rel=1e-9)
    assert found.method == "bayes"
    assert found.total == pytest.approx(float(sum(a)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("of", ["histogram", "survey", "mean"])
def test_expected_error_is_the_mean_over_all_reports(method: Any, of: str) -> None:
    """By summing over values and reports of each user (a grid of 2^14 starts for the arc)."""
    masses = some_masses(8)
    mechanism = design(NUMBERS, LIP("1"), method=method)
    value = [1, 9] if of == "survey" else None
    question = ask(mechanism.channel.inputs, of, value)
    expected = np.zeros(question.values.shape[1])
    for row in masses:
        outputs: npt.NDArray[Any]
        if method == "arc":
            outputs = np.arange(2**17, 2**32, 2**18, dtype=np.uint64).astype(np.uint32)
            chances = np.full(len(outputs), 2.0**-14)
        else:
            outputs = np.flatnonzero(row)
            chances = row[outputs]
        each = np.repeat(row[None], len(outputs), axis=0)
        posteriors = posteriors_of(mechanism, each, outputs)
        means = posteriors @ question.values
        expected += chances @ (posteriors @ question.values**2 - means**2)
    found = mechanism.expected_error(PerUserPriors.of(NUMBERS, masses), of, value=value)
    assert found.per_person == pytest.approx(tuple(expected / 8), rel=1e-5)
    assert found.people == 8


def test_an_aggregate_answers_what_its_sums_can() -> None:
    mechanism, priors, reports = world("arc")
    found = mechanism.aggregate(reports, priors)
    one = mechanism.estimate(found, of="survey", value="c").answer
    assert one.value == mechanism.estimate(found)["c"].value
    numeric = design(NUMBERS, LIP("1"), method="arc")
    table = PerUserPriors.of(NUMBERS, some_masses(40))
    sums = numeric.aggregate(reports, table, "sum")
    assert numeric.estimate(sums, of="mean").value == numeric.estimate(sums, of="sum").value / 40
    zero = numeric.aggregate(reports, table, "sum", weights=np.tile([1.0, -1.0], 20))
    with pytest.raises(InputError, match="add up to 0"):
        numeric.estimate(zero, of="mean")


@pytest.mark.parametrize("method", METHODS)
def test_wrong_priors_are_noticed_with_their_direction(method: Any) -> None:
    """20,000 users say that c is rare; for one in two it is certain."""
    said = Prior.from_counts({"a": 3, "b": 3, "c": 1, "d": 2, "e": 1})
    priors = PerUserPriors.common(said, 20_000)
    mechanism = design(LABELS, LIP("1"), method=method)
    rng = np.random.default_rng(7)
    people = rng.choice(5, 20_000, p=said.floats())
    right = mechanism.estimate(
        mechanism.simulate(people, priors, seed=1, coded=True), priors=priors, coded=True
    )
    assert not right.warnings
    assert right.fit is not None
    assert right.fit.p_value > 0.01
    people[::2] = 2
    wrong = mechanism.estimate(
        mechanism.simulate(people, priors, seed=1, coded=True), priors=priors, coded=True
    )
    assert wrong.fit is not None
    assert wrong.fit.drifts[0].name == "c"
    assert wrong.fit.drifts[0].score > 10
    assert "do not fit" in wrong.warnings[0]
    assert "more 'c' than 10 %" in wrong.warnings[0]


def test_few_people() -> None:
    mechanism, priors, reports = world("arc")
    found = mechanism.estimate(reports[:3], priors=PerUserPriors.of(LABELS, priors.rows(0, 3)))
    assert found.fit is not None
    assert found.fit.p_value > 0.01
    certain = PerUserPriors.of(LABELS, np.eye(5)[:3])
    nothing = mechanism.estimate(reports[:3], priors=certain).fit
    assert nothing is not None
    assert nothing.note == "the reports say too little for a test"
    assert found.method == "unbiased"
    with pytest.raises(InputError, match="the level is not between 0 and 1"):
        mechanism.estimate(reports, priors=priors, level=1)
