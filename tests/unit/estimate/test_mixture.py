"""Estimates from reports of people with profiles, against sums over fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liftlock import Channel, Prior, ProfileGraph
from liftlock.designs import design
from liftlock.errors import InputError, NotDefined
from liftlock.estimate import Aggregate, Question, estimate
from liftlock.estimate.estimators import Bayes, Unbiased
from liftlock.estimate.expected import expected_profile_error
from liftlock.estimate.models import Mixture, read_profiles
from liftlock.estimate.models.mixture import BELIEVED, FREE
from liftlock.model.structured import UnaryChannel

GRAPH = ProfileGraph.chain(
    {
        "day": {1: "1/2", 2: "1/4", 4: "1/4"},
        "night": {1: "1/8", 2: "5/8", 4: "1/4"},
    }
)
SHARED = Channel.from_rows(
    {
        1: {"a": "6/10", "b": "3/10", "c": "1/10"},
        2: {"a": "1/10", "b": "6/10", "c": "3/10"},
        4: {"a": "3/10", "b": "1/10", "c": "6/10"},
    }
)
OWN = Channel.from_rows(
    {
        ("night", 2): {"a": "1/10", "b": "9/10", "c": 0},
        ("day", 1): {"a": "7/10", "b": "2/10", "c": "1/10"},
        ("day", 4): {"a": "1/10", "b": "1/10", "c": "8/10"},
        ("day", 2): {"a": "2/10", "b": "6/10", "c": "2/10"},
        ("night", 1): {"a": "5/10", "b": "4/10", "c": "1/10"},
        ("night", 4): {"a": 0, "b": "1/10", "c": "9/10"},
    }
)
"""A matrix for each profile, with its rows in no order."""
CHANNELS = {"shared": SHARED, "own": OWN}
SHARES = Prior.from_counts({"night": 1, "day": 3})
THREE = ProfileGraph.bernoulli({"low": "0.2", "middle": "0.5", "high": "0.8"})
"""Three profiles on two values: the middle one looks like half of the others."""
BIT = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
QUESTIONS: tuple[tuple[str, Any], ...] = (
    ("profiles", None),
    ("profiles", "night"),
    ("histogram", None),
    ("survey", [1, 4]),
    ("sum", None),
)


def joint(channel: Channel, profile: Any) -> dict[tuple[Any, Any], Fraction]:
    """P(value, report | profile), by definition."""
    distribution = GRAPH.distribution(profile)
    return {
        (x, y): distribution[x] * channel.probability((profile, x) if channel is OWN else x, y)
        for x, y in itertools.product(GRAPH.inputs.labels, channel.outputs.labels)
    }


def asked(profile: Any, x: Any, of: str, value: Any) -> list[Fraction]:
    """What somebody adds to each answer."""
    if of == "profiles":
        some = GRAPH.profiles.labels if value is None else [value]
        return [Fraction(profile == name) for name in some]
    if of == "histogram":
        return [Fraction(x == label) for label in GRAPH.inputs.labels]
    return [Fraction(x in value)] if of == "survey" else [Fraction(x)]


@pytest.mark.parametrize("name", CHANNELS)
def test_reports_of_a_profile(name: str) -> None:
    channel = CHANNELS[name]
    model = Mixture.of_graph(channel, GRAPH)
    for i, profile in enumerate(GRAPH.profiles.labels):
        distribution = joint(channel, profile)
        for k, y in enumerate(channel.outputs.labels):
            exact = sum((distribution[x, y] for x in GRAPH.inputs.labels), Fraction(0))
            assert model.rows[i, k] == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize(("of", "value"), QUESTIONS)
def test_right_on_average_with_the_error_that_is_said(name: str, of: str, value: Any) -> None:
    """For each profile: E[g(Y)] = E[f], and the mean of (g(Y) - f)^2 is what counts."""
    channel = CHANNELS[name]
    model, question, assumes = read_profiles(channel, GRAPH, of, value, trust=True)
    assert isinstance(model, Mixture)
    assert assumes == BELIEVED
    scores = Unbiased(model, question).scores
    said = model.error_variances(scores, question)
    for i, profile in enumerate(GRAPH.profiles.labels):
        mean, truth, square = np.zeros((3, len(question.names)))
        for (x, y), chance in joint(channel, profile).items():
            g = scores[channel.outputs.index(y)]
            f = np.array([float(number) for number in asked(profile, x, of, value)])
            mean = mean + float(chance) * g
            truth = truth + float(chance) * f
            square = square + float(chance) * (g - f) ** 2
        assert mean == pytest.approx(truth, abs=1e-12)
        assert question.values[i] == pytest.approx(truth, abs=1e-15)
        assert said[i] == pytest.approx(square, abs=1e-11)


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize(("of", "value"), QUESTIONS)
def test_posteriors_are_those_of_the_value_itself(name: str, of: str, value: Any) -> None:
    channel = CHANNELS[name]
    model, question, _ = read_profiles(channel, GRAPH, of, value, SHARES)
    assert isinstance(model, Mixture)
    scores = Bayes(model, question).scores
    variances = model.posterior_variances(question)
    distribution = {
        (profile, x, y): SHARES[profile] * chance
        for profile in GRAPH.profiles.labels
        for (x, y), chance in joint(channel, profile).items()
    }
    for k, label in enumerate(channel.outputs.labels):
        total, mean, square = Fraction(0), [Fraction(0)] * 3, [Fraction(0)] * 3
        for (profile, x, y), chance in distribution.items():
            if y == label:
                total += chance
                for place, f in enumerate(asked(profile, x, of, value)):
                    mean[place] += chance * f
                    square[place] += chance * f**2
        for place in range(len(question.names)):
            exact = mean[place] / total
            assert scores[k, place] == pytest.approx(float(exact), rel=1e-12, abs=1e-14)
            spread = float(square[place] / total - exact**2)
            assert variances[k, place] == pytest.approx(spread, abs=1e-12)


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize(("of", "value"), QUESTIONS)
@pytest.mark.parametrize("method", ["bayes", "unbiased", "truth", "prior"])
@pytest.mark.parametrize("about", ["people", "population"])
def test_expected_errors(name: str, of: str, value: Any, method: str, about: Any) -> None:
    """The mean squared error of one person, over profile, value and report."""
    channel = CHANNELS[name]
    if (method, about) == ("bayes", "population"):
        with pytest.raises(NotDefined, match="about a population"):
            expected_profile_error(channel, GRAPH, SHARES, 9, of, value, method, about=about)
        return
    found = expected_profile_error(channel, GRAPH, SHARES, 9, of, value, method, about=about)
    model, question, _ = read_profiles(channel, GRAPH, of, value, SHARES, trust=True)
    assert isinstance(model, Mixture)
    cases = [
        (
            float(SHARES[profile] * chance),
            np.array([float(number) for number in asked(profile, x, of, value)]),
            channel.outputs.index(y),
        )
        for profile in GRAPH.profiles.labels
        for (x, y), chance in joint(channel, profile).items()
    ]
    mean = sum(chance * f for chance, f, _ in cases)
    guesses: Any = {
        "bayes": lambda f, y: Bayes(model, question).scores[y],
        "unbiased": lambda f, y: Unbiased(model, question).scores[y],
        "truth": lambda f, y: f,
        "prior": lambda f, y: mean,
    }
    exact: Any = 0
    for chance, f, y in cases:
        target = f if about == "people" else mean
        exact = exact + chance * (guesses[method](f, y) - target) ** 2
    assert np.array(found.per_person) == pytest.approx(exact, abs=1e-11)


def test_values_can_be_known_where_the_profiles_are_not() -> None:
    counts = Aggregate.of(BIT, [0] * 450 + [1] * 550)
    with pytest.raises(NotDefined, match="'middle'"):
        estimate(BIT, counts, "profiles", graph=THREE, method="unbiased")
    shares = estimate(BIT, counts, "profiles", graph=THREE)
    assert shares.interval == "range"
    found = estimate(BIT, counts, "histogram", graph=THREE, trust_profiles=True)
    assert [answer.value for answer in found.answers] == pytest.approx([400, 600])
    # The variance is that of the profile with the largest one: E (g(Y) - f(X))^2 of "middle".
    assert found.answers[0].error == pytest.approx(np.sqrt(1000 * 0.75))
    free = estimate(BIT, counts, "histogram", graph=THREE)
    assert [answer.value for answer in free.answers] == pytest.approx([400, 600])
    assert (found.assumes, free.assumes) == (BELIEVED, FREE)
    for wide, narrow in zip(found.answers, free.answers, strict=True):
        assert wide.error is not None
        assert narrow.error is not None
        # Equal here; which of the two is rounded up depends on the CPU.
        assert wide.error >= narrow.error * (1 - 1e-12)


def test_profiles_that_look_alike_are_named() -> None:
    graph = ProfileGraph.bernoulli({"a": "0.3", "b": "0.3", "c": "0.6"})
    counts = Aggregate.of(BIT, [0, 1, 1])
    with pytest.raises(NotDefined, match="profiles 'a' and 'b', which give the same reports"):
        estimate(BIT, counts, "profiles", graph=graph, method="unbiased")
    assert "profiles 'a' and 'b'" in estimate(BIT, counts, "profiles", graph=graph).why
    found = estimate(BIT, counts, "profiles", value=["a", "b"], graph=graph)
    assert found.answer.name == "a, b"


def test_the_ordinary_inverse_is_taken_where_there_is_one() -> None:
    counts = Aggregate.of(SHARED, ["a"] * 400 + ["b"] * 350 + ["c"] * 250)
    found = estimate(SHARED, counts, graph=GRAPH)
    plain = estimate(SHARED, counts)
    assert found.answers == plain.answers
    assert found.assumes == FREE
    assert found.to_data() == plain.to_data() | {"assumes": FREE}
    assert f"(assumed: {FREE})" in str(found)
    trusting = estimate(SHARED, counts, graph=GRAPH, trust_profiles=True)
    assert trusting.assumes == BELIEVED
    assert trusting.answers != plain.answers


def test_the_rows_of_a_matrix_may_be_in_any_order() -> None:
    """Values 2 and 4 report alike, so 1 can be counted and 2 cannot."""
    alike = {"a": "3/10", "b": "1/10", "c": "6/10"}
    first = {"a": "6/10", "b": "3/10", "c": "1/10"}
    for order in ((4, 2, 1), (2, 1, 4), (1, 2, 4)):
        channel = Channel.from_rows({x: first if x == 1 else alike for x in order})
        counts = Aggregate.of(channel, ["a"] * 400 + ["b"] * 250 + ["c"] * 350)
        for value, assumed in ((1, FREE), (2, BELIEVED)):
            found = estimate(channel, counts, "survey", value=value, graph=GRAPH)
            assert found.assumes == assumed


def test_trust_where_nothing_else_tells_values_apart() -> None:
    alike = {"a": "6/10", "b": "3/10", "c": "1/10"}
    blind = Channel.from_rows({1: alike, 2: alike, 4: {"a": "3/10", "b": "1/10", "c": "6/10"}})
    counts = Aggregate.of(blind, ["a"] * 400 + ["b"] * 250 + ["c"] * 350)
    with pytest.raises(NotDefined, match="values 1 and 2, which give the same reports"):
        estimate(blind, counts, graph=GRAPH, trust_profiles=False, method="unbiased")
    free = estimate(blind, counts, graph=GRAPH, trust_profiles=False)
    assert (free.method, free.assumes) == ("likelihood", FREE)
    some = ProfileGraph.chain({"day": {1: 3, 2: 1, 4: 4}, "night": {1: 1, 2: 1, 4: 6}})
    assert estimate(blind, counts, graph=some).assumes == BELIEVED


def test_a_matrix_for_each_profile_must_trust_them() -> None:
    counts = Aggregate.of(OWN, ["a", "b", "c", "c"])
    assert estimate(OWN, counts, graph=GRAPH).assumes == BELIEVED
    with pytest.raises(NotDefined, match="rows depend on the profile"):
        estimate(OWN, counts, graph=GRAPH, trust_profiles=False)
    with pytest.raises(InputError, match="not trusted"):
        estimate(OWN, counts, "profiles", graph=GRAPH, trust_profiles=False)


def test_a_prior_has_the_shares_of_the_profiles() -> None:
    counts = Aggregate.of(OWN, ["a"] * 390 + ["b"] * 310 + ["c"] * 300)
    for of in ("profiles", "histogram", "mean"):
        found = estimate(OWN, counts, of, prior=SHARES, graph=GRAPH, method="bayes")
        assert found.interval in ("normal", "exact")
        assert found.beside is not None
        assert found.beside.method == "unbiased"
    with pytest.raises(InputError, match="shares of the profiles"):
        estimate(OWN, counts, prior=Prior.uniform([1, 2, 4]), graph=GRAPH)
    on_values = Prior.from_counts({1: 2, 2: 1, 4: 1})
    read = estimate(SHARED, Aggregate.of(SHARED, list("abccab")), prior=on_values, graph=GRAPH)
    assert read.fit is not None


def test_reports_that_no_mixture_makes() -> None:
    counts = Aggregate.of(OWN, ["a"] * 3000)
    found = estimate(OWN, counts, "profiles", graph=GRAPH)
    assert any("no mixture of these profiles explains" in text for text in found.warnings)


@pytest.mark.parametrize("interval", ["credible"])
def test_values_of_people_are_not_simulated_from_shares(interval: str) -> None:
    counts = Aggregate.of(OWN, ["a"] * 390 + ["b"] * 310 + ["c"] * 300)
    with pytest.raises(NotDefined, match="read through their profiles"):
        estimate(OWN, counts, graph=GRAPH, interval=interval)
    found = estimate(OWN, counts, graph=GRAPH, interval=interval, about="population")
    assert found.interval == interval
    shares = estimate(OWN, counts, "profiles", graph=GRAPH, interval=interval)
    assert shares.interval == interval


def test_one_bit_has_exact_intervals_of_its_profiles() -> None:
    two = ProfileGraph.bernoulli({"low": "0.2", "high": "0.8"})
    found = estimate(BIT, Aggregate.of(BIT, [0] * 45 + [1] * 55), "profiles", graph=two)
    assert found.interval == "exact"


@pytest.mark.parametrize("method", ["likelihood", "consistent"])
@pytest.mark.parametrize("of", ["profiles", "histogram"])
def test_other_estimators_stay_inside_of_what_is_possible(method: str, of: str) -> None:
    counts = Aggregate.of(OWN, ["b"] * 900 + ["c"] * 100)
    found = estimate(OWN, counts, of, graph=GRAPH, method=method)
    values = np.array([answer.value for answer in found.answers])
    assert values.sum() == pytest.approx(1000)
    assert values.min() >= 0
    for answer in found.answers:
        assert answer.low is not None
        assert answer.high is not None
        assert answer.low <= answer.value <= answer.high


def test_weights() -> None:
    """Weights of 2 for all are twice the answer and twice its error."""
    reports = ["a"] * 390 + ["b"] * 310 + ["c"] * 300
    plain = estimate(OWN, Aggregate.of(OWN, reports), graph=GRAPH)
    double = estimate(OWN, Aggregate.of(OWN, reports, weights=2.0), graph=GRAPH)
    for one, two in zip(plain.answers, double.answers, strict=True):
        assert two.value == pytest.approx(2 * one.value)
        assert one.error is not None
        assert two.error == pytest.approx(2 * one.error)


def test_profiles_of_a_mechanism_that_knows_none() -> None:
    counts = Aggregate.of(BIT, [0, 1])
    with pytest.raises(InputError, match="has no profiles"):
        estimate(BIT, counts, "profiles")
    with pytest.raises(InputError, match="no profiles that could be trusted"):
        estimate(BIT, counts, trust_profiles=True)


def test_questions_keep_their_names() -> None:
    model = Mixture.of_graph(SHARED, GRAPH)
    through = model.through(Question.survey(GRAPH.inputs, [4]))
    assert through.names == (4,)
    assert not through.counts
    assert not through.is_histogram
    assert (through.least.tolist(), through.most.tolist()) == ([0.0], [1.0])


def test_an_encoding_is_read_without_the_profiles() -> None:
    graph = ProfileGraph.bernoulli({"low": "0.2", "high": "0.8"})
    unary = UnaryChannel.of([0, 1], own=12, other=4, bits=4)
    counts = Aggregate.of(unary, np.array([[1], [2], [2], [3]], dtype=np.uint8))
    found = estimate(unary, counts, graph=graph)
    assert found.answers == estimate(unary, counts).answers
    assert found.assumes == FREE
    with pytest.raises(NotDefined, match="ask for histogram, which is read without the profiles"):
        estimate(unary, counts, "profiles", graph=graph)


def test_through_a_mechanism() -> None:
    made = design(GRAPH, "1")
    reports = made.simulate([1, 2, 4, 2] * 100, ["day", "night"] * 200, seed=3)
    counted = made.aggregate_batches([reports[:150], reports[150:]])
    assert counted == made.aggregate(reports)
    for of in ("profiles", "histogram", "mean"):
        found = made.estimate(reports, of)
        assert found == made.estimate(counted, of)
        assert found == estimate(made.channel, counted, of, graph=GRAPH)
    expected = made.expected_error(400, "profiles", prior=SHARES, method="unbiased")
    assert expected == expected_profile_error(
        made.channel, GRAPH, SHARES, 400, "profiles", method="unbiased"
    )
    with pytest.raises(NotDefined, match="a mean over shares of the profiles"):
        made.expected_error(400)
