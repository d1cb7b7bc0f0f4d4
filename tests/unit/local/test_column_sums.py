"""Exact sums of columns, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from liftlock.local import column_sums as module
from liftlock.local.column_sums import column_sums


@pytest.mark.parametrize("cells", [1 << 22, 0], ids=["bins", "one by one"])
def test_sums_are_those_of_fractions(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all sizes and signs, the smallest float and zeros among them."""
    monkeypatch.setattr(module, "_CELLS", cells)
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 3)) * 2.0 ** rng.integers(-600, 600, (200, 3))
    table[3, 0], table[4, 0], table[5, 1] = 5e-324, -1.7e308, 0.0
    found = column_sums(table)
    for column, total in zip(table.T.tolist(), found, strict=True):
        assert total == sum((Fraction(value) for value in column), Fraction(0))
    assert column_sums(table[::-1]) == found
    assert column_sums(np.zeros((4, 2))) == (Fraction(0), Fraction(0))
