"""`liftlock audit`: its numbers against formulas of our own, its words, its exit codes."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liftlock import Prior, lock
from liftlock.designs import Draft
from liftlock.notions import LIP
from tests.unit.cli.conftest import Outcome, Run
from tests.unit.cli.formulas import Floats, measures

ADULT = Path(__file__).parents[4] / "shared/data/adult/relationship_by_occupation_counts.csv"

KEYS = [
    "lip",
    "eps_lower",
    "eps_upper",
    "ldp",
    "identifiability",
    "mutual_information",
    "maximal_leakage",
    "total_variation",
    "chi2",
    "l1_lift",
    "chi2_lift",
    "l1_lift_inverse",
    "chi2_lift_inverse",
]
OF_ORDER = ["alpha_lift", "alpha_lift_inverse", "sibson", "arimoto"]
DELTAS = ["delta_def5", "delta_ediv", "delta_joint"]

SURVEY = {
    "channel.csv": "input,none,cold,flu\n"
    "none,0.85,0.1,0.05\ncold,0.35,0.6,0.05\nflu,0.35,0.1,0.55\n",
    "prior.csv": "label,count\nnone,7\ncold,2\nflu,1\n",
    "joint.csv": "secret,none,cold,flu\nyoung,5,1,0\nold,2,1,1\n",
    "family.csv": "label,may,june\nnone,7,8\ncold,2,1\nflu,1,1\n",
}


def table(corner: str, columns: list[str], rows: list[str], cells: Any) -> str:
    """Write a CSV with floats as numpy and Python print them."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow([corner, *columns])
    for label, line in zip(rows, cells, strict=True):
        writer.writerow([label, *(repr(value) for value in np.asarray(line).tolist())])
    return stream.getvalue()


def found(outcome: Outcome) -> dict[str, float]:
    """Return the measures, after checking that the JSON is all there is."""
    assert outcome.code == 0, outcome.err
    data = json.loads(outcome.out)  # fails if anything else was printed
    for value in data["measures"].values():
        assert value == "inf" or (isinstance(value, float) and math.isfinite(value))
    return {key: math.inf if v == "inf" else v for key, v in data["measures"].items()}


def assert_close(got: dict[str, float], wanted: dict[str, float]) -> None:
    for key, value in wanted.items():
        assert got[key] == pytest.approx(value, rel=1e-9, abs=1e-12), key


# --- the numbers ---------------------------------------------------------------------------------


def test_stable_keys(run: Run) -> None:
    plain = run("audit", "channel.csv", "--prior", "prior.csv", "--json", files=SURVEY)
    assert set(KEYS) <= set(found(plain))
    assert not set(OF_ORDER + DELTAS) & set(found(plain))
    more = run(
        "audit",
        "channel.csv",
        "--prior",
        "prior.csv",
        "--json",
        "--alpha",
        "2",
        "--at-epsilon",
        "1",
    )
    assert set(KEYS + OF_ORDER + DELTAS) <= set(found(more))
    assert plain.err == more.err == ""


@pytest.mark.parametrize("seed", range(12))
def test_random_channels_under_a_prior(run: Run, seed: int) -> None:
    generator = np.random.default_rng(seed)
    inputs, outputs = (int(n) for n in generator.integers(2, 7, 2))
    matrix = generator.dirichlet(np.full(outputs, 0.7), inputs)
    if seed % 3 == 0:
        matrix[0, 0] = 0.0
        matrix[0] /= matrix[0].sum()
    counts = generator.integers(1, 50, inputs)
    names = [f"x{i}" for i in range(inputs)]
    # The prior lists the labels in another order than the channel: they must be aligned.
    order = generator.permutation(inputs)
    files = {
        "c.csv": table("input", [f"y{i}" for i in range(outputs)], names, matrix),
        "p.csv": table("label", ["count"], [names[i] for i in order], counts[order, None]),
    }
    alpha, epsilon = [("0.5", 0.3), ("2", 0.0), ("3.7", 1.5), ("1", 0.1), ("inf", 2.0)][seed % 5]
    outcome = run(
        *["audit", "c.csv", "--prior", "p.csv", "--json"],
        *["--alpha", alpha, "--at-epsilon", str(epsilon)],
        files=files,
    )
    wanted = measures(np.diag(counts).astype(float), matrix, alpha=float(alpha), at_epsilon=epsilon)
    assert_close(found(outcome), wanted)


