"""`ll.protect`: a frame in, a safe one of the same kind out, with what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import liftlock as ll
import liftlock.tables
from liftlock import Mechanism
from liftlock.errors import InputError
from liftlock.tables.example import HEADER, people

ROWS = people(1_000)
FRAME = pd.DataFrame(ROWS, columns=list(HEADER)).astype({"schooling": int, "pay": float})
FRAME.index = pd.Index([f"p{row}" for row in range(len(FRAME))], name="who")


def kinds() -> list[Any]:
    plain = FRAME.reset_index(drop=True)
    return [FRAME, pl.from_pandas(plain), pa.Table.from_pandas(plain, preserve_index=False)]


@pytest.mark.parametrize("frame", kinds(), ids=["pandas", "polars", "pyarrow"])
def test_the_same_kind_comes_back_without_the_secret(frame: Any) -> None:
    done = ll.protect(frame, "job", ll.LIP("0.5"), secret="household", drop=["pay"])
    assert type(done.frame) is type(frame)
    as_pandas = done.frame if isinstance(frame, pd.DataFrame) else pa.table(done.frame).to_pandas()
    assert list(as_pandas.columns) == ["person", "region", "job", "schooling"]
    for name in ("person", "region", "schooling"):
        assert as_pandas[name].tolist() == FRAME[name].tolist()
    if isinstance(frame, pd.DataFrame):
        pd.testing.assert_index_equal(as_pandas.index, FRAME.index)
    made = done.mechanisms["job"]
    assert isinstance(made, Mechanism)
    assert made.certificate.guarantee == "lip(epsilon=0.5)"
    counts = done.protection.columns[0].counts
    assert sum(counts.values()) == len(FRAME)
    shown = as_pandas["job"].fillna("").value_counts().to_dict()
    assert shown == {
        "" if label == "(missing)" else label: number for label, number in counts.items() if number
    }
    assert "job" in repr(done)


def test_options_for_each_column(tmp_path: Path) -> None:
    done = ll.protect(
        FRAME,
        ["job", "pay"],
        {"job": ll.LIP("0.5"), "pay": ll.LIP("1")},
        secret=["household", None],
        domain={"pay": (0, 150_000)},
        bins={"pay": 8},
        drop=["schooling"],
        curve=True,
        seconds=8,
    )
    jobs, pays = (done.mechanisms[name] for name in ("job", "pay"))
    assert isinstance(jobs, Mechanism)
    assert isinstance(pays, Mechanism)
    assert (str(jobs.notion), str(pays.notion)) == ("lip(0.5)", "lip(1)")
    assert done.frame["pay"].dtype == float
    assert {leak.secret for leak in done.protection.combined} == {"household", "pay"}
    assert done.protection.columns[0].curve is not None
    done.report(tmp_path / "report.html")
    assert "data frame" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_index_is_looked_at_like_a_column() -> None:
    told = FRAME.set_index(["household", FRAME.index]).assign(household=FRAME["household"].tolist())
    with pytest.raises(
        InputError, match=r"'household \(index\)' determines the secret 'household'"
    ):
        ll.protect(told, "job", ll.LIP("0.5"), secret="household")
    done = ll.protect(
        told, "job", ll.LIP("0.5"), secret="household", drop=["household (index)"], seconds=2
    )
    assert done.frame.index.names == ["who"]
    assert "'who'" in " ".join(done.protection.notes)
    assert done.frame["pay"].tolist() == FRAME["pay"].tolist()
    with pytest.raises(InputError, match="no such column"):
        ll.protect(told, "who", ll.LIP("0.5"))


def test_columns_as_one_value() -> None:
    done = ll.protect(
        FRAME, ["job", "region"], ll.LIP("0.5"), secret="household", together=True, rare=5
    )
    (made,) = done.mechanisms.values()
    assert isinstance(made, Mechanism)
    assert made.encoding is not None
    assert made.encoding.names == ("job", "region")
    assert set(done.frame["region"]) <= {"east", "north", "south", "west"}


def test_refusals_name_the_place() -> None:
    names = ["household", "region", "schooling"]
    with pytest.raises(InputError, match="3 secrets for 2 columns"):
        ll.protect(FRAME, ["job", "pay"], ll.LIP("1"), secret=names)
    with pytest.raises(InputError, match="no such column"):
        ll.protect(FRAME, "work", ll.LIP("1"))
    wrong = FRAME.astype({"pay": str})
    wrong.iloc[3, wrong.columns.get_loc("pay")] = "much"
    with pytest.raises(InputError, match=r"not a number at row 4, column 'pay': 'much'"):
        ll.protect(wrong, "pay", ll.LIP("1"), numbers=["pay"])
    before = FRAME.copy()
    ll.protect(FRAME, "job", ll.LIP("1"))
    pd.testing.assert_frame_equal(FRAME, before)


def test_a_guarantee_may_be_a_number_or_a_claim() -> None:
    for given, found in (
        (0.5, "lip(0.5)"),
        ("1", "lip(1)"),
        ("alip=0.9,0.5", "alip(lower=0.9, upper=0.5)"),
    ):
        made = ll.protect(FRAME, "job", given, secret="household").mechanisms["job"]
        assert isinstance(made, Mechanism)
        assert str(made.notion) == found
    for wrong in (True, object(), {"pay": 1}):
        with pytest.raises(InputError, match="guarantee"):
            ll.protect(FRAME, "job", wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the name of a column is not a text: 1"):
        ll.protect(FRAME.rename(columns={"job": 1}), 1, 1)  # type: ignore[arg-type]


def test_a_release_does_not_stand_beside_its_secret() -> None:
    made = ll.protect(FRAME, "job", 0.5, secret="household").mechanisms["job"]
    assert isinstance(made, Mechanism)
    safe = liftlock.tables.release(FRAME, made)
    assert list(safe.columns) == [name for name in FRAME.columns if name != "household"]
    assert "job" in liftlock.tables.release(FRAME.drop(columns="household"), made)
    assert "household" in liftlock.tables.release(FRAME, made, keep=["household"])


def test_types_stay_where_no_cell_can_come_out_missing() -> None:
    whole = ll.protect(FRAME, "schooling", 1, secret="household").frame
    assert whole["schooling"].dtype == FRAME["schooling"].dtype
