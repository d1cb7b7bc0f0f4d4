"""The loss of every edge, against the definition in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Prior, ProfileGraph
from liftlock.errors import InputError, NotDefined, UnprotectedInput
from liftlock.exact.budget import Budget
from liftlock.notions import Audit, ProfilePrivacy, audit, make_notion, parse_claim
from tests.strategies import counts, fractions

Rows = list[list[Fraction]]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[ProfileGraph, list[Rows], Channel, bool]:
    """Return a graph, one matrix for each profile, the channel, and whether it uses the profile."""
    size, width, outputs = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    distributions = [draw(counts(width)) for _ in range(size)]
    pairs = [(i, j) for i in range(size) for j in range(i)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    names = [f"p{i}" for i in range(size)]
    graph = ProfileGraph.of(
        {
            name: {f"x{x}": count for x, count in enumerate(distribution)}
            for name, distribution in zip(names, distributions, strict=True)
        },
        [(names[i], names[j]) for i, j in edges],
    )
    uses = draw(st.booleans())
    made = [
        [fractions(draw(counts(outputs))) for _ in range(width)] for _ in range(size if uses else 1)
    ]
    labels: list[Any] = (
        [(name, f"x{x}") for name in names for x in range(width)]
        if uses
        else [f"x{x}" for x in range(width)]
    )
    order = draw(st.permutations(range(len(labels))))
    flat = [row for rows in made for row in rows]
    channel = Channel.from_fractions(
        Alphabet.of(labels[i] for i in order),
        Alphabet.of(f"y{y}" for y in range(outputs)),
        [flat[i] for i in order],
    )
    return graph, made if uses else made * size, channel, uses


def released(graph: ProfileGraph, made: list[Rows], i: int) -> list[Fraction]:
    distribution = graph.distribution(graph.profiles.labels[i]).fractions
    return [
        sum((p * row[y] for p, row in zip(distribution, made[i], strict=True)), Fraction(0))
        for y in range(len(made[0][0]))
    ]


def worst_ratio(first: list[Fraction], second: list[Fraction]) -> Fraction | None:
    worst: Fraction | None = Fraction(1)
    for one, other in zip(first, second, strict=True):
        for high, low in ((one, other), (other, one)):
            if high == 0:
                continue
            if low == 0:
                return None
            assert worst is not None
            worst = max(worst, high / low)
    return worst


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_every_edge_is_measured_as_defined(
    world: tuple[ProfileGraph, list[Rows], Channel, bool],
) -> None:
    graph, made, channel, uses = world
    if len(graph) > 1:
        assert graph.uses_profile(channel.inputs) is uses
    found = audit(channel, graph)
    assert len(found.edges) == len(graph.edges)
    ratios = []
    for loss, (i, j) in zip(found.edges, graph.edges, strict=True):
        expected = worst_ratio(released(graph, made, i), released(graph, made, j))
        assert loss.ratio == expected
        ratios.append(expected)
        if loss.witness is not None:
            y = channel.outputs.index(loss.output)
            more, less = (graph.profiles.index(name) for name in (loss.more, loss.less))
            high, low = released(graph, made, more)[y], released(graph, made, less)[y]
            assert {more, less} == {i, j}
            assert low == 0 if expected is None else high / low == expected
        else:
            assert expected == 1
    overall = None if None in ratios else max([Fraction(1), *(r for r in ratios if r is not None)])
    assert ProfilePrivacy.measure(channel, graph).ratio == overall
    data = found.to_data()
    assert len(data["edges"]) == len(graph.edges)
    assert found.worst_case()


@settings(max_examples=150, deadline=None)
@given(worlds(), st.fractions(1, 6))
def test_the_certificate_decides_exactly(
    world: tuple[ProfileGraph, list[Rows], Channel, bool], ratio: Fraction
) -> None:
    graph, made, channel, _ = world
    notion = ProfilePrivacy(Budget.from_ratio(ratio))
    if not graph.edges:
        with pytest.raises(NotDefined, match="a graph without edges, which promises nothing"):
            notion.certify(channel, graph)
        return
    verdict = notion.certify(channel, graph, impossible="ignore")
    pairs = [
        worst_ratio(released(graph, made, i), released(graph, made, j)) for i, j in graph.edges
    ]
    assert verdict.holds == all(r is not None and r <= ratio for r in pairs)
    # What is not listed may occur as often as it likes, at both ends of an edge.
    pairs_listed: Any = verdict.unprotected
    listed = {
        (graph.profiles.index(name), graph.inputs.index(value)) for name, value in pairs_listed
    }
    outside = set(graph.impossible())
    broken = set()
    for i, j in graph.edges:
        for one, other in ((i, j), (j, i)):
            own = [(one, x) for x in range(len(graph.inputs)) if (one, x) in outside]
            theirs = [(other, x) for x in range(len(graph.inputs)) if (other, x) in outside]
            for pair in own:
                against = [released(graph, made, other), *(made[k][x] for k, x in theirs)]
                ratios = [worst_ratio(made[one][pair[1]], row) for row in against]
                if any(r is None or r > ratio for r in ratios):
                    broken.add(pair)
    assert listed == broken
    if verdict.holds and verdict.unprotected:
        with pytest.raises(UnprotectedInput, match="the profile gives probability 0 to input"):
            notion.certify(channel, graph)


def test_boundary_budgets() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    bit = Channel.identity([0, 1])
    assert ProfilePrivacy("ln 8").certify(bit, graph).holds
    assert not ProfilePrivacy("2.0794415416").certify(bit, graph).holds  # ln 8 = 2.07944154167...
    assert ProfilePrivacy("2.0794415417").certify(bit, graph).holds
    assert ProfilePrivacy("0").smallest_text(bit, graph) == "profile=2.0794415417"
    refusal = ProfilePrivacy("1").certify(bit, graph).refusal()
    assert 'secret "a", against "b", output 0' in refusal


def test_wide_counts_and_tiny_chances() -> None:
    graph = ProfileGraph.chain({"a": {0: 2**1200, 1: 1}, "b": {0: 2**1200, 1: 3}})
    assert audit(Channel.identity([0, 1]), graph).edges[0].ratio == 3 * Fraction(
        2**1200 + 1, 2**1200 + 3
    )


def test_an_output_that_a_neighbour_never_gives_is_infinite() -> None:
    graph = ProfileGraph.bernoulli({"a": "0", "b": "0.5"})
    found = audit(Channel.identity([0, 1]), graph)
    assert found.edges[0].ratio is None
    assert found.loss.is_infinite
    assert found.worst_case() == 'Seeing 1, "b" is certain, as against "a": it never gives that.'
    assert found.to_data()["measures"] == {"profile": "inf"}
    assert found.unprotected == ()


def test_nothing_is_promised_without_edges() -> None:
    graph = ProfileGraph.of({"a": {0: 1}, "b": {0: 1, 1: 1}}, [])
    bit = Channel.identity([0, 1])
    found = audit(bit, graph)
    assert found.worst is None
    assert float(found.loss) == 0
    assert "nothing is promised" in found.worst_case()
    assert str(found) == found.worst_case()
    assert "0 edges" in repr(found)


def test_alike_profiles_lose_nothing() -> None:
    graph = ProfileGraph.chain({"a": {0: 1, 1: 1}, "b": {0: 5, 1: 5}})
    found = audit(Channel.identity([0, 1]), graph)
    assert found.edges[0].output is None
    assert found.worst_case() == "No output tells any two joined profiles apart."


def test_values_outside_a_profile() -> None:
    graph = ProfileGraph.bernoulli({"a": "0", "b": "0.5"})
    coin = Channel.from_rows({0: {0: "1/2", 1: "1/2"}, 1: {0: "1/10", 1: "9/10"}})
    found = audit(coin, graph)
    assert found.edges[0].ratio == Fraction(5, 3)  # 1/2 against 3/10
    assert found.outside == {("a", 1): Fraction(3)}  # 3/10 against 1/10
    assert found.unprotected == (("a", 1),)
    assert ProfilePrivacy("ln 3").certify(coin, graph).unprotected == ()
    listed = ProfilePrivacy("ln 2").certify(coin, graph, impossible="ignore")
    assert listed.holds
    assert listed.unprotected == (("a", 1),)


def test_values_outside_both_profiles_of_an_edge() -> None:
    """Each keeps the budget against the other's distribution, and the two together do not."""
    graph = ProfileGraph.of({"i": {"a": 1, "c": 0, "d": 0}, "j": {"b": 1}}, [("i", "j")])
    half = {"-": "1/2", "+": "1/2"}
    channel = Channel.from_rows(
        {"a": half, "c": {"-": "2/3", "+": "1/3"}, "d": {"-": "1/3", "+": "2/3"}, "b": half}
    )
    verdict = ProfilePrivacy("ln 1.5").certify(channel, graph, impossible="ignore")
    assert verdict.holds
    assert {("i", "c"), ("j", "d"), ("i", "d"), ("j", "c")} == set(verdict.unprotected)
    assert ProfilePrivacy("ln 2").certify(channel, graph).unprotected == ()