@pytest.mark.parametrize("seed", range(12))
def test_random_channels_under_a_joint(run: Run, seed: int) -> None:
    generator = np.random.default_rng(100 + seed)
    secrets, inputs, outputs = (int(n) for n in generator.integers(2, 6, 3))
    matrix = generator.dirichlet(np.full(outputs, 0.7), inputs)
    cells = generator.integers(0, 9, (secrets, inputs))
    cells[0] += 1  # every input occurs
    cells[-1] *= seed % 4 != 0  # in some tables a secret never does
    names = [f"x {i}, with comma" for i in range(inputs)]
    order = generator.permutation(inputs)
    files = {
        "c.csv": table("input", [f"y{i}" for i in range(outputs)], names, matrix),
        "j.csv": table(
            "s", [names[i] for i in order], [f"s{i}" for i in range(secrets)], cells[:, order]
        ),
    }
    alpha, epsilon = [("0.25", 0.4), ("2", 1.0), ("7", 0.05), ("1", 0.0), ("inf", 0.6)][seed % 5]
    outcome = run(
        *["audit", "c.csv", "--joint", "j.csv", "--json"],
        *["--alpha", alpha, "--at-epsilon", str(epsilon)],
        files=files,
    )
    wanted = measures(cells.astype(float), matrix, alpha=float(alpha), at_epsilon=epsilon)
    assert_close(found(outcome), wanted)
    assert ("never occur" in outcome.err) == (not cells[-1].any())


def adult() -> tuple[list[str], list[str], Floats]:
    if not ADULT.exists():
        pytest.skip(f"the census table is not here: {ADULT}")
    with ADULT.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    cells = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return header[1:], [row[0] for row in rows], cells


@pytest.mark.parametrize("merged", [False, True], ids=["identity", "merged"])
def test_adult(run: Run, merged: bool) -> None:
    occupations, _, cells = adult()
    groups = ["other", "office", "hands"]
    if merged:
        # Occupations by their position: enough to merge rare symbols with frequent ones.
        matrix = np.zeros((len(occupations), len(groups)))
        matrix[np.arange(len(occupations)), np.arange(len(occupations)) % 3] = 1
        outputs = groups
    else:
        matrix, outputs = np.eye(len(occupations)), occupations
    outcome = run(
        *["audit", "c.csv", "--joint", str(ADULT), "--json", "--alpha", "2", "--at-epsilon", "0.5"],
        files={"c.csv": table("occupation", outputs, occupations, matrix)},
    )
    values = found(outcome)
    wanted = measures(cells, matrix, alpha=2.0, at_epsilon=0.5)
    assert_close(values, wanted)
    infinite = {key for key, value in values.items() if math.isinf(value)}
    assert infinite == {key for key, value in wanted.items() if math.isinf(value)}
    # Some cells of the table are 0, so some occupations rule a relationship out.
    assert ("lip" in infinite) == (not merged)


# --- the words -----------------------------------------------------------------------------------


def test_the_table_names_every_notion_with_its_witness(run: Run) -> None:
    outcome = run(
        *["audit", "channel.csv", "--prior", "prior.csv", "--alpha", "2", "--at-epsilon", "0.5"],
        files=SURVEY,
    )
    assert outcome.code == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert lines[0] == "3 inputs, 3 outputs; a prior on 3 symbols; protects the value itself"
    assert '"flu" can rise from 10 % to 55 % (a factor 5.5)' in outcome.out
    assert '"cold" can fall from 20 % to 10 % (a factor 0.5)' in outcome.out
    starts = [line.split("  ")[0] for line in lines]
    for name in (
        *["LIP", "eps_lower (min-lift)", "eps_upper (max-lift)", "LDP", "identifiability"],
        *["mutual information", "maximal leakage", "total variation", "chi2-divergence", "l1-lift"],
        *["chi2-lift", "l1-lift-inverse", "chi2-lift-inverse", "alpha-lift", "alpha-lift-inverse"],
        *["Sibson information", "Arimoto information", "delta (def5)", "delta (ediv)"],
        *["delta (joint)", "delta (LDP)"],
    ):
        assert starts.count(name) == 1, name
    (lip,) = (line for line in lines if line.startswith("LIP"))
    assert lip.split() == ["LIP", "1.704748", "nats", "ln", "11/2", '"flu"', "at", '"flu"']
    assert not any(line.endswith(" ") for line in lines)


def test_the_belief_can_rise_from_10_to_27_percent(run: Run) -> None:
    labels = ["none", "cold", "flu"]
    prior = Prior.from_counts({"none": 7, "cold": 2, "flu": 1})
    keep = (math.e - 1) / 9
    rows = keep * np.eye(3) + (1 - keep) * prior.floats()
    run("notions")
    lock(Draft.of(labels, labels, rows), LIP("1"), prior).save("mechanism.json")
    outcome = run("audit", "mechanism.json")
    assert 'the belief in "flu" can rise from 10 % to 27.18 %' in outcome.out


