"""The arc mechanism on integers: exact lifts on small circles, for every prior on them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from liftlock.errors import RowError
from liftlock.exact.budget import Budget
from liftlock.model.structured.user_distributions import ArcDistribution
from tests.unit.per_user.distributions import arc_weight


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(1, total - parts + 2)
        for rest in compositions(total - first, parts - 1)
    ]


@pytest.mark.parametrize(
    ("lower", "upper"),
    [("1", "1"), ("1.3", "0.7"), ("0.1", "0.1"), ("4", "0.5"), ("ln 2", "ln 2"), ("8", "8")],
)
def test_every_prior_on_a_small_circle(lower: str, upper: str) -> None:
    """P(u | x) summed from P(u | T) by brute force: u is uniform, lifts are within both budgets."""
    low, high = Budget.of(lower), Budget.of(upper)
    distribution = ArcDistribution.of(low, high, point_bits=3, weight_bits=16)
    points, total = 8, 1 << 16
    for lengths in (c for parts in (1, 2, 3) for c in compositions(points, parts)):
        rows, starts, start = [], [], 0
        for length in lengths:
            starts.append(start)
            rows.append(
                [
                    Fraction(
                        sum(arc_weight(distribution, t - u) for t in range(start, start + length)),
                        length * total,
                    )
                    for u in range(points)
                ]
            )
            start += length
        for row in rows:
            assert sum(row) == 1
        for u in range(points):
            mass = sum(Fraction(n, points) * row[u] for n, row in zip(lengths, rows, strict=True))
            assert mass == Fraction(1, points)
            for begin, length, row in zip(starts, lengths, rows, strict=True):
                lift = row[u] / mass
                assert lift == distribution.lift(begin, length, u)
                assert distribution.smallest <= lift <= distribution.largest
                assert high.allows(lift)
                assert low.allows(1 / lift)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "ln 3", "4", "8", "50"])
def test_the_real_circle_uses_its_budget_up(epsilon: str) -> None:
    budget = Budget.of(epsilon)
    distribution = ArcDistribution.of(budget, budget)
    assert budget.allows(distribution.largest)
    assert budget.allows(1 / distribution.smallest)
    if float(budget) <= 8:
        assert float(distribution.largest) == pytest.approx(float(budget.exp()), rel=1e-5)
        assert float(1 / distribution.smallest) == pytest.approx(float(budget.exp()), rel=1e-5)


def test_a_budget_of_0_says_nothing() -> None:
    distribution = ArcDistribution.of(Budget.of("0"), Budget.of("1"), point_bits=3, weight_bits=16)
    assert distribution.largest == distribution.smallest == 1


def test_refusals() -> None:
    distribution = ArcDistribution.of(Budget.of("1"), Budget.of("1"), point_bits=3, weight_bits=16)
    with pytest.raises(RowError, match="power of two"):
        ArcDistribution(
            distribution.low + 1, distribution.high, distribution.width, distribution.extra, 3, 16
        )
    with pytest.raises(RowError, match="window"):
        ArcDistribution(distribution.low, distribution.high, 8, 0, 3, 16)
