"""Graphs of profiles: every way to make one, what is refused, and what survives a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import networkx as nx
import pandas as pd
import pytest

from liftlock import Alphabet, Joint, Prior, ProfileGraph
from liftlock.errors import CountError, InputError, LabelError
from liftlock.model import context_from_data

ROWS: dict[str, dict[str, Any]] = {
    "ann": {"low": "0.2", "high": "0.8"},
    "bob": {"high": 1, "low": 3},
    "cy": {"low": 5},
    "dot": {"low": 1, "high": 1},
}


def untyped(value: Any) -> Any:
    """Return what a program without types might pass."""
    return value


def test_laws_are_exact_and_values_stand_in_one_order() -> None:
    graph = ProfileGraph.of(ROWS, [("ann", "bob")])
    assert graph.inputs.labels == ("low", "high")
    assert graph.distribution("ann")["high"] == Fraction(4, 5)
    assert graph.distribution("bob")["low"] == Fraction(3, 4)
    assert graph.distribution("cy")["high"] == 0
    assert graph.distributions.tolist() == [[0.2, 0.8], [0.75, 0.25], [1, 0], [0.5, 0.5]]
    assert graph.totals == (5, 4, 5, 2)
    assert graph.impossible() == [(2, 1)]
    assert len(graph.pairs) == 8
    assert graph.pairs.labels[:3] == (("ann", "low"), ("ann", "high"), ("bob", "low"))


def test_priors_are_profiles() -> None:
    fair = Prior.uniform(["low", "high"])
    assert ProfileGraph.complete({"a": fair, "b": {"low": 1, "high": 9}}).distribution("a") == fair


def test_complete_and_chain() -> None:
    assert len(ProfileGraph.complete(ROWS).edges) == 6
    chain = ProfileGraph.chain(ROWS)
    assert chain.edge_names == (("ann", "bob"), ("bob", "cy"), ("cy", "dot"))
    assert chain.components == ((0, 1, 2, 3),)


def test_an_edge_has_no_direction_and_counts_once() -> None:
    twice = ProfileGraph.of(ROWS, [("bob", "ann"), ("ann", "bob"), ("cy", "ann")])
    assert twice.edges == ((0, 1), (0, 2))
    assert twice == ProfileGraph.of(ROWS, [("ann", "cy"), ("ann", "bob")])


def test_components_and_isolated_profiles() -> None:
    graph = ProfileGraph.of(ROWS, [("dot", "ann")])
    assert graph.components == ((0, 3), (1,), (2,))
    assert graph.isolated == ("bob", "cy")
    assert ProfileGraph.of(ROWS, []).isolated == ("ann", "bob", "cy", "dot")


def test_components_agree_with_networkx() -> None:
    import random

    for seed in range(20):
        chosen = random.Random(seed)
        names = [f"p{i}" for i in range(12)]
        pairs: list[Any] = [tuple(chosen.sample(names, 2)) for _ in range(chosen.randint(0, 14))]
        graph = ProfileGraph.of({name: {0: 1, 1: 2} for name in names}, pairs)
        other = nx.Graph(pairs)
        other.add_nodes_from(names)
        expected = {frozenset(part) for part in nx.connected_components(other)}
        found = {frozenset(names[i] for i in part) for part in graph.components}
        assert found == expected


def test_groups() -> None:
    groups = {"ann": "lab", "bob": "office", "cy": "lab", "dot": "lab"}
    graph = ProfileGraph.from_groups(ROWS, groups)
    assert graph.edge_names == (("ann", "cy"), ("ann", "dot"), ("cy", "dot"))


def test_one_bit_profiles() -> None:
    graph = ProfileGraph.bernoulli({"a": "1/3", "b": 1}, [("a", "b")])
    assert graph.distribution("a")[1] == Fraction(1, 3)
    assert graph.distribution("b").counts == (0, 1)
    assert ProfileGraph.bernoulli([Fraction(i, 5) for i in range(6)]).profiles.labels == (
        "0",
        "1/5",
        "2/5",
        "3/5",
        "4/5",
        "1",
    )


def test_a_table_is_counted_with_smoothing() -> None:
    users = ["ann", "bob", "ann", "ann", "cy"]
    usage = ["low", "high", "low", "high", "low"]
    graph = ProfileGraph.from_columns(users, usage, smoothing="1/2", labels=["low", "high", "max"])
    assert graph.distribution("ann").fractions == (Fraction(5, 9), Fraction(3, 9), Fraction(1, 9))
    assert graph.distribution("cy")["max"] == Fraction(1, 5)
    assert len(graph.edges) == 3
    assert graph.impossible() == []
    by_role = ProfileGraph.from_columns(users, usage, groups=["x", "y", "x", "x", "x"])
    assert by_role.edge_names == (("ann", "cy"),)
    assert by_role == ProfileGraph.from_columns(
        users, usage, groups={"ann": "x", "bob": "y", "cy": "x"}
    )
    named = ProfileGraph.from_columns(users, usage, edges=[("bob", "cy")])
    assert named.edges == ((1, 2),)


def test_networkx() -> None:
    other = nx.path_graph(["ann", "bob", "dot"])
    for name in other:
        other.nodes[name]["profile"] = ROWS[name]
    graph = ProfileGraph.from_networkx(other)
    assert graph.edge_names == (("ann", "bob"), ("bob", "dot"))
    assert graph.distribution("ann")["high"] == Fraction(4, 5)
    nx.set_node_attributes(other, ROWS, "law")
    assert ProfileGraph.from_networkx(other, "law") == graph
    with pytest.raises(InputError, match="a node without the attribute 'usage': 'ann'"):
        ProfileGraph.from_networkx(other, "usage")


def test_pandas() -> None:
    frame = pd.DataFrame({"low": [1, 3, 5], "high": [4, 1, 0]}, index=["ann", "bob", "cy"])
    edges = pd.DataFrame({"from": ["ann", "bob"], "to": ["bob", "cy"]})
    graph = ProfileGraph.from_pandas(frame, edges)
    assert graph.edges == ((0, 1), (1, 2))
    assert graph.distribution("ann")["low"] == Fraction(1, 5)
    near = pd.DataFrame(0, index=frame.index, columns=frame.index)
    near.loc["ann", "bob"] = near.loc["bob", "cy"] = 1
    assert ProfileGraph.from_pandas(frame, near) == graph
    near = near.astype(float)
    near.loc["ann", "cy"] = float("nan")
    with pytest.raises(InputError, match="the adjacency matrix has missing cells"):
        ProfileGraph.from_pandas(frame, near)
    numbered = pd.DataFrame({"low": [1, 2, 3], "high": [1, 1, 1]})
    pairs = ProfileGraph.from_pandas(numbered, pd.DataFrame([[0, 2], [1, 0]]))
    assert pairs.edges == ((0, 2), (0, 1))
    with pytest.raises(InputError, match="edges with one column"):
        ProfileGraph.from_pandas(frame, edges[["from"]])
    with pytest.raises(LabelError, match="profile given twice"):
        ProfileGraph.from_pandas(pd.concat([frame, frame]), edges)
    with pytest.raises(LabelError, match="an edge names an unknown profile at edge 1: 'eve'"):
        ProfileGraph.from_pandas(frame, pd.DataFrame({"from": ["eve"], "to": ["ann"]}))


def test_other_edges_other_order_more_counts() -> None:
    graph = ProfileGraph.complete(ROWS)
    assert graph.with_edges([("cy", "dot")]).edges == ((2, 3),)
    turned = graph.reordered(Alphabet.of(["high", "low"]))
    assert turned.distribution("ann").counts == (4, 1)
    assert turned.distribution("ann")["high"] == graph.distribution("ann")["high"]
    assert graph.smoothed(1).distribution("cy").counts == (6, 1)


def test_as_a_joint() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    joint = Joint.from_profiles(graph, Prior.from_counts({"b": 1, "a": 3}))
    assert joint.secret_prior["a"] == Fraction(3, 4)
    assert joint.prior[1] == Fraction(3, 4) * Fraction(1, 5) + Fraction(1, 4) * Fraction(9, 10)


def test_files_keep_it_whole() -> None:
    graph = ProfileGraph.of(ROWS | {"big": {"low": 2**80, "high": 1}}, [("ann", "big")])
    again = context_from_data(json.loads(json.dumps(graph.to_data())))
    assert again == graph
    assert isinstance(again, ProfileGraph)
    assert again.counts == graph.counts
    assert hash(again) == hash(graph)


def test_equal_laws_are_equal_whatever_counts_say_them() -> None:
    one = ProfileGraph.chain({"a": {0: 1, 1: 3}, "b": {0: 1, 1: 1}})
    assert one == ProfileGraph.chain({"a": {0: "0.25", 1: "0.75"}, "b": {0: 7, 1: 7}})
    assert one != ProfileGraph.chain({"a": {0: 1, 1: 2}, "b": {0: 1, 1: 1}})
    assert one != one.with_edges([])
    assert one != "a"


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: ProfileGraph.of(ROWS, [("ann", "ann")]), InputError, "profile to itself: 'ann'"),
        (
            lambda: ProfileGraph.of(ROWS, [("ann", "eve")]),
            LabelError,
            "at edge 1: 'eve'; use one of",
        ),
        (
            lambda: ProfileGraph.of(ROWS, untyped(["ab"])),
            InputError,
            "not a pair of profiles at edge 1",
        ),
        (lambda: ProfileGraph.of(ROWS, untyped([tuple("abc")])), InputError, "not a pair"),
        (lambda: ProfileGraph.complete({"a": {0: 0, 1: 0}}), CountError, "all 0 at profile 'a'"),
        (
            lambda: ProfileGraph.complete({"a": {0: 1, 1: -2}}),
            CountError,
            "negative count at profile 'a', value 1: -2",
        ),
        (lambda: ProfileGraph.complete({}), LabelError, "alphabet has no symbols"),
        (
            lambda: ProfileGraph.complete(untyped([("a", {0: 1})])),
            InputError,
            "not a mapping: 'list'",
        ),
        (
            lambda: ProfileGraph.complete(untyped({"a": 3})),
            InputError,
            "not a distribution at profile 'a'",
        ),
        (
            lambda: ProfileGraph.from_groups(ROWS, {"ann": 1}),
            LabelError,
            "a profile without a group: 'bob'",
        ),
        (
            lambda: ProfileGraph.from_groups(ROWS, dict.fromkeys([*ROWS, "eve"], 1)),
            LabelError,
            "a group names an unknown profile: 'eve'",
        ),
        (lambda: ProfileGraph.bernoulli({"a": "1.5"}), CountError, "not a probability"),
        (lambda: ProfileGraph.from_columns(["a"], []), CountError, "columns of 1 and 0 rows"),
        (lambda: ProfileGraph.from_columns([], []), CountError, "no rows"),
        (
            lambda: ProfileGraph.from_columns(["a"], [1], edges=[], groups={}),
            InputError,
            "both edges and groups",
        ),
        (
            lambda: ProfileGraph.from_columns(["a"], [1], smoothing=-1),
            CountError,
            "negative smoothing",
        ),
        (
            lambda: ProfileGraph.from_columns(["a", "a"], [1, 2], groups=["x", "y"]),
            InputError,
            "'a' is in two groups at row 2",
        ),
        (
            lambda: ProfileGraph.from_columns(["a"], [1], groups=["x", "y"]),
            CountError,
            "columns of 1 and 2 rows",
        ),
        (
            lambda: ProfileGraph.from_columns(["a"], [1], labels=[2]),
            LabelError,
            "unknown label at value 1: 1",
        ),
        (lambda: ProfileGraph.complete(ROWS).smoothed(-1), CountError, "negative smoothing"),
        (
            lambda: ProfileGraph(Alphabet.of("ab"), Alphabet.of([0, 1]), ((1, 1),), ()),
            CountError,
            "1 rows for 2 profiles",
        ),
        (
            lambda: ProfileGraph(Alphabet.of("a"), Alphabet.of([0, 1]), ((1,),), ()),
            CountError,
            "1 counts for 2 values",
        ),
        (
            lambda: ProfileGraph(Alphabet.of("a"), Alphabet.of([0, 1]), ((1, 1),), ((0, 4),)),
            InputError,
            "an edge has no profile",
        ),
        (
            lambda: context_from_data({"kind": "profiles", "counts": [[1]], "edges": 3}),
            CountError,
            "counts or edges is not a list",
        ),
        (
            lambda: context_from_data({"kind": "profiles", "counts": [[1]], "edges": [[1]]}),
            CountError,
            "an edge is not a pair",
        ),
    ],
)
def test_refusals_are_one_clear_line(
    make: Callable[[], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        make()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
