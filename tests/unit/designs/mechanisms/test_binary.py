"""Two symbols in closed form, against other channels that keep the budget."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from liftlock import Ball, Context, Family, Intervals, Prior
from liftlock._solver.two_values import flips_of
from liftlock.designs import binary, lock, optimal
from liftlock.errors import NotDefined
from liftlock.exact.budget import Budget
from liftlock.exact.integers import Floats
from liftlock.model import PriorSet
from liftlock.notions import ALIP, LDP, LIP, MaxLift, MinLift, Notion
from liftlock.utility import Histogram, MutualInformation, Utility, mean_cost
from tests.checks import proof_of


def bit(probability: str) -> Prior:
    return Prior.from_probabilities({0: str(1 - Fraction(probability)), 1: probability})


def between(low: str, high: str) -> Intervals:
    ends = Fraction(low), Fraction(high)
    return Intervals.of({0: (str(1 - ends[1]), str(1 - ends[0])), 1: (low, high)})


CONTEXTS: list[Context] = [
    bit("0.5"),
    bit("0.1"),
    bit("0.95"),
    between("0.1", "0.2"),
    between("0.3", "0.6"),
    between("0", "0.5"),
    between("0.2", "1"),
    Family.of([bit("0.2"), bit("0.7")]),
    Ball.of(bit("0.4"), "0.1"),
]
NOTIONS: list[Notion] = [
    LIP("1"),
    LIP("0.05"),
    LIP("5"),
    ALIP(lower="2", upper="0.3"),
    ALIP(lower="0.3", upper="2"),
    MaxLift("0.5"),
    MinLift("0.5"),
    LDP("1"),
    LIP("0"),
]


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: context.describe())
@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
def test_it_is_certified_and_sits_on_the_boundary(context: Context, notion: Notion) -> None:
    draft = binary(context, notion)
    assert lock(draft, notion, context).certificate.holds
    if draft.matrix.shape == (2, 1):
        return
    for row, column in ((0, 1), (1, 0)):
        # A little less noise in either row breaks the budget, unless there is none left.
        if draft.matrix[row, column] < 1e-4:
            continue
        less = draft.matrix.copy()
        less[row, column] *= 0.99
        less[row, row] = 1 - less[row, column]
        low, high = ends_of(context)
        assert not allowed(less, low, high, notion)


def ends_of(context: Context) -> tuple[float, float]:
    """Return the least and the largest probability of the second symbol."""
    if isinstance(context, Prior):
        return float(context.fractions[1]), float(context.fractions[1])
    assert isinstance(context, PriorSet)
    low, high = context.mass_range(np.array([0, 1]))
    return float(low), float(high)


def allowed(matrix: Floats, low: float, high: float, notion: Notion) -> bool:
    """Check the definition at both ends of the prior (lambda is linear in it)."""
    if isinstance(notion, LDP):
        ratio = max((matrix[0] / matrix[1]).max(), (matrix[1] / matrix[0]).max())
        return bool(ratio <= math.e * (1 + 1e-9))
    match notion:
        case LIP():
            lower, upper = 1 / float(notion.epsilon.exp()), float(notion.epsilon.exp())
        case ALIP():
            lower, upper = 1 / float(notion.lower.exp()), float(notion.upper.exp())
        case MaxLift(budget=Budget() as budget):
            lower, upper = 0.0, float(budget.exp())
        case MinLift(budget=Budget() as budget):
            lower, upper = 1 / float(budget.exp()), math.inf
        case _:
            raise AssertionError(notion)
    for p in (low, high):
        lifts = matrix / ((1 - p) * matrix[0] + p * matrix[1])
        if lifts.min() < lower - 1e-9 or lifts.max() > upper + 1e-9:
            return False
    return True


@pytest.mark.parametrize("notion", [LIP("1"), ALIP(lower="2", upper="0.3"), LDP("0.7")], ids=repr)
@pytest.mark.parametrize("probability", ["0.03", "0.3", "0.5", "0.9"])
def test_it_is_the_optimum_for_every_utility(notion: Notion, probability: str) -> None:
    prior = bit(probability)
    channel = binary(prior, notion).matrix
    utilities: list[Utility] = [MutualInformation(), Histogram()]
    for utility in utilities:
        best = proof_of(optimal(prior, notion, utility=utility)).cost
        assert mean_cost(utility, channel, prior.floats()) == pytest.approx(best, abs=1e-9)


def test_three_cases_of_an_uncertain_prior() -> None:
    e = math.e
    # Neither end is rare: the published form.
    assert flips_of(0.4, 0.5, 1 / e, e).first == pytest.approx(0.5 / (0.5 - 0.4 + e))
    # The second symbol may be rare.
    low, high = 0.1, 0.2
    rare = flips_of(low, high, 1 / e, e)
    assert rare.second == pytest.approx(1 / (1 + e))
    assert rare.first == pytest.approx((1 - low * e) / ((1 - low) * (1 + e)))
    # The mirror image.
    mirror = flips_of(1 - high, 1 - low, 1 / e, e)
    assert mirror == pytest.approx((rare.second, rare.first))
    # Anything is possible: randomised response.
    assert flips_of(0, 1, 1 / e, e) == pytest.approx((1 / (1 + e), 1 / (1 + e)))


def test_squared_error_of_a_rare_bit() -> None:
    p, e = 0.1, math.e
    prior = bit("0.1")
    cost = mean_cost(Histogram(), binary(prior, LIP("1")).matrix, prior.floats()) / 2
    assert cost == pytest.approx(p * (1 - p) - p**2 * (e - 1) ** 2 / e)


def test_three_symbols_are_refused() -> None:
    with pytest.raises(NotDefined, match="two symbols"):
        binary(Prior.uniform("abc"), LIP("1"))
