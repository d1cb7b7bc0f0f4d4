"""Several collections cover, sets of priors hold the truth, and a point for a prior breaks.

Seeds are fixed. Every limit says how often it would fail with another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import liftlock as ll
from liftlock.estimate import Aggregate, Answer, combine

LABELS = ["a", "b", "c"]
SIXTHS = ll.Prior.from_counts({"a": 6, "b": 3, "c": 2})
OTHER = ll.Prior.from_counts({"a": 2, "b": 5, "c": 3})


def counted(mechanism: ll.Mechanism, people: Any, source: np.random.Generator) -> Aggregate:
    """Reports of so many people of each value."""
    rows = mechanism.table.floats()
    seen = sum(source.multinomial(n, row) for n, row in zip(people, rows, strict=True))
    numbers = tuple(int(count) for count in np.asarray(seen))
    return Aggregate(mechanism.channel.fingerprint, numbers, int(sum(people)))


def holds(answer: Answer, truth: float) -> bool:
    assert answer.low is not None
    assert answer.high is not None
    return bool(answer.low - 1e-9 <= truth <= answer.high + 1e-9)


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize("shares", [(0.45, 0.35, 0.2), (0.1, 0.1, 0.8)], ids=str)
def test_collections_cover_off_their_priors(rounds: bool, shares: tuple[float, ...]) -> None:
    """300 runs of 1,500 and 800 people, whose shares are not those of either prior.

    A coverage of 0.95 holds 267 times or more of 300 but with probability 1e-5, for each of three
    answers: once in 30,000 seeds.
    """
    source = np.random.default_rng(17)
    first = ll.design(SIXTHS, ll.LIP("1"), method="arc")
    second = ll.design(OTHER, ll.LIP("0.7"), utility="histogram")
    held = np.zeros(3)
    for _ in range(300):
        people = [source.multinomial(n, shares) for n in (1500, 800)]
        parts = [(m, counted(m, x, source)) for m, x in zip((first, second), people, strict=True)]
        found = combine(parts, rounds=rounds)
        truth = 2300 * np.array(shares) if rounds else np.sum(people, axis=0)
        held += [holds(answer, t) for answer, t in zip(found.answers, truth, strict=True)]
    assert binom.cdf(266, 300, 0.95) < 1e-5
    assert held.min() >= 267, held


@pytest.mark.parametrize("method", ["k-rr", "arc", "optimal"])
@pytest.mark.parametrize("shares", [(6, 3, 2), (1, 1, 20)], ids=str)
def test_sets_hold_the_true_prior(method: str, shares: tuple[int, ...]) -> None:
    """200 rounds of 1,000 reports at confidence 90 %.

    A set that holds with 0.9 does so 161 times or more but with probability 3e-5.
    """
    true = ll.Prior.from_counts(dict(zip(LABELS, shares, strict=True)))
    mechanism = ll.design(SIXTHS, ll.LIP("1"), method=method, utility="histogram")
    source = np.random.default_rng(19)
    held = 0
    for _ in range(200):
        sums = counted(mechanism, source.multinomial(1000, true.floats()), source)
        near = ll.Prior.from_estimate(mechanism.estimate(sums), "0.9")
        ends = zip(near.lower, true.fractions, near.upper, strict=True)
        held += all(low <= share <= high for low, share, high in ends)
        assert min(near.upper) > 0
    assert binom.cdf(160, 200, 0.9) < 3e-5
    assert held >= 161


def test_a_round_for_the_set_keeps_its_promise_and_one_for_the_estimate_does_not() -> None:
    """25 rounds of 1,000 reports: the true leakage of what is designed next, exactly.

    For the set it is at most the budget whenever the set holds the truth, which at 99 % fails 4
    times or more of 25 once in 10,000 seeds. For the estimate it was above in all of 150 rounds.
    """
    first = ll.design(ll.Prior.uniform(LABELS), ll.LDP("1"), method="k-rr")
    source = np.random.default_rng(29)
    held, broken = 0, 0
    for _ in range(25):
        sums = counted(first, source.multinomial(1000, SIXTHS.floats()), source)
        found = first.estimate(sums, method="consistent")
        near = ll.Prior.from_estimate(found, "0.99")
        ends = zip(near.lower, SIXTHS.fractions, near.upper, strict=True)
        if all(low <= share <= high for low, share, high in ends):
            held += 1
            made = ll.design(near, ll.LIP("1"), utility="histogram")
            assert float(ll.audit(made.channel, SIXTHS).measures["lip"]) <= 1
        point = ll.Prior.from_probabilities(
            {a.name: f"{max(a.value, 0.5) / 1000:.6f}" for a in found.answers}, normalise=True
        )
        wrong = ll.design(point, ll.LIP("1"), utility="histogram")
        broken += float(ll.audit(wrong.channel, SIXTHS).measures["lip"]) > 1
    assert held >= 22
    assert broken == 25
