"""Variance formulas against all outcomes written out, and against Wilson's interval."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import liftlock as ll
from liftlock import Alphabet, Channel
from liftlock.estimate import Question, estimate
from liftlock.estimate.estimators import Bayes, Unbiased
from liftlock.estimate.intervals.normal import solve
from liftlock.estimate.models import Bound, Dense, OutputSums
from liftlock.estimate.models.dense import line_above
from liftlock.estimate.question import About, ask
from liftlock.exact.integers import Floats
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


THREE = np.array([[0.7, 0.2, 0.1], [0.25, 0.6, 0.15], [0.1, 0.3, 0.6]])
NUMBERS = [1, 3, 4]


def three(of: str) -> Unbiased[Dense]:
    inputs = Alphabet.of(NUMBERS)
    return Unbiased(
        Dense(inputs, Alphabet.of("abc"), THREE, np.array([0.5, 0.3, 0.2])),
        ask(inputs, of, 4 if of == "survey" else None),
    )


def bound_at(bound: Bound, away: Floats) -> Floats:
    """Return the bound of the variance if the truth is so far from the estimate."""
    found: Floats = bound.variance + bound.slope * away - bound.bend * away**2
    return found


@pytest.mark.parametrize("of", ["histogram", "survey", "sum"])
def test_no_people_have_a_larger_variance_than_the_bound(of: str) -> None:
    """All people there can be: their variances and third moments from those of single reports."""
    linear, number = three(of), 5
    g, f = linear.scores, linear.question.values
    second = THREE @ g**2 - f**2
    third = THREE @ g**3 - 3 * f * (THREE @ g**2) + 2 * f**3
    people = [np.bincount(p, minlength=3) for p in combinations_with_replacement(range(3), number)]
    assert len(people) == 21
    for counts in ([2.0, 2.0, 1.0], [0.0, 0.0, 5.0]):
        tally = OutputSums.plain(np.array(counts))
        error = linear.error(tally, "people")
        known = error.bounds[0]
        away = [p @ f - linear.values(tally.amounts) for p in people]
        most = np.array([bound_at(known, d) for d in away])
        true = np.array([p @ second for p in people])
        assert (true <= most + 1e-9).all()
        # Some people reach it: it is no larger than need be.
        assert (np.abs(true - most).min(axis=0) < 1e-9).all()
        for p, variance in zip(people, true, strict=True):
            assert (p @ third <= error.skew[1] * variance + 1e-9).all()
            assert (p @ third >= -error.skew[0] * variance - 1e-9).all()


@pytest.mark.parametrize("of", ["histogram", "survey", "sum"])
@pytest.mark.parametrize("about", ["people", "population"])
def test_the_estimated_variance_is_right_on_average(of: str, about: About) -> None:
    """With any people; its own variance is no larger than its spread says."""
    linear = three(of)
    g, f = linear.scores, linear.question.values
    for x in range(3):
        means, seconds, spreads = [], [], []
        for y in range(3):
            estimated = linear.error(OutputSums.plain(np.eye(3)[y]), about).bounds[1]
            means.append(estimated.variance)
            # At this truth, the person's own value.
            seconds.append(bound_at(estimated, f[x] - g[y]))
            spreads.append(estimated.spread)
        own = THREE[x] @ (g - f[x]) ** 2
        assert THREE[x] @ np.array(seconds) == pytest.approx(own)
        if about == "people":
            assert THREE[x] @ np.array(means) == pytest.approx(own)
        deviation = np.sqrt(THREE[x] @ (np.array(seconds) - own) ** 2)
        assert (deviation <= np.array(spreads).max(axis=0) * (1 + 1e-9)).all()


@pytest.mark.parametrize("about", ["people", "population"])
@pytest.mark.parametrize("of", ["survey", "sum"])
def test_for_two_values_the_variance_of_every_truth_is_known(about: About, of: str) -> None:
    """It is that of all outcomes, and the ends are where it puts them."""
    inputs = Alphabet.of(POINTS)
    question = Question.survey(inputs, [5]) if of == "survey" else Question.total(inputs)
    estimator, people = Unbiased(model(), question), 4
    f, g = question.values[:, 0], estimator.scores[:, 0]
    counts = np.array([1.0, 1.0, 2.0])
    (bound,) = estimator.error(OutputSums.plain(counts), about).bounds
    value = estimator.values(counts)
    for ones in range(people + 1):
        if about == "people":
            law = {
                np.array(c) @ g: float(p)
                for c, p in outcomes([1] * ones + [0] * (4 - ones)).items()
            }
            mean = sum(p * v for v, p in law.items())
            variance = float(sum(p * (v - mean) ** 2 for v, p in law.items()))
        else:
            mixed = np.array([1 - ones / people, ones / people]) @ model().rows
            variance = people * float(mixed @ g**2 - (mixed @ g) ** 2)
        truth = people * f[0] + ones * (f[1] - f[0])
        assert bound_at(bound, truth - value) == pytest.approx(variance)
    low, high = solve(Z, np.asarray(bound.variance), bound.slope, bound.bend)
    for d in (low, high):
        assert np.abs(d) == pytest.approx(Z * np.sqrt(bound_at(bound, d)))


def test_without_noise_it_is_wilson_with_corrections() -> None:
    """Half a step for whole numbers, and the correction for the third moment of at most 3 V."""
    clear = Dense(Alphabet.of(range(2)), Alphabet.of(range(2)), np.eye(2), None)
    estimator = Unbiased(clear, Question.survey(clear.inputs, [1]))
    for ones in (0, 3, 40, 300):
        tally = OutputSums.plain(np.array([400.0 - ones, ones]))
        spread = normal_spread(estimator, tally, 0.95, "population")
        other = stats.binomtest(ones, 400).proportion_ci(method="wilson")
        more = 3 * (Z**2 - 1) / 6 + 1 / 2
        low, high = max(400 * other.low - more, 0), min(400 * other.high + more, 400)
        assert numbers(spread.low) == pytest.approx([low], abs=1e-9)
        assert numbers(spread.high) == pytest.approx([high], abs=1e-9)
        # Everybody's value is seen: nothing is uncertain about the people.
        exact = normal_spread(estimator, tally, 0.95, "people")
        assert numbers(exact.low) == numbers(exact.high) == pytest.approx([ones])


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 10)), min_size=1, max_size=9))
def test_lines_are_above_all_targets_and_touch_them(points: list[tuple[float, float]]) -> None:
    f, target = (np.array(part)[:, None] for part in zip(*points, strict=True))
    masses = np.full(len(points), 1 / len(points))
    start, slope = line_above(f, target, masses)
    above = start + slope * f - target
    assert (above >= -1e-9).all()
    assert above.min() <= 1e-6


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
        [weight * error for error in numbers(same.errors)], rel=0.02
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


def test_weights_of_both_signs_are_not_promised_to_be_normal() -> None:
    """One weight that outweighs all others: 9 of 10 intervals hold, and a remark says why."""
    weights = np.r_[-1000.0, np.ones(199)]
    coin = Channel.from_rows({0: {0: "9/10", 1: "1/10"}, 1: {0: "1/10", 1: "9/10"}})
    found = estimate(coin, [0] * 200, "sum", weights=weights)
    assert any("then the level is not kept" in remark for remark in found.remarks)


@pytest.mark.parametrize(("people", "kept"), [(9, False), (90, True)])
def test_a_promise_that_is_not_kept_is_not_made(people: int, kept: bool) -> None:
    ages = ll.Prior.from_counts({10: 1, 20: 2, 40: 1})
    made = ll.design(ages, ll.LIP("1"), utility="frequencies")
    found = made.estimate(made.simulate([10, 20, 40] * (people // 3), seed=1), "mean")
    assert ("holds at 95 % whatever the truth" in found.promise) == kept
    assert ("the level is not kept" in found.promise) != kept