def test_an_independent_release(audited: Run) -> None:
    outcome = audited(channel="input,a,b\nx,0.5,0.5\ny,0.5,0.5\n")
    assert "No output changes any belief" in outcome.out


def test_a_secret_that_is_ruled_out(audited: Run) -> None:
    outcome = audited(channel="input,a,b\nx,1,0\ny,0.5,0.5\n")
    assert "infinite" in outcome.out
    assert 'belief in "x" can fall from 25 % to 0 % (a factor 0; it is ruled out)' in outcome.out


def test_narrow_terminals_keep_every_witness_on_its_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "80")
    outcome = run("audit", "channel.csv", "--prior", "prior.csv", files=SURVEY)
    lines = outcome.out.splitlines()
    assert all(len(line.rstrip()) <= 80 for line in lines)
    (line,) = (line for line in lines if line.startswith("identifiability"))
    assert line.rstrip().endswith('at "none"')


def test_notes_are_on_standard_error(audited: Run) -> None:
    channel = "input,a,b\nx,0.3333333333,0.6666666666\ny,0.25,0.75\n"
    for arguments in ([], ["--json"]):
        outcome = audited(*arguments, channel=channel)
        (note,) = outcome.err.splitlines()
        assert note.startswith("note: 1 of 2 rows of channel.csv did not sum to 1 exactly")
        assert "note" not in outcome.out.splitlines()[0]
    data = json.loads(outcome.out)
    assert data["notes"] == [note.removeprefix("note: ")]


def test_control_characters_do_not_reach_the_terminal(audited: Run) -> None:
    channel = 'input,"a\x1b[2J",b\n"x\nsecond",0.5,0.5\ny,0.25,0.75\n'
    context = 'label,count\n"x\nsecond",1\ny,3\n'
    outcome = audited("--check", "lip=0.01", channel=channel, context=context)
    assert outcome.code == 1
    assert "\x1b" not in outcome.out + outcome.err
    assert r"x\nsecond" in outcome.out
    assert len(outcome.err.splitlines()) == 1


# --- contexts ------------------------------------------------------------------------------------


def test_every_kind_of_context(run: Run) -> None:
    for option, name, kind in (
        ("--prior", "prior.csv", "a prior on 3 symbols"),
        ("--joint", "joint.csv", "a joint of 2 secrets and 3 inputs"),
        ("--family", "family.csv", "every mixture of 2 priors on 3 symbols"),
    ):
        outcome = run("audit", "channel.csv", option, name, "--json", files=SURVEY)
        assert json.loads(outcome.out)["context_kind"] == kind
    near = run("audit", "channel.csv", "--prior", "prior.csv", "--radius", "0.05", "--json")
    assert "within total variation 0.05" in json.loads(near.out)["context_kind"]


def test_a_set_of_priors_leaks_at_least_what_its_members_do(run: Run) -> None:
    values = []
    for option, name in (("--prior", "prior.csv"), ("--family", "family.csv")):
        outcome = run("audit", "channel.csv", option, name, "--json", files=SURVEY)
        values.append(found(outcome)["lip"])
    assert values[0] <= values[1]
    # The second member is (.8, .1, .1): "flu" rises to .55 / (.05 * .9 + .55 * .1) = 5.5 as well,
    # but "cold" rises from 10 % by .6 / (.1 * .9 + .6 * .1) = 4, and "none" falls by the same .5.
    assert values[1] == pytest.approx(math.log(5.5))


def test_smoothing(run: Run) -> None:
    files = SURVEY | {"prior.csv": "label,count\nnone,7\ncold,3\nflu,0\n"}
    refused = run("audit", "channel.csv", "--prior", "prior.csv", files=files)
    assert refused.code == 2
    outcome = run("audit", "channel.csv", "--prior", "prior.csv", "--smooth", "1", "--json")
    matrix = np.array([[0.85, 0.1, 0.05], [0.35, 0.6, 0.05], [0.35, 0.1, 0.55]])
    assert_close(found(outcome), measures(np.diag([8.0, 4.0, 1.0]), matrix))


def test_impossible_inputs_can_be_ignored_and_are_then_named(run: Run) -> None:
    files = SURVEY | {"prior.csv": "label,count\nnone,7\ncold,3\nflu,0\n"}
    arguments = ("audit", "channel.csv", "--prior", "prior.csv", "--impossible", "ignore")
    outcome = run(*arguments, files=files)
    assert outcome.code == 0
    assert 'NOT protected (prior probability 0): "flu"' in outcome.out
    assert json.loads(run(*arguments, "--json").out)["unprotected"] == ["flu"]


