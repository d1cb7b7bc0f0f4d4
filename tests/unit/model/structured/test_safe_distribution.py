"""The limits of the safe distribution: the widest that both budgets allow, against 60 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from liftlock.errors import RowError
from liftlock.exact.budget import Budget
from liftlock.model.structured.user_distributions import SafeDistribution

EPSILONS = ["0.000001", "0.1", "0.5", "1", "2.5", "7", "20"]


def grows(epsilon: str) -> mpmath.mpf:
    exact = Fraction(epsilon)
    return mpmath.exp(mpmath.mpf(exact.numerator) / exact.denominator)


@pytest.mark.parametrize("bits", [4, 16, 32])
@pytest.mark.parametrize("lower", EPSILONS)
@pytest.mark.parametrize("upper", EPSILONS)
def test_no_limit_is_beyond_its_budget_and_one_point_more_would_be(
    lower: str, upper: str, bits: int
) -> None:
    distribution = SafeDistribution.of(Budget.of(lower), Budget.of(upper), point_bits=bits)
    points = 1 << bits
    with mpmath.workdps(60):
        least, most = points / grows(lower), points * grows(upper)
        assert distribution.floor == max(int(mpmath.ceil(least)), 1)
        assert distribution.ceiling == min(int(mpmath.floor(most)), points**2)
    assert distribution.smallest == Fraction(distribution.floor, points)
    assert distribution.largest == Fraction(distribution.ceiling, points)


@pytest.mark.parametrize("ratio", [1, 2, 3, 16, "7/3"])
def test_ratios_are_met_exactly(ratio: object) -> None:
    budget = Budget.of(f"ln {ratio}")
    exact = Fraction(str(ratio))
    distribution = SafeDistribution.of(budget, budget, point_bits=16)
    assert distribution.floor == -(-(1 << 16) * exact.denominator // exact.numerator)
    assert distribution.ceiling == (1 << 16) * exact.numerator // exact.denominator


@pytest.mark.parametrize(("floor", "ceiling"), [(0, 16), (17, 16), (4, 15), (4, 257)])
def test_limits_out_of_order_are_refused(floor: int, ceiling: int) -> None:
    with pytest.raises(RowError, match="out of order"):
        SafeDistribution(floor, ceiling, 4)
