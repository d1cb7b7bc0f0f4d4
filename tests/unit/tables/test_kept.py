"""Columns that stay beside a released one: what goes, what is refused, and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import liftlock.tables
from liftlock import LIP, Alphabet, Draft, Joint, Mechanism, lock
from liftlock.errors import InputError
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.tables.formats.frame import FrameAdapter, FrameSource
from liftlock.tables.kept import NameCounter, choose_columns, label_of_cell, labels_by_spelling
from liftlock.tables.randomiser import ColumnRandomiser


def named(labels: list[Any], cells: pa.Array) -> tuple[int, int]:
    tally = NameCounter(("c",), (Alphabet.of(labels),))
    for start in range(0, max(len(cells), 1), 3):
        tally.add(pa.record_batch([cells[start : start + 3]], ["c"]))
    _, found, filled = tally.found("c")
    return found, filled


@pytest.mark.parametrize(
    ("labels", "cells", "found"),
    [
        (["Ann", "Bob"], pa.array([" ann", "BOB\t", "Carl", "", None, "  "]), (2, 3)),
        ([1, 2], pa.array([1.0, 2.0, 3.5, None, float("nan")]), (2, 3)),
        (["1", "2"], pa.array([1, 2, 3]), (2, 3)),
        ([1, 2], pa.array(["1.0", "2.000", "1.5", "-1"]), (2, 4)),
        ([1, 2], pa.array(["01", "+2", "-1", "0", "10"]), (2, 5)),
        ([0, 10], pa.array(["0", "00", "10.0", "100", "1"]), (3, 5)),
        ([1.0], pa.array(["1"]), (1, 1)),
        (["1.5", 2.25], pa.array(["1.50", "2.2500", "1.05", "15"]), (2, 4)),
        (["1.50"], pa.array([Decimal("1.5"), Decimal("2.0")]), (1, 2)),
        ([True, False], pa.array([True, None, False]), (2, 2)),
        (["True", "False"], pa.array(["true", "FALSE", "1", "0", "2"]), (4, 5)),
        ([0, 1], pa.array([True, False, None]), (2, 2)),
        (["yes"], pa.array(["YES", "no"]).dictionary_encode(), (1, 2)),
        (["straße"], pa.array(["STRASSE", "Straße", "strasse"]), (3, 3)),
        (["ΝΟΜΟΣ"], pa.array(["νομος", "Νομος"]), (2, 2)),
        (["caf\u00e9"], pa.array(["cafe\u0301", "cafe"]), (1, 2)),
        (["2024-02-29"], pa.array([19782], pa.date32()), (1, 1)),
        (["2024-02-29"], pa.array([datetime(2024, 2, 29), datetime(2024, 2, 29, 1)]), (1, 2)),
        (["a"], pa.array([b"A", b"\xff"]), (0, 0)),
        (["one"], pa.array([1.0, None, float("nan"), 2.5]), (0, 2)),
        (["a"], pa.array([["a"], ["a"]]), (0, 0)),
        (["a"], pa.array([], pa.string()), (0, 0)),
    ],
)
def test_what_names_a_label(labels: list[Any], cells: pa.Array, found: tuple[int, int]) -> None:
    assert named(labels, cells) == found
    if not pa.types.is_nested(cells.type) and not pa.types.is_binary(cells.type):
        known = labels_by_spelling(Alphabet.of(labels))
        assert sum(label_of_cell(cell, known)[1] for cell in cells.to_pylist()) == found[0]


def test_labels_that_differ_only_in_their_spelling_stay_apart() -> None:
    labels = ["A", "a", 1, "1.0", "true"]
    known = labels_by_spelling(Alphabet.of(labels))
    assert [label_of_cell(f" {label} ", known) for label in labels] == [(x, True) for x in labels]


# --- frames ---------------------------------------------------------------------------------------


def truthful(rules: TableEncoding | None = None) -> Mechanism:
    """A mechanism that tells the value, which is independent of the secret."""
    joint = Joint.from_counts({"ill": {"a": 1, "b": 1}, "well": {"a": 1, "b": 1}})
    made = lock(Draft.of([*"ab"], [*"ab"], [[1, 0], [0, 1]]), LIP("0.1"), joint)
    return replace(made, encoding=rules)


ROWS = {
    "health": ["ill", "Well ", "ill", "well"] * 5,
    "x": [*"abba"] * 5,
    "copied": ["ILL", "well", "ill", "WELL"] * 5,
    "k": [*range(20)],
}
PLAIN = TableEncoding((ColumnEncoding("x"),))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_do_not_keep_a_column_of_the_secrets(make: Any) -> None:
    frame = make(ROWS)
    with pytest.raises(InputError, match="columns 'health', 'copied' have the values of the se"):
        liftlock.tables.release(frame, truthful(PLAIN))
    with pytest.raises(InputError, match="column 'copied' has the values"):
        liftlock.tables.release(frame, truthful(PLAIN), drop=["health"])
    safe = liftlock.tables.release(frame, truthful(PLAIN), drop=["health"], keep=["copied"])
    assert list(getattr(safe, "column_names", safe.columns)) == ["x", "copied", "k"]


def test_a_secret_known_by_its_name_and_values_goes_and_its_copies_are_refused() -> None:
    rules = TableEncoding((ColumnEncoding("x", secret="health"),), dropped=("k", "not there"))
    frame = pd.DataFrame(ROWS)
    with pytest.raises(InputError, match="'copied' determines the secret 'health'"):
        liftlock.tables.release(frame, truthful(rules))
    safe = liftlock.tables.release(frame.drop(columns="copied"), truthful(rules))
    assert list(safe.columns) == ["x"]
    kept = liftlock.tables.release(frame.drop(columns="copied"), truthful(rules), keep=["k"])
    assert list(kept.columns) == ["x", "k"]


def test_a_secret_that_is_kept_on_purpose_is_named() -> None:
    rows = FrameSource.of(FrameAdapter.of(pd.DataFrame(ROWS).drop(columns="copied")))
    rules = TableEncoding((ColumnEncoding("x", secret="health"),))
    known, unknown = (
        choose_columns(rows, ColumnRandomiser(made, names=("x",)), keep=["health"]).notes
        for made in (truthful(rules), truthful(PLAIN))
    )
    assert (
        "the secret 'health' itself is in the output, kept on purpose (--keep): whoever sees a row "
        "knows it, whatever is guaranteed"
    ) in known
    assert (
        "'health' is in the output, kept on purpose (--keep), and has the values of the secret: if "
        "it holds the secret, whoever sees a row knows it, whatever is guaranteed"
    ) in unknown
    worker = ColumnRandomiser(truthful(rules), names=("x",))
    assert not any("itself" in note for note in choose_columns(rows, worker).notes)


def test_a_level_of_an_index_is_a_column_too() -> None:
    frame = pd.DataFrame(ROWS).drop(columns="copied").set_index(["health", "k"])
    with pytest.raises(InputError, match="column 'health' has the values of the secret"):
        liftlock.tables.release(frame, truthful(PLAIN))
    safe = liftlock.tables.release(frame, truthful(PLAIN), drop=["health"])
    assert safe.index.names == ["k"]
    assert safe["x"].tolist() == ROWS["x"]


def test_a_column_that_arrow_does_not_take_is_read_by_its_text() -> None:
    odd = pd.DataFrame({"x": ROWS["x"], "odd": [1, "ill", "well", "ill", "well"] * 4})
    assert list(liftlock.tables.release(odd, truthful(PLAIN))["odd"]) == list(odd["odd"])
    telling = odd.assign(odd=["ill", "well", "ill", "well", "ill"] * 3 + [1, *["well"] * 4])
    with pytest.raises(InputError, match=r"'odd' \(in 19 of 20 cells\) has the values"):
        liftlock.tables.release(telling, truthful(PLAIN))


def test_an_empty_column_under_the_name_of_the_secret_proves_nothing() -> None:
    rules = TableEncoding((ColumnEncoding("x", secret="health"),))
    frame = pa.table({"health": pa.nulls(20, pa.string()), "x": ROWS["x"], "state": ROWS["health"]})
    with pytest.raises(InputError, match="column 'state' has the values of the secret"):
        liftlock.tables.release(frame, truthful(rules))
    assert liftlock.tables.release(frame, truthful(rules), drop=["state"]).column_names == ["x"]


def test_no_rows_tell_nothing() -> None:
    frame = pa.table({"x": pa.array([], pa.string()), "health": pa.array([], pa.string())})
    assert liftlock.tables.release(frame, truthful(PLAIN)).num_rows == 0


def test_what_is_not_looked_at_is_named() -> None:
    """A secret may be within a structure."""
    table = pa.table({"x": ["a", "b"], "who": [{"hiv": "ill"}, {"hiv": "well"}]})
    rows = FrameSource.of(FrameAdapter.of(table))
    found = choose_columns(rows, ColumnRandomiser(truthful(), names=("x",)))
    assert found.dropped == ()
    assert found.notes == (
        "'who': lists or structures, which are not looked at: make sure that none holds the secret",
    )
    assert (
        choose_columns(rows, ColumnRandomiser(truthful(), names=("x",)), keep=["who"]).notes == ()
    )
