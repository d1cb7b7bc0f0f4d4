"""A prior from a sample: the truth is in the set as often as was said, and the budget is kept.

Simulated shares are tested with a false-alarm rate of one in a million each (8 of them); what is
computed over all samples of two symbols has none.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import liftlock as ll
from liftlock.model.confidence import simultaneous_intervals
from liftlock.notions import LIP

ALARM = 1e-6
RARE = (Fraction(1, 100),) * 4 + (Fraction(4, 25),) * 6
SKEWED = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(3, 32), Fraction(1, 32))
TRUTHS = {"uniform": (Fraction(1, 2),) * 2, "skewed": SKEWED, "rare": RARE}


@pytest.mark.parametrize("size", [50, 1000])
@pytest.mark.parametrize("name", TRUTHS)
def test_the_truth_is_in_the_box(name: str, size: int) -> None:
    truth, beta, runs = TRUTHS[name], Fraction(1, 10), 1000
    drawn = np.random.default_rng(size).multinomial(size, [float(p) for p in truth], size=runs)
    missed = 0
    for counts in drawn.tolist():
        low, high = simultaneous_intervals(counts, beta)
        missed += not all(a <= p <= b for a, p, b in zip(low, truth, high, strict=True))
    assert missed <= binom.isf(ALARM, runs, float(beta))
    if len(truth) == 2:
        assert missed > 0.02 * runs  # of 5 to 10 %: the intervals are not needlessly wide


def leaks(mechanism: ll.Mechanism, truth: ll.Prior) -> bool:
    """Tell whether the exact audit under the true prior finds more than the budget."""
    return not ll.LIP("1").certify(mechanism.channel, truth).holds


def test_the_budget_is_kept_for_two_symbols() -> None:
    """Over all samples that can be drawn, weighted by their probability: exact."""
    size, share = 40, Fraction(1, 5)
    truth = ll.Prior.from_probabilities({"no": 1 - share, "yes": share})
    broken = counted = Fraction(0)
    for hits in range(size + 1):
        chance = math.comb(size, hits) * share**hits * (1 - share) ** (size - hits)
        if chance < Fraction(1, 2000):
            broken += chance  # not worth a design: counted as if it failed
            continue
        seen = {"no": size - hits, "yes": hits}
        near = ll.Intervals.from_counts(seen, confidence="0.9")
        inside = all(
            a <= p <= b for a, p, b in zip(near.lower, truth.fractions, near.upper, strict=True)
        )
        fails = leaks(ll.design(near, ll.LIP("1"), method="binary"), truth)
        assert not (inside and fails)
        broken += chance * fails
        plain = ll.design(ll.Prior.from_counts(seen), ll.LIP("1"), method="binary")
        counted += chance * leaks(plain, truth)
    assert broken <= Fraction(1, 10)
    # A design for the frequencies as they are breaks the budget in four samples of ten.
    assert counted > Fraction(4, 10)


@pytest.mark.parametrize("size", [50, 1000])
def test_the_budget_is_kept_from_data_to_design(size: int) -> None:
    labels, shares, runs = ["none", "cold", "flu"], [0.65, 0.3, 0.05], 8
    truth = ll.Prior.from_probabilities(dict(zip(labels, shares, strict=True)))
    generator = np.random.default_rng(size)
    broken = 0
    for _ in range(runs):
        values = generator.choice(labels, size=size, p=shares)
        near = ll.Prior.from_data(values, labels=labels, confidence="0.95")
        fails = leaks(ll.design(near, ll.LIP("1"), utility="guess"), truth)
        ends = zip(near.lower, truth.fractions, near.upper, strict=True)
        assert not (fails and all(a <= p <= b for a, p, b in ends))
        broken += fails
    assert broken <= binom.isf(ALARM, runs, 0.05)


def test_a_symbol_that_was_never_seen_is_protected() -> None:
    near = ll.Prior.from_data(["a"] * 30 + ["b"] * 20, labels="abc", confidence="0.99")
    assert near.lower[2] == 0
    mechanism = ll.design(near, ll.LIP("1"), utility="histogram")
    # Under a prior that calls it impossible, its likelihood ratios are still bounded ...
    found = LIP.measure(mechanism.channel, near)
    assert found.ratio is not None
    assert ll.LIP("1").epsilon.allows(found.ratio)
    # ... and at the largest probability that the sample allows, the budget holds.
    high = near.upper[2]
    edge = ll.Prior.from_probabilities(
        {"a": Fraction(6, 10) * (1 - high), "b": Fraction(4, 10) * (1 - high), "c": high}
    )
    assert not leaks(mechanism, edge)
