"""Laplace formulas, against quadrature, fifty digits, brute force, and numbers worked out apart."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

from liftlock.designs.formulas import laplace as formulas
from liftlock.exact.integers import Floats
from liftlock_papers.formulas.laplace import smallest_scale

World = tuple[Floats, Floats, float, float]


def worlds(count: int, seed: int = 5) -> list[World]:
    """Return random atoms with masses, inside a domain that may be wider."""
    source = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(source.integers(2, 7))
        points = np.sort(source.uniform(-3, 5, size))
        masses = source.dirichlet(np.full(size, source.choice([0.3, 1.0, 5.0])))
        masses = np.maximum(masses, 1e-4)
        reach = source.choice([0.0, 0.0, 1.0, 4.0], 2)
        found.append((points, masses / masses.sum(), points[0] - reach[0], points[-1] + reach[1]))
    return found


def density(y: float, x: float, b: float, lower: float, upper: float) -> float:
    """Return f(y | x) of bounded noise, with its constant by quadrature."""
    inside = quad(lambda t: math.exp(-abs(t - x) / b), lower, upper, points=[x], limit=200)[0]
    return math.exp(-abs(y - x) / b) / inside


# --- scales -------------------------------------------------------------------------------------


def test_the_published_scale_jumps_up_and_its_first_branch_does_not() -> None:
    """Delta = 1, P = (1/2, 1/2): the second branch begins at ln 2."""
    assert formulas.published_scale(0.69, 0.5, 1.0) == pytest.approx(0.9137, abs=5e-5)
    assert formulas.published_scale(0.70, 0.5, 1.0) == pytest.approx(1.4286, abs=5e-5)
    budgets = np.linspace(0.01, 6.0, 400)
    for least in (0.5, 0.3, 0.05, 1e-6):
        scales = [formulas.scale_for_every_epsilon(budget, least, 1.0) for budget in budgets]
        assert (np.diff(scales) < 0).all()
        assert all(
            scale < formulas.context_free_scale(budget, 1.0)
            for scale, budget in zip(scales, budgets, strict=True)
        )


def test_the_published_values_for_three_atoms() -> None:
    """X = {0, 1, 2}, epsilon 2: 0.978 for (.05, .9, .05), and 1 for the uniform prior."""
    assert formulas.published_scale(2.0, 0.05, 2.0) == pytest.approx(0.978, abs=5e-4)
    assert formulas.published_scale(2.0, 1 / 3, 2.0) == 1.0


@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 0.5, 30.0, 800.0])
def test_the_scale_keeps_its_digits(epsilon: float) -> None:
    with mp.workdps(400):
        least = mp.mpf(0.125)
        exact = 3 / mp.log((mp.exp(epsilon) - least) / (1 - least))
    assert formulas.scale_for_every_epsilon(epsilon, 0.125, 3.0) == pytest.approx(
        float(exact), rel=1e-13
    )


def test_alpha_meets_the_common_scale_at_the_rarest_value() -> None:
    masses = np.array([0.6, 0.3, 0.1])
    for epsilon in (0.3, 1.0, 2.0):
        scales = formulas.instance_scales(
            masses, epsilon, formulas.published_alpha(epsilon, 0.1), 3.0
        )
        assert scales[2] == pytest.approx(formulas.published_scale(epsilon, 0.1, 3.0), rel=1e-12)
        assert scales[0] < scales[1] < scales[2]
    same = formulas.instance_scales(masses, 3.0, formulas.published_alpha(3.0, 0.1), 3.0)
    assert same.tolist() == [1.0, 1.0, 1.0]


# --- cells --------------------------------------------------------------------------------------


@pytest.mark.parametrize("b", [1e-3, 0.05, 1.0, 40.0, 1e6])
def test_cells_have_all_their_digits(b: float) -> None:
    points = np.array([0.0, 0.3, 0.5, 1.7, 2.0])
    edges = np.linspace(0.0, 2.0, 9)
    bounded, clamped = (
        formulas.bounded_bin_masses(points, edges, b),
        formulas.clamped_bin_masses(points, edges, b),
    )
    with mp.workdps(900):
        rate = 1 / mp.mpf(b)

        def below(distance: mp.mpf) -> mp.mpf:
            if distance < 0:
                return mp.exp(distance * rate) / 2
            return 1 - mp.exp(-distance * rate) / 2

        for x, point in enumerate(points):
            rises = [below(mp.mpf(edge) - mp.mpf(point)) for edge in edges]
            inside = rises[-1] - rises[0]
            for y in range(8):
                exact = rises[y + 1] - rises[y]
                assert bounded[x, y] == pytest.approx(float(exact / inside), rel=1e-12)
                exact += rises[0] if y == 0 else 0
                exact += 1 - rises[-1] if y == 7 else 0
                assert clamped[x, y] == pytest.approx(float(exact), rel=1e-12)


def test_cells_of_any_width_and_a_scale_for_each_row() -> None:
    points, edges = np.array([0.1, 0.9]), np.array([0.0, 0.2, 0.25, 1.0])
    scales = np.array([0.3, 2.0])
    both = formulas.bounded_bin_masses(points, edges, scales)
    for row, (point, scale) in enumerate(zip(points, scales, strict=True)):
        assert both[row] == pytest.approx(
            formulas.bounded_bin_masses(np.array([point]), edges, float(scale))[0], rel=1e-14
        )
        first = quad(lambda y, x=point, b=scale: density(y, x, b, 0.0, 1.0), 0.2, 0.25)[0]
        assert both[row, 1] == pytest.approx(first, rel=1e-9)


def test_tails_are_zero_only_where_floats_end() -> None:
    cells = formulas.bounded_bin_masses(np.array([0.0]), np.linspace(0.0, 700.0, 701), 1.0)
    assert (cells > 0).all()
    assert cells[0, -1] == pytest.approx(math.exp(-699) * -math.expm1(-1.0), rel=1e-12)


def test_a_large_matrix_is_the_same_in_blocks() -> None:
    points, edges = np.linspace(0, 1, 700), np.linspace(0, 1, 513)
    whole = formulas.bounded_bin_masses(points, edges, 0.1)
    for row in (0, 127, 128, 699):
        assert (whole[row] == formulas.bounded_bin_masses(points[[row]], edges, 0.1)[0]).all()
    assert whole.sum(axis=1) == pytest.approx(np.ones(700), abs=1e-13)


# --- leakage ------------------------------------------------------------------------------------


def test_the_golden_leakages() -> None:
    points, fair = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    b = formulas.published_scale(0.5, 0.5, 1.0)
    assert max(formulas.leakage(points, fair, b, 0.0, 2.0)) == pytest.approx(0.7423, abs=5e-5)
    assert max(formulas.leakage(points, fair, b, 0.0, 1.0)) == pytest.approx(0.5, abs=1e-12)
    skewed, three = np.array([0.9, 0.05, 0.05]), np.array([0.0, 1.5, 3.0])
    scales = formulas.instance_scales(skewed, 1.0, formulas.published_alpha(1.0, 0.05), 3.0)
    found = formulas.instance_leakage(three, skewed, scales, 0.0, 3.0)
    assert max(found) == pytest.approx(1.1956, abs=5e-5)


@pytest.mark.parametrize("world", worlds(6), ids=range(6))
@pytest.mark.parametrize("b", [0.2, 1.5])
def test_leakage_is_reached_on_atoms_and_ends(world: World, b: float) -> None:
    """Against densities at many places between them, normalised by quadrature."""
    points, masses, lower, upper = world
    places = np.concatenate([np.linspace(lower, upper, 150), points])
    table = np.array([[density(y, x, b, lower, upper) for x in points] for y in places])
    lifts = np.log(table / (table @ masses)[:, None])
    found = formulas.leakage(points, masses, b, lower, upper)
    assert found == pytest.approx((-lifts.min(), lifts.max()), rel=1e-7)


@pytest.mark.parametrize("world", worlds(6, seed=8), ids=range(6))
def test_clamping_leaks_no_more_than_the_unbounded_noise(world: World) -> None:
    points, masses, lower, upper = world
    for b in (0.1, 0.7, 5.0):
        found = formulas.clamped_leakage(points, masses, b)
        places = np.concatenate([np.linspace(lower - 3, upper + 3, 2000), points])
        table = np.exp(-np.abs(places[:, None] - points) / b)
        lifts = np.log(table / (table @ masses)[:, None])
        assert found == pytest.approx((-lifts.min(), lifts.max()), rel=1e-9)
        cells = formulas.clamped_bin_masses(points, np.linspace(lower, upper, 4001), b)
        cut = np.log(cells / (masses @ cells))
        assert -cut.min() <= found[0] * (1 + 1e-12)
        assert cut.max() <= found[1] * (1 + 1e-12)
        assert (-cut.min(), cut.max()) == pytest.approx(found, abs=0.1 / b)


@pytest.mark.parametrize("world", worlds(5, seed=9), ids=range(5))
def test_leakage_by_instance_against_a_fine_grid(world: World) -> None:
    points, masses, lower, upper = world
    scales = formulas.instance_scales(masses, 1.0, 2.0, upper - lower)
    found = formulas.instance_leakage(points, masses, scales, lower, upper)
    places = np.concatenate([np.linspace(lower, upper, 20001), points])
    inside = scales * formulas.normaliser(points, scales, lower, upper)
    table = np.exp(-np.abs(places[:, None] - points) / scales) / inside
    lifts = np.log(table / (table @ masses)[:, None])
    assert found == pytest.approx((-lifts.min(), lifts.max()), rel=1e-6)
    assert found[1] >= lifts.max() - 1e-12
    single = np.full(len(points), 1.3)
    one = formulas.instance_leakage(points, masses, single, lower, upper)
    assert one == pytest.approx(formulas.leakage(points, masses, 1.3, lower, upper), rel=1e-9)


def test_leakage_falls_as_the_scale_grows() -> None:
    for points, masses, lower, upper in worlds(20, seed=2):
        scales = np.geomspace(0.02, 50, 60)
        for side in (0, 1):
            bounded = [formulas.leakage(points, masses, b, lower, upper)[side] for b in scales]
            assert (np.diff(bounded) <= 1e-12).all()
            clamped = [formulas.clamped_leakage(points, masses, b)[side] for b in scales]
            assert (np.diff(clamped) <= 1e-12).all()


def test_a_million_scales_below_the_width_do_not_underflow() -> None:
    points, fair = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    lower, upper = formulas.leakage(points, fair, 1e-6, 0.0, 1.0)
    assert (lower, upper) == pytest.approx((1e6 - math.log(2), math.log(2)), rel=1e-9)


# --- the least scale ----------------------------------------------------------------------------


def leaks(points: Floats, masses: Floats, b: float, *domain: float) -> float:
    """Return the larger side of the leakage: bounded on a domain, clamped without one."""
    if domain:
        return max(formulas.leakage(points, masses, b, *domain))
    return max(formulas.clamped_leakage(points, masses, b))


def test_the_golden_scales() -> None:
    points = np.array([0.0, 1.0, 2.0])
    for masses, least in (([0.05, 0.9, 0.05], 0.5473), ([1 / 3] * 3, 0.6853)):
        assert smallest_scale(points, np.array(masses), 2.0, 0.0, 2.0) == pytest.approx(
            least, abs=5e-5
        )


@pytest.mark.parametrize("least", [0.5, 0.2, 0.01])
def test_two_atoms_at_the_ends_need_the_first_branch_exactly(least: float) -> None:
    masses = np.array([least, 1 - least])
    for epsilon in (0.01, 0.5, 1.0, 2.0, 6.0):
        rule = formulas.scale_for_every_epsilon(epsilon, least, 4.0)
        for bounded in (True, False):
            found = smallest_scale(
                np.array([-1.0, 3.0]), masses, epsilon, -1.0, 3.0, bounded=bounded
            )
            assert found == pytest.approx(rule, rel=1e-9)


@pytest.mark.parametrize("bounded", [True, False])
def test_the_first_branch_is_safe_and_the_least_scale_is_at_the_edge(bounded: bool) -> None:
    loosest = 1.0
    for points, masses, lower, upper in worlds(15, seed=11):
        previous = math.inf
        for epsilon in (0.05, 0.4, 1.0, 2.5):
            width = upper - lower if bounded else float(np.ptp(points))
            rule = formulas.scale_for_every_epsilon(epsilon, float(masses.min()), width)
            b = smallest_scale(points, masses, epsilon, lower, upper, bounded=bounded)
            ends = (lower, upper) if bounded else ()
            assert leaks(points, masses, rule, *ends) <= epsilon + 1e-12
            assert leaks(points, masses, b, *ends) <= epsilon
            assert leaks(points, masses, b * (1 - 1e-6), *ends) > epsilon
            assert b <= rule * (1 + 1e-8)
            assert b < previous
            previous, loosest = b, max(loosest, rule / b)
    assert loosest > 1.5, "the rule is far from necessary"


def test_two_budgets() -> None:
    """One side alone asks for less noise than both; a rise of 1 / P_min is always allowed."""
    points, masses = np.array([0.0, 1.0, 2.0]), np.array([0.2, 0.3, 0.5])
    both = smallest_scale(points, masses, 0.5, 0.0, 2.0)
    falls = smallest_scale(points, masses, (0.5, math.inf), 0.0, 2.0)
    rises = smallest_scale(points, masses, (math.inf, 0.5), 0.0, 2.0)
    assert max(falls, rises) == pytest.approx(both, rel=1e-9)
    assert min(falls, rises) < both
    assert smallest_scale(points, masses, (math.inf, math.log(5.01)), 0.0, 2.0) == 0.0
    assert smallest_scale(np.array([1.0]), np.array([1.0]), 0.1, 0.0, 2.0) == 0.0


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", worlds(4, seed=3), ids=range(4))
@pytest.mark.parametrize("b", [0.05, 0.8, 30.0])
def test_errors_against_quadrature(world: World, b: float) -> None:
    points, masses, lower, upper = world
    for power in (2, 1):
        bounded = clamped = 0.0
        for x, mass in zip(points, masses, strict=True):

            def cost(y: float, x: float = x, power: int = power) -> float:
                return abs(y - x) ** power * math.exp(-abs(y - x) / b)

            ends = [x - 5 * b, x, x + 5 * b]
            breaks = [end for end in ends if lower < end < upper]
            inside = quad(cost, lower, upper, points=breaks or None, limit=300)[0] / (2 * b)
            beyond = [x - lower, upper - x]
            tails = [0.5 * math.exp(-side / b) for side in beyond]
            bounded += mass * inside / (1 - sum(tails))
            clamped += mass * (
                inside + sum(t * side**power for t, side in zip(tails, beyond, strict=True))
            )
        where = points, masses, b, lower, upper
        assert formulas.mean_error(*where, power=power) == pytest.approx(bounded, rel=1e-7)
        found = formulas.mean_error(*where, power=power, bounded=False)
        assert found == pytest.approx(clamped, rel=1e-7)


def test_errors_at_both_extremes() -> None:
    """Hardly any noise costs 2 b^2 inside; endless noise is uniform on the domain."""
    middle, one = np.array([0.5]), np.array([1.0])
    assert formulas.mean_error(middle, one, 1e-4, 0.0, 1.0) == pytest.approx(2e-8, rel=1e-9)
    assert formulas.mean_error(middle, one, 1e-4, 0.0, 1.0, power=1) == pytest.approx(
        1e-4, rel=1e-9
    )
    assert formulas.mean_error(middle, one, 1e12, 0.0, 1.0) == pytest.approx(1 / 12, rel=1e-9)
    assert formulas.mean_error(middle, one, 1e12, 0.0, 1.0, power=1) == pytest.approx(
        1 / 4, rel=1e-9
    )


def test_the_published_comparison_at_its_own_setting() -> None:
    """X = {0, 1.5, 3}, uniform: the context-aware scale is better until ln 3, and worse after."""
    points, masses = np.array([0.0, 1.5, 3.0]), np.full(3, 1 / 3)

    def error(b: float) -> float:
        return formulas.mean_error(points, masses, b, 0.0, 3.0)

    for epsilon in (0.5, 1.0):
        assert error(formulas.published_scale(epsilon, 1 / 3, 3.0)) < error(3.0 / epsilon)
    assert formulas.published_scale(1.2, 1 / 3, 3.0) == 3.0 / 1.2
    for epsilon in (0.5, 1.0, 1.2, 3.0):
        least = smallest_scale(points, masses, epsilon, 0.0, 3.0)
        assert error(least) < error(formulas.published_scale(epsilon, 1 / 3, 3.0))
