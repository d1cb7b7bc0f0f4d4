"""Paper 000, section IV-B2: the response for P(X = 1) in [a, b], against channels of a grid."""

from __future__ import annotations

import itertools
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

Flips = tuple[Fraction, Fraction]


@st.composite
def intervals(draw: st.DrawFn) -> Flips:
    low, high = sorted(draw(st.tuples(st.integers(0, 40), st.integers(0, 40))))
    if high == 0:
        high = 1
    if low == 40:
        low = 39
    return Fraction(low, 40), Fraction(high, 40)


def growths() -> st.SearchStrategy[Fraction]:
    return st.integers(11, 90).map(lambda k: Fraction(k, 10))


def published(low: Fraction, high: Fraction, growth: Fraction) -> Flips:
    return high / (high - low + growth), (1 - low) / (high - low + growth)


def allowed(flips: Flips, low: Fraction, high: Fraction, growth: Fraction) -> bool:
    """Every lift of a symbol that can occur lies in [1/E, E], at both ends of the interval.

    P(y) is linear in the prior, so the ends are enough; at an end where a symbol has probability 0
    it still counts, as priors nearby give it some.
    """
    q01, q10 = flips
    for p in (low, high):
        for zero, one in ((1 - q01, q10), (q01, 1 - q10)):
            output = (1 - p) * zero + p * one
            for likelihood in (zero, one):
                if not likelihood / growth <= output <= growth * likelihood:
                    return False
    return True


@settings(max_examples=150, deadline=None)
@given(intervals(), growths())
def test_the_published_response_keeps_its_budget_under_two_conditions(
    ends: Flips, growth: Fraction
) -> None:
    low, high = ends
    fits = low * growth + high >= 1 and (1 - high) * growth + 1 - low >= 1
    assert allowed(published(low, high, growth), low, high, growth) == fits


@settings(max_examples=25, deadline=None)
@given(intervals(), growths())
def test_the_published_response_is_the_optimum_where_it_keeps_its_budget(
    ends: Flips, growth: Fraction
) -> None:
    """Both likelihood ratios of every channel that is allowed are nearer to 1.

    For two symbols and two answers that is to be the published channel followed by noise.
    """
    low, high = ends
    best = published(low, high, growth)
    if not allowed(best, low, high, growth):
        return
    ticks = [Fraction(k, 30) for k in range(31)]
    for q01, q10 in itertools.product(ticks, ticks):
        if q01 + q10 < 1 and allowed((q01, q10), low, high, growth):
            assert q10 * (1 - best[0]) >= best[1] * (1 - q01)
            assert q01 * (1 - best[1]) >= best[0] * (1 - q10)


def test_a_point_and_the_whole_interval_are_the_stated_special_cases() -> None:
    growth, p = Fraction(3), Fraction(2, 5)
    assert published(p, p, growth) == (p / growth, (1 - p) / growth)
    assert published(Fraction(0), Fraction(1), growth) == (1 / (1 + growth), 1 / (1 + growth))