def test_named_as_text() -> None:
    assert str(parse_claim("profile=1")) == "profile(1)"
    assert make_notion("profile", {"budget": "ln 3"}).budgets == {"budget": "ln 3"}


def test_other_contexts_and_other_channels_are_refused() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    with pytest.raises(NotDefined, match="profile is not defined for a prior on 2 symbols"):
        ProfilePrivacy("1").certify(Channel.identity([0, 1]), Prior.uniform([0, 1]))
    with pytest.raises(InputError, match="neither the values of the profiles nor all pairs"):
        audit(Channel.identity(["x", "y"]), graph)
    with pytest.raises(InputError, match="one row for each of 2 values"):
        audit(Channel.identity([0]), graph)
    with pytest.raises(InputError, match="not a channel: 'str'"):
        audit("matrix", graph)  # type: ignore[call-overload]
    for options in ({"alpha": 2}, {"at_epsilon": 1}):
        with pytest.raises(NotDefined, match="only the losses of edges are"):
            audit(Channel.identity([0, 1]), graph, **options)  # type: ignore[call-overload]


def test_the_audit_of_a_graph_is_an_audit() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    found = audit(Channel.identity([0, 1]), graph)
    assert isinstance(found, Audit)
    assert found["profile"].ratio == 8
    assert found["profile"].value == found.loss
    assert found.measures == {"profile": pytest.approx(math.log(8))}
    assert found.context is found.graph is graph
    with pytest.raises(NotDefined, match="a lift is not defined for a graph"):
        _ = found.lifts
