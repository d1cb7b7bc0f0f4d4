"""Rates of sampling, against the definitions in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from liftlock.designs.formulas import sampling_rate as formulas
from liftlock.errors import NotDefined

Masses = list[Fraction]


def priors(count: int) -> list[Masses]:
    source = np.random.default_rng(11)
    found = []
    for place in range(count):
        size = int(source.integers(2, 7))
        weights = source.integers(1, 10 ** int(source.integers(1, 5)), size=size)
        if place % 5 == 0:
            weights = np.ones(size, dtype=np.int64)
        total = int(weights.sum())
        found.append([Fraction(int(w), total) for w in weights])
    return found


def rows(masses: Masses, rate: Fraction) -> list[Masses]:
    return [
        [rate * (x == y) + (1 - rate) * p for y, p in enumerate(masses)] for x in range(len(masses))
    ]


def excess(p: Masses, q: Masses, ratio: Fraction) -> Fraction:
    return sum((max(a - ratio * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def delta(masses: Masses, rate: Fraction, ratio: Fraction, form: str) -> Fraction:
    """Return the delta of a form, from its definition."""
    table = rows(masses, rate)
    if form == "ldp":
        return max(excess(p, q, ratio) for p in table for q in table)
    worst = Fraction(0)
    for x, row in enumerate(table):
        up, down = excess(row, masses, ratio), excess(masses, row, ratio)
        if form == "def5":
            up /= ratio
        worst = max(worst, max(up, down) * (masses[x] if form == "joint" else 1))
    return worst


def at_the_edge(rate: float, need: Callable[[Fraction], Fraction], most: Fraction) -> None:
    """Check that a rate is enough, and that hardly a larger one is."""
    assert 0 <= rate <= 1
    assert need(Fraction(rate) * (1 - Fraction(1, 10**12))) <= most
    if rate < 1:
        assert need(min(Fraction(rate) + Fraction(1, 10**9), Fraction(1))) > most


@pytest.mark.parametrize("form", ["ediv", "def5", "joint", "ldp"])
def test_rates_with_a_delta(form: str) -> None:
    seen = set()
    for place, masses in enumerate(priors(60)):
        ratio = [Fraction(1), Fraction(21, 20), Fraction(2), Fraction(9), Fraction(500)][place % 5]
        most = [Fraction(0), Fraction(1, 1000), Fraction(1, 20), Fraction(1, 3)][place % 4]
        floats = np.array([float(p) for p in masses])
        if form == "ldp":
            rate = formulas.ldp_rate(floats, float(ratio), float(most))
        else:
            rate = formulas.approximate_rate(floats, float(ratio), float(most), form)
        limit = most + Fraction(1, 10**15)  # masses and delta are floats in the formula
        at_the_edge(rate, lambda t, m=masses, r=ratio: delta(m, t, r, form), limit)  # type: ignore[misc]
        seen.add(rate == 1.0)
    assert False in seen


@pytest.mark.parametrize(("lower", "upper"), [(0.5, 2.0), (0.1, 1.01), (0.99, 30.0), (0.0, 1.5)])
def test_rates_of_lifts(lower: float, upper: float) -> None:
    for masses in priors(20):
        floats = np.array([float(p) for p in masses])

        def beyond(rate: Fraction, masses: Masses = masses) -> Fraction:
            lifts = [q / p for row in rows(masses, rate) for q, p in zip(row, masses, strict=True)]
            return max(max(lifts) - Fraction(upper), Fraction(lower) - min(lifts))

        at_the_edge(formulas.lift_rate(floats, lower, upper), beyond, Fraction(1, 10**12))


def test_no_delta_is_the_pure_notion() -> None:
    for masses in priors(20):
        floats = np.array([float(p) for p in masses])
        for ratio in (1.5, 4.0):
            pure = formulas.lift_rate(floats, 1 / ratio, ratio)
            for form in ("ediv", "def5", "joint"):
                assert formulas.approximate_rate(floats, ratio, 0.0, form) == pytest.approx(
                    pure, rel=1e-12
                )


@pytest.mark.parametrize("form", ["ediv", "def5"])
def test_the_rate_for_a_continuous_value_is_the_limit(form: str) -> None:
    for ratio, most in ((1.2, 0.01), (3.0, 0.3), (20.0, 0.2), (2.0, 0.0)):
        limit = formulas.continuous_rate(ratio, most, form)
        fine = formulas.approximate_rate(np.full(10**6, 1e-6), ratio, most, form)
        coarse = formulas.approximate_rate(np.full(10, 0.1), ratio, most, form)
        assert limit <= fine <= coarse + 1e-12
        assert limit == pytest.approx(fine, abs=1e-4)
    fine = formulas.ldp_rate(np.full(10**6, 1e-6), 3.0, 0.1)
    assert formulas.continuous_rate(3.0, 0.1, "ediv") == pytest.approx(fine, abs=1e-4)


def test_proposition_two_as_printed() -> None:
    ratio = math.e
    edge = (1 - 1 / ratio) / (ratio - 1 / ratio)
    assert formulas.continuous_rate(ratio, edge / 2, "def5") == pytest.approx(ratio * edge / 2)
    assert formulas.continuous_rate(ratio, 2 * edge, "def5") == pytest.approx(
        1 - (1 - 2 * edge) / ratio
    )


def test_one_symbol_needs_no_protection() -> None:
    one = np.ones(1)
    assert formulas.lift_rate(one, 0.9, 1.1) == 1.0
    assert formulas.approximate_rate(one, 1.1, 0.0, "joint") == 1.0
    assert formulas.ldp_rate(one, 1.1) == 1.0


def test_expected_errors() -> None:
    source = np.random.default_rng(3)
    for size in (2, 5, 40):
        points, masses = source.normal(size=size) * 7, source.dirichlet(np.ones(size))
        apart = np.abs(points[:, None] - points[None, :])
        for power in (1, 2):
            expected = 0.7 * masses @ apart**power @ masses
            assert formulas.expected_error(points, masses, 0.3, power) == pytest.approx(
                expected, rel=1e-12
            )
    with pytest.raises(NotDefined):
        formulas.expected_error(points, masses, 0.3, 3)


def test_a_joint_delta_is_void_without_masses() -> None:
    with pytest.raises(NotDefined, match="the form joint"):
        formulas.continuous_rate(2.0, 0.1, "joint")
