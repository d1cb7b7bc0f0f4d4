"""The largest ratio of every pair of inputs, exactly, also where floats cannot tell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Table
from liftlock.accounting.accountants import pairwise as module
from liftlock.accounting.accountants.pairwise import pair_ratios, worst_pair
from liftlock.errors import NotDefined
from liftlock.model.structured import UnaryChannel
from tests import strategies
from tests.unit.accounting import brute_force


def largest(rows: strategies.Rows, x: int, other: int) -> Fraction | None:
    pairs = [(a, b) for a, b in zip(rows[x], rows[other], strict=True) if a]
    if any(b == 0 for _, b in pairs):
        return None
    return max(a / b for a, b in pairs)


@settings(max_examples=50, deadline=None)
@given(strategies.channels())
def test_every_pair(made: tuple[strategies.Rows, object]) -> None:
    rows, channel = made
    found = pair_ratios(channel)  # type: ignore[arg-type]
    size = len(rows)
    for x in range(size):
        for other in range(size):
            assert found.at(x, other) == largest(rows, x, other)
            where = int(str(found.output(x, other))[1:])
            top, bottom = rows[x][where], rows[other][where]
            assert (top / bottom if bottom else None) == found.at(x, other)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(2, 40))
def test_ratios_that_floats_cannot_tell_apart(seed: int, size: int, outputs: int) -> None:
    """Rows of 2^52 whose entries differ from a constant by a few units."""
    rng = np.random.default_rng(seed)
    weights = np.full((size, outputs), 2**52 // outputs) + rng.integers(-3, 4, (size, outputs))
    weights[:, 0] += 2**52 - weights.sum(axis=1)
    table = Table.of(Alphabet.of(range(size)), Alphabet.of(range(outputs)), weights)
    found = pair_ratios(table)
    for x in range(size):
        for other in range(size):
            ratios = [
                Fraction(int(a), int(b)) for a, b in zip(weights[x], weights[other], strict=True)
            ]
            assert found.at(x, other) == max(ratios)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.data())
def test_ratios_of_a_pair_multiply(size: int, data: st.DataObject) -> None:
    first, second = (data.draw(strategies.channels(size)) for _ in range(2))
    times = data.draw(st.integers(1, 2))
    found = worst_pair([(pair_ratios(first[1]), times), (pair_ratios(second[1]), 1)])
    channels = [first[0]] * times + [second[0]]
    assert found.ratio == brute_force.ratio(brute_force.likelihoods(channels))


def test_symmetric_tables_are_quick() -> None:
    size = 120
    weights = np.full((size, size), 2**52 // (size + 3))
    weights[np.arange(size), np.arange(size)] += 2**52 - weights.sum(axis=1)
    table = Table.of(Alphabet.of(range(size)), Alphabet.of(range(size)), weights)
    ratio = Fraction(int(weights[0, 0]), int(weights[0, 1]))
    assert worst_pair([(pair_ratios(table), 5)]).ratio == ratio**5


def test_encodings_have_two_levels() -> None:
    bits = UnaryChannel.of(range(100), own=8, other=4, bits=4)
    found = worst_pair([(pair_ratios(bits), 2)])
    assert found.ratio == 9
    assert found.more != found.less
    assert pair_ratios(UnaryChannel.of("a", own=8, other=4, bits=4)).at(0, 0) == 1


def test_too_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TRIPLES", 10)
    table = Table.of(Alphabet.of("abcd"), Alphabet.of("xy"), [[1, 3], [2, 2], [3, 1], [2, 2]], 2)
    with pytest.raises(NotDefined, match="the sum of the levels of LDP is used"):
        pair_ratios(table)
