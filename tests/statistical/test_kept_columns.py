"""What is said of kept columns: chance passes for a leak in at most 1 of 100 tables.

Alarms of 400 tables are compared with a binomial quantile: each test fails with probability below
1e-6 if the filter keeps its rate. Seeds are fixed.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from liftlock.tables.protect.chance import Crossing, RarePools
from liftlock.tables.protect.inspect import inspect_other_columns, measure_leak
from liftlock.transfer.bets import ERROR_RATE
from tests.unit.tables.protect.memory import Memory

TABLES = 400
MOST = int(stats.binom.isf(1e-6, TABLES, ERROR_RATE))
SECRETS, VALUES = 10, 100


@pytest.mark.parametrize("rows", [3_000, 30_000])
@pytest.mark.parametrize("skewed", [False, True])
def test_independent_columns(rows: int, skewed: bool) -> None:
    """10 x 100 cells: 3.5 normal errors raised an alarm in 40 to 60 % of these tables."""
    random = np.random.default_rng(4)
    alarms = 0
    for _ in range(TABLES):
        shares = [
            random.dirichlet(np.ones(size)) if skewed else np.full(size, 1 / size)
            for size in (SECRETS, VALUES)
        ]
        cells = random.multinomial(rows, np.outer(*shares).ravel()).reshape(SECRETS, VALUES)
        counts = {place: int(count) for place, count in np.ndenumerate(cells) if count}
        alarms += measure_leak(Crossing(counts)) != (0.0, 0.0)
    assert alarms <= MOST


def test_columns_of_a_table() -> None:
    random = np.random.default_rng(5)
    alarms, tables = 0, 50
    for _ in range(tables):
        columns = {name: random.integers(0, 40, 800).tolist() for name in "abcdefgh"}
        secret = random.integers(0, 5, 800).tolist()
        source = Memory.of(800, s=secret, x=["u", "v"] * 400, **columns)
        look = inspect_other_columns(source, ["x", *columns], ["s"], ["x"])
        alarms += sum((leak.eps_lower, leak.eps_upper) != (0, 0) for leak in look.leaks)
    assert alarms <= int(stats.binom.isf(1e-6, tables * 8, ERROR_RATE))


@pytest.mark.parametrize("repeats", [2, 3, 8])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_rare_values_that_are_independent(repeats: int, share: float) -> None:
    """Of 1,000 rows in values of a few rows each, judged together: chance is no leak."""
    random = np.random.default_rng(7)
    alarms, tables = 0, 150
    for _ in range(tables):
        secret = (random.random(1_000) < share).tolist()
        value = random.permutation(np.arange(1_000) // repeats).tolist()
        seen = Crossing(Counter(zip(secret, (f"v{each}" for each in value), strict=True)))
        alarms += measure_leak(RarePools.of(seen)) != (0.0, 0.0)
    assert alarms <= int(stats.binom.isf(1e-6, tables, ERROR_RATE))


def test_two_nats_in_ten_rows_are_found() -> None:
    """A secret of one in e^2 in all ten rows of a value, among 10,000: seen in all of 50 tables."""
    random = np.random.default_rng(6)
    for _ in range(50):
        secret = random.random(10_000) < math.exp(-2)
        value = random.integers(0, 50, 10_000)
        secret[:10], value[:10] = True, 99
        _, upper = measure_leak(
            Crossing(Counter(zip(secret.tolist(), value.tolist(), strict=True)))
        )
        assert upper == pytest.approx(2, abs=0.2)
