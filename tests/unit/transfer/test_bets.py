"""Bets against their formula; their error rate over all tables of a few rows, and simulated."""

from __future__ import annotations

import math
from itertools import product

import mpmath as mp
import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from liftlock.transfer.bets import Bets

ALARM = 1e-6
"""How often a simulated share may fail by chance."""

COIN = np.array([[0.9, 0.1], [0.3, 0.7]])
JOINTS = {
    "even": np.array([[0.4, 0.1], [0.1, 0.4]]),
    "rare": np.array([[0.03, 0.02], [0.45, 0.5]]),
}


def truth(joint: npt.NDArray[np.float64], chances: npt.NDArray[np.float64]) -> tuple[float, float]:
    """How far beliefs fall and rise, by the definition."""
    both = joint @ chances
    lifts = both / both.sum(axis=0) / joint.sum(axis=1, keepdims=True)
    return -math.log(lifts.min()), math.log(lifts.max())


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_capital_is_the_product_over_rows(side: str, against: bool) -> None:
    counts, limit = np.array([[40, 11], [19, 55]]), 0.2 if against else 0.6
    bets = Bets(counts, COIN)
    bet = bets._place_bets(side, 0.05, limit, against=against)  # type: ignore[arg-type]
    (found,) = bets._capitals(bet, limit)
    ratio = mp.exp(limit if side == "upper" else -limit)
    later = counts - bets._first[0]
    assert len(found) == 4
    for at, (s, y) in enumerate(zip(bet.group, bet.output, strict=True)):
        ends = []
        for p in (bet.secret[0][at], bet.secret[1][at]):
            capital = mp.mpf(1)
            for told, x in product(range(2), range(2)):
                w, hit = COIN[x, y] / COIN[:, y].max(), int(told == s)
                z = bet.sign * (w * (ratio * p - hit) + bet.slope[at] * (hit - p))
                capital *= (1 + bet.stake[at] * z) ** int(later[told, x])
            ends.append(mp.log(capital))
        assert found[at] < min(ends) < found[at] + 1e-6


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@pytest.mark.parametrize("rows", [9, 14])
def test_the_error_rate_over_all_tables_of_a_few_rows(
    rows: int, joint: npt.NDArray[np.float64]
) -> None:
    lower, upper = truth(joint, COIN)
    error, alarms, certified = 0.4, 0.0, 0.0
    for a, b, c in product(range(rows + 1), repeat=3):
        if a + b + c > rows:
            continue
        counts = np.array([[a, b], [c, rows - a - b - c]])
        bets = Bets(counts, COIN)
        ways = math.factorial(rows) / math.prod(math.factorial(n) for n in counts.flat)
        chance = ways * float(np.prod(joint**counts))
        alarms += chance * bets.alarm(lower, upper, error)
        certified += chance * bets.certify(lower, upper - 1e-9, error)
    assert alarms <= error
    assert certified <= error


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
def test_bounds_are_wrong_as_rarely_as_was_said(joint: npt.NDArray[np.float64]) -> None:
    lower, upper = truth(joint, COIN)
    draw, error, tables = np.random.default_rng(5), 0.05, 150
    over, under, finite = 0, [0, 0], 0
    for _ in range(tables):
        counts = draw.multinomial(1500, joint.ravel()).reshape(joint.shape)
        found = Bets(counts, COIN).bounds(error)
        over += found.at_least.eps_lower > lower or found.at_least.eps_upper > upper
        under[0] += found.at_most.eps_lower < lower
        under[1] += found.at_most.eps_upper < upper
        finite += math.isfinite(sum(found.at_most))
    for wrong in (over, *under):
        assert wrong <= binom.isf(ALARM, tables, error)
    assert finite == tables


@pytest.mark.parametrize("size", [1, 100])
def test_more_rows_say_more(size: int) -> None:
    counts = size * np.array([[400, 100], [100, 400]])
    lower, upper = truth(JOINTS["even"], np.eye(2))
    found = Bets(counts, np.eye(2)).bounds()
    near = {1: 0.6, 100: 0.05}[size]
    assert lower - near < found.at_least.eps_lower < lower < found.at_most.eps_lower < lower + near
    assert upper - near < found.at_least.eps_upper < upper < found.at_most.eps_upper < upper + near
    bets = Bets(counts, np.eye(2))
    asked = [bets.alarm(lower - near, None), bets.alarm(None, upper - near)]
    assert [*asked, bets.certify(lower + near, upper + near)] == [True, True, True]
    assert [bets.alarm(lower, upper), bets.certify(lower - 0.01, None)] == [False, False]


def test_too_few_rows_have_no_bound_and_raise_no_alarm() -> None:
    for counts in ([[1, 0], [0, 1]], [[0, 0], [0, 0]], [[3, 0], [2, 0]], [[900, 900], [0, 0]]):
        found = Bets(np.array(counts), np.eye(2)).bounds()
        assert max(found.at_least) == 0
        assert min(found.at_most) == math.inf


def test_the_same_counts_give_the_same_bounds() -> None:
    counts = np.array([[400, 100], [100, 400]])
    assert Bets(counts, COIN).bounds() == Bets(counts.copy(), COIN).bounds()


def test_inputs_that_were_not_seen_bound_the_stakes() -> None:
    # A row of the unseen input would lose more than all, had the stakes not been set for it.
    counts, ends = np.array([[400, 100], [100, 400]]), (np.zeros(2), np.ones(2))
    bets = Bets(counts, 0.01 * COIN, ends)
    bet = bets._place_bets("upper", 0.01, None, against=False)
    worst = np.min(bets._corners(bet, 1.0, bet.secret), axis=0)
    assert (1 + bet.stake * worst > 0).all()
    assert bets.bounds().at_most.eps_upper > Bets(counts, COIN).bounds().at_most.eps_upper


def test_parts_count_together() -> None:
    """The mean over parts finds what one part tells; what is left out after a look still counts."""
    even, told = np.array([[250, 250], [250, 250]]), np.array([[400, 100], [100, 400]])
    both = Bets(np.array([even, told]), np.eye(2)).bounds()
    assert 0.4 < both.at_least.eps_lower < Bets(told, np.eye(2)).at_least().eps_lower + 0.2
    assert both.at_most.eps_lower >= 0.9
    fewer = Bets(told[None], np.eye(2), parts=10).at_least()
    assert 0.3 < fewer.eps_lower < Bets(told[None], np.eye(2)).at_least().eps_lower
    assert Bets(np.array([told, 0 * told]), np.eye(2)).at_most().eps_lower == math.inf
    assert Bets(told[None], COIN).bounds() == Bets(told, COIN).bounds()
