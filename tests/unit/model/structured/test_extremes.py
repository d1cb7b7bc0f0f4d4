"""Extreme lifts of encodings, against all 2^d reports written out with plain fractions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Ball, Family, Intervals, Joint, Prior
from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel, UnaryChannel
from liftlock.model.structured.extremes import lift_extremes, ratio_extreme
from liftlock.model.structured.hashing_channel import bucket
from liftlock.notions import ALIP, LDP, LIP
from liftlock.notions.lift import extreme_lifts


def likelihoods(own: Fraction, other: Fraction, size: int) -> list[list[Fraction]]:
    """P(y | x) for every x and all 2^size reports."""
    rows = []
    for x in range(size):
        row = []
        for y in itertools.product((0, 1), repeat=size):
            p = Fraction(1)
            for j, bit in enumerate(y):
                one = own if j == x else other
                p *= one if bit else 1 - one
            row.append(p)
        rows.append(row)
    return rows


def brute_lifts(
    rows: Sequence[Sequence[Fraction]], joint: Sequence[Sequence[Fraction]]
) -> tuple[Fraction, Fraction, Fraction]:
    """The largest and smallest lift of the secrets, and the largest ratio of two secrets."""
    secrets = [row for row in joint if any(row)]
    largest, smallest, ratio = Fraction(0), Fraction(10**9), Fraction(0)
    for column in zip(*rows, strict=True):
        given_secret = [
            sum((p * q for p, q in zip(row, column, strict=True)), Fraction(0)) / sum(row)
            for row in secrets
        ]
        mass = sum(
            (g * sum(row) for g, row in zip(given_secret, secrets, strict=True)), Fraction(0)
        )
        largest = max(largest, max(given_secret) / mass)
        smallest = min(smallest, min(given_secret) / mass)
        ratio = max(ratio, max(given_secret) / min(given_secret))
    return largest, smallest, ratio


weights = st.tuples(st.integers(1, 15), st.integers(1, 15)).map(sorted)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any), weights)
def test_prior(counts: list[int], levels: list[int]) -> None:
    other, own = levels
    channel = UnaryChannel.of(range(len(counts)), own=own, other=other, bits=4)
    prior = Prior.from_counts(dict(enumerate(counts)))
    rows = likelihoods(Fraction(own, 16), Fraction(other, 16), len(counts))
    diagonal = [
        [Fraction(c, sum(counts)) if i == j else Fraction(0) for j in range(len(counts))]
        for i, c in enumerate(counts)
    ]
    largest, smallest, _ = brute_lifts(rows, diagonal)
    found = lift_extremes(channel, prior)
    assert (found.largest.value, found.smallest.value) == (largest, smallest)
    every = [[Fraction(i == j) for j in range(len(counts))] for i in range(len(counts))]
    assert ratio_extreme(channel).value == brute_lifts(rows, every)[2]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda d: st.lists(
            st.lists(st.integers(0, 6), min_size=d, max_size=d), min_size=1, max_size=4
        )
    ),
    weights,
)
def test_joint(cells: list[list[int]], levels: list[int]) -> None:
    if not any(map(any, cells)):
        return
    other, own = levels
    size, total = len(cells[0]), sum(map(sum, cells))
    channel = UnaryChannel.of(range(size), own=own, other=other, bits=4)
    joint = Joint.from_counts({f"s{i}": dict(enumerate(row)) for i, row in enumerate(cells)})
    rows = likelihoods(Fraction(own, 16), Fraction(other, 16), size)
    expected = brute_lifts(rows, [[Fraction(c, total) for c in row] for row in cells])
    found = lift_extremes(channel, joint)
    assert (found.largest.value, found.smallest.value) == expected[:2]
    assert ratio_extreme(channel, joint).value == expected[2]
    assert extreme_lifts(channel.to_dense(), joint).largest.lift == expected[0]


@pytest.mark.parametrize(
    "context",
    [
        Family.of([Prior.from_counts({0: 1, 1: 3, 2: 4}), Prior.from_counts({0: 5, 1: 1, 2: 2})]),
        Intervals.of({0: ("0.1", "0.5"), 1: ("0.2", "0.6"), 2: ("0.05", "1")}),
        Ball.of(Prior.from_counts({0: 1, 1: 3, 2: 4}), "0.05"),
        Intervals.all_priors([0, 1, 2]),
    ],
    ids=["family", "intervals", "ball", "all"],
)
def test_sets_of_priors_agree_with_the_table(
    context: Family | Intervals | Ball,
) -> None:
    channel = UnaryChannel.of(range(3), own=9, other=2, bits=4)
    found = lift_extremes(channel, context)
    table = extreme_lifts(channel.to_dense(), context)
    assert found.largest.value == table.largest.lift
    assert found.smallest.value == table.smallest.lift


def test_hashing_never_leaks_more_than_is_proved() -> None:
    """All seeds that matter for four symbols: the bound holds, and is attained by some hash."""
    channel = HashingChannel.of(range(4), buckets=3, other=3, bits=4)
    prior = Prior.from_counts({0: 1, 1: 2, 2: 3, 3: 4})
    bound = lift_extremes(channel, prior)
    high, low = channel.levels
    reached = []
    for a in (0, 1, 2, 3, 5, 0x4000, 0x8000, 0xC000, 0xFFFF, 12345):
        for b in range(0, 1 << 16, 977):
            for z in range(3):
                inside = [bucket(a, b, x, 3) == z for x in range(4)]
                mass = sum((prior[x] for x in range(4) if inside[x]), start=Fraction(0))
                level = low + (high - low) * mass
                reached += [(high if inside[x] else low) / level for x in range(4)]
    assert max(reached) == bound.largest.value
    assert min(reached) >= bound.smallest.value


def test_every_budget_is_kept_and_used_up() -> None:
    prior = Prior.from_counts({x: x + 1 for x in range(100)})
    for epsilon in ("0.01", "0.5", "1", "ln 3", "4", "8"):
        budget = Budget.of(epsilon)
        for channel in (
            UnaryChannel.optimal(range(100), budget),
            UnaryChannel.symmetric(range(100), budget),
            HashingChannel.optimal(range(100), budget),
        ):
            certificate = LDP(epsilon).certify(channel, prior)
            assert certificate.holds
            assert LIP(epsilon).certify(channel, prior).holds
            assert ALIP(lower=epsilon, upper=epsilon).certify(channel, prior).holds
            ratio = Fraction(*channel.levels)
            assert ratio > budget.exp().lower * (1 - Fraction(1, 1 << 30))
            assert not LIP("0.001").certify(channel, prior).holds
            assert certificate.claims[0].witness is not None
