"""The rule of all notions that bound one number: budgets, decisions, and safe texts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Channel, Context, Prior
from liftlock.errors import NumberError, UnprotectedInput
from liftlock.exact.enclosure import Enclosure
from liftlock.model.structured import AnyChannel
from liftlock.notions import (
    ALIP,
    LDP,
    LIP,
    ApproximateLDP,
    ApproximateLIP,
    Chi2,
    Identifiability,
    L1Lift,
    MaximalLeakage,
    Measurement,
    MutualInformation,
    Notion,
    Sibson,
    TotalVariation,
)
from liftlock.notions.base import MOST_BITS, UpperBound, safe_text

ONE = Channel.identity("a")
ALONE = Prior.uniform("a")


class Narrowing(UpperBound):
    """A notion whose value is only known to be near 1/3, the closer the more bits are asked for."""

    key = "narrowing"
    unit = ""
    asked: list[int]

    def measure_leakage(self, channel: AnyChannel, context: Context, bits: int) -> Measurement:
        self.asked.append(bits)
        step = Fraction(1, 2**bits)
        return Measurement("narrowing", Enclosure(Fraction(1, 3) - step, Fraction(1, 3) + step), "")


def narrowing(budget: object) -> Narrowing:
    notion = Narrowing(budget)
    object.__setattr__(notion, "asked", [])
    return notion


@pytest.mark.parametrize(
    ("offset", "holds"),
    [
        (Fraction(1, 2**100), True),
        (Fraction(1, 2**300), True),
        (Fraction(1, 2**4000), True),
        (-Fraction(1, 2**100), False),
        (-Fraction(1, 2**300), False),
        (Fraction(0), False),  # never decided: the safe side
        (Fraction(1, 2**5000), False),
    ],
)
def test_precision_grows_until_the_decision(offset: Fraction, holds: bool) -> None:
    notion = narrowing(Fraction(1, 3) + offset)
    assert notion.certify(ONE, ALONE).holds == holds
    assert notion.asked == sorted(set(notion.asked))
    assert max(notion.asked) <= MOST_BITS


class Endless(Narrowing):
    """A notion that is infinite."""

    def measure_leakage(self, channel: AnyChannel, context: Context, bits: int) -> Measurement:
        return Measurement("endless", Enclosure.infinity(), "")


def test_infinite_values_never_hold() -> None:
    notion = Endless("1e400")
    assert not notion.certify(ONE, ALONE).holds
    assert notion.smallest_text(ONE, ALONE) == ""


@given(st.fractions(0, 10**6))
def test_safe_texts_are_never_too_small(value: Fraction) -> None:
    text = safe_text(Enclosure.of(value))
    assert value <= Fraction(text) <= value + Fraction(1, 10**10)


@given(st.fractions(0, 100), st.fractions(0, Fraction(1, 10**12), max_denominator=10**20))
def test_safe_texts_of_intervals_cover_the_upper_end(low: Fraction, width: Fraction) -> None:
    text = safe_text(Enclosure(low, low + width))
    assert Fraction(text) >= low + width
    assert "/" not in text


def test_safe_texts_of_special_values() -> None:
    assert safe_text(Enclosure.infinity()) == "inf"
    assert safe_text(Enclosure.of(0)) == "0"
    assert safe_text(Enclosure.of(Fraction(1, 10**18))) == "0.000000000000000001"
    assert safe_text(Enclosure.of(Fraction(1, 10**19))) == "0.0000000001"
    assert safe_text(Enclosure.of(Fraction(3**20_000 + 1, 3**20_000))) == "1.0000000001"


NOTIONS: list[Notion] = [
    LIP(1),
    ALIP(lower=1, upper=1),
    LDP(1),
    ApproximateLIP(1, "0.1"),
    ApproximateLDP(1, "0.1"),
    Identifiability(1),
    MutualInformation(1),
    MaximalLeakage(1),
    Sibson(2, 1),
    TotalVariation(1),
    Chi2(1),
    L1Lift(1),
]


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: str(notion.name))
def test_every_notion_has_the_same_verbs(notion: Notion) -> None:
    certificate = notion.certify(ONE, ALONE)
    assert certificate.holds
    assert certificate.notion == notion.name
    assert certificate.budgets == notion.budgets
    assert all(isinstance(text, str) for text in notion.budgets.values())
    assert "=" in notion.smallest_text(ONE, ALONE)
    assert notion.name in str(notion)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: str(notion.name))
def test_every_notion_but_ldp_refuses_impossible_inputs(notion: Notion) -> None:
    channel = Channel.from_rows({"a": {"y": 1}, "b": {"y": 1}})
    prior = Prior.from_counts({"a": 1, "b": 0})
    if notion.name in ("ldp", "ldp_delta"):
        assert notion.certify(channel, prior).holds
        return
    with pytest.raises(UnprotectedInput):
        notion.certify(channel, prior)
    certificate = notion.certify(channel, prior, impossible="ignore")
    assert certificate.holds
    assert certificate.unprotected == ("b",)


def test_budgets_are_exact_and_comparable() -> None:
    assert LDP("0.50") == LDP(0.5)
    assert LDP(1) != LDP(2)
    different: list[Notion] = [LDP(1), MaximalLeakage(1), Identifiability(1)]
    assert len(set(different)) == 3
    assert hash(Chi2("1/2")) == hash(Chi2(0.5))
    assert Chi2("1/3").bound() == Enclosure.of(Fraction(1, 3))
    assert LDP("ln 2").bound().width < Fraction(1, 2**100)
    for make in (LDP, Chi2):
        with pytest.raises(NumberError, match="negative"):
            make(-1)
        with pytest.raises(NumberError, match="computed"):
            make(0.1 + 0.2)
