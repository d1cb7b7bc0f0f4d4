"""Files are read exactly: what was written, in every way people and programs write it."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import (
    Ball,
    Channel,
    Family,
    Intervals,
    Joint,
    Mechanism,
    Prior,
    read_channel,
    read_joint,
    read_prior,
    read_priors,
)
from liftlock._runtime.storage import read_text
from liftlock.designs import design
from liftlock.errors import FileError, LiftlockError
from liftlock.files import (
    label_location,
    read_mechanism,
    read_pairs,
    read_records,
    read_sheet,
    record_location,
)
from liftlock.files.channels import channel_from_sheet
from liftlock.model.structured import to_dense
from liftlock.notions import LIP

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def rows_of(channel: Channel) -> list[list[Fraction]]:
    return [
        [channel.probability(x, y) for y in channel.outputs.labels] for x in channel.inputs.labels
    ]


# --- ways to write the same matrix --------------------------------------------------------------

SAME = {
    "plain": "input,a,b\nx,0.5,0.5\ny,0.25,0.75\n",
    "no_last_line_end": "input,a,b\nx,0.5,0.5\ny,0.25,0.75",
    "blank_lines": "\n\ninput,a,b\n\nx,0.5,0.5\n , ,\ny,0.25,0.75\n\n\n",
    "byte_order_mark": "\ufeffinput,a,b\nx,0.5,0.5\ny,0.25,0.75\n",
    "windows": "input,a,b\r\nx,0.5,0.5\r\ny,0.25,0.75\r\n",
    "old_macintosh": "input,a,b\rx,0.5,0.5\ry,0.25,0.75\r",
    "spaces": " input , a , b \n x , 0.5 , 0.5 \n y , 0.25 , 0.75 \n",
    "quotes": '"input","a","b"\n"x","0.5","0.5"\n"y","0.25","0.75"\n',
    "percent": "input,a,b\nx,50%,50 %\ny,25 %,75%\n",
    "fractions": "input,a,b\nx,1/2,1/2\ny,1/4,3/4\n",
    "scientific": "input,a,b\nx,5e-1,5E-01\ny,2.5e-1,75e-2\n",
    "no_leading_zero": "input,a,b\nx,.5,.5\ny,.25,.75\n",
    "trailing_zeros": "input,a,b\nx,0.50000,0.5\ny,0.25,0.750000000000000000\n",
    "plus": "input,a,b\nx,+0.5,+.5\ny,0.25,+75%\n",
    "mixed": "input,a,b\nx,50%,1/2\ny,2.5e-1,0.75\n",
    "empty_corner": ",a,b\nx,0.5,0.5\ny,0.25,0.75\n",
}


@pytest.mark.parametrize("content", SAME.values(), ids=SAME)
def test_ways_to_write_a_matrix(write: Any, content: str) -> None:
    said: list[str] = []
    channel = to_dense(read_channel(write(content), said.append).channel)
    assert channel.inputs.labels == ("x", "y")
    assert channel.outputs.labels == ("a", "b")
    assert rows_of(channel) == [[HALF, HALF], [QUARTER, 3 * QUARTER]]
    assert said == []


def test_labels_are_kept_as_written(write: Any) -> None:
    content = 'input,"a, b","c\nd","e ""f"" g",да\n"x;y",1,0,0,0\n漢字,0,0,0,1\n"1",0,1,0,0\n'
    channel = to_dense(read_channel(write(content)).channel)
    assert channel.inputs.labels == ("x;y", "漢字", "1")
    assert channel.outputs.labels == ("a, b", "c\nd", 'e "f" g', "да")


def test_numbers_are_read_exactly(write: Any) -> None:
    content = "input,a,b,c\nx,0.1,0.2,0.7\ny,1/3,1/3,1/3\nz,1e-30,0.5,0." + "4" + "9" * 29 + "\n"
    channel = to_dense(read_channel(write(content)).channel)
    assert rows_of(channel)[0] == [Fraction(1, 10), Fraction(2, 10), Fraction(7, 10)]
    assert rows_of(channel)[1] == [Fraction(1, 3)] * 3
    assert rows_of(channel)[2][0] == Fraction(1, 10**30)


# --- rows near 1 ---------------------------------------------------------------------------------


def test_rows_near_1_are_divided_by_their_sum_and_it_is_said(write: Any) -> None:
    said: list[str] = []
    path = write("input,a,b,c\nx,0.3333333333,0.3333333333,0.3333333333\ny,0.5,0.25,0.25\n")
    channel = to_dense(read_channel(path, said.append).channel)
    assert rows_of(channel) == [[Fraction(1, 3)] * 3, [HALF, QUARTER, QUARTER]]
    (note,) = said
    assert note == (
        f"1 of 2 rows of {path} did not sum to 1 exactly and were divided by their sum "
        "(largest gap 1e-10, input 'x')"
    )


def test_the_limit_of_nearness_is_exact(write: Any) -> None:
    assert to_dense(read_channel(write("input,a,b\nx,0.5,0.500000001\n")).channel).totals
    assert to_dense(read_channel(write("input,a,b\nx,0.5,0.499999999\n")).channel).totals
    for off in ("0.5000000010000001", "0.4999999989999999"):
        with pytest.raises(FileError, match="does not sum to 1"):
            read_channel(write(f"input,a,b\nx,0.5,{off}\n"))


def matrix_text(matrix: Any) -> str:
    lines = ["input," + ",".join(f"y{j}" for j in range(len(matrix[0])))]
    lines += [f"x{i}," + ",".join(map(repr, map(float, row))) for i, row in enumerate(matrix)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("size", [3, 200])
def test_matrices_computed_by_numpy(write: Any, size: int) -> None:
    matrix = np.random.default_rng(size).dirichlet(np.full(size, 0.3), size)
    matrix[0, :] = 0
    matrix[0, [0, 1]] = [1 - 1e-300, 1e-300]
    assert any(math.fsum(row) != 1 for row in matrix)
    said: list[str] = []
    channel = to_dense(read_channel(write(matrix_text(matrix)), said.append).channel)
    assert len(said) == 1
    found = rows_of(channel)
    for row, written in zip(found, matrix, strict=True):
        assert sum(row) == 1
        exact = [Fraction(repr(float(value))) for value in written]
        total = sum(exact)
        for cell, value in zip(row, exact, strict=True):
            wanted = value / total
            # Zeros stay zeros, and nothing else becomes one; relative errors are invisible.
            assert (cell == 0) == (value == 0)
            assert abs(cell - wanted) * 10**18 <= wanted
    assert channel.common_total.bit_length() < 8000


@given(
    st.lists(st.lists(st.integers(1, 10**6), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(0, 10**6),
)
def test_every_accepted_row_sums_to_1(rows: list[list[int]], noise: int) -> None:
    matrix = [[value / sum(row) * (1 + noise * 1e-16) for value in row] for row in rows]
    sheet = read_sheet(Path("m.csv"), matrix_text(matrix))
    said: list[str] = []
    channel = to_dense(channel_from_sheet(sheet, said.append).channel)
    assert all(sum(row) == 1 for row in rows_of(channel))
    assert np.allclose(channel.floats(), matrix, rtol=1e-9)


# --- priors, joints, sets ------------------------------------------------------------------------


TABLES = [
    "label,count\nx,1\ny,3\n",
    "anything,Counts\nx,1.5\ny,4.5\n",
    "label,probability\nx,0.25\ny,0.75\n",
    "label,Probabilities\nx,25%\ny,3/4\n",
]
OBJECTS = [
    '{"counts": {"x": 1, "y": 3}}',
    '{"counts": {"x": 0.1, "y": "3/10"}}',
    '{"probabilities": {"x": 0.25, "y": 0.75}}',
    '{"x": 1, "y": 3}',
    '{"x": 0.25, "y": 0.75}',
    '{"x": "25%", "y": "3/4"}',
    '{"labels": ["x", "y"], "probabilities": [0.25, 0.75]}',
    '{"labels": ["x", "y"], "counts": [2, 6]}',
    '{"kind": "prior", "labels": ["x", "y"], "counts": [1, 3]}',
    ' \n {"kind": "prior", "labels": ["x", "y"], "counts": ["1", 3.0]}',
]


@pytest.mark.parametrize(
    ("content", "name"),
    [(content, name) for content in TABLES for name in ("prior.csv", "prior")]
    + [(content, name) for content in OBJECTS for name in ("prior.json", "prior.csv", "prior")],
)
def test_ways_to_write_a_prior(write: Any, content: str, name: str) -> None:
    assert read_prior(write(content, name)) == Prior.from_counts({"x": 1, "y": 3})


def test_probabilities_near_1_are_normalised_and_it_is_said(write: Any) -> None:
    said: list[str] = []
    path = write("label,probability\nx,0.3333333333\ny,0.6666666666\n")
    assert read_prior(path, said.append)["x"] == Fraction(1, 3)
    assert said == [f"probabilities in {path} summed to 0.9999999999 and were divided by their sum"]


def test_decimals_in_json_mean_what_was_written(write: Any) -> None:
    path = write(
        '{"probabilities": {"x": 0.1, "y": 0.30000000000000004, "z": 0.59999999999999996}}'
    )
    prior = read_prior(path)
    assert prior["y"] == Fraction("0.30000000000000004")


def test_joints(write: Any) -> None:
    wanted = Joint.from_counts({"u": {"x": 1, "y": 2}, "v": {"x": 3, "y": 4}})
    assert read_joint(write("secret,x,y\nu,1,2\nv,3,4\n")) == wanted
    path = write(json.dumps(wanted.to_data()), "joint.json")
    assert read_joint(path) == wanted
    shares = read_joint(write("secret,x,y\nu,10%,0.2\nv,3/10,4e-1\n"))
    assert shares.fingerprint == wanted.fingerprint


def test_sets_of_priors(write: Any) -> None:
    family = read_priors(write("label,p,q\nx,1,0.5\ny,3,0.5\n"))
    assert isinstance(family, Family)
    assert [prior["x"] for prior in family.priors] == [QUARTER, HALF]
    box = read_priors(write("label,Lower,UPPER\nx,0.1,20%\ny,1/2,1\n"))
    assert isinstance(box, Intervals)
    assert (box.lower[0], box.upper[0]) == (Fraction(1, 10), Fraction(1, 5))
    ball = Ball.of(Prior.from_counts({"x": 1, "y": 3}), "0.1")
    assert read_priors(write(json.dumps(ball.to_data()), "b.json")) == ball
    one = read_priors(write(json.dumps(ball.centre.to_data()), "p.json"))
    assert isinstance(one, Family)
    assert one.priors == (ball.centre,)


def test_a_stored_channel(write: Any) -> None:
    channel = Channel.from_rows({0: {"a": "1/3", "b": "2/3"}, 1.5: {"a": 1, "b": 0}})
    read = read_channel(write(json.dumps(channel.to_data()), "channel.json"))
    assert read.channel == channel
    assert read.channel.inputs.labels == (0, 1.5)
    assert read.context is None


# --- where things stand --------------------------------------------------------------------------


def test_lines_are_counted_as_an_editor_does(write: Any) -> None:
    sheet = read_sheet(write('\n\nlabel,n\n"two\nlines",1\n\nlast,2\n'))
    assert sheet.header_line == 3
    assert [line for line, _ in sheet.rows] == [4, 7]


def test_places_of_labels(write: Any) -> None:
    path = write("label,p,q\nx,1,2\n\ny,3,4\n")
    assert label_location(path, "y") == f"{path}, line 4"
    assert label_location(path, "q", in_header=True) == f"{path}, line 1, column 3 ('q')"
    assert label_location(path, "z") == label_location(path, "z", in_header=True) == str(path)
    assert label_location(write("{}", "a.json"), "x") == str(path.with_name("a.json"))
    assert label_location(path.with_name("missing"), "x") == str(path.with_name("missing"))


# --- pairs ---------------------------------------------------------------------------------------


def test_pairs(write: Any) -> None:
    path = write("time,report,answer\n1,no,yes\n2,no,no\n")
    assert read_pairs(path, ("answer", "report")) == (["yes", "no"], ["no", "no"])
    with pytest.raises(FileError, match="3 columns, and none of them says which are input"):
        read_pairs(path)
    assert record_location(path, 1, ("answer", "report")) == f"{path}, line 3, column 3 ('answer')"
    assert record_location(path, 9, ("answer", "report")) == str(path)


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a,b\n", None, "no rows below the header"),
        ("a,b\nx,1\n,2\n", None, r"input is missing at .*, line 3, column 1 \('a'\)"),
        ("a,b\nx,1\ny,\n", None, r"output is missing at .*, line 3, column 2 \('b'\)"),
        ("a,b\nx,1\n", ("a", "c"), "no such column at .*, line 1: 'c'; it has a, b"),
        ("a,b\nx,1\n", ("a", "a"), "one column for inputs and outputs"),
        (",,\n", None, "only empty cells"),
    ],
)
def test_bad_pairs(write: Any, content: str, columns: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_pairs(write(content), columns)


def test_too_many_pairs(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liftlock.files.sheet.MOST_RECORDS", 2)
    with pytest.raises(FileError, match=r"more than 2 rows at .*, line 4"):
        read_pairs(write("a,b\nx,1\ny,1\nz,1\n"))


# --- one row for each person ----------------------------------------------------------------------


def test_records(write: Any) -> None:
    said: list[str] = []
    table = read_records(write("id;w\na;0.1\n;\nb;1/4\n"), said.append)
    assert [cells[table.column("w")] for _, cells in table.rows] == ["0.1", "", "1/4"]
    assert table.where_in(1, 1).endswith("table.csv, line 3, column 2 ('w')")
    assert "separated by semicolons" in said[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,v\na,1\n", "no such column at .*line 1: 'w'; it has id, v"),
        ("w,w\n1,2\n", "given twice"),
        ("id,w\n", "no rows below the header at .*; .*one report each"),
        ('{"w": 1}', "JSON is not a table"),
    ],
)
def test_what_is_wrong_with_records(write: Any, content: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_records(write(content), each="report").column("w")


# --- anything at all -----------------------------------------------------------------------------

READERS = (read_channel, read_prior, read_joint, read_priors, read_pairs)


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_no_bytes_cause_anything_but_our_errors(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.csv"
    path.write_bytes(content)
    for reader in READERS:
        with _only_our_errors():
            reader(path)


CELL = st.sampled_from(
    ["", "0", "1", "0.5", "1/3", "2/3", "x", "y", "count", "probability", "lower", "upper", "-1",
     "nan", "1e400", "50%", "a\nb", '"', "1e-9", "{", "9" * 600]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=4))
def test_no_table_causes_anything_but_our_errors(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_text("\n".join(",".join(row) for row in table))
    for reader in READERS:
        with _only_our_errors():
            reader(path)


class _only_our_errors:
    """Allow success, or an error of ours that is one line and ends with a remedy."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if error is None:
            return True
        assert isinstance(error, FileError), repr(error)
        assert "\n" not in str(error)
        assert error.remedy, str(error)
        return True


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(LiftlockError, match="not a file name"):
        read_text(Path("bad\0name"))


def test_a_large_json_that_is_no_mechanism_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged by the bytes that are read: the beginning, and no parsing."""
    place = tmp_path / "big.json"
    place.write_bytes(b'{"people": [' + b"1, " * (1 << 20) + b"1]}")

    def parse(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr("liftlock.files.channels.parse_json", parse)
    monkeypatch.setattr("liftlock._runtime.storage.parse_json", parse)
    # Reading on would ask for more than there may be.
    monkeypatch.setattr("liftlock._runtime.storage.MOST_BYTES", None)
    for read in (read_mechanism, read_channel, Mechanism.load):
        with pytest.raises(FileError, match="a large file of another format"):
            read(place)


def test_a_large_mechanism_is_read(tmp_path: Path) -> None:
    prior = Prior.uniform(range(300))
    made = design(prior, LIP("1"), method="k-rr", utility="histogram")
    place = tmp_path / "m.json"
    made.save(place)
    assert place.stat().st_size > 1 << 20
    assert read_mechanism(place).channel == made.channel
