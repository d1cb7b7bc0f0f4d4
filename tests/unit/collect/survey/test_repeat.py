"""Repeat rules: what they are called, what they reveal, and what is refused."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

import liftlock as ll
from liftlock.collect.survey.repeat import RepeatRule, change_shown
from liftlock.errors import InputError
from tests.unit.collect.survey import enumeration


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("change", "silence would prove that the value has not changed"),
        ("on-change", "a report on change cannot be promised"),
        ("always", "unknown repeat rule"),
        (3, "unknown repeat rule"),
        ("fresh", "the number of rounds is missing"),
        ("memo", "write memo=2 for at most 2 rounds"),
        ("first=3", "has no number of rounds"),
        ("fresh=0", "out of range"),
        ("fresh=1001", "give 1 to 1,000"),
        ("fresh=-1", "unknown repeat rule"),
    ],
)
def test_what_cannot_be_promised_is_refused(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RepeatRule.read(value)


def test_rules_are_written_as_they_are_read() -> None:
    for text in ("first", "fresh=3", "memo=2"):
        assert str(RepeatRule.read(text)) == text
    assert RepeatRule.read(" Fresh = 2 ") == RepeatRule("fresh", 2)


def test_each_rule_says_what_it_reveals() -> None:
    assert "A copy tells nothing new" in RepeatRule.read("first").describe()
    assert "the totals below are for all rounds" in RepeatRule.read("fresh=2").describe().lower()
    said = RepeatRule.read("memo=3").describe()
    assert "By another table it draws a new one, which adds up" in said
    assert "If your answer changes, the collector can notice that it changed" in said
    # One round of any rule is one report.
    assert RepeatRule.read("memo=1").describe() == RepeatRule.read("first").describe()
    assert not RepeatRule.read("fresh=1").repeats


def test_the_chance_that_a_change_shows_is_enumerated() -> None:
    prior = ll.Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    made = ll.design(prior, ll.LIP("1"), utility="frequencies")
    rows = enumeration.rows_of(made)
    shown = [
        sum((p * q for p, q in itertools.product(rows[x], rows[o])), Fraction(0))
        - sum((p * q for p, q in zip(rows[x], rows[o], strict=True)), Fraction(0))
        for x, o in itertools.combinations(rows, 2)
    ]
    assert change_shown(made) == (min(shown), max(shown))
