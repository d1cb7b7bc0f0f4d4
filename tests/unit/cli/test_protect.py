"""One command from a table to a safe one, its mechanism, and a report."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
import resource
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from liftlock import LIP, Channel, Ledger, Mechanism, NotCertified, PerUserPriors, Prior
from liftlock.model.structured import UserChannel
from tests.unit.cli.conftest import Outcome, Run
from tests.unit.cli.profiles.worlds import assert_refused
from tests.unit.tables.protect.memory import lifts, rows_of, within

JOBS = {"husband": (5, 1, 1, 2), "wife": (1, 5, 2, 1), "single": (2, 2, 4, 2)}


def people(rows: int = 400) -> list[dict[str, str]]:
    chance = random.Random(11)
    found = []
    seen: Counter[str] = Counter()
    for _ in range(rows):
        told = chance.choices([*JOBS], (4, 3, 5))[0]
        job = chance.choices(["clerk", "nurse", "cook", "judge"], JOBS[told])[0]
        seen[told] += 1
        found.append(
            {
                "town": chance.choice(["Ulm", "Bern, BE", 'the "Hague"']),
                "occupation": job if seen[told] % 15 else "",
                "relationship": told,
                "pay": f"{chance.gauss(30 + 9 * (told == 'husband'), 8):.2f}",
                "age": str(chance.randint(1, 4) * 10),
            }
        )
    return found


def csv_of(rows: list[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


PEOPLE = people()
TABLE = csv_of(PEOPLE)
FILES = {"people.csv": TABLE}
ASK = ("protect", "people.csv", "--column", "occupation", "--epsilon", "1/2", "--seconds", "5")


def read(name: str) -> list[dict[str, str]]:
    with Path(name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def joint_of(rows: list[dict[str, str]], secret: str, column: str) -> Counter[tuple[Any, Any]]:
    return Counter((row[secret], row[column] or "(missing)") for row in rows)


def check_promise(made: Mechanism, joint: Counter[tuple[Any, Any]], low: float, up: float) -> None:
    """Audit a mechanism with plain fractions, under the joint of the table."""
    distribution = rows_of(made)
    assert within(lifts(joint, distribution.__getitem__), low, up)


# --- the way through ----------------------------------------------------------------------------


def test_one_command_from_csv_to_csv(run: Run) -> None:
    done = run(
        "protect", "people.csv", "--column", "occupation", "--secret", "relationship",
        "--epsilon-lower", "1.3", "--epsilon-upper", "0.2", "-o", "safe.csv", "--seconds", "5",
        files=FILES,
    )  # fmt: skip
    assert done.code == 0, done
    assert done.made == {"safe.csv", "safe.mechanism.json"}
    assert "CERTIFIED: alip(lower=1.3, upper=0.2)" in done.out
    assert '400 rows: "occupation" replaced, "relationship" left out' in done.out
    assert "missing values of 'occupation' are a separate category" in done.err
    made = Mechanism.load("safe.mechanism.json")
    check_promise(made, joint_of(PEOPLE, "relationship", "occupation"), 1.3, 0.2)
    assert made.encoding is not None
    assert made.encoding.alone is not None
    assert (made.encoding.alone.name, made.encoding.alone.missing) == ("occupation", "(missing)")
    # All else is the same, character by character: the cells before and after are cut out.
    before, after = TABLE.splitlines(keepends=True), Path("safe.csv").read_bytes().decode()
    assert after.endswith("\r\n")
    for old, new, row in zip(before[1:], after.splitlines(keepends=True)[1:], PEOPLE, strict=True):
        kept_town = old[: old.index(f",{row['occupation']},{row['relationship']},")]
        assert new.startswith(kept_town + ",")
        assert new.endswith(f",{row['pay']},{row['age']}\r\n")
    assert after.splitlines()[0] == "town,occupation,pay,age"


def test_from_parquet_to_parquet_with_types_and_notes_kept(run: Run) -> None:
    table = pa.table(
        {
            "id": pa.array(range(len(PEOPLE)), pa.int16()),
            "occupation": pa.array([row["occupation"] or None for row in PEOPLE])
            .dictionary_encode(),
            "relationship": [row["relationship"] for row in PEOPLE],
            "when": pa.array(range(len(PEOPLE)), pa.timestamp("us", "UTC")),
        }
    ).replace_schema_metadata({"note": "keep me"})  # fmt: skip
    buffer = io.BytesIO()
    pq.write_table(table, buffer, row_group_size=150)
    done = run(
        "protect", "people.parquet", "--column", "occupation", "--secret", "relationship",
        "--epsilon", "1/2", "-o", "safe.parquet", "--seconds", "5", "--json",
        files={"people.parquet": buffer.getvalue()},
    )  # fmt: skip
    assert done.code == 0, done
    safe = pq.read_table("safe.parquet")
    assert safe.column_names == ["id", "occupation", "when"]
    assert safe.schema.metadata[b"note"] == b"keep me"
    for name in ("id", "when"):
        assert safe.column(name).equals(table.column(name))
    assert pa.types.is_dictionary(safe.schema.field("occupation").type)
    data = json.loads(done.out)
    assert (data["format"], data["rows"], data["dropped"]) == (
        "liftlock.protection",
        len(PEOPLE),
        ["relationship"],
    )
    assert data["columns"][0]["certificate"]["holds"] is True
    assert data["columns"][0]["file"] == "safe.mechanism.json"
    assert any("written to" in note for note in data["notes"])


def test_the_mechanism_works_on_by_itself(run: Run) -> None:
    assert run(*ASK, "-o", "safe.csv", files=FILES).code == 0
    assert run("audit", "safe.mechanism.json", "--check", "lip=0.5").code == 0
    assert run("audit", "safe.mechanism.json", "--check", "lip=0.4").code == 1
    more = csv_of(people(40))
    again = run(
        "release", "safe.mechanism.json", "more.csv", "-o", "out.csv", files={"more.csv": more}
    )
    assert again.code == 0, again
    assert again.made == {"out.csv"}
    assert len(read("out.csv")) == 40
    counted = run("estimate", "safe.mechanism.json", "safe.csv")
    assert counted.code == 0, counted
    assert "clerk" in counted.out


def test_a_report_is_written_with_the_rest(run: Run) -> None:
    done = run(*ASK, "-o", "safe.csv", "--report", "report.html", files=FILES)
    assert done.code == 0, done
    assert done.made == {"safe.csv", "safe.mechanism.json", "report.html"}
    page = Path("report.html").read_text(encoding="utf-8")
    assert "lip" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_counts_are_read_by_nobody_who_may_not_read_the_table(run: Run) -> None:
    Path("people.csv").write_text(FILES["people.csv"], encoding="utf-8")
    Path("people.csv").chmod(0o600)
    assert run(*ASK, "-o", "safe.csv", "--report", "report.html").code == 0
    for name in ("safe.mechanism.json", "report.html"):
        assert Path(name).stat().st_mode & 0o077 == 0


def test_files_are_replaced_only_by_force(run: Run) -> None:
    assert run(*ASK, "-o", "safe.csv", files=FILES).code == 0
    first = Path("safe.csv").read_bytes()
    assert_refused(run(*ASK, "-o", "safe.csv"), "the file exists already", "--force")
    assert Path("safe.csv").read_bytes() == first
    Path("safe.csv").unlink()
    assert_refused(run(*ASK, "-o", "safe.csv"), "safe.mechanism.json", "the file exists already")
    done = run(*ASK, "-o", "safe.csv", "--force")
    assert done.code == 0
    done = run(*ASK, "-o", "safe.csv", "--force")
    assert "both releases count together" in done.err


# --- several columns ----------------------------------------------------------------------------


def test_columns_are_paired_with_secrets_in_order(run: Run) -> None:
    done = run(
        "protect", "people.csv", "--column", "occupation", "--column", "age",
        "--secret", "relationship", "--secret", "-", "--epsilon", "1/2",
        "--budget", "age", "lip=1", "-o", "safe.csv", "--seconds", "6", "--json",
        files=FILES,
    )  # fmt: skip
    assert done.code == 0, done
    assert done.made == {
        "safe.csv",
        "safe.occupation.mechanism.json",
        "safe.age.mechanism.json",
    }
    data = json.loads(done.out)
    assert [(c["name"], c["secret"]) for c in data["columns"]] == [
        ("occupation", "relationship"),
        ("age", None),
    ]
    first, second = (Mechanism.load(f"safe.{n}.mechanism.json") for n in ("occupation", "age"))
    assert (first.certificate.guarantee, second.certificate.guarantee) == (
        "lip(epsilon=0.5)",
        "lip(epsilon=1)",
    )
    # What both tell about the relationship, by enumeration.
    distributions = rows_of(first), rows_of(second)
    rows = Counter(
        (row["relationship"], row["occupation"] or "(missing)", int(row["age"])) for row in PEOPLE
    )

    def both(job: str, age: int) -> dict[Any, Fraction]:
        return {
            (y, z): p * q
            for y, p in distributions[0][job].items()
            for z, q in distributions[1][age].items()
        }

    least, most = lifts(rows, both)
    assert least is not None
    (account,) = (c["account"] for c in data["combined"] if c["secret"] == "relationship")
    assert Fraction(account["spent"]["eps_upper"]["ratio"]) == most
    assert Fraction(account["spent"]["eps_lower"]["ratio"]) == 1 / least
    assert {c["secret"] for c in data["combined"]} == {"relationship", "age"}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--column", "town", *(3 * ("--secret", "age"))), ("is given 3 times",)),
        (("--column", "occupation"), ("protected twice",)),
        (("--budget", "nobody", "lip=1"), ("'nobody'", "not a --column")),
        (("--budget", "occupation", "lip=1", "--budget", "occupation", "lip=2"), ("twice",)),
        (("--budget", "occupation", "lip"), ("lip",)),
        (("--mechanism", "a.json", "--mechanism", "b.json"), ("--mechanism is given 2 times",)),
        (("--mechanism", "safe.csv"), ("would overwrite the output",)),
        (("--prior", "people.csv", "--prior", "people.csv"), ("--prior",)),
        (("--joint", "people.csv"), ("--joint", "with no secret: give --prior")),
        (("--numbers", "pay"), ("--numbers names pay", "not a --column")),
        (("--domain", "pay=0:9"), ("not a --column",)),
        (("--drop", "occupation"), ("protected column is dropped",)),
        (("--drop", "town", "--keep", "town"), ("both kept and dropped",)),
        (("--seconds", "0"), ("--seconds",)),
        (("--seconds", "soon"), ("--seconds",)),
        (("--method", "magic"), ("magic",)),
        (("--secret", "occupation"), ("its own secret",)),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(
    run: Run, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    assert_refused(run(*ASK, "-o", "safe.csv", *arguments, files=FILES), *parts)


# --- public joints and priors -------------------------------------------------------------------

JOINT = "secret,clerk,nurse,cook,judge\nhusband,5,1,1,2\nwife,1,5,2,1\nsingle,2,2,4,2\n"
FULL = csv_of([row for row in PEOPLE if row["occupation"]])
PUBLIC = ("--secret", "relationship", "--joint", "joint.csv")


def test_a_public_joint_is_taken_as_it_is(run: Run) -> None:
    files = {"people.csv": FULL, "joint.csv": JOINT}
    done = run(*ASK, *PUBLIC, "-o", "safe.csv", "--json", files=files)
    assert done.code == 0, done
    assert json.loads(done.out)["columns"][0]["learned"] is False
    made = Mechanism.load("safe.mechanism.json")
    rows = {
        (told, job): count
        for told, counts in JOBS.items()
        for job, count in zip(("clerk", "nurse", "cook", "judge"), counts, strict=True)
    }
    check_promise(made, Counter(rows), 0.5, 0.5)


def test_values_that_a_public_joint_does_not_know_are_refused_at_their_line(run: Run) -> None:
    lines = FULL.splitlines(keepends=True)
    lines[7] = "Ulm,pilot,wife,30.00,20\r\n"
    files = {"people.csv": "".join(lines), "joint.csv": JOINT}
    refused = run(*ASK, *PUBLIC, "-o", "safe.csv", files=files)
    assert_refused(refused, "not an input", "line 8", "'pilot'", "--unseen map")
    mapped = run(*ASK, *PUBLIC, "-o", "safe.csv", "--unseen", "map")
    assert mapped.code == 0, mapped
    assert "mapped to 'nurse'" in mapped.err or "mapped to 'clerk'" in mapped.err
    lines[7] = "Ulm,,wife,30.00,20\r\n"
    files = {"people.csv": "".join(lines)}
    refused = run(*ASK, *PUBLIC, "-o", "other.csv", files=files)
    assert_refused(refused, "missing value", "line 8")


@pytest.mark.parametrize("policy", ["category", "keep", "refuse"])
def test_policies_for_missing_cells_hold_for_public_joints(run: Run, policy: str) -> None:
    more = "\n".join(f"{line},1" for line in JOINT.splitlines()).replace(
        "judge,1", "judge,(missing)"
    )
    files = {"people.csv": TABLE, "joint.csv": more + "\n"}
    done = run(*ASK, *PUBLIC, "-o", "safe.csv", "--missing", policy, files=files)
    if policy == "refuse":
        assert_refused(done, "missing value", "line")
        return
    assert done.code == 0, done
    empty = [row["occupation"] == "" for row in read("safe.csv")]
    if policy == "keep":
        assert empty == [row["occupation"] == "" for row in PEOPLE]
    else:
        assert any(empty)


def test_a_public_prior(run: Run) -> None:
    prior = "label,count\nclerk,4\nnurse,3\ncook,3\njudge,1\n(missing),0\n"
    files = {"people.csv": FULL, "prior.csv": prior}
    done = run(*ASK, "--prior", "prior.csv", "-o", "safe.csv", files=files)
    assert done.code == 0, done
    refused = run(*ASK, "--prior", "prior.csv", "-o", "s.csv", files={"people.csv": TABLE})
    assert_refused(refused, "missing value", "line")


@pytest.mark.parametrize(
    "arguments", [("--rare", "3"), ("--smooth", "1"), ("--numbers", "occupation"), ("--bins", "4")]
)
def test_rules_for_counting_are_refused_where_nothing_is_counted(
    run: Run, arguments: tuple[str, ...]
) -> None:
    prior = "label,count\nclerk,4\nnurse,3\ncook,3\njudge,1\n"
    files = {"people.csv": FULL, "prior.csv": prior}
    done = run(*ASK, "--prior", "prior.csv", "-o", "safe.csv", *arguments, files=files)
    assert_refused(done, "counted")


# --- policies -----------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [False, True])
def test_missing_cells_kept(run: Run, secret: bool) -> None:
    more = ("--secret", "relationship") if secret else ()
    done = run(*ASK, *more, "--epsilon", "1", "--missing", "keep", "-o", "safe.csv", files=FILES)
    assert done.code == 0, done
    empty = [row["occupation"] == "" for row in read("safe.csv")]
    assert empty == [row["occupation"] == "" for row in PEOPLE]
    if secret:
        made = Mechanism.load("safe.mechanism.json")
        check_promise(made, joint_of(PEOPLE, "relationship", "occupation"), 1, 1)
        assert "what that tells about 'relationship' is in the guarantee" in done.err
    else:
        assert "not protected" in done.err


def test_missing_cells_refused(run: Run) -> None:
    done = run(*ASK, "--missing", "refuse", "-o", "safe.csv", files=FILES)
    assert_refused(done, "values of 'occupation' are missing", "--missing category or keep")


def test_texts_that_mean_missing(run: Run) -> None:
    marked = csv_of([row | {"occupation": row["occupation"] or "?"} for row in PEOPLE])
    done = run(*ASK, "--missing-text", "?", "-o", "safe.csv", files={"people.csv": marked})
    assert done.code == 0, done
    assert "?" not in {row["occupation"] for row in read("safe.csv")}
    rules = Mechanism.load("safe.mechanism.json").encoding
    assert rules is not None
    assert rules.columns[0].missing == "(missing)"


def test_rare_values_are_merged_and_new_data_may_bring_others(run: Run) -> None:
    rows = [*PEOPLE, *({**PEOPLE[0], "occupation": name} for name in ("pope", "spy", "spy"))]
    done = run(*ASK, "--rare", "5", "-o", "safe.csv", files={"people.csv": csv_of(rows)})
    assert done.code == 0, done
    assert "2 values in fewer than 5 rows were merged into (other)" in done.err
    assert not {"pope", "spy"} & {row["occupation"] for row in read("safe.csv")}
    more = csv_of([{**PEOPLE[0], "occupation": name} for name in ("spy", "clerk", "queen")])
    command = ("release", "safe.mechanism.json", "more.csv", "-o", "out.csv")
    assert_refused(run(*command, files={"more.csv": more}), "line 4", "'queen'", "--unseen map")
    assert run(*command, "--unseen", "map").code == 0


def test_columns_that_stay(run: Run) -> None:
    rows = [row | {"code": row["relationship"][0], "hint": f"{row['relationship'][0]}{at % 2}"}
            for at, row in enumerate(PEOPLE)]  # fmt: skip
    secret = ("--secret", "relationship", "-o", "safe.csv")
    files = {"people.csv": csv_of(rows)}
    refused = run(*ASK, *secret, files=files)
    assert_refused(
        refused, "'code' determines the secret 'relationship'", "--drop code", "--keep code"
    )
    done = run(*ASK, *secret, "--drop", "code")
    assert done.code == 0, done
    assert "a kept column reveals more" in done.out or "kept columns reveal more" in done.out
    assert "unlimited" in done.out
    assert "code" not in read("safe.csv")[0]
    kept = run(*ASK, *secret, "--keep", "code", "--keep", "relationship", "--force")
    assert kept.code == 0, kept
    assert {"code", "relationship"} <= set(read("safe.csv")[0])
    assert "'code' is kept by --keep" in kept.err


# --- numbers and priors of each row's own -------------------------------------------------------


def test_numbers_without_a_secret(run: Run) -> None:
    done = run(
        "protect", "people.csv", "--column", "pay", "--domain", "0:80", "--bins", "16",
        "--epsilon", "1", "-o", "safe.csv", "--seconds", "5", files=FILES,
    )  # fmt: skip
    assert done.code == 0, done
    assert all(0 <= float(row["pay"]) <= 80 for row in read("safe.csv"))
    assert [row["town"] for row in read("safe.csv")] == [row["town"] for row in PEOPLE]


def test_numbers_beside_a_secret(run: Run) -> None:
    done = run(
        "protect", "people.csv", "--column", "pay", "--secret", "relationship",
        "--domain", "pay=0:80", "--bins", "pay=6", "--epsilon", "1/4", "-o", "safe.csv",
        "--seconds", "5", files=FILES,
    )  # fmt: skip
    assert done.code == 0, done
    made = Mechanism.load("safe.mechanism.json")
    assert made.encoding is not None
    (code,) = made.encoding.columns
    rows: Counter[tuple[Any, Any]] = Counter()
    for row in PEOPLE:
        inside = sum(edge <= float(row["pay"]) for edge in code.edges[1:-1])
        rows[row["relationship"], code.bins[inside]] += 1
    check_promise(made, rows, 0.25, 0.25)
    outputs = {repr(label) for label in made.table.outputs.labels}
    assert {row["pay"] for row in read("safe.csv")} <= outputs | {
        str(label) for label in made.table.outputs.labels
    }
    again = run("release", "safe.mechanism.json", "people.csv", "-o", "again.csv")
    assert again.code == 0, again
    counted = run("estimate", "safe.mechanism.json", "safe.csv")
    assert counted.code == 0, counted


def test_each_row_with_a_prior_of_its_own(run: Run) -> None:
    chance = random.Random(2)
    rows = []
    for _ in range(60):
        yes = chance.uniform(0.2, 0.8)
        rows.append({"x": chance.choice(["no", "yes"]), "p_no": repr(1 - yes), "p_yes": repr(yes)})
    ask = ("protect", "t.csv", "--column", "x", "--local-priors", "p_", "--epsilon", "1")
    kept = ("--keep", "p_no", "--keep", "p_yes")
    done = run(*ask, *kept, "-o", "safe.csv", files={"t.csv": csv_of(rows)})
    assert done.code == 0, done
    assert {row["x"] for row in read("safe.csv")} <= {"no", "yes"}
    assert [row["p_no"] for row in read("safe.csv")] == [row["p_no"] for row in rows]
    assert Mechanism.load("safe.mechanism.json").certificate.guarantee == "lip(epsilon=1)"
    assert_refused(
        run(*ask[:5], "q_", *ask[6:], "-o", "s.csv"), "no columns of probabilities have this prefix"
    )
    assert_refused(run(*ask, "--column", "p_no", "-o", "s.csv"), "--local-priors takes one")
    bare = run(*ask, "--seconds", "1e400", "-o", "bare.csv")
    assert bare.code == 0, bare
    assert Path("bare.csv").read_text().splitlines()[0] == "x"
    rows[30] |= {"x": "yes", "p_no": "1", "p_yes": "0"}
    refused = run(*ask, "-o", "s.csv", files={"t.csv": csv_of(rows)})
    assert_refused(refused, "probability 0", "line 32")


@pytest.mark.parametrize("method", ["arc", "safe-response"])
def test_rows_with_budgets_of_their_own_are_estimated_from(run: Run, method: str) -> None:
    chance = random.Random(3)
    rows = []
    for _ in range(200):
        yes = chance.uniform(0.2, 0.8)
        budget = chance.choice(["0.5", "2"])
        value = "yes" if chance.random() < yes else "no"
        rows.append({"x": value, "p_no": repr(1 - yes), "p_yes": repr(yes), "eps": budget})
    ask = ("protect", "t.csv", "--column", "x", "--local-priors", "p_", "--local-budgets", "eps")
    kept = ("--keep", "p_no", "--keep", "p_yes", "--method", method, "-o", "safe.csv")
    done = run(*ask, "--epsilon", "2", *kept, "--report", "r.html", files={"t.csv": csv_of(rows)})
    assert done.code == 0, done
    assert "budget 0.5" in Path("r.html").read_text(encoding="utf-8")
    assert [row["eps"] for row in read("safe.csv")] == [row["eps"] for row in rows]
    made = Mechanism.load("safe.mechanism.json")
    assert isinstance(made.channel, UserChannel)
    assert {str(lower) for lower, _ in made.channel.limits} == {"0.5", "2"}
    assert "p_yes" not in Path("safe.mechanism.json").read_text(encoding="utf-8")
    known = ("--local-priors", "p_", "--local-budgets", "eps")
    found = run("estimate", "safe.mechanism.json", "safe.csv", *known, "-o", "sums.json", "--json")
    assert found.code == 0, found
    # The same in Python, from the same cells.
    cells = read("safe.csv")
    masses = [[float(row["p_no"]), float(row["p_yes"])] for row in cells]
    priors = PerUserPriors.of(["no", "yes"], masses).with_budgets([row["eps"] for row in cells])
    reports: Any = [row["x"] for row in cells]
    if method == "arc":
        reports = np.array([int(report) for report in reports])
    expected = made.estimate(reports, priors=priors)
    told = json.loads(found.out)["answers"]
    assert [each["value"] for each in told] == [answer.value for answer in expected.answers]
    again = run("estimate", "safe.mechanism.json", "sums.json", "--json")
    assert json.loads(again.out)["answers"] == told
    estimate = ("estimate", "safe.mechanism.json", "safe.csv")
    assert_refused(run(*estimate), "--local-priors")
    assert_refused(run(*estimate, "--local-priors", "p_"), "have no budgets")
    small = run(*ask, "--epsilon", "1", "-o", "s.csv")
    assert_refused(small, "exceeds the guarantee")
    rows[3]["eps"] = "much"
    bad = run(*ask, "--epsilon", "2", "-o", "s.csv", files={"t.csv": csv_of(rows)})
    assert_refused(bad, "not a budget", "line 5")
    alone = run(
        "protect",
        "t.csv",
        "--column",
        "x",
        "--local-budgets",
        "eps",
        "--epsilon",
        "1",
        "-o",
        "s.csv",
    )
    assert_refused(alone, "without per-user priors")


# --- bad input ----------------------------------------------------------------------------------

SMALL = "s,x,n\na,u,1\nb,v,2\na,v,3\nb,u,4\na,u,5\nb,v,6\na,u,7\nb,v,8\na,u,9\nb,v,10\n"
X = ("--column", "x", "--epsilon", "1")


def refused(run: Run, content: str | bytes, *arguments: str, name: str = "t.csv") -> Outcome:
    return run("protect", name, "-o", "safe.csv", *arguments, files={name: content})


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--column", "z", "--epsilon", "1"), ("'z'",)),
        ((*X, "--secret", "z"), ("'z'",)),
        ((*X, "--drop", "z"), ("'z'",)),
        ((*X, "--keep", "z"), ("'z'",)),
        ((*X, "--delimiter", ";"), ("",)),
        ((*X, "--names", "a,b"), ("",)),
        (("--column", "x"), ("epsilon",)),
        (("--column", "x", "--epsilon", "-1"), ("epsilon",)),
        (("--column", "x", "--epsilon", "zero"), ("zero",)),
        (("--column", "x", "--epsilon", "1", "--epsilon-lower", "2"), ("epsilon",)),
        ((*X, "--missing", "drop"), ("drop",)),
        ((*X, "--unseen", "drop"), ("drop",)),
        ((*X, "--rare", "-1"), ("-1",)),
        ((*X, "--rare", "100"), ("rarer than 100",)),
        ((*X, "--smooth", "-1"), ("smooth",)),
        (("--column", "n", "--domain", "9:0", "--epsilon", "1"), ("9",)),
        (("--column", "n", "--domain", "0:nan", "--epsilon", "1"), ("nan",)),
        (("--column", "n", "--bins", "1.5", "--epsilon", "1"), ("1.5",)),
        (("--column", "x", "--numbers", "x", "--epsilon", "1"), ("not a number", "line 2", "'u'")),
        ((*X, "--report", "safe.csv"), ("the report would overwrite the output",)),
        ((*X, "--report", "report.pdf"), (".html",)),
        ((*X, "--report", "no/such/report.html"), ("no such folder",)),
        ((*X, "--mechanism", "t.csv"), ("would overwrite TABLE",)),
    ],
)
def test_bad_requests(run: Run, arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_refused(refused(run, SMALL, *arguments), *parts)


@pytest.mark.parametrize(
    ("content", "arguments", "parts"),
    [
        ("", X, ("empty",)),
        ("s,x,n\n", X, ("rows",)),
        ("\n\n", X, ()),
        (SMALL + "a,u\n", X, ("line 12",)),
        (SMALL + "a,u,1,2\n", X, ("line 12",)),
        (SMALL + 'a,"u,1\n', X, ("",)),
        (SMALL.replace("u", "ü").encode("latin-1"), X, ("UTF-8",)),
        (SMALL.encode("utf-16"), X, ("UTF-16",)),
        (b"PK\x03\x04" + b"\0" * 40, X, ("Excel",)),
        (SMALL.replace("b,", "a,"), (*X, "--secret", "s"), ("same value in all rows",)),
        (SMALL.replace("v", "u"), X, ("all rows have the same value",)),
        ("s,x\n" + "a,v\nb,u\n" * 9, (*X, "--secret", "s"), ("is the secret 's' itself",)),
        ("s,x\n" + "a,v\nb,u\n" * 9, X, ("kept column 's' determines the protected column 'x'",)),
        ("x,y\n" + "".join(f"v{at},1\n" for at in range(9)), X, ("9 distinct values in 9 rows",)),
        (SMALL + "a,(missing),1\n", X, ("'(missing)'", "a reserved name")),
        (SMALL + "a,u,six\n", ("--column", "n", "--numbers", "n", "--epsilon", "1"),
         ("not a number", "line 12", "'six'")),
        (SMALL + "a,u,inf\n", ("--column", "n", "--domain", "0:9", "--epsilon", "1"),
         ("not a number", "line 12", "'inf'")),
        (SMALL + "a,u,NaN\n", ("--column", "n", "--domain", "0:9", "--epsilon", "1"),
         ("not a number", "line 12")),
        (SMALL.replace("x", "s", 1), ("--column", "s", "--epsilon", "1"), ("'s'",)),
    ],
)  # fmt: skip
def test_bad_tables(
    run: Run, content: str | bytes, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    assert_refused(refused(run, content, *arguments), *parts)


@pytest.mark.parametrize(
    ("output", "parts"),
    [
        ("t.csv", ("t.csv",)),
        ("./t.csv", ("t.csv",)),
        ("safe.xlsx", ("unknown output format",)),
        ("safe", ("unknown output format",)),
        ("no/such/safe.csv", ("no such folder",)),
        (".", ()),
    ],
)
def test_bad_outputs(run: Run, output: str, parts: tuple[str, ...]) -> None:
    for force in ((), ("--force",)):
        done = run("protect", "t.csv", *X, "-o", output, *force, files={"t.csv": SMALL})
        assert_refused(done, *parts)
    assert Path("t.csv").read_text() == SMALL


def test_a_link_to_the_input_is_the_input(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(SMALL)
    (tmp_path / "link.csv").symlink_to("t.csv")
    assert_refused(run("protect", "t.csv", *X, "-o", "link.csv", "--force"), "link.csv")


def test_tables_that_are_not_there(run: Run) -> None:
    assert_refused(run("protect", "t.csv", *X, "-o", "safe.csv"), "t.csv")
    Path("folder").mkdir()
    assert_refused(run("protect", "folder", *X, "-o", "safe.csv"), "folder")


# --- nothing half done --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        "liftlock.mechanism.Mechanism.to_json",
        "liftlock.report.html.html_report",
        "liftlock.cli.protect.check_unchanged",
    ],
)
def test_what_goes_wrong_late_keeps_the_old_files(
    run: Run, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Behind a link, too."""
    Path("safe.csv").symlink_to("real.csv")
    command = (*ASK, "-o", "safe.csv", "--report", "r.html", "--force")
    assert run(*command, files=FILES).code == 0
    old = {path.name: path.read_bytes() for path in Path().iterdir()}

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(place, fail)
    assert run(*command, "--seconds", "1").code == 2
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == old
    assert Path("safe.csv").is_symlink()


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("liftlock.tables.releases.ColumnRelease.arrays", KeyboardInterrupt()),
        ("liftlock.tables.protect.plan.design_column", KeyboardInterrupt()),
        ("liftlock.tables.protect.plan.design_column", "not certified"),
        ("liftlock.mechanism.Mechanism.to_json", KeyboardInterrupt()),
        ("liftlock.cli.protect.write_atomically", OSError(28, "No space left on device")),
        ("liftlock.report.html.html_report", OSError(28, "No space left on device")),
        ("liftlock._runtime.naming.NewFile.give_name", OSError(28, "No space left on device")),
    ],
)
@pytest.mark.parametrize("output", ["safe.csv", "safe.parquet"])
def test_what_goes_wrong_late_leaves_nothing(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    error: BaseException | str,
    output: str,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        if isinstance(error, BaseException):
            raise error
        truth = Channel.from_rows({"a": {"a": 1, "b": 0}, "b": {"a": 0, "b": 1}})
        raise NotCertified(LIP("1").certify(truth, Prior.uniform([*"ab"])), "none")

    monkeypatch.setattr(place, fail)
    done = run(*ASK, "-o", output, "--report", "r.html", files=FILES)
    assert [path.name for path in Path().iterdir()] == ["people.csv"]
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    if isinstance(error, OSError):
        assert done.code == 2
        assert "No space left" in done.err
    elif isinstance(error, str):
        assert done.code in (1, 2)
        assert "does not hold" in done.err
    else:
        assert done.code not in (0, 2)


@pytest.mark.parametrize("output", ["safe.csv", "safe.parquet", "safe.arrow"])
def test_no_space_left_leaves_nothing(run: Run, output: str) -> None:
    Path("people.csv").write_text(csv_of(people(3000)))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, limits[1]))
    try:
        done = run(*ASK, "-o", output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_refused(done, "cannot write", "make room")
    assert run(*ASK, "-o", output).code == 0  # and it can be run again


def test_no_space_left_for_the_mechanism_leaves_nothing(run: Run) -> None:
    few = csv_of(PEOPLE[:60])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2500, limits[1]))
    try:
        Path("people.csv").write_text(few)
        assert len(few) < 2500
        done = run(*ASK, "-o", "safe.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_refused(done, "cannot write at safe.mechanism.json:", "make room")


def test_several_columns_as_one_value(run: Run) -> None:
    done = run(
        "protect", "people.csv", "--column", "occupation", "--column", "age", "--together",
        "--secret", "relationship", "--epsilon", "1/2", "--rare", "12", "-o", "safe.csv",
        "--seconds", "5", files=FILES,
    )  # fmt: skip
    assert done.code == 0, done
    assert done.made == {"safe.csv", "safe.mechanism.json"}
    made = Mechanism.load("safe.mechanism.json")
    assert made.encoding is not None
    assert made.encoding.merged
    becomes = {(str(one), age): other for (one, age), other in made.encoding.merged}
    rows: Counter[tuple[Any, Any]] = Counter()
    for row in PEOPLE:
        cell: Any = (row["occupation"] or "(missing)", int(row["age"]))
        rows[row["relationship"], becomes.get(cell, cell)] += 1
    check_promise(made, rows, 0.5, 0.5)
    again = run("release", "safe.mechanism.json", "people.csv", "-o", "again.csv")
    assert again.code == 0, again
    assert [row["pay"] for row in read("again.csv")] == [row["pay"] for row in PEOPLE]


def test_a_table_that_changes_meanwhile_is_not_released(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted must be what is released: otherwise the guarantee is about other rows."""
    from liftlock.tables import releases as releasing

    draw = releasing.ColumnRelease.arrays

    def written_to(self: Any, batch: Any) -> Any:
        with Path("t.csv").open("a") as stream:
            stream.write("a,m\n")
        return draw(self, batch)

    monkeypatch.setattr(releasing.ColumnRelease, "arrays", written_to)
    rows = "".join(f"{x},{s}\n" for x in "ab" for s in "mf") * 30
    outcome = run(
        *("protect", "t.csv", "--column", "x", "--secret", "s", "--epsilon", "1", "-o", "o.csv"),
        files={"t.csv": f"x,s\n{rows}"},
    )
    assert outcome.code == 2
    assert "the table changed while it was being protected at t.csv" in outcome.err
    assert not outcome.made


def test_missing_cells_that_stay_limit_what_is_said(run: Run) -> None:
    """Whoever has a value has told that much: the promise is about those, and says so."""
    rows = "".join(f"{x}\n" for x in ("a", "b", "c", '""') * 20)
    ask = ("protect", "t.csv", "--column", "x", "--epsilon", "1", "-o", "o.csv")
    said = "among those who have a value: who has none can be seen"
    files = {"t.csv": f"x\n{rows}"}
    kept = run(*ask, "--missing", "keep", "--report", "r.html", files=files)
    assert kept.code == 0, kept
    assert said in kept.out
    assert "who has none can be seen" in Path("r.html").read_text(encoding="utf-8")
    category = run(*ask, "--report", "r.html", "--force", files=files)
    assert category.code == 0, category
    assert said not in category.out
    assert "who has none can be seen" not in Path("r.html").read_text(encoding="utf-8")


def test_one_budget_for_all_columns(run: Run) -> None:
    done = run(
        "protect", "people.csv", "--column", "occupation", "--column", "town", "--drop", "pay",
        "--secret", "relationship", "--total", "lip=0.5", "-o", "safe.csv",
        "--seconds", "4", "--json", files=FILES,
    )  # fmt: skip
    assert done.code == 0, done
    data = json.loads(done.out)
    assert data["total"]["guarantee"] == "lip(epsilon=0.5)"
    assert [share["column"] for share in data["total"]["shares"]] == ["occupation", "town"]
    jobs, towns = (
        rows_of(Mechanism.load(f"safe.{name}.mechanism.json")) for name in ("occupation", "town")
    )
    rows = Counter((r["relationship"], r["occupation"] or "(missing)", r["town"]) for r in PEOPLE)

    def chances(job: str, town: str) -> dict[Any, Fraction]:
        return {(y, z): p * q for y, p in jobs[job].items() for z, q in towns[town].items()}

    assert within(lifts(rows, chances), 0.5, 0.5)
    shown = run(
        "protect", "people.csv", "--column", "occupation", "--column", "town", "--drop", "pay",
        "--secret", "relationship", "--total", "lip=0.5", "--weight", "town=1/2", "-o", "two.csv",
        "--seconds", "4", "--report", "two.html",
    )  # fmt: skip
    assert shown.code == 0, shown
    assert "all released columns together keep lip(epsilon=0.5)" in shown.out
    assert "WARNING: together" not in shown.out
    assert "Shares of the total budget" in Path("two.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--total", "lip=1", "--epsilon", "1"), ("--epsilon does not go with --total",)),
        (("--total", "lip=1", "--budget", "town", "lip=1"), ("--budget does not go with",)),
        (("--epsilon", "1", "--weight", "town=2"), ("--weight goes with --total",)),
        (("--total", "lip=1", "--weight", "pay=2"), ("not a --column",)),
        (("--total", "lip=1", "--together"), ("for columns protected together",)),
        (("--total", "lip"), ("lip",)),
    ],
)
def test_totals_that_do_not_fit_are_refused(
    run: Run, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    asked = ("protect", "people.csv", "--column", "occupation", "--column", "town")
    assert_refused(run(*asked, "-o", "safe.csv", *arguments, files=FILES), *parts)


# --- several rows of a person ---------------------------------------------------------------------


def visits(people: int = 50, most: int = 4) -> list[dict[str, str]]:
    chance = random.Random(3)
    found = []
    for number in range(people):
        told = chance.choice("fm")
        usual = chance.choices(["cook", "nurse"], [3, 1] if told == "f" else [1, 3])[0]
        for _ in range(1 + number % most):
            job = usual if chance.random() < 0.8 else chance.choice(["cook", "nurse"])
            found.append({"patient": f"p{number}", "age": "40", "job": job, "sex": told})
    chance.shuffle(found)
    return found


VISITS = visits()
OF_PEOPLE = (
    "protect", "visits.csv", "--column", "job", "--secret", "sex", "--epsilon", "1/2",
    "--seconds", "4",
)  # fmt: skip


@pytest.mark.parametrize("way", ["divide", "repeat"])
def test_a_promise_for_a_person(run: Run, way: str) -> None:
    files = {"visits.csv": csv_of(VISITS), "more.csv": csv_of(visits(60, 5))}
    asked = ("--person", "patient", "--per-person", way, "-o", "safe.csv")
    done = run(*OF_PEOPLE, *asked, "--json", files=files)
    assert done.code == 0, done
    data = json.loads(done.out)
    assert data["rows"] == len(VISITS)
    assert (data["person"]["mode"], data["person"]["people"]) == (way, 50)
    assert data["person"]["most_rows"] == 4
    assert list(read("safe.csv")[0]) == ["age", "job"]
    made = Mechanism.load("safe.mechanism.json")
    assert made.person is not None
    assert str(made.promised) == "lip(0.5)"
    if way == "divide":
        least = {min(line.values()) for line in rows_of(made).values()}
        most = {max(line.values()) for line in rows_of(made).values()}
        assert (max(most) / min(least)) ** 4 <= Fraction("1.6487212707001282")
    again = run("release", "safe.mechanism.json", "visits.csv", "-o", "again.parquet")
    assert again.code == 0, again
    assert "PER PERSON: lip(epsilon=0.5) for all rows of one 'patient'" in again.out
    table = pq.read_table("again.parquet")
    assert table.column_names == ["age", "job"]
    if way == "repeat":
        seen: dict[str, set[str]] = {}
        for row, job in zip(VISITS, table["job"].to_pylist(), strict=True):
            seen.setdefault(row["patient"], set()).add(job)
        assert all(len(jobs) == 1 for jobs in seen.values())
    more = run("release", "safe.mechanism.json", "more.csv", "-o", "more-safe.csv")
    if way == "repeat":
        assert more.code == 0, more
    else:
        assert_refused(more, "more rows than the 4 that the promise covers", "more.csv")
    without = files | {"bare.csv": csv_of([{"job": row["job"]} for row in VISITS])}
    assert_refused(
        run("release", "safe.mechanism.json", "bare.csv", "-o", "bare-safe.csv", files=without),
        "no such column",
        "'patient'",
    )


def test_people_with_several_rows_are_noticed(run: Run) -> None:
    done = run(*OF_PEOPLE, "-o", "safe.csv", "--json", files={"visits.csv": csv_of(VISITS)})
    assert done.code == 0, done
    data = json.loads(done.out)
    (found,) = data["repeating"]
    assert (found["name"], found["values"], found["most_rows"]) == ("patient", 50, 4)
    assert_refused(run(*OF_PEOPLE, "-o", "a.csv", "--per-person", "divide"), "goes with --person")


def test_a_ledger_has_one_report_of_each_person(run: Run) -> None:
    files = {"visits.csv": csv_of(VISITS)}
    ledger = ("--ledger", "book.json", "--id", "patient", "--person", "patient")
    done = run(*OF_PEOPLE, *ledger, "--per-person", "repeat", "-o", "safe.csv", files=files)
    assert done.code == 0, done
    (entry,) = Ledger.load("book.json").entries
    assert len(entry.people) == 50
    refused = run(*OF_PEOPLE, *ledger, "--per-person", "divide", "-o", "again.csv")
    assert_refused(refused, "an account of rows that share a budget", "--per-person repeat")
    # Without --person ids that repeat are refused, as ever.
    assert_refused(run(*OF_PEOPLE, *ledger[:4], "-o", "more.csv"), "twice")


def test_another_release_of_the_same_rows_is_said_to_add_up(run: Run) -> None:
    """Two reports of one value, by enumeration."""
    done = run(
        "protect", "visits.csv", "--column", "job", "--epsilon", "1/2", "-o", "safe.csv",
        files={"visits.csv": csv_of(VISITS)},
    )  # fmt: skip
    assert done.code == 0, done
    chances = rows_of(Mechanism.load("safe.mechanism.json"))
    rows = Counter((row["job"], row["job"]) for row in VISITS)

    def both(job: str) -> dict[Any, Fraction]:
        each = chances[job].items()
        return {(y, z): p * q for y, p in each for z, q in each}

    least, most = lifts(rows, both)
    assert least is not None
    worst = max(-math.log(least), math.log(most))
    again = run("release", "safe.mechanism.json", "visits.csv", "-o", "new-name.csv")
    (said,) = re.findall(r"two tell up to ([0-9.]+) nats \(lip\), one ([0-9.]+)", again.err)
    assert float(said[0]) == pytest.approx(worst, rel=1e-5)
    assert float(said[0]) > float(said[1])
    record = ("--ledger", "book.json", "--who", "visitors")
    kept = run("release", "safe.mechanism.json", "visits.csv", "-o", "third.csv", *record)
    assert "adds to this one" not in kept.err
