"""Confidence sets: ends against exact binomial tails, sets against every possible sample."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special

from liftlock.errors import CountError, NumberError
from liftlock.model import confidence
from liftlock.model.confidence import (
    log_factorial,
    proportion_interval,
    read_confidence,
    simultaneous_intervals,
    tail_above,
    variation_radius,
)


def exact_tail(hits: int, trials: int, p: Fraction) -> Fraction:
    """Return P(Binomial(trials, p) >= hits) term by term."""
    return sum(
        (math.comb(trials, j) * p**j * (1 - p) ** (trials - j) for j in range(hits, trials + 1)),
        Fraction(0),
    )


def summed_tail(hits: int, trials: int, p: Fraction) -> mpmath.mpf:
    """Return the same from a first term of 40 digits and ratios in float64: good to 1e-9.

    What lies more than a dozen deviations further is left out: below 1e-20 of the sum.
    """
    with mpmath.workdps(40):
        point = mpmath.mpf(p.numerator) / p.denominator
        first = mpmath.exp(
            mpmath.loggamma(trials + 1)
            - mpmath.loggamma(hits + 1)
            - mpmath.loggamma(trials - hits + 1)
            + hits * mpmath.log(point)
            + (trials - hits) * mpmath.log(1 - point)
        )
    terms = 100 + int(12 * math.sqrt(hits * (trials - hits) / trials))
    j = np.arange(hits, min(hits + terms, trials), dtype=np.float64)
    logs = np.cumsum(np.log((trials - j) / (j + 1) * float(p / (1 - p))))
    return first * (1 + mpmath.mpf(float(np.exp(logs).sum())))


@pytest.mark.parametrize("trials", [1, 2, 7, 30, 300])
def test_tails_are_just_above_the_exact_sum(trials: int) -> None:
    for hits in {1, trials // 3 + 1, trials}:
        for p in (Fraction(hits, 3 * trials), Fraction(9 * hits, 10 * trials), Fraction(1, 10**6)):
            true, found = exact_tail(hits, trials, p), tail_above(hits, trials, p)
            assert true <= found <= true * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize(
    ("hits", "trials", "p"),
    [
        (3, 10**6, "2e-7"),
        (500_000, 10**6, "0.4985"),
        (2 * 10**7, 10**8, "0.1999"),  # in blocks
        (10**9, 2 * 10**9, "0.49996"),
        (10**9 - 1, 10**9, "0.99999999"),
    ],
)
def test_tails_of_many_trials_are_above_and_close(hits: int, trials: int, p: str) -> None:
    point = Fraction(p)
    found = tail_above(hits, trials, point)
    ratio = mpmath.mpf(found.numerator) / found.denominator / summed_tail(hits, trials, point)
    assert 1 - mpmath.mpf(10) ** -9 <= ratio <= 1 + mpmath.mpf(10) ** -3


def test_tails_that_need_no_sum() -> None:
    half = Fraction(1, 2)
    assert tail_above(0, 5, half) == tail_above(3, 5, Fraction(1)) == tail_above(1, 5, half) == 1
    assert tail_above(1, 5, Fraction(0)) == 0


@pytest.mark.parametrize("number", [0, 1, 5, 256, 257, 1000, 10**6, 10**12])
def test_logarithms_of_factorials(number: int) -> None:
    found = log_factorial(number)
    assert found.upper is not None
    with mpmath.workdps(60):
        true = mpmath.loggamma(number + 1)
        low, high = (
            mpmath.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper)
        )
        assert low <= true <= high
    assert found.width < Fraction(1, 10**25)


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(1, 40), Fraction(1, 10**7)])
def test_ends_are_proved_and_hardly_wider_than_they_must_be(alpha: Fraction) -> None:
    for hits, trials in ((0, 1), (1, 1), (1, 40), (13, 40), (39, 40), (150, 300)):
        low, high = proportion_interval(hits, trials, alpha)
        assert low <= Fraction(hits, trials) <= high or alpha == Fraction(1, 2)
        if hits:
            tail = exact_tail(hits, trials, low)
            assert alpha * Fraction(96, 100) <= tail <= alpha
        else:
            assert low == 0
        if hits < trials:
            tail = exact_tail(trials - hits, trials, 1 - high)
            assert alpha * Fraction(96, 100) <= tail <= alpha
        else:
            assert high == 1


def test_ends_are_short_decimals_whatever_the_size() -> None:
    for hits, trials in ((7, 10**9), (5 * 10**8, 10**9), (10**12 - 1, 10**12)):
        low, high = proportion_interval(hits, trials, Fraction(1, 1000))
        for end in (low, high):
            assert 10**20 % end.denominator == 0
        assert 0 < low < Fraction(hits, trials) < high < 1
        assert float(tail_above(hits, trials, low)) > 0.0009


def test_every_probability_is_covered() -> None:
    """Not by simulation: the chance of every count is added up."""
    trials, alpha = 10, Fraction(1, 20)
    intervals = [proportion_interval(hits, trials, alpha) for hits in range(trials + 1)]
    ends = {end for pair in intervals for end in pair}
    tiny = Fraction(1, 10**9)
    points = {end + step for end in ends for step in (-tiny, 0, tiny)} | {
        Fraction(i, 31) for i in range(32)
    }
    for p in (p for p in points if 0 <= p <= 1):
        chances = [
            exact_tail(k, trials, p) - exact_tail(k + 1, trials, p) for k in range(trials + 1)
        ]
        missed = sum(c for c, (a, b) in zip(chances, intervals, strict=True) if not a <= p <= b)
        assert missed <= 2 * alpha


def test_an_end_without_a_neighbour_must_not_take_its_share() -> None:
    """With all of 2 alpha for the upper end at 0 hits, a rare symbol is missed too often."""
    trials, alpha = 10, Fraction(1, 20)
    _, greedy = proportion_interval(0, trials, 2 * alpha)
    p = greedy + Fraction(1, 10**6)
    missed = (1 - p) ** trials + sum(
        exact_tail(k, trials, p) - exact_tail(k + 1, trials, p)
        for k in range(1, trials + 1)
        if proportion_interval(k, trials, alpha)[0] > p
    )
    assert missed > 2 * alpha


def samples(
    trials: int, masses: tuple[Fraction, ...]
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Yield every sample and its probability."""
    for cuts in itertools.product(range(trials + 1), repeat=len(masses) - 1):
        if sum(cuts) <= trials:
            counts = (*cuts, trials - sum(cuts))
            ways = Fraction(math.factorial(trials))
            for count, mass in zip(counts, masses, strict=True):
                ways *= mass**count / math.factorial(count)
            yield counts, ways


