"""`liftlock design` for a graph of profiles: a certified mechanism, or one line that says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import liftlock as ll
from liftlock import ProfileGraph
from liftlock.files import read_mechanism
from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import DESIGN, FILES, GRAPH, assert_refused

TABLE_OF = ("--table", "table.csv", "--profile-column", "user", "--column", "usage")


def test_design_audit_release(run: Run) -> None:
    outcome = run(*DESIGN, "-o", "safe.json", files=FILES)
    assert (outcome.code, set(outcome.made)) == (0, {"safe.json"})
    assert outcome.out.startswith("CERTIFIED: profile(budget=1)")
    assert outcome.err.splitlines()[-1] == "note: written to safe.json"
    assert run("audit", "safe.json", "--check", "profile=1").code == 0
    arguments = ["--column", "usage", "--profile-column", "user", "-o", "safe.csv"]
    assert run("release", "safe.json", "table.csv", *arguments).code == 0


def test_it_is_what_python_designs(run: Run) -> None:
    graph = ProfileGraph.of(
        {
            "ann": {"low": 5, "mid": 3, "high": 2},
            "bob": {"low": 2, "mid": 3, "high": 5},
            "cy": {"low": 1, "mid": 1, "high": 8},
        },
        [("ann", "bob"), ("bob", "cy")],
    )
    made = ll.design(graph, "1", method="cluster")
    data = json.loads(run(*DESIGN, "--json", "-o", "safe.json", files=FILES).out)
    assert data["certificate"]["channel"] == made.channel.fingerprint
    assert data["certificate"]["context"] == graph.fingerprint
    assert made.origin is not None
    assert data["objective"] == made.origin.objective
    assert {row["profile"] for row in data["wrong"]} == {"ann", "bob", "cy"}
    assert data["comparison"] == []
    assert data["file"] == "safe.json"
    assert len(data["audit"]["edges"]) == 2


def test_compared_with_the_others(run: Run) -> None:
    arguments = [argument for argument in DESIGN if argument != "--no-comparison"]
    data = json.loads(run(*arguments, "--json", files=FILES).out)
    names = [row["name"] for row in data["comparison"]]
    assert {"cluster", "no release", "no noise"} <= set(names)
    text = run(*arguments).out
    for name in names:
        assert name in text


def test_a_table_of_observations(run: Run) -> None:
    arguments = ["--epsilon", "1", "--method", "cluster", "--no-comparison", "-o", "safe.json"]
    files = FILES
    design = ["design", *TABLE_OF, "--smooth", "1", *arguments]
    grouped = run(*design, "--group-column", "role", files=files)
    assert grouped.code == 0, grouped.err
    graph = read_mechanism("safe.json").context
    assert isinstance(graph, ProfileGraph)
    assert graph.edge_names == (("ann", "bob"),)
    assert graph.distribution("ann").counts == (1, 2, 2)
    assert "no edge, so no promise, for cy" in grouped.out
    chained = run(*design, "--graph", "chain")
    assert "note: the chain follows the order 'ann', 'bob', 'cy'" in chained.err


def test_the_goal_is_passed_on(run: Run) -> None:
    files = FILES | {
        "w.csv": "profile,weight\nann,1\nbob,0\ncy,0\n",
        # Columns in another order than the values: they must be aligned.
        "l.csv": "value,high,low,mid\nlow,4,0,1\nmid,1,1,0\nhigh,0,4,1\n",
    }
    plain = json.loads(run(*DESIGN, "--json", files=files).out)
    weighted = json.loads(run(*DESIGN, "--json", "--utility", "hamming", "--weights", "w.csv").out)
    assert weighted["utility"] == "hamming"
    wrong = {row["profile"]: row["wrong"] for row in weighted["wrong"]}
    assert weighted["objective"] == pytest.approx(wrong["ann"])
    assert plain["utility"] == "minimax"
    noise = plain["largest"]  # cluster turns a value into each other one with this chance
    lossy = json.loads(run(*DESIGN, "--json", "--loss", "l.csv").out)
    assert lossy["utility"] == "distortion"
    losses = {"low": 5, "mid": 2, "high": 5}
    distributions = {"ann": (5, 3, 2), "bob": (2, 3, 5), "cy": (1, 1, 8)}
    mean = sum(
        n / 10 * losses[value]
        for distribution in distributions.values()
        for n, value in zip(distribution, ("low", "mid", "high"), strict=True)
    )
    assert lossy["objective"] == pytest.approx(noise * mean / 3)


def test_bits_and_pictures(run: Run) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["--bits", "20", "-o", "safe.json", "--plot", "graph.png"]
    outcome = run(*DESIGN, *arguments, files=FILES)
    assert outcome.made == {"safe.json", "graph.png"}
    made = read_mechanism("safe.json")
    assert made.table.bits == 20
    assert isinstance(made.context, ProfileGraph)
    assert not made.context.uses_profile(made.channel.inputs)  # the graph is connected


def design(*arguments: str) -> list[str]:
    return ["design", *arguments]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            design("--graph", "chain", "--epsilon", "1"),
            ["no profiles: give --profiles or --table"],
        ),
        (design(*GRAPH), ["no budget: give --epsilon"]),
        (design(*GRAPH, "--epsilon", "inf"), ["--epsilon is infinite"]),
        (design(*GRAPH, "--epsilon", "-1"), ["--epsilon is negative", "0 or more"]),
        (design(*GRAPH, "--epsilon", "much"), ["not a number: 'much'"]),
        (design(*GRAPH, "--epsilon", "1", "--method", "magic"), ["unknown method: 'magic'"]),
        (
            design(*GRAPH, "--epsilon", "1", "--utility", "x"),
            ["unknown utility: 'x'; use one of minimax, hamming"],
        ),
        (design(*GRAPH, "--epsilon", "1", "--utility", "distortion"), ["needs --loss"]),
        (
            design(*GRAPH, "--epsilon", "1", "--utility", "hamming", "--loss", "l.csv"),
            ["--loss goes with --utility distortion"],
        ),
        (design(*GRAPH, "--graph", "chain", "--epsilon", "1"), ["only one of --edges and --graph"]),
        (design(*GRAPH, *TABLE_OF, "--epsilon", "1"), ["only one of --profiles and --table"]),
        (design(*GRAPH, "--column", "usage", "--epsilon", "1"), ["--column goes with --table"]),
        (design(*GRAPH, "--smooth", "1", "--epsilon", "1"), ["--smooth goes with --table"]),
        (design(*TABLE_OF[:4], "--epsilon", "1"), ["--table needs --column"]),
        (
            design(*TABLE_OF, "--epsilon", "1"),
            ["no edges between the profiles at table.csv", "--group-column NAME"],
        ),
        (design(*TABLE_OF, "--smooth", "-1", "--epsilon", "1"), ["--smooth is negative: '-1'"]),
        (
            design(*TABLE_OF[:-1], "use", "--graph", "chain", "--epsilon", "1"),
            ["no such column at table.csv, line 1: 'use'; it has id, user, role, usage"],
        ),
        ([*DESIGN, "--option", "colour=red"], ["the method cluster has no such option"]),
        (
            [*DESIGN, "--method", "smooth-categorical", "--option", "colour=red"],
            ["no such option: 'colour'; its options are seconds"],
        ),
        (
            design("--profiles", "edges.csv", "--edges", "profiles.csv", "--epsilon", "1"),
            [
                "two columns of names instead of profiles at edges.csv",
                "are the two files swapped?",
            ],
        ),
        (
            design("--profiles", "edges.csv", "--graph", "chain", "--epsilon", "1"),
            [
                "two columns of names instead of profiles at edges.csv",
                "pairs of profiles to --edges",
            ],
        ),
        ([*DESIGN, "-o", "none/safe.json"], ["no such folder at none"]),
        ([*DESIGN, "-o", "profiles.csv"], ["the output would overwrite --profiles"]),
        (
            [*DESIGN, "--plot", "edges.svg", "-o", "edges.svg"],
            ["--plot would overwrite the output"],
        ),
        ([*DESIGN, "--plot", "graph.doc"], ["unknown picture format at graph.doc"]),
        ([*DESIGN, "--weights", "groups.csv"], ["weight is not a number at groups.csv, line 2"]),
        ([*DESIGN, "--loss", "edges.csv"], ["loss is not a number at edges.csv, line 2"]),
        ([*DESIGN, "--loss", "l.csv"], ["the loss's columns do not match the values at l.csv"]),
        (
            [*DESIGN, "--utility", "absolute"],
            ["--utility absolute needs values that are numbers: 'low'; use minimax or hamming, or"],
        ),
    ],
)
def test_refusals(run: Run, arguments: list[str], parts: list[str]) -> None:
    files = FILES | {"l.csv": "value,low,mid\nlow,0,1\nmid,1,0\nhigh,2,1\n"}
    before = set(Path.cwd().iterdir())
    outcome = run(*arguments, files=files)
    assert_refused(outcome, *parts)
    assert {path.name for path in set(Path.cwd().iterdir()) - before} == set(files)


def test_few_bits(run: Run) -> None:
    arguments = design(*GRAPH, "--epsilon", "0.01", "--bits", "2", "--no-comparison")
    outcome = run(*arguments, "--method", "smooth-categorical", files=FILES)
    assert_refused(outcome, "does not hold", ", or use more bits: --bits is 2", code=1)


def test_an_interruption_says_what_is_there(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("liftlock.cli.design.measure_profile_baselines", interrupt)
    outcome = run(*DESIGN[:-1], "-o", "safe.json", files=FILES)
    assert (outcome.code, set(outcome.made)) == (130, {"safe.json"})
    assert outcome.err.splitlines() == [
        "note: written to safe.json",
        "liftlock: interrupted; nothing more is written",
    ]


def test_graphs_with_isolated_profiles_and_parts(run: Run) -> None:
    profiles = "profile,a,b\np,1,9\nq,2,8\nr,5,5\ns,9,1\nalone,0,1\n"
    files = {"p.csv": profiles, "e.csv": "x,y\np,q\nr,s\ns,r\n"}
    arguments = ["--profiles", "p.csv", "--edges", "e.csv", "--epsilon", "0.1"]
    options = ["--method", "cluster", "--no-comparison"]
    outcome = run("design", *arguments, *options, files=files)
    assert outcome.code == 0
    assert "no edge, so no promise, for alone" in outcome.out
    data = json.loads(run("design", *arguments, *options, "--json").out)
    wrong = {row["profile"]: row["wrong"] for row in data["wrong"]}
    assert wrong["alone"] == pytest.approx(0.0)
    assert wrong["p"] < wrong["r"]


def test_design_takes_a_graph_like_any_other_context(run: Run) -> None:
    arguments = [*GRAPH, "--epsilon", "1", "--method", "cluster", "--json"]
    plain = run("design", *arguments, files=FILES)
    assert plain.code == 0
    assert json.loads(plain.out)["format"] == "liftlock.profile-design"
    named = run("design", *arguments, "--notion", "profile", "-o", "safe.json")
    assert set(named.made) == {"safe.json"}
    assert read_mechanism("safe.json").certificate.guarantee == "profile(budget=1)"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--prior", "profiles.csv"], "--prior does not go with a graph of profiles"),
        (["--delta", "0.1"], "--delta does not go with a graph of profiles"),
        (["--require-gap", "0.1"], "--require-gap does not go with a graph of profiles"),
        (["--as-published"], "--as-published does not go with a graph of profiles"),
        (["--notion", "lip"], "a graph of profiles has the notion profile: leave out --notion"),
        (
            ["--method", "optimal"],
            "the method optimal is not for a graph of profiles: 'optimal'; use smooth",
        ),
    ],
)
def test_design_refuses_what_says_nothing_about_a_graph(
    run: Run, given: list[str], said: str
) -> None:
    assert_refused(run("design", *GRAPH, "--epsilon", "1", *given, files=FILES), said)


def test_compare_takes_a_graph(run: Run) -> None:
    arguments = [*GRAPH, "--epsilons", "0.5,1", "--methods", "cluster,randomised-response"]
    found = json.loads(run("compare", *arguments, "--json", files=FILES).out)
    assert [curve["method"] for curve in found["curves"]] == ["cluster", "randomised-response"]
    assert (found["notion"], found["utility"]) == ("profile(1)", "minimax")
    for curve in found["curves"]:
        for point in curve["points"]:
            assert point["needed"] <= point["epsilon"]
            assert (point["eps_lower"], point["eps_upper"]) == (None, None)
    assert "cluster" in run("compare", *arguments).out
    counted = [*TABLE_OF, "--smooth", "1", "--group-column", "role", *arguments[4:]]
    found = json.loads(run("compare", *counted, "--json").out)
    assert found["context"] == "a graph of 3 profiles and 1 edge on 3 values"
    refused = run("compare", *arguments, "--split", "0.5")
    assert_refused(refused, "--split does not go with a graph of profiles")


def test_how_it_was_solved_is_explained(run: Run) -> None:
    asked = ("design", *GRAPH, "--epsilon", "1", "--explain")
    data = json.loads(run(*asked, "--json", files=FILES).out)
    taken = [row["name"] for row in data["explanation"] if row["taken"]]
    assert taken == ["output-distributions"]
    assert "how it was solved" in run(*asked, "--utility", "mutual-information").out
    nothing = json.loads(run(*asked[:-2], "0", "--explain", "--json").out)
    assert [row["name"] for row in nothing["explanation"]] == ["constant"]


def test_a_formula_has_nothing_to_explain(run: Run) -> None:
    outcome = run(*DESIGN, "--explain", files=FILES)
    assert outcome.code == 2
    assert "--explain works only with methods that search" in outcome.err
    assert "use smooth-categorical or shared-categorical" in outcome.err
