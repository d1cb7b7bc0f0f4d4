"""`liftlock estimate` and `liftlock plan`: answers, files, and what is refused in one line."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock import PerUserPriors
from liftlock.cli import main
from liftlock.estimate import Aggregate

PRIOR = ll.Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
MADE = ll.design(PRIOR, ll.LIP("1"), method="safe-response", utility="histogram")
TRUTH = ["none"] * 700 + ["cold"] * 200 + ["flu"] * 100
REPORTS = MADE.simulate(TRUTH, seed=4)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    MADE.save(tmp_path / "made.json")
    lines = [f"{i},{y},{1 + i % 2}" for i, y in enumerate(REPORTS)]
    (tmp_path / "reports.csv").write_text("id,answer,weight\n" + "\n".join(lines) + "\n")
    (tmp_path / "prior.csv").write_text("label,count\nnone,700\ncold,200\nflu,100\n")
    return tmp_path


def run(files: Path, *arguments: str) -> int:
    given = [str(files / a) if a.endswith((".json", ".csv", ".png")) else a for a in arguments]
    return main(given)


def test_the_same_answer_as_in_python(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "estimate", "made.json", "reports.csv", "--column", "answer", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    expected = MADE.estimate(REPORTS)
    assert data["answers"] == [answer.to_data() for answer in expected.answers]
    assert data["reports"] == 1000


def test_counts_in_parts_give_the_same(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (files / "reports.csv").read_text().splitlines(keepends=True)
    (files / "a.csv").write_text("".join(lines[:400]))
    (files / "b.csv").write_text("".join([lines[0], *lines[400:]]))
    asked = ["--column", "answer", "--value", "flu", "--method", "unbiased", "--json"]
    assert run(files, "estimate", "made.json", "a.csv", *asked, "-o", "a.json") == 0
    first = json.loads(capsys.readouterr().out)
    assert first["reports"] == 399
    assert run(files, "estimate", "made.json", "b.csv", "a.json", *asked, "-o", "all.json") == 0
    both = json.loads(capsys.readouterr().out)
    assert Aggregate.load(files / "all.json") == MADE.aggregate(REPORTS)
    direct = MADE.estimate(REPORTS, "survey", value="flu", method="unbiased")
    assert both["answers"][0]["value"] == direct.value


def test_weights_and_a_picture(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--column", "answer", "--weights", "weight", "--plot", "estimate.png"]
    assert run(files, "estimate", "made.json", "reports.csv", *asked, "--method", "unbiased") == 0
    shown = capsys.readouterr().out
    assert "1,000 reports" in shown
    assert (files / "estimate.png").read_bytes().startswith(b"\x89PNG")
    weighted = MADE.estimate(REPORTS, method="unbiased", weights=[1 + i % 2 for i in range(1000)])
    assert f"{weighted['flu'].value:,.1f}" in shown


def test_a_wrong_prior_is_shouted(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "other.csv").write_text("label,count\nnone,200\ncold,200\nflu,600\n")
    asked = ["--column", "answer", "--prior", "other.csv", "--method", "bayes"]
    assert run(files, "estimate", "made.json", "reports.csv", *asked) == 0
    assert "WARNING: the prior does not fit the reports" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reports.csv"], "no column of reports"),
        (["reports.csv", "--column", "nothing"], "no such column"),
        (["reports.csv", "--column", "id"], "the report is not an output of the mechanism"),
        (["reports.csv", "reports.csv", "--column", "answer"], "given twice"),
        (["empty.csv", "--column", "answer"], "no rows at"),
        (["reports.csv", "--column", "answer", "--weights", "answer"], "not a number"),
        (["reports.csv", "--column", "answer", "--value", "measles"], "unknown label"),
        (["reports.csv", "--column", "answer", "--of", "sum"], "needs numbers"),
        (["reports.csv", "--column", "answer", "--level", "2"], "level"),
        (["reports.csv", "--column", "answer", "--seed", "x"], "--seed"),
        (["foreign.json"], "another mechanism"),
        (["reports.csv", "--column", "answer", "-o", "made.json"], "would overwrite"),
        (["reports.csv", "--column", "answer", "--plot", "made.csv"], "unknown picture format"),
    ],
)
def test_refusals_are_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (files / "empty.csv").write_text("answer\n")
    other = ll.Channel.from_rows({0: {0: "0.5", 1: "0.5"}, 1: {0: "0.4", 1: "0.6"}})
    Aggregate.of(other, [0, 1]).save(files / "foreign.json")
    before = (files / "made.json").read_bytes()
    assert run(files, "estimate", "made.json", *arguments) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.count("\n") == 1
    assert said in caught.err
    assert (files / "made.json").read_bytes() == before


def test_plan(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--prior", "prior.csv", "--n", "10000", "--epsilon", "1", "--value", "flu"]
    assert run(files, "plan", *asked, "--margin", "1%", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    ldp = next(option for option in data["options"] if option["name"].startswith("ldp(1)"))
    flip = 1 / (math.e + 1)
    each = flip * (1 - flip) / (1 - 2 * flip) ** 2 + 0.09
    assert ldp["free"]["people_needed"] == math.ceil(each * (1.959963984540054 / 0.01) ** 2)
    assert run(files, "plan", *asked) == 0
    assert "people for ±2 %" in capsys.readouterr().out
    assert run(files, "plan", "--prior", "prior.csv", "--n", "10", "--epsilon", "0.01") == 0
    assert "±100 %" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--n", "0", "--epsilon", "1"], "--n is not a number of people"),
        (["--n", "1.5", "--epsilon", "1"], "--n is not a number of people"),
        (["--n", "10"], "give --epsilon"),
        (["--n", "10", "--epsilon", "1", "--margin", "0"], "margin is not positive"),
        (["--n", "10", "--epsilon", "1", "--value", "measles"], "unknown label"),
        (["--n", "10", "--epsilon", "1", "--of", "mean"], "needs numbers"),
        (["--n", "10", "--epsilon", "1", "--of", "survey"], "no value to count"),
        (["--n", "10", "--epsilon", "1", "--level", "1"], "the level is not between 0 and 1"),
    ],
)
def test_plan_refuses_in_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(files, "plan", "--prior", "prior.csv", *arguments) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.count("\n") == 1
    assert said in caught.err


# --- profiles -----------------------------------------------------------------------------------

GRAPH = ll.ProfileGraph.chain(
    {"day": {"low": 2, "high": 8}, "night": {"low": 5, "high": 5}, "idle": {"low": 9, "high": 1}}
)
OWN = ll.design(GRAPH, "1")
SHARED = ll.design(GRAPH, "1", method="shared-categorical")
WHOSE = ["day"] * 500 + ["night"] * 300 + ["idle"] * 200
SEEN = ["low", "high", "high", "high", "high"] * 100 + ["low", "high"] * 150 + ["low"] * 200


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    for name, made in (("own", OWN), ("shared", SHARED)):
        made.save(tmp_path / f"{name}.json")
        reports = made.simulate(SEEN, WHOSE, seed=3)
        (tmp_path / f"{name}.csv").write_text("\n".join(["seen", *reports]) + "\n")
    (tmp_path / "shares.csv").write_text("label,count\nday,5\nnight,3\nidle,2\n")
    return tmp_path


def test_what_profiles_observed(profiles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three profiles on two values: the values are told, and the ranges of the shares."""
    asked = ["--column", "seen", "--json"]
    assert run(profiles, "estimate", "shared.json", "shared.csv", *asked) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["of"] == "histogram"
    assert data["assumes"].startswith("nothing about the profiles")
    assert [answer["name"] for answer in data["answers"]] == ["low", "high"]
    shares = data["profiles"]
    assert (shares["method"], shares["interval"]) == ("range", "range")
    for name, answer in zip(GRAPH.profiles.labels, shares["answers"], strict=True):
        assert repr(name) in shares["why"]
        assert answer["low"] < answer["high"]
    assert run(profiles, "estimate", "own.json", "own.csv", *asked, "--method", "unbiased") == 2
    said = capsys.readouterr().err
    assert "people with 'idle' or 'day' can report as people with 'night' do" in said
    assert run(profiles, "estimate", "own.json", "own.csv", *asked) == 0


