"""Intervals of 95 % hold the truth in 95 of 100 collections, whatever the truth and the prior.

Where a collection is one number (two kinds of people: tables of two values, randomised response of
many, single symbols of encodings) the coverage is an exact sum, and nothing is left to chance.
Other settings are simulated. Each has a test of the hypothesis "at least 95 %" at the level 1e-7,
fewer than 2,000 of them: methods that keep their promise fail once in 5,000 runs over all. The
seeds are fixed, so each test always gives the same answer. What holds *if the prior is true* is
measured with a true prior, and with a wrong one, where it does not hold.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import liftlock as ll
from liftlock.estimate import Aggregate
from liftlock.estimate.intervals import Kind
from liftlock.estimate.intervals.base import Tails
from liftlock.estimate.intervals.credible import Chains
from liftlock.estimate.intervals.exact import invert_tests, sum_distribution
from liftlock.estimate.question import About
from tests.statistical.coverage import DRIFTS, LAWS, Setting, exact_coverage, response_law

RUNS = 4_000
ALARM = 1e-7
BAND = (0.935, 0.965)
TEST_LEVEL = 1e-6
ABOUT: tuple[About, ...] = ("people", "population")


# --- exact sums -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("about", ABOUT)
@pytest.mark.parametrize("assisted", [False, True])
def test_counts_are_held_whatever_the_prior(name: str, about: About, assisted: bool) -> None:
    """By exact sums: 200 to 100,000 people, the truth on both sides of a prior of 8 %."""
    b, a = LAWS[name]
    for number in (200, 2_000, 100_000):
        prior = 0.08 * number
        error = math.sqrt(number * a * (1 - a)) / (b - a)
        drifts = DRIFTS if number < 100_000 else (0.0, 1.0, 4.0)
        truths = {round(prior + sign * drift * error) for drift in drifts for sign in (1, -1)}
        tails = Tails(0.05, np.array(prior) if assisted else None)
        for truth in sorted(truths | {0, 1, number}):
            if 0 <= truth <= number:
                held = exact_coverage((b, a), number, truth, tails, about)
                assert held >= 0.95 - 1e-9, (number, truth, held)


@pytest.mark.parametrize("share", [7, 8, 9, 10])
def test_a_prior_of_8_per_cent_and_another_truth(share: int) -> None:
    """The default call, 5,000 people, eps 1: exact sums over all collections there can be."""
    number = 5_000
    made = ll.design(ll.Prior.from_counts({"no": 92, "yes": 8}), ll.LIP("1"))
    rows = made.table.floats()
    place = made.table.outputs.index("yes")
    people = number * share // 100
    begin, terms = sum_distribution(
        np.array([people, number - people]), np.array([rows[1, place], rows[0, place]])
    )
    held = if_true = 0.0
    for seen, chance in enumerate(terms.tolist(), begin):
        if chance < 1e-7:
            continue
        counts = [number - seen, number - seen]
        counts[place] = seen
        found = made.estimate(
            Aggregate(made.channel.fingerprint, tuple(counts), number), "survey", value="yes"
        )
        assert found.beside is not None
        (free,), (leaning,) = found.answers, found.beside.answers
        assert free.low is not None
        assert free.high is not None
        assert leaning.low is not None
        assert leaning.high is not None
        held += chance * (free.low <= people <= free.high)
        if_true += chance * (leaning.low <= people <= leaning.high)
    assert 0.95 - 1e-4 <= held <= 0.96
    # What stands beside holds on average over people of the prior, and not for each of them.
    assert (if_true > 0.99) if share == 8 else (if_true < 0.35)


@pytest.mark.parametrize("drift", [0.0, 2.0])
def test_sixteen_values_hold_together(drift: float) -> None:
    """Simulated: 1,000 collections, of which at least 95 % hold all; wrong once in 10^7."""
    setting = Setting("bell", "rr", 1.0, 3_000, "histogram", drift=drift)
    tally, truth = setting.simulated(1_000, 5)
    made: dict[tuple[float, int], tuple[float, float]] = {}
    law = response_law(16, 1.0)
    held = np.ones(len(tally.counts), dtype=bool)
    each = np.zeros(len(tally.counts))
    for x in range(16):
        for error, result in ((0.05 / 16, held), (0.05, each)):
            for run, seen in enumerate(tally.counts[:, x].astype(int).tolist()):
                if (error, seen) not in made:
                    tails = Tails(error)
                    made[error, seen] = invert_tests((law, law), seen, 3_000, tails, "people")
                low, high = made[error, seen]
                inside = low <= truth[0, x] <= high
                if result is held:
                    held[run] &= inside
                else:
                    each[run] += inside
    assert stats.binom.cdf(int(held.sum()), held.size, 0.95) > ALARM
    # Each by itself is another promise.
    assert (each == 16).mean() < 0.8
    aggregate = Aggregate("", tuple(tally.counts[0].astype(int).tolist()), 3_000)
    found = ll.estimate.api.answer(  # type: ignore[attr-defined]
        setting.model,
        aggregate,
        setting.question,
        ll.estimate.api.EstimateOptions.of(together=True),  # type: ignore[attr-defined]
    )
    low, high = invert_tests((law, law), aggregate.counts[0], 3_000, Tails(0.05 / 16), "people")
    assert (found.answers[0].low, found.answers[0].high) == (low, high)


# --- simulated: bounds of variances, whatever the truth -------------------------------------------


def assert_kept(setting: Setting, kind: Kind, runs: int = RUNS) -> None:
    held = setting.coverage(kind, runs)
    for share in held.tolist():
        chance = stats.binom.cdf(round(share * runs), runs, 0.95)
        assert chance > ALARM, (str(setting), kind, share)


TABLES = [
    ("skewed", "subset", 0.5),
    ("skewed", "optimal", 2.0),
    ("three", "optimal", 1.0),
    ("three", "subset", 1.0),
    ("zipf", "rr", 1.0),
    ("zipf", "optimal", 1.0),
    ("bell", "near", 1.0),
]


@pytest.mark.parametrize(("prior", "channel", "epsilon"), TABLES)
@pytest.mark.parametrize("about", ABOUT)
def test_tables_and_numbers(prior: str, channel: str, epsilon: float, about: About) -> None:
    for of, reports, drift in product(("histogram", "mean"), (200, 2_000, 100_000), (-2, 0, 1, 4)):
        setting = Setting(prior, channel, epsilon, reports, of, about, drift=drift)
        assert_kept(setting, "normal")


@pytest.mark.parametrize("about", ABOUT)
def test_fifty_values(about: About) -> None:
    for channel, drift in product(("rr", "optimal"), (0, 1, 4)):
        assert_kept(
            Setting("fifty", channel, 2.0, 10_000, "histogram", about, drift=drift), "normal"
        )


@pytest.mark.parametrize("about", ABOUT)
def test_weights(about: About) -> None:
    for (prior, channel, epsilon), of, drift in product(TABLES[1:5], ("sum", "survey"), (0, 4)):
        assert_kept(
            Setting(prior, channel, epsilon, 2_000, of, about, weighted=True, drift=drift), "normal"
        )


@pytest.mark.parametrize("about", ABOUT)
def test_assisted_intervals_of_sums(about: About) -> None:
    for (prior, channel, epsilon), drift in product(TABLES[2:], (-2, 0, 1, 4)):
        setting = Setting(prior, channel, epsilon, 2_000, "mean", about, drift=drift)
        assert_kept(setting, "assisted")


def test_intervals_are_not_longer_than_need_be() -> None:
    """Mean lengths over those of the normal limit with everything known, at the prior."""
    for (prior, channel, epsilon), (reports, most) in product(
        TABLES, ((2_000, 1.12), (100_000, 1.02))
    ):
        setting = Setting(prior, channel, epsilon, reports, "mean")
        tally, _ = setting.simulated(200, 1)
        spread = setting.spread("normal", tally)
        each = setting.model.error_variances(setting.linear.scores, setting.question)
        known = 2 * 1.96 * np.sqrt(reports * setting.masses @ each)
        assert ((spread.high - spread.low).mean(axis=0) <= most * known).all(), str(setting)


# --- if the prior is true -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [
        Setting(prior, channel, epsilon, reports, "survey", method="bayes")
        for prior, channel, epsilon, reports in product(
            ("even", "skewed", "rare"), ("rr", "optimal"), (0.5, 2.0), (30, 100)
        )
    ],
    ids=str,
)
def test_posterior_counts(setting: Setting) -> None:
    """Exact posteriors: whole numbers jump to the safe side."""
    assert_kept(setting, "exact")


@pytest.mark.parametrize(
    "setting",
    [
        Setting(prior, channel, 1.0, reports, of, method="bayes", weighted=weighted)
        for (prior, channel), (of, weighted), reports in product(
            (("three", "subset"), ("zipf", "optimal")), (("mean", False), ("sum", True)), (40, 400)
        )
    ],
    ids=str,
)
def test_posterior_sums(setting: Setting) -> None:
    held = setting.coverage("normal", 20_000)
    assert ((held >= BAND[0]) & (held <= BAND[1])).all()


# --- credible intervals: on average over shares ---------------------------------------------------


def assert_within(held: npt.NDArray[np.bool_], low: float = BAND[0], high: float = BAND[1]) -> None:
    """A method whose coverage is between low and high fails with probability below 1e-6."""
    number = int(held.sum())
    assert stats.binom.cdf(number, held.size, low) > TEST_LEVEL
    assert stats.binom.sf(number - 1, held.size, high) > TEST_LEVEL


@pytest.mark.parametrize("about", ABOUT)
def test_credible_intervals_of_two_symbols(about: About) -> None:
    """With shares drawn from the Dirichlet prior; at the edges they hold more often."""
    setting, runs = Setting("even", "rr", 1.0, 30, "survey", about), 20_000
    source = np.random.default_rng(5)
    shares = source.beta(0.5, 0.5, runs)
    people = source.binomial(30, shares)
    rows = setting.model.rows
    ones = source.binomial(people, rows[1, 1]) + source.binomial(30 - people, rows[0, 1])
    made = [setting.made("credible", np.array([30.0 - seen, seen])) for seen in range(31)]
    low, high = (
        np.array([getattr(spread, end)[0] for spread in made])[ones] for end in ("low", "high")
    )
    truth = people if about == "people" else 30 * shares
    assert_within((low <= truth) & (truth <= high), 0.95, 0.99)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_credible_intervals_reach_the_edge_of_a_population(share: float) -> None:
    """At a share of 0 no report says otherwise, in 97.5 of 100 collections: an exact sum."""
    setting, number = Setting("even", "rr", 1.0, 60, "survey", "population"), 60
    rows = setting.model.rows
    chance = float(share * rows[1, 1] + (1 - share) * rows[0, 1])
    held = 0.0
    for seen in range(number + 1):
        spread = setting.made("credible", np.array([number - seen, seen], dtype=float))
        assert spread.low is not None
        assert spread.high is not None
        inside = spread.low[0] <= number * share <= spread.high[0]
        held += float(inside * stats.binom.pmf(seen, number, chance))
    assert held >= 0.97


def test_credible_intervals_of_three_symbols() -> None:
    """The same with one chain for each of many surveys, moved by the rounds intervals are made of.

    A rank among draws that hang together is not uniform if they are few; these chains are long
    enough for the band.
    """
    setting, surveys, rounds = Setting("three", "optimal", 1.0, 40, "histogram"), 600, 500
    source = np.random.default_rng(3)
    shares = source.dirichlet(np.full(3, 0.5), surveys)
    people = source.multinomial(40, shares)
    counts = sum(
        source.multinomial(number, row)
        for number, row in zip(people.T, setting.model.rows, strict=True)
    )
    chains = Chains(setting.model.rows, np.asarray(counts), np.full(3, 0.5), shares.copy())
    below = np.zeros((2, surveys, 3))
    for _ in range(rounds):
        drawn = chains.round(source)
        below[0] += (drawn < people) + (drawn == people) / 2
        below[1] += chains.shares < shares
    held = np.abs(below / rounds - 0.5) < 0.475
    for about in range(2):
        for column in range(3):
            assert_within(held[about, :, column])
