"""`liftlock profiles example`: files that are the example again when they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from liftlock.files import GraphFiles, read_graph
from liftlock.model.profile_examples import EXAMPLES, example
from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import assert_refused


def test_the_list(run: Run) -> None:
    outcome = run("profiles", "example")
    assert [line.split()[0] for line in outcome.out.splitlines()] == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_files_are_the_graph(run: Run, name: str) -> None:
    outcome = run("profiles", "example", name, "-o", "there")
    assert outcome.code == 0
    files = {"there", "there/profiles.csv", "there/edges.csv"}
    assert set(outcome.made) == files | ({"there/table.csv"} if EXAMPLES[name].table else set())
    read = read_graph(GraphFiles(Path("there/profiles.csv"), Path("there/edges.csv")))
    graph = example(name)
    assert [str(label) for label in graph.inputs.labels] == list(read.inputs.labels)
    assert (read.profiles, read.edges) == (graph.profiles, graph.edges)
    for label in graph.profiles.labels:
        assert read.distribution(label).fractions == graph.distribution(label).fractions


def test_the_table_has_the_same_counts(run: Run) -> None:
    run("profiles", "example", "workstation", "-o", ".")
    counted = read_graph(
        GraphFiles(
            table=Path("table.csv"),
            profile_column="user",
            column="usage",
            group_column="role",
            smoothing=1,
        )
    )
    graph = example("workstation")
    assert set(counted.edge_names) == set(graph.edge_names)
    for name in graph.profiles.labels:
        for value in graph.inputs.labels:
            assert counted.distribution(name)[value] == graph.distribution(name)[value]


def test_refusals(run: Run) -> None:
    assert_refused(run("profiles", "example", "magic", "-o", "."), "unknown example", "couplet")
    assert_refused(run("profiles", "example", "couplet"), "no folder: give -o FOLDER")
    assert_refused(run("profiles", "example", "-o", "."), "no example: name one of couplet")
    assert run("profiles", "example", "couplet", "-o", ".").code == 0
    again = run("profiles", "example", "chain-6", "-o", ".")
    assert_refused(again, "the file exists already at profiles.csv", "--force")
    assert run("profiles", "example", "chain-6", "-o", ".", "--force").code == 0
    assert len(Path("profiles.csv").read_text().splitlines()) == 7
    taken = run("profiles", "example", "couplet", "-o", "edges.csv")
    assert_refused(taken, "cannot make the folder at edges.csv")


def test_without_a_subcommand(run: Run) -> None:
    outcome = run("profiles")
    assert outcome.code == 0
    commands = outcome.out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in commands if line.startswith("  ") and line[2] != " "] == [
        *["example", "compose"]
    ]
