"""The rules of a column: which input a cell is, and that rules survive a file."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Alphabet
from liftlock.errors import CellError, FileError, InputError
from liftlock.model.columns import KEPT, PLAIN, CellReader, ColumnEncoding, spellings_of

LABELS = st.text(max_size=5) | st.integers(-9, 9)
CODES = st.builds(
    ColumnEncoding,
    name=st.text(max_size=5),
    missing=st.none() | LABELS,
    spelled=st.lists(st.text(min_size=1, max_size=3), max_size=2).map(tuple),
    other=LABELS,
    merged=st.lists(LABELS, max_size=3).map(tuple),
    unseen=st.sampled_from(["refuse", "map"]),
)


def reader(labels: list[Any], **rules: Any) -> CellReader:
    return CellReader(ColumnEncoding("job", **rules), Alphabet.of(labels))


@given(CODES)
def test_rules_survive_a_file(code: ColumnEncoding) -> None:
    assert ColumnEncoding.from_data(json.loads(json.dumps(code.to_data()))) == code
    cut = ColumnEncoding("age", keeps_missing=True, edges=(0.1, 1.5, 1e300), bins=("low", "high"))
    assert ColumnEncoding.from_data(json.loads(json.dumps(cut.to_data()))) == cut


@given(st.lists(st.text(max_size=4) | st.integers(-99, 99), min_size=1, max_size=6, unique=True))
def test_every_label_is_its_own_input(labels: list[Any]) -> None:
    """Also an empty text, one with blanks around it, and 1 beside "1"."""
    read = CellReader(PLAIN.columns[0], Alphabet.of(labels))
    assert [read.index(label) for label in labels] == list(range(len(labels)))


@pytest.mark.parametrize(
    ("labels", "cell", "place"),
    [
        (["cook", "nurse"], " nurse ", 1),
        ([1, 2], "2", 1),
        ([1, 2], 2.0, 1),
        (["1", "2"], 2, 1),
        (["1", "2"], 2.0, 1),
        ([0.5, 1.5], "1.5", 1),
        ([False, True], True, 1),
        ([False, True], "True", 1),
    ],
)
def test_cells_that_are_written_the_same(labels: list[Any], cell: Any, place: int) -> None:
    assert reader(labels).index(cell) == place


@pytest.mark.parametrize(
    ("labels", "cell"),
    [
        ([0, 1], True),  # which equals 1
        ([False, True], 1),
        ([1, 2], 1.5),
        (["1", "2"], 1.5),
        (["cook"], "Cook"),
        (["cook"], b"cook"),
        ([1], ["1"]),
    ],
)
def test_cells_that_are_something_else(labels: list[Any], cell: Any) -> None:
    with pytest.raises(
        CellError, match="not an input of the mechanism at row 8, column 'job'"
    ) as refusal:
        reader(labels).index(cell, 7)
    assert (refusal.value.row, refusal.value.column, refusal.value.value) == (7, "job", cell)


@pytest.mark.parametrize("cell", [None, math.nan, "", "  ", "?", " ? "])
def test_missing_cells(cell: Any) -> None:
    assert reader(["a", "-"], missing="-", spelled=("?",)).index(cell) == 1
    assert reader(["a"], keeps_missing=True, spelled=("?",)).index(cell) == KEPT
    with pytest.raises(CellError, match="missing value at row 3, column 'job'"):
        reader(["a"], spelled=("?",)).index(cell, 2)


def test_what_is_an_input_is_not_missing() -> None:
    assert reader(["", "?"], missing="?", spelled=("?",)).index("") == 0
    assert reader(["a", "?"], keeps_missing=True, spelled=("?",)).index("?") == 1


def test_merged_and_unseen_values() -> None:
    merging = reader(["a", "rest"], other="rest", merged=("cook", 7))
    assert [merging.index(cell) for cell in ("a", "cook", " cook", 7, 7.0, "7")] == [0, *[1] * 5]
    with pytest.raises(CellError, match="--unseen map makes it 'rest'"):
        merging.index("pilot")
    assert reader(["a", "rest"], other="rest", unseen="map").index("pilot") == 1
    with pytest.raises(CellError, match="its inputs are 0, 1, 2, 3, 4, 5 and 3 more"):
        reader(list(range(9))).index("pilot")


def test_numbers_find_their_cells() -> None:
    cut = reader(["b", "a", "c"], edges=(0.0, 10.0, 20.0, 30.0), bins=("a", "b", "c"))
    cells: list[Any] = [-5, 0, 9.99, "10", 19, 20.0, 30, 1e9]
    assert [cut.index(cell) for cell in cells] == [1, 1, 1, 0, 0, 2, 2, 2]
    for cell in ("ten", True, math.inf, "nan", [1]):
        with pytest.raises(CellError, match="not a number at row 2"):
            cut.index(cell, 1)


def test_texts() -> None:
    assert spellings_of(3.0) == ("3.0", "3")
    assert spellings_of(3.5) == ("3.5",)
    assert spellings_of(math.inf) == ("inf",)
    assert spellings_of(" a ") == ("a",)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"unseen": "drop"}, "unknown policy for unseen values"),
        ({"unseen": "map"}, "no input for unseen or merged values"),
        ({"merged": ("a",)}, "no input for unseen or merged values"),
        ({"missing": "-", "keeps_missing": True}, "an input, or kept, not both"),
        ({"edges": (0.0, 1.0), "bins": ("a", "b")}, "2 edges for 2 bins"),
        ({"edges": (0.0, 1.0, 1.0), "bins": ("a", "b")}, "do not ascend"),
        ({"edges": (0.0, math.nan, 1.0), "bins": ("a", "b")}, "do not ascend"),
    ],
)
def test_rules_that_contradict_themselves(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ColumnEncoding(**rules)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "not an object"),
        ({"name": "x", "colour": 1}, "unknown rule of a column: 'colour'"),
        ({"name": "x", "merged": "a"}, "merged of a column is not a list"),
        ({"name": "x", "keeps_missing": "yes"}, "is not true or false"),
    ],
)
def test_files_that_are_refused(data: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        ColumnEncoding.from_data(data)
