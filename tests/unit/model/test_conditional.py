"""Joints given another value: what they are, from counts by hand."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Channel
from liftlock.errors import LiftlockError
from liftlock.model import Conditional, Joint, Prior, context_from_data

ROWS = st.lists(
    st.tuples(st.sampled_from("kmn"), st.sampled_from("st"), st.sampled_from("abc")),
    min_size=1,
    max_size=40,
)


@given(ROWS, st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_counts_are_those_of_the_rows(rows: list[tuple[str, str, str]], fewest: int) -> None:
    ks, ss, xs = (list(column) for column in zip(*rows, strict=True))
    found = Conditional.from_columns(ks, ss, xs, fewest=fewest)
    sizes = Counter(ks)
    often = sorted(k for k in sizes if sizes[k] >= fewest)
    assert found.rest == (len(often) < len(sizes))
    assert list(found.given.labels) == [*often, *(["(other)"] * found.rest)]
    for k in often:
        assert found.masses[k] == Fraction(sizes[k], len(rows))
        context = found.context_of(k)
        assert isinstance(context, Joint)
        for s, x in {(s, x) for _, s, x in rows}:
            cell = context.counts[context.secrets.index(s)][context.inputs.index(x)]
            assert Fraction(cell, context.total) == Fraction(rows.count((k, s, x)), sizes[k])
    # Whoever does not see k sees the rows as they are.
    whole = found.whole
    for s in set(ss):
        assert whole.secret_prior[s] == Fraction(ss.count(s), len(rows))
    for x in set(xs):
        assert found.prior[x] == Fraction(xs.count(x), len(rows))
    again = context_from_data(json.loads(json.dumps(found.to_data())))
    assert again == found
    assert hash(again) == hash(found)


def test_own_values() -> None:
    found = Conditional.from_columns("kkmm", None, "abaa", fewest=1)
    assert found.hidden is None
    assert found.secrets == found.inputs
    assert found.context_of("k") == Prior.from_counts({"a": 1, "b": 1})
    assert found.whole.counts == ((1, 0, 2), (0, 1, 0))
    assert found.pair_list == (("k", "a"), ("k", "b"), ("m", "a"))


def test_alike_values_share_a_table() -> None:
    fair, loaded = Prior.uniform("ab"), Prior.from_counts({"a": 3, "b": 1})
    found = Conditional.of({1: fair, 2: loaded, 3: fair})
    assert (found.groups, found.names) == ((0, 1, 0), (1, 2))
    assert found.group_of(3) == 1
    forced = Conditional.of({1: fair, 2: loaded}, groups={1: "x", 2: "x"})
    assert forced.groups == (0, 0)
    assert forced.shared_by(1) == Prior.from_counts({"a": 4, "b": 2})
    assert found.fingerprint != forced.fingerprint
    part = found.restricted([2, 3])
    assert (part.given.labels, part.groups) == ((2, 3), (0, 1))


def test_parts_are_on_what_can_occur() -> None:
    found = Conditional.of({"k": Prior.from_counts({"a": 1, "b": 0}), "m": Prior.uniform("ab")})
    channel = Channel.identity("ab")
    parts = list(found.parts(channel))
    assert [part.channel.inputs.labels for part in parts] == [("a",), ("a", "b")]
    assert found.unprotected(channel) == (("k", "b"),)
    pairs = Channel.identity(found.pairs.labels)
    assert found.uses_given(pairs.inputs)
    assert found.unprotected(pairs) == ()


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: Conditional.of({}),
        lambda: Conditional.of({"a": Prior.uniform("xy"), "b": Joint.from_counts({"s": {"x": 1}})}),
        lambda: Conditional.of({"a": "prior"}),  # type: ignore[dict-item]
        lambda: Conditional.of({"a": Prior.uniform("xy")}, {"a": 1, "b": 1}),
        lambda: Conditional.of({"a": Prior.uniform("xy")}, {"a": 0}),
        lambda: Conditional.of({"a": Prior.uniform("xy")}, groups={"b": 1}),
        lambda: Conditional.of({"(other)": Prior.uniform("xy")}, rest=Prior.uniform("xy")),
        lambda: Conditional.from_columns("ab", "a", "ab"),
        lambda: Conditional.from_columns("", "", ""),
        lambda: Conditional.from_columns("ab", "ab", "ab", smoothing=-1),
        lambda: Conditional.of({"a": Prior.uniform("xy")}).group_of("b"),
        lambda: Conditional.of({"a": Prior.uniform("xy")}).uses_given(Alphabet.of("xyz")),
        lambda: context_from_data({"kind": "given", "counts": 3}),
    ],
)
def test_what_makes_no_sense_is_refused(attempt: Any) -> None:
    with pytest.raises(LiftlockError) as caught:
        attempt()
    assert "\n" not in str(caught.value)
