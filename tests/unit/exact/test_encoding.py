"""Canonical bytes: equal things have equal fingerprints, different things different ones."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.exact.fingerprint import (
    canonical_bytes,
    fingerprint,
    fraction_text,
    integer_text,
    integer_to_json,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
def test_the_fingerprint_is_the_sha256_of_sorted_json_without_blanks(value: object) -> None:
    text = canonical_bytes(value)
    assert json.loads(text.decode("utf-8", "surrogatepass")) == value
    assert fingerprint(value) == hashlib.sha256(text).hexdigest()


@given(VALUES, VALUES)
def test_equal_bytes_mean_equal_values(first: object, second: object) -> None:
    same = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert (canonical_bytes(first) == canonical_bytes(second)) == same


def test_the_order_of_keys_does_not_matter_but_everything_else_does() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    different = [1, "1", [1], True, {"1": 1}, [1, 1], None, "é", "e\u0301", "\ud800"]
    assert len({fingerprint(value) for value in different}) == len(different)


@pytest.mark.parametrize("value", [0, 1, -1, 2**53, -(2**53)])
def test_integers_a_browser_keeps_are_numbers(value: int) -> None:
    assert integer_to_json(value) == value
    assert isinstance(integer_to_json(value), int)


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 10**30])
def test_larger_integers_are_text(value: int) -> None:
    assert integer_to_json(value) == str(value)


@given(st.integers(-(10**30), 10**30), st.integers(0, 9000))
def test_integers_of_any_length_are_written_exactly(head: int, zeros: int) -> None:
    text = integer_text(head * 10**zeros)
    assert text == (str(head) + "0" * zeros if head else "0")


@given(st.integers(2000, 40_000), st.integers(0, 10**6))
def test_long_integers_have_the_right_digits(bits: int, offset: int) -> None:
    value = (1 << bits) + offset
    text = integer_text(value)
    assert text.isdigit()
    total = 0
    for start in range(0, len(text), 1000):
        part = text[start : start + 1000]
        total = total * 10 ** len(part) + int(part)
    assert total == value


@given(st.fractions())
def test_fractions_are_written_as_python_does(value: Fraction) -> None:
    assert fraction_text(value) == str(value)
