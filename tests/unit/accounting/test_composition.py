"""Composition against sums over all values and outputs, in fractions of our own."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import liftlock as ll
from liftlock import Channel, ProfileGraph
from liftlock.accounting import Composition, compose, composition
from liftlock.accounting.accountants import exact
from liftlock.accounting.composition import Way, same_observation, second_release_error
from liftlock.errors import InputError, NotComposable, NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.notions import ProfilePrivacy
from liftlock.notions.profile import OutputDistributions
from tests.profile_oracles import edges_of

Rows = dict[tuple[str, int], list[Fraction]]


def random_graph(generator: np.random.Generator, zeros: bool = False) -> ProfileGraph:
    rows = {
        name: {x: int(generator.integers(0 if zeros and x else 1, 9)) for x in range(3)}
        for name in "abcd"
    }
    return ProfileGraph.of(rows, [("a", "b"), ("b", "c"), ("d", "a")])


def random_rows(
    generator: np.random.Generator, graph: ProfileGraph, shared: bool
) -> tuple[Channel, Rows]:
    """Make a channel, and its rows by profile and value."""

    def row() -> list[Fraction]:
        weights = [int(w) for w in generator.integers(1, 30, 3)]
        return [Fraction(w, sum(weights)) for w in weights]

    names, values = graph.profiles.labels, graph.inputs.labels
    if shared:
        one = {x: row() for x in values}
        channel = Channel.from_rows(
            {x: dict(zip(values, cells, strict=True)) for x, cells in one.items()}
        )
        return channel, {(str(i), int(str(x))): one[x] for i in names for x in values}
    each = {(str(i), int(str(x))): row() for i in names for x in values}
    channel = Channel.from_rows(
        {pair: dict(zip(values, cells, strict=True)) for pair, cells in each.items()}
    )
    return channel, each


def distribution(graph: ProfileGraph, name: str, rows: Rows, y: int) -> Fraction:
    p = graph.distribution(name)
    return sum((p[x] * rows[name, x][y] for x in range(3)), Fraction(0))


def largest(first: list[Fraction], second: list[Fraction]) -> Fraction:
    return max(max(a / b, b / a) for a, b in zip(first, second, strict=True))


def locked(channel: Channel, graph: ProfileGraph) -> ll.Mechanism:
    return ll.lock(channel, ProfilePrivacy("20"), graph, bits=60)


def exact_rows(mechanism: ll.Mechanism, graph: ProfileGraph) -> Rows:
    """Read back the rows, which were rounded to integers."""
    table = mechanism.table
    shared = set(table.inputs.labels) == set(graph.inputs.labels)
    return {
        (str(i), int(str(x))): [
            table.probability(x if shared else (i, x), y) for y in graph.inputs.labels
        ]
        for i in graph.profiles.labels
        for x in graph.inputs.labels
    }


@pytest.mark.parametrize("seed", range(6))
def test_random_mechanisms(seed: int) -> None:
    generator = np.random.default_rng(seed)
    graph = random_graph(generator)
    made = [
        locked(random_rows(generator, graph, shared)[0], graph)
        for shared in (seed % 2 == 0, seed % 3 == 0)
    ]
    rows = [exact_rows(mechanism, graph) for mechanism in made]
    samples, profiles = compose(made, "samples"), compose(made, "profiles")
    same = same_observation(made)
    outputs = list(itertools.product(range(3), repeat=2))
    for place, (i, j) in enumerate([("a", "b"), ("b", "c"), ("a", "d")]):

        def pairs(name: str) -> list[Fraction]:
            return [
                distribution(graph, name, rows[0], y) * distribution(graph, name, rows[1], z)
                for y, z in outputs
            ]

        def twice(name: str) -> list[Fraction]:
            p = graph.distribution(name)
            return [
                sum(
                    (p[x] * rows[0][name, x][y] * rows[1][name, x][z] for x in range(3)),
                    Fraction(0),
                )
                for y, z in outputs
            ]

        def one(name: str, k: int) -> list[Fraction]:
            return [distribution(graph, name, rows[k], y) for y in range(3)]

        assert samples.edges[place].ratio == largest(pairs(i), pairs(j))
        assert same.edges[place].ratio == largest(twice(i), twice(j))
        assert profiles.edges[place].ratio == max(largest(one(i, k), one(j, k)) for k in range(2))
    worst = [
        max(
            largest(
                [distribution(graph, i, r, y) for y in range(3)],
                [distribution(graph, j, r, y) for y in range(3)],
            )
            for i, j in [("a", "b"), ("b", "c"), ("a", "d")]
        )
        for r in rows
    ]
    assert profiles.at_once is not None
    assert float(profiles.at_once) == pytest.approx(math.log(worst[0] * worst[1]))
    assert float(samples.promised) == 40.0
    assert float(profiles.promised) == 20.0
    edge = samples.worst
    assert edge is not None
    assert isinstance(edge.output, tuple)
    y, z = (int(str(label)) for label in edge.output)
    more, less = str(edge.more), str(edge.less)
    assert edge.ratio == (
        distribution(graph, more, rows[0], y)
        * distribution(graph, more, rows[1], z)
        / distribution(graph, less, rows[0], y)
        / distribution(graph, less, rows[1], z)
    )


def test_opposite_ways_do_not_add_up() -> None:
    """The sum of the losses is a bound only: two mechanisms may lose most in opposite ways."""
    graph = ProfileGraph.bernoulli({"a": "0.1", "b": "0.5"})
    keep = Channel.from_rows({0: {0: "0.9", 1: "0.1"}, 1: {0: "0.3", 1: "0.7"}})
    swap = Channel.from_rows({0: {0: "0.1", 1: "0.9"}, 1: {0: "0.01", 1: "0.99"}})
    made = [locked(keep, graph), locked(swap, graph)]
    together = compose(made).worst
    assert together is not None
    assert together.ratio is not None
    each = [edges_of(mechanism).worst for mechanism in made]
    product = math.prod(edge.ratio for edge in each if edge is not None and edge.ratio is not None)
    assert together.ratio < product


def test_a_second_release_is_refused_with_its_number() -> None:
    """004 Obs 13: p = .9 and 1 at budget 1, the least flip: 3.5252 > 2."""
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    flip = ll.design(graph, ProfilePrivacy("1"), method="cluster")
    with pytest.raises(NotComposable, match=r"3\.5252 nats .* more than the 2 that") as caught:
        compose([flip, flip], "observation")
    together = caught.value.together
    assert together is not None
    alpha = float(flip.table.floats()[0, 1])
    p = [[0.1, 0.9], [0.0, 1.0]]
    flips = [[1 - alpha, alpha], [alpha, 1 - alpha]]
    both = [sum(p[i][x] * flips[x][0] ** 2 for x in (0, 1)) for i in (0, 1)]
    assert float(together.loss) == pytest.approx(math.log(both[0] / both[1]), rel=1e-9)
    assert float(together.loss) == pytest.approx(3.5252, abs=1e-4)
    assert float(compose([flip, flip]).loss) <= 2


def test_a_second_release_can_reveal_everything() -> None:
    """Uniform bits, kept by one profile and replaced by a coin in the other: 0, then infinite."""
    graph = ProfileGraph.complete({"kept": {0: 1, 1: 1}, "coin": {0: 1, 1: 1}})
    half = {0: "0.5", 1: "0.5"}
    channel = Channel.from_rows(
        {
            ("kept", 0): {0: 1, 1: 0},
            ("kept", 1): {0: 0, 1: 1},
            ("coin", 0): half,
            ("coin", 1): half,
        }
    )
    mechanism = ll.lock(channel, ProfilePrivacy("0"), graph)
    assert compose([mechanism] * 5).loss.upper == 0
    assert same_observation([mechanism, mechanism]).loss.is_infinite
    with pytest.raises(NotComposable, match="lose without bound between 'coin' and 'kept'"):
        compose([mechanism, mechanism], "observation")


def test_infinite_losses_stay_infinite() -> None:
    graph = ProfileGraph.complete({"a": {0: 1, 1: 0}, "b": {0: 1, 1: 1}})
    plain = Channel.identity([0, 1])
    distributions = OutputDistributions.of(plain, graph)
    (edge,) = composition._sample_edges([distributions, distributions])
    assert edge.ratio is None
    assert (edge.more, edge.output) == ("b", (1, 1))


def test_one_mechanism_is_itself() -> None:
    graph = ProfileGraph.bernoulli(["0.2", "0.5", "0.9"])
    made = ll.design(graph, ProfilePrivacy("0.5"), method="cluster")
    single = edges_of(made)
    for found in (compose([made]), compose([made], "profiles"), same_observation([made])):
        assert [edge.ratio for edge in found.edges] == [edge.ratio for edge in single.edges]


def test_a_graph_without_edges() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"}, [])
    found = Composition("samples", graph, ("one", "other"), Enclosure.of(0), ())
    assert found.worst is None
    assert found.loss.upper == 0
    assert found.describe() == "2 releases of independent samples of one profile lose nothing"


def test_a_channel_that_says_nothing() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.2", "b": "0.9"})
    made = ll.lock(Channel.from_rows({0: {"y": 1}, 1: {"y": 1}}), ProfilePrivacy("0"), graph)
    ways: tuple[Way, ...] = ("samples", "profiles")
    for of in ways:
        assert compose([made, made], of).loss.upper == 0


def test_json() -> None:
    graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    made = ll.design(graph, ProfilePrivacy("ln 2"), method="cluster")
    data = compose([made, made], "profiles").to_data()
    assert data["of"] == "profiles"
    assert data["at_once"] == pytest.approx(2 * math.log(2))
    assert data["channels"] == [made.channel.fingerprint] * 2
    assert data["edges"][0]["loss"] == pytest.approx(math.log(2))


def test_refusals() -> None:
    graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    made = ll.design(graph, ProfilePrivacy("1"), method="cluster")
    other = ll.design(ProfileGraph.bernoulli(["0.3", "0.9"]), ProfilePrivacy("1"), method="cluster")
    coin = Channel.from_rows({x: {0: "0.5", 1: "0.5"} for x in (0, 1)})
    plain = ll.lock(coin, ll.LIP("0"), ll.Prior.uniform([0, 1]))
    with pytest.raises(InputError, match="no mechanisms; give at least one"):
        compose([])
    with pytest.raises(
        InputError, match="unknown kind of composition: 'both'; use samples, profiles"
    ):
        compose([made], "both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="mechanisms for different graphs at mechanism 2"):
        compose([made, other])
    with pytest.raises(InputError, match="not a mechanism for profiles at mechanism 2"):
        compose([made, plain])


def test_tables_too_large_to_write_out(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ProfileGraph.bernoulli(["0.2", "0.9"])
    made = ll.design(graph, ProfilePrivacy("1"), method="cluster")
    monkeypatch.setattr(exact, "MOST_CELLS", 10)
    with pytest.raises(NotDefined, match="4 outputs together"):
        same_observation([made, made])
    refused = second_release_error([made, made])
    assert refused.together is None
    assert "no rule of composition" in str(refused)
