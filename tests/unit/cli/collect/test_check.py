"""`liftlock collect check`: what is proved, and what is refused."""

from __future__ import annotations

import json

import pytest

from tests.unit.cli.collect.worlds import HEALTH
from tests.unit.cli.conftest import Run


def test_a_survey_that_may_be_carried_out(run: Run) -> None:
    done = run("collect", "check", "health.yaml", files={"health.yaml": HEALTH})
    assert (done.code, done.err, done.made) == (0, "", frozenset())
    for part in ("health.flu", "health.smoking", "3,000 people", "LIP", "Do you smoke?"):
        assert part in done.out


def test_more_people_give_smaller_margins(run: Run) -> None:
    files = {"health.yaml": HEALTH}
    few = json.loads(run("collect", "check", "health.yaml", "--json", files=files).out)
    many = json.loads(run("collect", "check", "health.yaml", "--json", "--people", "12000").out)
    for one, other in zip(few["margins"], many["margins"], strict=True):
        assert (one["people"], other["people"]) == (3000, 12000)
        assert other["margin"] == pytest.approx(one["margin"] / 2)


def test_a_total_that_is_exceeded_is_refused_with_a_remedy(run: Run) -> None:
    done = run(
        "collect", "check", "health.yaml", files={"health.yaml": f"total: lip=0.5\n{HEALTH}"}
    )
    assert done.code == 1
    assert "REFUSED" in done.out
    told = json.loads(run("collect", "check", "health.yaml", "--json").out)
    assert told["passed"] is False
    assert [each["weight"] for each in told["findings"]].count("refusal") == 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (HEALTH.replace("survey: health", "survay: health"), "survay"),
        (HEALTH.replace("lip=1", "lup=1"), "lup"),
        (HEALTH.replace("none: 700, ", ""), "none"),
        ("- just\n- a list\n", "health.yaml"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(run: Run, text: str, named: str) -> None:
    done = run("collect", "check", "health.yaml", files={"health.yaml": text})
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert named in done.err
