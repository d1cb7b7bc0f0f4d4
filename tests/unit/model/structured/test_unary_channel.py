"""Unary encodings: refusals, files, counting, softening."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from liftlock import Prior
from liftlock.errors import FileError, InputError, NotDefined, RowError
from liftlock.exact.budget import Budget
from liftlock.model.structured import UnaryChannel, any_channel_from_data
from liftlock.notions import LIP, ApproximateLIP, audit


@pytest.mark.parametrize(("own", "other", "bits"), [(8, 9, 4), (16, 4, 4), (8, 0, 4), (1, 1, 63)])
def test_weights_out_of_range(own: int, other: int, bits: int) -> None:
    with pytest.raises(RowError, match="out of range"):
        UnaryChannel.of("ab", own=own, other=other, bits=bits)


def test_file_round_trip() -> None:
    channel = UnaryChannel.optimal(["a", 2, 3.5], Budget.of("1"))
    again = any_channel_from_data(channel.to_data())
    assert again == channel
    assert again.fingerprint == channel.fingerprint
    assert UnaryChannel.optimal(["a", 2, 4.5], Budget.of("1")) != channel
    changed = {**channel.to_data(), "other": 1}
    assert any_channel_from_data(changed).fingerprint != channel.fingerprint
    with pytest.raises(FileError, match="unknown form"):
        any_channel_from_data({**channel.to_data(), "form": "magic"})
    with pytest.raises(FileError, match="not a whole number"):
        any_channel_from_data({**channel.to_data(), "own": "1.5"})


@pytest.mark.parametrize("size", [1, 7, 8, 65, 130])
def test_support_counts_the_columns(size: int) -> None:
    channel = UnaryChannel.of(range(size), own=2, other=1, bits=2)
    bits = np.random.default_rng(size).random((1000, size)) < 0.3
    packed = np.packbits(bits, axis=1, bitorder="little")
    assert channel.count_support(packed).tolist() == bits.sum(axis=0).tolist()
    assert (channel.support_matrix(packed) == bits).all()
    assert channel.count_support(packed[:0]).tolist() == [0] * size


def test_reports_of_another_shape_are_refused() -> None:
    channel = UnaryChannel.of(range(9), own=2, other=1, bits=2)
    for wrong in (np.zeros((2, 3), np.uint8), np.zeros(2, np.uint8), np.zeros((2, 2), np.int64)):
        with pytest.raises(InputError, match="not packed reports"):
            channel.count_support(wrong)  # type: ignore[arg-type]


def test_softer_and_narrower_leak_less() -> None:
    channel = UnaryChannel.optimal(range(5), Budget.of("1"))
    ratio = Fraction(*channel.levels)
    for softer in (channel.soften(Fraction(1, 1 << 60)), channel.with_bits(8)):
        assert Fraction(*softer.levels) < ratio
    assert channel.soften(Fraction(1)).levels[0] == channel.soften(Fraction(1)).levels[1]


def test_frequencies_are_unbiased() -> None:
    """The expected support, put into the estimate, gives the true shares back."""
    channel = UnaryChannel.optimal(range(3), Budget.of("1"))
    shares = np.array([0.5, 0.3, 0.2])
    hit, miss = float(channel.hit), float(channel.miss)
    expected = 1000 * (shares * hit + (1 - shares) * miss)
    assert channel.frequencies(np.rint(expected).astype(np.int64), 1000) == pytest.approx(
        shares, abs=0.01
    )
    with pytest.raises(InputError, match="no reports"):
        channel.frequencies(np.zeros(3, np.int64), 0)
    mute = UnaryChannel.of(range(3), own=2, other=2, bits=2)
    with pytest.raises(InputError, match="carry no information"):
        mute.frequencies(np.zeros(3, np.int64), 5)


def test_notions_that_need_a_table() -> None:
    """Few symbols are written out, with the form's own fingerprint; many are refused."""
    small, large = (UnaryChannel.optimal(range(n), Budget.of("1")) for n in (4, 64))
    notion = ApproximateLIP("0.5", "0.5")
    certificate = notion.certify(small, Prior.uniform(range(4)))
    assert certificate.channel == small.fingerprint
    assert certificate.claims == notion.certify(small.to_dense(), Prior.uniform(range(4))).claims
    with pytest.raises(NotDefined, match="table of all reports"):
        notion.certify(large, Prior.uniform(range(64)))
    assert "mutual_information" in audit(small, Prior.uniform(range(4))).measurements
    result = audit(large, Prior.uniform(range(64)))
    assert set(result.measurements) == {"lip", "eps_lower", "eps_upper", "ldp"}
    assert result.to_data()["outputs"] == "2^64"
    assert LIP("1").smallest_text(large, Prior.uniform(range(64))).startswith("lip=0.9")


def test_bits_beyond_the_last_symbol_are_refused() -> None:
    channel = UnaryChannel.of("abc", own=2, other=1, bits=2)
    with pytest.raises(InputError, match="bits beyond the last symbol"):
        channel.count_support(np.array([[255]], dtype=np.uint8))
