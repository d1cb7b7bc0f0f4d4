"""Arrow arrays in, private Arrow arrays out: each way to hold a column, and what it comes to."""

from __future__ import annotations

import datetime
import decimal
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from liftlock import (
    LDP,
    LIP,
    Draft,
    Joint,
    Mechanism,
    Prior,
    ProfileGraph,
    ProfilePrivacy,
    continuous,
    design,
    lock,
)
from liftlock.errors import CellError, InputError, NotDefined
from liftlock.model.columns import KEPT, ColumnEncoding, TableEncoding
from liftlock.tables.randomiser import ColumnRandomiser

DAY = datetime.date(2024, 2, 29)


def unchanged(
    labels: list[Any], outputs: list[Any] | None = None, **rules: Any
) -> tuple[ColumnRandomiser, Mechanism]:
    """A mechanism that gives each label itself, or another name of it: the secret is a coin."""
    inputs = Prior.uniform(labels).alphabet
    joint = Joint.from_rows(Prior.uniform(["s", "t"]).alphabet, inputs, [[1] * len(labels)] * 2)
    draft = Draft.of(labels, labels if outputs is None else outputs, np.eye(len(labels)))
    made = replace(
        lock(draft, LIP("1"), joint), encoding=TableEncoding((ColumnEncoding("x", **rules),))
    )
    return ColumnRandomiser(made), made


def column_of(
    labels: list[Any], outputs: list[Any] | None = None, **rules: Any
) -> ColumnRandomiser:
    return unchanged(labels, outputs, **rules)[0]


# --- types --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "cells", "kind"),
    [
        (["a", "b"], ["b", None, "a"], pa.string()),
        (["a", "b"], ["b", None, "a"], pa.large_string()),
        (["a", "b"], ["b", None, "a"], pa.string_view()),
        ([1, 2], ["2", None, "1"], pa.string()),
        (["1", "2"], [2, None, 1], pa.int64()),
        ([1, 2], [2, None, 1], pa.uint8()),
        ([1, 2], [2.0, None, 1.0], pa.float32()),
        ([1, 2], [decimal.Decimal("2.00"), None], pa.decimal128(5, 2)),
        (["1.50"], [decimal.Decimal("1.50"), None], pa.decimal128(5, 2)),
        ([0.5, 2.5], [2.5, None, 0.5], pa.float64()),
        ([True, False], [True, None, False], pa.bool_()),
        ([True, False], ["True", None, "False"], pa.string()),
        (["2024-02-29"], [DAY, None], pa.date32()),
        (["2024-02-29"], [DAY, None], pa.date64()),
        (["2024-02-29 10:30:00"], [datetime.datetime(2024, 2, 29, 10, 30)], pa.timestamp("us")),
        (["10:30:00"], [datetime.time(10, 30), None], pa.time32("s")),
        (["a"], [None, None], pa.null()),
    ],
    ids=str,
)
def test_cells_come_back_as_they_were(labels: list[Any], cells: list[Any], kind: Any) -> None:
    """A mechanism that changes nothing shows what reading and writing do by themselves."""
    column = column_of(labels, keeps_missing=True)
    given = pa.array(cells, type=kind)
    after = column.release([given])[0]
    assert after.type == column.released_types([kind])[0]
    if pa.types.is_time(kind):  # which Arrow does not read from text
        assert after.to_pylist() == [None if cell is None else str(cell) for cell in cells]
    else:
        assert after.to_pylist() == given.to_pylist()
        assert after.type == (pa.string() if pa.types.is_null(kind) else kind)
    told = [cell for cell in cells if cell is not None]
    assert column.count_reports([after]).reports == len(told)
    # A slice begins in the middle of the buffers.
    assert column.release([given[1:]])[0].to_pylist() == after[1:].to_pylist()


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64()])
@pytest.mark.parametrize("values", [pa.string(), pa.large_string()])
def test_dictionaries(index: Any, values: Any) -> None:
    kind = pa.dictionary(index, values)
    entries = pa.array(["unused and unknown", "b", None, "a"], values)
    cells = pa.DictionaryArray.from_arrays(pa.array([1, None, 3, 2, 1], index), entries)
    after = column_of(["a", "b"], keeps_missing=True).release([cells])[0]
    assert after.type == kind
    assert after.to_pylist() == ["b", None, "a", None, "b"]
    chunks = pa.chunked_array([cells, cells[2:]])
    again = column_of(["a", "b"], keeps_missing=True).release([chunks])[0]
    assert again.to_pylist() == ["b", None, "a", None, "b", "a", None, "b"]


