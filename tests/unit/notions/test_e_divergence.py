"""E-divergence: the largest excess over any set of outputs, chosen exactly at ties."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Prior
from liftlock.errors import LabelError, NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.notions.e_divergence import Excess, excess, largest_excess, measure, positive_parts
from tests import oracles
from tests.checks import contains, is_number, nats_around
from tests.strategies import counts, fractions, make_prior

with mp.workdps(150):
    E_60_DIGITS = Fraction(int(mp.floor(mp.e * mp.mpf(10) ** 120)), 10**120)


def over_sets(p: list[Fraction], q: list[Fraction], gamma: Fraction) -> Fraction:
    return max(
        sum((p[y] for y in chosen), Fraction(0)) - gamma * sum((q[y] for y in chosen), Fraction(0))
        for chosen in oracles.subsets(len(p))
    )


PAIRS = st.integers(1, 6).flatmap(lambda size: st.tuples(counts(size), counts(size)))


@given(PAIRS, st.one_of(st.fractions(0, 20, max_denominator=50), st.sampled_from([Fraction(1)])))
def test_it_is_the_largest_excess_over_any_set(
    pair: tuple[list[int], list[int]], gamma: Fraction
) -> None:
    p, q = pair
    found = measure(make_prior(p), make_prior(q), gamma)
    expected = over_sets(fractions(p), fractions(q), gamma)
    assert is_number(found.value, expected)
    assert found.witness is not None
    assert found.witness.outputs is not None
    chosen = [int(str(label)[1:]) for label in found.witness.outputs]
    mass = sum((fractions(p)[y] for y in chosen), Fraction(0))
    reference = sum((fractions(q)[y] for y in chosen), Fraction(0))
    assert mass - gamma * reference == expected


@given(PAIRS, st.data())
def test_the_set_is_right_when_a_ratio_sits_on_the_boundary(
    pair: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    p, q = pair
    shares = list(zip(fractions(p), fractions(q), strict=True))
    ratios = [a / b for a, b in shares if b and a >= b]
    if not ratios:
        return
    ratio = data.draw(st.sampled_from(ratios))
    low, high = nats_around(ratio) if ratio > 1 else (Fraction(0), Fraction(1, 10**40))
    for budget, with_ties in (
        (Budget.from_ratio(ratio), False),
        (Budget.of(high), False),
        (Budget.of(low), ratio > 1),
    ):
        found = excess(p, sum(p), q, sum(q), budget)
        expected = tuple(
            y
            for y, (a, b) in enumerate(shares)
            if a and (not b or a / b > ratio or (with_ties and a / b == ratio))
        )
        assert found.outputs == expected
        assert found.mass == sum((shares[y][0] for y in expected), Fraction(0))
        assert found.reference == sum((shares[y][1] for y in expected), Fraction(0))


def test_ratios_that_differ_from_e_in_the_sixtieth_digit() -> None:
    # The first enclosure of e does not tell which side they are on.
    above = oracles.convergent_above_e()
    below = 2 * E_60_DIGITS - above
    for ratio, chosen in ((above, True), (below, False)):
        q = [1, 10**80 - 1]
        p = [ratio.numerator, 10**80 * ratio.denominator - ratio.numerator]
        found = excess(p, sum(p), q, sum(q), Budget.of(1))
        assert (0 in found.outputs) == chosen


def test_totals_may_be_further_apart_than_floats_reach() -> None:
    wide = 3**2000
    p, q = [wide, 2 * wide], [1, 1]
    found = excess(p, 3 * wide, q, 2, Budget.of(0))
    assert found.outputs == (1,)
    assert (found.mass, found.reference) == (Fraction(2, 3), Fraction(1, 2))
    back = excess(q, 2, p, 3 * wide, Budget.of(0))
    assert back.outputs == (0,)
    assert (back.mass, back.reference) == (Fraction(1, 2), Fraction(1, 3))
    assert excess(p, 3 * wide, q, 2, Budget.of(2000)).outputs == ()


@given(
    st.fractions(0, 1),
    st.fractions(0, 1),
    st.fractions(Fraction(1, 9), 1),
    st.booleans(),
    st.fractions(1, 50),
    st.fractions(0, 1),
)
def test_value_and_required_are_inverse(
    mass: Fraction,
    reference: Fraction,
    weight: Fraction,
    inverse: bool,
    ratio: Fraction,
    delta: Fraction,
) -> None:
    item = Excess(mass, reference, (0,), weight, inverse)
    value = item.value(Enclosure.of(ratio)).lower
    plain = weight * (mass - ratio * reference) / (ratio if inverse else 1)
    assert value == max(plain, 0)
    needed = item.required_ratio(delta)
    if needed is None:
        assert value > delta
    else:
        assert (value <= delta) == (ratio >= needed)
        if needed >= 1 and delta > 0:
            assert item.value(Enclosure.of(needed)).lower == delta


def test_the_larger_of_two_that_cannot_be_told_apart() -> None:
    # Which of the two is larger depends on digits of E that the enclosure does not show.
    ratio = Enclosure(Fraction(2), Fraction(2) + Fraction(1, 10**9))
    steep = Excess(Fraction(9, 10), Fraction(2, 5), (0,))
    flat = Excess(Fraction(1, 10) + Fraction(1, 10**10), Fraction(0), (0,))
    found = largest_excess([flat, steep], ratio)
    assert found.upper == flat.mass
    assert found.lower == flat.mass
    found = largest_excess(
        [steep, Excess(flat.mass - Fraction(2, 10**10), Fraction(0), (0,))], ratio
    )
    assert found.upper == Fraction(1, 10)
    assert found.lower == Fraction(1, 10) - Fraction(1, 10**10)
    assert largest_excess([], ratio) == Enclosure.of(0)


@given(PAIRS, st.fractions(0, 4, max_denominator=20))
def test_at_an_irrational_ratio(pair: tuple[list[int], list[int]], epsilon: Fraction) -> None:
    p, q = pair
    found = excess(p, sum(p), q, sum(q), Budget.of(epsilon)).value(Budget.of(epsilon).exp())
    E = mp.exp(oracles.real(epsilon))
    true = mp.fsum(
        max(oracles.real(a) - E * oracles.real(b), 0)
        for a, b in zip(fractions(p), fractions(q), strict=True)
    )
    assert contains(found, true)


@given(PAIRS, st.fractions(1, 50))
def test_estimates_are_close(pair: tuple[list[int], list[int]], ratio: Fraction) -> None:
    p, q = fractions(pair[0]), fractions(pair[1])
    estimate = float(positive_parts(np.array(p, float), np.array(q, float), float(ratio)))
    assert abs(estimate - float(over_sets(p, q, ratio))) < 1e-14


def test_estimates_for_an_endless_ratio_are_not_too_small() -> None:
    p, q = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    assert float(positive_parts(p, q, float("inf"))) == 0.5


def test_refusals() -> None:
    ab = Prior.uniform("ab")
    with pytest.raises(NumberError, match="gamma is negative"):
        measure(ab, ab, -1)
    with pytest.raises(LabelError, match="lacks"):
        measure(ab, Prior.uniform("ac"), 1)
    assert measure(ab, ab, "1e400").value == Enclosure.of(0)
    assert measure(ab, ab, 0).value == Enclosure.of(1)
