"""Scores without the priors: unbiased for every value, by all reports of each user, and weighed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

from liftlock import Mechanism, PerUserPriors, design
from liftlock.estimate import PerUserAggregate
from liftlock.estimate.question import ask
from liftlock.estimate.user_scores import UNREAD, class_weights
from liftlock.model.structured import UserChannel
from liftlock.notions import ALIP, LIP
from liftlock.sampling import prior_counts, user_posteriors
from tests.unit.per_user.worlds import LABELS, METHODS, some_masses, some_people, world

NUMBERS = [0, 1, 2, 5, 9]
Floats = npt.NDArray[np.float64]


def all_reports(mechanism: Mechanism, row: Floats) -> tuple[Floats, Floats, Floats]:
    """Scores of one user at every report, P(report | x) by Bayes, and E of squares and reach.

    For the arc on a grid of 2^16 starts, whose means are off by about 2^-16 over the masses.
    """
    channel = mechanism.channel
    assert isinstance(channel, UserChannel)
    outputs: npt.NDArray[Any]
    if channel.form == "arc":
        outputs = np.arange(2**15, 2**32, 2**16, dtype=np.uint64).astype(np.uint32)
        chances = np.full(len(outputs), 2.0**-16)
    else:
        outputs = np.flatnonzero(row)
        chances = row[outputs]
    each = PerUserPriors.of(channel.inputs, np.repeat(row[None], len(outputs), axis=0))
    posteriors = user_posteriors(channel, each, outputs)
    masses = prior_counts(row[None])[0] / 2.0**32
    given = (chances[:, None] * posteriors / np.where(masses > 0, masses, 1.0)).T
    parts, squares = [], []
    for block in channel.blocks(each):
        place = block.places
        found, square, reach = channel.scores(block, outputs[place], posteriors[place], None)
        # The weights of the window are rounded to whole numbers of 2^-30.
        assert (np.abs(found) <= reach[:, None] * (1 + 1e-8)).all()
        parts.append(found)
        squares.append(square)
    return np.concatenate(parts), given, np.concatenate(squares)[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("notion", [LIP("1"), ALIP(lower="2", upper="0.4")], ids=str)
def test_scores_are_right_on_average_whatever_a_user_has(method: Any, notion: Any) -> None:
    mechanism = design(LABELS, notion, method=method)
    rng = np.random.default_rng(2)
    for row in rng.dirichlet(np.full(5, 3.0), 8):
        scores, given, squares = all_reports(mechanism, row)
        assert given @ scores == pytest.approx(np.eye(5), abs=1e-5)
        assert scores.sum(axis=1) == pytest.approx(1.0, abs=1e-8)
        # The summands of the variance are unbiased too: E[h^2 - h | x] = Var(h | x).
        means = given @ scores
        variances = given @ scores**2 - means**2
        assert given @ (scores**2 - scores) == pytest.approx(variances, abs=1e-4)
        assert row @ given @ scores**2 == pytest.approx(squares, rel=1e-4)
        # No other unbiased scores have less variance under the prior (001 eq. (41)).
        table = given / np.sqrt(row @ given)
        least = np.diag(np.linalg.inv(table @ table.T))
        assert squares == pytest.approx(least, rel=1e-4)


def test_values_that_a_prior_calls_impossible_have_no_score() -> None:
    for method in METHODS:
        mechanism = design(LABELS, LIP("1"), method=method)
        scores, given, _ = all_reports(mechanism, np.array([0.5, 0.0, 0.2, 0.3, 0.0]))
        assert not scores[:, [1, 4]].any()
        assert (given @ scores)[[0, 2, 3]] == pytest.approx(np.eye(5)[[0, 2, 3]], abs=1e-5)
        certain, _, _ = all_reports(mechanism, np.eye(5)[2])
        assert certain == pytest.approx(np.repeat(np.eye(5)[2:3], len(certain), axis=0), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("of", ["survey", "sum", "mean"])
def test_sums_of_other_questions(method: Any, of: str) -> None:
    """Weighted sums of f . score against those of the scores themselves, user by user."""
    masses = np.random.default_rng(1).dirichlet(np.full(5, 60.0), 200)
    mechanism = design(NUMBERS, LIP("1"), method=method)
    priors = PerUserPriors.of(NUMBERS, masses)
    reports = np.asarray(mechanism.simulate(some_people(masses), priors, seed=3, coded=True))
    weights = np.random.default_rng(4).normal(1, 1, 200)
    value = [1, 9] if of == "survey" else None
    question = ask(mechanism.channel.inputs, of, value)
    f = question.values[:, 0]
    expected = variance = 0.0
    for user in range(200):
        one = mechanism.aggregate(
            reports[user : user + 1], PerUserPriors.of(NUMBERS, masses[user : user + 1]), coded=True
        )
        assert one.scores is not None
        own = np.array([float(score) for score in one.scores[0].sums])
        expected += weights[user] * (f @ own)
        variance += weights[user] ** 2 * ((f @ own) ** 2 - f**2 @ own)
    found = mechanism.estimate(
        reports, of, priors=priors, value=value, coded=True, weights=weights, offsets=0.5
    )
    scale = weights.sum() if of == "mean" else 1.0
    answer = found.answer
    raw = answer.value if answer.raw is None else answer.raw
    assert raw == pytest.approx((expected + 100) / scale, rel=1e-6)
    assert answer.error == pytest.approx(variance**0.5 / scale, rel=1e-5)
    assert found.total == pytest.approx(weights.sum())
    assert (found.method, found.holds) == ("unbiased", "whatever the truth")


def test_weights_make_the_shortest_interval() -> None:
    """Against a search over all weights of three classes."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        expected = (10.0 ** rng.uniform(0, 6, 3))[:, None]
        unknown = (10.0 ** rng.uniform(2, 5, 3))[:, None]

        def length(w: Any, v: Floats = expected, b: Floats = unknown) -> float:
            weights = np.asarray(w)[:, None]
            return float(2 * 1.96 * np.sqrt((weights**2 * v).sum()) + ((1 - weights) * b).sum())

        found = class_weights(expected, unknown, np.ones((3, 1), dtype=bool))[:, 0]
        least = min(
            minimize(length, start, bounds=[(0.0, 1.0)] * 3, method="L-BFGS-B").fun
            for start in rng.random((5, 3))
        )
        nothing = length(np.zeros(3))
        assert length(found) <= least * (1 + 1e-6) or least >= nothing * (1 - 1e-9)