def test_both_answers(profiles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = ll.ProfileGraph.chain({"day": {"low": 2, "high": 8}, "idle": {"low": 9, "high": 1}})
    made = ll.design(two, "1")
    made.save(profiles / "two.json")
    asked = ["estimate", "two.json", "own.csv", "--column", "seen"]
    assert run(profiles, *asked, "--json", "-o", "counts.json") == 0
    data = json.loads(capsys.readouterr().out)
    reports = (profiles / "own.csv").read_text().split()[1:]
    assert data["answers"] == made.estimate(reports).to_data()["answers"]
    assert data["profiles"] == made.estimate(reports, "profiles").to_data()
    assert run(profiles, "estimate", "two.json", "counts.json", "--plot", "both.png") == 0
    shown = capsys.readouterr().out
    assert (profiles / "both.png").read_bytes().startswith(b"\x89PNG")
    assert shown.index("value ") < shown.index("profile ")
    assert shown.count("assumed: ") == 2
    given = ["--of", "profiles", "--value", "idle", "--json"]
    assert run(profiles, *asked, *given) == 0
    data = json.loads(capsys.readouterr().out)
    assert [answer["name"] for answer in data["answers"]] == ["idle"]


def test_profiles_are_trusted_or_not(profiles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["estimate", "shared.json", "shared.csv", "--column", "seen", "--value", "low"]
    assumed = {}
    for option in ("--trust-profiles", "--no-trust-profiles"):
        assert run(profiles, *asked, option, "--json") == 0
        assumed[option] = json.loads(capsys.readouterr().out)["assumes"]
    assert assumed["--no-trust-profiles"].startswith("nothing about the profiles")
    assert assumed["--trust-profiles"] != assumed["--no-trust-profiles"]
    own = ["estimate", "own.json", "own.csv", "--column", "seen", "--value", "low"]
    assert run(profiles, *own, "--no-trust-profiles") == 2
    assert "rows depend on the profile" in capsys.readouterr().err
    assert run(profiles, *own, "--prior", "shares.csv", "--method", "bayes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["method"] == "bayes"


# --- users with a prior each --------------------------------------------------------------------


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """A table with priors, released by both methods without the priors."""
    chosen = np.random.default_rng(8)
    masses = chosen.dirichlet([3.0, 2.0], 300).round(3)
    ill = ["no" if chosen.random() < mass else "yes" for mass, _ in masses]
    lines = [
        f"{x},{mass:.3f},{1 - mass:.3f},{1 + i % 2}"
        for i, (x, (mass, _)) in enumerate(zip(ill, masses, strict=True))
    ]
    (tmp_path / "table.csv").write_text("\n".join(["ill,p_no,p_yes,weight", *lines]) + "\n")
    for method in ("arc", "safe-response"):
        asked = ["--column", "ill", "--local-priors", "p_", "--epsilon", "1", "--method", method]
        assert run(tmp_path, "protect", "table.csv", *asked, "-o", f"{method}.csv") == 0
    return tmp_path


@pytest.mark.parametrize("method", ["arc", "safe-response"])
@pytest.mark.parametrize("value", [None, "yes"])
def test_what_protect_wrote_for_users_with_priors(
    users: Path, method: str, value: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    made = ll.Mechanism.load(users / f"{method}.mechanism.json")
    with (users / f"{method}.csv").open() as stream:
        reports = [row["ill"] for row in csv.DictReader(stream)]
    with (users / "table.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    masses = np.array([[float(row["p_no"]), float(row["p_yes"])] for row in rows])
    priors = PerUserPriors.of(["no", "yes"], masses)
    given: Any = np.array(reports, dtype=np.int64) if method == "arc" else reports
    asked = ["--column", "ill", "--local-priors", "p_", "--priors-from", "table.csv", "--json"]
    asked += [] if value is None else ["--value", value]
    files = ["estimate", f"{method}.mechanism.json", f"{method}.csv"]
    assert run(users, *files, *asked, "-o", "sums.json") == 0
    data = json.loads(capsys.readouterr().out)
    of = "histogram" if value is None else "survey"
    expected = made.estimate(given, of, value=value, priors=priors)
    assert data["answers"] == [answer.to_data() for answer in expected.answers]
    again = ["--json"] if value is None else ["--json", "--value", value]
    assert run(users, *files[:2], "sums.json", *again) == 0
    assert json.loads(capsys.readouterr().out)["answers"] == data["answers"]
    numbers = [int(row["weight"]) for row in rows]
    assert run(users, *files, *asked, "--weights", "weight") == 0
    data = json.loads(capsys.readouterr().out)
    weighted = made.estimate(given, of, value=value, priors=priors, weights=numbers)
    assert data["answers"] == [answer.to_data() for answer in weighted.answers]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--column", "ill"], "--local-priors"),
        (["--local-priors", "p_"], "no such column"),
        (["--column", "ill", "--local-priors", "p_"], "no such column"),
        (
            ["--column", "ill", "--local-priors", "p_", "--priors-from", "short.csv"],
            "rows of priors do not match the reports",
        ),
        (
            ["--column", "ill", "--local-priors", "p_", "--priors-from", "long.csv"],
            "rows of priors do not match the reports",
        ),
        (
            ["--column", "ill", "--local-priors", "p_", "--priors-from", "wrong.csv"],
            "not a prior",
        ),
        (
            [
                *("--column", "ill", "--local-priors", "p_", "--priors-from", "table.csv"),
                *("--prior", "one.csv"),
            ],
            "one prior is given, but the mechanism uses per-user priors",
        ),
    ],
)
def test_what_users_with_priors_are_refused(
    users: Path, given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    text = (users / "table.csv").read_text().splitlines()
    (users / "short.csv").write_text("\n".join(text[:-1]) + "\n")
    (users / "long.csv").write_text("\n".join([*text, text[-1]]) + "\n")
    (users / "wrong.csv").write_text("\n".join([text[0], "no,0.5,0.6,1", *text[2:]]) + "\n")
    (users / "one.csv").write_text("label,count\nno,1\nyes,1\n")
    assert run(users, "estimate", "arc.mechanism.json", "arc.csv", *given) == 2
    caught = capsys.readouterr()
    assert said in caught.err
    assert not caught.out


def test_priors_of_users_for_a_mechanism_with_one_prior(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--column", "answer", "--local-priors", "p_"]
    assert run(files, "estimate", "made.json", "reports.csv", *asked) == 2
    assert "one prior for all" in capsys.readouterr().err


@pytest.fixture
def two(files: Path) -> Path:
    """Two collections by different mechanisms, and the counts of the second."""
    other = ll.design(PRIOR, ll.LDP("1"), method="k-rr")
    other.save(files / "other.json")
    other.aggregate(other.simulate(TRUTH, seed=5)).save(files / "counts.json")
    return files


def test_collections_are_combined(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["made.json", "reports.csv", "--column", "answer", "--json"]
    other = (ll.Mechanism.load(two / "other.json"), Aggregate.load(two / "counts.json"))
    for rounds in (False, True):
        more = ["--rounds"] if rounds else []
        assert run(two, "estimate", *named, "--with", "other.json", "counts.json", *more) == 0
        data = json.loads(capsys.readouterr().out)
        expected = ll.combine([(MADE, REPORTS), other], rounds=rounds)
        assert data["answers"] == [answer.to_data() for answer in expected.answers]
        assert data["reports"] == 2000
        assert data["about"] == ("population" if rounds else "people")


@pytest.mark.parametrize("same", [True, False])
def test_a_picture_shows_a_prior_that_all_collections_share(two: Path, *, same: bool) -> None:
    prior = PRIOR if same else ll.Prior.uniform(PRIOR.labels)
    other = ll.design(prior, ll.LIP("1"), method="k-rr")
    other.save(two / "another.json")
    other.aggregate(other.simulate(TRUTH, seed=5)).save(two / "more.json")
    picture = two / "drawn.svg"
    asked = ["made.json", "reports.csv", "--column", "answer", "--with", "another.json"]
    assert run(two, "estimate", *asked, "more.json", "--plot", str(picture)) == 0
    assert ("what the prior says" in picture.read_text()) == same


def test_the_next_prior_is_a_set(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["estimate", "other.json", "counts.json", "--next-prior", "next.json"]
    assert run(two, *asked, "--confidence", "0.95") == 0
    assert "confidence 95 % (1,000 reports)" in capsys.readouterr().err.replace("\n", " ")
    near = ll.read_priors(two / "next.json")
    counts = Aggregate.load(two / "counts.json")
    found = ll.Mechanism.load(two / "other.json").estimate(counts)
    assert near == ll.Prior.from_estimate(found, "0.95")
    assert run(two, "design", "--family", "next.json", "--epsilon", "1", "-o", "second.json") == 0
    assert "at worst ldp=" in capsys.readouterr().out
    assert ll.Mechanism.load(two / "second.json").context == near


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--rounds"], "--rounds needs another collection"),
        (["--confidence", "0.9"], "--confidence goes with --next-prior"),
        (["--next-prior", "x.json", "--confidence", "1"], "cannot give certainty"),
        (["--with", "other.json", "counts.json", "--next-prior", "x.json"], "no common prior"),
        (["--with", "other.json", "counts.json", "--prior", "prior.csv"], "one mechanism"),
        (["--with", "other.json", "counts.json", "-o", "all.json"], "one mechanism"),
        (["--with", "other.json", "reports.csv"], "given twice"),
        (
            ["--with", "other.json", "counts.json", "--rounds", "--about", "people"],
            "one population",
        ),
        (["--next-prior", "made.json"], "would overwrite"),
        (["--weights", "weight", "--next-prior", "x.json"], "weighted"),
    ],
)
def test_refused_collections(
    two: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    before = sorted(path.name for path in two.iterdir())
    assert run(two, "estimate", "made.json", "reports.csv", "--column", "answer", *arguments) == 2
    error = capsys.readouterr().err
    assert told in error.replace("\n", " ")
    assert sorted(path.name for path in two.iterdir()) == before
