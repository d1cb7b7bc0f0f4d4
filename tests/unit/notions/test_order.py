"""Orders: a positive rational or infinity."""

from __future__ import annotations

from fractions import Fraction

import pytest

from liftlock.errors import NumberError
from liftlock.notions.base import order_text, read_order


@pytest.mark.parametrize("value", [None, "inf", " Infinity ", "INF", float("inf")])
def test_infinity(value: object) -> None:
    assert read_order(value) is None
    assert order_text(None) == "inf"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2", 2), (0.5, Fraction(1, 2)), ("1e-9", Fraction(1, 10**9)), ("7/3", Fraction(7, 3))],
)
def test_numbers(value: object, expected: Fraction) -> None:
    order = read_order(value)
    assert order == expected
    assert read_order(order_text(order)) == order


@pytest.mark.parametrize("value", [0, -1, "-inf", float("-inf"), float("nan"), "two", "", True])
def test_refusals(value: object) -> None:
    with pytest.raises(NumberError, match="alpha") as caught:
        read_order(value)
    assert "\n" not in str(caught.value)
