"""Priors that count as so many people, against all shares and reports that there can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from liftlock import Channel, Prior
from liftlock.errors import InputError, NotDefined
from liftlock.estimate import Aggregate, estimate
from liftlock.estimate.strength import read_strength
from tests.unit.estimate.worlds import ILL, ILL_PRIOR, TWINS, counted

COIN = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
SKEWED = Prior.from_counts({0: 4, 1: 1})


def joint(people: int, strength: float) -> Any:
    """Return P(s, t): s people with a beta-binomial law have the value, t reports say so."""
    table = np.zeros((people + 1, people + 1))
    for s in range(people + 1):
        own = stats.binom.pmf(np.arange(s + 1), s, 0.75)
        rest = stats.binom.pmf(np.arange(people - s + 1), people - s, 0.25)
        chance = stats.betabinom.pmf(s, people, 0.2 * strength, 0.8 * strength)
        table[s] = chance * np.convolve(own, rest)
    return table


@pytest.mark.parametrize("strength", [2.0, 50.0, 1000.0])
def test_it_is_the_best_line_and_knows_its_error(strength: float) -> None:
    people = 40
    table = joint(people, strength)
    s, t = np.arange(people + 1), np.arange(people + 1)
    mean_s, mean_t = table.sum(axis=1) @ s, table.sum(axis=0) @ t
    across = (table * np.outer(s - mean_s, t - mean_t)).sum()
    slope = across / (table.sum(axis=0) @ (t - mean_t) ** 2)
    error = table.sum(axis=1) @ (s - mean_s) ** 2 - slope * across
    for seen in (8, 15, 20):
        reports = counted(COIN, [people - seen, seen])
        found = estimate(
            COIN, reports, "survey", value=1, prior=SKEWED, method="bayes", strength=strength
        )
        assert found.answer.raw == pytest.approx(mean_s + slope * (seen - mean_t))
        assert found.answer.error == pytest.approx(np.sqrt(error))
    assert found.holds == f"on average over priors as good as {strength:,g} people"


def test_it_holds_on_average_over_priors_of_its_strength() -> None:
    """By exact sums; whole numbers jump, so not to the last digit."""
    people, strength = 400, 60.0
    table = joint(people, strength)
    held = 0.0
    for seen in np.flatnonzero(table.sum(axis=0) > 1e-9).tolist():
        found = estimate(
            COIN,
            counted(COIN, [people - seen, seen]),
            "survey",
            value=1,
            prior=SKEWED,
            method="bayes",
            strength=strength,
        ).answer
        assert found.low is not None
        assert found.high is not None
        inside = (found.low <= np.arange(people + 1)) & (np.arange(people + 1) <= found.high)
        held += float(table[inside, seen].sum())
    assert held == pytest.approx(0.95, abs=0.01)


def test_between_no_prior_and_a_true_one() -> None:
    reports = counted(ILL, [620, 230, 150])

    def values(**options: Any) -> list[float]:
        return [each.value for each in estimate(ILL, reports, prior=ILL_PRIOR, **options).answers]

    assert values(method="bayes", strength=1e-9) == pytest.approx(
        values(method="unbiased"), rel=2e-3
    )
    assert values(method="bayes", strength=1e12) == pytest.approx(values(method="bayes"), rel=1e-6)
    beside = estimate(ILL, reports, prior=ILL_PRIOR, strength="500").beside
    assert beside is not None
    assert beside.holds == "on average over priors as good as 500 people"
    about = estimate(ILL, reports, prior=ILL_PRIOR, strength="500", about="population").beside
    assert about is not None
    assert about.answers[0].error != beside.answers[0].error


def test_answers_that_the_reports_do_not_determine() -> None:
    twins = estimate(
        TWINS,
        counted(TWINS, [60, 40]),
        prior=Prior.from_counts({"a": 1, "b": 2, "c": 3}),
        strength=10,
    )
    assert twins.method == "range"
    assert twins.beside is not None
    assert sum(each.value for each in twins.beside.answers) == pytest.approx(100)


@pytest.mark.parametrize("strength", [0, -1, "much", float("nan")])
def test_no_strength(strength: object) -> None:
    with pytest.raises(InputError, match="strength"):
        read_strength(strength)


def test_weights_have_no_strength() -> None:
    weighted = Aggregate.of(COIN, [0, 1, 1], weights=[1.0, 2.0, 3.0])
    with pytest.raises(NotDefined, match="weighted reports; leave the strength or weights out"):
        estimate(COIN, weighted, prior=SKEWED, method="bayes", strength=5)


def test_intervals_that_are_not_nearly_normal_say_so() -> None:
    """By exact sums: with 5 people and a prior of hardly any strength they hold at 92 %."""
    people, strength = 5, 0.05
    table, held = joint(people, strength), 0.0
    asked: Any = {"of": "survey", "value": 1, "prior": SKEWED, "strength": strength}
    for seen in range(people + 1):
        reports = counted(COIN, [people - seen, seen])
        found = estimate(COIN, reports, method="bayes", **asked)
        assert any("may hold less often than they say" in text for text in found.remarks)
        beside = estimate(COIN, reports, **asked)
        assert any("may hold less often than they say" in text for text in beside.remarks)
        low, high = found.answer.low, found.answer.high
        assert low is not None
        assert high is not None
        held += sum(table[s, seen] for s in range(people + 1) if low <= s <= high)
    assert held < 0.92
    many = estimate(COIN, counted(COIN, [300, 200]), method="bayes", **{**asked, "strength": 500})
    assert not many.remarks
