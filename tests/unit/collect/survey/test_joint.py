"""Joints of answers: read, written, and refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from liftlock.collect.survey import Survey
from liftlock.errors import InputError

QUESTIONS = [
    {"name": name, "ask": "Do you?", "values": ["no", "yes"], "guarantee": "ldp=1"}
    for name in ("smokes", "drinks", "votes")
]
ROWS = [["no", "no", 5], ["no", "yes", 3], ["yes", "yes", 2]]


def survey_of(joint: Any, where: str = "") -> Survey:
    """Return a survey with a joint."""
    return Survey.from_data({"survey": "s", "questions": QUESTIONS, "joint": joint}, where)


def test_a_joint_is_written_as_it_is_read() -> None:
    survey = survey_of({"questions": ["smokes", "drinks"], "counts": ROWS})
    joint = survey.joint
    assert joint is not None
    assert joint.questions == ("smokes", "drinks")
    assert joint.prior[("no", "yes")] == Fraction(3, 10)
    assert Survey.from_data(survey.content()) == survey


def test_all_questions_if_none_is_named() -> None:
    rows = [["no", "no", "no", "1/2"], ["yes", "yes", "no", "1/2"]]
    joint = survey_of({"counts": rows}).joint
    assert joint is not None
    assert joint.questions == ("smokes", "drinks", "votes")


def test_a_file_has_a_column_for_each_question(tmp_path: Path) -> None:
    text = "count,drinks,smokes\n5,no,no\n3,yes,no\n2,yes,yes\n"
    (tmp_path / "joint.csv").write_text(text, encoding="utf-8")
    joint = survey_of({"file": "joint.csv"}, str(tmp_path / "survey.yaml")).joint
    assert joint is not None
    assert joint.questions == ("drinks", "smokes")
    assert joint.prior[("yes", "no")] == Fraction(3, 10)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ("joint.csv", "not a joint of answers"),
        ({"counts": ROWS, "file": "x.csv"}, "counts and a file at once"),
        ({"counts": ROWS, "values": 1}, "unknown key of a joint at joint: 'values'"),
        ({"questions": ["smokes", "age"], "counts": ROWS}, "a question that is not asked"),
        ({"questions": ["smokes", "smokes"], "counts": ROWS}, "named twice"),
        ({"questions": ["smokes"], "counts": [["no", 1]]}, "a joint of one question"),
        ({"questions": ["smokes", "drinks"], "counts": []}, "0 combinations of answers"),
        ({"questions": ["smokes", "drinks"], "counts": [["no", 1]]}, "1 answers to 2 questions"),
        (
            {"questions": ["smokes", "drinks"], "counts": [["no", "maybe", 1]]},
            "not one of the values at joint, row 1: 'maybe'; the values are no, yes",
        ),
        (
            {"questions": ["smokes", "drinks"], "counts": [*ROWS, ROWS[0]]},
            "a combination is listed twice at joint, row 4",
        ),
        ({"file": "missing.csv"}, "missing.csv"),
    ],
)
def test_what_is_no_joint_is_refused(joint: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        survey_of(joint)


def test_files_that_are_no_joint_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "joint.csv"
    for text, message in (
        ("smokes,drinks\nno,no\n", "no column of numbers"),
        ("smokes,drinks,count\nno,no\n", "joint.csv, line 2"),
        ("", "joint.csv"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            survey_of({"file": "joint.csv"}, str(tmp_path / "survey.yaml"))
