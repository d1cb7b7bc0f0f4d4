"""An estimator of a user's own: a class that is handed over, and whose scores nobody trusts."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pytest

from liftlock import LDP, Channel, Mechanism, Prior, design
from liftlock.errors import InputError, NotDefined
from liftlock.estimate import estimate
from liftlock.estimate.estimators import Estimator, Linear, Unbiased
from liftlock.exact.integers import Floats

COIN = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
REPORTS = [1] * 400 + [0] * 600


class Naive(Estimator[Any]):
    """Takes every report for the truth."""

    key: ClassVar[str] = "naive"
    needs: ClassVar[str] = "unbiased"

    def values(self, statistic: Floats) -> Floats:
        """Count the reports."""
        found: Floats = np.asarray(statistic) @ self.question.values
        return found


class NaiveScores(Linear[Any]):
    """The same as scores, with an error of nothing at all."""

    key: ClassVar[str] = "naive-scores"
    needs: ClassVar[str] = "unbiased"

    @cached_property
    def scores(self) -> Floats:
        """The values of the reports."""
        return self.question.values

    def error(self, tally: Any, about: Any) -> Any:
        """Claim too much."""
        raise AssertionError("nobody should believe it")


class Tilted(Unbiased[Any]):
    """Scores of its own under the name of a class that is trusted."""

    key: ClassVar[str] = "tilted"
    needs: ClassVar[str] = "unbiased"

    @cached_property
    def scores(self) -> Floats:
        """Far off."""
        return self.question.values + 1.0


@pytest.mark.parametrize("cls", [Naive, NaiveScores, Tilted])
@pytest.mark.parametrize("interval", ["auto", "normal", "exact"])
def test_its_interval_is_that_of_the_unbiased_estimate(cls: Any, interval: str) -> None:
    found = estimate(COIN, REPORTS, "survey", value=1, method=cls, interval=interval)
    usual = estimate(COIN, REPORTS, "survey", value=1, method="unbiased", interval=interval)
    assert found.method == cls.key
    assert found.answer.raw == (1400.0 if cls is Tilted else 400.0)
    assert found.value == (1000.0 if cls is Tilted else 400.0), "no more than there are people"
    mine, theirs = found.answers[0], usual.answers[0]
    assert None not in (mine.low, mine.high, theirs.low, theirs.high)
    # It holds the same truth, and reaches the estimate.
    assert mine.low == theirs.low
    assert mine.high == max(theirs.high or 0, found.value)


def test_a_mechanism_takes_it_too() -> None:
    made: Mechanism = design(Prior.uniform([0, 1]), LDP("1"), method="k-rr")
    assert made.estimate([0, 1, 1], method=Naive, interval="none").method == "naive"


def test_what_a_model_cannot_give_is_refused() -> None:
    class Needs(Naive):
        key: ClassVar[str] = "needs"
        needs: ClassVar[str] = ""

    with pytest.raises(NotDefined, match="the needs estimate is not defined for"):
        estimate(COIN, REPORTS, method=Needs)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Naive.values, r"not an estimator: .*name one \(auto, bayes, unbiased"),
        (3, "not an estimator: 'int'"),
        (Estimator, "not an estimator"),
        (type("Fake", (Naive,), {"key": "bayes"}), "registered already: 'bayes'; give your class"),
        (type("Fake", (Naive,), {"key": "auto"}), "registered already: 'auto'"),
    ],
)
def test_what_is_no_estimator_is_told(method: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        estimate(COIN, REPORTS, method=method)