TRUTHS = [
    (Fraction(1, 3),) * 3,
    (Fraction(1, 50), Fraction(9, 50), Fraction(4, 5)),
    (Fraction(1, 2), Fraction(1, 2)),
    (Fraction(1, 20), Fraction(19, 20)),
]


@pytest.mark.parametrize("masses", TRUTHS, ids=len)
def test_all_symbols_at_once(masses: tuple[Fraction, ...]) -> None:
    beta, missed = Fraction(1, 5), Fraction(0)
    for counts, chance in samples(12, masses):
        low, high = simultaneous_intervals(counts, beta)
        if not all(a <= p <= b for a, p, b in zip(low, masses, high, strict=True)):
            missed += chance
    assert missed <= beta


@pytest.mark.parametrize("masses", TRUTHS, ids=len)
def test_the_ball_of_total_variation(masses: tuple[Fraction, ...]) -> None:
    beta, trials, missed = Fraction(1, 5), 12, Fraction(0)
    radius = variation_radius(trials, len(masses), beta)
    assert radius < variation_radius(trials, len(masses), beta, form="000")
    for counts, chance in samples(trials, masses):
        apart = sum(abs(Fraction(k, trials) - p) for k, p in zip(counts, masses, strict=True)) / 2
        if apart > radius:
            missed += chance
    assert 0 < missed <= beta


def test_radii_are_the_formulas_rounded_up() -> None:
    for trials, size, beta in ((1000, 5, Fraction(1, 100)), (10**7, 300, Fraction(1, 10**6))):
        for form, exponent in (
            ("000", mpmath.mpf(size)),
            ("sets", mpmath.log(mpmath.mpf(2) ** size - 2)),
        ):
            true = mpmath.sqrt(2 / mpmath.mpf(trials) * (exponent - mpmath.log(beta))) / 2
            found = variation_radius(trials, size, beta, form=form)  # type: ignore[arg-type]
            assert true <= float(found) * (1 + 1e-12)
            assert float(found) <= true * mpmath.mpf("1.0001")
    assert variation_radius(3, 5, Fraction(1, 100)) == 1
    assert variation_radius(3, 1, Fraction(1, 100)) == 0


@pytest.mark.parametrize("trials", [1, 2, 3, 5, 10, 30, 100, 400])
@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 3), Fraction(7, 10), Fraction(1, 7)])
def test_one_term_of_a_binomial_is_never_too_small(trials: int, p: Fraction) -> None:
    """Not by a single unit of its last digit: nothing that is proved stands on less."""
    for hits in sorted({1, 2, trials // 2, trials - 1, trials} & {*range(1, trials + 1)}):
        truth = math.comb(trials, hits) * p**hits * (1 - p) ** (trials - hits)
        found = confidence._first_term(hits, trials, p)
        assert truth <= found <= truth * (1 + Fraction(1, 10**25))
        assert exact_tail(hits, trials, p) <= confidence.tail_above(hits, trials, p)


@pytest.mark.parametrize("times", [1.001, 1.05, 1.5])
def test_ends_are_proved_whatever_is_proposed(
    times: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that is off proposes an end that is too close: the proof moves it away."""
    for name in ("betaincinv", "betainccinv"):
        true = getattr(special, name)
        way = times if name == "betaincinv" else 1 / times
        monkeypatch.setattr(special, name, lambda a, b, y, f=true, w=way: f(a, b, y) * w)
    confidence._lower_end.cache_clear()
    alpha = Fraction(1, 20)
    for hits, trials in ((3, 10), (5, 40), (30, 100)):
        low, high = proportion_interval(hits, trials, alpha)
        assert exact_tail(hits, trials, low) <= alpha
        assert 1 - exact_tail(hits + 1, trials, high) <= alpha
    confidence._lower_end.cache_clear()


def test_refusals() -> None:
    assert read_confidence(0.95) == Fraction(1, 20)
    for value in (1, "100%", 0.05, "nearly", 1.5):
        with pytest.raises(NumberError, match=r"confidence|certain"):
            read_confidence(value)
    with pytest.raises(CountError, match="more hits than trials"):
        proportion_interval(3, 2, Fraction(1, 20))
    with pytest.raises(NumberError, match="alpha outside"):
        proportion_interval(1, 2, Fraction(0))
    with pytest.raises(CountError, match="all counts are 0"):
        simultaneous_intervals([0, 0], Fraction(1, 20))
    with pytest.raises(CountError, match="all counts are 0"):
        variation_radius(0, 2, Fraction(1, 20))
