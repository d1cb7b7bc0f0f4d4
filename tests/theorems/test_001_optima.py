"""Paper 001: where its optima are optima, and the steps of their proofs; brute force and fractions.

E = e^eps is a fraction here, since nothing hangs on the logarithm.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.theorems import worlds
from tests.theorems.worlds import Masses

Flips = tuple[Fraction, Fraction]


def shares() -> st.SearchStrategy[Fraction]:
    return st.integers(1, 99).map(lambda k: Fraction(k, 100))


def growths() -> st.SearchStrategy[Fraction]:
    return st.integers(11, 120).map(lambda k: Fraction(k, 10))


def outputs_of(p: Fraction, flips: Flips) -> tuple[Fraction, Fraction]:
    zero = (1 - p) * (1 - flips[0]) + p * flips[1]
    return zero, 1 - zero


def error(p: Fraction, flips: Flips) -> Fraction:
    """Eq. (18): P(1 - P) less the variance of the posterior mean."""
    zero, one = outputs_of(p, flips)
    if not zero * one:
        return p * (1 - p)
    return p * (1 - p) - (p * (zero - flips[1])) ** 2 / (zero * one)


def allowed(p: Fraction, flips: Flips, growth: Fraction) -> bool:
    """Eq. (19): F1 to F4 between 1/E and E."""
    zero, one = outputs_of(p, flips)
    pairs = [(zero, flips[1]), (one, 1 - flips[1]), (zero, 1 - flips[0]), (one, flips[0])]
    return all(
        likelihood / growth <= output <= growth * likelihood
        for output, likelihood in pairs
        if output
    )


def published(p: Fraction, growth: Fraction) -> Flips:
    return p / growth, (1 - p) / growth


def grid(steps: int) -> Iterator[Flips]:
    ticks = [Fraction(k, steps) for k in range(steps + 1)]
    return itertools.product(ticks, ticks)


# --- Thm 2, Prop 3, Prop 4 ------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(shares(), growths())
def test_theorem_2_is_feasible_exactly_when_no_value_is_rare(p: Fraction, growth: Fraction) -> None:
    rare = min(p, 1 - p)
    assert allowed(p, published(p, growth), growth) == (rare * (growth + 1) >= 1)
    assert error(p, published(p, growth)) == p * (1 - p) * (2 / growth - 1 / growth**2)


@settings(max_examples=15, deadline=None)
@given(shares(), growths())
def test_theorem_2_is_the_optimum_where_it_is_feasible(p: Fraction, growth: Fraction) -> None:
    """No channel of a grid of flips that keeps the budget has a smaller error."""
    best = error(p, published(p, growth))
    found = min(error(p, flips) for flips in grid(24) if allowed(p, flips, growth))
    if min(p, 1 - p) * (growth + 1) >= 1:
        assert found >= best
    else:
        rare = min(p, 1 - p)
        corrected = p * (1 - p) - rare**2 * (growth - 1) ** 2 / growth
        assert found >= corrected > best


def test_theorem_2_by_its_smallest_counterexample() -> None:
    p, growth = Fraction(1, 10), Fraction(math.e)
    flips = published(p, growth)
    assert not allowed(p, flips, growth)
    assert 100 * float(error(p, flips)) == pytest.approx(5.404, abs=1e-3)
    rare = 1 / (1 + growth), (1 - p * growth) / ((1 - p) * (1 + growth))
    corrected = rare[1], rare[0]
    assert allowed(p, corrected, growth)
    assert 100 * float(error(p, corrected)) == pytest.approx(7.914, abs=1e-3)


def mistakes(p: Fraction, flips: Flips) -> Fraction:
    return (1 - p) * flips[0] + p * flips[1]


@settings(max_examples=40, deadline=None)
@given(shares(), growths())
def test_proposition_3_needs_a_posterior_beyond_one_half(p: Fraction, growth: Fraction) -> None:
    """Below e^-eps / 2 the constant answer is wrong less often than anything that is allowed."""
    rare = min(p, 1 - p)
    found = min(mistakes(p, flips) for flips in grid(16) if allowed(p, flips, growth))
    if 2 * rare * growth < 1:
        assert found == rare
    elif rare * (growth + 1) >= 1:
        assert mistakes(p, published(p, growth)) <= min(found, rare)


def test_proposition_3_by_its_counterexample() -> None:
    p, growth = Fraction(1, 10), Fraction(math.e)
    best = (1 - p * growth) / ((1 - p) * (1 + growth)), 1 / (1 + growth)
    assert float(mistakes(p, best)) == pytest.approx(0.2227, abs=1e-4)
    assert mistakes(p, best) > p


def test_proposition_4_the_advantage_vanishes_with_skewness() -> None:
    growth = Fraction(math.e)
    saved = []
    for p in (Fraction(1, 10), Fraction(1, 20), Fraction(1, 100), Fraction(1, 1000)):
        lip = p * (1 - p) - p**2 * (growth - 1) ** 2 / growth
        flip = 1 / (1 + growth)
        saved.append(1 - lip / error(p, (flip, flip)))
    assert saved == sorted(saved, reverse=True)
    assert [round(float(share), 4) for share in saved[:3]] == [0.0347, 0.0085, 0.0003]


@settings(max_examples=60, deadline=None)
@given(shares(), growths())
def test_proposition_4_ldp_is_never_better(p: Fraction, growth: Fraction) -> None:
    """Eq. (24), and the least error under LIP of either case."""
    flip, rare = 1 / (1 + growth), min(p, 1 - p)
    ldp = error(p, (flip, flip))
    spread = p * (1 - p)
    printed = spread - (spread * (1 - growth)) ** 2 / (
        (1 - p + p * growth) * (growth - p * growth + p)
    )
    assert ldp == printed
    if rare * (growth + 1) >= 1:
        assert error(p, published(p, growth)) <= ldp
    else:
        assert spread - rare**2 * (growth - 1) ** 2 / growth <= ldp


# --- Thm 3, Thm 4, Thm 5 --------------------------------------------------------------------------


def vertices(masses: Masses, growth: Fraction) -> list[Masses]:
    """Every extreme posterior: all coordinates but one at an end of P/E to E P."""
    found = []
    for free in range(len(masses)):
        others = [x for x in range(len(masses)) if x != free]
        for ends in itertools.product((1 / growth, growth), repeat=len(others)):
            point = [Fraction(0)] * len(masses)
            for x, lift in zip(others, ends, strict=True):
                point[x] = lift * masses[x]
            point[free] = 1 - sum(point, Fraction(0))
            if masses[free] / growth <= point[free] <= growth * masses[free]:
                found.append(tuple(point))
    return sorted(set(found))


def least_error(masses: Masses, growth: Fraction, values: list[list[int]]) -> float:
    """The linear programme over all mixtures of extreme posteriors; values row by row."""
    points = np.array([[float(v) for v in point] for point in vertices(masses, growth)])
    table = np.array(values, dtype=float)
    costs = ((points @ table.T**2) - (points @ table.T) ** 2).sum(axis=1)
    found = linprog(costs, A_eq=points.T, b_eq=[float(mass) for mass in masses])
    assert found.fun is not None
    return float(found.fun)


def response_error(masses: Masses, growth: Fraction, values: list[list[int]]) -> Fraction:
    """The error of the published response, whose output has the distribution of the input."""
    total = Fraction(0)
    for row in values:
        mean = sum((m * v for m, v in zip(masses, row, strict=True)), Fraction(0))
        square = sum((m * v * v for m, v in zip(masses, row, strict=True)), Fraction(0))
        total += (square - mean**2) * (1 - (1 - 1 / growth) ** 2)
    return total


NUMBERS = [[1, 2, 3]]
HISTOGRAM = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@settings(max_examples=40, deadline=None)
@given(worlds.masses(least=3, most=3), growths())
@pytest.mark.parametrize("values", [NUMBERS, HISTOGRAM], ids=["theorem 3", "theorem 5"])
def test_theorems_3_and_5_are_optima_exactly_when_no_value_is_rare(
    values: list[list[int]], masses: Masses, growth: Fraction
) -> None:
    truly = least_error(masses, growth, values)
    printed = float(response_error(masses, growth, values))
    if min(masses) * (growth + 1) >= 1:
        assert truly == pytest.approx(printed, abs=1e-9)
    else:
        lift = 1 / growth + (1 - 1 / growth) / min(masses)
        assert lift > growth, "then it is not even allowed"
        assert truly >= printed - 1e-9


@pytest.mark.parametrize(
    ("values", "printed", "true"),
    [(NUMBERS, 0.26419, 0.2904695421), (HISTOGRAM, 0.27619, 0.3287611726)],
    ids=["theorem 3", "theorem 5"],
)
def test_theorems_3_and_5_by_their_counterexample(
    values: list[list[int]], printed: float, true: float
) -> None:
    masses = Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)
    growth = Fraction(math.e)
    assert float(response_error(masses, growth, values)) == pytest.approx(printed, abs=1e-5)
    assert least_error(masses, growth, values) == pytest.approx(true, abs=1e-9)


def test_theorem_4_two_outputs_can_be_enough_for_three_values() -> None:
    """P = (.23, .03, .74), eps .1: the best pair of posteriors is as good as any mixture."""
    masses = Fraction(23, 100), Fraction(3, 100), Fraction(74, 100)
    growth = Fraction(math.exp(0.1))
    best = math.inf
    points = [np.array([float(v) for v in point]) for point in vertices(masses, growth)]
    prior, values = np.array([0.23, 0.03, 0.74]), np.array([1.0, 2.0, 3.0])
    for first, second in itertools.combinations(points, 2):
        share = np.linalg.lstsq(np.array([first, second]).T, prior, rcond=None)[0]
        if (share >= 0).all() and np.allclose(share @ [first, second], prior, atol=1e-12):
            costs = [p @ values**2 - (p @ values) ** 2 for p in (first, second)]
            best = min(best, float(share @ costs))
    assert best == pytest.approx(least_error(masses, growth, NUMBERS), abs=1e-12)


# --- Appendix A -----------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(shares(), shares(), shares(), shares())
def test_appendix_a_steps_1_and_2(p: Fraction, q0: Fraction, q1: Fraction, more: Fraction) -> None:
    step = more * (1 - q0 - q1)
    assume(step > 0)
    here = error(p, (q0, q1))
    assert error(p, (q0 + step, q1)) > here
    assert error(p, (q0, q1 + step)) > here
    assert error(p, (1 - q0, 1 - q1)) == here


@settings(max_examples=60, deadline=None)
@given(shares(), growths())
def test_appendix_a_step_3_drops_the_max_lift_side(p: Fraction, growth: Fraction) -> None:
    """At F1 = F4 = E, F2 and F3 are allowed exactly when no value is rare."""
    flips = published(p, growth)
    zero, one = outputs_of(p, flips)
    assert zero / flips[1] == one / flips[0] == growth
    kept = min(one / (1 - flips[1]), zero / (1 - flips[0])) >= 1 / growth
    assert kept == (min(p, 1 - p) * (growth + 1) >= 1)


# --- Appendix B and D -----------------------------------------------------------------------------


def variance(masses: Masses, values: list[int], rows: list[list[Fraction]]) -> Fraction:
    """Eq. (28), last line, term by term."""
    size = range(len(masses))
    outputs = [
        sum((masses[m] * rows[m][k] for m in size), Fraction(0)) for k in range(len(rows[0]))
    ]
    return sum(
        (
            values[m]
            * values[n]
            * masses[m]
            * masses[n]
            * rows[m][k]
            * (rows[n][k] / outputs[k] - 1)
            for m in size
            for n in size
            for k in range(len(outputs))
        ),
        Fraction(0),
    )


@settings(max_examples=40, deadline=None)
@given(worlds.masses(least=2, most=3), st.data())
def test_appendix_b_lemma_1(masses: Masses, data: st.DataObject) -> None:
    size = len(masses)
    rows = [list(row) for row in data.draw(worlds.rows(size))]
    values = list(range(1, size + 1))
    mean = sum((m * v for m, v in zip(masses, values, strict=True)), Fraction(0))
    whole = sum((m * v * v for m, v in zip(masses, values, strict=True)), Fraction(0)) - mean**2
    assert 0 <= variance(masses, values, rows) <= whole
    assert variance(masses, values, [rows[0]] * size) == 0
    turned = [[Fraction(int(y == (x + 1) % size)) for y in range(size)] for x in range(size)]
    assert variance(masses, values, turned) == whole


@settings(max_examples=40, deadline=None)
@given(worlds.masses(least=2, most=3), st.data())
def test_appendix_b_lemma_2_has_another_derivative(masses: Masses, data: st.DataObject) -> None:
    """P_l (t_k (2 a_l - t_k) - a_l E X), by a difference of fractions."""
    size = len(masses)
    rows = [list(row) for row in data.draw(worlds.rows(size))]
    values = list(range(size))
    low, column = data.draw(st.integers(0, size - 1)), 0
    output = sum((masses[m] * rows[m][column] for m in range(size)), Fraction(0))
    t = sum((values[m] * masses[m] * rows[m][column] for m in range(size)), Fraction(0)) / output
    mean = sum((m * v for m, v in zip(masses, values, strict=True)), Fraction(0))
    step = Fraction(1, 10**12)
    more = [list(row) for row in rows]
    more[low][column] += step
    slope = (variance(masses, values, more) - variance(masses, values, rows)) / step
    true = masses[low] * (t * (2 * values[low] - t) - values[low] * mean)
    assert float(slope) == pytest.approx(float(true), abs=1e-6)


def test_appendix_b_lemma_2_by_its_counterexample() -> None:
    half, rows = Fraction(1, 2), [[Fraction(1, 2)] * 2, [Fraction(7, 10), Fraction(3, 10)]]
    more = [rows[0], [rows[1][0], rows[1][1] + Fraction(1, 10**9)]]
    rise = variance((half, half), [0, 1], more) - variance((half, half), [0, 1], rows)
    assert rows[1][1] < half * (rows[0][1] + rows[1][1])
    assert float(rise * 10**9) == pytest.approx(0.0547, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(shares(), growths())
def test_appendix_b_lemma_3_has_the_wrong_sign(p: Fraction, growth: Fraction) -> None:
    kept = 1 - (1 - p) / growth
    true = p / kept - 1 / growth
    assert true == (p * (growth - 1 / growth) - (1 - 1 / growth)) / (growth + p - 1)
    assert (true >= 0) == (p * (growth + 1) >= 1)
    assert growth - p / kept == growth * (growth - 1) / (growth + p - 1) >= 0  # eq. (52)


@settings(max_examples=40, deadline=None)
@given(worlds.masses(least=2, most=4), growths())
def test_appendix_b_equation_50(masses: Masses, growth: Fraction) -> None:
    for k, mass in enumerate(masses):
        others = sum((m for j, m in enumerate(masses) if j != k), Fraction(0))
        assert others * mass / growth + mass * (1 - (1 - mass) / growth) == mass


@settings(max_examples=40, deadline=None)
@given(worlds.masses(least=2, most=3), st.data())
def test_appendix_d_equation_57_drops_the_cross_terms(masses: Masses, data: st.DataObject) -> None:
    """(56) with a_j = 1 is the variance of a constant; (55) is not, unless rows are all alike."""
    size = len(masses)
    rows = [list(row) for row in data.draw(worlds.rows(size))]
    assert variance(masses, [1] * size, rows) == 0
    histogram = sum(
        (variance(masses, [int(x == k) for x in range(size)], rows) for k in range(size)),
        Fraction(0),
    )
    assert (histogram > 0) == any(row != rows[0] for row in rows)
