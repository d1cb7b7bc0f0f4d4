"""Measurements and witnesses; the exact maximum that floats only screen."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Prior
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import Measurement, Witness
from liftlock.notions.measurement import exact_maximum, number_to_json, screening_error

VALUES = st.lists(
    st.one_of(st.fractions(-3, 3), st.sampled_from([Fraction(1), 1 + Fraction(1, 10**30)])),
    min_size=1,
    max_size=20,
)


@given(VALUES, st.sampled_from([0.0, 1e-15, 0.1, 5.0, math.inf]), st.data())
def test_the_maximum_is_exact_whatever_the_floats_say(
    values: list[Fraction], error: float, data: st.DataObject
) -> None:
    noise = st.floats(-1, 1)
    bound = min(error, 10.0)
    estimates = np.array([float(v) + bound * data.draw(noise) for v in values])
    slack = error + 1e-15 * 4
    looked: list[int] = []

    def evaluate(index: int) -> Fraction:
        looked.append(index)
        return values[index]

    found, index = exact_maximum(estimates, slack, evaluate)
    assert found == max(values)
    assert values[index] == found
    assert len(looked) == len(set(looked))
    if error == math.inf:
        assert sorted(looked) == list(range(len(values)))


@given(VALUES, st.data())
def test_the_enclosure_of_the_maximum_covers_near_ties(
    values: list[Fraction], data: st.DataObject
) -> None:
    # Which of two close values is larger may stay open, but the larger must not be cut off.
    widths = st.fractions(0, Fraction(1, 100), max_denominator=1000)
    enclosures = [Enclosure(v - data.draw(widths), v + data.draw(widths)) for v in values]
    found, index = exact_maximum(np.array(values, float), 0.02, lambda i: enclosures[i])
    assert found.upper is not None
    assert found.lower <= max(values) <= found.upper
    assert found.lower == max(item.lower for item in enclosures)
    assert enclosures[index].lower == found.lower


def test_a_wide_enclosure_with_a_lower_start_is_not_forgotten() -> None:
    sharp = Enclosure(Fraction(1), Fraction(1))
    wide = Enclosure(Fraction(9, 10), Fraction(11, 10))
    for order in ([sharp, wide], [wide, sharp]):
        found, index = exact_maximum(np.array([1.0, 1.0]), 0.2, lambda i, o=order: o[i])  # type: ignore[misc]
        assert found == Enclosure(Fraction(1), Fraction(11, 10))
        assert order[index] is sharp


def test_the_first_of_equal_estimates_wins() -> None:
    found, index = exact_maximum(np.array([1.0, 2.0, 2.0]), 1e-9, lambda i: Fraction(min(i, 1)))
    assert (found, index) == (Fraction(1), 1)


def test_values_beyond_floats() -> None:
    huge = [Fraction(10) ** 400, Fraction(10) ** 400 + 1]
    found, index = exact_maximum(np.zeros(2), math.inf, lambda i: huge[i])
    assert (found, index) == (huge[1], 1)


def test_only_close_ones_are_evaluated() -> None:
    looked: list[int] = []

    def evaluate(index: int) -> Fraction:
        looked.append(index)
        return Fraction(index)

    exact_maximum(np.arange(100.0), 0.4, evaluate)
    assert looked == [99]


@given(st.integers(1, 300), st.integers(0, 2**32))
def test_the_screening_error_covers_a_dot_product(terms: int, seed: int) -> None:
    source = np.random.default_rng(seed)
    a, b = source.random(terms), source.random(terms)
    true = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True))
    assert abs(Fraction(float(a @ b)) - true) <= Fraction(screening_error(terms)) * true


# --- words and files ----------------------------------------------------------------------------


def test_witnesses_name_what_there_is() -> None:
    prior = Prior.uniform("ab")
    full = Witness("s", ("y", 1), "t", ("a", "b"), ("u",), prior)
    assert str(full) == (
        'secret "s", against "t", secrets "a", "b", output (\'y\', 1), outputs "u", '
        "prior: a 0.5, b 0.5"
    )
    assert full.to_data() == {
        "secret": "s",
        "other": "t",
        "output": ["y", 1],
        "secrets": ["a", "b"],
        "outputs": ["u"],
        "prior": prior.to_data(),
    }
    assert str(Witness()) == ""
    assert Witness().to_data() == {}
    assert str(Witness(outputs=tuple(range(9)))) == "outputs 0, 1, 2, 3 and 5 more"
    assert str(Witness(secret=0, output=False)) == "secret 0, output False"


def test_readings_of_ratios() -> None:
    two = Measurement.of_ratio("lip", Fraction(2), Witness(secret="s"))
    assert str(two) == 'lip 0.693147 nats (secret "s")'
    assert float(two) == pytest.approx(math.log(2), abs=1e-15)
    data = json.loads(json.dumps(two.to_data()))
    assert data["ratio"] == "2"
    assert data["unit"] == "nats"
    assert data["witness"] == {"secret": "s"}
    assert Fraction(data["enclosure"][0]) <= Fraction(data["enclosure"][1])
    endless = Measurement.of_ratio("lip", None, None)
    assert str(endless) == "lip inf nats"
    assert endless.to_data() == {"value": "inf", "unit": "nats"}


def test_numbers_for_files_are_valid_json() -> None:
    assert number_to_json(Enclosure.of(Fraction(1, 2))) == 0.5
    assert number_to_json(Enclosure.infinity()) == "inf"
    assert number_to_json(Enclosure.of(10**400)) == "inf"
    assert number_to_json(Enclosure.of(Fraction(1, 10**400))) == 0.0


def test_exact_values_of_any_length_are_written() -> None:
    value = Fraction(3**20_000, 2**30_000)
    data = Measurement("chi2", Enclosure.of(value), "", value).to_data()
    assert data["ratio"] == data["enclosure"][0]
    assert len(data["ratio"]) > 15_000
