"""Priors: exact counts however they are written, and refusals in words."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet, Intervals, Prior
from liftlock.errors import CountError, InputError, LabelError, NumberError
from liftlock.model import context_from_data
from liftlock.model.prior import common_integers, integers_from_json, sort_labels
from tests.strategies import counts, fractions, inputs_of, make_prior, priors


@given(st.integers(1, 6).flatmap(counts))
def test_every_way_to_write_a_prior_is_the_same_prior(numbers: list[int]) -> None:
    shares, labels = fractions(numbers), inputs_of(len(numbers))
    first = make_prior(numbers)
    others = [
        Prior.from_counts(dict(zip(labels, numbers, strict=True))),
        Prior.from_counts(zip(labels, [Fraction(n, 6) for n in numbers], strict=True)),
        Prior.from_probabilities(dict(zip(labels, shares, strict=True))),
        Prior.from_probabilities(zip(labels, map(str, shares), strict=True)),
        Prior.from_probabilities(zip(labels, numbers, strict=True), normalise=True),
        Prior(Alphabet.of(labels), tuple(7 * n for n in numbers)),
    ]
    for other in others:
        assert other == first
        assert hash(other) == hash(first)
        assert other.fingerprint == first.fingerprint
        assert other.fractions == tuple(shares)
    assert sum(first.fractions) == 1
    assert [first[label] for label in labels] == shares
    assert first.smallest == min(share for share in shares if share)
    np.testing.assert_array_equal(first.floats(), [float(share) for share in shares])


@given(st.integers(2, 6).flatmap(counts), st.data())
def test_any_change_changes_the_fingerprint(numbers: list[int], data: st.DataObject) -> None:
    first = make_prior(numbers)
    place = data.draw(st.integers(0, len(numbers) - 1))
    changed = [n * 10**25 for n in numbers]
    changed[place] += 1
    if fractions(changed) != fractions(numbers):
        assert make_prior(changed).fingerprint != first.fingerprint
        assert make_prior(changed) != first
    renamed = Prior.from_counts(zip(["other", *inputs_of(len(numbers))[1:]], numbers, strict=True))
    assert renamed.fingerprint != first.fingerprint
    reversed_ = make_prior(numbers, list(reversed(range(len(numbers)))))
    assert reversed_.fingerprint != first.fingerprint
    assert reversed_.reordered(first.alphabet) == first


@given(priors(zeros=True))
def test_json_round_trip(case: tuple[list[Fraction], Prior]) -> None:
    _, prior = case
    again = context_from_data(json.loads(json.dumps(prior.to_data())))
    assert isinstance(again, Prior)
    assert again == prior
    assert again.counts == prior.counts


def test_json_keeps_coordinates() -> None:
    prior = Prior(Alphabet.numbers(["0.5", "1"]), (1, 2))
    again = Prior.from_json(json.loads(json.dumps(prior.to_data())))
    assert again.alphabet.coordinates == (Fraction(1, 2), Fraction(1))
    assert again.fingerprint == prior.fingerprint


def test_probabilities_are_read_as_written() -> None:
    prior = Prior.from_probabilities({"a": 0.1, "b": "0.2", "c": Decimal("0.3"), "d": "40%"})
    assert prior.counts == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("make", "kind", "word"),
    [
        (lambda: Prior.from_counts({}), LabelError, "has no symbols"),
        (
            lambda: Prior.from_counts({"a": -1, "b": 2}),
            CountError,
            "negative count at label 'a': -1",
        ),
        (lambda: Prior.from_counts({"a": 0}), CountError, "all counts are 0"),
        (lambda: Prior.from_counts({"a": "x"}), NumberError, "count of 'a' is not a number"),
        (lambda: Prior.from_counts([("a", 1), ("a", 2)]), LabelError, "given twice"),
        (lambda: Prior(Alphabet.of("ab"), (1,)), CountError, "1 counts for 2 labels"),
        (
            lambda: Prior.from_probabilities({"a": "0.5", "b": "0.4999999999999999999999"}),
            CountError,
            "do not sum to 1",
        ),
        (
            lambda: Prior.from_probabilities({"a": 0, "b": 0}, normalise=True),
            CountError,
            "all counts are 0",
        ),
        (lambda: Prior.from_probabilities({"a": 0.1 + 0.2}), NumberError, "computed"),
        (lambda: Prior.from_data([]), CountError, "no values"),
        (lambda: Prior.from_data(["a"], smoothing=-1), CountError, "negative smoothing"),
        (
            lambda: Prior.from_data(["a"], labels=["b"]),
            LabelError,
            "outside the declared labels: 'a'",
        ),
        (lambda: Prior.from_data([[1]]), LabelError, "cannot be a label"),
        (lambda: Prior.from_data([], labels=["a"]), CountError, "all counts are 0"),
        (lambda: Prior.mixture([], []), CountError, "0 priors and 0 weights"),
        (
            lambda: Prior.mixture([Prior.uniform("ab")], ["1/2"]),
            CountError,
            "not a distribution",
        ),
        (
            lambda: Prior.mixture([Prior.uniform("ab"), Prior.uniform("ac")], ["1/2", "1/2"]),
            LabelError,
            "lacks",
        ),
        (lambda: Prior.uniform("ab").restrict("c"), LabelError, "unknown label"),
        (
            lambda: Prior.from_counts({"a": 0, "b": 1}).restrict("a"),
            CountError,
            "all counts are 0",
        ),
        (lambda: Prior.uniform("ab")["c"], LabelError, "unknown label"),
        (lambda: Prior.uniform("ab").smoothed(-3), CountError, "negative count"),
        (lambda: Prior.from_json([]), CountError, "not an object"),
        (lambda: Prior.from_json({}), LabelError, "labels are not a list"),
        (lambda: Prior.from_json({"labels": ["a"]}), CountError, "counts is not a list"),
        (lambda: Prior.from_json({"labels": ["a"], "counts": ["1/2"]}), CountError, "not whole"),
        (lambda: Prior.from_json({"labels": ["a"], "counts": [None]}), NumberError, "NoneType"),
    ],
)
def test_refusals(make: Any, kind: type[InputError], word: str) -> None:
    with pytest.raises(kind, match=word) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_counting_data() -> None:
    values = ["b", "a", "b"]
    assert Prior.from_data(values) == Prior.from_counts({"a": 1, "b": 2})
    assert Prior.from_data(np.array(values)) == Prior.from_counts({"a": 1, "b": 2})
    assert Prior.from_data(np.array([2, 1, 2])) == Prior.from_counts({1: 1, 2: 2})
    jeffreys = Prior.from_data(values, smoothing="1/2", labels=["b", "c", "a"])
    assert jeffreys == Prior.from_counts({"b": 5, "c": 1, "a": 3})


def test_labels_that_are_stored_in_another_form_are_still_counted() -> None:
    # A Fraction is stored as text; looking it up as a Fraction would count nothing.
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert Prior.from_data([half, half, third]) == Prior.from_counts(
        {"1/2": 2, "1/3": 1}
    ).reordered(Alphabet.of(["1/2", "1/3"]))
    mixed = Prior.from_data([half, half, "a"])
    assert mixed["1/2"] == Fraction(2, 3)
    declared = Prior.from_data([half], smoothing=1, labels=[half, third])
    assert declared.counts == (2, 1)


def test_mixtures_are_exact_and_align_labels() -> None:
    first = Prior.from_counts({"a": 1, "b": 3})
    second = Prior.from_counts({"b": 1, "a": 1})
    mixed = Prior.mixture([first, second], ["1/3", "2/3"])
    assert mixed.fractions == (Fraction(5, 12), Fraction(7, 12))


def test_conditioning() -> None:
    prior = Prior(Alphabet.of("abc", [1, 2, 3]), (1, 0, 3))
    assert prior.restrict().labels == ("a", "c")
    assert prior.restrict(["c", "b"]).fractions == (Fraction(1), Fraction(0))
    assert prior.restrict().alphabet.coordinates == (Fraction(1), Fraction(3))
    assert prior.smoothed("1/2").counts == (3, 1, 7)


def test_words() -> None:
    prior = Prior.uniform(range(9))
    assert "9 symbols" in str(prior)
    assert prior.describe() == "a prior on 9 symbols"
    assert prior.inputs is prior.secrets
    assert prior != "a prior"


def test_helpers() -> None:
    assert common_integers([Fraction(1, 6), Fraction(1, 4), Fraction(0)]) == (2, 3, 0)
    assert integers_from_json([1, "2", str(10**30), 3.0], "counts") == (1, 2, 10**30, 3)
    assert sort_labels({2, 1}) == [1, 2]
    assert sort_labels({"b", 1, "a"}) == [1, "a", "b"]


# --- a confidence -----------------------------------------------------------------------------


def test_data_with_a_confidence_is_a_set_of_priors() -> None:
    values = ["b", "a", "b", "b"]
    near = Prior.from_data(values, labels=["a", "b", "c"], confidence="0.95")
    assert near == Intervals.from_counts({"a": 1, "b": 3, "c": 0}, confidence=Fraction(19, 20))
    assert near.inputs.labels == ("a", "b", "c")
    ends = list(zip(near.lower, near.upper, strict=True))
    frequencies = (Fraction(1, 4), Fraction(3, 4), Fraction(0))
    assert all(low <= p <= high for p, (low, high) in zip(frequencies, ends, strict=True))
    # Each of six ends is wrong with probability at most 0.05 / 6: (1 - u)^4 just below that.
    assert near.lower[2] == 0
    assert 0.99 * 0.05 / 6 < float((1 - near.upper[2]) ** 4) <= 0.05 / 6
    wider = Prior.from_data(values, labels=["a", "b", "c"], confidence="0.999")
    assert all(a > b for a, b in zip(near.lower[:2], wider.lower[:2], strict=True))
    assert all(a < b for a, b in zip(near.upper, wider.upper, strict=True))


def test_one_label_is_certain() -> None:
    near = Prior.from_data(["a", "a"], labels=["a"], confidence="0.95")
    assert near.lower == near.upper == (Fraction(1),)


def test_refusals_of_a_confidence() -> None:
    with pytest.raises(LabelError, match="a confidence needs labels; declare all labels"):
        Prior.from_data(["a", "b"], confidence="0.95")
    with pytest.raises(CountError, match="smoothing with a confidence: 1; leave one out"):
        Prior.from_data(["a", "b"], labels="ab", smoothing=1, confidence="0.95")
    with pytest.raises(CountError, match="all counts are 0"):
        Prior.from_data([], labels="ab", confidence="0.95")
    with pytest.raises(NumberError, match="confidence below one half"):
        Prior.from_data(["a"], labels="ab", confidence="0.05")
    with pytest.raises(CountError, match=r"not a number of observations at label 'a': '0\.5'"):
        Intervals.from_counts({"a": "0.5", "b": "0.5"}, confidence="0.95")
    with pytest.raises(CountError, match="not a number of observations at label 'b': '-1'"):
        Intervals.from_counts({"a": 3, "b": -1}, confidence="0.95")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Prior.from_counts({"a": "1e360", "b": 1}),
        lambda: Prior.from_counts({"a": "1e-360", "b": 0, "c": 1}),
        lambda: Prior.from_probabilities({"a": 1, "b": "1e-400"}, normalise=True),
        lambda: Prior.from_data(["a", "a"], smoothing="1e-360", labels=["a", "b"]),
        lambda: Prior.from_counts({"a": 1, "b": 0}).smoothed("1e-360"),
        lambda: Prior.from_json({"labels": ["a", "b"], "counts": [1, str(10**360)]}),
        lambda: Prior.mixture(
            [Prior.from_counts({"a": 1, "b": 0}), Prior.from_counts({"a": 0, "b": 1})],
            [1 - Fraction(1, 10**360), Fraction(1, 10**360)],
        ),
    ],
)
def test_a_probability_that_floats_cannot_hold_is_refused(make: Any) -> None:
    with pytest.raises(CountError, match=r"probability below 1e-300 at label '[ab]': 'about 1e-"):
        make()


def test_just_above_the_limit_nothing_is_refused() -> None:
    prior = Prior.from_counts({"a": 10**299, "b": 1, "c": 0})
    assert prior.floats()[1] == pytest.approx(1e-299)
