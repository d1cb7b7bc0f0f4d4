"""`liftlock compare --released`: every point is a mechanism that keeps its budget."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import FILES, GRAPH, assert_refused

CURVE = ("compare", "--released", *GRAPH, "--methods", "cluster,randomised-response")


def test_points(run: Run) -> None:
    outcome = run(*CURVE, "--epsilons", "0.5,ln 3", "--json", "--csv", "p.csv", files=FILES)
    assert (outcome.code, set(outcome.made)) == (0, {"p.csv"})
    curves = json.loads(outcome.out)["curves"]
    points = [
        {"method": curve["method"], "loss": point["needed"]} | point | point["errors"]
        for curve in curves
        for point in curve["points"]
    ]
    assert [point["method"] for point in points] == ["cluster"] * 2 + ["randomised-response"] * 2
    for point in points:
        assert point["loss"] <= point["epsilon"] + 1e-9
    response = {point["epsilon"]: point["largest"] for point in points[2:]}
    # One of three values is turned into each other one with chance 1 / (e^epsilon + 2).
    for epsilon, largest in response.items():
        assert largest == pytest.approx(1 / (math.exp(epsilon) + 2), rel=1e-6)
    for one, other in zip(points[:2], points[2:], strict=True):
        assert one["largest"] <= other["largest"]
    with Path("p.csv").open(newline="") as stream:
        assert [float(row["largest"]) for row in csv.DictReader(stream)] == [
            point["largest"] for point in points
        ]
    text = run(*CURVE, "--epsilons", "0.5,ln 3").out
    assert f"{points[0]['largest']:.4f}" in text
    shown = [float(number) for number in re.findall(r"\d\.\d{6}\b", text)]
    for told, point in zip(shown, points, strict=True):
        assert point["loss"] <= told <= point["loss"] + 1e-6


def test_the_usual_methods(run: Run) -> None:
    outcome = run("compare", "--released", *GRAPH, "--epsilons", "1", "--json", files=FILES)
    curves = json.loads(outcome.out)["curves"]
    assert [curve["method"] for curve in curves] == ["randomised-response", "smooth-categorical"]


def test_the_picture(run: Run) -> None:
    pytest.importorskip("matplotlib")
    outcome = run(*CURVE, "--epsilons", "0.5,1", "--plot", "curve.svg", files=FILES)
    assert (outcome.code, set(outcome.made)) == (0, {"curve.svg"})
    assert outcome.err == "note: picture written to curve.svg\n"


def test_an_interruption_leaves_no_half(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("liftlock.cli.compare.draw_released", interrupt)
    both = ("--epsilons", "1", "--csv", "p.csv", "--plot", "curve.svg")
    outcome = run(*CURVE, *both, files=FILES)
    assert (outcome.code, set(outcome.made)) == (130, set())


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["compare", "--released"], ["--released goes with --profiles"]),
        ([*CURVE, "--epsilons", "1,x"], ["not a number: 'x'"]),
        ([*CURVE, "--epsilons", "1,,2"], ["an empty budget"]),
        (["compare", "--released", *GRAPH, "--methods", "magic"], ["unknown method: 'magic'"]),
        ([*CURVE, "--csv", "edges.csv"], ["--csv would overwrite --edges"]),
        ([*CURVE, "--plot", "curve.doc"], ["unknown picture format"]),
    ],
)
def test_refusals(run: Run, arguments: list[str], parts: list[str]) -> None:
    assert_refused(run(*arguments, files=FILES), *parts)
