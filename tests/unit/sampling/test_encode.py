"""Packed reports: the specification word for word, exact distribution on all words, refusals."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from liftlock.errors import InputError
from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel, UnaryChannel
from liftlock.model.structured.hashing_channel import bucket
from liftlock.sampling import (
    SimulationBits,
    draw_reports,
    release,
    release_codes,
    simulate,
    simulate_codes,
)
from liftlock.sampling.encode import binary_digits


def stream(seed: int) -> Iterator[int]:
    bits = SimulationBits(seed)
    while True:
        words = np.empty(1000, dtype=np.uint64)
        bits.fill(words)
        yield from words.tolist()


def unary_by_the_book(channel: UnaryChannel, code: int, words: Iterator[int]) -> list[int]:
    """The specification on Python integers, lane by lane."""
    digits = [channel.other >> i & 1 for i in reversed(range(channel.bits))]
    while not digits[-1]:
        digits.pop()
    size = len(channel.inputs)
    groups = range(-(-size // 64))
    undecided, ones = [(1 << 64) - 1 for _ in groups], [0 for _ in groups]

    def step(group: int, digit: int) -> None:
        word = next(words)
        if digit:
            ones[group] |= undecided[group] & ~word
            undecided[group] &= word
        else:
            undecided[group] &= ~word

    for digit in digits[:8]:
        for group in groups:
            step(group, digit)
    for group in groups:
        for digit in digits[8:]:
            if undecided[group]:
                step(group, digit)
    report = [ones[group] >> lane & 1 for group in groups for lane in range(64)]
    report[code] = int(next(words) >> (64 - channel.bits) < channel.own)
    return report[:size]


@pytest.mark.parametrize("size", [1, 8, 63, 64, 65, 200, 1024])
@pytest.mark.parametrize("bits", [2, 11, 52, 62])
def test_unary_is_the_specification(size: int, bits: int) -> None:
    """More words than one buffer holds, so that leftovers are carried over."""
    total = 1 << bits
    channel = UnaryChannel.of(range(size), own=total // 2, other=max(1, total // 4 - 1), bits=bits)
    people = np.random.default_rng(size).integers(0, size, 300)
    words = stream(7)
    reports = simulate_codes(channel, people, seed=7)
    assert reports.shape == (300, -(-size // 8))
    expected = [unary_by_the_book(channel, int(code), words) for code in people]
    unpacked = np.unpackbits(reports.astype(np.uint8), axis=1, bitorder="little")
    assert unpacked[:, :size].tolist() == expected
    assert not unpacked[:, size:].any()


@pytest.mark.parametrize(("weight", "bits"), [(1, 1), (1, 3), (5, 4), (6, 4), (11, 4), (15, 4)])
def test_a_lane_is_1_with_exactly_the_stored_probability(weight: int, bits: int) -> None:
    """Every sequence of digits that a lane can see, counted: nothing is rounded."""
    digits = binary_digits(weight, bits).tolist()
    ones = 0
    for word in itertools.product((0, 1), repeat=bits):
        for digit, random in zip(digits, word, strict=False):
            if random != digit:
                ones += digit > random
                break
    assert Fraction(ones, 1 << bits) == Fraction(weight, 1 << bits)


class Counting:
    """Second words that run through all units, after one seed."""

    def __init__(self, seed: int, units: int, bits: int) -> None:
        self.words = np.empty(2 * units, dtype=np.uint64)
        self.words[0::2] = seed
        self.words[1::2] = np.arange(units, dtype=np.uint64) << np.uint64(64 - bits)

    def fill(self, buffer: npt.NDArray[np.uint64]) -> None:
        buffer[:] = self.words[: len(buffer)]


@pytest.mark.parametrize("buckets", [2, 3, 5, 300])
def test_hashing_has_exactly_the_stored_law(buckets: int) -> None:
    """All 2^bits units of the second word: each bucket as often as its weight says."""
    bits = 12
    channel = HashingChannel.of(range(50), buckets=buckets, other=7, bits=bits)
    for code, seed in ((0, 0x12345678), (49, 0xFFFF0001), (17, 0x00008000)):
        a, b = seed & 0xFFFF, seed >> 16
        reports = draw_reports(channel, np.full(1 << bits, code), Counting(seed, 1 << bits, bits))
        found_a, found_b, number = channel.parts(reports)
        assert set(found_a.tolist()) == {a}
        assert set(found_b.tolist()) == {b}
        own = bucket(a, b, code, buckets)
        expected = {z: channel.own if z == own else channel.other for z in range(buckets)}
        assert Counter(number.tolist()) == expected


def test_frequencies_come_back() -> None:
    """Unary and hashed, 40,000 people: each of 40 estimates within 6 standard errors.

    A false alarm has a probability below 80 x 2e-9; the seed is fixed.
    """
    people = np.random.default_rng(3).integers(0, 5, 40_000) ** 2
    shares = np.bincount(people, minlength=40) / len(people)
    for channel in (
        UnaryChannel.optimal(range(40), Budget.of("1")),
        HashingChannel.optimal(range(40), Budget.of("1")),
    ):
        reports = draw_reports(channel, people, SimulationBits(11))
        found = channel.frequencies(channel.count_support(reports), len(people))
        error = 0.5 / math.sqrt(len(people)) / float(channel.hit - channel.miss)
        assert np.abs(found - shares).max() < 6 * error


def test_labels_lists_and_arrays() -> None:
    channel = UnaryChannel.optimal(["a", "b", "c"], Budget.of("1"))
    assert simulate(channel, ["a", "c"], seed=1).shape == (2, 1)
    assert (
        simulate(channel, ["a", "c"], seed=1) == simulate(channel, np.array(["a", "c"]), seed=1)
    ).all()
    assert release(channel, []).shape == (0, 1)
    many = release_codes(channel, np.zeros(50, dtype=np.int64))
    assert len({tuple(row) for row in many.tolist()}) > 1


def test_bad_codes_are_refused() -> None:
    channel = HashingChannel.optimal(range(4), Budget.of("1"))
    with pytest.raises(InputError, match="code outside"):
        release_codes(channel, np.array([0, 4]))
    with pytest.raises(InputError, match="whole numbers"):
        release_codes(channel, np.array([0.5]))
