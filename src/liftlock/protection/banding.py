"""Numbers of which each is rare, joined to bands of about as many rows each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

BANDS = 20
MANY = 50
"""Numbers of more different values than this are looked at in bands."""


def banded(counts: Mapping[tuple[Any, Any], int]) -> Counter[tuple[Any, Any]] | None:
    """Join the second of each pair to bands; None unless it is one of many different numbers.

    What is no number, such as a missing cell, stays as it is.

    >>> joined = banded({("a", str(number)): 1 for number in range(200)})
    >>> sorted(joined.items())[:2]
    [(('a', 0), 10), (('a', 1), 10)]
    """
    sizes = Counter[Any]()
    for (_, value), count in counts.items():
        sizes[value] += count
    numbers = {value: number for value in sizes if (number := _number(value)) is not None}
    total = sum(sizes[value] for value in numbers)
    if len(numbers) <= MANY or 2 * total < sum(sizes.values()):
        return None
    band: dict[Any, int] = {}
    before = 0
    for value in sorted(numbers, key=lambda each: numbers[each]):
        # Equal numbers, however they are written, are in one band.
        band[value] = BANDS * before // total
        before += sizes[value]
    found = Counter[tuple[Any, Any]]()
    for (told, value), count in counts.items():
        found[told, band.get(value, value)] += count
    return found


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