def test_a_dictionary_that_fills_its_indices() -> None:
    """128 entries leave no number of 8 bits for a missing cell."""
    labels = [f"v{at}" for at in range(128)]
    cells = pa.DictionaryArray.from_arrays(pa.array([127, None, 0], pa.int8()), labels)
    column = column_of(labels, keeps_missing=True)
    assert column.inputs([cells]).tolist() == [127, KEPT, 0]
    after = column.release([cells])[0]
    assert after.type == cells.type
    assert after.to_pylist() == ["v127", None, "v0"]
    assert column.count_reports([cells]).counts == (1, *[0] * 126, 1)
    many = [f"v{at}" for at in range(300)]
    wide = column_of(many).release([pa.array(["v299"]).dictionary_encode().cast(cells.type)])[0]
    assert wide.type == pa.dictionary(pa.int32(), pa.string())
    assert wide.to_pylist() == ["v299"]


def test_other_ways_to_hold_text() -> None:
    column = column_of(["a", "b"])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"]))
    assert column.release([runs])[0].to_pylist() == ["a", "a", "b"]
    assert column.release([pa.array([b"a", b"b"])])[0].to_pylist() == ["a", "b"]
    with pytest.raises(
        InputError, match="the column holds bytes that are not valid UTF-8: 'binary'"
    ):
        column.release([pa.array([b"\xff"])])[0]
    with pytest.raises(InputError, match="the column holds lists or structs"):
        column.release([pa.array([["a"]])])[0]


def test_outputs_that_do_not_fit() -> None:
    words = column_of([1, 2], ["low", "high"])
    assert words.release([pa.array([2, 1], pa.int8())])[0].to_pylist() == ["high", "low"]
    large = column_of([1, 2], [1, 1000])
    assert large.release([pa.array([2, 1], pa.int8())])[0] == pa.array([1000, 1], pa.int64())
    halves = column_of([1, 2], [1, 2.5])
    assert halves.release([pa.array([2, 1])])[0] == pa.array([2.5, 1.0])
    mixed = column_of([1, 2], [1, "more"])
    assert mixed.release([pa.array([2, 1])])[0].to_pylist() == ["more", "1"]


# --- rules --------------------------------------------------------------------------------------


def test_missing_cells_as_a_category() -> None:
    column = column_of(["a", "none"], missing="none", spelled=("?",))
    cells = pa.array(["a", None, "", "?", "none"])
    assert column.inputs([cells]).tolist() == [0, 1, 1, 1, 1]
    after = column.release([cells])[0]
    assert after.to_pylist() == ["a", None, None, None, None]
    assert column.count_reports([after]).counts == (1, 4)
    numbers = column_of([1, 2, "none"], missing="none")
    assert numbers.release([pa.array([2, None, 1], pa.int16())])[0] == pa.array(
        [2, None, 1], pa.int16()
    )
    assert numbers.inputs([pa.array([1.0, float("nan")])]).tolist() == [0, 2]


def test_an_empty_text_can_be_an_input() -> None:
    column = column_of(["", " a"], keeps_missing=True)
    cells = pa.array([" a", "", None])
    assert column.inputs([cells]).tolist() == [1, 0, KEPT]
    assert column.release([cells])[0].to_pylist() == [" a", "", None]
    assert column.count_reports([cells]).counts == (1, 1)


def test_another_policy_for_unseen_values() -> None:
    _, made = unchanged(["a", "rest"], other="rest")
    assert ColumnRandomiser(made, "map").inputs([pa.array(["z", "a"])]).tolist() == [1, 0]
    with pytest.raises(CellError, match="not an input of the mechanism at row 2, column 'x': 'z'"):
        ColumnRandomiser(made).inputs([pa.array(["a", "z", "y"])])
    with pytest.raises(InputError, match="has no input for unseen values"):
        ColumnRandomiser(unchanged(["a", "b"])[1], "map").inputs([pa.array(["z"])])


def test_numbers_in_cells() -> None:
    column = column_of(
        ["low", "high", "none"], missing="none", edges=(0.0, 10.0, 20.0), bins=("low", "high")
    )
    texts = pa.array(["3", " 10 ", None, "", "25"])
    for cells in (texts, texts.dictionary_encode(), pa.array([3, 10, None, None, 25])):
        assert column.inputs([cells]).tolist() == [0, 1, 2, 2, 1]
    exact = pa.array([decimal.Decimal("9.99"), None])
    assert column.inputs([exact]).tolist() == [0, 2]
    for wrong in (["3", "ten"], ["3", "1_0"], ["3", "inf"], [1.0, float("-inf")]):
        with pytest.raises(CellError, match=r"not a (finite )?number at row 2, column 'x'"):
            column.inputs([pa.array(wrong)])
    with pytest.raises(CellError, match="not a number at row 1"):
        column.inputs([pa.array([True])])


# --- reports ------------------------------------------------------------------------------------


