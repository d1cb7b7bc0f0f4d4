"""What every estimator owes on every model that it supports.

An estimator is a class in the registry `ESTIMATORS`; a model says which ones its statistic is
enough for. Expectations are exact sums over all reports of a few people, in fractions.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liftlock import Channel
from liftlock.errors import NotDefined
from liftlock.estimate import ESTIMATORS, Aggregate, GoodnessOfFit, Question, estimate
from liftlock.estimate.api import EstimateOptions, answer, methods
from liftlock.estimate.estimators import Linear
from liftlock.estimate.models import Dense, Encoding, PerUser, PosteriorSums, model_of
from liftlock.estimate.question import ask
from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel, SupportChannel
from liftlock.sampling import simulate
from tests.contracts.reporting_worlds import (
    CASES,
    PRIOR,
    QUESTIONS,
    SQUARE,
    UNARY,
    WORLDS,
    World,
    made,
)

LINEAR = [case for case in CASES if issubclass(ESTIMATORS[case.values[1]], Linear)]  # type: ignore[index]


def truth_of(world: World, question: Question, people: tuple[Any, ...]) -> Any:
    return question.values[[world.model.inputs.index(person) for person in people]].sum(axis=0)


# --- the registry -------------------------------------------------------------------------------


def test_the_registry_names_every_estimator() -> None:
    assert {key: cls.key for key, cls in ESTIMATORS.items()} == {key: key for key in ESTIMATORS}
    assert ("auto", *ESTIMATORS) == methods()
    known = set().union(*(world.model.estimators for world in WORLDS))
    assert known == {key for key, each in ESTIMATORS.items() if not each.needs}
    assert {each.needs for each in ESTIMATORS.values()} <= {"", *known}


OWN = [key for key, each in ESTIMATORS.items() if each.__module__.startswith("liftlock.")]
"""All but those of plug-ins, whose pages are elsewhere."""


@pytest.mark.parametrize("key", OWN)
def test_every_estimator_is_documented(key: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "howto" / "estimate.md"
    assert f"| `{key}` |" in page.read_text(encoding="utf-8")
    assert ESTIMATORS[key].__doc__


# --- what the numbers are -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("world", "key", "question"), [case for case in CASES if case.values[1] == "unbiased"]
)
def test_unbiased_is_right_on_average(world: World, key: str, question: Question) -> None:
    unbiased = made(world, key, question)
    labels = world.model.inputs.labels
    for people in ((labels[0],), (labels[0], labels[2]), (labels[1], labels[1])):
        mean = sum(
            float(chance) * unbiased.values(world.model.statistic(counted))
            for counted, chance in world.vectors(people)
        )
        assert mean == pytest.approx(truth_of(world, question, people), abs=1e-9)


@pytest.mark.parametrize(
    ("world", "key", "question"), [case for case in CASES if case.values[1] == "bayes"]
)
def test_bayes_keeps_the_prior_on_average(world: World, key: str, question: Question) -> None:
    """E[E[f(X) | Y]] = E[f(X)], and no other score of a report has a smaller squared error."""
    assert world.model.masses is not None
    bayes = made(world, key, question)
    mean: Any = 0
    for mass, person in zip(world.model.masses, world.model.inputs.labels, strict=True):
        for counted, chance in world.vectors((person,)):
            mean = mean + mass * float(chance) * bayes.values(world.model.statistic(counted))
    assert mean == pytest.approx(world.model.masses @ question.values, abs=1e-12)


@pytest.mark.parametrize(
    ("world", "key", "question"), [case for case in CASES if case.values[1] != "bayes"]
)
def test_reports_without_noise_give_the_truth(world: World, key: str, question: Question) -> None:
    """From the expected statistic of any mixture of people, what they have on average."""
    people = world.model.inputs.labels
    expected = np.zeros_like(world.model.statistic(world.counted))
    shares = np.array([0.5, 0.3, 0.2])
    for share, person in zip(shares, people, strict=True):
        for counted, chance in world.vectors((person,)):
            expected = expected + share * float(chance) * world.model.statistic(counted)
    found = made(world, key, question).values(1000 * expected)
    assert found == pytest.approx(1000 * shares @ question.values, rel=1e-4, abs=1e-2)


@pytest.mark.parametrize(("world", "key", "question"), LINEAR)
def test_scores_are_added_up(world: World, key: str, question: Question) -> None:
    linear = made(world, key, question)
    assert isinstance(linear, Linear)
    one = world.model.statistic(world.counted)
    other = world.model.statistic(next(world.vectors(world.model.inputs.labels[:2]))[0])
    assert linear.scores.shape == (len(one), len(question.names))
    both = linear.values(2 * one + 3 * other)
    assert both == pytest.approx(2 * linear.values(one) + 3 * linear.values(other), rel=1e-12)


@pytest.mark.parametrize(("world", "key", "question"), CASES)
def test_many_at_once_and_in_any_unit(world: World, key: str, question: Question) -> None:
    estimator = made(world, key, question)
    statistic = world.model.statistic(world.counted)
    one = estimator.values(statistic)
    assert one.shape == (len(question.names),)
    many = estimator.values(np.stack([statistic, 3 * statistic]))
    # Many maxima of likelihood at once are sought to a wider gap than one.
    slack = 1.0 if key == "likelihood" else 1e-9
    assert many == pytest.approx(np.stack([one, 3 * one]), rel=1e-9, abs=slack)


@pytest.mark.parametrize(("world", "key", "question"), CASES)
def test_a_histogram_adds_up(world: World, key: str, question: Question) -> None:
    whole = question.is_histogram or (question.behind is not None and question.behind.is_histogram)
    values = made(world, key, question).values(world.model.statistic(world.counted))
    # The support of an encoding is counted symbol by symbol: only its consistent counts add up.
    free = isinstance(world.channel, SupportChannel) and key == "unbiased"
    if whole and not free:
        assert values.sum() == pytest.approx(world.counted.reports, rel=1e-9)
    if key in ("likelihood", "consistent"):
        assert (values >= world.counted.reports * question.least - 1e-6).all()
        assert (values <= world.counted.reports * question.most + 1e-6).all()


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
@pytest.mark.parametrize("key", ESTIMATORS)
def test_what_a_model_does_not_support_is_refused_by_name(world: World, key: str) -> None:
    if ESTIMATORS[key].suits(world.model):
        return
    with pytest.raises(NotDefined, match=f"the {key} estimate is not defined for") as refused:
        made(world, key, world.questions[0])
    assert refused.value.remedy


@pytest.mark.parametrize("key", ["unbiased", "consistent"])
def test_inputs_that_report_alike_are_named(key: str) -> None:
    alike = {"l": "3/4", "r": "1/4"}
    twins = Channel.from_rows({"a": alike, "b": alike, "c": {"l": "1/4", "r": "3/4"}})
    with pytest.raises(NotDefined, match="values 'a' and 'b', which give the same reports"):
        ESTIMATORS[key](Dense.of(twins), Question.histogram(twins.inputs))


def test_no_prior_no_posterior() -> None:
    with pytest.raises(NotDefined, match="reports without a prior"):
        ESTIMATORS["bayes"](Dense.of(SQUARE), Question.histogram(SQUARE.inputs))


@pytest.mark.parametrize("key", ["likelihood", "consistent"])
@pytest.mark.parametrize("channel", [SQUARE, UNARY], ids=["table", "encoding"])
def test_weights_of_both_signs_are_refused_where_counts_cannot_be_negative(
    key: str, channel: Any
) -> None:
    reports = np.zeros((2, 1), dtype=np.uint8) if channel is UNARY else ["a", "b"]
    signed = Aggregate.of(channel, reports, weights=[1.0, -1.0])
    with pytest.raises(NotDefined, match=f"the {key} estimate is not defined for negative weights"):
        estimate(channel, signed, method=key)


# --- aggregates ------------------------------------------------------------------------------


@pytest.mark.parametrize(("world", "key", "question"), CASES)
def test_parts_give_the_same_as_the_whole(world: World, key: str, question: Question) -> None:
    labels = list(world.distribution(world.model.inputs.labels[0]))
    reports = [label for k, label in enumerate(labels) for _ in range(20 + 3 * k)]
    cut = len(reports) // 3
    parts = world.count(reports[cut:]) + world.count(reports[:cut])
    options = EstimateOptions.of(key)
    whole = answer(world.model, world.count(reports), question, options)
    assert answer(world.model, parts, question, options).to_data() == whole.to_data()


# --- local hashing, whose reports are too many to be listed --------------------------------------


def test_hashed_reports() -> None:
    """Each symbol is supported by its own people with chance p, by others with chance q."""
    channel = HashingChannel.optimal([1, 2, 4], Budget.of("1"))
    model = model_of(channel, PRIOR)
    p, q = float(channel.hit), float(channel.miss)
    people = np.array([700.0, 200.0, 100.0])
    support = q * 1000 + (p - q) * people
    assert isinstance(model, Encoding)
    statistic = np.append(model.counts(support, 1000.0), 1000.0)
    for key, (of, value) in itertools.product(("unbiased", "consistent"), QUESTIONS):
        question = ask(channel.inputs, of, value)
        found = ESTIMATORS[key](model, question).values(statistic)
        assert found == pytest.approx(people @ question.values)
    packed = simulate(channel, [1, 2, 2, 4] * 50, seed=1)
    whole, first, rest = (
        Aggregate.of(channel, packed[part]) for part in (slice(None), slice(70), slice(70, None))
    )
    assert first + rest == whole


# --- sums over users ----------------------------------------------------------------------------


def test_sums_of_posteriors_are_the_answers() -> None:
    question = Question.histogram(SQUARE.inputs)
    model = PerUser(SQUARE.inputs)
    means, variances = np.array([4.0, 3.0, 2.0]), np.array([1.0, 0.5, 0.25])
    fit = GoodnessOfFit(0.5, 1.0, None, ())
    sums = PosteriorSums(9, 9.0, 0.0, means, variances, weighted=False, fit=fit)
    bayes = ESTIMATORS["bayes"](model, question)
    assert bayes.values(model.statistic(sums)).tolist() == [4.0, 3.0, 2.0]
    for key in ESTIMATORS:
        if not ESTIMATORS[key].suits(model):
            with pytest.raises(NotDefined, match=f"the {key} estimate"):
                ESTIMATORS[key](model, question)
