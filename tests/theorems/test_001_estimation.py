"""Paper 001, estimates: its closed-form errors against what the sampler and estimators really do.

Every mean squared error is measured on `RUNS` simulated collections. The squared errors of a run
are at most about as heavy-tailed as those of a normal distribution, whose mean has the relative
deviation sqrt(2 / RUNS) = 2.2 %; the tolerance of 10 % is 4.4 of these, a false alarm in 100,000
for each comparison, and the seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import liftlock as ll
from liftlock.estimate import Question
from liftlock.estimate.estimators import Bayes, Unbiased
from liftlock.estimate.expected import expected_error
from liftlock.estimate.models import Dense
from liftlock.exact.integers import Floats
from liftlock.model.structured import UnaryChannel
from liftlock.sampling import simulate_codes

RUNS = 4000
TOLERANCE = 0.10
PEOPLE = 60
E = math.e


def bit(p: str) -> ll.Prior:
    return ll.Prior.from_probabilities({0: 1 - ll.exact(p), 1: p})


def collected(
    channel: ll.Table, prior: ll.Prior, seed: int, people: int = PEOPLE
) -> tuple[Floats, Floats]:
    """Return how many people have each value, and how many gave each report, in every run."""
    generator = np.random.default_rng(seed)
    codes = generator.choice(len(prior.labels), size=RUNS * people, p=prior.floats())
    reports = simulate_codes(channel, codes, seed=seed)
    runs = np.repeat(np.arange(RUNS), people)

    def counted(column: np.ndarray, size: int) -> Floats:
        flat = np.bincount(runs * size + column, minlength=RUNS * size)
        return flat.reshape(RUNS, size).astype(np.float64)

    return counted(codes, len(prior.labels)), counted(reports, len(channel.outputs))


def mean_squared(found: Floats, truth: Floats) -> float:
    return float(((found - truth) ** 2).sum(axis=1).mean())


def equation_21(p: float, people: int) -> float:
    return people * p * (1 - p) * (2 / E - 1 / E**2)


def equation_24(p: float, people: int) -> float:
    top = (p * (1 - p) * (1 - E)) ** 2
    return people * (p * (1 - p) - top / ((1 - p + p * E) * (E - p * E + p)))


@pytest.mark.parametrize("p", ["0.5", "0.3", "0.7"])
def test_equation_21_where_it_is_valid(p: str) -> None:
    """For 1/(1 + E) <= p <= E/(1 + E) the published error is that of the true optimum."""
    made = ll.design(bit(p), ll.LIP("1"), utility="mean")
    expected = made.expected_error(PEOPLE, "sum")
    assert expected.total_squared == pytest.approx(equation_21(float(p), PEOPLE), rel=1e-8)
    truth, counts = collected(made.table, bit(p), seed=21)
    estimator = Bayes(Dense.of(made.table, bit(p)), Question.total(made.channel.inputs))
    measured = mean_squared(estimator.values(counts), truth @ np.array([[0.0], [1.0]]))
    assert measured == pytest.approx(equation_21(float(p), PEOPLE), rel=TOLERANCE)


@pytest.mark.parametrize("p", ["0.1", "0.05"])
def test_equation_21_corrected_elsewhere(p: str) -> None:
    """For rarer values it promises too little error: the optimum is p(1-p) - p^2 (E-1)^2/E."""
    made = ll.design(bit(p), ll.LIP("1"), utility="mean")
    rare = float(p)
    true = PEOPLE * (rare * (1 - rare) - rare**2 * (E - 1) ** 2 / E)
    assert made.expected_error(PEOPLE, "sum").total_squared == pytest.approx(true, rel=1e-7)
    assert true > equation_21(rare, PEOPLE)


@pytest.mark.parametrize("p", ["0.5", "0.1", "0.02"])
def test_equation_24_the_best_under_ldp(p: str) -> None:
    made = ll.design(bit(p), ll.LDP("1"), utility="mean")
    expected = made.expected_error(PEOPLE, "sum").total_squared
    assert expected == pytest.approx(equation_24(float(p), PEOPLE), rel=1e-7)
    truth, counts = collected(made.table, bit(p), seed=24)
    estimator = Bayes(Dense.of(made.table, bit(p)), Question.total(made.channel.inputs))
    measured = mean_squared(estimator.values(counts), truth @ np.array([[0.0], [1.0]]))
    # Skewed counts: squared errors have heavier tails, of kurtosis up to 3 + 1/(n p).
    assert measured == pytest.approx(equation_24(float(p), PEOPLE), rel=1.5 * TOLERANCE)


@pytest.mark.parametrize("p", ["0.5", "0.05"])
def test_equations_41_and_42_without_the_prior(p: str) -> None:
    """N E/(E - 1)^2 whatever the prior, with the probability 1/(E + 1) of a flip in (41)."""
    made = ll.design(bit("0.5"), ll.LDP("1"), method="k-rr")
    flip = 1 / (E + 1)
    estimator = Unbiased(Dense.of(made.table, bit("0.5")), Question.total(made.channel.inputs))
    truth, counts = collected(made.table, bit(p), seed=42)
    ones = counts[:, made.table.outputs.index(1)]
    assert estimator.values(counts)[:, 0] == pytest.approx(
        (ones - PEOPLE * flip) / (1 - 2 * flip), abs=1e-6
    )
    formula = PEOPLE * E / (E - 1) ** 2
    measured = mean_squared(estimator.values(counts), truth[:, [1]])
    assert measured == pytest.approx(formula, rel=TOLERANCE)
    expected = expected_error(
        made.channel, bit(p), PEOPLE, Question.total(made.channel.inputs), "unbiased"
    )
    assert expected.total_squared == pytest.approx(formula, rel=1e-8)


def test_error_of_optimal_unary_encoding() -> None:
    """N (4 d E/(E - 1)^2 + 1) in all, and N (4 E/(E - 1)^2 + f_k) for each symbol."""
    size = 6
    prior = ll.Prior.from_counts(dict(zip("abcdef", (50, 20, 15, 10, 4, 1), strict=True)))
    made = ll.design(prior, ll.LDP("1"), method="oue")
    assert isinstance(made.channel, UnaryChannel)
    expected = made.expected_error(PEOPLE, method="unbiased")
    share = 4 * E / (E - 1) ** 2
    assert expected.total_squared == pytest.approx(PEOPLE * (size * share + 1), rel=1e-8)
    for name, error in zip(expected.names, expected.errors, strict=True):
        assert error**2 == pytest.approx(PEOPLE * (share + float(prior[name])), rel=1e-8)
    runs = 1500
    codes = np.random.default_rng(1).choice(size, size=runs * PEOPLE, p=prior.floats())
    packed = simulate_codes(made.channel, codes, seed=5).astype(np.uint8)
    ones = made.channel.support_matrix(packed).reshape(runs, PEOPLE, size).sum(axis=1)
    truth = np.eye(size)[codes].reshape(runs, PEOPLE, size).sum(axis=1)
    found = np.array([PEOPLE * made.channel.frequencies(row, PEOPLE) for row in ones])
    first = made.estimate(packed[:PEOPLE], method="unbiased")
    assert [answer.raw for answer in first.answers] == pytest.approx(found[0].tolist())
    # Each run adds up the squared errors of six symbols: the mean of 1,500 deviates by 1.5 %.
    assert mean_squared(found, truth) == pytest.approx(expected.total_squared, rel=0.07)


def test_equation_17_corrected() -> None:
    """Var E[X | Y] = [P1 (lambda0 - q1)]^2/(lambda0 lambda1), not P1 (lambda0 - q1)^2/(...)."""
    prior = bit("0.3")
    channel = ll.Channel.from_rows({0: {0: "0.8", 1: "0.2"}, 1: {0: "0.4", 1: "0.6"}})
    one, miss = 0.3, 0.4
    nothing = 0.7 * 0.8 + one * miss
    spread = (one * (nothing - miss)) ** 2 / (nothing * (1 - nothing))
    expected = expected_error(channel, prior, 1, Question.total(prior.alphabet))
    assert expected.total_squared == pytest.approx(one * (1 - one) - spread, rel=1e-12)


@pytest.mark.parametrize("of", ["histogram", "sum"])
def test_proposition_2_the_errors_of_people_add_up(of: str) -> None:
    """Two groups with different priors and mechanisms: the error of both is the sum."""
    groups = []
    for seed, masses in ((1, ("0.2", "0.3", "0.5")), (2, ("0.6", "0.3", "0.1"))):
        prior = ll.Prior.from_probabilities(dict(zip((1, 2, 5), masses, strict=True)))
        made = ll.design(prior, ll.LIP("1"), utility="histogram" if of == "histogram" else "mean")
        question = (
            Question.histogram(made.channel.inputs)
            if of == "histogram"
            else Question.total(made.channel.inputs)
        )
        truth, counts = collected(made.table, prior, seed)
        found = Bayes(Dense.of(made.table, prior), question).values(counts)
        right = truth @ question.values
        groups.append((made.expected_error(PEOPLE, of).total_squared, found - right))
    together = groups[0][1] + groups[1][1]
    measured = float((together**2).sum(axis=1).mean())
    assert measured == pytest.approx(groups[0][0] + groups[1][0], rel=TOLERANCE)


def test_equation_30_the_posterior_mean_of_a_histogram_sums_to_everybody() -> None:
    prior = ll.Prior.from_counts({"a": 1, "b": 2, "c": 7})
    made = ll.design(prior, ll.LIP("1"), utility="histogram")
    reports = made.simulate(["a", "b", "c", "c"] * 50, seed=3)
    found = made.estimate(reports, method="bayes", interval="none")
    assert math.fsum(answer.value for answer in found.answers) == pytest.approx(200)
    brute = dict.fromkeys(prior.labels, 0.0)
    for report in reports:
        belief = made.table.posterior(prior, report)
        for label in prior.labels:
            brute[label] += float(belief[label])
    for answer in found.answers:
        assert answer.value == pytest.approx(brute[answer.name], rel=1e-12)
