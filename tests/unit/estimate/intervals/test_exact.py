"""Exact intervals against distributions that are added up by hand, in fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from liftlock.estimate.intervals.exact import (
    BinaryScores,
    binomial_distribution,
    equal_tails,
    invert_test,
    sum_distribution,
)

HALF = Fraction(1, 2)


def binomial(number: int, chance: Fraction) -> list[Fraction]:
    return [comb(number, k) * chance**k * (1 - chance) ** (number - k) for k in range(number + 1)]


def added(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    found = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] += a * b
    return found


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


def test_large_binomials_are_cut_where_nothing_is_left() -> None:
    begin, distribution = binomial_distribution(20_000, 0.3)
    places = np.arange(begin, begin + len(distribution))
    assert len(distribution) < 1500
    assert distribution == pytest.approx(stats.binom.pmf(places, 20_000, 0.3), rel=1e-9)


def test_equal_tails_hold_what_they_say() -> None:
    distribution = [float(value) for value in binomial(12, Fraction(1, 3))]
    low, high = equal_tails(0, np.array(distribution), 0.9)
    below = [sum(distribution[:s]) + distribution[s] / 2 for s in range(13)]
    assert [s for s in range(13) if 0.05 < below[s] < 0.95] == list(range(int(low), int(high) + 1))
    # One number with nearly everything.
    assert equal_tails(7, np.array([0.001, 0.998, 0.001]), 0.95) == (8.0, 8.0)


@pytest.mark.parametrize(("q1", "q0"), [("3/4", "1/4"), ("9/10", "1/50"), ("1", "1/3")])
def test_inverted_tests_of_people(q1: str, q0: str) -> None:
    """Every s is tried, with its distribution written out."""
    people, tail = 11, Fraction(1, 40)
    distributions = [
        added(binomial(s, Fraction(q1)), binomial(people - s, Fraction(q0)))
        for s in range(people + 1)
    ]
    kinds = BinaryScores(np.array([False, True]), float(Fraction(q1)), float(Fraction(q0)))
    for seen in range(people + 1):
        lower = [
            sum(distribution[:seen], HALF * distribution[seen]) for distribution in distributions
        ]
        upper = [
            sum(distribution[seen + 1 :], HALF * distribution[seen])
            for distribution in distributions
        ]
        kept = [s for s in range(people + 1) if lower[s] > tail and upper[s] > tail]
        low, high = invert_test(kinds, seen, people, 0.95, "people")
        if kept:
            assert (low, high) == (kept[0], kept[-1])
        else:
            # Nothing fits: the end of what is possible that is nearest is left.
            assert low == high
            assert low in (0, people)


def test_inverted_tests_of_a_population() -> None:
    kinds = BinaryScores(np.array([False, True]), 0.75, 0.25)
    for seen in (20, 26, 31):
        low, high = invert_test(kinds, seen, 50, 0.9, "population")
        for end, wanted in ((low, 0.95), (high, 0.05)):
            distribution = stats.binom(50, 0.25 + 0.5 * end / 50)
            assert distribution.cdf(seen - 1) + distribution.pmf(seen) / 2 == pytest.approx(wanted)
    assert invert_test(kinds, 10, 50, 0.9, "population")[0] == 0.0
