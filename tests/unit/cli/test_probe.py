"""`liftlock probe`: records that refute a claim, records that do not, and bad records."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

from tests.unit.cli.conftest import Run

KEEP = 0.75
PRIOR = "label,count\nno,9\nyes,1\n"
# P = (.9, .1), answered truthfully three times in four: lifts between 5/14 and 5/2, LDP ln 3.
EPS_UPPER, EPS_LOWER, LDP = math.log(2.5), math.log(2.8), math.log(3)


def records(number: int = 40_000, header: tuple[str, str] = ("answer", "report")) -> str:
    generator = np.random.default_rng(7)
    asked = generator.random(number) < 0.1
    reported = np.where(generator.random(number) < KEEP, asked, ~asked)
    names = np.array(["no", "yes"])
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(header)
    writer.writerows(zip(names[asked.astype(int)], names[reported.astype(int)], strict=True))
    return stream.getvalue()


FILES = {"pairs.csv": records(), "p.csv": PRIOR}
START = ("probe", "pairs.csv", "--prior", "p.csv")


@pytest.mark.parametrize(
    ("claim", "side"),
    [
        ("lip=0.5", "eps_"),
        ("alip=0.5,2", "eps_lower"),
        ("alip=2,0.5", "eps_upper"),
        ("eps_upper=0.7", "eps_upper"),
        ("eps-lower=0.7", "eps_lower"),
        ("ldp=0.8", "ldp"),
        ("ldp=ln 2", "ldp"),
    ],
)
def test_claims_that_are_wrong(run: Run, claim: str, side: str) -> None:
    outcome = run(*START, "--claim", claim, files=FILES)
    assert outcome.code == 1
    assert outcome.out.startswith("CONTRADICTED")
    (line,) = outcome.err.splitlines()
    assert line.startswith(f"liftlock: the claim {side}")
    assert "is contradicted" in line
    assert "; witness: input " in line


@pytest.mark.parametrize(
    "claim", ["lip=1.04", "alip=1.04,0.93", "eps_upper=0.93", "eps_lower=1.04", "ldp=1.11"]
)
def test_claims_that_are_true(run: Run, claim: str) -> None:
    outcome = run(*START, "--claim", claim, files=FILES)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("No contradiction found")
    assert "does not show that the claim is true" in " ".join(outcome.out.split())


def test_bounds_without_a_claim(run: Run) -> None:
    outcome = run(*START, "--json", files=FILES)
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    assert data["contradicted"] is False
    assert data["confidence"] == 0.999
    assert data["samples"] == 40_000
    for key, truth in (("eps_upper", EPS_UPPER), ("eps_lower", EPS_LOWER), ("ldp", LDP)):
        assert 0.8 * truth < data["bounds"][key] < truth


def test_json_of_a_contradiction(run: Run) -> None:
    outcome = run(*START, "--claim", "ldp=0.5", "--json", files=FILES)
    assert outcome.code == 1
    data = json.loads(outcome.out)
    assert data["contradicted"] is True
    assert data["claims"] == {"ldp": 0.5}
    assert data["notes"] == []


def test_ldp_needs_no_prior(run: Run) -> None:
    assert run("probe", "pairs.csv", "--claim", "ldp=0.5", files=FILES).code == 1
    outcome = run("probe", "pairs.csv", "--claim", "lip=0.5")
    assert outcome.code == 2
    assert "claims about lifts need --prior" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_columns_by_name(run: Run) -> None:
    rows = [line.split(",") for line in records(4000).splitlines()]
    turned = "\n".join(f"{i},{report},{answer}" for i, (answer, report) in enumerate(rows))
    turned = turned.replace("0,report,answer", "time,report,answer", 1)
    files = FILES | {"log.csv": turned, "pairs.csv": records(4000)}
    named = run(
        *["probe", "log.csv", "--prior", "p.csv", "--columns", "answer,report", "--json"],
        files=files,
    )
    assert json.loads(named.out) == json.loads(run(*START, "--json").out)


def test_draws_from_the_prior_are_believed_only_if_they_look_like_it(run: Run) -> None:
    outcome = run(*START, "--sampled-from-prior", "--claim", "lip=0.5", files=FILES)
    assert outcome.code == 1
    files = {"p.csv": "label,count\nno,5\nyes,5\n"}
    outcome = run(*START, "--sampled-from-prior", "--claim", "lip=0.5", files=files)
    assert outcome.code == 2
    assert "not drawn from the prior at pairs.csv, input 'no'" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--claim", "lip"], "lip takes 1 value: 'lip'; write lip=EPSILON"),
        (["--claim", "alip=1"], "alip takes 2 values: 'alip=1'; write alip=LOWER,UPPER"),
        (["--claim", "alip=1,"], "alip takes 2 values"),
        (["--claim", "chi2=1"], "unknown claim: 'chi2=1'; use one of lip, alip"),
        (["--claim", "ldp=-1"], "ldp is negative: '-1'"),
        (["--claim", "ldp=nan"], "ldp is not finite: 'nan'"),
        (["--claim", "ldp=1", "--claim", "ldp=2"], "ldp claimed twice: 'ldp=2'"),
        (["--claim", "lip=1", "--claim", "eps_upper=2"], "lip claimed together with"),
        (["--confidence", "1"], "confidence outside 0 to 1: '1'"),
        (["--confidence", "high"], "confidence is not a number: 'high'"),
        (["--columns", "answer"], "--columns takes two names: 'answer'"),
        (["--columns", "answer,answer"], "one column for inputs and outputs at pairs.csv"),
        (["--columns", "answer,reply"], "no such column at pairs.csv, line 1: 'reply'"),
    ],
)
def test_bad_arguments(run: Run, arguments: list[str], message: str) -> None:
    outcome = run(*START, *arguments, files={"pairs.csv": records(50), "p.csv": PRIOR})
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("answer,report\n", "no rows below the header at pairs.csv, line 1"),
        ("answer\nyes\n", "only one column at pairs.csv"),
        ("answer,report\nyes,no\nno,no,no\n", "3 cells, but the header has 2 at pairs.csv, line 3"),
        ("answer,report\nyes,\n", "output is missing at pairs.csv, line 2, column 2 ('report')"),
        (
            "answer,report\nyes,no\n\nmaybe,no\n",
            "not in the prior at pairs.csv, line 4, column 1 ('answer'): 'maybe'; add it",
        ),
        ("{}", "JSON is not a table with columns at pairs.csv"),
    ],
)
def test_bad_records(run: Run, pairs: str, message: str) -> None:
    outcome = run(*START, "--claim", "lip=1", files={"pairs.csv": pairs, "p.csv": PRIOR})
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert message in line


@pytest.mark.parametrize("claim", [[], ["--claim", "lip=0.5"], ["--claim", "ldp=1"]])
def test_records_too_few_to_contradict_anything_are_refused(run: Run, claim: list[str]) -> None:
    files = {"pairs.csv": records(20), "p.csv": PRIOR}
    outcome = run(*START, *claim, files=files)
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert "20 records (at most 19 of one input) are too few to " in line
    assert "at pairs.csv; give more records of each input" in line


PEOPLE = "id,region,ill\n" + "\n".join(
    f"{n},{'north' if n % 2 else 'south'},no" for n in range(200)
)


def test_columns_of_a_table_are_not_guessed(run: Run) -> None:
    outcome = run("probe", "people.csv", "--claim", "ldp=1", files={"people.csv": PEOPLE})
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert "3 columns, and none of them says which are input and output at people.csv" in line
    assert "name the two (--columns INPUT,OUTPUT)" in line
    # An id of every row is no input that could be told from another.
    outcome = run("probe", "people.csv", "--columns", "id,region", "--claim", "ldp=1")
    assert (outcome.code, outcome.out) == (2, "")
    assert "200 records (at most 1 of one input) are too few to contradict ldp=1" in outcome.err


def test_headers_may_say_which_columns_they_are(run: Run) -> None:
    rows = [line.split(",") for line in records(4000).splitlines()[1:]]
    turned = "\n".join(f"{i},{report},{answer}" for i, (answer, report) in enumerate(rows))
    files = FILES | {"log.csv": f"time,Output,input\n{turned}", "pairs.csv": records(4000)}
    named = run("probe", "log.csv", "--prior", "p.csv", "--json", files=files)
    assert json.loads(named.out) == json.loads(run(*START, "--json").out)
