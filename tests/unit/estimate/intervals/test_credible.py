"""Credible intervals against posteriors that are added up or integrated by another way."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import integrate, special, stats

from liftlock import Alphabet
from liftlock.errors import InputError
from liftlock.estimate import Question
from liftlock.estimate.intervals.credible import credible, simulate_posterior
from liftlock.estimate.intervals.exact import equal_tails, sum_distribution
from liftlock.estimate.models import Dense
from liftlock.estimate.question import ABOUT, About

FLIP = np.array([[0.7, 0.3], [0.2, 0.8]])


def model(rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Dense:
    return Dense(Alphabet.of(range(rows.shape[0])), Alphabet.of(range(rows.shape[1])), rows, None)


def survey(of: Dense, value: int) -> Question:
    return Question.survey(of.inputs, [value])


def test_two_symbols_about_the_population() -> None:
    counts = np.array([9, 5])
    found = credible(model(FLIP), survey(model(FLIP), 1), counts, 0.95, "population", 1, 0.8)

    def density(share: float) -> float:
        mixed = np.array([1 - share, share]) @ FLIP
        return float(share**-0.2 * (1 - share) ** -0.2 * mixed[0] ** 9 * mixed[1] ** 5)

    total = integrate.quad(density, 0, 1)[0]
    assert found.low is not None
    assert found.high is not None
    below = integrate.quad(density, 0, found.low[0] / 14)[0] / total
    above = integrate.quad(density, found.high[0] / 14, 1)[0] / total
    assert (below, above) == pytest.approx((0.025, 0.025), abs=2e-4)


def test_two_symbols_about_the_people() -> None:
    """P(s | counts) is proportional to the beta-binomial distribution of s times P(counts | s)."""
    counts = np.array([30, 11])
    distribution = np.zeros(42)
    for s in range(42):
        begin, terms = sum_distribution(np.array([s, 41 - s]), FLIP[::-1, 1])
        chance = terms[11 - begin] if 0 <= 11 - begin < len(terms) else 0.0
        distribution[s] = stats.betabinom.pmf(s, 41, 0.5, 0.5) * chance
    distribution /= distribution.sum()
    found = credible(
        model(FLIP), Question.histogram(Alphabet.of(range(2))), counts, 0.9, "people", 1
    )
    assert found.low is not None
    assert found.high is not None
    low, high = equal_tails(0, distribution, 0.1)
    assert found.low.tolist() == [41 - high, low]
    assert found.high.tolist() == [41 - low, high]
    assert found.errors is not None
    mean = distribution @ np.arange(42)
    assert found.errors[1] == pytest.approx(
        np.sqrt(distribution @ (np.arange(42) - mean) ** 2), rel=1e-6
    )


@pytest.mark.parametrize("about", ABOUT)
def test_large_numbers_look_normal(about: About) -> None:
    for scale in (10_001, 10**8):
        counts = np.array([5, 5]) * scale
        found = credible(model(FLIP), survey(model(FLIP), 1), counts, 0.95, about, 1)
        assert found.low is not None
        assert found.high is not None
        assert found.errors is not None
        value = 10 * scale * (0.5 - 0.3) / 0.5
        middle = (found.low[0] + found.high[0]) / 2
        assert middle == pytest.approx(value, abs=0.1 * found.errors[0])
        width = (found.high[0] - found.low[0]) / found.errors[0]
        assert width == pytest.approx(2 * stats.norm.ppf(0.975), rel=0.02)


def test_three_symbols_against_all_people_there_can_be() -> None:
    """Dirichlet-multinomial chance of the people times that of the reports, written out."""
    rows = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    counts, before = np.array([3, 1, 2]), np.array([0.5, 1.0, 0.7])
    distribution: dict[tuple[int, int, int], float] = {}
    # How the people behind each output divide: n_y people into three values.
    for split in product(*(divided(number) for number in counts)):
        people = tuple(int(v) for v in np.sum(split, axis=0))
        chance = np.exp((special.gammaln(before + people) - special.gammaln(before)).sum())
        for y, parts in enumerate(split):
            ways = comb(int(counts[y]), parts[0]) * comb(int(counts[y]) - parts[0], parts[1])
            chance *= ways * np.prod(rows[:, y] ** np.array(parts))
        assert len(people) == 3
        distribution[people] = distribution.get(people, 0.0) + float(chance)
    total = sum(distribution.values())
    means = sum(np.array(people) * chance for people, chance in distribution.items()) / total
    squares = sum(np.array(people) ** 2 * chance for people, chance in distribution.items()) / total
    whole = model(rows)
    question = Question.histogram(whole.inputs)
    drawn = simulate_posterior(whole, question, counts, "people", before, 7)
    flat = drawn.answers.reshape(-1, 3)
    deviations = np.sqrt(squares - means**2)
    # Five standard errors of the simulation.
    slack = 5 * deviations / np.sqrt(drawn.independent)
    assert (np.abs(flat.mean(axis=0) - means) < slack).all()
    assert flat.std(axis=0) == pytest.approx(deviations, rel=0.06)
    shares = simulate_posterior(whole, question, counts, "population", before, 7)
    expected = 6 * (before + means) / (before.sum() + 6)
    assert shares.answers.mean(axis=(0, 1)) == pytest.approx(expected, rel=0.05)


def divided(number: int) -> list[tuple[int, int, int]]:
    return [(i, j, number - i - j) for i in range(number + 1) for j in range(number + 1 - i)]


def test_chains_mix_where_reports_say_nearly_nothing() -> None:
    rows = np.full((6, 6), 0.16) + np.diag(np.full(6, 0.04))
    whole = model(rows)
    found = credible(whole, survey(whole, 0), np.full(6, 50), 0.95, "population", 3)
    prior = stats.beta(0.5, 2.5)
    assert found.low is not None
    assert found.high is not None
    assert found.high[0] == pytest.approx(300 * prior.ppf(0.975), rel=0.15)
    assert "independent draws" in found.remarks[0]
    again = credible(whole, survey(whole, 0), np.full(6, 50), 0.95, "population", 3)
    assert again.low is not None
    assert again.low.tolist() == found.low.tolist()


def test_refusals() -> None:
    with pytest.raises(InputError, match="not above 0"):
        credible(model(FLIP), survey(model(FLIP), 1), np.array([1, 1]), 0.95, "people", 1, 0.0)
    wide = model(np.full((200, 200), 1 / 200))
    with pytest.raises(InputError, match="ask for normal intervals"):
        credible(wide, survey(wide, 1), np.ones(200, dtype=np.int64), 0.95, "people", 1)