def test_a_mechanism_brings_its_own_context(run: Run) -> None:
    run("notions")
    prior = Prior.from_counts({0: 1, 1: 3})
    lock(Draft.of([0, 1], ["a", "b"], [[0.5, 0.5], [0.25, 0.75]]), LIP("1"), prior).save("m.json")
    own = run("audit", "m.json", "--json")
    # A CSV knows no numbers: its "0" is the 0 of the mechanism.
    csv_prior = {"p.csv": "label,count\n1,3\n0,1\n"}
    again = run("audit", "m.json", "--prior", "p.csv", "--json", files=csv_prior)
    assert found(own) == found(again)
    other = run("audit", "m.json", "--prior", "q.csv", files={"q.csv": "label,count\n0,1\n2,3\n"})
    assert other.code == 2
    assert "1 only in m.json, '2' only in q.csv" in other.err


def test_a_changed_mechanism_is_refused(run: Run) -> None:
    run("notions")
    prior = Prior.from_counts({"x": 1, "y": 3})
    rows = [[0.5, 0.5], [0.25, 0.75]]
    lock(Draft.of("xy", "ab", rows), LIP("1"), prior).save("m.json")
    data = json.loads(Path("m.json").read_text())
    data["channel"]["weights"][0] = [1, 2**52 - 1]
    Path("m.json").write_text(json.dumps(data))
    outcome = run("audit", "m.json")
    assert outcome.code == 2
    (line,) = outcome.err.splitlines()
    assert "m.json" in line
    assert line.endswith("make it again with lock")
    data["certificate"]["budgets"] = {"epsilon": "0.001"}
    Path("m.json").write_text(json.dumps(data))
    assert run("audit", "m.json").code == 2


# --- checks --------------------------------------------------------------------------------------

PASSING = [
    "lip=ln 5.5",
    "lip=1.71",
    "alip=0.7,1.71",
    "eps_upper=1.7048",
    "eps_lower=0.6932",
    "ldp=2.3979",
    "identifiability=4",
    "mutual_information=1",
    "maximal_leakage=1",
    "total_variation=0.5",
    "chi2=1",
    "l1_lift=2",
    "chi2_lift=3",
    "l1_lift_inverse=2",
    "chi2_lift_inverse=9",
    "alpha_lift=2,3",
    "alpha_lift_inverse=2,3",
    "sibson=2,1",
    "arimoto=2,1",
    "crowd_mass=0.05",
    "lip_def5=1,0.5",
    "lip_ediv=1,0.5",
    "lip_joint=1,0.5",
    "ldp_delta=1,0.9",
    "breach=0.05,0.6",
    "EPS-UPPER=2",
]
FAILING = {
    "lip=1.7": 'secret "flu", output "flu"',
    "alip=0.7,1.5": 'secret "flu", output "flu"',
    "alip=0.6,2": 'secret "cold", output "none"',
    "eps_lower=0.5": 'secret "cold", output "none"',
    "ldp=1": 'secret "flu", against "none", output "flu"',
    "identifiability=1": 'secret "none", against "flu", output "none"',
    "mutual_information=0.01": "mutual_information is 0.18",
    "maximal_leakage=0.1": "maximal_leakage is 0.69",
    "total_variation=0.01": "total_variation is 0.2",
    "chi2=0.01": "chi2 is 0.",
    "l1_lift=0.1": 'output "flu"',
    "chi2_lift=0.1": 'output "flu"',
    "l1_lift_inverse=0.1": 'output "',
    "chi2_lift_inverse=0.1": 'output "',
    "alpha_lift=2,1": 'output "flu"',
    "alpha_lift_inverse=2,1": 'output "',
    "sibson=2,0.01": "sibson is 0.",
    "arimoto=2,0.01": "arimoto is 0.",
    "crowd_mass=0.5": 'output "',
    "lip_def5=1,0.001": 'outputs "flu"',
    "lip_ediv=1,0.001": 'secret "flu", outputs "flu"',
    "lip_joint=0,0.01": "delta_joint is 0.",
    "ldp_delta=1,0.1": 'outputs "flu"',
    "breach=0.1,0.5": '"flu"',
}


@pytest.mark.parametrize("claim", PASSING)
def test_checks_that_hold(run: Run, claim: str) -> None:
    outcome = run("audit", "channel.csv", "--prior", "prior.csv", "--check", claim, files=SURVEY)
    assert (outcome.code, outcome.err) == (0, "")
    assert "\nCERTIFIED: " in outcome.out