def test_users_whose_reports_say_nothing_may_have_anything() -> None:
    """Half of the users have a value with 1 in 2^31: they never keep their own."""
    mechanism = design(["no", "yes"], LIP("1"), method="safe-response")
    masses = np.array([[0.5, 0.5], [1 - 2.0**-31, 2.0**-31]] * 500)
    priors = PerUserPriors.of(["no", "yes"], masses)
    people = np.array([1, 0] * 500)
    reports = mechanism.simulate(people, priors, seed=1, coded=True)
    sums = mechanism.aggregate(reports, priors, coded=True)
    assert sums.scores is not None
    assert [(each.reach, each.users) for each in sums.scores][-1] == (UNREAD, 500)
    found = mechanism.estimate(sums)
    low, high = found["yes"].low, found["yes"].high
    assert low is not None
    assert high is not None
    assert low <= 500
    assert high == 1000
    assert found["yes"].value == pytest.approx(1000 * min(found["yes"].value / 1000, 1))
    assert any("50 % of what the users reported is not read" in text for text in found.remarks)


def test_sums_of_an_earlier_version_are_read_with_the_priors_and_say_so(tmp_path: Path) -> None:
    mechanism, priors, reports = world("arc")
    sums = mechanism.aggregate(reports, priors, coded=True)
    data = json.loads(sums.to_json())
    del data["scores"]
    old = PerUserAggregate.from_data(data)
    assert old.scores is None
    found = mechanism.estimate(old)
    assert (found.method, found.holds) == ("bayes", "if the priors of the users are true")
    assert "aggregate them again" in found.why
    assert "if the priors of the users are true" in str(found)
    assert (old + sums).scores is None
    (tmp_path / "new.json").write_text(sums.to_json(), encoding="utf-8")
    assert PerUserAggregate.load(tmp_path / "new.json") == sums


@pytest.mark.parametrize(
    ("key", "value"), [("reach", 12), ("users", 0), ("size", "0"), ("sums", ["1"]), ("users", 7)]
)
def test_impossible_scores_are_refused(key: str, value: Any) -> None:
    from liftlock.errors import FileError

    mechanism, priors, reports = world("safe-response")
    data = json.loads(mechanism.aggregate(reports, priors, coded=True).to_json())
    data["scores"][0][key] = value
    with pytest.raises(FileError):
        PerUserAggregate.from_data(data)


