"""Ids as salted hashes: the same person is the same, and nobody is named."""

from __future__ import annotations

import hashlib
import hmac
from decimal import Decimal

import pytest

from liftlock.accounting.salted_ids import SALT_BYTES, id_text, is_missing, new_salt, salted_hash


def test_the_hash_is_what_it_says() -> None:
    """Fixed by the definition: files written today are read by every later release."""
    salt = bytes(range(16))
    expected = hmac.new(salt, "Zo\u00eb".encode(), hashlib.sha256).hexdigest()[:32]
    for as_written in (False, True):
        for text in (" Zoe\u0308\n", "Zo\u00eb"):
            assert salted_hash(salt, text, as_written=as_written) == expected
    look = hmac.new(salt, b"Ann 7", hashlib.sha256).hexdigest()[:32]
    assert salted_hash(salt, "\u0410n\uff4e 7") == look


def test_salts_differ() -> None:
    first, second = new_salt(), new_salt()
    assert len(first) == SALT_BYTES
    assert salted_hash(first, "ann") != salted_hash(second, "ann")
    assert "ann" not in salted_hash(first, "ann")


@pytest.mark.parametrize("missing", ["", " \t", None, float("nan"), Decimal("NaN"), "<NA>", "NaT"])
def test_what_is_no_id(missing: object) -> None:
    assert is_missing(missing)


def test_ids_are_texts() -> None:
    assert id_text(7) == id_text(" 7 ") != id_text("07")
    assert not is_missing(0)
    assert len(salted_hash(bytes(16), "\ud800")) == 32
