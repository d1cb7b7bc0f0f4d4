"""What every kind of interval owes to every estimator on every model.

A kind of interval is a class in the registry `INTERVALS`; a model says which ones its counts are
enough for. What cannot be had is refused with the reason, and ``auto`` never is: it says why there
is none.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.estimate import ESTIMATORS, Aggregate, GoodnessOfFit, Question
from liftlock.estimate.estimators import Estimator
from liftlock.estimate.intervals import INTERVALS, KINDS, Interval, IntervalEstimate, make_interval
from liftlock.estimate.models import CountedReports, Model, PerUser, PosteriorSums, model_of
from liftlock.exact.budget import Budget
from liftlock.model.structured import HashingChannel
from liftlock.sampling import simulate
from tests.contracts.reporting_worlds import CASES, LEVELS, PRIOR, SQUARE, World, made

SIMULATED = ("credible",)
GIVEN = [kind for kind in KINDS if kind != "none"]
EVERY = [
    pytest.param(*case.values, kind, id=f"{case.id}-{kind}")
    for case in CASES
    for kind in GIVEN
    if kind not in SIMULATED or case.values[2].of == "histogram"  # type: ignore[union-attr]
]
SUMS = PosteriorSums(
    9,
    9.0,
    0.0,
    np.array([4.0, 3.0, 2.0]),
    np.array([1.0, 0.5, 0.25]),
    weighted=False,
    fit=GoodnessOfFit(0.5, 1.0, None, ()),
)


class IntervalContract:
    """Hold the estimate, grow with the level, depend on the seed alone, refuse with reason."""

    rounding = 0.0
    """By how much an end may lie inside that of a lower level."""

    def check(
        self, estimator: Estimator[Model], counted: CountedReports, kind: Any, about: Any
    ) -> list[IntervalEstimate]:
        """Return the intervals of all levels that kept the contract; none if they were refused."""

        def of(level: str) -> IntervalEstimate | LiftlockError:
            return attempt(kind, estimator, counted, level=float(level), about=about, seed=5)

        found = [of(level) for level in LEVELS]
        refusals = [each for each in found if isinstance(each, LiftlockError)]
        if refusals:
            assert len(refusals) == len(found)
            assert kind != "auto", "auto says why there is none"
            for refused in refusals:
                assert isinstance(refused, InputError | NotDefined)
                assert "interval" in str(refused)
                assert refused.remedy
            return []
        spreads = [each for each in found if isinstance(each, IntervalEstimate)]
        assert {spread.kind for spread in spreads} <= set(KINDS) - {"auto"}
        bare = [spread for spread in spreads if spread.low is None]
        assert all(spread.kind == "none" for spread in bare)
        assert all(spread.remarks for spread in bare), "a remark says why there is none"
        if bare:
            # Reports that no shares explain at one level may be explained at a higher one.
            assert kind == "range" or len(bare) == len(spreads)
            assert spreads[: len(bare)] == bare
            return []
        self.check_estimate(estimator, counted, kind, spreads)
        for narrow, wide in itertools.pairwise(spreads):
            assert (ends(wide)[0] <= ends(narrow)[0] + self.rounding).all()
            assert (ends(narrow)[1] <= ends(wide)[1] + self.rounding).all()
        again = of(LEVELS[0])
        assert isinstance(again, IntervalEstimate)
        assert np.array_equal(ends(again), ends(spreads[0]))
        assert again.remarks == spreads[0].remarks
        return spreads

    def check_estimate(
        self,
        estimator: Estimator[Model],
        counted: CountedReports,
        kind: Any,
        spreads: list[IntervalEstimate],
    ) -> None:
        """Hold the estimate as far as it is possible; exact intervals have whole ends."""
        question = estimator.question
        values = estimator.values(estimator.model.statistic(counted))
        inside = np.clip(values, counted.total * question.least, counted.total * question.most)
        for spread in spreads:
            low, high = ends(spread)
            assert (low <= high).all()
            if spread.kind == "range":  # around no estimate, and whatever the prior says
                assert spread.errors is None or np.isnan(spread.errors).all()
                if estimator.key == "bayes":
                    continue
            else:
                assert spread.errors is not None
                assert (spread.errors >= 0).all()
            if kind not in SIMULATED:
                slack = 1.0 if spread.kind == "exact" else self.rounding
                assert (low <= inside + slack).all()
                assert (inside <= high + slack).all()


def attempt(kind: Any, *given: Any, **options: Any) -> IntervalEstimate | LiftlockError:
    """Return the interval, or its refusal."""
    try:
        return make_interval(kind, *given, **options)
    except LiftlockError as refused:
        return refused


def ends(spread: Any) -> Any:
    assert spread.low is not None
    assert spread.high is not None
    return np.array([spread.low, spread.high])


# --- the registry -------------------------------------------------------------------------------


def test_the_registry_names_every_kind() -> None:
    assert {"auto", *INTERVALS, "none"} == set(KINDS)
    assert all(kind.key == key for key, kind in INTERVALS.items())
    assert {type(kind) for kind in INTERVALS.values()} == set(Interval.__subclasses__())


@pytest.mark.parametrize("key", INTERVALS)
def test_every_kind_is_documented(key: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "howto" / "intervals.md"
    assert f"| `{key}` |" in page.read_text(encoding="utf-8")
    assert INTERVALS[key].__doc__


# --- the contract -------------------------------------------------------------------------------


class TestCounts(IntervalContract):
    """Tables, encodings and profiles, of which reports are counted."""

    rounding = 1e-9

    @pytest.mark.parametrize("about", ["people", "population"])
    @pytest.mark.parametrize(("world", "key", "question", "kind"), EVERY)
    def test_contract(
        self, world: World, key: str, question: Question, kind: Any, about: Any
    ) -> None:
        self.check(made(world, key, question), world.counted, kind, about)

    @pytest.mark.parametrize("about", ["people", "population"])
    @pytest.mark.parametrize(("world", "key", "question"), CASES)
    def test_contract_with_weights(
        self, world: World, key: str, question: Question, about: Any
    ) -> None:
        labels = list(world.distribution(world.model.inputs.labels[0]))
        reports = [label for k, label in enumerate(labels) for _ in range(30 + 7 * k)]
        column = np.array(reports, dtype=np.uint8) if isinstance(reports[0], tuple) else reports
        weights = np.resize([1.0, 2.0, 0.5], len(reports))
        counted = Aggregate.of(world.channel, column, weights=weights)
        for kind in ("auto", "normal"):
            self.check(made(world, key, question), counted, kind, about)

    def test_none_asked_for(self) -> None:
        world, key, question = CASES[0].values
        assert isinstance(world, World)
        found = make_interval("none", made(world, str(key), question), world.counted)  # type: ignore[arg-type]
        assert (found.errors, found.low, found.high, found.kind) == (None, None, None, "none")


class TestHashedReports(IntervalContract):
    """Reports of local hashing, which are too many to be listed."""

    @pytest.mark.parametrize("kind", GIVEN)
    def test_contract(self, kind: Any) -> None:
        channel = HashingChannel.optimal([1, 2, 4], Budget.of("1"))
        counted = Aggregate.of(channel, simulate(channel, [1, 2, 2, 4] * 50, seed=1))
        model = model_of(channel, PRIOR)
        for question in (Question.histogram(channel.inputs), Question.survey(channel.inputs, [2])):
            unbiased = ESTIMATORS["unbiased"](model, question)
            assert self.check(unbiased, counted, kind, "people")
        total = ESTIMATORS["unbiased"](model, Question.total(channel.inputs))
        assert not self.check(total, counted, kind, "people"), "symbols are supported together"


class TestSumsOverUsers(IntervalContract):
    """Posteriors that were added up report by report."""

    @pytest.mark.parametrize("kind", GIVEN)
    def test_contract(self, kind: Any) -> None:
        bayes = ESTIMATORS["bayes"](PerUser(SQUARE.inputs), Question.histogram(SQUARE.inputs))
        found = self.check(bayes, SUMS, kind, "people")
        assert bool(found) == (kind in ("auto", "normal"))
        assert not self.check(bayes, SUMS, kind, "population")


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["assisted", "credible", "exact"])
def test_sums_over_users_refuse_what_needs_reports(kind: Any) -> None:
    bayes = ESTIMATORS["bayes"](PerUser(SQUARE.inputs), Question.histogram(SQUARE.inputs))
    with pytest.raises(NotDefined, match=f"an interval of kind {kind}"):
        make_interval(kind, bayes, SUMS)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 2.0])
def test_a_level_is_between_0_and_1(level: float) -> None:
    bayes = ESTIMATORS["bayes"](PerUser(SQUARE.inputs), Question.histogram(SQUARE.inputs))
    with pytest.raises(InputError, match="the level is not between 0 and 1"):
        make_interval("normal", bayes, SUMS, level=level)
