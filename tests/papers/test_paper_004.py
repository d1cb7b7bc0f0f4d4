"""Paper 004: flips, costs and spreads against closed forms, and the table as it is printed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from liftlock.utility import profile_errors
from liftlock_papers import FIGURES, Point, Points, Verdict
from liftlock_papers.paper_004 import chains, profile_table
from liftlock_papers.paper_004.categories import (
    LEAST,
    RESPONSE,
    SMOOTH,
    categories,
    category,
    graph,
)
from liftlock_papers.paper_004.couplets import (
    BUDGETS,
    ONE,
    OURS,
    PLACES,
    PRINTED,
    PRINTED_BUDGETS,
    couplets,
    of,
)
from liftlock_papers.paper_004.expected import TABLE1
from liftlock_papers.paper_004.least_cost import least_cost
from liftlock_papers.setting import Setting

QUICK = Setting(quick=True)


@pytest.fixture(scope="module")
def flips() -> Points:
    return Points(tuple(couplets(QUICK)))


@pytest.fixture(scope="module")
def costs() -> Points:
    return Points(tuple(categories(QUICK)))


def parameters(panel: str, gap: float) -> tuple[float, float]:
    lowest = PLACES[panel]
    low = (1 - gap) / 2 if lowest is None else float(lowest)
    return low, low + gap


def least_apart(p: float, q: float, epsilon: float) -> float:
    """Eq. (5) for two profiles: the least t such that flips of at most t bring them near enough."""
    ratio = math.exp(epsilon) * (1 + 1e-12)

    def near(most: float) -> bool:
        # Each can reach every chance of a 1 between its own and that of the whole flip.
        ends = [sorted((c, c + most * (1 - 2 * c))) for c in (p, q)]
        (low, up), (down, high) = ends
        for one in np.linspace(low, up, 201):
            least = max(down, one / ratio, 1 - ratio * (1 - one))
            if least <= min(high, ratio * one, 1 - (1 - one) / ratio):
                return True
        return False

    low, high = 0.0, 0.5
    if near(0.0):
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if near(middle) else (middle, high)
    return high


@pytest.mark.parametrize("panel", list(PLACES))
def test_flips_are_the_least_that_the_constraints_allow(flips: Points, panel: str) -> None:
    """Eq. (4), by bisection: flipping more never loses more."""
    for epsilon in PRINTED_BUDGETS:
        for row in flips.of(panel, of(ONE, epsilon)):
            p, q = parameters(panel, row.x)

            def kept(
                flip: float, p: float = p, q: float = q, ratio: float = row.budget or 0
            ) -> bool:
                one, other = (c + flip * (1 - 2 * c) for c in (p, q))
                most = math.exp(ratio) * (1 + 1e-12)
                return other <= most * one and 1 - one <= most * (1 - other)

            low, high = 0.0, 0.5
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (low, middle) if kept(middle) else (middle, high)
            assert row.y == pytest.approx(0.0 if kept(0.0) else high, abs=1e-8)
            apart = flips.at(panel, of(OURS, epsilon), row.x)
            assert apart <= row.y + 1e-8
            assert apart == pytest.approx(least_apart(p, q, float(epsilon)), abs=1e-7)


def test_equation_7_is_exact_in_the_middle_and_no_probability_elsewhere(flips: Points) -> None:
    for row in flips.of("a-middle", of(PRINTED, "1"))[1:]:
        true = max(0.0, 0.5 - (math.e - 1) / (math.e + 1) / (2 * row.x))
        assert row.y == pytest.approx(true, abs=1e-12)
    assert flips.at("a-high", of(PRINTED, "0.5"), 0.1) == pytest.approx(2.214, abs=5e-4)


def test_the_costs_of_the_baseline(costs: Points) -> None:
    """Each category is 0.15 away from 1/4 under some profile, and a share of that is lost."""
    for number in (1, 2, 3, 4):
        for row in costs.of("b", category(number)):
            assert row.y == pytest.approx(0.15 * 4 / (math.exp(row.x) + 3), abs=1e-8)


def bound(epsilon: float) -> float:
    """Category 3 falls from 0.4 to 0.1 over two edges, and from 0.3 to 0.1 over the second."""
    ratio = math.exp(epsilon)
    return max(0, (0.4 - 0.1 * ratio**2) / (1 + ratio**2), (0.3 - 0.1 * ratio) / (1 + ratio))


def test_the_least_cost_is_what_nothing_can_go_below(costs: Points) -> None:
    for row in costs.of("largest", LEAST):
        assert row.y == pytest.approx(bound(row.x), abs=1e-8)
    for curve in (RESPONSE, SMOOTH):
        assert all(row.y >= bound(row.x) - 1e-9 for row in costs.of("largest", curve))


def test_the_mechanism_of_least_cost_is_certified() -> None:
    made = least_cost(graph(), "0.1")
    assert made.certificate.holds
    released = profile_errors(made.table, graph()).released
    for one, other in pairwise(released):
        assert np.abs(np.log(one / other)).max() <= 0.1 + 1e-9


def test_what_chains_release() -> None:
    points = Points(tuple(chains.compute(QUICK)))
    for size in chains.SIZES:
        for step in range(size):
            p = step / (size - 1)
            for row in points.of(f"ldp-{size}", chains.profile(p)):
                flip = 1 / (1 + math.exp(row.x))
                assert row.y == pytest.approx(p + flip * (1 - 2 * p), abs=1e-8)
        curves = [chains.profile(step / (size - 1)) for step in range(size)]
        ones = np.array([points.y(f"ours-{size}", curve) for curve in curves])
        budgets = points.x(f"ours-{size}", curves[0])
        for table in (ones, 1 - ones):
            losses = np.abs(np.diff(np.log(table), axis=0)).max(axis=0)
            assert (losses <= budgets * (1 + 1e-9)).all()
            exact = points.y(f"loss-{size}", chains.SMOOTH)
            assert losses == pytest.approx(exact, abs=1e-9)
    # p = 0 has to give a 1 as often as its neighbours ask for that are not flipped themselves.
    for epsilon in (0.5, 1.0):
        wanted = max(0.2 * math.exp(-epsilon), 0.4 * math.exp(-2 * epsilon))
        assert points.at("ours-6", "p = 0", epsilon) == pytest.approx(wanted, abs=1e-8)


def test_the_table_is_the_printed_one() -> None:
    points = Points(tuple(profile_table.compute(QUICK)))
    for number in TABLE1:
        assert points.at(number.panel, number.curve, number.x) == number.number
    apart = {
        ("P1", "P2"): Fraction(3, 2),
        ("P2", "P3"): Fraction(3),
        ("P1", "P3"): Fraction(4),
    }
    for (one, other), ratio in apart.items():
        curve = profile_table.edge_name(one, other)
        ours = points.at("ratios", curve, profile_table.APART)
        assert ours == pytest.approx(math.log(ratio), abs=1e-12)


def test_verdicts_follow_the_points(flips: Points, costs: Points) -> None:
    figure = FIGURES["004-fig2"]

    def verdict(rows: list[Point], words: str) -> Verdict:
        found = figure.judge(Points(tuple(rows)))
        return next(each.verdict for each in found if words in each.claim)

    rows = [*flips, *costs]
    assert verdict(rows, "higher costs") is Verdict.CONDITION
    later = [row for row in rows if row.panel in PLACES or row.x > 0.1]
    assert verdict(later, "higher costs") is Verdict.CONFIRMED
    swapped = [
        row._replace(y=1.0) if (row.panel, row.curve) == ("c", category(4)) else row for row in rows
    ]
    assert verdict(swapped, "lower costs") is Verdict.REFUTED
    ours = {of(OURS, epsilon) for epsilon in BUDGETS}
    flipped = [row._replace(y=0.5) if row.curve in ours else row for row in rows]
    assert verdict(flipped, "stays below") is Verdict.REFUTED
    flipped = [row._replace(y=0.5) if row.curve == of(OURS, "2") else row for row in rows]
    assert verdict(flipped, "stays below") is Verdict.CONDITION
