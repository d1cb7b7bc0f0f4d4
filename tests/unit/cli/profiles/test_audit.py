"""`liftlock audit` under a graph of profiles."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import DESIGN, FILES, GRAPH, assert_refused

SHARED = "value,low,mid,high\nlow,0.8,0.1,0.1\nmid,0.1,0.8,0.1\nhigh,0.1,0.1,0.8\n"
KEPT = {"low": "1,0,0", "mid": "0,1,0", "high": "0,0,1"}
PAIRS = "profile,value,low,mid,high\n" + "".join(
    f"{name},{value},{row}\n" for name in ("ann", "bob", "cy") for value, row in KEPT.items()
)
DISTRIBUTIONS = {"ann": (5, 3, 2), "bob": (2, 3, 5), "cy": (1, 1, 8)}


def loss(first: str, second: str, keep: Fraction) -> float:
    """Return the loss of an edge when values are kept, or replaced by one of the others."""
    wrong = (1 - keep) / 2
    one, other = (
        [keep * Fraction(n, 10) + wrong * (1 - Fraction(n, 10)) for n in DISTRIBUTIONS[name]]
        for name in (first, second)
    )
    return math.log(max(max(a / b, b / a) for a, b in zip(one, other, strict=True)))


@pytest.mark.parametrize(("content", "keep"), [(SHARED, "0.8"), (PAIRS, "1")])
def test_every_edge(run: Run, content: str, keep: str) -> None:
    outcome = run("audit", "m.csv", *GRAPH, "--json", files=FILES | {"m.csv": content})
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    wanted = {pair: loss(*pair, Fraction(keep)) for pair in (("ann", "bob"), ("bob", "cy"))}
    found = {tuple(sorted((e["more"], e["less"]))): e["loss"] for e in data["edges"]}
    assert found == pytest.approx(wanted)
    assert data["measures"]["profile"] == pytest.approx(max(wanted.values()))
    assert data["uses_profile"] is (content == PAIRS)
    text = run("audit", "m.csv", *GRAPH).out
    # Losses are rounded up.
    assert f"{math.ceil(max(wanted.values()) * 10**6) / 10**6:.6f}" in text


def test_checks_and_exit_codes(run: Run) -> None:
    files = FILES | {"m.csv": SHARED}
    fine = run("audit", "m.csv", *GRAPH, "--check", "profile=1", files=files)
    assert (fine.code, fine.err) == (0, "")
    assert "CERTIFIED: profile(budget=1)" in fine.out
    bad = run("audit", "m.csv", *GRAPH, "--check", "profile=0.1", "-q")
    assert (bad.code, bad.out) == (1, "")
    (line,) = bad.err.splitlines()
    assert "profile(budget=0.1) does not hold" in line
    smallest = line.rpartition("satisfies ")[2]
    assert run("audit", "m.csv", *GRAPH, "--check", smallest, "-q").code == 0


@pytest.mark.parametrize(
    ("joins", "edges"),
    [
        (("--edges", "edges.csv"), 2),
        (("--graph", "complete"), 3),
        (("--graph", "chain"), 2),
        (("--groups", "groups.csv"), 1),
    ],
)
def test_ways_to_join(run: Run, joins: tuple[str, ...], edges: int) -> None:
    files = FILES | {"m.csv": SHARED}
    arguments = ["audit", "m.csv", "--profiles", "profiles.csv", *joins, "--json"]
    data = json.loads(run(*arguments, files=files).out)
    assert len(data["edges"]) == edges


def test_a_mechanism_brings_its_graph(run: Run) -> None:
    assert run(*DESIGN, "-o", "safe.json", files=FILES).code == 0
    outcome = run("audit", "safe.json", "--check", "profile=1")
    assert (outcome.code, outcome.err) == (0, "")
    other = run("audit", "safe.json", "--graph", "complete", "--json")
    assert len(json.loads(other.out)["edges"]) == 3
    again = run("audit", "safe.json", *GRAPH, "--json")
    own = run("audit", "safe.json", "--json")
    assert json.loads(again.out)["measures"] == json.loads(own.out)["measures"]


def test_the_picture(run: Run) -> None:
    pytest.importorskip("matplotlib")
    files = FILES | {"m.csv": SHARED}
    outcome = run("audit", "m.csv", *GRAPH, "--plot", "graph.svg", files=files)
    assert outcome.made == {"graph.svg"}
    assert outcome.err == "note: picture written to graph.svg\n"
    assert Path("graph.svg").read_text().startswith("<?xml")


def test_long_lists_are_cut(run: Run) -> None:
    names = [f"user{i}" for i in range(40)]
    rows = "".join(f"{name},{i + 1},{50 - i}\n" for i, name in enumerate(names))
    files = {"p.csv": "profile,a,b\n" + rows, "m.csv": "value,a,b\na,0.7,0.3\nb,0.3,0.7\n"}
    outcome = run("audit", "m.csv", "--profiles", "p.csv", "--graph", "chain", files=files)
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) < 35
    assert "more" in outcome.out
    data = json.loads(
        run("audit", "m.csv", "--profiles", "p.csv", "--graph", "chain", "--json").out
    )
    assert len(data["edges"]) == 39


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["m.csv", "--profiles", "profiles.csv"],
            ["no edges between the profiles at profiles.csv", "--edges FILE"],
        ),
        (["m.csv", "--edges", "edges.csv"], ["no profiles at m.csv; give --profiles"]),
        (["m.csv"], ["no prior for the channel at m.csv"]),
        (["m.csv", *GRAPH, "--graph", "chain"], ["give only one of --edges and --graph"]),
        (["m.csv", *GRAPH, "--prior", "p.csv"], ["--prior does not go with a graph of profiles"]),
        (["m.csv", *GRAPH, "--alpha", "2"], ["--alpha does not go with a graph"]),
        (["m.csv", *GRAPH, "--at-epsilon", "2"], ["--at-epsilon does not go with a graph"]),
        (["m.csv", *GRAPH, "--check", "lip=1"], ["not defined for a graph of profiles"]),
        (["m.csv", *GRAPH, "--check", "profile=x"], ["profile is not a number: 'x'"]),
        (["m.csv", *GRAPH, "--plot", "graph.txt"], ["unknown picture format at graph.txt"]),
        (["none.csv", *GRAPH], ["no such file at none.csv"]),
        (["m.csv", "--profiles", "none.csv", "--graph", "chain"], ["no such file at none.csv"]),
        (["m.csv", "--profiles", "profiles.csv", "--edges", "none.csv"], ["no such file at none"]),
    ],
)
def test_refusals(run: Run, arguments: list[str], parts: list[str]) -> None:
    outcome = run("audit", *arguments, files=FILES | {"m.csv": SHARED})
    assert_refused(outcome, *parts)


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("edges.csv", "from,to\nann,dan\n", ["unknown profile at edges.csv, line 2", "'dan'"]),
        ("edges.csv", "from,to\nann,ann\n", ["to itself at edges.csv, line 2", "leave it out"]),
        ("edges.csv", "from,to,w\nann,bob,1\n", ["3 columns instead of 2", "without a weight"]),
        ("edges.csv", "ann|bob\n", ["separated by bars at edges.csv, line 1"]),
        ("profiles.csv", "p,low,mid,high\nann,0,0,0\n", ["all 0 at profiles.csv, line 2"]),
        ("profiles.csv", "p,low,mid,high\nann,0.1,0.1,0.1\n", ["nor sum to 1", "line 2", "0.3"]),
        ("m.csv", "value,low\nlow,1\nmid,1\n", ["no row for a value at m.csv: 'high'"]),
        ("m.csv", PAIRS.replace("cy,high,0,0,1\n", ""), ["no row for a profile and value at m"]),
    ],
)
def test_bad_files(run: Run, name: str, content: str, parts: list[str]) -> None:
    outcome = run("audit", "m.csv", *GRAPH, files=FILES | {"m.csv": SHARED} | {name: content})
    assert_refused(outcome, *parts)


def test_values_that_a_profile_calls_impossible(run: Run) -> None:
    profiles = "profile,low,high\nann,9,1\nbob,1,0\n"
    matrix = "value,low,high\nlow,0.6,0.4\nhigh,0.4,0.6\n"
    files = {"profiles.csv": profiles, "m.csv": matrix}
    arguments = ["audit", "m.csv", "--profiles", "profiles.csv", "--graph", "complete"]
    # Without a check everything is measured; a promise that leaves them out must be asked for.
    assert run(*arguments, files=files).code == 0
    assert_refused(
        run(*arguments, "--check", "profile=0.25"), "'bob' with value 'high'", "the profile"
    )
    ignored = run(*arguments, "--check", "profile=0.25", "--impossible", "ignore")
    assert ignored.code == 0


ZEROS = "profile,low,mid,high\nann,5,3,2\nbob,2,3,0\ncy,0,1,8\n"
SHARED_BY_ALL = (*GRAPH, "--epsilon", "0.3", "--method", "shared-categorical", "--no-comparison")


def test_what_the_certificate_lists_is_listed(run: Run) -> None:
    files = FILES | {"profiles.csv": ZEROS}
    made = run("design", *SHARED_BY_ALL, "-o", "safe.json", files=files)
    assert made.code == 0
    count = "2 pairs (profile, value) of probability 0 are not protected"
    assert f"note: {count}; profiles without zeros, or --method smooth-cat" in made.err
    listed = '"bob" with value "high", "cy" with value "low"'
    assert f"NOT protected (profile probability 0): {listed}" in made.out
    check = ("audit", "safe.json", "--check", "profile=0.3")
    fine = run(*check)
    assert fine.code == 0
    assert f"note: {count}, as the certificate of the mechanism says" in fine.err
    assert "CERTIFIED" in fine.out
    assert listed in " ".join(fine.out.split())
    data = json.loads(run(*check, "--json").out)
    assert data["unprotected"] == [["bob", "high"], ["cy", "low"]]
    assert data["checks"][0]["unprotected"] == data["unprotected"]
    # Asked for, under another graph, or without a certificate, they are refused.
    listed = "'bob' with value 'high', 'cy' with value 'low'"
    assert_refused(run(*check, "--impossible", "refuse"), listed)
    assert_refused(run(*check, "--graph", "complete"), listed)
    assert_refused(run(*check, *GRAPH), listed)
    assert run(*check, *GRAPH, "--impossible", "ignore").code == 0


def test_smoothing_covers_what_was_not_seen(run: Run) -> None:
    rows = [line.split(",") for line in ZEROS.splitlines()]
    table = "user,usage\n" + "".join(
        f"{name},{value}\n" * int(count)
        for name, *counts in rows[1:]
        for value, count in zip(rows[0][1:], counts, strict=True)
    )
    counted = ["--table", "t.csv", "--profile-column", "user", "--column", "usage"]
    counted += ["--graph", "chain", "--epsilon", "0.3", "--no-comparison"]
    arguments = ("design", *counted, "--method", "shared-categorical")
    bare = run(*arguments, files={"t.csv": table})
    count = "2 pairs (profile, value) of probability 0 are not protected"
    assert f"note: {count}; --smooth 1, or --method smooth-categorical" in bare.err
    for way in (("--smooth", "1"), ("--method", "smooth-categorical")):
        covered = run(*arguments, *way)
        assert (covered.code, "not protected" in covered.err) == (0, False)


def test_claims_that_a_graph_does_not_know(run: Run) -> None:
    files = FILES | {"m.csv": SHARED}
    arguments = ("audit", "m.csv", *GRAPH, "--check")
    wrong = run(*arguments, "lip=1", files=files)
    parts = ("--check lip is not defined for a graph of profiles", "use --check profile=BUDGET")
    assert_refused(wrong, *parts)
    without = "the claim has no value"
    assert_refused(run(*arguments, "profile"), f"{without}: 'profile'; write it like profile=1")
    assert_refused(run(*arguments, "profile="), f"{without}: 'profile='; write it like profile=1")
    assert_refused(run(*arguments, "alip"), "write it like alip=LOWER,UPPER")
