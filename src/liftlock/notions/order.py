"""Orders alpha of the measures that have one: a positive rational, or infinity."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from liftlock.errors import NumberError
from liftlock.exact.numbers import exact

Order: TypeAlias = Fraction | None
"""None stands for infinity."""


def read_order(value: object) -> Order:
    """Read an order.

    >>> read_order("2"), read_order("inf") is None
    (Fraction(2, 1), True)
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in {"inf", "infinity"}):
        return None
    if isinstance(value, float) and value == float("inf"):
        return None
    order = exact(value, name="alpha")
    if order <= 0:
        raise NumberError("alpha is not positive", value=value, remedy="use a number above 0")
    return order


def order_text(order: Order) -> str:
    """Write an order for people."""
    return "inf" if order is None else str(order)
