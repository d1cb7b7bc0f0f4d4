"""Expected errors: against exact enumeration of everything that can happen to two people."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import liftlock as ll
from liftlock.errors import InputError, NotDefined
from liftlock.estimate import Question
from liftlock.estimate.expected import expected_error
from liftlock.estimate.question import ask
from liftlock.model.alphabet import Label

PRIOR = ll.Prior.from_probabilities({1: "0.5", 2: "0.3", 4: "0.2"})
ROWS = {
    1: {"a": "0.5", "b": "0.2", "c": "0.2", "d": "0.1"},
    2: {"a": "0.2", "b": "0.5", "c": "0.2", "d": "0.1"},
    4: {"a": "0.1", "b": "0.2", "c": "0.3", "d": "0.4"},
}
CHANNEL = ll.Channel.from_rows(ROWS)
PEOPLE = 2


def enumerated(question: Question, scores: dict[Label, float], *, truth: bool) -> float:
    """Return E (sum of scores - target)^2 over all values and reports of two people."""
    f = dict(zip(CHANNEL.inputs.labels, question.values[:, 0].tolist(), strict=True))
    mean = sum(float(PRIOR[x]) * f[x] for x in PRIOR.labels)
    total = 0.0
    for xs in itertools.product(PRIOR.labels, repeat=PEOPLE):
        for ys in itertools.product(CHANNEL.outputs.labels, repeat=PEOPLE):
            chance = math.prod(
                float(PRIOR[x] * CHANNEL.probability(x, y)) for x, y in zip(xs, ys, strict=True)
            )
            target = sum(f[x] for x in xs) if truth else PEOPLE * mean
            total += chance * (math.fsum(scores[y] for y in ys) - target) ** 2
    return total


@pytest.mark.parametrize("question", [ask(PRIOR.alphabet, "sum"), ask(PRIOR.alphabet, "survey", 4)])
def test_bayes_is_the_mean_posterior_variance(question: Question) -> None:
    scores = {}
    for y in CHANNEL.outputs.labels:
        belief = CHANNEL.posterior(PRIOR, y)
        scores[y] = sum(
            float(belief[x]) * question.values[i, 0] for i, x in enumerate(PRIOR.labels)
        )
    found = expected_error(CHANNEL, PRIOR, PEOPLE, question, "bayes")
    assert found.total_squared == pytest.approx(enumerated(question, scores, truth=True))


@pytest.mark.parametrize("about", ["people", "population"])
def test_unbiased_about_people_and_population(about: str) -> None:
    """The scores of least variance, by a solver of our own: minimise sum P(y) g^2, Q g = f."""
    question = ask(PRIOR.alphabet, "sum")
    rows, distribution = (
        CHANNEL.floats(),
        np.array([float(v) for v in CHANNEL.output(PRIOR).fractions]),
    )
    size = len(distribution)
    system = np.zeros((size + 3, size + 3))
    system[:size, :size] = np.diag(2 * distribution)
    system[:size, size:], system[size:, :size] = rows.T, rows
    solved = np.linalg.solve(system, np.concatenate([np.zeros(size), question.values[:, 0]]))
    scores = dict(zip(CHANNEL.outputs.labels, solved[:size].tolist(), strict=True))
    found = expected_error(CHANNEL, PRIOR, PEOPLE, question, "unbiased", about=about)  # type: ignore[arg-type]
    expected = enumerated(question, scores, truth=about == "people")
    assert found.total_squared == pytest.approx(expected, rel=1e-9)


def test_without_reports_and_without_privacy() -> None:
    question = ask(PRIOR.alphabet, "mean")
    variance = 0.5 * 1 + 0.3 * 4 + 0.2 * 16 - 1.9**2
    nobody = expected_error(None, PRIOR, 100, question, "prior")
    assert nobody.errors[0] == pytest.approx(math.sqrt(variance / 100))
    assert expected_error(None, PRIOR, 100, question, "truth").errors == (0.0,)
    everybody = expected_error(None, PRIOR, 100, question, "truth", about="population")
    assert everybody.errors == pytest.approx(nobody.errors)
    assert everybody.margin == pytest.approx(1.959963984540054 * nobody.errors[0])


def test_people_for_a_margin_is_the_least_number() -> None:
    question = ask(PRIOR.alphabet, "histogram")
    found = expected_error(CHANNEL, PRIOR, 1, question, "unbiased", about="population")
    needed = found.people_for("2%")
    assert needed is not None
    for people, enough in ((needed, True), (needed - 1, False)):
        again = expected_error(CHANNEL, PRIOR, people, question, "unbiased", about="population")
        assert (again.margin <= 0.02) == enough


def test_the_order_of_labels_does_not_matter() -> None:
    turned = ll.Prior.from_probabilities({4: "0.2", 2: "0.3", 1: "0.5"})
    one = expected_error(CHANNEL, PRIOR, 10, ask(PRIOR.alphabet, "sum"))
    other = expected_error(CHANNEL, turned, 10, ask(turned.alphabet, "sum"))
    assert one.total_squared == pytest.approx(other.total_squared, rel=1e-12)


def test_refusals() -> None:
    question = ask(PRIOR.alphabet, "histogram")
    with pytest.raises(InputError, match="no people"):
        expected_error(CHANNEL, PRIOR, 0, question)
    with pytest.raises(InputError, match="unknown method"):
        expected_error(CHANNEL, PRIOR, 1, question, "magic")
    with pytest.raises(InputError, match="the level is not between 0 and 1"):
        expected_error(CHANNEL, PRIOR, 1, question, level=2)
    with pytest.raises(NotDefined, match="population"):
        expected_error(CHANNEL, PRIOR, 1, question, about="population")
    with pytest.raises(InputError, match="depends on the channel"):
        expected_error(None, PRIOR, 1, question)
    with pytest.raises(InputError, match="margin is not positive"):
        expected_error(CHANNEL, PRIOR, 1, question).people_for("-1%")
    blind = ll.Channel.from_rows({x: {"a": "0.5", "b": "0.5"} for x in PRIOR.labels})
    with pytest.raises(NotDefined):
        expected_error(blind, PRIOR, 1, question, "unbiased")


def test_hashing_has_no_sum_over_symbols() -> None:
    made = ll.design(PRIOR, ll.LDP("1"), method="hashing")
    assert made.expected_error(100, method="unbiased").total_squared > 0
    with pytest.raises(NotDefined, match="several symbols"):
        made.expected_error(100, "sum", method="unbiased")


def test_a_sum_by_unary_encoding() -> None:
    """Simulated: the mean of 1,500 squared errors deviates by 3.7 %, the tolerance is 4 times."""
    made = ll.design(PRIOR, ll.LDP("1"), method="oue")
    people, runs = 40, 1500
    expected = made.expected_error(people, "sum", method="unbiased")
    truth = np.array([1, 2, 4])[np.random.default_rng(3).choice(3, people * runs, p=PRIOR.floats())]
    reports = np.asarray(made.simulate(truth, seed=11)).reshape(runs, people, -1)
    errors = [
        made.estimate(rows, "sum", method="unbiased", interval="none").answer.raw - total
        for rows, total in zip(reports, truth.reshape(runs, people).sum(axis=1), strict=True)
    ]
    assert np.square(errors).mean() == pytest.approx(expected.total_squared, rel=0.15)