def test_many_symbols_of_the_arc_are_not_scored() -> None:
    labels = list(range(70))
    for method, scored in (("arc", False), ("safe-response", True)):
        mechanism = design(labels, LIP("1"), method=method)
        priors = PerUserPriors.of(labels, np.full((3, 70), 1 / 70))
        reports = mechanism.simulate([0, 1, 2], priors, seed=1)
        sums = mechanism.aggregate(reports, priors)
        assert (sums.scores is not None) is scored
        assert mechanism.estimate(sums).method == ("unbiased" if scored else "bayes")


def test_scores_are_the_same_in_any_company() -> None:
    """The numbers of a user are the same bits alone and in a block of 1,024."""
    masses = some_masses(2000)
    for method in METHODS:
        mechanism = design(LABELS, LIP("1"), method=method)
        priors = PerUserPriors.of(LABELS, masses)
        reports = np.asarray(mechanism.simulate(some_people(masses), priors, seed=3, coded=True))
        whole = mechanism.aggregate(reports, priors, coded=True)
        parts = [
            mechanism.aggregate(
                reports[i : i + 1], PerUserPriors.of(LABELS, masses[i : i + 1]), coded=True
            )
            for i in range(2000)
        ]
        assert sum(parts[1:], parts[0]) == whole
        assert whole.scores is not None
        assert sum(each.weight for each in whole.scores) == Fraction(2000)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("of", ["histogram", "mean"])
def test_the_expected_error_is_that_of_all_reports(method: Any, of: str) -> None:
    """By summing over values and reports of each user, under the user's prior."""
    mechanism = design(NUMBERS, LIP("1"), method=method)
    masses = np.random.default_rng(6).dirichlet(np.full(5, 5.0), 6)
    f = ask(mechanism.channel.inputs, of).values
    expected = np.zeros(f.shape[1])
    for row in masses:
        scores, given, _ = all_reports(mechanism, row)
        expected += row @ (given @ (scores @ f) ** 2 - f**2)
    found = mechanism.expected_error(PerUserPriors.of(NUMBERS, masses), of, method="unbiased")
    assert found.per_person == pytest.approx(tuple(expected / 6), rel=1e-4)
    assert found.method == "unbiased"


def test_without_a_method_users_can_be_read_without_their_priors() -> None:
    """A rare value makes safe-response useless without the priors, however good it is with them."""
    rare = PerUserPriors.of(["no", "yes"], np.random.default_rng(1).dirichlet([1.0, 1.0], 500))
    both = {key: design(["no", "yes"], LIP("1"), method=key) for key in METHODS}
    with_them = {key: made.expected_error(rare).errors[0] for key, made in both.items()}
    assert with_them["safe-response"] < with_them["arc"]
    assert design(rare, LIP("1")) == both["arc"]


@pytest.mark.parametrize("people", [10, 30])
def test_few_users_keep_the_level_for_every_truth(people: int) -> None:
    """By all numbers of reports: those that are rare may be missing, and say nothing then."""
    mechanism = design(["a", "b"], LIP("3"), method="safe-response")
    row = np.array([0.98, 0.02])
    _, given, _ = all_reports(mechanism, row)
    one, other = float(given[1, 1]), float(given[0, 1])
    assert one > 0.3 > other
    priors = PerUserPriors.of(["a", "b"], np.repeat(row[None], people, axis=0))
    found = [
        mechanism.estimate(mechanism.aggregate(["b"] * t + ["a"] * (people - t), priors))["b"]
        for t in range(people + 1)
    ]
    for s in range(people + 1):
        chances = np.convolve(
            np.array(binom.pmf(range(s + 1), s, one)),
            np.array(binom.pmf(range(people - s + 1), people - s, other)),
        )
        held = [x.low is not None and x.high is not None and x.low <= s <= x.high for x in found]
        assert chances @ held >= 0.95


@pytest.mark.parametrize("heavy", [1000.0, -1000.0])
def test_one_user_who_outweighs_all_others_is_held(heavy: float) -> None:
    """Of 100 collections at 95 %, fewer than 88 hold by chance in 1 of 600 runs, at worst."""
    mechanism = design([0, 1], LIP("1"), method="safe-response")
    priors = PerUserPriors.of([0, 1], np.repeat([[0.9, 0.1]], 30, axis=0))
    weights, people = np.r_[heavy, np.ones(29)], [1] + [0] * 29
    held = 0
    for seed in range(100):
        reports = mechanism.simulate(people, priors, seed=seed)
        found = mechanism.estimate(reports, "sum", priors=priors, weights=weights).answer
        assert found.low is not None
        assert found.high is not None
        held += found.low <= heavy <= found.high
    assert held >= 88
