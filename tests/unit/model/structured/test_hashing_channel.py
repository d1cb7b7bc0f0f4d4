"""Local hashing: the field, exact uniformity of pairs, buckets, counting."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from liftlock.errors import InputError, NotDefined, RowError
from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel, any_channel_from_data
from liftlock.model.structured.hashing_channel import MOST_SYMBOLS, bucket, multiply


def test_the_polynomial_makes_a_field() -> None:
    """Some element has order 2^16 - 1, so every element but 0 has an inverse."""
    order = (1 << 16) - 1
    generator = next(
        g for g in range(2, 50) if all(power(g, order // prime) != 1 for prime in (3, 5, 17, 257))
    )
    assert power(generator, order) == 1


def power(base: int, exponent: int) -> int:
    result = 1
    while exponent:
        if exponent & 1:
            result = multiply(result, base)
        base = multiply(base, base)
        exponent >>= 1
    return result


def test_multiplication_is_that_of_polynomials() -> None:
    """Against multiplying first and dividing by the polynomial afterwards."""
    rng = np.random.default_rng(1)
    for a, x in rng.integers(0, 1 << 16, (200, 2)).tolist():
        product = 0
        for i in range(16):
            product ^= (a << i) * (x >> i & 1)
        for i in reversed(range(16, 31)):
            product ^= (0x1002B << (i - 16)) * (product >> i & 1)
        assert multiply(a, x) == product


def test_pairs_of_hashes_are_uniform() -> None:
    """For x != x', each value of h(x) - h(x') comes from one a; b then makes h(x) uniform.

    So pairs are uniform on all 2^32, and the collision probability is the sum of squared sizes.
    """
    for x, y in ((0, 1), (3, 1000), (1023, 65535)):
        differences = {multiply(a, x ^ y) for a in range(1 << 16)}
        assert len(differences) == 1 << 16


@pytest.mark.parametrize("buckets", [2, 3, 4, 7, 300])
def test_collision_probability(buckets: int) -> None:
    channel = HashingChannel.of(range(10), buckets=buckets, other=1, bits=20)
    sizes = Counter((v * buckets) >> 16 for v in range(1 << 16))
    expected = sum(Fraction(n, 1 << 16) ** 2 for n in sizes.values())
    assert channel.collision == expected
    numbers = np.arange(buckets)
    first = channel.bucket_range(numbers)
    after = channel.bucket_range(numbers + 1)
    assert (after - first).tolist() == [sizes[z] for z in range(buckets)]


@pytest.mark.parametrize(("symbols", "buckets"), [(1, 2), (5, 3), (256, 4), (300, 2), (700, 400)])
def test_support_is_the_specification(symbols: int, buckets: int) -> None:
    channel = HashingChannel.of(range(symbols), buckets=buckets, other=1, bits=20)
    rng = np.random.default_rng(symbols)
    a, b = rng.integers(0, 1 << 16, (2, 60))
    z = rng.integers(0, buckets, 60)
    reports = channel.pack(a, b, z)
    assert reports.shape == (60, 5 if buckets <= 256 else 6)
    expected = np.array(
        [
            [bucket(int(a[i]), int(b[i]), x, buckets) == z[i] for x in range(symbols)]
            for i in range(60)
        ]
    )
    assert (channel.support_matrix(reports) == expected).all()
    assert channel.count_support(reports).tolist() == expected.sum(axis=0).tolist()


def test_more_reports_than_a_counter_holds() -> None:
    """All reports support all symbols (a = 0), past the 65,535 that one lane counts."""
    channel = HashingChannel.of(range(3), buckets=2, other=1, bits=4)
    reports = np.zeros((70_000, 5), dtype=np.uint8)
    assert channel.count_support(reports).tolist() == [70_000] * 3


def test_buckets_are_the_better_neighbour() -> None:
    """Against the variance of every number of buckets in floats."""
    for epsilon in (0.5, 1.0, 2.0, 3.0):
        e = np.exp(epsilon)
        variances = {}
        for g in range(2, 60):
            hit, miss = e / (e + g - 1), 1 / g
            variances[g] = miss * (1 - miss) / (hit - miss) ** 2
        best = min(variances, key=variances.__getitem__)
        channel = HashingChannel.optimal(range(50), Budget.of(str(epsilon)))
        assert channel.buckets == best


def test_refusals() -> None:
    with pytest.raises(RowError, match="buckets"):
        HashingChannel.of("ab", buckets=1, other=1)
    with pytest.raises(RowError, match="bucket probabilities"):
        HashingChannel.of("ab", buckets=4, other=5, bits=4)
    with pytest.raises(InputError, match="too many to hash"):
        HashingChannel.of(range(MOST_SYMBOLS + 1), buckets=4, other=1)
    channel = HashingChannel.of("ab", buckets=3, other=1, bits=4)
    with pytest.raises(InputError, match="no such bucket"):
        channel.count_support(np.array([[0, 0, 0, 0, 3]], dtype=np.uint8))
    with pytest.raises(NotDefined, match="table of all reports"):
        channel.to_dense()


def test_file_round_trip() -> None:
    channel = HashingChannel.optimal("abc", Budget.of("2"))
    assert any_channel_from_data(channel.to_data()) == channel
    others = [
        HashingChannel.optimal("abd", Budget.of("2")),
        HashingChannel.optimal("abc", Budget.of("2"), buckets=5),
        channel.soften(Fraction(1, 1 << 20)),
        channel.with_bits(20),
    ]
    assert len({c.fingerprint for c in (channel, *others)}) == 5
    for softer in others[2:]:
        assert Fraction(*softer.levels) < Fraction(*channel.levels)


def test_the_least_that_softens_moves_a_unit() -> None:
    """A blend that moved nothing would be tried for ever, and certified as if it did."""
    channel = HashingChannel.optimal("abc", Budget.of("2"))
    for blend in (Fraction(1, 1 << 90), Fraction(1, 3), Fraction(1)):
        softer = channel.soften(blend)
        most = (1 << channel.bits) // channel.buckets
        assert softer.other - channel.other >= blend * (most - channel.other)
        assert softer.other - channel.other < blend * (most - channel.other) + 1


def test_separable_symbols_reach_the_ratio() -> None:
    """Some hash tells any two symbols apart, so the LDP ratio is attained and not only a bound."""
    for x, y in itertools.combinations((0, 1, 5, 1023), 2):
        assert any(bucket(a, 0, x, 4) != bucket(a, 0, y, 4) for a in range(1 << 16))
