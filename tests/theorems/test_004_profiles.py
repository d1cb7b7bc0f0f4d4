"""Paper 004, Profile-Based Privacy: its properties, its mechanisms, and where they end."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Joint, ProfileGraph
from liftlock.designs import design
from liftlock.notions import LDP, ProfilePrivacy, audit
from liftlock.notions.profile import OutputDistributions

OutputDistribution = tuple[Fraction, ...]

FEW = settings(max_examples=60, deadline=None)


@st.composite
def distributions(draw: st.DrawFn, size: int, *, least: int = 1) -> OutputDistribution:
    numbers = draw(st.lists(st.integers(least, 20), min_size=size, max_size=size))
    assume(sum(numbers))
    return tuple(Fraction(n, sum(numbers)) for n in numbers)


@st.composite
def graphs(draw: st.DrawFn, width: int | None = None, *, least: int = 1) -> ProfileGraph:
    size = draw(st.integers(2, 4))
    values = draw(st.integers(2, 3)) if width is None else width
    names = [f"p{i}" for i in range(size)]
    rows = {name: dict(enumerate(draw(distributions(values, least=least)))) for name in names}
    pairs = [(a, b) for place, b in enumerate(names) for a in names[:place]]
    return ProfileGraph.of(rows, draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True)))


@st.composite
def channels(draw: st.DrawFn, inputs: Alphabet, outputs: int) -> Channel:
    rows = [list(draw(distributions(outputs))) for _ in inputs.labels]
    return Channel.from_fractions(inputs, Alphabet.of(f"y{y}" for y in range(outputs)), rows)


def loss(channel: Channel, graph: ProfileGraph) -> Fraction | None:
    return ProfilePrivacy.measure(channel, graph).ratio


def edge_ratios(channel: Channel, graph: ProfileGraph) -> list[Fraction | None]:
    return [edge.ratio for edge in audit(channel, graph).edges]


def flip(alpha: Fraction) -> Channel:
    return Channel.from_rows({0: {0: 1 - alpha, 1: alpha}, 1: {0: alpha, 1: 1 - alpha}})


# --- properties -----------------------------------------------------------------------------------


@FEW
@given(st.data())
def test_observation_3_post_processing(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    inputs = graph.pairs if data.draw(st.booleans()) else graph.inputs
    first = data.draw(channels(inputs, 3))
    after = first.then(data.draw(channels(first.outputs, 2)))
    for later, before in zip(edge_ratios(after, graph), edge_ratios(first, graph), strict=True):
        assert later is not None
        assert before is not None
        assert later <= before


def test_observation_3_needs_a_function_that_does_not_know_the_profile() -> None:
    """Alike to everybody, until somebody who knows the profile undoes it for one of them."""
    graph = ProfileGraph.bernoulli({"a": "0", "b": "1"})
    half = Fraction(1, 2)
    hidden = Channel.from_fractions(graph.pairs, Alphabet.of([0, 1]), [[half, half]] * 4)
    assert loss(hidden, graph) == 1
    undone: list[list[Fraction | int]] = [[1, 0], [1, 0], [half, half], [half, half]]
    told = Channel.from_fractions(
        graph.pairs, Alphabet.of([0, 1]), [[Fraction(w) for w in row] for row in undone]
    )
    assert loss(told, graph) is None


@FEW
@given(st.data())
def test_observation_4_independent_samples_add_up(data: st.DataObject) -> None:
    """And no less: the ratio of a pair of outputs is the product of theirs."""
    graph = data.draw(graphs())
    made = [data.draw(channels(graph.inputs, 2)) for _ in range(2)]
    each = [OutputDistributions.of(channel, graph) for channel in made]
    apart = [edge_ratios(channel, graph) for channel in made]
    for number, (i, j) in enumerate(graph.edges):
        pairs = product(range(2), repeat=2)
        ratios = [
            (each[0].at(i, y) * each[1].at(i, z)) / (each[0].at(j, y) * each[1].at(j, z))
            for y, z in pairs
        ]
        together = max(*ratios, *(1 / ratio for ratio in ratios))
        first, second = apart[0][number], apart[1][number]
        assert first is not None
        assert second is not None
        assert together <= first * second
        directed = [
            max(each[k].at(a, y) / each[k].at(b, y) for y in range(2))
            for a, b in ((i, j), (j, i))
            for k in (0, 1)
        ]
        assert together == max(directed[0] * directed[1], directed[2] * directed[3])


@FEW
@given(st.data())
def test_observation_5_independent_selections(data: st.DataObject) -> None:
    """What a second release of another selection adds to the first edge is nothing."""
    graph = data.draw(graphs())
    one, two = (
        OutputDistributions.of(data.draw(channels(graph.inputs, 2)), graph) for _ in range(2)
    )
    chances = data.draw(distributions(len(graph)))
    for i, j in graph.edges:
        ratios = []
        for y, z in product(range(2), repeat=2):
            other = sum((c * two.at(k, z) for k, c in enumerate(chances)), Fraction(0))
            ratios.append((one.at(i, y) * other) / (one.at(j, y) * other))
        alone = [one.at(i, y) / one.at(j, y) for y in range(2)]
        assert set(ratios) == set(alone)


def test_observations_13_and_15_the_same_observation_twice() -> None:
    """p = .9 and 1, epsilon 1: each release keeps 1, both together lose 3.5252, not 2."""
    ratio = mp.e
    apart = max(mp.mpf(0), 1 - ratio * mp.mpf("0.9"), mp.mpf("0.1") - 0)
    alpha = apart / (2 * apart + ratio - 1)
    exact = Fraction(str(mp.nstr(alpha, 40)))
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    once = flip(exact)
    assert float(ProfilePrivacy.measure(once, graph).value) == pytest.approx(1, abs=1e-12)
    twice = once.product(once)
    assert float(ProfilePrivacy.measure(twice, graph).value) == pytest.approx(3.5252, abs=5e-5)
    independent = 2 * float(ProfilePrivacy.measure(once, graph).value)
    assert independent < float(ProfilePrivacy.measure(twice, graph).value)


def test_the_same_observation_twice_can_lose_everything() -> None:
    """Uniform bits released as they are, or as coins: alike once, and told apart by a pair."""
    half = Fraction(1, 2)
    graph = ProfileGraph.chain({"plain": {0: 1, 1: 1}, "coin": {0: 1, 1: 1}})
    rows = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)], [half, half], [half, half]]
    once = Channel.from_fractions(graph.pairs, Alphabet.of([0, 1]), rows)
    assert loss(once, graph) == 1
    assert loss(once.product(once), graph) is None


# --- mechanisms -----------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    st.fractions(0, 1, max_denominator=40),
    st.fractions(0, 1, max_denominator=40),
    st.fractions(0, Fraction(1, 2), max_denominator=50),
    st.fractions(0, Fraction(1, 2), max_denominator=50),
)
def test_more_flipping_never_loses_more(
    p: Fraction, q: Fraction, one: Fraction, other: Fraction
) -> None:
    """Eq. (24)-(31), the lemma of Theorem 6."""
    graph = ProfileGraph.bernoulli({"a": p, "b": q})
    less, more = sorted((one, other))
    before, after = loss(flip(less), graph), loss(flip(more), graph)
    assert before is None or (after is not None and after <= before)
    assert loss(flip(Fraction(1, 2)), graph) == 1


def published(p: float, q: float, ratio: float) -> float:
    """Eq. (7) as printed."""
    low, high = min(p, q), max(p, q)
    first = (high - ratio * low) / (2 * (high - ratio * low) - (1 - ratio))
    second = (low - ratio * high + ratio - 1) / (2 * (low - ratio * high) + ratio - 1)
    return max(0.0, first, second)


@pytest.mark.parametrize(
    ("p", "q", "epsilon", "printed", "true"),
    [
        ("0.8", "0.9", "0.5", 2.214, 0.04886),
        ("0.9", "0.95", "1", 1.174, 0.0),
        ("0", "1", "1", 1 / (1 + math.e), 1 / (1 + math.e)),
    ],
)
def test_observation_10_is_no_value(
    p: str, q: str, epsilon: str, printed: float, true: float
) -> None:
    """The printed bound can exceed 1 where the truth is small, or 0."""
    assert published(float(p), float(q), math.exp(float(epsilon))) == pytest.approx(
        printed, abs=6e-4
    )
    made = design(ProfileGraph.bernoulli({"a": p, "b": q}), epsilon, method="single-bit")
    assert made.origin is not None
    assert made.origin.objective == pytest.approx(true, abs=6e-6)


@settings(max_examples=25, deadline=None)
@given(graphs(2, least=0), st.sampled_from(["0.05", "0.3", "1", "2.5"]))
def test_theorems_6_to_8_and_their_order(graph: ProfileGraph, epsilon: str) -> None:
    """Optimum of (6) <= optimum of (5) <= cluster <= 1/(1 + e^epsilon), all certified."""
    methods = ("smooth-categorical", "smooth-one-bit", "cluster", "randomised-response")
    worst = []
    for method in methods:
        made = design(graph, epsilon, method=method)
        assert made.certificate.holds
        assert made.origin is not None
        worst.append(made.origin.objective)
    for better, worse in pairwise(worst):
        assert better <= worse + 1e-8
    assert worst[-1] == pytest.approx(1 / (1 + math.exp(float(epsilon))), abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(graphs(3, least=0), st.sampled_from(["0.1", "1", "2"]))
def test_theorem_8_with_categories(graph: ProfileGraph, epsilon: str) -> None:
    """One matrix for each profile <= one for all <= k-ary response (which Theorem 9 allows)."""
    worst = []
    for method in ("smooth-categorical", "shared-categorical", "randomised-response"):
        made = design(graph, epsilon, method=method)
        assert made.certificate.holds
        assert made.origin is not None
        worst.append(made.origin.objective)
    assert worst[0] <= worst[1] + 1e-8
    assert worst[1] <= worst[2] + 1e-8
    assert worst[2] == pytest.approx(1 / (2 + math.exp(float(epsilon))), abs=1e-9)


@FEW
@given(st.data())
def test_theorem_9_ldp_suffices_for_every_graph(data: st.DataObject) -> None:
    graph = data.draw(graphs(least=0))
    channel = data.draw(channels(graph.inputs, 3))
    bound = LDP.measure(channel).ratio
    found = loss(channel, graph)
    assert bound is not None
    assert found is not None
    assert found <= bound


def test_theorem_9_needs_a_mechanism_that_ignores_the_profile() -> None:
    """Each profile's own matrix is 0-LDP, and the profile is in the output."""
    graph = ProfileGraph.bernoulli({"a": "0.5", "b": "0.5"})
    rows = [[1, 0], [1, 0], [0, 1], [0, 1]]
    told = Channel.from_fractions(
        graph.pairs, Alphabet.of([0, 1]), [[Fraction(w) for w in row] for row in rows]
    )
    for name in graph.profiles.labels:
        own = told.restrict([(name, 0), (name, 1)])
        assert LDP.measure(own).ratio == 1
    assert loss(told, graph) is None


