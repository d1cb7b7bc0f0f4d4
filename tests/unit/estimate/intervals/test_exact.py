"""Exact intervals against distributions that are added up by hand, in fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from liftlock import Alphabet
from liftlock.estimate import Aggregate, Question
from liftlock.estimate.estimators import Unbiased
from liftlock.estimate.intervals import Kind, make_interval
from liftlock.estimate.intervals.base import ASSISTED, Tails
from liftlock.estimate.intervals.exact import (
    Law,
    MarkedReports,
    binomial_distribution,
    equal_tails,
    invert_tests,
    sum_distribution,
)
from liftlock.estimate.models import Dense

Exactly = tuple[Fraction, Fraction]
LAWS = [("3/4", "1/4"), ("9/10", "1/50"), ("1", "1/3"), ("1", "0")]
ERROR = Fraction(1, 20)


def binomial(number: int, chance: Fraction) -> list[Fraction]:
    return [comb(number, k) * chance**k * (1 - chance) ** (number - k) for k in range(number + 1)]


def added(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    found = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] += a * b
    return found


def law(b: str, a: str) -> Exactly:
    return Fraction(b), Fraction(a)


def marked(s: int, people: int, chances: Exactly) -> list[Fraction]:
    """Return the distribution of the marked reports of s people who are counted, and others."""
    return added(binomial(s, chances[0]), binomial(people - s, chances[1]))


def rounded(chances: Exactly) -> Law:
    return float(chances[0]), float(chances[1])


def ends(
    lower: Exactly, upper: Exactly, people: int, tails: Tails | None = None
) -> list[tuple[float, float]]:
    """Return the interval of every number of marked reports that can be seen."""
    split = tails or Tails(float(ERROR))
    laws = rounded(lower), rounded(upper)
    return [invert_tests(laws, seen, people, split, "people") for seen in range(people + 1)]


def test_sums_of_binomials() -> None:
    chances = [Fraction(1, 7), Fraction(1), Fraction(0), Fraction(3, 5)]
    numbers = [5, 2, 3, 6]
    distribution = [Fraction(1)]
    for number, chance in zip(numbers, chances, strict=True):
        distribution = added(distribution, binomial(number, chance))
    begin, found = sum_distribution(
        np.array(numbers), np.array([float(chance) for chance in chances])
    )
    full = np.zeros(17)
    full[begin : begin + len(found)] = found
    assert full == pytest.approx([float(value) for value in distribution], rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("number", "chance"), [(20_000, 0.3), (10**7, 1e-6), (50, 0.999)])
def test_binomials_are_cut_where_nothing_is_left(number: int, chance: float) -> None:
    begin, distribution = binomial_distribution(number, chance)
    places = np.arange(begin, begin + len(distribution))
    assert len(distribution) < 1500
    assert distribution == pytest.approx(stats.binom.pmf(places, number, chance), rel=1e-9)


def test_equal_tails_hold_what_they_say() -> None:
    distribution = binomial(12, Fraction(1, 3))
    low, high = equal_tails(0, np.array([float(term) for term in distribution]), 0.1)
    kept = [
        s for s in range(13) if sum(distribution[: s + 1]) > ERROR and sum(distribution[s:]) > ERROR
    ]
    assert kept == list(range(int(low), int(high) + 1))
    assert sum(distribution[int(low) : int(high) + 1]) >= Fraction(9, 10)
    # One number with nearly everything.
    assert equal_tails(7, np.array([0.001, 0.998, 0.001]), 0.05) == (8.0, 8.0)


# --- whatever the truth: coverage is added up over all outcomes, in fractions ---------------------


@pytest.mark.parametrize(("b", "a"), LAWS)
@pytest.mark.parametrize("people", [1, 2, 11, 30])
def test_every_truth_is_held_at_the_level(b: str, a: str, people: int) -> None:
    chances = law(b, a)
    found = ends(chances, chances, people)
    for s in range(people + 1):
        held = sum(
            chance
            for (low, high), chance in zip(found, marked(s, people, chances), strict=True)
            if low <= s <= high
        )
        assert held >= 1 - ERROR


@pytest.mark.parametrize("centre", [0.0, 3.3, 15.0, 30.0])
@pytest.mark.parametrize(("b", "a"), LAWS[:2])
def test_assisted_intervals_hold_whatever_the_prior(b: str, a: str, centre: float) -> None:
    people, chances = 30, law(b, a)
    tails = Tails(float(ERROR), np.array(centre))
    found = ends(chances, chances, people, tails)
    for s in range(people + 1):
        held = sum(
            chance
            for (low, high), chance in zip(found, marked(s, people, chances), strict=True)
            if low <= s <= high
        )
        assert held >= 1 - ERROR


def test_people_who_are_not_alike_are_held_too() -> None:
    """Others report a marked output with chances between two numbers, in any mixture."""
    people, own = 12, Fraction(4, 5)
    few, many = Fraction(1, 10), Fraction(3, 10)
    found = ends((own, few), (own, many), people)
    for s in range(people + 1):
        for rare in range(people - s + 1):
            outcome = added(marked(s, s + rare, (own, few)), binomial(people - s - rare, many))
            held = sum(
                chance
                for (low, high), chance in zip(found, outcome, strict=True)
                if low <= s <= high
            )
            assert held >= 1 - ERROR


@pytest.mark.parametrize(("b", "a"), LAWS)
def test_the_error_of_each_test_is_reused_by_the_other(b: str, a: str) -> None:
    """The acceptance of every s is made by hand: the lower test first, then both again."""
    people, chances = 25, law(b, a)
    kept: dict[int, list[int]] = {seen: [] for seen in range(people + 1)}
    for s in range(people + 1):
        distribution = marked(s, people, chances)
        low = max(t for t in range(people + 1) if sum(distribution[:t]) <= ERROR / 2)
        spare = ERROR - sum(distribution[:low])
        high = min(t for t in range(people + 1) if sum(distribution[t + 1 :]) <= spare)
        spare = ERROR - sum(distribution[high + 1 :])
        low = max(t for t in range(people + 1) if sum(distribution[:t]) <= spare)
        for seen in range(low, high + 1):
            kept[seen].append(s)
    for seen, interval in enumerate(ends(chances, chances, people)):
        if kept[seen]:
            assert interval == (kept[seen][0], kept[seen][-1])
        else:
            # Nothing fits: the end of what is possible that is nearest is left.
            assert interval in ((0, 0), (people, people))


def test_what_is_released_unchanged_is_known() -> None:
    for seen in (0, 7, 250_000):
        assert invert_tests(((1.0, 0.0), (1.0, 0.0)), seen, 10**6, Tails(0.05), "people") == (
            seen,
            seen,
        )


def test_the_prior_shortens_intervals_near_it_and_lengthens_them_little_elsewhere() -> None:
    """Widths of math-assisted intervals in the normal limit: 0.893 near the prior, 1.04 far off."""
    chances, people = (0.73, 0.27), 20_000

    def width(seen: int, centre: float | None) -> float:
        tails = Tails(0.05, None if centre is None else np.array(centre))
        low, high = invert_tests((chances, chances), seen, people, tails, "people")
        return high - low

    seen = round(people * 0.27 + 0.46 * 6000)
    assert width(seen, 6000.0) / width(seen, None) == pytest.approx(0.893, abs=0.005)
    assert width(seen, 100.0) / width(seen, None) == pytest.approx(1.04, abs=0.005)
    assert ASSISTED == 0.8


# --- populations ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seen", [0, 14, 20, 26, 31, 50])
def test_ends_of_a_population_are_those_of_clopper_and_pearson(seen: int) -> None:
    coin = (0.75, 0.25)
    low, high = invert_tests((coin, coin), seen, 50, Tails(0.1), "population")
    other = stats.binomtest(seen, 50).proportion_ci(0.9, method="exact")
    expected = np.clip((np.array([other.low, other.high]) - 0.25) / 0.5, 0, 1) * 50
    assert (low, high) == pytest.approx(tuple(expected), abs=1e-6)


@pytest.mark.parametrize("centre", [None, 4.0, 20.0])
def test_every_share_is_held_at_the_level(centre: float | None) -> None:
    coin, people = (0.8, 0.1), 40
    tails = Tails(0.05, None if centre is None else np.array(centre))
    found = np.array(
        [
            invert_tests((coin, coin), seen, people, tails, "population")
            for seen in range(people + 1)
        ]
    )
    for share in np.linspace(0, 1, 301):
        chances = stats.binom.pmf(np.arange(people + 1), people, 0.1 + 0.7 * share)
        truth = people * share
        inside = (found[:, 0] <= truth + 1e-9) & (truth <= found[:, 1] + 1e-9)
        assert chances[inside].sum() >= 0.95 - 1e-9


# --- which outputs are marked ---------------------------------------------------------------------


def test_bounds_of_the_chances_are_those_of_the_rows() -> None:
    rows = np.array([[0.7, 0.2, 0.1], [0.25, 0.6, 0.15], [0.1, 0.2, 0.7]])
    model = Dense(Alphabet.of("abc"), Alphabet.of("xyz"), rows, None)
    found = MarkedReports.of(Unbiased(model, Question.histogram(model.inputs)))
    assert found.chosen.tolist() == np.eye(3, dtype=bool).tolist()
    assert found.own.tolist() == [[0.7, 0.6, 0.7]] * 2
    assert found.other.tolist() == [[0.1, 0.2, 0.1], [0.25, 0.2, 0.15]]
    assert found.separate.all()
    assert not found.alike


@pytest.mark.parametrize(("b", "a"), [(0.3, 0.1), (0.99, 0.01), (1.0, 0.5)])
@pytest.mark.parametrize("kind", ["exact", "assisted"])
def test_two_values_hold_together(kind: Kind, b: float, a: float) -> None:
    """Both intervals of two values at once, for every truth, by adding up all reports."""
    people, level = 15, 0.95
    inputs = Alphabet.of([0, 1])
    model = Dense(inputs, inputs, np.array([[1 - a, a], [1 - b, b]]), np.array([0.9, 0.1]))
    asked = Unbiased(model, Question.histogram(inputs))
    spreads = [
        make_interval(kind, asked, Aggregate("", (people - t, t), people), together=True)
        for t in range(people + 1)
    ]
    for s in range(people + 1):
        chances = np.convolve(
            np.array(stats.binom.pmf(range(s + 1), s, b)),
            np.array(stats.binom.pmf(range(people - s + 1), people - s, a)),
        )
        truth = np.array([people - s, s])
        held = [bool(((x.low <= truth) & (truth <= x.high)).all()) for x in spreads]
        assert chances @ held >= level - 1e-12


def test_an_edge_that_explains_the_reports_is_not_called_beyond_them() -> None:
    """Nobody has the value and nobody reports it: the likeliest of all reports."""
    inputs = Alphabet.of([0, 1])
    asked = Unbiased(
        Dense(inputs, inputs, np.array([[0.99, 0.01], [0.01, 0.99]]), None),
        Question.survey(inputs, [1]),
    )
    likely = make_interval("exact", asked, Aggregate("", (20, 0), 20))
    assert likely.low is not None
    assert likely.high is not None
    assert (likely.low.tolist(), likely.high.tolist(), likely.remarks) == ([0.0], [0.0], ())
    rough = Unbiased(
        Dense(inputs, inputs, np.array([[0.6, 0.4], [0.4, 0.6]]), None),
        Question.survey(inputs, [1]),
    )
    for kind in ("exact", "normal"):
        found = make_interval(kind, rough, Aggregate("", (100, 0), 100))
        assert any("beyond what any count explains" in text for text in found.remarks)
