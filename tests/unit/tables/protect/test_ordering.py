"""Rows in an order that tells what is hidden are noticed, and chance is not."""

from __future__ import annotations

import random
from typing import Any

import pytest

from liftlock.tables.protect.inspect import inspect_other_columns
from tests.unit.tables.protect.memory import Memory

ROWS = 600


def ordered(values: list[Any], size: int = 100) -> tuple[str, ...]:
    source = Memory.of(size, s=values, x=[*"ab"] * (len(values) // 2))
    return inspect_other_columns(source, ["x"], ["s"], ["x"]).ordered


@pytest.mark.parametrize(
    "values",
    [
        sorted(["f", "m", "x"] * 200),
        ["f"] * 200 + [None] * 200 + ["m"] * 200,
        [str(at // 2 * 1.5) for at in range(ROWS)],
        [-0.5 * at for at in range(ROWS)],
        [f"town {at // 6}" for at in range(ROWS)],
    ],
)
def test_sorted_and_grouped_rows_are_noticed(values: list[Any]) -> None:
    assert "s" in ordered(values)


def test_a_random_order_tells_nothing() -> None:
    """Six standard errors: a false alarm in one of 10^9 orders."""
    drawn = random.Random(4)
    for kinds in (["f"], [1, 2], [*"abcdef"], list(range(400)), ["yes"] * 30 + ["no"]):
        assert "s" not in ordered([drawn.choice(kinds) for _ in range(ROWS)])
    assert "s" not in ordered(["f"] * 10 + ["m"] * 10)
