"""The unbiased estimate: exactly right on average for every truth, or refused with a reason."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from liftlock import Channel, Prior
from liftlock.errors import NotDefined
from liftlock.estimate import Question
from liftlock.estimate.estimators import Unbiased
from liftlock.estimate.models import Dense
from liftlock.estimate.question import ask
from tests.unit.estimate.worlds import (
    ILL,
    NARROW,
    TWINS,
    WIDE,
    WIDE_PRIOR,
    model_of,
    report_vectors,
    response,
)


@pytest.mark.parametrize(
    ("channel", "question", "number"),
    [
        (ILL, ask(ILL.inputs, "histogram"), 2),
        (WIDE, ask(WIDE.inputs, "histogram"), 2),
        (WIDE, ask(WIDE.inputs, "sum"), 3),
    ],
)
def test_right_on_average_for_everybody(channel: Channel, question: Question, number: int) -> None:
    """All reports of all groups of people, with exact probabilities."""
    estimator = Unbiased(Dense.of(channel), question)
    for people in itertools.combinations_with_replacement(channel.inputs.labels, number):
        mean = sum(float(p) * estimator.values(c) for c, p in report_vectors(channel, people))
        truth = sum(question.values[channel.inputs.index(x)] for x in people)
        assert mean == pytest.approx(truth, abs=1e-12)


def test_least_variance_under_the_prior_and_still_unbiased_under_any() -> None:
    question = ask(WIDE.inputs, "sum")
    model = Dense.of(WIDE, WIDE_PRIOR)
    scores = Unbiased(model, question).scores[:, 0]
    distribution = np.array([float(value) for value in WIDE.output(WIDE_PRIOR).fractions])
    rows, target = WIDE.floats(), question.values[:, 0]
    found = minimize(  # type: ignore[call-overload]
        lambda g: float(distribution @ g**2),
        np.zeros(4),
        constraints={"type": "eq", "fun": lambda g: rows @ g - target},
        tol=1e-14,
    )
    assert scores == pytest.approx(found.x, abs=1e-5)
    assert rows @ scores == pytest.approx(target, abs=1e-12)
    skewed = Unbiased(Dense.of(WIDE, Prior.from_counts({1: 1, 2: 0, 4: 99})), question).scores
    assert rows @ skewed[:, 0] == pytest.approx(target, abs=1e-12)
    assert distribution @ scores**2 < distribution @ skewed[:, 0] ** 2


def test_randomised_response_with_the_flip_probability() -> None:
    """001 eq. (41) with p = 1 / (E + 1): (reports of 1 - n p) / (1 - 2 p)."""
    flip = 1 / (math.e + 1)
    model = model_of(np.array([[1 - flip, flip], [flip, 1 - flip]]))
    counts = np.array([70.0, 30.0])
    found = Unbiased(model, Question.survey(model.inputs, [1])).values(counts)[0]
    assert found == pytest.approx((30 - 100 * flip) / (1 - 2 * flip))


@pytest.mark.parametrize("budget", [1e-2, 1e-4, 1e-6])
def test_nearly_no_budget(budget: float) -> None:
    for size in (2, 30):
        rows = response(size, budget)
        model = model_of(rows)
        scores = Unbiased(model, Question.histogram(model.inputs)).scores
        assert np.abs(rows @ scores - np.eye(size)).max() < 1e-6


def test_less_than_floats_can_tell_is_refused() -> None:
    model = model_of(response(5, 1e-13))
    with pytest.raises(NotDefined, match="unbiased"):
        Unbiased(model, Question.histogram(model.inputs))


def test_a_question_can_be_answered_although_the_histogram_cannot() -> None:
    """Twins a and b: how many are c is known, and so is how many are either."""
    model = Dense.of(TWINS)
    known = Unbiased(model, ask(TWINS.inputs, "survey", "c"))
    assert TWINS.floats() @ known.scores == pytest.approx(np.array([[0.0], [0.0], [1.0]]))
    assert model.identifies(ask(TWINS.inputs, "survey", ["a", "b"]))
    assert not model.identifies(ask(TWINS.inputs, "survey", "a"))
    with pytest.raises(NotDefined, match=r"values '[ab]' and '[ab]', which give the same reports"):
        Unbiased(model, ask(TWINS.inputs, "histogram"))


def test_fewer_outputs_name_a_combination() -> None:
    with pytest.raises(NotDefined) as refused:
        Unbiased(Dense.of(NARROW), ask(NARROW.inputs, "survey", "b"))
    assert "people with 'b' can report as people with 'a' or 'c' do" in str(refused.value)
    assert "ask for bayes" in refused.value.remedy
    middle = model_of(NARROW.floats())
    total = Unbiased(middle, ask(middle.inputs, "sum"))
    assert NARROW.floats() @ total.scores[:, 0] == pytest.approx([0, 1, 2], abs=1e-12)


@pytest.mark.parametrize(
    ("shape", "rank"), [((30, 30), 30), ((30, 36), 30), ((36, 32), 26), ((30, 36), 25)]
)
def test_every_path_agrees_with_singular_values(
    shape: tuple[int, int], rank: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elimination, Gram matrix and eigenvalues, the paths of large channels."""
    monkeypatch.setattr("liftlock.estimate.models.inverse._SMALL", 10)
    generator = np.random.default_rng(3)
    rows = generator.dirichlet(np.ones(shape[1]), size=rank)
    if rank < shape[0]:
        rows = generator.dirichlet(np.ones(rank) / 5, size=shape[0]) @ rows
    inverse = model_of(rows).inverse
    roots = np.sqrt(rows.mean(axis=0))
    expected = np.linalg.pinv(rows / roots, rcond=1e-9) / roots[:, None]
    assert inverse.full == (rank == shape[0])
    assert inverse.matrix == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())


def test_outputs_that_never_come_score_nothing() -> None:
    rows = np.array([[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]])
    scores = Unbiased(model_of(rows), Question.histogram(model_of(rows).inputs)).scores
    assert scores == pytest.approx(np.array([[1.5, -0.5], [-0.5, 1.5], [0.0, 0.0]]))


def test_nearly_dependent_rows_and_more_outputs_than_inputs() -> None:
    """The Gram matrix squares the condition of 1e7; a triangle does not, and needs no values."""
    generator = np.random.default_rng(5)
    rows = generator.dirichlet(np.ones(24), size=12)
    rows[-1] = (1 - 1e-7) * rows[:-1].mean(axis=0) + 1e-7 * rows[-1]
    inverse = model_of(rows).inverse
    assert inverse.full
    assert rows @ inverse.matrix == pytest.approx(np.eye(12), abs=1e-7)
    roots = np.sqrt(rows.mean(axis=0))
    expected = np.linalg.pinv(rows / roots, rcond=1e-12) / roots[:, None]
    assert inverse.matrix == pytest.approx(expected, rel=1e-4, abs=1e-6 * np.abs(expected).max())
