"""`liftlock account`: the truth about repeated releases, and a ledger that only grows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Outcome, Run

# Likelihoods 3 : 1 under a fair prior: one release leaks ln 2, two leak ln 5, three ln 14.
FILES = {
    "c.csv": "input,no,yes\nno,3/4,1/4\nyes,1/4,3/4\n",
    "p.csv": "label,count\nno,1\nyes,1\n",
    "skewed.csv": "label,count\nno,9\nyes,1\n",
    "people.csv": "id,age\nann,3\nbob,4\n",
}


@pytest.fixture
def made(run: Run) -> Run:
    lock = ["lock", "c.csv", "--prior", "p.csv", "--guarantee", "lip=ln 2", "-o", "m.json"]
    assert run(*lock, files=FILES).code == 0
    return run


def record(run: Run, *more: str, who: str = "staff", about: str = "smokes") -> Outcome:
    return run("account", "l.json", "--record", "m.json", "--who", who, "--about", about, *more)


def one_line(outcome: Outcome, code: int) -> str:
    assert outcome.code == code
    assert outcome.out == ""
    (line,) = outcome.err.splitlines()
    assert line.startswith("liftlock: ")
    return line


def test_the_sum_is_not_believed(made: Run) -> None:
    first = record(made)
    assert (first.code, set(first.made)) == (0, {"l.json"})
    assert "note: release 1 recorded in l.json" in first.err
    outcome = record(made, "--note", "again")
    lines = [line.strip() for line in outcome.out.splitlines()]
    assert 'cohort "staff"' in lines
    assert (
        'about "smokes": 2 releases of lip(ln 2), of the same value; a prior on 2 symbols' in lines
    )
    assert any(line.startswith("LIP ") and "1.609438 nats  exact" in line for line in lines)
    assert (
        "budgets add up to 1.38629, but the true leakage is 1.60944: LIP budgets do not add up"
        in lines
    )
    assert "exact: 6 cells: 2 inputs x C(3, 2)" in lines
    (cost,) = (line for line in lines if line.startswith("one more release by lip(ln 2) "))
    assert cost.endswith("LIP from 1.609438 nats to 2.639057 nats")
    again = made("account", "l.json")
    assert (again.code, again.out, again.err) == (0, outcome.out, "")


def test_a_limit_refuses_and_writes_nothing(made: Run) -> None:
    assert record(made, "--limit", "lip=ln 5").code == 0
    assert record(made, "--limit", "lip=ln 5").code == 0
    before = Path("l.json").read_bytes()
    line = one_line(record(made, "--limit", "lip=ln 5"), 1)
    assert line == (
        "liftlock: refused: release 3 about 'smokes' of 'staff' exceeds lip(ln 5): "
        "after 3 releases lip is 2.63906 nats"
    )
    assert Path("l.json").read_bytes() == before
    kept = made("account", "l.json", "--limit", "lip=ln 5")
    assert kept.code == 0
    assert "limit lip(ln 5): kept" in kept.out
    broken = made("account", "l.json", "--limit", "lip=1.6")
    assert broken.code == 1
    assert "limit lip(1.6): NOT certainly kept" in broken.out
    assert "staff, about 'smokes', exceeds lip(1.6)" in broken.err


def test_people_by_their_ids(made: Run) -> None:
    people = ["--people", "people.csv", "--column", "id", "--about", "smokes"]
    assert made("account", "l.json", "--record", "m.json", *people).code == 0
    Path("one.csv").write_text("id\nbob\n")
    people[1] = "one.csv"
    outcome = made("account", "l.json", "--record", "m.json", *people)
    assert outcome.code == 0
    assert outcome.out.count("1 person\n") == 2
    assert "bob" not in Path("l.json").read_text()
    Path("one.csv").write_text("id\nbob\n\nbob\n")
    line = one_line(made("account", "l.json", "--record", "m.json", *people), 2)
    assert "a person given twice at one.csv, line 4, column 1 ('id')" in line
    people[3] = "name"
    assert "name" in one_line(made("account", "l.json", "--record", "m.json", *people), 2)


def test_json(made: Run) -> None:
    record(made)
    record(made, about="drinks")
    outcome = made("account", "l.json", "--json", "--limit", "lip=1")
    data = json.loads(outcome.out)
    assert (outcome.code, data["format"], data["entries"]) == (0, "liftlock.account", 2)
    (group,) = data["groups"]
    assert [item["about"] for item in group["items"]] == ["smokes", "drinks"]
    item = group["items"][0]
    assert item["spent"]["lip"]["ratio"] == "2"
    assert (item["spent"]["lip"]["exact"], item["spent"]["lip"]["accountant"]) == (True, "exact")
    (after,) = item["one_more"].values()
    assert after["lip"]["ratio"] == "5"
    assert group["together"]["readings"]["lip"]["ratio"] == "6"
    assert data["limit"] == {"limit": "lip(1)", "kept": True}


def test_another_prior(made: Run) -> None:
    record(made)
    record(made)
    outcome = made("account", "l.json", "--prior", "skewed.csv", "--json")
    (group,) = json.loads(outcome.out)["groups"]
    # 1/10 + 9/10 * 9, against the rare symbol.
    assert group["items"][0]["spent"]["eps_lower"]["ratio"] == "41/5"
    odd = one_line(
        made(
            "account", "l.json", "--prior", "odd.csv", files={"odd.csv": "label,count\na,1\nb,1\n"}
        ),
        2,
    )
    assert "inputs of l.json and odd.csv do not match: 'no', 'yes' only in l.json" in odd


def test_mechanisms_in_different_contexts(made: Run) -> None:
    lock = ["lock", "c.csv", "--prior", "skewed.csv", "--guarantee", "lip=2", "-o", "n.json"]
    assert made(*lock).code == 0
    record(made)
    more = ["--record", "n.json", "--who", "staff", "--about", "smokes"]
    outcome = made("account", "l.json", *more)
    assert outcome.code == 0
    assert "different contexts" in outcome.out
    assert "LIP is at most LDP, under every prior" in outcome.out
    assert "LIP  " not in outcome.out
    line = one_line(made("account", "l.json", *more, "--limit", "lip=3.2"), 2)
    assert line == (
        "liftlock: lip is not defined for releases that were certified in different contexts, or "
        "in none, where LDP bounds it by 3.29584 nats, which is above lip(3.2); name one to "
        "account under: --prior, --joint or --family, in Python context= or under="
    )
    assert made("account", "l.json", *more, "--limit", "lip=3.2", "--prior", "p.csv").code == 0
    # The likelihood ratios of three releases are 27, which no lift exceeds under any prior.
    kept = made("account", "l.json", "--limit", "lip=ln 27")
    assert kept.code == 0
    assert "limit lip(ln 27): kept by the level of LDP, under every prior" in kept.out


def test_a_limit_that_some_accounts_cannot_judge(made: Run) -> None:
    lock = ["lock", "c.csv", "--prior", "skewed.csv", "--guarantee", "lip=2", "-o", "n.json"]
    assert made(*lock).code == 0
    record(made, who="mixed")
    assert (
        made("account", "l.json", "--record", "n.json", "--who", "mixed", "--about", "smokes").code
        == 0
    )
    # A limit for others is checked for them alone.
    fine = record(made, "--limit", "lip=1", who="plain")
    assert fine.code == 0
    assert "note: the limit lip(1) is kept" in fine.err
    outcome = made("account", "l.json", "--limit", "lip=1")
    assert outcome.code == 1
    assert "limit lip(1): kept" in outcome.out
    assert "limit lip(1): not known" in outcome.out
    assert "mixed, about 'smokes', may exceed lip(1): lip is not defined for" in outcome.err


def test_one_cohort_or_one_person(made: Run) -> None:
    people = ["--people", "people.csv", "--column", "id"]
    record(made)
    record(made, who="guests", about="drinks")
    assert made("account", "l.json", "--record", "m.json", *people, "--about", "smokes").code == 0
    bob = ["--person", "bob", "--about", "smokes"]
    assert made("account", "l.json", "--record", "m.json", *bob).code == 0

    def groups(*asked: str) -> list[tuple[str, list[list[int]]]]:
        outcome = made("account", "l.json", "--json", *asked)
        assert (outcome.code, outcome.err) == (0, "")
        data = json.loads(outcome.out)
        return [(g["who"], [item["entries"] for item in g["items"]]) for g in data["groups"]]

    assert groups("--who", "staff") == [("staff", [[1]])]
    assert groups("--person", "ann") == [("1 person", [[3]])]
    assert groups("--person", " bob ", "--about", "smokes") == [("1 person", [[3, 4]])]
    assert groups(*people) == [("1 person", [[3]]), ("1 person", [[3, 4]])]
    assert made("account", "l.json", "--limit", "lip=ln 2").code == 1
    assert made("account", "l.json", "--limit", "lip=ln 2", "--person", "ann").code == 0
    assert made("account", "l.json", "--limit", "lip=ln 2", "--person", "bob").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--who", "Staff"],
            (
                "no such cohort in the ledger at l.json: 'Staff'; it has the cohorts 'staff', "
                "'guests' and 2 people by id"
            ),
        ),
        (
            ["--person", "eve"],
            (
                "a person who is not in the ledger at l.json: 'eve'; it has the cohorts 'staff', "
                "'guests' and 2 people by id; ids are compared as written"
            ),
        ),
        (
            ["--people", "more.csv", "--column", "id"],
            "a person who is not in the ledger at more.csv, line 3, column 1 ('id'): 'eve'",
        ),
        (
            ["--who", "staff", "--about", "drinks"],
            (
                "nothing was released about it of them at l.json: 'drinks'; the ledger has "
                "releases about 'smokes' of them"
            ),
        ),
        (["--who", "staff", "--person", "ann"], "only one of --who, --person and --people"),
        (["--person", ""], "a person who is not in the ledger"),
    ],
)
def test_whom_the_ledger_does_not_have(made: Run, arguments: list[str], message: str) -> None:
    record(made)
    record(made, who="guests", about="drinks")
    people = ["--people", "people.csv", "--column", "id", "--about", "smokes"]
    made("account", "l.json", "--record", "m.json", *people)
    Path("more.csv").write_text("id\nann\neve\n")
    assert message in one_line(made("account", "l.json", *arguments), 2)


def test_a_prior_for_one_of_two_items(made: Run) -> None:
    files = {"o.csv": "input,a,b\na,1/2,1/2\nb,1/2,1/2\n", "q.csv": "label,count\na,1\nb,1\n"}
    lock = ["lock", "o.csv", "--prior", "q.csv", "--guarantee", "lip=1", "-o", "other.json"]
    assert made(*lock, files=files).code == 0
    record(made)
    other = ["--record", "other.json", "--who", "guests", "--about", "home town"]
    assert made("account", "l.json", *other).code == 0
    for prior, about in (("skewed.csv", "smokes"), ("q.csv", "'home town'")):
        line = one_line(made("account", "l.json", "--prior", prior), 2)
        assert f"inputs of l.json and {prior} do not match" in line
        assert line.endswith(f"account for an item that it fits: --about {about}")
        asked = ["--prior", prior, "--about", about.strip("'")]
        assert made("account", "l.json", *asked).code == 0
    # The only item of a cohort needs no name.
    assert made("account", "l.json", "--prior", "q.csv", "--who", "guests").code == 0


def test_one_more_by_another(made: Run) -> None:
    record(made)
    made("lock", "c.csv", "--prior", "p.csv", "--guarantee", "ldp=2", "-o", "n.json")
    outcome = made("account", "l.json", "--one-more", "n.json")
    assert "one more release by n.json: LIP from 0.693147 nats to 1.609438 nats" in outcome.out


def test_a_picture(made: Run) -> None:
    record(made)
    outcome = made("account", "l.json", "--plot", "s.svg")
    assert (outcome.code, set(outcome.made)) == (0, {"s.svg"})
    drawn = Path("s.svg").read_text()
    assert drawn.startswith("<?xml")
    again = made("account", "l.json", "--plot", "t.svg")
    assert again.code == 0
    assert Path("t.svg").read_text() == drawn
    assert "would overwrite LEDGER" in one_line(
        made("account", "l.json", "--plot", "l.json"), 2
    ) or ("unknown picture format" in made("account", "l.json", "--plot", "l.json").err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.json"], "no such file at nothing.json"),
        (["l.json", "--who", "x"], "no such cohort in the ledger at l.json: 'x'"),
        (["l.json", "--note", "x"], "--note goes with --record"),
        (["l.json", "--record", "m.json", "--about", "x"], "one of --who, --person and --people"),
        (["l.json", "--record", "m.json", "--who", "x"], "--record needs --about"),
        (["l.json", "--record", "c.csv", "--who", "x", "--about", "y"], "not a mechanism file"),
        (["l.json", "--record", "m.json", "--who", " ", "--about", "y"], "no cohort"),
        (["l.json", "--column", "id"], "--people and --column go together"),
        (["l.json", "--limit", "lip"], "the claim has no value"),
        (["l.json", "--about", "drinks"], "the ledger has releases about 'smokes'"),
        (["l.json", "--prior", "p.csv", "--joint", "p.csv"], "only one of --prior and --joint"),
        (["m.json"], "another file format"),
        (["p.csv"], "not valid JSON"),
        (["l.json", "--limit", "profile=1"], "profile"),
        (
            ["l.json", "--record", "m.json", "--who", "x", "--about", "y", "--plot", "s.png"],
            "--plot does not go with --record",
        ),
        (
            ["l.json", "--one-more", "other.json"],
            "the mechanism's values are not those in l.json",
        ),
    ],
)
def test_bad_input(made: Run, arguments: list[str], message: str) -> None:
    record(made)
    if "other.json" in arguments:
        files = {"o.csv": "input,a,b\na,1/2,1/2\nb,1/2,1/2\n", "q.csv": "label,count\na,1\nb,1\n"}
        lock = ["lock", "o.csv", "--prior", "q.csv", "--guarantee", "lip=1", "-o", "other.json"]
        assert made(*lock, files=files).code == 0
    assert message in one_line(made("account", *arguments), 2)


def test_a_ledger_that_was_changed(made: Run) -> None:
    record(made)
    record(made)
    data = json.loads(Path("l.json").read_text())
    del data["entries"][0]
    Path("l.json").write_text(json.dumps(data))
    line = one_line(record(made), 2)
    assert "an entry was changed, removed or moved before this one at l.json, entry 1" in line
    assert len(json.loads(Path("l.json").read_text())["entries"]) == 1


def test_no_command_writes_over_a_ledger(made: Run) -> None:
    record(made)
    before = Path("l.json").read_bytes()
    outcome = made("lock", "c.csv", "--prior", "p.csv", "--guarantee", "lip=1", "-o", "l.json")
    assert "would overwrite a ledger" in one_line(outcome, 2)
    assert Path("l.json").read_bytes() == before


def test_a_prior_that_calls_a_value_impossible_keeps_no_limit(made: Run) -> None:
    record(made)
    Path("certain.csv").write_text("label,count\nno,1\nyes,0\n")
    asked = ["--limit", "lip=1", "--prior", "certain.csv"]
    for outcome in (made("account", "l.json", *asked), record(made, *asked)):
        assert "lip(1) says nothing of what the context to account under calls" in one_line(
            outcome, 2
        )
    assert len(json.loads(Path("l.json").read_text())["entries"]) == 1


def test_the_limit_of_a_record_is_in_the_json(made: Run) -> None:
    data = json.loads(record(made, "--limit", "lip=1", "--json").out)
    assert data["limit"] == {"limit": "lip(1)", "kept": True}


def test_a_ledger_of_observations_alone(run: Run) -> None:
    """It kept no graph of profiles, but what was promised: that holds for its one release."""
    old = Path(__file__).parents[2] / "compatibility" / "files" / "profile-ledger.json"
    outcome = run("account", str(old), "--limit", "profile=1")
    assert outcome.code == 0
    for said in ("1 release of profile(1); a graph of profiles, which was not kept", "1 nats"):
        assert said in outcome.out
    assert "different contexts" not in outcome.out
    assert "infinite" not in outcome.out
    data = json.loads(run("account", str(old), "--json").out)
    spent = [item["spent"] for group in data["groups"] for item in group["items"]]
    assert [list(each) for each in spent] == [["profile"], ["profile"]]
    assert {each["profile"]["value"] for each in spent} == {1.0}
    assert run("account", str(old), "--limit", "profile=0.9").code == 1
