"""`liftlock compare`: curves as a table, CSV, JSON and a picture."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from liftlock.cli.compare import read_epsilons
from liftlock.designs import Comparison, Curve, Point, comparison, design
from liftlock.report.text.design import comparison_table, heading
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_bad_input import assert_refused

PRIOR = "label,probability\n1,0.1\n2,0.2\n3,0.7\n"
JOINT = "secret,a,b,c\ns,25,23,2\nt,20,20,10\n"
FILES = {"p.csv": PRIOR, "j.csv": JOINT}
ASKED = ("compare", "--prior", "p.csv", "--utility", "histogram", "--epsilons", "0.5,1")


def test_a_table(run: Run) -> None:
    methods = ("--methods", "optimal,safe-response,response")
    outcome = run(*ASKED, *methods, "--at", "epsilon", files=FILES)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("histogram error (mean squared, per person) (less is better)")
    assert lines[1] == "no release 0.46, no noise 0"
    assert lines[2] == "every method was asked for the same epsilon (1 means lip(1))"
    assert lines[4].split() == ["epsilon", "optimal", "safe-response", "response", "*"]
    # Known from closed forms and brute force; the published one truly needs 1.9005 nats.
    assert lines[6].split() == ["1", "0.328761", "0.443233", "0.276195", "(1.901)"]
    assert lines[-1].startswith("* published formula")


def test_a_table_at_the_same_leakage(run: Run) -> None:
    methods = ("--methods", "optimal,response,optimal:ldp")
    lines = run(*ASKED, *methods, files=FILES).out.splitlines()
    assert lines[2] == "every mechanism truly leaks no more than its row says (1 means lip(1))"
    assert lines[4].split() == ["lip", "optimal", "response", "*", "optimal", "(LDP)"]
    # The published formula is the safe one at an honest budget.
    assert lines[6].split() == ["1", "0.328761", "0.443233", "0.372427"]
    assert lines[8] == "LDP that these mechanisms have:"
    assert lines[12].split() == ["1", "2", "1.212", "1.24"]
    lines = run(*ASKED, *methods, "--at", "ldp", "--epsilons", "2", files=FILES).out.splitlines()
    assert lines[5].split() == ["2", "0.328761", "0.390093", "0.282916"]
    assert lines[7] == "LIP that these mechanisms have:"
    assert lines[10].split() == ["2", "1", "1.506", "1.7"]


@pytest.mark.parametrize("width", [60, 80, 110])
def test_numbers_are_never_split(width: int) -> None:
    points = [
        Point(e, e, 519569651.4 / e, e, e, e, 8, None, 0.0, "lip(1)", "lip(1)")
        for e in (0.5, 1.0, 2.0)
    ]
    names = ["optimal", "quantile-blocks", "bounded-laplace", "laplace", "gaussian:published", "s"]
    curves = [Curve(name, "lip", ":" not in name, tuple(points)) for name in names]
    found = Comparison("c", "lip(1)", "lip", "mean", "t", False, 2e9, 0.0, tuple(curves))
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        console.print(comparison_table(found))
    lines = captured.get().splitlines()
    assert all(len(line.rstrip()) <= width for line in lines)
    text = " ".join(lines)
    for number in ("1,039,140,000", "519,570,000", "259,785,000"):
        assert text.count(number) == len(names)
    assert text.count("lip ") == {60: 4, 80: 3, 110: 2}[width]
    for curve in curves:
        assert heading(curve) in text


def _pressing(at: int, monkeypatch: pytest.MonkeyPatch, *, swallowed: bool) -> None:
    """Press Ctrl-C while the point of that number is made; a search may keep it to itself."""
    count = iter(range(100))

    def pressed(*arguments: Any, **options: Any) -> Any:
        made = design(*arguments, **options)
        if next(count) == at:
            with contextlib.suppress(*([KeyboardInterrupt] if swallowed else [])):
                signal.raise_signal(signal.SIGINT)
        return made

    monkeypatch.setattr(comparison, "design", pressed)


@pytest.mark.parametrize("swallowed", [False, True])
def test_an_interrupt_ends_the_whole_comparison(
    run: Run, monkeypatch: pytest.MonkeyPatch, swallowed: bool
) -> None:
    before = signal.getsignal(signal.SIGINT)
    _pressing(3, monkeypatch, swallowed=swallowed)
    asked = [*ASKED, "--methods", "safe-response,k-rr,arc", "--csv", "out.csv", "--json"]
    asked += ["--at", "epsilon"]
    outcome = run(*asked, files=FILES)
    assert outcome.code == 130
    data = json.loads(outcome.out)
    assert [(c["method"], len(c["points"])) for c in data["curves"]] == [
        ("safe-response", 2),
        ("k-rr", 1),
    ]
    assert data["left_out"] == 3
    assert data["notes"][0] == "interrupted: 3 of 6 points are missing"
    assert len(Path("out.csv").read_text().splitlines()) == 4
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_before_the_first_point(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _pressing(0, monkeypatch, swallowed=True)
    outcome = run(*ASKED, "--methods", "safe-response", "--csv", "out.csv", files=FILES)
    assert (outcome.code, outcome.out) == (130, "")
    assert "out.csv" not in outcome.made
    assert outcome.err == "liftlock: interrupted; nothing more is written\n"


def test_csv_json_and_picture(run: Run) -> None:
    asked = [*ASKED, "--methods", "safe-response,k-rr"]
    outcome = run(*asked, "--csv", "out.csv", "--plot", "out.svg", "--json", files=FILES)
    assert outcome.code == 0
    assert set(outcome.made) == {"out.csv", "out.svg"}
    data = json.loads(outcome.out)
    rows = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))
    assert [(row["method"], float(row["epsilon"])) for row in rows] == [
        (method, epsilon) for method in ("safe-response", "k-rr") for epsilon in (0.5, 1.0)
    ]
    points = [point for curve in data["curves"] for point in curve["points"]]
    assert [float(row["objective"]) for row in rows] == [p["objective"] for p in points]
    assert all(p["needed"] <= p["epsilon"] for p in points)
    assert data["notes"] == ["points written to out.csv", "picture written to out.svg"]
    picture = Path("out.svg").read_text()
    for text in ("what is truly leaked: LIP", "safe-response", "k-rr", "no release", "no noise"):
        assert text in picture


def test_a_split_budget_is_alip(run: Run) -> None:
    asked = ["compare", "--joint", "j.csv", "--split", "0.65", "--epsilons", "2", "--json"]
    data = json.loads(run(*asked, "--methods", "optimal,k-rr:ldp", files=FILES).out)
    assert data["notion"] == "alip(lower=0.65, upper=0.35)"
    points = [curve["points"][0] for curve in data["curves"]]
    assert [point["guarantee"] for point in points] == ["alip(lower=1.3, upper=0.7)"] * 2
    asked += ["--at", "epsilon"]
    data = json.loads(run(*asked, "--methods", "optimal,k-rr:ldp", files=FILES).out)
    # The LDP budget that implies both sides is the smaller one.
    assert data["curves"][1]["points"][0]["parameter"] == "ldp(0.7)"


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (["--prior", "p.csv"], {"optimal", "safe-response", "arc", "k-rr", "response"}),
        (["--joint", "j.csv"], {"optimal", "watchdog", "subset-merging", "k-rr"}),
        (["--prior", "p.csv", "--radius", "0.02"], {"optimal", "k-rr"}),
    ],
)
def test_sensible_methods_are_chosen(run: Run, context: list[str], expected: set[str]) -> None:
    outcome = run("compare", *context, "--epsilons", "1", "--json", files=FILES)
    assert outcome.code == 0
    data = json.loads(outcome.out)
    assert expected <= {curve["method"] for curve in data["curves"]}
    best = {curve["method"]: curve["points"][0]["objective"] for curve in data["curves"]}
    keeping = [curve["method"] for curve in data["curves"] if curve["keeps"]]
    # The optimum of the notion is at least as good as anything that keeps it.
    assert all(best["optimal"] >= best[method] - 1e-6 for method in keeping)


def test_ranges() -> None:
    assert read_epsilons("0.25:1:4") == ["0.25", "0.5", "0.75", "1"]
    assert read_epsilons("1:2:4") == ["1", "4/3", "5/3", "2"]
    assert read_epsilons(" 1 , ln 3,1") == ["1", "ln 3"]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--epsilons", "1:2"], ["a range is FIRST:LAST:COUNT", "0.25:4:8"]),
        (["--epsilons", "2:1:3"], ["does not rise"]),
        (["--epsilons", "-1:1:3"], ["does not rise"]),
        (["--epsilons", "1:2:1"], ["fewer than 2"]),
        (["--epsilons", "1:2:2.5"], ["COUNT is 2 or more"]),
        (["--epsilons", "1:2:100000"], ["more than 1000 budgets"]),
        (["--epsilons", "1,,2"], ["an empty budget"]),
        (["--epsilons", "1,inf"], ["promises nothing"]),
        (["--epsilons", "1,x"], ["--epsilons is not a number: 'x'"]),
        (["--split", "1"], ["--split outside 0 to 1"]),
        (["--split", "half"], ["--split is not a number"]),
        (["--split", "0.5", "--notion", "ldp"], ["--split always compares alip"]),
        (["--split", "0.5", "--epsilons", "ln 3"], ["cannot be split exactly: 'ln 3'"]),
        (["--notion", "alip"], ["give --split"]),
        (["--notion", "peace"], ["'peace'"]),
        (["--at", "joy"], ["no such leakage to compare at: 'joy'", "use epsilon or one of lip"]),
        (["--methods", "a,,b"], ["an empty name"]),
        (["--methods", "magic"], ["unknown method: 'magic'"]),
        (["--methods", "k-rr:best"], ["unknown form of a method: 'k-rr:best'", "k-rr:ldp"]),
        (["--methods", "arc:ldp"], ["unknown form of a method"]),
        (["--utility", "joy"], ["unknown utility: 'joy'"]),
        (["--seconds", "-1"], ["--seconds is not positive"]),
        (["--csv", "no/x.csv"], ["no such folder"]),
        (["--csv", "p.csv"], ["--csv would overwrite --prior"]),
        (["--plot", "x.bmp"], ["unknown picture format", ".png"]),
    ],
)
def test_bad_input_is_one_line(run: Run, arguments: list[str], parts: list[str]) -> None:
    for name, text in FILES.items():
        run("--version", files={name: text})
    assert_refused(run("compare", "--prior", "p.csv", *arguments), *parts)


def test_no_context(run: Run) -> None:
    assert_refused(run("compare"), "give --prior, --joint, --family, --distribution or --profiles")
