"""One call: what is chosen, what is warned of, weights and offsets, and every refusal."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from liftlock import Channel, Prior
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.estimate import ESTIMATORS, Aggregate, estimate
from tests.unit.estimate.worlds import ILL, ILL_PRIOR, NARROW, TWINS, WIDE, WIDE_PRIOR, counted

USUAL = np.rint(1000 * np.array([0.7, 0.2, 0.1]) @ ILL.floats())
UNUSUAL = np.rint(5000 * np.array([0.60, 0.21, 0.19]) @ ILL.floats())


def test_what_a_prior_makes_of_the_reports_stands_beside() -> None:
    found = estimate(ILL, counted(ILL, USUAL), prior=ILL_PRIOR)
    assert (found.method, found.holds) == ("unbiased", "whatever the truth")
    assert found.warnings == ()
    assert found.fit is not None
    assert found.total == found.reports == 1000
    posteriors = [ILL.posterior(ILL_PRIOR, y).floats() for y in ILL.outputs.labels]
    assert found.beside is not None
    assert (found.beside.method, found.beside.holds) == ("bayes", "if the prior is true")
    values = [answer.value for answer in found.beside.answers]
    assert values == pytest.approx(USUAL @ np.array(posteriors))
    assert "; if the prior is true: " in str(found)
    assert "proves nothing" in found.prior_test
    # A population is what the prior describes: of it, reports and prior say nothing new.
    assert estimate(ILL, counted(ILL, USUAL), prior=ILL_PRIOR, about="population").beside is None


@pytest.mark.parametrize("counts", [USUAL, UNUSUAL, np.array([0.0, 0.0, 90.0])])
def test_no_prior_changes_the_answer(counts: Any) -> None:
    """Value and interval are the same with any prior, or none, of a table that can be inverted."""
    free = estimate(ILL, counted(ILL, counts), "survey", value="flu")
    for shares in ({"none": 7, "cold": 2, "flu": 1}, {"none": 1, "cold": 1, "flu": 50}):
        known = estimate(
            ILL, counted(ILL, counts), "survey", value="flu", prior=Prior.from_counts(shares)
        )
        for one, other in zip(known.answers, free.answers, strict=True):
            assert one.value == pytest.approx(other.value)
            assert (one.low, one.high) == (other.low, other.high)


def test_a_prior_that_does_not_fit() -> None:
    """Left to choose: unbiased, with a warning. Asked for Bayes: that, with another warning."""
    found = estimate(ILL, counted(ILL, UNUSUAL), prior=ILL_PRIOR)
    assert found.method == "unbiased"
    assert found["flu"].value == pytest.approx(0.19 * 5000, abs=10)
    assert "they show more 'flu' (19 % instead of 10 %)" in found.warnings[0]
    assert "this estimate does not depend on it" in found.warnings[0]
    asked = estimate(ILL, counted(ILL, UNUSUAL), prior=ILL_PRIOR, method="bayes")
    assert asked.why == "as asked"
    assert "the Bayes estimate leans on that prior, unbiased does not" in asked.warnings[0]
    assert asked["flu"].value < 700


@pytest.mark.parametrize("method", ESTIMATORS)
@pytest.mark.parametrize(("of", "value"), [("histogram", None), ("sum", None), ("survey", [2, 4])])
def test_every_method_answers_every_question(method: str, of: str, value: Any) -> None:
    """Reports in the proportions that the prior says: all methods agree, and all intervals hold."""
    counts = np.rint(10_000 * WIDE_PRIOR.floats() @ WIDE.floats())
    truth = {"histogram": [5000, 3000, 2000], "sum": [19_000], "survey": [5000]}[of]
    found = estimate(WIDE, counted(WIDE, counts), of, value=value, prior=WIDE_PRIOR, method=method)
    assert found.method == method
    assert [answer.value for answer in found.answers] == pytest.approx(truth, rel=1e-3)
    for answer, number in zip(found.answers, truth, strict=True):
        assert answer.low is not None
        assert answer.high is not None
        assert answer.low <= number <= answer.high
    text = json.dumps(found.to_data(), allow_nan=False)
    assert json.loads(text)["method"] == method


def test_weights_offsets_and_means() -> None:
    """sum_i a_i x_i + b_i, by hand from the inverse; the mean divides by the weights."""
    labels = ["a", "b", "c", "d", "a", "c"]
    weights = np.array([1.0, 2.0, -0.5, 3.0, 1.0, 4.0])
    offsets = np.array([10.0, 0.0, -1.0, 0.5, 0.0, 0.0])
    inverse = np.linalg.pinv(WIDE.floats() / np.sqrt(WIDE.floats().mean(axis=0)))
    scores = (inverse / np.sqrt(WIDE.floats().mean(axis=0))[:, None]) @ np.array([1.0, 2.0, 4.0])
    by_hand = float(sum(w * scores["abcd".index(y)] for w, y in zip(weights, labels, strict=True)))
    plain = Aggregate.of(WIDE, labels, weights=weights)
    shifted = Aggregate.of(WIDE, labels, weights=weights, offsets=offsets)
    total = estimate(WIDE, plain, "sum")
    moved = estimate(WIDE, shifted, "sum")
    assert total.value == pytest.approx(by_hand)
    assert moved.value == pytest.approx(by_hand + offsets.sum())
    assert moved.answer.error == pytest.approx(total.answer.error)
    mean = estimate(WIDE, plain, "mean")
    assert mean.value == pytest.approx(by_hand / weights.sum())
    assert mean.answer.error == pytest.approx((total.answer.error or 0) / weights.sum())
    for part in ("low", "high"):
        end = getattr(total.answer, part)
        assert getattr(moved.answer, part) == pytest.approx(end + offsets.sum())
        assert getattr(mean.answer, part) == pytest.approx(end / weights.sum())
    minus = estimate(WIDE, Aggregate.of(WIDE, labels, weights=-weights), "mean")
    assert minus.value == pytest.approx(mean.value)
    assert minus.answer.low == pytest.approx(mean.answer.low)
    assert minus.answer.high == pytest.approx(mean.answer.high)


def test_reports_themselves() -> None:
    labels = ["none"] * 60 + ["flu"] * 25 + ["cold"] * 15
    whole = estimate(ILL, labels, prior=ILL_PRIOR)
    assert whole == estimate(ILL, Aggregate.of(ILL, labels), prior=ILL_PRIOR)


def test_what_reports_do_not_determine() -> None:
    aggregate = counted(TWINS, [60, 40])
    with pytest.raises(NotDefined, match="which give the same reports"):
        estimate(TWINS, aggregate, method="unbiased")
    any_prior = estimate(TWINS, aggregate)
    assert (any_prior.method, any_prior.interval) == ("range", "range")
    for each in any_prior.answers:
        assert each.low is not None
        assert each.high is not None
        assert each.value == pytest.approx((each.low + each.high) / 2)
    assert "which give the same reports" in any_prior.why
    prior = Prior.from_counts({"a": 1, "b": 2, "c": 3})
    found = estimate(TWINS, aggregate, prior=prior)
    assert (found.method, found.holds) == ("range", "whatever the truth")
    assert found.answers == any_prior.answers
    assert found.beside is not None
    assert (found.beside.method, found.beside.holds) == ("bayes", "if the prior is true")
    weighted = Aggregate.of(TWINS, ["l"] * 60 + ["r"] * 40, weights=2.0)
    leaning = estimate(TWINS, weighted, prior=prior)
    assert (leaning.method, leaning.holds) == ("bayes", "if the prior is true")
    likely = estimate(TWINS, aggregate, method="likelihood")
    assert any("other answers are as likely" in remark for remark in likely.remarks)
    assert likely["a"].value + likely["b"].value == pytest.approx(70, abs=0.01)


def test_the_proof_of_a_maximum_is_told() -> None:
    found = estimate(ILL, counted(ILL, [97, 2, 1]), method="likelihood")
    assert found.remarks[0].startswith("the log-likelihood is within ")
    assert found["flu"].value == 0


def test_reports_of_another_mechanism_with_the_same_labels() -> None:
    found = estimate(WIDE, counted(WIDE, [200, 500, 100, 200]))
    assert found.warnings[0].startswith("no prior explains these reports (p = ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": "median"}, "unknown question"),
        ({"of": "survey"}, "no value to count"),
        ({"of": "sum"}, "needs numbers"),
        ({"method": "best"}, "unknown method: 'best'; use auto, bayes"),
        ({"interval": "wide"}, "unknown kind of interval: 'wide'"),
        ({"about": "everybody"}, "unknown group the answer is about"),
        ({"level": 1}, "the level is not between 0 and 1"),
        ({"level": "0"}, "the level is not between 0 and 1"),
        ({"level": 95}, "the level is not between 0 and 1"),
        ({"level": "high"}, "level"),
        ({"level": float("nan")}, "the level is not between 0 and 1"),
        ({"seed": -1}, "seed"),
        ({"method": "bayes"}, "without a prior; give the prior"),
        ({"prior": Prior.uniform("ab")}, "the prior"),
    ],
)
def test_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LiftlockError, match=message) as refused:
        estimate(ILL, counted(ILL, [5, 3, 2]), **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("level", ["0.95", "95 %", 0.95, "19/20"])
def test_levels(level: object) -> None:
    assert estimate(ILL, counted(ILL, [5, 3, 2]), level=level).level == 0.95


def test_weights_without_a_meaning_are_refused() -> None:
    def of(**options: Any) -> Aggregate:
        return Aggregate.of(WIDE, ["a", "b"], **options)

    with pytest.raises(InputError, match="weights add up to 0"):
        estimate(WIDE, of(weights=[1.0, -1.0]), "mean")
    with pytest.raises(InputError, match="offsets, but the question is mean"):
        estimate(WIDE, of(offsets=[1.0, 2.0]), "mean")
    with pytest.raises(InputError, match="offsets belong to the people who reported"):
        estimate(WIDE, of(offsets=[1.0, 2.0]), "sum", about="population")
    for method in ("likelihood", "consistent"):
        with pytest.raises(NotDefined, match="negative weights; ask for unbiased"):
            estimate(WIDE, of(weights=[2.0, -1.0]), "sum", method=method)
    # Both signs in one output cancel in its sum, and are still seen.
    twice = Aggregate.of(WIDE, ["a", "a"], weights=[2.0, -1.0])
    with pytest.raises(NotDefined, match="negative weights"):
        estimate(WIDE, twice, "sum", method="likelihood")


def test_other_kinds_of_things() -> None:
    with pytest.raises(InputError, match="not a column of reports: 'int'"):
        estimate(ILL, 7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="one text instead of a column"):
        estimate(ILL, "flu")
    with pytest.raises(InputError, match="not a prior on the values: 'dict'; give a Prior"):
        estimate(ILL, ["flu"], prior={"flu": 1})  # type: ignore[arg-type]


def test_other_mechanisms_and_empty_aggregates() -> None:
    with pytest.raises(InputError, match="come from another mechanism"):
        estimate(ILL, counted(NARROW, [1, 1]))
    with pytest.raises(InputError, match="no reports"):
        estimate(ILL, Aggregate.empty(ILL))


def test_a_report_that_the_prior_calls_impossible() -> None:
    channel = Channel.from_rows({0: {"l": 1, "r": 0}, 1: {"l": "1/2", "r": "1/2"}})
    found = estimate(channel, counted(channel, [9, 1]), prior=Prior.from_counts({0: 1, 1: 0}))
    assert found.method == "unbiased"
    assert "(p = 0): the prior says that 'r' is never reported, and it was; " in found.warnings[0]


def test_in_words() -> None:
    text = str(estimate(ILL, counted(ILL, [1, 0, 0]), "survey", value="flu", interval="none"))
    assert text.splitlines() == [
        "survey of 1 report, by unbiased, no intervals: it needs no prior",
        "  flu: 0",
    ]


@pytest.mark.parametrize("counts", [[97, 2, 1], [0, 100, 0], [5, 5, 90], [33, 33, 34]])
@pytest.mark.parametrize("method", ESTIMATORS)
@pytest.mark.parametrize("interval", ["auto", "normal", "none"])
def test_no_value_is_outside_of_its_interval_or_of_what_is_possible(
    counts: list[int], method: str, interval: str
) -> None:
    found = estimate(ILL, counted(ILL, counts), prior=ILL_PRIOR, method=method, interval=interval)
    for reading in (found.answers, () if found.beside is None else found.beside.answers):
        for each in reading:
            assert 0 <= each.value <= 100
            if each.low is not None and each.high is not None:
                assert 0 <= each.low <= each.value <= each.high <= 100
    if method == "unbiased":
        raw = np.array(counts) @ np.linalg.inv(ILL.floats())
        assert [each.raw for each in found.answers] == pytest.approx(raw)


@pytest.mark.parametrize("number", [10, 252_504])
def test_what_is_released_unchanged_is_said_without_doubt(number: int) -> None:
    """One value has an output of its own, which nobody else gives."""
    channel = Channel.from_rows(
        {
            "craft": {"craft": 1, "a": 0, "b": 0},
            "a": {"craft": 0, "a": "3/4", "b": "1/4"},
            "b": {"craft": 0, "a": "1/4", "b": "3/4"},
        }
    )
    found = estimate(channel, counted(channel, [number, 300, 200]))
    craft = found["craft"]
    assert (craft.low, craft.value, craft.high, craft.error) == (number, number, number, 0)
    assert found.remarks == ()


def test_words_for_several_intervals() -> None:
    each = estimate(ILL, counted(ILL, USUAL))
    assert each.promise == (
        "each interval holds by itself at 95 % whatever the truth; all 3 together at 85 % or more"
    )
    together = estimate(ILL, counted(ILL, USUAL), together=True)
    assert together.promise == "all 3 intervals hold together at 95 % whatever the truth"
    third = estimate(ILL, counted(ILL, USUAL), level=1 - 0.05 / 3)
    for one, other in zip(together.answers, third.answers, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
    coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    both = estimate(coin, counted(coin, [60, 40]), together=True)
    # The counts of two values are one statement.
    assert both.answers == estimate(coin, counted(coin, [60, 40])).answers


@pytest.mark.parametrize("kind", ["exact", "normal"])
@pytest.mark.parametrize(("no", "yes"), [("0.3", "0.8"), ("0.1", "0.4")])
def test_intervals_of_two_values_hold_together(kind: str, no: str, yes: str) -> None:
    """By the law of the number of reports "yes", for every truth of 60 people."""
    people, rates = 60, (float(no), float(yes))
    channel = Channel.from_rows(
        {x: {"no": str(1 - Fraction(p)), "yes": p} for x, p in (("no", no), ("yes", yes))}
    )
    drawn = [
        estimate(channel, counted(channel, [people - t, t]), interval=kind, together=True)
        for t in range(people + 1)
    ]
    intervals = [
        {str(each.name): (each.low or 0.0, each.high or 0.0) for each in found.answers}
        for found in drawn
    ]
    for truth in range(people + 1):
        law = np.convolve(
            np.asarray(binom.pmf(range(truth + 1), truth, rates[1])),
            np.asarray(binom.pmf(range(people - truth + 1), people - truth, rates[0])),
        )
        counts = {"no": people - truth, "yes": truth}
        hold = [all(ends[x][0] <= counts[x] <= ends[x][1] for x in counts) for ends in intervals]
        assert law[hold].sum() >= 0.95 - 1e-9


def test_one_person_and_a_certain_channel() -> None:
    identity = Channel.identity(["a", "b"])
    found = estimate(identity, Aggregate.of(identity, ["a"]))
    assert [answer.value for answer in found.answers] == [1, 0]
    assert [answer.error for answer in found.answers] == [0, 0]


def test_beside_bayes_stands_what_the_reports_say_alone() -> None:
    prior = Prior.from_counts({"a": 1, "b": 2, "c": 7})
    rows = {
        "a": {0: "0.6", 1: "0.2", 2: "0.2"},
        "b": {0: "0.2", 1: "0.6", 2: "0.2"},
        "c": {0: "0.2", 1: "0.2", 2: "0.6"},
    }
    channel = Channel.from_rows(rows)
    counted = Aggregate.of(channel, [0] * 30 + [1] * 40 + [2] * 90)
    leaning = estimate(channel, counted, prior=prior, method="bayes")
    free = estimate(channel, counted, prior=prior, method="unbiased")
    assert leaning.beside is not None
    assert leaning.beside.answers == free.answers
    assert leaning.holds == "if the prior is true"
    assert free.beside is not None
    assert free.beside.answers == leaning.answers
    assert "; whatever the truth: " in str(leaning)
    assert len(leaning.to_data()["beside"]["answers"]) == 3
    # Two symbols that give the same reports: alone, the reports say nothing of either.
    twins = Channel.from_rows(rows | {"b": rows["a"]})
    counted = Aggregate.of(twins, [0] * 30 + [1] * 40 + [2] * 90)
    assert estimate(twins, counted, prior=prior, method="bayes").beside is None
