"""`liftlock demo`: the whole path runs, and what it suggests next works."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest

from liftlock import Mechanism
from tests.unit.cli.conftest import Run

FILES = {"about.txt", "prior.csv", "published.csv", "mechanism.json", "reports.csv", "pairs.csv",
         "estimate.png", "lifts.png", "salaries.csv", "salaries.json", "salaries.png",
         "people.csv", "safe.csv", "safe.mechanism.json", "report.html"}  # fmt: skip


@pytest.mark.filterwarnings("error")
def test_the_demo_and_what_it_suggests(run: Run) -> None:
    outcome = run("demo")
    assert outcome.code == 0
    assert all(line.startswith("note: ") for line in outcome.err.splitlines())
    assert outcome.made == {"liftlock-demo", *(f"liftlock-demo/{name}" for name in FILES)}
    assert "lip(epsilon=1) does not hold" in outcome.out
    assert "CERTIFIED: lip(epsilon=1)" in outcome.out
    assert 'the belief in "flu" can rise from 10 % to 27.18 %' in outcome.out
    assert Mechanism.load("liftlock-demo/mechanism.json").certificate.holds
    with Path("liftlock-demo/reports.csv").open(newline="") as stream:
        reports = [row[0] for row in csv.reader(stream)]
    assert len(reports) == 10_001
    assert set(reports[1:]) == {"0", "1", "2", "3"}
    assert "10,000 reports, about the people who reported" in outcome.out
    salaries = Mechanism.load("liftlock-demo/salaries.json")
    assert salaries.certificate.guarantee == "lip(epsilon=1)"
    assert "released number is off by" in outcome.out
    assert Mechanism.load("liftlock-demo/safe.mechanism.json").encoding is not None
    commands = [line for line in outcome.out.splitlines() if line.startswith("liftlock ")]
    assert len(commands) == 12
    codes = [run(*shlex.split(command)[1:]).code for command in commands]
    # The published response fails its check, exactly (audit) and on records (probe).
    assert codes == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert run("demo").code == 0  # once more into the same folder


def test_files_of_others_are_not_replaced(run: Run) -> None:
    outcome = run("demo", "--folder", ".", files={"prior.csv": "mine"})
    assert (outcome.code, outcome.out, outcome.made) == (2, "", frozenset())
    (line,) = outcome.err.splitlines()
    assert "a file that the demo did not make at prior.csv" in line
    assert Path("prior.csv").read_text() == "mine"


def test_a_folder_that_cannot_be_made(run: Run) -> None:
    outcome = run("demo", "--folder", "file/inside", files={"file": ""})
    assert outcome.code == 2
    (line,) = outcome.err.splitlines()
    assert "cannot write the examples at file/inside" in line
    assert line.endswith("choose another --folder")
