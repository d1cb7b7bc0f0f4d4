"""Likelihoods of inputs and of the secrets behind them; the extremes of a column."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet, Channel
from liftlock.notions.likelihood import likelihoods
from tests.strategies import Case, cases, near_ties

ANY = st.one_of(cases(), near_ties())


@given(ANY)
def test_likelihoods_are_exact(case: Case) -> None:
    found, expected = likelihoods(case.channel, case.context), case.given
    assert len(found.secrets) == len(expected)
    for s, row in enumerate(expected):
        numerators = found.row(s)
        for y, true in enumerate(row):
            assert found.at(s, y) == true
            assert Fraction(numerators[y], found.denominators[s]) == true
            assert (
                abs(Fraction(float(found.approximate[s, y])) - true) <= Fraction(found.error) * true
            )


@given(ANY)
def test_column_extremes_are_the_first_of_the_best(case: Case) -> None:
    found, expected = likelihoods(case.channel, case.context), case.given
    for y, column in enumerate(zip(*expected, strict=True)):
        assert found.column_extremes(1)[y] == column.index(max(column))
        assert found.column_extremes(-1)[y] == column.index(min(column))


@pytest.mark.parametrize("name", ["large", "large_joint", "ties"])
def test_column_extremes_of_large_tables(name: str, request: pytest.FixtureRequest) -> None:
    case: Case = request.getfixturevalue(name)
    found, expected = likelihoods(case.channel, case.context), case.given
    columns = list(zip(*expected, strict=True))
    assert found.column_extremes(1).tolist() == [c.index(max(c)) for c in columns]
    assert found.column_extremes(-1).tolist() == [c.index(min(c)) for c in columns]


@given(ANY, st.data())
def test_keeping_some(case: Case, data: st.DataObject) -> None:
    found = likelihoods(case.channel, case.context)
    rows = data.draw(st.lists(st.integers(0, len(found.secrets) - 1), min_size=1, unique=True))
    columns = data.draw(st.lists(st.integers(0, len(found.outputs) - 1), min_size=1, unique=True))
    rows, columns = sorted(rows), sorted(columns)
    kept = found.select(np.array(rows), np.array(columns))
    for i, s in enumerate(rows):
        for j, y in enumerate(columns):
            assert kept.at(i, j) == found.at(s, y)
    assert kept.secrets.labels == tuple(found.secrets.labels[s] for s in rows)
    assert kept.outputs.labels == tuple(found.outputs.labels[y] for y in columns)


def test_numbers_near_the_end_of_the_floats_are_marked() -> None:
    small = Fraction(1, 10**300)
    channel = Channel.from_fractions(
        Alphabet.of("ab"),
        Alphabet.of("uvw"),
        [[small, Fraction(1, 2), Fraction(1, 2) - small], [Fraction(1, 3)] * 3],
    )
    assert likelihoods(channel).faithful.tolist() == [False, True, True]
