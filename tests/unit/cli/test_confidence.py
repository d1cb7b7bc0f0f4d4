"""The option --confidence: counts become the set of priors that they may come from."""

from __future__ import annotations

import json

import numpy as np
import pytest

from liftlock import Intervals, Mechanism, Prior
from liftlock.notions import LIP
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_bad_input import assert_refused

COUNTS = "label,count\nno,80\nyes,20\n"
FILES = {
    "seen.csv": COUNTS,
    "shares.csv": "label,probability\nno,0.8\nyes,0.2\n",
    "halves.csv": "label,count\nno,80.5\nyes,20\n",
    "table.json": '{"counts": {"no": 80, "yes": 20}}',
    "stored.json": json.dumps(Prior.from_counts({"no": 80, "yes": 20}).to_data()),
    "shares.json": '{"probabilities": {"no": 0.8, "yes": 0.2}}',
    "twice.json": '{"labels": ["no", "no"], "counts": [80, 20]}',
    "people.csv": "pay\n1\n2\n",
}
ASKED = ("design", "--epsilon", "1", "--method", "binary")


@pytest.mark.parametrize("name", ["seen.csv", "table.json"])
def test_a_design_for_every_prior_that_counts_may_come_from(run: Run, name: str) -> None:
    outcome = run(*ASKED, "--prior", name, "--confidence", "0.99", "-o", "m.json", files=FILES)
    assert outcome.code == 0
    assert outcome.out.startswith("CERTIFIED: lip(epsilon=1) for every prior within intervals on 2")
    assert f"probability at least 0.99, if the 100 observations of {name} were drawn" in outcome.err
    made = Mechanism.load("m.json")
    near = Intervals.from_counts({"no": 80, "yes": 20}, confidence="0.99")
    assert made.context == near
    for rarest in ([0, 1], [1, 0]):
        worst = near.extreme(np.array(rarest), least=True)
        assert LIP.measure(made.channel, worst).value.lower <= 1


def test_an_audit_over_the_same_set(run: Run) -> None:
    run(*ASKED, "--prior", "seen.csv", "-o", "m.json", files=FILES)
    assert run("audit", "m.json", "--prior", "seen.csv", "--check", "lip=1", "-q").code == 0
    said = ("--confidence", "99 %", "--check", "lip=1", "-q")
    outcome = run("audit", "m.json", "--prior", "seen.csv", *said)
    assert outcome.code == 1
    assert "lip(epsilon=1) does not hold" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "shares.csv"], "probabilities do not say how many observations they rest on"),
        (["--prior", "shares.json"], "probabilities do not say how many observations they rest"),
        (["--prior", "halves.csv"], "not a number of observations at halves.csv, label 'no'"),
        (["--prior", "stored.json"], "JSON does not hold counts at stored.json"),
        (["--prior", "twice.json"], "twice.json"),
        (["--prior", "seen.csv", "--smooth", "1"], "give --confidence or --smooth, not both"),
        (["--prior", "seen.csv", "--radius", "0.1"], "give --confidence or --radius, not both"),
        (["--family", "seen.csv"], "--confidence goes with --prior"),
        (["--prior", "people.csv", "--column", "pay"], "--confidence works with priors of labels"),
    ],
)
def test_refusals(run: Run, arguments: list[str], message: str) -> None:
    outcome = run(*ASKED, *arguments, "--confidence", "0.99", files=FILES)
    assert_refused(outcome, message)


@pytest.mark.parametrize("value", ["1", "0.01", "high", "-1"])
def test_confidences_that_are_none(run: Run, value: str) -> None:
    outcome = run(*ASKED, "--prior", "missing.csv", "--confidence", value)
    assert_refused(outcome, "confidence" if value != "1" else "a sample cannot give certainty")
