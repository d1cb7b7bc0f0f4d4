"""Priors of users from tables and from models, in order, smoothed, and batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from liftlock import PerUserPriors, Prior, design
from liftlock.errors import CountError, InputError, LabelError
from liftlock.notions import LIP
from tests.unit.per_user.worlds import LABELS, METHODS, some_masses, some_people


class Model:
    """A duck that predicts: the features are the logits of three classes."""

    def __init__(self) -> None:
        self.classes_ = np.array(["x", "y", "z"])
        self.batches: list[int] = []

    def predict_proba(self, features: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        self.batches.append(len(features))
        odds = np.exp(features)
        found: npt.NDArray[np.float32] = (odds / odds.sum(axis=1, keepdims=True)).astype(np.float32)
        return found


def test_a_model_is_asked_in_batches() -> None:
    model = Model()
    features = np.random.default_rng(1).normal(size=(150_000, 3))
    priors = PerUserPriors.from_model(model, features)
    assert priors.labels == ("x", "y", "z")
    sizes = [len(rows) for _, rows in priors.blocks(60_000)]
    assert sizes == model.batches == [60_000, 60_000, 30_000]
    mechanism = design(priors.alphabet, LIP("1"), method="safe-response")
    model.batches.clear()
    people = np.random.default_rng(2).integers(0, 3, 150_000)
    reports = mechanism.simulate(people, priors, seed=1, coded=True)
    assert max(model.batches) <= 1 << 16
    table = PerUserPriors.of("xyz", model.predict_proba(features))
    same = mechanism.simulate(people, table, seed=1, coded=True)
    assert np.array_equal(reports, same)
    both = [mechanism.aggregate(reports, given, coded=True) for given in (priors, table)]
    assert both[0] == both[1]
    assert "by Model" in str(priors)


def test_a_classifier_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(3)
    features = rng.normal(size=(400, 2))
    truth = np.where(features[:, 0] + 0.5 * rng.normal(size=400) > 0, "yes", "no")
    model = LogisticRegression().fit(features[:200], truth[:200])
    priors = PerUserPriors.from_model(model, features[200:])
    mechanism = design(["yes", "no"], LIP("1"), method="safe-response")
    reports = mechanism.simulate(truth[200:], priors, seed=2)
    found = mechanism.estimate(reports, "survey", priors=priors, value="yes")
    assert found.answer.error is not None
    assert abs(found.value - (truth[200:] == "yes").sum()) < 5 * found.answer.error
    direct = PerUserPriors.of(["no", "yes"], model.predict_proba(features[200:]))
    assert mechanism.estimate(reports, "survey", priors=direct, value="yes") == found


def test_a_table_of_pandas_is_cut_by_position() -> None:
    import pandas

    table = pandas.DataFrame({"u": [0.0, 1, 2], "v": [1.0, 1, 1], "w": 0.0}, index=[9, 8, 7])

    class ByName(Model):
        def predict_proba(self, features: Any) -> npt.NDArray[np.float32]:
            return super().predict_proba(features[["u", "v", "w"]].to_numpy())

    rows = PerUserPriors.from_model(ByName(), table).rows(1, 3)
    assert rows == pytest.approx(Model().predict_proba(table.to_numpy()[1:3]))


def test_labels_the_model_has_never_seen() -> None:
    features = np.zeros((2, 3))
    priors = PerUserPriors.from_model(Model(), features, ["z", "new", "y", "x"])
    assert priors.rows(0, 1)[0].tolist() == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])
    mechanism = design(priors.alphabet, LIP("1"), method="arc")
    with pytest.raises(CountError, match="probability 0 in the user's prior at user 2"):
        mechanism.release(["z", "new"], priors)
    smoothed = priors.smoothed("0.01")
    assert smoothed.rows(0, 1)[0, 1] == pytest.approx(0.01 / 1.04)
    mechanism.release(["z", "new"], smoothed)
    with pytest.raises(LabelError, match="outside the labels"):
        PerUserPriors.from_model(Model(), features, ["x", "y"])


@pytest.mark.parametrize("method", METHODS)
def test_order_of_labels(method: Any) -> None:
    """Priors whose labels come in another order mean the same."""
    masses = some_masses(50)
    people = [LABELS[code] for code in some_people(masses)]
    mechanism = design(LABELS, LIP("1"), method=method)
    turned = PerUserPriors.of(LABELS[::-1], masses[:, ::-1])
    straight = PerUserPriors.of(LABELS, masses)
    reports = mechanism.simulate(people, straight, seed=1)
    again = mechanism.simulate(people, turned, seed=1)
    assert np.array_equal(reports, again)
    assert mechanism.estimate(reports, priors=turned) == mechanism.estimate(
        reports, priors=straight
    )
    with pytest.raises(LabelError):
        mechanism.release(people, PerUserPriors.of("vwxyz", masses))


def test_counts_and_smoothing() -> None:
    counts = PerUserPriors.of("ab", np.array([[3, 1], [0, 4]], dtype=np.int32))
    assert counts.smoothed(1).rows(0, 2).tolist() == [[4 / 6, 2 / 6], [1 / 6, 5 / 6]]
    mechanism = design("ab", LIP("1"), method="arc")
    halves = PerUserPriors.of("ab", np.array([[0.75, 0.25], [0, 1]]))
    first = mechanism.simulate(["b", "b"], counts, seed=1)
    assert np.array_equal(first, mechanism.simulate(["b", "b"], halves, seed=1))
    common = PerUserPriors.common(Prior.from_counts({"a": 1, "b": 3}), 3)
    assert common.rows(1, 3).tolist() == [[0.25, 0.75]] * 2
    assert len(common) == 3
    assert str(common) == "priors of 3 users on 2 symbols"
    assert repr(common) == "<PerUserPriors: priors of 3 users on 2 symbols>"


def test_refusals() -> None:
    with pytest.raises(CountError, match="3 columns for 2 labels"):
        PerUserPriors.of("ab", np.full((1, 3), 1 / 3))
    with pytest.raises(InputError, match="does not predict"):
        PerUserPriors.from_model(object(), np.zeros((1, 3)))
    with pytest.raises(CountError, match="negative smoothing"):
        PerUserPriors.of("ab", np.full((1, 2), 0.5)).smoothed(-1)
    for bad in ([[0.5, 0.4]], [[1.5, -0.5]], [[np.nan, 1]]):
        with pytest.raises(CountError, match="not a distribution at user 1"):
            PerUserPriors.of("ab", np.array(bad)).smoothed("0.1").rows(0, 1)
    with pytest.raises(InputError, match="a block must have users"):
        list(PerUserPriors.of("ab", np.full((1, 2), 0.5)).blocks(0))

    class Odd(Model):
        def predict_proba(self, features: Any) -> npt.NDArray[Any]:
            return np.full((len(features), 2), 0.5)

    with pytest.raises(InputError, match="one probability for each class"):
        PerUserPriors.from_model(Odd(), np.zeros((1, 3))).rows(0, 1)


def test_parts() -> None:
    """What is known of some users is what is known of them among all."""
    masses = some_masses(20)
    table = PerUserPriors.of(LABELS, masses).with_budgets(["1", "2"] * 10)
    sets = PerUserPriors.families(LABELS, masses[:, None, :])
    model = PerUserPriors.from_model(Model(), np.zeros((20, 3)))
    boxes = PerUserPriors.intervals(LABELS, masses / 2, np.minimum(masses + 0.5, 1))
    for priors in (table, sets, model, boxes, PerUserPriors.of(LABELS, masses).within("0.1")):
        part = priors.part(5, 9)
        assert len(part) == 4
        assert np.array_equal(part.rows(0, 4), priors.rows(5, 9))
        assert part.are_sets == priors.are_sets
    made = design(LABELS, LIP("2"), method="safe-response", budgets=["1", "2"])
    reports = np.asarray(made.simulate(some_people(masses), table, seed=1, coded=True))
    whole = made.aggregate(reports, table, coded=True)
    parts = [
        made.aggregate(reports[a:b], table.part(a, b), coded=True) for a, b in ((0, 7), (7, 20))
    ]
    assert parts[0] + parts[1] == whole
