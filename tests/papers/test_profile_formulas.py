"""Two profiles of one bit: the closed form, the published bound, and two releases of one bit."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest

from liftlock.designs.mechanisms.profile_response import flip_at_ratio
from liftlock.errors import InputError, NumberError
from liftlock_papers.formulas.profiles import flip_probability, published_bound, twice, warner
from tests.profile_oracles import solved

Pair = tuple[float, float, float]


def pairs(count: int, seed: int) -> list[Pair]:
    """Return chances and budgets, some of them at the ends."""
    source = np.random.default_rng(seed)
    found = []
    for place in range(count):
        p, q = source.random(2) ** (1 + place % 4)
        epsilon = float(source.choice([0.01, 0.1, 0.5, 1.0, 3.0]))
        found.append((float(p) if place % 7 else 0.0, float(q) if place % 11 else 1.0, epsilon))
    return found


def least_flip(p: float, q: float, epsilon: float) -> float:
    """Solve the published programme as it stands."""
    ratio = math.exp(epsilon)
    rows, ends = [], []
    for one, other in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
        # one + (1 - 2 one) a <= E (other + (1 - 2 other) a)
        rows.append([(1 - 2 * one) - ratio * (1 - 2 * other)])
        ends.append(ratio * other - one)
    return solved([1.0], (rows, ends), most=0.5)[0]


def loss(p: float, q: float, flip: float) -> float:
    outputs = [[c * (1 - flip) + (1 - c) * flip for c in (x, 1 - x)] for x in (p, q)]
    return max(abs(math.log(a / b)) for a, b in zip(*outputs, strict=True))


def test_the_closed_form_is_the_optimum_of_the_published_programme() -> None:
    for p, q, epsilon in pairs(300, 1):
        assert flip_probability(p, q, epsilon) == pytest.approx(
            least_flip(p, q, epsilon), abs=1e-9
        ), (p, q, epsilon)


def test_numbers_of_the_paper() -> None:
    assert flip_probability(0.8, 0.9, 0.5) == pytest.approx(0.04886, abs=5e-6)
    assert flip_probability(0.9, 0.95, 1) == 0.0
    for epsilon in (0.01, 0.5, 2.0, 10.0):
        assert flip_probability(0, 1, epsilon) == pytest.approx(warner(epsilon), rel=1e-12)
        assert warner(epsilon) == pytest.approx(float(1 / (1 + mp.e**epsilon)), rel=1e-15)


def test_an_exact_ratio_gives_an_exact_flip_that_is_tight() -> None:
    source = np.random.default_rng(2)
    for _ in range(200):
        p, q = (Fraction(int(n), 40) for n in source.integers(0, 41, 2))
        ratio = 1 + Fraction(int(source.integers(1, 50)), int(source.integers(1, 20)))
        flip = flip_at_ratio(p, q, ratio)
        assert isinstance(flip, Fraction)
        assert 0 <= flip <= 1 / (1 + ratio)
        outputs = [[c * (1 - flip) + (1 - c) * flip for c in (x, 1 - x)] for x in (p, q)]
        both = *zip(*outputs, strict=True), *zip(*outputs[::-1], strict=True)
        assert all(a <= ratio * b for a, b in both)
        assert not flip or any(a == ratio * b for a, b in both)


def test_larger_budgets_need_fewer_flips_and_order_does_not_matter() -> None:
    budgets = np.linspace(0, 4, 30)
    for p, q, _ in pairs(40, 3):
        flips = [flip_probability(p, q, epsilon) for epsilon in budgets]
        assert all(a >= b for a, b in pairwise(flips))
        assert flips[0] == pytest.approx(0.5 if p != q else 0.0)
        assert flips == [flip_probability(q, p, epsilon) for epsilon in budgets]


def test_the_published_bound_holds_but_is_often_void() -> None:
    assert published_bound(0.8, 0.9, 0.5) == pytest.approx(2.214, abs=5e-4)
    assert published_bound(0.9, 0.95, 1) == pytest.approx(1.174, abs=5e-4)
    source = np.random.default_rng(4)
    void = 0
    for p, q in source.random((300, 2)):
        bound = published_bound(p, q, 0.5)
        assert bound >= flip_probability(p, q, 0.5) - 1e-12
        void += bound > 0.5
    assert void > 30


def test_the_published_bound_without_a_denominator_is_infinite() -> None:
    assert math.isinf(published_bound(0.5, 0.5, 0))
    assert flip_probability(0.5, 0.5, 0) == 0.0


def test_two_releases_of_the_same_bit_lose_more_than_twice_the_budget() -> None:
    flip = flip_probability(0.9, 1, 1)
    assert loss(0.9, 1, flip) == pytest.approx(1, abs=1e-12)
    distributions = []
    for p in (Fraction(9, 10), Fraction(1)):
        a = Fraction(flip)
        likelihood = {(x, y): a if x != y else 1 - a for x, y in product((0, 1), repeat=2)}
        distributions.append(
            {
                (s, t): sum(
                    (p if x else 1 - p) * likelihood[x, s] * likelihood[x, t] for x in (0, 1)
                )
                for s, t in product((0, 1), repeat=2)
            }
        )
    worst = max(
        abs(mp.log(mp.mpf(float(distributions[0][y] / distributions[1][y]))))
        for y in distributions[0]
    )
    assert twice(0.9, 1, flip) == pytest.approx(float(worst), abs=1e-12)
    assert twice(0.9, 1, flip) == pytest.approx(3.5252, abs=5e-5)


def test_two_releases_at_the_ends() -> None:
    assert twice(0.3, 0.3, 0.1) == 0.0
    assert twice(0, 1, 0.5) == pytest.approx(0.0)
    assert math.isinf(twice(0.5, 1, 0))
    # Bits that are known beforehand are flipped independently: then losses do add up.
    assert twice(0, 1, 0.2) == pytest.approx(2 * math.log(4))


@pytest.mark.parametrize("call", [lambda: warner(-1), lambda: flip_probability(1.2, 0, 1)])
def test_numbers_outside_are_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(InputError, match="give"):
        call()


def test_the_exact_form_refuses_what_is_no_probability() -> None:
    with pytest.raises(NumberError, match="give"):
        flip_at_ratio(1.2, 0.0, 2.0)


def test_the_closed_form_is_that_of_the_mechanism() -> None:
    for p, q, epsilon in pairs(100, 5):
        found = flip_at_ratio(p, q, math.exp(epsilon))
        assert flip_probability(p, q, epsilon) == pytest.approx(found, rel=1e-12)