@pytest.mark.parametrize("size", [6, 21])
def test_chains_spread_more_than_the_baseline(size: int) -> None:
    """Figure 3 at epsilon 0.2: the outputs are more spread out than those of Warner's."""
    graph = ProfileGraph.bernoulli([Fraction(i, size - 1) for i in range(size)])
    spread = []
    for method in ("randomised-response", "smooth-one-bit", "smooth-categorical"):
        made = design(graph, "0.2", method=method)
        ones = OutputDistributions.of(made.channel, graph).floats[:, 1]
        spread.append(np.ptp(ones))
    assert spread[0] == pytest.approx(math.tanh(0.1), abs=1e-9)
    assert spread[1] > spread[0] + 0.02
    assert spread[2] > spread[0] + 0.02


def test_categories_that_tell_little_are_kept_better() -> None:
    """Figure 2(c): the last value of Table 1 has the same chance everywhere, and costs least."""
    table = {
        "P1": ("0.2", "0.3", "0.4", "0.1"),
        "P2": ("0.3", "0.3", "0.3", "0.1"),
        "P3": ("0.4", "0.4", "0.1", "0.1"),
    }
    graph = ProfileGraph.chain({name: dict(enumerate(row)) for name, row in table.items()})
    for epsilon in ("0.1", "0.2", "0.5", "1"):
        made = design(graph, epsilon)
        baseline = design(graph, epsilon, method="randomised-response")
        costs = [
            np.abs(graph.distributions - OutputDistributions.of(each.channel, graph).floats).max(
                axis=0
            )
            for each in (made, baseline)
        ]
        assert costs[0][3] <= costs[0].max() + 1e-9
        assert costs[0].max() < costs[1].max()
        assert costs[0][3] < costs[1][3] + 1e-9


@FEW
@given(st.data())
def test_a_complete_graph_is_ldp_of_the_secret(data: st.DataObject) -> None:
    """With every two profiles joined the notion is LDP of the profile, whatever its prior."""
    graph = data.draw(graphs())
    rows = {name: graph.distribution(name) for name in graph.profiles.labels}
    complete = ProfileGraph.complete(rows)
    channel = data.draw(channels(graph.inputs, 3))
    joint = Joint.from_profiles(complete)
    assert loss(channel, complete) == LDP.measure(channel, joint).ratio
