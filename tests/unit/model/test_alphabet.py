"""Alphabets: labels and indices, both ways, and refusals with the place."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet
from liftlock.errors import InputError, LabelError, NumberError
from liftlock.model.alphabet import label_to_json

PARTS = st.text(max_size=4) | st.integers(2) | st.floats(allow_nan=False, allow_infinity=False)
LABELS = st.lists(
    st.recursive(PARTS, lambda inner: st.tuples(inner, inner), max_leaves=3),
    min_size=1,
    max_size=8,
    unique=True,
)


@given(LABELS, st.data())
def test_codes_and_labels_are_inverse(labels: list[Any], data: st.DataObject) -> None:
    alphabet = Alphabet.of(labels)
    assert len(alphabet) == len(labels)
    assert [alphabet.index(label) for label in labels] == list(range(len(labels)))
    values = data.draw(st.lists(st.sampled_from(labels), max_size=20))
    codes = alphabet.encode(values)
    assert [labels[code] for code in codes] == values
    assert list(alphabet.decode(codes)) == values


@given(LABELS)
def test_json_round_trip(labels: list[Any]) -> None:
    alphabet = Alphabet.of(labels)
    assert Alphabet.from_data(alphabet.to_data()) == alphabet
    points = Alphabet.of(labels, [Fraction(i, 7) for i in range(len(labels))])
    again = Alphabet.from_data(points.to_data())
    assert again == points
    assert again.coordinates == points.coordinates


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        (["a", "b"], np.array(["b", "a", "b"])),
        ([10, 20], np.array([20, 10, 20])),
        ([10, 20], np.array([20, 10, 20], dtype=np.uint8)),
        ([False, True], np.array([True, False, True])),
        ([0.5, 1.5], np.array([1.5, 0.5, 1.5])),
        (["a", 2], np.array([2, "a", 2], dtype=object)),
    ],
)
def test_arrays_are_encoded_like_lists(labels: list[Any], values: Any) -> None:
    alphabet = Alphabet.of(labels)
    assert alphabet.encode(values).tolist() == [1, 0, 1]
    assert alphabet.encode(values.tolist()).tolist() == [1, 0, 1]
    assert alphabet.encode(iter(values.tolist())).tolist() == [1, 0, 1]


def test_numpy_scalars_and_fractions_become_plain() -> None:
    alphabet = Alphabet.of([np.str_("a"), np.int64(3), Fraction(1, 2), (np.int8(1), "b")])
    assert alphabet.labels == ("a", 3, "1/2", (1, "b"))
    assert [type(label) for label in alphabet.labels] == [str, int, str, tuple]
    assert alphabet.index(Fraction(1, 2)) == 2
    assert alphabet.encode([Fraction(1, 2), np.int64(3)]).tolist() == [2, 1]


def test_decoding_keeps_the_natural_type() -> None:
    codes = np.array([1, 0])
    assert Alphabet.of([3, 4]).decode(codes).dtype.kind == "i"
    assert Alphabet.of(["a", "b"]).decode(codes).dtype.kind == "U"
    mixed = Alphabet.of([(1, 2), "b"]).decode(codes)
    assert mixed.dtype == object
    assert mixed.tolist() == ["b", (1, 2)]
    assert Alphabet.of([2**70, 1]).decode(codes).tolist() == [1, 2**70]


def test_membership_never_fails() -> None:
    alphabet = Alphabet.of(["a", 1])
    assert "a" in alphabet
    assert 1 in alphabet
    assert "b" not in alphabet
    assert [1] not in alphabet
    assert None not in alphabet


@pytest.mark.parametrize(
    ("labels", "word"),
    [
        ([], "has no symbols"),
        (["a", "b", "a"], "label given twice at position 3: 'a'"),
        ([1, True], "1 and True"),
        ([1, 1.0], "1 and True"),
        (["1/2", Fraction(1, 2)], "given twice"),
        ([float("nan")], "not a finite number"),
        ([float("inf")], "not a finite number"),
        ([None], "type NoneType"),
        ([[1]], "type list"),
        ([(1, None)], "type NoneType"),
        ([b"a"], "type bytes"),
    ],
)
def test_bad_labels_are_refused(labels: list[Any], word: str) -> None:
    with pytest.raises(LabelError, match=word) as caught:
        Alphabet.of(labels)
    assert "\n" not in str(caught.value)


def test_coordinates_are_exact_and_complete() -> None:
    scale = Alphabet.numbers(["0.1", "2/3", 4])
    assert scale.coordinates == (Fraction(1, 10), Fraction(2, 3), Fraction(4))
    assert scale != Alphabet.of(["0.1", "2/3", 4])
    with pytest.raises(LabelError, match="1 coordinates for 2 labels"):
        Alphabet.of("ab", [1])
    with pytest.raises(NumberError, match="coordinate"):
        Alphabet.numbers([0.1 + 0.2])


@pytest.mark.parametrize("value", ["z", 7, None, [1], float("nan"), Fraction(1, 3)])
def test_unknown_labels_are_refused_with_their_place(value: object) -> None:
    alphabet = Alphabet.of([f"label {i}" for i in range(20)])
    with pytest.raises(LabelError, match=r"unknown label.*; known labels are 'label 0'.*12 more"):
        alphabet.index(value)
    with pytest.raises(LabelError, match="unknown label at value 3"):
        alphabet.encode(["label 0", "label 1", value])


def test_unknown_values_of_an_array_are_refused_with_their_first_place() -> None:
    alphabet = Alphabet.of([1, 2])
    with pytest.raises(LabelError, match="unknown label at value 2: 9"):
        alphabet.encode(np.array([1, 9, 2, 9]))
    with pytest.raises(InputError, match="not a column"):
        alphabet.encode(np.array([[1, 2]]))


def test_reordering_needs_the_same_labels() -> None:
    first, second = Alphabet.of("abc"), Alphabet.of("cab")
    order = first.positions_in(second, whose="ours", other_name="theirs")
    assert [second.labels[i] for i in order] == ["a", "b", "c"]
    with pytest.raises(LabelError, match="ours has a label that theirs lacks: 'c'"):
        first.positions_in(Alphabet.of("ab"), whose="ours", other_name="theirs")
    with pytest.raises(LabelError, match="theirs has a label that ours lacks: 'd'"):
        first.positions_in(Alphabet.of("abcd"), whose="ours", other_name="theirs")


def test_pairs_change_the_second_first() -> None:
    assert Alphabet.of("ab").paired(Alphabet.of([1, 2])).labels == (
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    )


def test_files() -> None:
    assert label_to_json(("a", (1, 2))) == ["a", [1, 2]]
    bad: list[Any] = [None, "ab", {"labels": None}, {"coordinates": []}, 3]
    for data in bad:
        with pytest.raises(LabelError, match="labels are not a list"):
            Alphabet.from_data(data)
    with pytest.raises(LabelError, match="type dict"):
        Alphabet.from_data([{}])
