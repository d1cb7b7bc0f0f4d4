"""Variance formulas against all outcomes written out, and against Wilson's interval."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod, sqrt

import numpy as np
import pytest
from scipy import stats

from liftlock import Alphabet
from liftlock.estimate import Question
from liftlock.estimate.estimators import Bayes, Unbiased
from liftlock.estimate.models import Dense, OutputSums
from liftlock.estimate.question import About
from tests.unit.estimate.worlds import normal_spread

ROWS = [
    [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)],
    [Fraction(1, 5)] * 2 + [Fraction(3, 5)],
]
MASSES = [Fraction(3, 4), Fraction(1, 4)]
POINTS = [2, 5]
Z = stats.norm.ppf(0.975)


def model(masses: list[Fraction] | None = None) -> Dense:
    return Dense(
        Alphabet.of(POINTS),
        Alphabet.of("abc"),
        np.array(ROWS, dtype=float),
        None if masses is None else np.array(masses, dtype=float),
    )


def numbers(array: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None) -> list[float]:
    assert array is not None
    return [float(value) for value in np.ravel(array)]


def test_posterior_variance_adds_up_what_all_people_can_have() -> None:
    reports, weights = [0, 2, 2], [1, 2, 3]
    chance = {
        people: prod(
            (MASSES[x] * ROWS[x][y] for x, y in zip(people, reports, strict=True)),
            start=Fraction(1),
        )
        for people in product(range(2), repeat=3)
    }
    total = sum(chance.values())
    sums = {p: sum(a * POINTS[x] for a, x in zip(weights, p, strict=True)) for p in chance}
    mean = sum(chance[p] * sums[p] for p in chance) / total
    variance = sum(chance[p] * (sums[p] - mean) ** 2 for p in chance) / total
    estimator = Bayes(model(MASSES), Question.total(Alphabet.of(POINTS)))
    tally = OutputSums(
        np.array([1.0, 0.0, 2.0]), np.array([1.0, 0.0, 5.0]), np.array([1.0, 0.0, 13.0]), True
    )
    spread = normal_spread(estimator, tally, 0.95)
    assert numbers(spread.errors) == pytest.approx([sqrt(variance)])
    assert numbers(estimator.values(tally.amounts)) == pytest.approx([float(mean)])
    assert numbers(spread.low) == pytest.approx([float(mean) - Z * sqrt(variance)])


def outcomes(people: list[int]) -> dict[tuple[int, ...], Fraction]:
    """Return all counts of outputs of these people, with their exact probabilities."""
    found: dict[tuple[int, ...], Fraction] = {}
    for reports in product(range(3), repeat=len(people)):
        counts = tuple(reports.count(y) for y in range(3))
        chance = prod((ROWS[x][y] for x, y in zip(people, reports, strict=True)), start=Fraction(1))
        found[counts] = found.get(counts, Fraction(0)) + chance
    return found


@pytest.mark.parametrize("about", ["people", "population"])
@pytest.mark.parametrize("of", ["survey", "sum"])
def test_ends_are_where_the_exact_variance_puts_them(about: About, of: str) -> None:
    """The variance of the estimate if the end were true, from all outcomes, gives back the end."""
    inputs = Alphabet.of(POINTS)
    question = Question.survey(inputs, [5]) if of == "survey" else Question.total(inputs)
    estimator = Unbiased(model(), question)
    f = question.values[:, 0]
    people = 4
    counts = np.array([1.0, 1.0, 2.0])
    spread = normal_spread(estimator, OutputSums.plain(counts), 0.95, about)
    value = float(estimator.values(counts)[0])

    def variance(ones: float) -> float:
        """Interpolate (in ones, exactly: a polynomial) the variance with so many of value 5."""
        known = []
        for k in range(people + 1):
            if about == "people":
                distribution = {
                    c: float(p) for c, p in outcomes([1] * k + [0] * (people - k)).items()
                }
                mean = sum(
                    p * estimator.scores[:, 0] @ np.array(c) for c, p in distribution.items()
                )
                known.append(
                    sum(
                        p * (estimator.scores[:, 0] @ np.array(c) - mean) ** 2
                        for c, p in distribution.items()
                    )
                )
            else:
                share = k / people
                mixed = np.array([1 - share, share]) @ model().rows
                g = estimator.scores[:, 0]
                known.append(people * float(mixed @ g**2 - (mixed @ g) ** 2))
        return float(np.polyval(np.polyfit(range(people + 1), known, 2), ones))

    free = [
        end
        for end in (numbers(spread.low)[0], numbers(spread.high)[0])
        if people * f.min() < end < people * f.max()
    ]
    assert free
    for end in free:
        ones = (end - people * f[0]) / (f[1] - f[0])
        assert abs(value - end) == pytest.approx(Z * sqrt(variance(ones)))


def test_without_noise_it_is_wilson() -> None:
    clear = Dense(Alphabet.of(range(2)), Alphabet.of(range(2)), np.eye(2), None)
    estimator = Unbiased(clear, Question.survey(clear.inputs, [1]))
    for ones in (0, 3, 40):
        spread = normal_spread(
            estimator, OutputSums.plain(np.array([40.0 - ones, ones])), 0.95, "population"
        )
        other = stats.binomtest(ones, 40).proportion_ci(method="wilson")
        assert numbers(spread.low) == pytest.approx([40 * other.low], abs=1e-9)
        assert numbers(spread.high) == pytest.approx([40 * other.high], abs=1e-9)
        # Everybody's value is seen: nothing is uncertain about the people.
        exact = normal_spread(
            estimator, OutputSums.plain(np.array([40.0 - ones, ones])), 0.95, "people"
        )
        assert numbers(exact.low) == numbers(exact.high) == pytest.approx([ones])


@pytest.mark.parametrize("about", ["people", "population"])
def test_units_and_batches_do_not_matter(about: About) -> None:
    source = np.random.default_rng(2)
    rows = source.dirichlet(np.ones(5), 3) + np.eye(3, 5)
    rows /= rows.sum(axis=1, keepdims=True)
    counts = source.multinomial(80, rows.mean(axis=0), 4).astype(float)
    found = []
    for points in ([1, 2, 7], [1000001000, 1000002000, 1000007000]):
        inputs = Alphabet.of(points)
        estimator = Unbiased(
            Dense(inputs, Alphabet.of(range(5)), rows, None), Question.total(inputs)
        )
        many = normal_spread(estimator, OutputSums.plain(counts), 0.9, about)
        one = normal_spread(estimator, OutputSums.plain(counts[2]), 0.9, about)
        assert many.low is not None
        assert numbers(one.low) == pytest.approx(numbers(many.low[2]))
        found.append(many)
    first, second = found
    assert numbers(second.low) == pytest.approx(
        [80e9 + 1000 * end for end in numbers(first.low)], rel=1e-12
    )
    assert numbers(second.errors) == pytest.approx(
        [1000 * error for error in numbers(first.errors)], rel=1e-6
    )


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_equal_weights_only_scale(weight: float) -> None:
    estimator = Unbiased(model(), Question.survey(Alphabet.of(POINTS), [5]))
    counts = np.array([30.0, 20.0, 50.0])
    plain = normal_spread(estimator, OutputSums.plain(counts), 0.95, "population")
    tally = OutputSums(counts, weight * counts, weight**2 * counts, True)
    weighted = normal_spread(estimator, tally, 0.95, "population")
    for one, other in ((plain.errors, weighted.errors), (plain.low, weighted.low)):
        assert numbers(other) == pytest.approx([weight * value for value in numbers(one)])
    people = normal_spread(estimator, tally, 0.95, "people")
    same = normal_spread(estimator, OutputSums.plain(counts), 0.95, "people")
    assert numbers(people.errors) == pytest.approx(
        [weight * error for error in numbers(same.errors)], rel=0.01
    )


def test_histogram_takes_the_short_way_to_the_same_ends() -> None:
    source = np.random.default_rng(4)
    rows = source.dirichlet(np.ones(6), 4) + np.eye(4, 6)
    rows /= rows.sum(axis=1, keepdims=True)
    inputs = Alphabet.of(range(4))
    whole = Dense(inputs, Alphabet.of(range(6)), rows, None)
    counts = source.multinomial(300, rows.mean(axis=0)).astype(float)
    for about in ("people", "population"):
        many = normal_spread(
            Unbiased(whole, Question.histogram(inputs)), OutputSums.plain(counts), 0.95, about
        )
        for x in range(4):
            one = normal_spread(
                Unbiased(whole, Question.survey(inputs, [x])), OutputSums.plain(counts), 0.95, about
            )
            assert numbers(one.low) == pytest.approx([numbers(many.low)[x]])
            assert numbers(one.high) == pytest.approx([numbers(many.high)[x]])
