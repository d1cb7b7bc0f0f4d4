"""Paper 000, section III.B: Corollaries 4 and 5 as published, and the tight forms behind them."""

from __future__ import annotations

import itertools
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Family, Prior
from liftlock.accounting import Release, account_sequence
from liftlock.accounting.accountants import TightAccountant
from liftlock.notions import LIP, lift_range
from tests.theorems import worlds
from tests.theorems.worlds import World
from tests.unit.accounting import brute_force

ONE = Fraction(1)


def omega(ratio: Fraction, smallest: Fraction) -> Fraction:
    return min(ratio**2, (ratio - 1 + smallest) / smallest)


def finite(ratio: Fraction | None) -> Fraction:
    assert ratio is not None
    return ratio


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_corollary_4_bounded_priors(data: st.DataObject) -> None:
    """As published, with the largest P_min of the set in omega; and the tight form."""
    size = data.draw(st.integers(2, 3))
    members = [data.draw(worlds.masses(least=size, most=size)) for _ in range(2)]
    family = Family.of(worlds.prior_of(masses) for masses in members)
    released = [World(members[0], data.draw(worlds.rows(size, most=3))) for _ in range(2)]
    levels = []
    for world in released:
        found = lift_range(world.channel, family)
        levels.append(max(finite(found.largest.lift), 1 / finite(found.smallest.lift)))
    rows = [[list(row) for row in world.rows] for world in released]
    masses = [list(member) for member in members]
    lower, upper = brute_force.extreme_lifts(brute_force.likelihoods(rows), masses)
    truth = max(finite(lower), finite(upper))
    least = min(min(member) for member in members)
    largest = max(min(member) for member in members)
    total = ONE
    for level in levels:
        total *= omega(level, largest)
    published = least + total * (1 - least)
    ours = TightAccountant().bound([Release.of(world.channel) for world in released], family)
    assert truth <= finite(ours["lip"].ratio) <= published


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_corollary_5_sequences(data: st.DataObject) -> None:
    """Equation (11), with P_min of the joint, which is 0 if a tuple is impossible."""
    size = data.draw(st.integers(2, 3))
    pairs = list(itertools.product(range(size), range(size)))
    counts = data.draw(st.lists(st.integers(0, 5), min_size=len(pairs), max_size=len(pairs)))
    # Every value can occur, not every pair of them.
    for x in range(size):
        counts[pairs.index((x, x))] += 1
    prior = Prior.from_counts(list(zip(pairs, counts, strict=True)))
    channels = [worlds.channel_of(data.draw(worlds.rows(size, most=3))) for _ in range(2)]
    found = account_sequence(prior, channels)
    truth = finite(found.whole["lip"].ratio)
    assert found.whole.is_exact("lip")
    total = sum(counts)
    bound = ONE
    for k, channel in enumerate(channels):
        own = [sum(c for p, c in zip(pairs, counts, strict=True) if p[k] == x) for x in range(size)]
        marginal = Prior.from_counts(dict(enumerate(own)))
        level = finite(LIP.measure(channel, marginal).ratio)
        bound *= omega(level, marginal.smallest)
        # Linkage: what all outputs tell of one datum is at most what they tell of the sequence.
        assert finite(found.total[k]["lip"].ratio) <= truth
    least = Fraction(min(counts), total)
    published = least + bound * (1 - least)
    ours = next(spent for spent in found.whole.spent if spent.accountant == "tight")
    assert truth <= finite(ours["lip"].ratio) <= published
