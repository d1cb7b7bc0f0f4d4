"""Estimates from encodings: exact enumeration of bits, rule of the total error, posteriors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from liftlock import Prior
from liftlock.errors import NotDefined
from liftlock.estimate import Aggregate, estimate
from liftlock.estimate.estimators import Unbiased
from liftlock.estimate.models import Encoding
from liftlock.estimate.models.support import support_fit
from liftlock.estimate.question import ask
from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel, UnaryChannel

SMALL = UnaryChannel.of([1, 2, 4], own=8, other=3, bits=4)
FIVE = UnaryChannel.optimal(range(5), Budget.of("1"))
HASHED = HashingChannel.optimal(range(5), Budget.of("1"))
Packed = npt.NDArray[np.uint8]


def sampled(channel: UnaryChannel, people: npt.NDArray[Any], seed: int) -> Packed:
    """Return reports of people who are given by the number of their symbol."""
    generator = np.random.default_rng(seed)
    own = np.arange(len(channel.inputs)) == people[:, None]
    bits = generator.random(own.shape) < np.where(own, float(channel.hit), float(channel.miss))
    return np.packbits(bits, axis=1, bitorder="little")


@pytest.mark.parametrize(
    ("of", "value"), [("histogram", None), ("survey", 2), ("survey", [1, 4]), ("sum", None)]
)
@pytest.mark.parametrize("people", [(0, 0), (0, 2), (1, 2)])
def test_mean_and_variance_over_all_reports(of: str, value: Any, people: tuple[int, ...]) -> None:
    """Two people, 64 pairs of reports: unbiased, and the variance is below its bound."""
    question = ask(SMALL.inputs, of, value)
    unbiased = Unbiased(Encoding.of(SMALL), question)
    p, q = SMALL.hit, SMALL.miss
    mean, square, bound = np.zeros((3, len(question.names)))
    for bits in itertools.product((0, 1), repeat=6):
        chance = Fraction(1)
        for place, bit in enumerate(bits):
            own = people[place // 3] == place % 3
            rate = p if own else q
            chance *= rate if bit else 1 - rate
        packed = np.packbits(np.array(bits).reshape(2, 3), axis=1, bitorder="little")
        aggregate = Aggregate.of(SMALL, packed)
        values = unbiased.values(unbiased.model.statistic(aggregate))
        mean = mean + float(chance) * values
        square = square + float(chance) * values**2
        (above,) = unbiased.error(aggregate, "people").bounds
        away = question.values[list(people)].sum(axis=0) - values
        bound = bound + float(chance) * (above.variance + above.slope * away)
    assert mean == pytest.approx(question.values[list(people)].sum(axis=0), abs=1e-12)
    assert (square - mean**2 <= bound + 1e-10).all()
    if question.is_single:
        assert bound == pytest.approx(square - mean**2, abs=1e-10)


def test_the_total_error_of_a_histogram() -> None:
    """Per bin n (4 E / (E - 1)^2 + f_k), in all n (4 d E / (E - 1)^2 + 1)."""
    number, odds = 1000.0, math.e
    people = np.array([500.0, 300.0, 150.0, 50.0, 0.0])
    found = Encoding.of(FIVE).noise(people, np.array(number))
    assert found == pytest.approx(number * 4 * odds / (odds - 1) ** 2 + people, rel=1e-9)
    total = number * (4 * 5 * odds / (odds - 1) ** 2 + 1)
    assert found.sum() == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("about", ["people", "population"])
def test_coverage(about: str) -> None:
    """200 surveys of 300 people each: 95 % intervals miss 1 to 23 times, wrong once in 2,000."""
    shares = np.array([0.6, 0.2, 0.1, 0.1, 0.0])
    generator = np.random.default_rng(8)
    misses = {"sum": 0, "survey": 0}
    for run in range(200):
        people = generator.choice(5, size=300, p=shares)
        aggregate = Aggregate.of(FIVE, sampled(FIVE, people, run))
        fixed = about == "people"
        for of, value, truth in (
            ("sum", None, people.sum() if fixed else 300 * float(shares @ np.arange(5))),
            ("survey", 1, (people == 1).sum() if fixed else 60.0),
        ):
            answer = estimate(
                FIVE, aggregate, of, value=value, about=about, interval="normal"
            ).answer
            assert answer.low is not None
            assert answer.high is not None
            misses[of] += not answer.low <= truth <= answer.high
    assert all(1 <= number <= 23 for number in misses.values()), misses


@pytest.mark.parametrize("channel", [FIVE, HASHED])
@pytest.mark.parametrize("about", ["people", "population"])
def test_exact_intervals_of_one_symbol(channel: UnaryChannel | HashingChannel, about: str) -> None:
    """The ends are where the exact tails cross 2.5 %, but for what one tail leaves to the other."""
    generator = np.random.default_rng(6)
    packed = generator.integers(0, 32, size=(60, channel.report_bytes), dtype=np.uint8)
    if isinstance(channel, HashingChannel):
        packed[:, -1] %= channel.buckets
    aggregate = Aggregate.of(channel, packed)
    p, q = float(channel.hit), float(channel.miss)
    seen = aggregate.counts[3]

    def distribution(true: int) -> npt.NDArray[np.float64]:
        if about == "population":
            return np.asarray(binom.pmf(np.arange(61), 60, q + (p - q) * true / 60))
        own = binom.pmf(np.arange(true + 1), true, p)
        return np.convolve(own, binom.pmf(np.arange(61 - true), 60 - true, q))

    def held(true: int) -> bool:
        chances = distribution(true)
        return bool(chances[: seen + 1].sum() > 0.025 and chances[seen:].sum() > 0.025)

    inside = [true for true in range(61) if held(true)]
    found = estimate(channel, aggregate, "survey", value=3, about=about, interval="exact")
    assert found.interval == "exact"
    # Whole people, or any share of a population between them.
    assert found.answer.low is not None
    assert found.answer.high is not None
    assert inside[0] - 1 <= found.answer.low <= inside[0] + 2
    assert inside[-1] - 2 <= found.answer.high <= inside[-1] + 1
    histogram = estimate(channel, aggregate, about=about, interval="exact")
    assert (histogram[3].low, histogram[3].high) == (found.answer.low, found.answer.high)


def test_many_symbols_have_normal_intervals() -> None:
    wide = UnaryChannel.optimal(range(80), Budget.of("1"))
    packed = sampled(wide, np.arange(80).repeat(4), 2)
    aggregate = Aggregate.of(wide, packed)
    for about in ("people", "population"):
        found = estimate(wide, aggregate, about=about)
        one = estimate(wide, aggregate, "survey", value=7, about=about, interval="normal").answer
        assert found.interval == "normal"
        assert found[7].value == pytest.approx(one.value)
        assert (found[7].low, found[7].high) == pytest.approx((one.low, one.high), abs=1e-6)
    with pytest.raises(NotDefined, match="more than 64 symbols of an encoding; ask for normal"):
        estimate(wide, aggregate, interval="exact")


def test_weights() -> None:
    people = np.array([0, 0, 1, 2, 4, 4])
    packed = sampled(FIVE, people, 1)
    weights = np.array([1.0, 2.0, -1.0, 0.5, 3.0, 1.0])
    sets = FIVE.support_matrix(packed)
    p, q = float(FIVE.hit), float(FIVE.miss)
    found = estimate(FIVE, packed, weights=weights)
    by_hand = (weights @ sets - q * weights.sum()) / (p - q)
    assert [answer.raw for answer in found.answers] == pytest.approx(by_hand)
    squares = (weights**2 @ sets - q * (weights**2).sum()) / (p - q)
    noise = (weights**2).sum() * q * (1 - q) + squares * (p - q) * (1 - p - q)
    unbiased = Unbiased(Encoding.of(FIVE), ask(FIVE.inputs, "histogram"))
    aggregate = Aggregate.of(FIVE, packed, weights=weights)
    (bound,) = unbiased.error(aggregate, "people").bounds
    # As if everybody had the symbol, whose bits are noisiest.
    most = (weights**2).sum() * max(p * (1 - p), q * (1 - q)) / (p - q) ** 2
    assert bound.variance == pytest.approx(np.full(5, most))
    assert (np.sqrt(np.maximum(noise, 0)) / (p - q) <= np.sqrt(most) + 1e-9).all()
    with pytest.raises(NotDefined, match="negative weights"):
        estimate(FIVE, packed, weights=weights, method="consistent")


@pytest.mark.parametrize("channel", [FIVE, HASHED])
@pytest.mark.parametrize(("of", "value"), [("histogram", None), ("survey", [1, 2]), ("mean", None)])
def test_posteriors_of_every_report(
    channel: UnaryChannel | HashingChannel, of: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("liftlock.estimate.models.support._CELLS", 35)
    generator = np.random.default_rng(3)
    packed = generator.integers(0, 32, size=(40, channel.report_bytes), dtype=np.uint8)
    if isinstance(channel, HashingChannel):
        packed[:, -1] %= channel.buckets
    prior = Prior.from_counts({4: 1, 3: 2, 2: 3, 1: 4, 0: 10})
    question = ask(channel.inputs, of, value)
    high, low = channel.levels
    beliefs = np.where(channel.support_matrix(packed), high / low, 1.0) * np.array([10, 4, 3, 2, 1])
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    means = beliefs @ question.values
    variances = (beliefs @ question.values**2 - means**2).sum(axis=0)
    scale = 40 if of == "mean" else 1
    found = estimate(channel, packed, of, value=value, prior=prior, method="bayes")
    assert found.method == "bayes"
    assert [a.value for a in found.answers] == pytest.approx(means.sum(axis=0) / scale)
    assert [a.error for a in found.answers] == pytest.approx(np.sqrt(variances) / scale)
    none = estimate(
        channel, packed, of, value=value, prior=prior, method="bayes", about="population"
    )
    assert none.answers[0].low is None
    assert "no interval about a population" in none.remarks[0]


def test_hashed_reports_have_no_interval_for_several_symbols() -> None:
    packed = np.zeros((20, HASHED.report_bytes), dtype=np.uint8)
    aggregate = Aggregate.of(HASHED, packed)
    total = estimate(HASHED, aggregate, "sum")
    assert total.interval == "none"
    assert total.answer.low is None
    assert "no interval for several symbols" in total.remarks[0]
    one = estimate(HASHED, aggregate, "survey", value=1)
    p, q = float(HASHED.hit), float(HASHED.miss)
    assert one.answer.raw == pytest.approx((aggregate.counts[1] - 20 * q) / (p - q))
    assert one.answer.low is not None


def test_consistent_counts_are_possible_and_inside_their_intervals() -> None:
    packed = sampled(FIVE, np.zeros(60, dtype=np.intp), 5)
    found = estimate(FIVE, packed, method="consistent")
    assert sum(answer.value for answer in found.answers) == pytest.approx(60)
    for answer in found.answers:
        assert answer.low is not None
        assert answer.high is not None
        assert 0 <= answer.low <= answer.value <= answer.high <= 60
    assert "unbiased" in found.remarks[-1]


@pytest.mark.parametrize("number", [6, 500])
def test_the_test_of_the_prior_raises_few_false_alarms(number: int) -> None:
    """At most 5 % of 300: more than 32 happens once in 10,000. A wrong prior is found."""
    prior = Prior.from_counts({0: 6, 1: 2, 2: 1, 3: 1, 4: 0})
    generator = np.random.default_rng(2)
    alarms = 0
    for run in range(300):
        people = generator.choice(5, size=number, p=prior.floats())
        aggregate = Aggregate.of(FIVE, sampled(FIVE, people, run))
        alarms += support_fit(Encoding.of(FIVE, prior), aggregate).p_value < 0.05
    assert alarms <= 32
    wrong = Aggregate.of(FIVE, sampled(FIVE, np.full(5000, 2), 1))
    found = support_fit(Encoding.of(FIVE, prior), wrong)
    assert found.p_value < 1e-6
    assert found.drifts[0].name in (0, 2)
    warned = estimate(FIVE, wrong, prior=prior)
    assert "does not fit the reports" in warned.warnings[0]


def test_the_covariance_of_bits() -> None:
    """The statistic, with the covariance of one report computed from its 2^3 outputs."""
    prior = Prior.from_counts({1: 5, 2: 3, 4: 2})
    table = SMALL.to_dense()
    distribution = table.output(prior)
    bits = np.array([[int(bit) for bit in str(name)] for name in distribution.labels], dtype=float)
    masses = distribution.floats()
    mean = masses @ bits
    covariance = (bits.T * masses) @ bits - np.outer(mean, mean)
    people = np.repeat([0, 1, 2], [40, 40, 20])
    aggregate = Aggregate.of(SMALL, sampled(SMALL, people, 9))
    gap = aggregate.floats() - 100 * mean
    expected = float(gap @ np.linalg.solve(100 * covariance, gap))
    assert support_fit(Encoding.of(SMALL, prior), aggregate).statistic == pytest.approx(expected)


def test_hashed_supports_are_tested_one_by_one() -> None:
    prior = Prior.uniform(range(5))
    packed = np.zeros((30, HASHED.report_bytes), dtype=np.uint8)
    aggregate = Aggregate.of(HASHED, packed)
    rate = float(HASHED.miss) + float(HASHED.hit - HASHED.miss) / 5
    tails = [
        2 * min(binom.cdf(count, 30, rate), binom.sf(count - 1, 30, rate))
        for count in aggregate.counts
    ]
    found = support_fit(Encoding.of(HASHED, prior), aggregate)
    assert found.p_value == pytest.approx(min(1.0, 5 * min(tails)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "likelihood"}, "the likelihood estimate is not defined for counts of an"),
        ({"method": "bayes"}, "give the reports themselves for bayes"),
        ({"of": "sum", "interval": "credible"}, "an interval of kind credible is not defined"),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    aggregate = Aggregate.of(FIVE, sampled(FIVE, np.zeros(5, dtype=np.intp), 0))
    with pytest.raises(NotDefined, match=message):
        estimate(FIVE, aggregate, **options)
    silent = UnaryChannel.of("ab", own=4, other=4, bits=4)
    with pytest.raises(NotDefined, match="do not depend on the values"):
        estimate(silent, Aggregate.of(silent, np.zeros((3, 1), dtype=np.uint8)))
    with pytest.raises(NotDefined, match="without a prior"):
        estimate(FIVE, sampled(FIVE, np.zeros(5, dtype=np.intp), 0), method="bayes")