@pytest.mark.parametrize("claim", FAILING)
def test_checks_that_fail_name_the_witness(run: Run, claim: str) -> None:
    arguments = ("audit", "channel.csv", "--prior", "prior.csv", "--check", claim)
    outcome = run(*arguments, files=SURVEY)
    assert outcome.code == 1
    (line,) = outcome.err.splitlines()
    assert line.startswith("liftlock: ")
    assert "does not hold" in line
    assert "this channel satisfies" in line
    assert "NOT CERTIFIED" in outcome.out
    assert FAILING[claim] in line
    # In JSON the same verdict, and still nothing else on standard output.
    as_json = run(*arguments, "--json")
    assert as_json.code == 1
    (check,) = json.loads(as_json.out)["checks"]
    assert check["holds"] is False
    assert as_json.err == outcome.err


def test_the_budget_that_is_named_does_pass(run: Run) -> None:
    arguments = ("audit", "channel.csv", "--prior", "prior.csv", "--check")
    refused = run(*arguments, "lip=1", files=SURVEY)
    claim = refused.err.strip().rpartition("satisfies ")[2]
    assert claim.startswith("lip=")
    assert run(*arguments, claim).code == 0


def test_several_checks(run: Run) -> None:
    arguments = ("audit", "channel.csv", "--prior", "prior.csv")
    outcome = run(*arguments, "--check", "lip=2", "--check", "ldp=1", files=SURVEY)
    assert outcome.code == 1
    assert outcome.out.count("CERTIFIED") == 2
    assert len(outcome.err.splitlines()) == 1


def test_claims_may_leave_out_what_is_asked_for_anyway(run: Run) -> None:
    arguments = ("audit", "channel.csv", "--prior", "prior.csv")
    short = (
        "--alpha",
        "2",
        "--check",
        "sibson=1",
        "--at-epsilon",
        "1",
        "--check",
        "delta_ediv=0.5",
    )
    assert run(*arguments, *short, files=SURVEY).code == 0


def test_quiet(run: Run) -> None:
    arguments = ("audit", "channel.csv", "--prior", "prior.csv", "-q", "--check")
    fine = run(*arguments, "lip=2", files=SURVEY)
    assert (fine.code, fine.out, fine.err) == (0, "", "")
    wrong = run(*arguments, "lip=1")
    assert (wrong.code, wrong.out) == (1, "")
    assert len(wrong.err.splitlines()) == 1


def test_notions_that_a_context_does_not_have(run: Run) -> None:
    arguments = ("audit", "channel.csv", "--family", "family.csv", "--check", "chi2=1")
    outcome = run(*arguments, files=SURVEY)
    assert outcome.code == 2
    assert len(outcome.err.splitlines()) == 1


# --- pictures ------------------------------------------------------------------------------------


def test_pictures(run: Run) -> None:
    outcome = run(
        *["audit", "channel.csv", "--prior", "prior.csv", "--json"],
        *["--plot", "lifts.PNG", "--plot-curve", "curve.svg"],
        files=SURVEY,
    )
    assert outcome.code == 0
    assert outcome.made == {"lifts.PNG", "curve.svg"}
    assert Path("lifts.PNG").read_bytes().startswith(b"\x89PNG")
    assert json.loads(outcome.out)["notes"] == [
        "heat map written to lifts.PNG",
        "curve written to curve.svg",
    ]


@pytest.mark.parametrize("command", ["audit", "lock", "design"])
@pytest.mark.parametrize(
    ("option", "text", "what"),
    [
        ("--joint", "secret,a,b\nill,3,1\n", "secret at c.csv: 'ill'"),
        ("--joint", "secret,a,b\nill,3,1\nwell,0,0\n", "secret at c.csv: 'ill'"),
        ("--prior", "label,count\na,3\nb,0\n", "value at c.csv: 'a'"),
    ],
)
def test_a_guarantee_that_nothing_could_break_is_refused(
    run: Run, command: str, option: str, text: str, what: str
) -> None:
    files = {"c.csv": text, "identity.csv": "input,a,b\na,1,0\nb,0,1\n"}
    arguments = {
        "audit": ["identity.csv", "--check", "lip=0.1", "--impossible", "ignore"],
        "lock": [
            "identity.csv",
            "--guarantee",
            "lip=0.1",
            "--impossible",
            "ignore",
            "-o",
            "m.json",
        ],
        "design": ["--epsilon", "0.1", "-o", "m.json"],
    }[command]
    outcome = run(command, *arguments, option, "c.csv", files=files)
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    kind, where = what.split(" at ")
    assert f"a single possible {kind}: every guarantee about it holds" in line
    assert f"at {where}" in line
