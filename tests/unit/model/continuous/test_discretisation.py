"""Where cells begin: short edges between neighbours, and values that many people share."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import liftlock as ll
from liftlock.errors import InputError
from liftlock.model.continuous.discretisation import shortest_between

NUMBERS = st.one_of(
    st.integers(-50, 50).map(float),
    st.floats(-1e6, 1e6, allow_nan=False, width=32),
)


@given(NUMBERS, NUMBERS)
def test_the_shortest_number_between_two(left: float, right: float) -> None:
    if left == right:
        return
    left, right = min(left, right), max(left, right)
    found = shortest_between(left, right)
    assert left < found <= right
    digits = len(Decimal(repr(found)).normalize().as_tuple().digits)
    assert digits <= len(Decimal(repr(right)).normalize().as_tuple().digits)


def test_neighbouring_floats() -> None:
    for start in (0.1, 0.9999999999999999, 1e300, -0.1, 123456.789):
        after = math.nextafter(start, math.inf)
        assert shortest_between(start, after) == after
    with pytest.raises(InputError, match="the whole prior falls into one bin"):
        ll.continuous.from_data([0.1, math.nextafter(0.1, 1)]).discretise(2)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0, 0, 0, 0, 1, 2, 2, 3, 5, 8, 8, 13, 21]), min_size=2, max_size=80),
    st.integers(2, 12),
)
def test_values_that_many_share_are_cells_of_their_own(values: list[int], bins: int) -> None:
    distinct = sorted(set(values))
    assume(len(distinct) > 1)
    cut = ll.continuous.from_data(values).discretise(bins)
    assert len(cut.grid) <= bins
    assert sum(cut.counts) == len(values)
    if len(distinct) <= bins:
        assert cut.counts == tuple(values.count(value) for value in distinct)