def test_reports_by_text_and_by_number() -> None:
    column = column_of([1, 2, 10])
    for cells in ([1, 2, 2], ["1", " 2", "2.0"], [1.0, 2.0, 2.0], [decimal.Decimal("1.0"), 2, 2]):
        assert column.count_reports([pa.array(cells)]).counts == (1, 2, 0)
    assert column_of(["1", "2"]).count_reports([pa.array([1.0, 2.0])]).counts == (1, 1)
    for wrong in ([True], [3], [2**53 + 1], ["one"], [None]):
        with pytest.raises(CellError, match="not an output of the mechanism at row 1, column 'x'"):
            column.count_reports([pa.array(wrong)])


def test_large_numbers_are_not_taken_for_their_neighbours() -> None:
    column = column_of([2**53, 2**53 + 2])
    with pytest.raises(CellError, match="not an output"):
        column.count_reports([pa.array([2**53 + 1])])


def test_outputs_that_are_written_alike_are_not_counted() -> None:
    column = column_of(["a", "b"], [1, "1"])
    assert column.release([pa.array(["a", "b"])])[0].to_pylist() == ["1", "1"]
    with pytest.raises(InputError, match="two outputs have the same text: '1'"):
        column.count_reports([pa.array(["1"])])


def test_kept_cells_are_no_reports() -> None:
    column = column_of(["a", "b"], keeps_missing=True)
    cells = pa.array([None, "b", "a", None, "b"])
    found = column.count_reports([cells], weights=[100, 2, 3, 100, 4], offsets=[100, 1, 1, 100, 1])
    assert (found.counts, found.reports) == ((1, 2), 3)
    assert found.weights is not None
    assert [int(each) for each in found.weights.sums] == [3, 6]
    assert found.weights.offset == 3
    assert column.count_reports([pa.array([None, None], pa.string())]).reports == 0
    with pytest.raises(InputError, match="weights of shape"):
        column.count_reports([cells], weights=[1, 2])


@pytest.mark.parametrize("method", ["oue", "hashing"])
def test_encodings(method: str) -> None:
    made = design(Prior.uniform([f"v{at}" for at in range(12)]), LDP("2"), method=method)
    made = replace(made, encoding=TableEncoding((ColumnEncoding("x", keeps_missing=True),)))
    column = ColumnRandomiser(made)
    cells = pa.array(["v3", None, "v11"] * 20)
    after = column.release([cells])[0]
    assert after.null_count == 20
    raw = [cell for cell in after.to_pylist() if cell is not None]
    wanted = made.aggregate(np.array([list(report) for report in raw], dtype=np.uint8))
    loose = pa.array(after.to_pylist(), pa.binary())
    digits = pa.array([None if cell is None else cell.hex() for cell in after.to_pylist()])
    for reports in (after, loose, digits, loose.cast(pa.large_binary()), after.drop_null()):
        assert column.count_reports([reports]) == wanted
    assert column.count_reports([pa.concat_arrays([after.drop_null()])[5:]]).reports == 35
    for wrong in ([b"\x00" * 99], ["zz"], [7]):
        with pytest.raises(CellError, match="row 1, column 'x'"):
            column.count_reports([pa.array(wrong)])


def test_numbers_on_a_grid_are_counted_like_the_mechanism_counts_them() -> None:
    made = design(
        continuous.normal(0, 1, domain=(-4, 4)), LIP("1"), method="quantile-blocks", bins=8
    )
    column = ColumnRandomiser(made)
    cells = np.linspace(-5, 5, 50)
    after = column.release([pa.array(cells)])[0]
    assert after.type == pa.float64()
    assert column.count_reports([after]) == made.aggregate(after.to_numpy())
    assert column.count_reports(
        [pa.array([str(x) for x in after.to_pylist()])]
    ) == column.count_reports([after])
    with pytest.raises(CellError, match="missing value at row 2"):
        column.release([pa.array([0.5, float("nan")])])[0]


def test_noise_has_the_law_of_the_table() -> None:
    """False-alarm rate below 1e-8: 6 exp(-2 n d^2), Hoeffding's bound for n = 100,000 reports."""
    made = design(Prior.from_counts({"a": 7, "b": 2, "c": 1}), LIP("1"), method="safe-response")
    column = ColumnRandomiser(made)
    cells = pa.array(["c"] * 100_000)
    first = column.release([cells])[0]
    shares = np.array(column.count_reports([first]).counts) / len(cells)
    assert np.abs(shares - made.table.floats()[2]).max() < 0.0101
    assert not column.release([cells])[0].equals(first)


def test_profiles_are_counted_and_not_released() -> None:
    made = design(ProfileGraph.bernoulli(["0.2", "0.4"]), ProfilePrivacy("1"))
    column = ColumnRandomiser(made)
    with pytest.raises(NotDefined, match="liftlock release --profile-column"):
        column.release([pa.array([0, 1])])[0]
    with pytest.raises(NotDefined, match="liftlock release --profile-column"):
        column.released_types([pa.int64()])[0]
    assert sum(column.count_reports([pa.array([0, 1, 1])]).counts) == 3
