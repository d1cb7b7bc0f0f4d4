"""Several secrets on the command line: what is asked for, proved, stored, audited and left out."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from liftlock import LIP, Mechanism
from tests.published_rows import law_of_file, row_lifts
from tests.unit.cli.conftest import Run
from tests.unit.tables.protect.test_several_secrets import PATIENTS, lifts_kept


def table() -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(PATIENTS[0]))
    writer.writeheader()
    writer.writerows(PATIENTS)
    return text.getvalue()


FILES = {"people.csv": table()}
ASK = ("protect", "people.csv", "--epsilon", "0.2", "-o", "safe.csv", "--column", "department")


def test_all_secrets_of_one_column_are_kept_and_left_out(run: Run) -> None:
    done = run(
        *ASK, "--secret", "hiv", "--secret", "smokes", "--budget-of", "smokes", "lip=0.1",
        "--value-budget", "lip=1.5", "--drop", "age", "--report", "r.html",
        files=FILES,
    )  # fmt: skip
    assert done.code == 0, done
    assert '"department", hiding "hiv", "smokes" and its own value' in done.out
    assert "and about smokes:\nCERTIFIED: lip(epsilon=0.1)" in done.out
    assert '3,000 rows: "department" replaced' in done.out
    law = law_of_file(json.loads(Path("safe.mechanism.json").read_text(encoding="utf-8")))
    for secret, budget in (("hiv", "0.2"), ("smokes", "0.1"), ("department", "1.5")):
        lifts_kept(PATIENTS, secret, lambda row: law(row["department"]), LIP(budget))
    with Path("safe.csv").open(encoding="utf-8") as stream:
        assert set(next(csv.reader(stream))).isdisjoint({"hiv", "smokes"})
    # The report promises each of them, with its own numbers.
    words = re.sub("<[^>]+>", "", Path("r.html").read_text(encoding="utf-8")).replace("\xa0", " ")
    for about in ("“hiv”", "“smokes”", "the value itself"):
        assert f"What is promised about {about}" in words
    assert "It does not hide" not in words
    assert "how “hiv” and “department” go together, and how “smokes” and" in words
    # The file is audited, and released beside none of the secrets.
    audited = run("audit", "safe.mechanism.json")
    assert "and about smokes:\nCERTIFIED: lip(epsilon=0.1)" in audited.out
    data = json.loads(run("audit", "safe.mechanism.json", "--json").out)
    assert [each.get("about") for each in data["also"]] == ["smokes", None]
    again = run("release", "safe.mechanism.json", "people.csv", "-o", "again.csv", "--drop", "age")
    assert again.code == 0, again
    assert "lip(epsilon=0.2) about hiv and lip(epsilon=0.1) about smokes" in again.out
    with Path("again.csv").open(encoding="utf-8") as stream:
        assert set(next(csv.reader(stream))).isdisjoint({"hiv", "smokes"})


def test_each_column_may_have_its_own(run: Run) -> None:
    done = run(
        *ASK, "--column", "region", "--secret", "hiv", "--secret", "department=smokes",
        "--value-budget", "region=ldp=2", "--json",
        files=FILES,
    )  # fmt: skip
    assert done.code == 0, done
    first, second = json.loads(done.out)["columns"]
    assert [each["about"] for each in first["also"]] == ["smokes"]
    assert [each["certificate"]["notion"] for each in second["also"]] == ["ldp"]
    assert Mechanism.load("safe.department.mechanism.json").secrets == ("hiv", "smokes")
    assert Mechanism.load("safe.region.mechanism.json").secrets == ("hiv",)


def test_columns_and_secrets_are_paired_as_before(run: Run) -> None:
    done = run(
        *ASK, "--column", "region", "--secret", "hiv", "--secret", "smokes", "--json", files=FILES
    )
    assert [each["secret"] for each in json.loads(done.out)["columns"]] == ["hiv", "smokes"]
    assert all("also" not in each for each in json.loads(done.out)["columns"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--column", "region", *(("--secret", "hiv") * 3)), "COLUMN=NAME"),
        (("--secret", "hiv", "--budget-of", "smokes", "lip=1"), "a budget of what is not a secret"),
        (("--secret", "hiv", *(("--budget-of", "hiv", "lip=1") * 2)), "given twice"),
        (("--secret", "hiv", *(("--value-budget", "lip=1") * 2)), "given twice"),
        (("--secret", "hiv", "--secret", "department"), "its own secret"),
        (("--secret", "hiv", "--secret", "smokes", "--smooth", "1"), "several guarantees"),
        (("--secret", "hiv", "--value-budget", "lip=1", "--missing", "keep"), "several guarantees"),
        (("--secret", "hiv", "--secret", "smokes", "--method", "watchdog"), "several guarantees"),
    ],
)
def test_what_does_not_go_together_is_refused(run: Run, wrong: tuple[str, ...], said: str) -> None:
    done = run(*ASK, *wrong, files=FILES)
    assert done.code == 2
    assert said in done.err
    assert not done.made - {"people.csv"}


def test_what_two_releases_tell_is_said_of_each_secret_and_kept_out_of_ledgers(run: Run) -> None:
    ask = (*ASK, "--secret", "hiv", "--secret", "smokes", "--budget-of", "smokes", "lip=0.4")
    done = run(*ask, "--drop", "age", files=FILES)
    assert done.code == 0, done
    release = ("release", "safe.mechanism.json", "people.csv", "--drop", "age")
    note = " ".join(run(*release, "-o", "a.csv").err.split())
    law = law_of_file(json.loads(Path("safe.mechanism.json").read_text(encoding="utf-8")))

    def twice(row: Mapping[str, Any]) -> dict[Any, Fraction]:
        own = law(row["department"])
        return {(y, z): p * q for y, p in own.items() for z, q in own.items()}

    for secret in ("hiv", "smokes"):
        found = row_lifts(PATIENTS, secret, [], twice).population
        most = max(math.log(found.largest), -math.log(found.smallest))
        (told,) = re.findall(rf"([0-9.]+) nats \(lip\) about '{secret}', one", note)
        assert most <= float(told) < most + 1e-4
    assert "--ledger" not in note
    book = ("--ledger", "l.json", "--who", "all", "--limit", "lip=0.3")
    for words in ((*release, "-o", "b.csv"), (*ask, "-o", "b.csv")):
        refused = run(*words, *book)
        assert refused.code == 2
        assert "an account of several guarantees" in refused.err
        assert not {"l.json", "b.csv"} & refused.made


# --- joints in files ------------------------------------------------------------------------------

JOINTS = {
    "a.csv": "s,x,y,z\nf,5,3,2\nm,1,3,6\n",
    "b.csv": "t,x,y,z\np,4,2,6\nq,2,4,2\n",
    "c.csv": "t,x,y,z\np,4,2,6\nq,2,4,3\n",
}


def test_design_keeps_a_second_joint_and_a_cap(run: Run) -> None:
    done = run(
        "design", "--joint", "a.csv", "--epsilon", "0.3", "--also", "b.csv", "lip=0.2",
        "--value-budget", "ldp=1", "-o", "m.json", "--json",
        files=JOINTS,
    )  # fmt: skip
    assert done.code == 0, done
    data = json.loads(done.out)
    assert [each["certificate"]["notion"] for each in data["also"]] == ["lip", "ldp"]
    assert data["gap"] < 1e-6
    law = law_of_file(json.loads(Path("m.json").read_text(encoding="utf-8")))
    for name, budget in (("a.csv", "0.3"), ("b.csv", "0.2")):
        (_, *values), *rows = csv.reader(io.StringIO(JOINTS[name]))
        people = [
            {"s": secret, "x": value}
            for secret, *counts in rows
            for value, count in zip(values, counts, strict=True)
            for _ in range(int(count))
        ]
        found = row_lifts(people, "s", [], lambda row: law(row["x"])).population
        limits = LIP(budget).lift_limits()
        assert limits.upper is not None
        assert limits.upper.allows(found.largest)
        assert limits.upper.allows(1 / found.smallest)


def test_design_refuses_joints_of_other_people(run: Run) -> None:
    done = run(
        "design", "--joint", "a.csv", "--epsilon", "1", "--also", "c.csv", "lip=1", files=JOINTS
    )
    assert done.code == 2
    assert "different probabilities" in done.err
    done = run("design", "--joint", "a.csv", "--epsilon", "1", "--value-budget", "ldp=1",
               "--method", "response", "--as-published")  # fmt: skip
    assert done.code == 2
    assert "does not go with --as-published" in done.err
