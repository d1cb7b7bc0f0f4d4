"""Bounds that rules of the relations compute are not below what they bound, in any digit."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from liftlock.model import Prior
from liftlock.notions import L1Lift, implications
from liftlock.notions.rules import RULES, Population
from tests.oracles import real

FAIR = Population.of(Prior.from_counts({"a": 1, "b": 2}))
HAIR = mp.mpf(10) ** -60
"""Of the 80 digits that the truth is computed with."""

LOGARITHMS = {
    ("maximal_leakage", "mutual_information"): lambda f: mp.log(real(f["maximal_leakage"])),
    ("chi2", "mutual_information"): lambda f: mp.log(1 + real(f["chi2"])),
    ("mutual_information", "total_variation"): lambda f: mp.sqrt(real(f["mutual_information"]) / 2),
    ("chi2", "total_variation"): lambda f: mp.sqrt(real(f["chi2"])) / 2,
}


def information(upper: Fraction, lower: Fraction) -> mp.mpf:
    """Return the largest mean of lift ln lift between two ends of the lift, with mean 1."""
    u, w = real(upper), 1 / real(lower)
    return (u * mp.log(u) * (1 - w) + w * mp.log(w) * (u - 1)) / (u - w)


@pytest.mark.parametrize("upper", [Fraction(3, 2), Fraction(7), Fraction(10**6 + 1, 10**6)])
@pytest.mark.parametrize("lower", [Fraction(5, 4), Fraction(9), Fraction(10**9)])
def test_information_from_lifts(upper: Fraction, lower: Fraction) -> None:
    facts = {"eps_upper": upper, "eps_lower": lower}
    (rule,) = [
        each
        for each in RULES
        if each.gives == "mutual_information" and {*each.needs} == {"eps_upper", "eps_lower"}
    ]
    found = rule.apply(facts)
    assert found is not None
    truth = information(upper, lower)
    assert truth - HAIR <= real(found) <= truth + mp.mpf(10) ** -25


@pytest.mark.parametrize(("needs", "gives"), LOGARITHMS)
@pytest.mark.parametrize("value", [Fraction(13, 10), Fraction(7, 3), Fraction(10**5, 7)])
def test_logarithms_and_roots(needs: str, gives: str, value: Fraction) -> None:
    facts = {needs: value}
    rules = [each for each in RULES if each.gives == gives and tuple(each.needs) == (needs,)]
    assert rules
    truth = LOGARITHMS[needs, gives](facts)
    for rule in rules:
        found = rule.apply(facts, FAIR)
        if found is not None and abs(real(found) - truth) < mp.mpf(10) ** -20:
            assert real(found) >= truth - HAIR
            break
    else:
        raise AssertionError("no rule gives the formula")


def test_what_follows_from_a_long_fraction_is_rounded_up() -> None:
    long = Fraction((1 << 300) // 3, 1 << 300)
    (half,) = [row for row in implications(L1Lift(str(long))) if row.target == "total_variation"]
    assert half.bound is not None
    assert half.bound.upper is not None
    assert long / 2 < half.bound.upper < long / 2 + Fraction(1, 1 << 150)
    assert Fraction(str(half).split()[2]) >= long / 2
