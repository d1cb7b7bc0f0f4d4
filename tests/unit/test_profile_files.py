"""Graphs of profiles from files: what they mean exactly, and one clear line for what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import liftlock as ll
from liftlock import ProfileGraph
from liftlock.errors import FileError, InputError
from liftlock.files import (
    GraphFiles,
    read_edges,
    read_graph,
    read_groups,
    read_observations,
    read_profile_channel,
    read_profiles,
    read_weights,
)
from liftlock.notions import ProfilePrivacy
from tests.profile_oracles import edges_of

PROFILES = "profile,low,high\nann,1,3\nbob,0.5,0.5\ncy,20%,80%\n"
NAMES = ll.Alphabet.of(["ann", "bob", "cy"])
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def write(content: str, name: str = "file.csv") -> Path:
        Path(name).write_bytes(content.encode())
        return Path(name)

    return write


def test_counts_and_probabilities(write: Write) -> None:
    graph = read_profiles(write(PROFILES))
    assert graph.profiles.labels == ("ann", "bob", "cy")
    assert [graph.distribution(name)["high"] for name in ("ann", "bob", "cy")] == [
        Fraction(3, 4),
        Fraction(1, 2),
        Fraction(4, 5),
    ]
    assert graph.edges == ()


def test_sums_near_1_are_normalised_and_said(write: Write) -> None:
    said: list[str] = []
    third = "0.333333333333"
    graph = read_profiles(write(f"p,a,b,c\nx,{third},{third},{third}\ny,1,1,1\n"), said.append)
    assert graph.distribution("x")["a"] == Fraction(1, 3)
    (text,) = said
    assert "1 of 2 profiles of file.csv" in text
    assert "profile 'x'" in text


def test_stored_graphs_and_mechanisms(write: Write) -> None:
    graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    assert read_profiles(write(json.dumps(graph.to_data()), "g.json")) == graph
    ll.design(graph, ProfilePrivacy("1"), method="cluster").save("m.json")
    assert read_profiles("m.json") == graph
    assert read_graph(GraphFiles(profiles=Path("m.json"))) == graph
    with pytest.raises(
        FileError, match=r"graph of profiles at p.json: 'prior'; give it as --prior"
    ):
        read_profiles(write(json.dumps(ll.Prior.uniform([0, 1]).to_data()), "p.json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty file"),
        ("profile,a,b\n", "no rows below the header"),
        ("profile,a,b\nx,0,0\n", "all 0 at file.csv, line 2, profile 'x'"),
        ("profile,a,b\nx,0.5,0.6\n", "nor sum to 1 at file.csv, line 2, profile 'x': 1.1"),
        ("profile,a,b\nx,1,1\ny,45.5,54.5\n", "line 3, profile 'y': 100.0; write percentages"),
        ("profile,a,b\nx,-1,2\n", r"negative at file.csv, line 2, column 2 \('a'\): '-1'"),
        ("profile,a,b\nx,one,2\n", "number is not a number at file.csv, line 2, column 2"),
        ("profile,a,b\nx,,2\n", "number is missing at file.csv, line 2, column 2"),
        ("profile,a,b\nx,1,2\nx,2,1\n", "given twice at file.csv, lines 2 and 3: 'x'"),
        ("profile,a,a\nx,1,2\n", "column name given twice"),
        ("profile|a|b\nx|1|2\n", "cells separated by bars at file.csv, line 1"),
        ("profile,a,b\nx,1\n", "2 cells, but the header has 3 at file.csv, line 2"),
    ],
)
def test_unusable_profiles(write: Write, content: str, message: str) -> None:
    path = write(content)
    with pytest.raises(FileError, match=message) as caught:
        read_profiles(path)
    assert "\n" not in str(caught.value)
    assert "; " in str(caught.value)


def test_a_missing_file() -> None:
    with pytest.raises(FileError, match=r"no such file at none.csv"):
        read_profiles("none.csv")


def test_edges(write: Write) -> None:
    path = write("from,to\nann,bob\nbob,ann\nbob,cy\n")
    assert read_edges(path, NAMES) == [("ann", "bob"), ("bob", "ann"), ("bob", "cy")]
    graph = read_graph(GraphFiles(write(PROFILES, "p.csv"), edges=path))
    assert graph.edges == ((0, 1), (1, 2))
    numbers = write("from,to\n1,2\n", "n.csv")
    assert read_edges(numbers, ll.Alphabet.of([1, 2])) == [(1, 2)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "from,to\nann,bob\nbob,dan\n",
            r"unknown profile at file.csv, line 3, column 2 \('to'\): 'dan'; use one of 'ann'",
        ),
        ("from,to\nann,\n", r"no profile at file.csv, line 2, column 2"),
        ("from,to\nann,ann\n", "to itself at file.csv, line 2: 'ann,ann'; leave it out"),
        ("from,to,weight\nann,bob,1\n", "3 columns instead of 2 at file.csv, line 1.*no.* weight"),
        ("ann,bob\nbob,cy\n", "names two profiles, and is read as a header at file.csv, line 1"),
        ("from,to\n", "no rows below the header"),
        ("from|to\nann|bob\n", "bars at file.csv, line 1"),
        ("from\nann\n", "only one column"),
        ('[["ann", "bob"]]', "JSON instead of a table"),
    ],
)
def test_unusable_edges(write: Write, content: str, message: str) -> None:
    path = write(content)
    message = message.replace("no.* weight", "without a weight")
    with pytest.raises(FileError, match=message):
        read_edges(path, NAMES)


def test_groups(write: Write) -> None:
    path = write("profile,group\ncy,lab\nann,lab\nbob,office\n")
    assert read_groups(path, NAMES) == {"ann": "lab", "bob": "office", "cy": "lab"}
    graph = read_graph(GraphFiles(write(PROFILES, "p.csv"), groups=path))
    assert (graph.edge_names, graph.isolated) == ((("ann", "cy"),), ("bob",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("profile,group\nann,lab\nbob,lab\n", "no group for a profile at file.csv: 'cy'"),
        ("profile,group\nann,a\nbob,a\ncy,\n", r"without a group at file.csv, line 4, column 2"),
        ("profile,group\nann,a\nann,b\n", "twice at file.csv, lines 2 and 3: 'ann'"),
        ("profile,group\ndan,a\n", "unknown profile at file.csv, line 2"),
        ("profile,group,more\nann,a,b\n", "3 columns instead of 2"),
    ],
)
def test_unusable_groups(write: Write, content: str, message: str) -> None:
    path = write(content)
    with pytest.raises(FileError, match=message):
        read_groups(path, NAMES)


def test_weights(write: Write) -> None:
    path = write("profile,weight\nbob,0\nann,0.5\ncy,1.5\n")
    assert read_weights(path, NAMES).fractions == (Fraction(1, 4), Fraction(0), Fraction(3, 4))
    with pytest.raises(FileError, match=r"weight is negative at file.csv, line 2, column 2"):
        read_weights(write("profile,weight\nbob,-1\nann,1\ncy,1\n"), NAMES)
    with pytest.raises(FileError, match=r"all counts are 0 at file.csv"):
        read_weights(write("profile,weight\nbob,0\nann,0\ncy,0\n"), NAMES)


@pytest.mark.parametrize(
    ("shape", "edges"), [("complete", ((0, 1), (0, 2), (1, 2))), ("chain", ((0, 1), (1, 2)))]
)
def test_shapes(write: Write, shape: Any, edges: Any) -> None:
    assert read_graph(GraphFiles(write(PROFILES), shape=shape)).edges == edges


TABLE = "day,user,role,usage\n1,ann,lab,low\n1,bob,lab,high\n2,ann,lab,low\n2,cy,office,high\n"


def test_a_table_of_observations(write: Write) -> None:
    path = write(TABLE)
    seen = read_observations(path, "user", "usage", "role")
    assert seen.profiles == ["ann", "bob", "ann", "cy"]
    assert seen.values == ["low", "high", "low", "high"]
    assert seen.groups == {"ann": "lab", "bob": "lab", "cy": "office"}
    files: dict[str, Any] = {"table": path, "profile_column": "user", "column": "usage"}
    graph = read_graph(GraphFiles(**files, group_column="role", smoothing="1"))
    assert graph.edge_names == (("ann", "bob"),)
    assert graph.distribution("ann")["low"] == Fraction(3, 4)
    said: list[str] = []
    chain = read_graph(GraphFiles(**files, shape="chain"), said.append)
    assert chain.edges == ((0, 1), (1, 2))
    assert chain.distribution("ann")["high"] == 0
    assert said[0].startswith("2 of 3 profiles have fewer rows than there are values (fewest: 'b")
    assert said[1].startswith("3 of 6 pairs of profile and value were never observed and are")
    assert said[2:] == ["the chain follows the order 'ann', 'bob', 'cy'"]
    with pytest.raises(
        FileError, match=r"no edges between the profiles at file.csv; give --group-column NAME"
    ):
        read_graph(GraphFiles(**files))


def test_a_column_that_is_probably_the_wrong_one(write: Write) -> None:
    rows = "".join(f"{i},u{i % 3},{'low' if i % 2 else 'high'}\n" for i in range(60))
    path = write("row,user,usage\n" + rows)
    for columns, wrong in ((("user", "row"), "row"), (("row", "usage"), "row")):
        said: list[str] = []
        files = GraphFiles(
            table=path, profile_column=columns[0], column=columns[1], shape="complete"
        )
        read_graph(files, said.append)
        assert (
            said[0]
            == f"60 distinct values of {wrong!r} in 60 rows: check that it is the right column"
        )
    said = []
    good = GraphFiles(table=path, profile_column="user", column="usage", shape="complete")
    read_graph(good, said.append)
    assert said == []


def test_profiles_and_edges_with_semicolons(write: Write) -> None:
    graph = read_profiles(write("profile;a;b\nx;1;2\ny;0.5;0.5\n"))
    assert graph.distribution("x")["b"] == Fraction(2, 3)
    assert read_edges(write("from;to\nx;y\n"), graph.profiles) == [("x", "y")]


def test_a_table_with_semicolons(write: Write) -> None:
    said: list[str] = []
    path = write(TABLE.replace(",", ";"))
    assert read_observations(path, "user", "usage", note=said.append).values[0] == "low"
    assert said == ["the cells of file.csv are separated by semicolons, and were read so"]


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        (
            TABLE,
            ("who", "usage"),
            "no such column at file.csv, line 1: 'who'; it has day, user",
        ),
        (TABLE, ("user", "user"), "one column for profile and value at file.csv, line 1: 'user'"),
        (TABLE, ("day", "usage", "role"), r"profile '2' is in two groups at file.csv, line 5"),
        (
            "user,usage\nann,\n",
            ("user", "usage"),
            "value is missing at file.csv, line 2, col",
        ),
        ("user,usage\n", ("user", "usage"), "no rows below the header at file.csv, line 1"),
        ("user,usage\nann\n", ("user", "usage"), "1 cell, but the header has 2"),
        ("user|usage\nann|x\n", ("user", "usage"), "cells separated by bars"),
        ("{}", ("user", "usage"), "JSON is not a table"),
    ],
)
def test_unusable_tables(write: Write, content: str, columns: Any, message: str) -> None:
    path = write(content)
    with pytest.raises(FileError, match=message):
        read_observations(path, columns[0], columns[1], *columns[2:])


def test_contradictory_graphs(write: Write) -> None:
    path = write(PROFILES)
    with pytest.raises(
        InputError, match=r"no edges between the profiles at file.csv; give --edges FILE"
    ):
        read_graph(GraphFiles(path))
    with pytest.raises(InputError, match="edges and graph at once"):
        read_graph(GraphFiles(path, edges=path, shape="chain"))
    with pytest.raises(InputError, match="either profiles or a table"):
        read_graph(GraphFiles(path, table=path))
    with pytest.raises(InputError, match="either profiles or a table"):
        read_graph(GraphFiles())
    with pytest.raises(InputError, match="columns of profiles and values are not named"):
        read_graph(GraphFiles(table=path))
    with pytest.raises(InputError, match="smoothing applies only to a table of observations"):
        read_graph(GraphFiles(path, shape="chain", smoothing=1))


# --- channels -----------------------------------------------------------------------------------

SHARED = "value,low,high\nhigh,0.25,0.75\nlow,0.75,0.25\n"
PAIRS = (
    "profile,value,low,high\nann,low,1,0\nann,high,0,1\nbob,low,0.75,0.25\nbob,high,0.5,0.5\n"
    "cy,low,1,0\ncy,high,1/3,2/3\n"
)


def graph_of(write: Write) -> ProfileGraph:
    return read_graph(GraphFiles(write(PROFILES, "p.csv"), shape="chain"))


def test_channels_with_and_without_the_profile(write: Write) -> None:
    graph = graph_of(write)
    shared, same = read_profile_channel(write(SHARED), graph)
    assert same == graph
    assert not graph.uses_profile(shared.inputs)
    pairs, same = read_profile_channel(write(PAIRS), graph)
    assert same.uses_profile(pairs.inputs)
    assert isinstance(pairs, ll.Channel)
    assert pairs.probability(("cy", "high"), "low") == Fraction(1, 3)


def test_profiles_named_like_values(write: Write) -> None:
    graph = read_graph(GraphFiles(write("p,0,1\n0,1,3\n1,3,1\n", "p.csv"), shape="complete"))
    shared, _ = read_profile_channel(write("v,0,1\n0,1,0\n1,0,1\n"), graph)
    assert not graph.uses_profile(shared.inputs)
    rows = "0,0,1,0\n0,1,0,1\n1,0,0,1\n1,1,1,0\n"
    pairs, _ = read_profile_channel(write(f"p,v,0,1\n{rows}"), graph)
    assert graph.uses_profile(pairs.inputs)
    assert isinstance(pairs, ll.Channel)
    assert pairs.probability(("1", "0"), "1") == 1


def test_labels_of_a_mechanism_are_numbers(write: Write) -> None:
    graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    for number, method in enumerate(["cluster"]):
        made = ll.design(graph, ProfilePrivacy("1"), method=method)
        made.save(f"m{number}.json")
        path = write("profile,1,0\na,2,8\nb,9,1\n")
        other = read_graph(GraphFiles(path, shape="complete"))
        channel, fitted = read_profile_channel(f"m{number}.json", other)
        assert set(fitted.inputs.labels) == {0, 1}
        assert ll.audit(channel, fitted).loss == edges_of(made).loss


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "value,low,high\nlow,1,0\n",
            "no row for a value at file.csv: 'high'; give one row for each value",
        ),
        (
            "value,low,high\nlow,1,0\nmid,1,0\nhigh,1,0\n",
            "not a value of the profiles at file.csv, line 3: 'mid'",
        ),
        ("p,v,low\nx,low,1\nx,high,1\n", r"unknown profile at file.csv, line 2, column 1"),
        (PAIRS.replace("bob,low", "dan,low"), r"unknown profile at file.csv, line 4, column 1"),
        (PAIRS.replace("bob,low", "bob,mid"), r"unknown value at file.csv, line 4, column 2"),
        (PAIRS.replace("bob,low", "bob,high"), "lines 4 and 5: 'bob,high'"),
        (PAIRS.replace("bob,low,0.75,0.25\n", ""), r"no row for a profile and value at file.csv"),
        (PAIRS.replace("0.5,0.5", "0.5,0.6"), r"sum to 1 at file.csv, line 5, input \('bob', 'hi"),
        (PAIRS.replace("0.5,0.5", "0.5,x"), r"not a number at file.csv, line 5, column 4 \('high'"),
    ],
)
def test_unusable_channels(write: Write, content: str, message: str) -> None:
    graph = graph_of(write)
    path = write(content)
    with pytest.raises(FileError, match=message):
        read_profile_channel(path, graph)
