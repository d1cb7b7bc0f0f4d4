"""Ranges of what reports do not determine, against enumerations of every truth."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from liftlock import Channel, ProfileGraph
from liftlock.errors import NotDefined
from liftlock.estimate import Aggregate, Question, estimate
from liftlock.estimate.estimators import Likelihood
from liftlock.estimate.intervals import make_interval
from liftlock.estimate.intervals.range import answer_ranges
from liftlock.estimate.models import Dense, Mixture
from liftlock.exact.budget import Budget
from liftlock.model.confidence import simultaneous_intervals
from liftlock.model.structured import UnaryChannel
from liftlock.sampling import simulate

LINE = np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]])
ERROR = Fraction(1, 20)
WALK = Channel.from_rows(
    {
        "walk": {"a": "4/5", "b": "1/5"},
        "bus": {"a": "1/2", "b": "1/2"},
        "car": {"a": "1/5", "b": "4/5"},
    }
)


def truths(people: int, kinds: int) -> list[tuple[int, ...]]:
    """Return all ways in which so many people can be divided."""
    return [
        truth
        for truth in itertools.product(range(people + 1), repeat=kinds)
        if sum(truth) == people
    ]


@pytest.mark.parametrize("people", [1, 5, 14])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_every_truth_is_held_at_the_level(people: int, level: float) -> None:
    """Sums of different events, added up exactly: no binomial distribution is assumed of them."""
    question = Question.histogram(WALK.inputs)
    estimator = Likelihood(Dense.of(WALK), question)
    ends: list[tuple[Any, Any]] = []
    for seen in range(people + 1):
        reports = Aggregate.of(WALK, ["a"] * seen + ["b"] * (people - seen))
        spread = make_interval("range", estimator, reports, level=level)
        # What no shares explain holds nothing.
        nothing = np.full(3, np.inf), np.full(3, -np.inf)
        bare = spread.low is None or spread.high is None
        ends.append(nothing if bare else (spread.low, spread.high))
    chances = WALK.floats()[:, 0]
    for truth in truths(people, 3):
        distribution = np.ones(1)
        for number, chance in zip(truth, chances, strict=True):
            distribution = np.convolve(
                distribution, binom.pmf(np.arange(number + 1), number, chance)
            )
        held = sum(
            probability
            for probability, (low, high) in zip(distribution, ends, strict=True)
            if np.all(low <= np.array(truth) + 1e-9) and np.all(np.array(truth) <= high + 1e-9)
        )
        assert held >= level - 1e-12, truth


@pytest.mark.parametrize("seed", range(20))
def test_ends_are_those_of_another_solver_and_never_inside(seed: int) -> None:
    generator = np.random.default_rng(seed)
    inputs, outputs = generator.integers(2, 9, size=2)
    rows = generator.dirichlet(np.full(outputs, 0.6), size=inputs)
    values = generator.normal(size=(inputs, 2))
    shares = generator.dirichlet(np.full(inputs, 0.5))
    counts = generator.multinomial(700, shares @ rows)
    found = answer_ranges(rows, values, counts, ERROR)
    lower, upper = (
        np.array(side, dtype=float) for side in simultaneous_intervals(counts.tolist(), ERROR)
    )
    for column, f in enumerate(values.T):
        for side, sign in enumerate((1.0, -1.0)):
            other = linprog(
                sign * f,
                A_ub=np.vstack([rows.T, -rows.T]),
                b_ub=np.concatenate([upper, -lower]),
                A_eq=np.ones((1, inputs)),
                b_eq=[1.0],
            )
            if found is None:
                assert other.status == 2
                continue
            assert other.fun is not None
            end = sign * float(other.fun) * 700
            assert found[side][column] == pytest.approx(end, abs=1e-5)
            assert sign * found[side][column] <= sign * end + 1e-6


def test_reports_that_no_shares_explain() -> None:
    assert answer_ranges(LINE, np.eye(3), np.array([1000, 0]), ERROR) is None
    found = estimate(WALK, ["b"] * 1000, interval="range")
    assert found.interval == "none"
    assert any("no prior explains these reports" in remark for remark in found.remarks)


def test_what_is_determined_has_a_range_too() -> None:
    coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    found = estimate(coin, [0] * 500 + [1] * 500, "survey", value=1, interval="range")
    assert (found.method, found.interval) == ("unbiased", "range")
    assert found.answer.low is not None
    assert found.answer.high is not None
    assert found.answer.low < found.answer.value < found.answer.high
    assert found.answer.error is None


def test_ranges_of_an_encoding_hold_each_by_itself() -> None:
    channel = UnaryChannel.symmetric([1, 2, 4], Budget.of("1"))
    reports = simulate(channel, [1] * 200 + [2] * 100, seed=1)
    found = estimate(channel, Aggregate.of(channel, reports), interval="range")
    assert found.interval == "range"
    assert found.promise.startswith("each interval holds by itself")
    together = estimate(WALK, ["a"] * 70 + ["b"] * 30)
    assert together.promise == "all 3 intervals hold together at 95 % whatever the truth"


def test_weighted_reports_have_none() -> None:
    weighted = Aggregate.of(WALK, ["a"] * 30 + ["b"] * 30, weights=2.0)
    with pytest.raises(NotDefined, match="a range is not defined for weighted reports"):
        estimate(WALK, weighted, method="likelihood", interval="range")
    signed = Aggregate.of(WALK, ["a", "b"], weights=[1.0, -1.0])
    with pytest.raises(NotDefined, match="negative weights"):
        estimate(WALK, signed)


def test_values_through_profiles_vary_about_their_means() -> None:
    """More profiles than outputs; people's own values are held, not only their means."""
    graph = ProfileGraph.complete(
        {
            "day": {"a": 6, "b": 3, "c": 1},
            "night": {"a": 2, "b": 3, "c": 5},
            "shift": {"a": 4, "b": 3, "c": 3},
            "guest": {"a": 1, "b": 8, "c": 1},
        }
    )
    channel = Channel.from_rows(
        {
            "a": {0: "7/10", 1: "3/10"},
            "b": {0: "1/2", 1: "1/2"},
            "c": {0: "2/10", 1: "8/10"},
        }
    )
    generator = np.random.default_rng(4)
    distributions, rows = Mixture.of_graph(channel, graph).value_distributions, channel.floats()
    held, rounds, people = 0, 200, 120
    for _ in range(rounds):
        profiles = generator.multinomial(people, generator.dirichlet(np.full(4, 0.5)))
        drawn = [
            generator.multinomial(n, distribution)
            for n, distribution in zip(profiles, distributions, strict=True)
        ]
        truth = np.sum(drawn, axis=0)
        zeros = int(sum(generator.binomial(truth[x], rows[x, 0]) for x in range(3)))
        reports = Aggregate.of(channel, [0] * zeros + [1] * (people - zeros))
        found = estimate(channel, reports, graph=graph, trust_profiles=True)
        assert found.interval == "range"
        ends = np.array([(answer.low, answer.high) for answer in found.answers], dtype=float)
        held += bool((ends[:, 0] <= truth).all() and (truth <= ends[:, 1]).all())
        wide = estimate(channel, reports, graph=graph, trust_profiles=True, about="population")
        for one, other in zip(wide.answers, found.answers, strict=True):
            assert other.low is not None
            assert one.low is not None
            assert other.low <= one.low
    assert held >= 0.95 * rounds
