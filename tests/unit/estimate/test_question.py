"""Questions: the number that each value counts with, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from liftlock import Alphabet
from liftlock.errors import InputError, LabelError
from liftlock.estimate.question import ask

ILLNESS = Alphabet.of(["none", "cold", "flu"])
NUMBERS = Alphabet.of([1, 2, 5])


def test_what_each_value_counts_with() -> None:
    assert ask(ILLNESS, "survey", {"flu", "cold"}).values.ravel().tolist() == [0, 1, 1]
    assert ask(ILLNESS, "survey", "flu").names == ("flu",)
    assert ask(ILLNESS, "histogram").names == ("none", "cold", "flu")
    assert ask(NUMBERS, "sum").values.ravel().tolist() == [1, 2, 5]
    assert ask(NUMBERS, "mean").values.ravel().tolist() == [1, 2, 5]
    placed = Alphabet.of(["low", "high"], [10, 20])
    assert ask(placed, "sum").values.ravel().tolist() == [10, 20]
    assert ask(NUMBERS, "survey", 5).counts
    assert not ask(NUMBERS, "mean").counts


def test_a_pair_is_one_value() -> None:
    pairs = Alphabet.of([("a", 1), ("a", 2)])
    assert ask(pairs, "survey", ("a", 2)).values.ravel().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("inputs", "of", "value", "message"),
    [
        (ILLNESS, "median", None, "unknown question: 'median'; ask for histogram, survey"),
        (ILLNESS, "survey", None, "no value to count"),
        (ILLNESS, "survey", [], "no value to count"),
        (ILLNESS, "survey", ["flu", "flu"], "named twice"),
        (ILLNESS, "histogram", "flu", "ask for survey, or leave the value out"),
        (ILLNESS, "sum", None, "needs numbers"),
    ],
)
def test_refused(inputs: Alphabet, of: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask(inputs, of, value)


def test_an_unknown_value() -> None:
    with pytest.raises(LabelError, match="plague"):
        ask(ILLNESS, "survey", "plague")
