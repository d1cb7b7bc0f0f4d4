"""Surveys to begin with can be carried out as they are, and with every remark taken up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from liftlock.collect.survey import Survey
from liftlock.collect.survey.example import DEMO, DEMO_TRUTHS, new_survey
from liftlock.collect.survey.rounds import plan_next_round
from liftlock.errors import InputError


def read(text: str, folder: Path) -> Survey:
    """Read the text of a survey file."""
    path = folder / "survey.yaml"
    path.write_text(text, encoding="utf-8")
    return Survey.read(path)


def test_a_new_survey_may_be_carried_out(tmp_path: Path) -> None:
    survey = read(new_survey("town"), tmp_path)
    assert survey.name == "town"
    found = survey.check()
    assert found.passed
    assert not [each for each in found.findings if each.weight == "warning"]
    assert all(margin.size is not None for margin in found.margins)


def test_every_remark_can_be_taken_up(tmp_path: Path) -> None:
    """Lines that are commented out are lines of a survey."""
    text = new_survey()
    names = ("age", "cough", "votes")
    for start in (*(f"  # - name: {name}" for name in names), "# joint:", "# opens:", "# closes:"):
        before, found, after = text.partition(start)
        assert found, start
        head = found.replace("# ", "", 1)
        body, blank, rest = after.partition("\n\n")
        if start in ("# opens:", "# closes:"):
            body, blank, rest = after.partition("\n")
        body = re.sub(r"^( *)# ", r"\1", body, flags=re.MULTILINE)
        if start == "# joint:":
            body = re.sub(r"^ *#", "  ", body, flags=re.MULTILINE)
        text = f"{before}{head}{body}{blank}{rest}"
    survey = read(text.replace("total: lip=3", "total: lip=9"), tmp_path)
    assert [question.name for question in survey.questions] == [
        "flu",
        "smoking",
        "sleep",
        "age",
        "cough",
        "votes",
    ]
    assert survey.joint is not None
    assert survey.closes is not None
    assert survey.check().passed


def test_names_are_checked() -> None:
    with pytest.raises(InputError, match="a survey cannot be called so: 'Our Town'"):
        new_survey("Our Town")


def test_the_demo_learns_from_its_first_round(tmp_path: Path) -> None:
    survey = read(DEMO, tmp_path)
    assert set(DEMO_TRUTHS) == {question.name for question in survey.questions}
    check = survey.check()
    assert check.passed
    planned = plan_next_round(survey, survey.simulate(DEMO_TRUTHS, 2500, seed=1).counts)
    after = planned.survey.check()
    assert after.passed
    margins = {margin.question: margin.size for margin in check.margins}
    better = {margin.question: margin.size for margin in after.margins}
    assert (better["flu"] or 1) < (margins["flu"] or 0)
