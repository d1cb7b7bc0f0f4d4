"""Formulas for Gaussian noise, against quadrature, many digits, and the figures of the papers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from liftlock.designs.formulas import gaussian as formulas
from liftlock.errors import InputError, NotDefined
from liftlock_papers.formulas.gaussian import (
    classical_delta,
    mixture_delta,
    true_delta,
    unprotected_mass,
)


def distributions(seed: int, count: int) -> list[tuple[float, float, float, float, float]]:
    """Return gamma and two distributions: extreme ratios, nearly equal, equal, near and far."""
    source = np.random.default_rng(seed)
    found = []
    for place in range(count):
        gamma = 10.0 ** source.uniform(-6, 6)
        if place % 4 == 0:
            gamma = math.exp(source.normal() * 0.3)
        second = 10.0 ** source.uniform(-3, 3)
        ratio = [10.0 ** source.uniform(-3, 3), math.exp(source.normal() * 1e-3), 1.0][place % 3]
        first = second * ratio
        mean = source.normal() * 10
        apart = source.normal() * max(first, second) * 10.0 ** source.uniform(-3, 1)
        found.append((gamma, mean + apart, first, mean, second))
    return found


def parts(gamma: Any, m1: Any, s1: Any, m2: Any, s2: Any) -> tuple[list[Any], bool]:
    """Return where f = gamma g, and whether f is above at the far right, in many digits."""
    a = 1 / (2 * s2**2) - 1 / (2 * s1**2)
    b = m1 / s1**2 - m2 / s2**2
    c = m2**2 / (2 * s2**2) - m1**2 / (2 * s1**2) - mp.log(gamma * s1 / s2)
    if a == 0:
        return ([] if b == 0 else [-c / b]), (b > 0 if b else c > 0)
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        return [], a > 0
    root = mp.sqrt(discriminant)
    return sorted([(-b - root) / (2 * a), (-b + root) / (2 * a)]), a > 0


def by_digits(*arguments: float) -> Any:
    """Return the E-divergence from distribution functions in 150 digits."""
    with mp.workdps(150):
        gamma, m1, s1, m2, s2 = (mp.mpf(each) for each in arguments)
        roots, above = parts(gamma, m1, s1, m2, s2)
        ends = [-mp.inf, *roots, mp.inf]
        total = mp.mpf(0)
        for low, high in reversed(list(itertools.pairwise(ends))):
            if above:
                for weight, mean, sd in ((1, m1, s1), (-gamma, m2, s2)):
                    upper = mp.ncdf(-(low - mean) / sd) if low != -mp.inf else mp.mpf(1)
                    lower = mp.ncdf(-(high - mean) / sd) if high != mp.inf else mp.mpf(0)
                    total += weight * (upper - lower)
            above = not above
        return +total


def by_quadrature(*arguments: float) -> float:
    """Integrate the positive part of f - gamma g."""
    with mp.workdps(25):
        gamma, m1, s1, m2, s2 = (mp.mpf(each) for each in arguments)
        roots, _ = parts(gamma, m1, s1, m2, s2)
        reach = [mean + k * sd for mean, sd in ((m1, s1), (m2, s2)) for k in (-14, -4, 0, 4, 14)]
        ends = sorted([*reach, *[root for root in roots if min(reach) < root < max(reach)]])

        # mp.npdf would compute the height of each distribution again for every y.
        height1, height2 = (
            factor / (sd * mp.sqrt(2 * mp.pi)) for factor, sd in ((1, s1), (gamma, s2))
        )

        def positive(y: Any) -> Any:
            above = height1 * mp.exp(-(((y - m1) / s1) ** 2) / 2)
            return max(above - height2 * mp.exp(-(((y - m2) / s2) ** 2) / 2), mp.mpf(0))

        return float(mp.quad(positive, ends))


# --- E-divergence ---------------------------------------------------------------------------------


def test_against_quadrature() -> None:
    for arguments in distributions(1, 24):
        assert float(formulas.e_divergence(*arguments)) == pytest.approx(
            by_quadrature(*arguments), abs=1e-11
        ), arguments


def test_against_many_digits_also_in_the_tails() -> None:
    tiny = 0
    for arguments in distributions(2, 450):
        exact = by_digits(*arguments)
        found = float(formulas.e_divergence(*arguments))
        assert found == pytest.approx(float(exact), abs=1e-13), arguments
        if exact > mp.mpf("1e-290"):
            assert found == pytest.approx(float(exact), rel=1e-11), arguments
            tiny += exact < 1e-20
    assert tiny > 5, "none was in the tails"


def test_vectorised() -> None:
    columns = np.array(distributions(3, 50)).T
    together = formulas.e_divergence(*columns)
    assert together.tolist() == [float(formulas.e_divergence(*each)) for each in columns.T]


def test_the_four_cases() -> None:
    """Two points outside, two inside, none, and equal deviations."""
    level = math.exp(norm.logpdf(6, 0, 3) - norm.logpdf(6))
    assert float(formulas.e_divergence(level, 0, 3, 0, 1)) == pytest.approx(
        2 * norm.sf(2) - level * 2 * norm.sf(6), rel=1e-12
    )
    level = math.exp(norm.logpdf(1) - norm.logpdf(1, 0, 3))
    assert float(formulas.e_divergence(level, 0, 1, 0, 3)) == pytest.approx(
        (1 - 2 * norm.sf(1)) - level * (1 - 2 * norm.sf(1 / 3)), rel=1e-12
    )
    assert float(formulas.e_divergence(3.01, 0, 1, 0, 3)) == 0.0  # f / g is 3 at most
    assert float(formulas.e_divergence(0.33, 0, 3, 0, 1)) == pytest.approx(0.67)  # and 1/3 at least
    for gamma in (0.2, 1.0, 5.0):
        d, log = 1.5 / 0.7, math.log(gamma)
        expected = norm.cdf(d / 2 - log / d) - gamma * norm.cdf(-d / 2 - log / d)
        assert float(formulas.e_divergence(gamma, 1.5, 0.7, 0, 0.7)) == pytest.approx(
            expected, rel=1e-12
        )
    assert float(formulas.e_divergence(1, 2, 3, 2, 3)) == 0.0
    assert float(formulas.e_divergence(0.25, 2, 3, 2, 3)) == 0.75


def test_nearly_equal_deviations_join_equal_ones() -> None:
    """Lemma 4 as printed divides by the difference of the variances."""
    equal = float(formulas.e_divergence(1.3, 0, 1, 0.8, 1))
    for apart in (1e-3, 1e-6, 1e-9, 1e-12):
        for sign in (-1, 1):
            near = float(formulas.e_divergence(1.3, 0, 1 + sign * apart, 0.8, 1))
            assert near == pytest.approx(equal, abs=3 * apart)


def test_proposition_three() -> None:
    for gamma, m1, s1, m2, s2 in distributions(4, 100):
        left = float(formulas.e_divergence(gamma, m1, s1, m2, s2))
        right = gamma * float(formulas.e_divergence(1 / gamma, m2, s2, m1, s1)) - gamma + 1
        assert left == pytest.approx(right, abs=1e-13 * max(1.0, gamma))


@pytest.mark.parametrize("bad", [(0, 0, 1, 0, 1), (1, 0, 0, 0, 1), (1, 0, 1, 0, -1)])
def test_what_is_no_law_is_refused(bad: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="is not a positive number"):
        formulas.e_divergence(*bad)


# --- one deviation for all ------------------------------------------------------------------------


def test_golden_deltas() -> None:
    found = formulas.delta_at([0, 5, 10, 20], 0, 5, 10, 1)
    assert found == pytest.approx([0.000537, 0.0280, 0.1469, 0.4917], abs=5e-5)
    assert found[0] == pytest.approx(0.000537, abs=5e-7)


def test_no_deviation_protects_every_value() -> None:
    """The supremum over all x, as Thm 5 has it, is 1."""
    radii = np.linspace(0, 400, 200)
    for form in ("ediv", "def5"):
        found = formulas.radius_delta(radii, 5, 10, 1, form)
        assert (np.diff(found) >= -1e-15).all()
        assert found[-1] > 1 - 1e-12


def test_forms_are_ordered() -> None:
    x = np.linspace(-30, 30, 41)
    ediv, def5 = (formulas.delta_at(x, 1, 4, 6, 0.7, form) for form in ("ediv", "def5"))
    assert (def5 <= ediv).all()
    assert (ediv <= math.exp(0.7) * def5 + 1e-15).all()


@pytest.mark.parametrize("form", ["ediv", "def5"])
def test_the_smallest_deviation_is_a_root(form: str) -> None:
    for radius, epsilon, delta in itertools.product((0, 3, 20), (0, 0.3, 4), (1e-9, 1e-3, 0.2)):
        sigma = float(formulas.smallest_sigma(radius, 5, epsilon, delta, form))
        assert float(formulas.radius_delta(radius, 5, sigma, epsilon, form)) <= delta
        assert float(formulas.radius_delta(radius, 5, sigma * (1 - 1e-6), epsilon, form)) > delta


def test_more_budget_asks_for_no_more_noise() -> None:
    epsilons, deltas = np.linspace(0, 8, 12), np.geomspace(1e-12, 0.9, 12)
    by_epsilon = [float(formulas.smallest_sigma(12, 5, float(e), 1e-4)) for e in epsilons]
    by_delta = [float(formulas.smallest_sigma(12, 5, 1, float(d))) for d in deltas]
    by_radius = formulas.smallest_sigma(np.linspace(0, 40, 25), 5, 1, 1e-4)
    assert (np.diff(by_epsilon) <= 0).all()
    assert (np.diff(by_delta) <= 0).all()
    assert (np.diff(by_radius) >= 0).all()


def test_the_mass_that_is_not_protected() -> None:
    assert float(unprotected_mass(10, 5)) == pytest.approx(2 * norm.sf(2), rel=1e-14)
    assert float(unprotected_mass(100, 5)) == pytest.approx(2 * norm.sf(20), rel=1e-12)


def test_a_formula_needs_a_delta() -> None:
    for delta in (0, 1, -0.1):
        with pytest.raises(InputError, match="needs a delta between 0 and 1"):
            formulas.smallest_sigma(1, 5, 1, delta)
    with pytest.raises(NotDefined, match="the form joint"):
        formulas.delta_at(0, 0, 5, 10, 1, "joint")


# --- a deviation for each value -------------------------------------------------------------------


def test_the_published_rule_has_1200_times_its_delta() -> None:
    assert float(true_delta(0, 0, 5, 1, 1e-4)) == pytest.approx(0.120, abs=5e-4)


def test_the_true_delta_by_another_quadrature() -> None:
    sd_x, epsilon, delta, x = 2.0, 0.7, 0.01, 1.0
    places = np.linspace(-8 * sd_x, 8 * sd_x, 401)
    sds = formulas.instance_sigma(places, 0, sd_x, epsilon, delta)
    weights = norm.pdf(places, 0, sd_x)
    weights /= weights.sum()
    own = float(formulas.instance_sigma(x, 0, sd_x, epsilon, delta))

    def excess(sign: int) -> Callable[[float], float]:
        def positive(y: float) -> float:
            mixed = float(weights @ norm.pdf(y, places, sds))
            alone = float(norm.pdf(y, x, own))
            p, q = (alone, mixed) if sign > 0 else (mixed, alone)
            return max(p - math.exp(epsilon) * q, 0.0)

        return positive

    expected = max(
        quad(excess(sign), -60, 60, limit=200, points=[-20, -5, 0, 5, 20], epsabs=1e-8)[0]
        for sign in (1, -1)
    )
    found = float(true_delta(x, 0, sd_x, epsilon, delta))
    assert found == pytest.approx(expected, abs=1e-5)
    assert found > 2 * delta


def test_one_deviation_for_all_is_a_special_case() -> None:
    nodes = np.linspace(-9, 9, 721)
    weights = np.exp(-0.5 * nodes**2)
    weights /= weights.sum()
    found = formulas.output_deltas([0, 10], 10, weights, 5 * nodes, np.full(721, 10.0), 1)
    assert found == pytest.approx(formulas.delta_at([0, 10], 0, 5, 10, 1), abs=1e-6)


# --- mixtures -------------------------------------------------------------------------------------


def by_sums(
    x: float, weights: Any, means: Any, sds: Any, sd_n: float, epsilon: float, form: str
) -> float:
    y = np.linspace(-150, 150, 300_001)
    wide = np.hypot(sds, sd_n)
    mixed = sum(w * norm.pdf(y, m, s) for w, m, s in zip(weights, means, wide, strict=True))
    alone, ratio = norm.pdf(y, x, sd_n), math.exp(epsilon)
    step = y[1] - y[0]
    up = np.maximum(alone - ratio * mixed, 0).sum() * step
    down = np.maximum(mixed - ratio * alone, 0).sum() * step
    return float(max(up / ratio if form == "def5" else up, down))


@pytest.mark.parametrize("form", ["ediv", "def5"])
def test_mixtures_against_sums(form: str) -> None:
    source = np.random.default_rng(5)
    for _ in range(3):
        count = int(source.integers(2, 5))
        weights = source.dirichlet(np.ones(count))
        means, sds = source.normal(size=count) * 8, source.uniform(0, 4, size=count)
        sd_n, epsilon = float(source.uniform(1, 8)), float(source.uniform(0, 2))
        places = source.normal(size=2) * 10
        found = mixture_delta(places, weights, means, sds, sd_n, epsilon, form)
        for x, delta in zip(places, found, strict=True):
            expected = by_sums(float(x), weights, means, sds, sd_n, epsilon, form)
            assert delta == pytest.approx(expected, abs=2e-7)


def test_a_mixture_of_one_is_the_theorem() -> None:
    x = np.linspace(-40, 40, 33)
    for epsilon in (0.0, 0.5, 3.0):
        for form in ("ediv", "def5"):
            mixed = mixture_delta(x, [1.0], [2.0], [5.0], 7.0, epsilon, form)
            assert mixed == pytest.approx(
                formulas.delta_at(x, 2.0, 5.0, 7.0, epsilon, form), abs=1e-13
            )


def test_atoms_are_mixtures_without_deviation() -> None:
    """Two atoms: f_Y - f_{Y|x} is half the difference of two normal densities."""
    d = 2 / 3.0
    total = 2 * norm.cdf(d / 2) - 1
    found = mixture_delta([-1, 1], [0.5, 0.5], [-1, 1], [0, 0], 3.0, 0.0)
    assert found == pytest.approx([total / 2] * 2, rel=1e-12)


def test_gaussian_components_alone_do_not_tell() -> None:
    """The delta under the whole mixture is not the worst of its components."""
    whole = mixture_delta([0.0], [0.5, 0.5], [-20, 20], [1, 1], 4.0, 1.0)[0]
    alone = max(float(formulas.delta_at(0.0, mean, 1.0, 4.0, 1.0)) for mean in (-20.0, 20.0))
    assert abs(float(whole) - alone) > 1e-3


# --- baselines ------------------------------------------------------------------------------------


def test_the_classical_bound_fails_beyond_one() -> None:
    assert classical_delta(10, 0.3, 1) == pytest.approx(0.0139, abs=5e-5)
    assert formulas.analytic_delta(10, 0.3, 1) == pytest.approx(0.0575, abs=5e-5)


def test_the_classical_bound_holds_up_to_one() -> None:
    for epsilon, delta in itertools.product((0.01, 0.3, 1.0), (1e-9, 1e-4, 0.05)):
        sigma = formulas.classical_sigma(epsilon, delta, 2.0)
        assert classical_delta(epsilon, sigma, 2.0) == pytest.approx(delta, rel=1e-12)
        assert formulas.analytic_delta(epsilon, sigma, 2.0) <= delta
        assert formulas.analytic_sigma(epsilon, delta, 2.0) <= sigma


def test_the_analytic_deviation_is_a_root() -> None:
    for epsilon, delta in itertools.product((0.0, 0.3, 10.0), (1e-9, 1e-4, 0.5)):
        sigma = formulas.analytic_sigma(epsilon, delta, 3.0)
        assert formulas.analytic_delta(epsilon, sigma, 3.0) <= delta
        assert formulas.analytic_delta(epsilon, sigma * (1 - 1e-7), 3.0) > delta


def test_the_classical_deviation_needs_epsilon() -> None:
    with pytest.raises(InputError, match="an epsilon above 0"):
        formulas.classical_sigma(0, 0.1, 1)


def test_masses_keep_their_digits() -> None:
    for low, high in ((-1.0, 2.0), (7.0, 7.5), (-7.5, -7.0), (30.0, 31.0), (0.0, 0.0)):
        with mp.workdps(60):
            exact = mp.ncdf(-mp.mpf(low)) - mp.ncdf(-mp.mpf(high))
        found = float(formulas.normal_mass(np.array(low), np.array(high)))
        assert found == pytest.approx(float(exact), rel=1e-13)
