"""Answers become values: numbers their bin, places their rectangle, and nothing else is lost."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock.collect.survey import Question, Survey, SurveyError
from liftlock.collect.survey.values import Grid, Range, read_values
from liftlock.errors import FileError, LabelError
from liftlock.model import Prior
from liftlock.tables.cells import CellEncoder


def question(**keys: Any) -> Question:
    return Question.from_data({"name": "q", "ask": "What?", "guarantee": "lip=1"} | keys)


def refusal(**keys: Any) -> str:
    with pytest.raises(SurveyError) as caught:
        question(**keys)
    return str(caught.value)


@given(st.fractions(-20, 20), st.integers(2, 40))
def test_a_number_is_in_its_bin(number: Fraction, bins: int) -> None:
    numbers = Range(Fraction(-10), Fraction(10), bins)
    place = numbers.values.labels.index(numbers.encode(number))
    low, high = numbers.ends[place : place + 2]
    assert (low <= number < high) or (place == 0 and number < low) or place == bins - 1
    assert numbers.values.coordinates is not None
    middle = numbers.values.coordinates[place]
    if -10 <= number <= 10:
        assert abs(middle - number) <= numbers.width / 2


def test_columns_of_numbers_are_read_as_single_ones() -> None:
    import pyarrow as pa

    numbers = Range(Fraction(0), Fraction(12), 5)
    given = [-3.0, 0.0, 2.4, 5.0, 11.99, 12.0, 40.0]
    (code,) = numbers.encoding("sleep").columns
    places = CellEncoder(code, numbers.values).codes(pa.array(given))
    assert [numbers.values.labels[place] for place in places] == list(map(numbers.encode, given))


@given(st.fractions(-2, 8), st.fractions(-2, 5))
def test_a_place_is_in_its_rectangle(x: Fraction, y: Fraction) -> None:
    grid = Grid((Fraction(0), Fraction(6)), (Fraction(0), Fraction(3)), 4, 2)
    found = grid.encode([x, y])
    assert isinstance(found, tuple)
    column, row = (int(str(part)) for part in found)
    centre = Fraction(3, 2) * column + Fraction(3, 4), Fraction(3, 2) * row + Fraction(3, 4)
    near = [min(max(at, Fraction(0)), most) for at, most in ((x, Fraction(6)), (y, Fraction(3)))]
    assert all(abs(at - middle) <= Fraction(3, 4) for at, middle in zip(near, centre, strict=True))
    assert (column, row) in grid.values.labels


def test_a_distribution_is_the_chance_of_each_bin() -> None:
    import scipy.stats

    told = question(range=[0, 100], bins=8, prior="normal(40, 20)")
    prior = told.populations[0].context
    assert isinstance(prior, Prior)
    below = scipy.stats.norm(40, 20).cdf(np.linspace(0, 100, 9)[1:-1])
    expected = np.diff([0, *below, 1])
    assert np.abs(prior.floats() - expected).max() < 1e-8


def test_kinds_follow_from_their_keys() -> None:
    assert question(values=["a", "b"]).kind == "choice"
    assert question(range=[0, 1], bins=2).kind == "number"
    grid = {"x": [0, 1], "y": [0, 1], "columns": 2, "rows": 1}
    assert question(grid=grid).kind == "place"
    profiles = {"a": {"x": 1, "y": 2}, "b": {"x": 2, "y": 1}}
    assert question(profiles=profiles, guarantee="profile=1").kind == "profile"


def test_numbers_among_values_can_be_added_up() -> None:
    assert read_values([1, "2.5", 4]).coordinates == (Fraction(1), Fraction(5, 2), Fraction(4))
    assert read_values([1, "two"]).coordinates is None
    assert question(values=[0, 1, 5], answer="mean").answer.of == "mean"
    assert "values that are not numbers" in refusal(values=["a", "b"], answer="mean")


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"values": ["a"]}, "1 value"),
        ({"values": ["a", "a"]}, "listed twice"),
        ({"values": [1, "1"]}, "listed twice"),
        ({"values": ["a", "b"], "prior": {"a": 1}}, "a value without a number"),
        ({"values": ["a", "b"], "prior": {"a": 1, "c": 1}}, "not one of the values"),
        ({"values": ["a", "b"], "prior": {"a": "0.5", "b": "0.4"}}, "or give counts"),
        ({"values": ["a", "b"], "intervals": {"a": [0, 1], "b": [1, 0]}}, "not an interval"),
        ({"values": ["a", "b"], "intervals": {"a": [0, "0.1"], "b": [0, "0.1"]}}, "no prior fits"),
        ({"values": ["a", "b"], "prior": {"a": 1, "b": 1}, "family": [{"a": 1, "b": 1}]},
         "prior and family at once"),
        ({"values": ["a", "b"], "groups": {"n": {"prior": [1, 2]}}}, "a single group"),
        ({"values": ["a", "b"], "groups": {"n": None, "s": {"wieght": 1}}}, "did you mean weight"),
        ({"values": [1, 2], "answer": "sum", "groups": {"n": None, "s": {"weight": 1}}},
         "a group without a weight"),
        ({"values": [1, 2], "groups": {"n": {"weight": 2}, "s": {"weight": 1}}},
         "weights are for sums and means"),
        ({"values": ["a", "b"], "guarantee": "profile=1"}, "a guarantee of another kind"),
        ({"values": ["a", "b"], "levels": {"a": "ldp=1", "b": "ldp=2"}}, "guarantee and levels"),
        ({"values": ["a", "b"], "bins": 4}, "a key that does not apply here"),
        ({"range": [1, 0], "bins": 4}, "do not ascend"),
        ({"range": [0, 1]}, "no bins"),
        ({"values": ["a", "b"], "method": "k-rr", "mechanism": "a.json"}, "at once"),
        ({"values": ["a", "b"], "smoothing": 1}, "smoothing without a prior"),
        ({"values": ["a", "b"], "confidence": "0.9", "prior": [1, 1]}, "without intervals"),
    ],
)  # fmt: skip
def test_mistakes(keys: dict[str, Any], told: str) -> None:
    assert told in refusal(**keys)


# --- panels ---------------------------------------------------------------------------------------


def panel(folder: Path, text: str, **keys: Any) -> Survey:
    (folder / "panel.csv").write_text(text, encoding="utf-8")
    one = {"name": "q", "ask": "?", "values": ["no", "yes"], "panel": "panel.csv"}
    data = {"survey": "s", "questions": [one | {"guarantee": "lip=1"} | keys]}
    return Survey.from_data(data, str(folder / "s.yaml"))


def test_distinct_priors_of_a_panel_are_told_apart_exactly(tmp_path: Path) -> None:
    rows = "person,yes,no\na,1,9\nb,0.1,0.9\nc,10%,90%\nd,5,5\n"
    found = panel(tmp_path, rows).questions[0]
    assert found.panel is not None
    assert found.panel.people == {"a": 0, "b": 0, "c": 0, "d": 1}
    assert [prior["yes"] for prior in found.panel.priors] == [Fraction(1, 10), Fraction(1, 2)]
    again = Survey.from_data(
        {"survey": "s", "questions": [found.content()]}, str(tmp_path / "s.yaml")
    )
    assert again.questions[0] == found


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("person,no,maybe\na,1,2\n", "the columns of a panel"),
        ("person,no,yes\na,1,2\na,2,1\n", "lines 2 and 3"),
        ("person,no,yes\n,1,2\n", "row without a label"),
        ("person,no,yes\na,1\n", "line 2"),
        ("person,no,yes\na,1,0\n", "a prior of 0"),
        ("person,no,yes\na,0.5,0.4\n", "do not sum to 1"),
        ("person,no,yes\n", "no rows below the header"),
    ],
)
def test_panels_that_are_refused(rows: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=told):
        panel(tmp_path, rows)


def test_what_a_panel_cannot_be_had_with(tmp_path: Path) -> None:
    rows = "person,no,yes\na,1,2\nb,2,1\n"
    for keys, told in (
        ({"guarantee": None, "levels": {"a": "lip=1", "b": "lip=2"}}, "levels for a panel"),
        ({"guarantee": "ldp=1"}, "priors of single people serve lip"),
        ({"groups": {"n": None, "s": None}}, "groups and panel at once"),
    ):
        with pytest.raises(SurveyError, match=told):
            panel(tmp_path, rows, **keys)


def test_labels_must_be_values() -> None:
    with pytest.raises(LabelError, match="the values are no, yes"):
        question(values=["no", "yes"]).encode("maybe")
