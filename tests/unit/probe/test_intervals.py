"""Confidence bounds: exact coverage by enumeration, and agreement with independent computations."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import stats

from liftlock.probe.intervals import (
    proportion_lower,
    proportion_upper,
    ratio_lower_by_bounds,
    ratio_lower_by_share,
    thinned_hits,
    thinned_size,
    weighted_sum_lower,
    weighted_sum_upper,
)

ALPHAS = (0.2, 0.05, 1e-3, 1e-6)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("trials", [1, 2, 7, 40])
def test_bounds_of_a_proportion_miss_with_probability_at_most_alpha(
    trials: int, alpha: float
) -> None:
    hits = np.arange(trials + 1)
    lower = proportion_lower(hits, trials, alpha)
    upper = proportion_upper(hits, trials, alpha)
    # The probability of a miss is worst just beside the bounds themselves.
    beside = np.concatenate([np.linspace(0, 1, 41), lower * 0.999999, upper * 1.000001])
    for p in np.unique(beside.clip(0, 1)):
        chances = stats.binom.pmf(hits, trials, p)
        assert chances[lower > p].sum() <= alpha * (1 + 1e-9)
        assert chances[upper < p].sum() <= alpha * (1 + 1e-9)


def test_bounds_of_a_proportion_are_those_of_scipy() -> None:
    for hits, trials, alpha in product((0, 1, 13, 50), (50, 1000), ALPHAS):
        test = stats.binomtest(hits, trials, alternative="greater")
        low = test.proportion_ci(1 - alpha, method="exact").low
        assert float(proportion_lower(hits, trials, alpha)) == pytest.approx(low, rel=1e-9)
        test = stats.binomtest(hits, trials, alternative="less")
        high = test.proportion_ci(1 - alpha, method="exact").high
        assert float(proportion_upper(hits, trials, alpha)) == pytest.approx(high, rel=1e-9)


@pytest.mark.parametrize("hits", [3, 2_000, 2_500_000, 9_999_000])
def test_bounds_at_ten_million_trials_have_the_right_tail(hits: int) -> None:
    trials, alpha = 10_000_000, 2.5e-4
    lower = float(proportion_lower(hits, trials, alpha))
    upper = float(proportion_upper(hits, trials, alpha))
    for bound, upwards in ((lower, True), (upper, False)):
        missed = float(tail(hits, trials, bound, upwards=upwards))
        assert alpha * (1 - 1e-5) < missed <= alpha


def tail(hits: int, trials: int, p: float, *, upwards: bool) -> mpmath.mpf:
    """Sum P(Binomial(trials, p) >= hits), or <= hits, term by term in 40 digits."""
    with mpmath.workdps(40):
        q = mpmath.mpf(p)
        term = mpmath.exp(
            mpmath.loggamma(trials + 1)
            - mpmath.loggamma(hits + 1)
            - mpmath.loggamma(trials - hits + 1)
            + hits * mpmath.log(q)
            + (trials - hits) * mpmath.log1p(-q)
        )
        total, k = mpmath.mpf(0), hits
        while term > mpmath.mpf(10) ** -20 and 0 <= k <= trials:
            total += term
            if upwards:
                term *= (trials - k) * q / ((k + 1) * (1 - q))
                k += 1
            else:
                term *= k * (1 - q) / ((trials - k + 1) * q)
                k -= 1
        return total


def test_nothing_tried_says_nothing() -> None:
    assert float(proportion_lower(0, 0, 0.05)) == 0.0
    assert float(proportion_upper(0, 0, 0.05)) == 1.0
    assert ratio_lower_by_share(0, 0, 0.5, 0.05) == 0.0
    assert ratio_lower_by_bounds(0, 0, 0, 0, 0.05) == 0.0


def test_bounds_grow_with_hits_and_shrink_with_alpha() -> None:
    hits = np.arange(101)
    assert np.all(np.diff(proportion_lower(hits, 100, 0.01)) > 0)
    assert np.all(np.diff(proportion_upper(hits, 100, 0.01)) >= 0)
    assert float(proportion_lower(30, 100, 0.01)) < float(proportion_lower(30, 100, 0.1)) < 0.3
    assert float(proportion_upper(30, 100, 0.01)) > float(proportion_upper(30, 100, 0.1)) > 0.3


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
@pytest.mark.parametrize(("top", "bottom"), [(0.5, 0.5), (0.3, 0.1), (0.9, 0.3), (0.2, 0.9)])
@pytest.mark.parametrize("alpha", [0.3, 0.05])
def test_ratio_bounds_miss_with_probability_at_most_alpha(
    share: float, top: float, bottom: float, alpha: float
) -> None:
    """Enumerate every outcome of 14 draws with a coin for the source, and add up the misses."""
    draws = 14
    chances = [share * top, share * (1 - top), (1 - share) * bottom, (1 - share) * (1 - bottom)]
    missed_by_share = missed_by_bounds = total = 0.0
    for a, b, c in product(range(draws + 1), repeat=3):
        if a + b + c > draws:
            continue
        d = draws - a - b - c
        counts = (a, b, c, d)
        chance = math.factorial(draws) * math.prod(
            p**k / math.factorial(k) for p, k in zip(chances, counts, strict=True)
        )
        total += chance
        missed_by_share += chance * bool(ratio_lower_by_share(a, c, share, alpha) > top / bottom)
        missed_by_bounds += chance * (
            ratio_lower_by_bounds(a, a + b, c, c + d, alpha) > top / bottom
        )
    assert total == pytest.approx(1)
    assert missed_by_share <= alpha
    assert missed_by_bounds <= alpha


def test_ratio_by_share_is_sharper_for_rare_events_and_bounds_for_common_ones() -> None:
    rare = (3000, 1_000_000, 1000, 1_000_000)
    assert ratio_lower_by_share(3000, 1000, 0.5, 1e-3) > ratio_lower_by_bounds(*rare, 1e-3)
    common = (990_000, 1_000_000, 330_000, 1_000_000)
    assert ratio_lower_by_bounds(*common, 1e-3) > ratio_lower_by_share(990_000, 330_000, 0.5, 1e-3)


def test_thinned_size_leaves_a_reserve() -> None:
    weights, trials = np.array([0.1, 0.9, 0.0]), np.array([1000, 5000, 0])
    size = thinned_size(weights, trials)
    taken = size * weights[:2]
    assert np.all(taken + 4 * np.sqrt(taken) <= trials[:2])
    assert not np.all((taken + 1) + 4 * np.sqrt(taken + 1) <= trials[:2])
    assert thinned_size(np.array([0.0, 1.0]), np.array([10, 77])) == 77


def test_thinned_hits_have_the_mean_of_the_weighted_sum() -> None:
    """3000 thinned samples; the mean is within 5 standard errors (false alarm rate 6e-7)."""
    generator = np.random.default_rng(11)
    weights, rates = np.array([0.2, 0.8]), np.array([0.9, 0.1])
    trials, size, runs = np.array([300, 100]), 80, 3000
    totals = []
    for _ in range(runs):
        drawn = thinned_hits(weights, generator.binomial(trials, rates), trials, size, generator)
        assert drawn is not None
        totals.append(int(drawn.sum()))
    p = float(weights @ rates)
    error = math.sqrt(size * p * (1 - p) / runs)
    assert abs(np.mean(totals) - size * p) < 5 * error
    # A binomial variance, neither smaller nor larger: its relative error is sqrt(2 / runs).
    variance = float(np.var(totals)) / (size * p * (1 - p))
    assert abs(variance - 1) < 5 * math.sqrt(2 / runs)


def test_thinning_refuses_when_an_input_runs_out() -> None:
    generator = np.random.default_rng(1)
    assert thinned_hits(
        np.array([0.5, 0.5]), np.array([1, 1]), np.array([1, 1]), 50, generator
    ) is (None)


@pytest.mark.parametrize("apart", [None, [True, False, False], [True, True, True]])
def test_bounds_of_a_weighted_sum_miss_with_probability_at_most_alpha(
    apart: list[bool] | None,
) -> None:
    """1500 runs at alpha 0.1; more misses than 203 would have probability below 1e-6."""
    generator = np.random.default_rng(5)
    weights = np.array([0.05, 0.6, 0.35])
    rates, trials, alpha, runs = np.array([0.5, 0.1, 0.02]), np.array([12, 900, 500]), 0.1, 1500
    mask = None if apart is None else np.array(apart)
    value = float(weights @ rates)
    above = below = 0
    for _ in range(runs):
        hits = generator.binomial(trials, rates)
        upper = weighted_sum_upper(weights, hits, trials, alpha, generator=generator, apart=mask)
        lower = weighted_sum_lower(weights, hits, trials, alpha, generator=generator, apart=mask)
        above += upper < value
        below += lower > value
    limit = stats.binom.isf(1e-6, runs, alpha)
    assert above <= limit
    assert below <= limit


def test_unseen_inputs_count_as_certain_above_and_impossible_below() -> None:
    weights, hits, trials = np.array([0.3, 0.7]), np.array([0, 0]), np.array([0, 10_000])
    generator = np.random.default_rng(2)
    upper = weighted_sum_upper(weights, hits, trials, 0.01, generator=generator)
    assert 0.3 < upper < 0.301
    assert weighted_sum_lower(weights, hits, trials, 0.01, generator=generator) == 0.0
    nothing = np.array([0, 0])
    assert weighted_sum_upper(weights, hits, nothing, 0.01, generator=generator) == 1.0
    assert weighted_sum_lower(weights, hits, nothing, 0.01, generator=generator) == 0.0


def test_forecast_uses_expected_hits() -> None:
    drawn = thinned_hits(np.array([0.5, 0.5]), np.array([10, 30]), np.array([100, 100]), 40, None)
    assert drawn is not None
    assert drawn.tolist() == [2.0, 6.0]
