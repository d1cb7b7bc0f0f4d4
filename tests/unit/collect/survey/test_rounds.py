"""The next round: a set that holds the truth, never a point, and LDP whatever is true."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock.collect.survey import Survey
from liftlock.collect.survey.budget import person_budget
from liftlock.collect.survey.rounds import (
    SOUND,
    NextRound,
    leakage_range,
    next_name,
    next_round,
    plan_next_round,
)
from liftlock.errors import InputError
from liftlock.model import Intervals, Prior
from tests.unit.collect.survey import enumeration

FLU: dict[str, Any] = {
    "name": "flu",
    "ask": "How are you today?",
    "values": ["none", "cold", "flu"],
    "guarantee": "lip=1",
}
SMOKES: dict[str, Any] = {
    "name": "smokes",
    "ask": "Do you smoke?",
    "values": ["no", "yes"],
    "guarantee": "ldp=1",
}
TRUTH = {"none": Fraction(7, 10), "cold": Fraction(2, 10), "flu": Fraction(1, 10)}


def survey_of(*questions: dict[str, Any], **more: Any) -> Survey:
    """Return a survey named health."""
    return Survey.from_data({"survey": "health", "questions": list(questions), **more})


@pytest.fixture(scope="module")
def first() -> Survey:
    """A first round in which nothing is known."""
    return survey_of(FLU, opens="2026-11-01", closes="2026-11-30", people=5000)


def counts_of(survey: Survey, seed: int, people: int | None = None) -> dict[str, Any]:
    """Return the counts of a simulated round of people who have the true shares."""
    return dict(survey.simulate({"flu": TRUTH}, people, seed=seed).counts)


def known(planned: NextRound | Survey, question: str = "flu", place: int = 0) -> Intervals:
    """Return the set of priors that the next round has for a question."""
    survey = planned if isinstance(planned, Survey) else planned.survey
    context = survey[question].populations[place].context
    assert isinstance(context, Intervals)
    return context


def holds(near: Intervals, truth: dict[str, Fraction]) -> bool:
    """Tell whether a set contains a prior."""
    ends = zip(near.inputs.labels, near.lower, near.upper, strict=True)
    return all(low <= truth[str(label)] <= high for label, low, high in ends)


def width(near: Intervals) -> Fraction:
    """Return the width of the widest interval."""
    return max(high - low for low, high in zip(near.lower, near.upper, strict=True))


def test_the_set_holds_the_truth_as_often_as_it_says(first: Survey) -> None:
    """At 90 %, 400 rounds: fewer than 335 hits have a chance below 1e-4 if the level is kept."""
    (name, collection), *_ = first.collections().items()
    (digest, each), *_ = collection.mechanisms.items()
    rows = enumeration.rows_of(each.mechanism)
    law = [
        float(sum(TRUTH[str(x)] * row[y] for x, row in rows.items())) for y in range(each.outputs)
    ]
    rng = np.random.default_rng(22)
    hits = 0
    for sample in rng.multinomial(1000, law, size=400).tolist():
        found = plan_next_round(first, {name: {digest: sample}}, "0.9")
        hits += holds(known(found), TRUTH)
    assert hits >= 335


def test_the_next_mechanism_keeps_its_budget_under_the_truth(first: Survey) -> None:
    """Whenever the set holds the truth; a mechanism for the estimate itself does not."""
    joint: enumeration.Joint = {(x,): p for x, p in TRUTH.items()}
    at_point = []
    for seed in range(5):
        counts = counts_of(first, seed)
        second = next_round(first, counts)
        near = known(second)
        assert holds(near, TRUTH)
        (collection,) = second.collections().values()
        made = collection.default.mechanism
        assert isinstance(made.context, Intervals)
        falls, rises = enumeration.extremes(joint, [enumeration.rows_of(made)])
        assert math.log(max(falls, rises)) <= 1
        # Without the set: LDP, whatever is true.
        ratio = enumeration.ldp_ratio([enumeration.rows_of(made)])
        assert 1 < math.log(ratio) <= 2
        assert person_budget({"flu": [made]}).ratios["ldp"] == ratio
        (estimated,) = first.simulate({"flu": TRUTH}, seed=seed).estimates().values()
        shares = [max(float(a.value), 1.0) for a in estimated.estimate.answers]
        point = Prior.from_counts(
            {a.name: round(s) for a, s in zip(estimated.estimate.answers, shares, strict=True)}
        )
        naive = ll.design(point, ll.LIP("1"), utility="frequencies")
        falls, rises = enumeration.extremes(joint, [enumeration.rows_of(naive)])
        at_point.append(math.log(max(falls, rises)))
    assert min(at_point) > 1


def test_the_certificate_says_for_which_set_and_with_what_confidence(first: Survey) -> None:
    planned = plan_next_round(first, counts_of(first, 1), "0.95")
    near = known(planned)
    assert near.confidence == Fraction(95, 100)
    assert near.evidence == "5,000 reports"
    (collection,) = planned.survey.collections().values()
    text = str(collection.default.mechanism)
    assert "at worst ldp=" in text
    assert "whatever the prior; with confidence 95 % over 5,000 reports, lip(epsilon=1)" in text
    (learnt,) = planned.learnt
    assert "which hold the shares of the population with confidence 95" in str(learnt)
    assert str(learnt).endswith("LDP holds whatever is true")
    assert planned.remarks[0] == SOUND
    assert "have not answered before" in planned.remarks[1]


def test_it_is_a_survey_like_any_other(first: Survey) -> None:
    second = next_round(first, counts_of(first, 2))
    assert second.name == "health-2"
    assert second.earlier == ("health",)
    assert (second.opens, second.closes) == (date(2026, 12, 1), date(2026, 12, 30))
    assert Survey.from_data(second.content()) == second
    assert second.check().passed
    third = next_round(second, counts_of(second, 3, 20_000))
    assert third.name == "health-3"
    assert third.earlier == ("health", "health-2")
    # What it learns, it learns from reports of the second mechanism.
    assert holds(known(third), TRUTH)
    assert width(known(third)) < width(known(second))


def test_names_of_rounds() -> None:
    assert next_name("a" * 40) == "a" * 38 + "-2"
    assert next_name("health-99") == "health-100"
    assert next_name("x-1") == "x-2"


def test_groups_have_a_set_each() -> None:
    north = {"none": Fraction(9, 10), "cold": Fraction(5, 100), "flu": Fraction(5, 100)}
    survey = survey_of({**FLU, "groups": {"north": None, "south": None, "west": None}})
    sim = survey.simulate({"flu": {"north": north, "south": TRUTH}}, 30_000, seed=5)
    (name,) = sim.counts
    (collection,) = survey.collections().values()
    west = collection.find(group="west")
    counts = {name: {d: c for d, c in sim.counts[name].items() if d != west.digest}}
    planned = plan_next_round(survey, counts)
    assert holds(known(planned, place=0), north)
    assert not holds(known(planned, place=0), TRUTH)
    assert holds(known(planned, place=1), TRUTH)
    assert planned.survey["flu"].populations[2].context is None
    assert str(planned.learnt[2]) == "flu (west): kept as it was: there are no reports"
    assert planned.survey.check().passed


def test_levels_share_a_set_that_is_good_for_all() -> None:
    """Those who choose the mild level may be other people than those who choose the strong one."""
    strict = {**FLU, "levels": {"low": "lip=0.5", "high": "lip=2"}}
    del strict["guarantee"]
    survey = survey_of(strict)
    (collection,) = survey.collections().values()
    cautious = {"none": Fraction(1, 2), "cold": Fraction(1, 4), "flu": Fraction(1, 4)}
    rng = np.random.default_rng(3)
    counts = {}
    for level, truth in (("low", cautious), ("high", TRUTH)):
        each = collection.find(level=level)
        rows = enumeration.rows_of(each.mechanism)
        law = [
            float(sum(truth[str(x)] * row[y] for x, row in rows.items()))
            for y in range(each.outputs)
        ]
        counts[each.digest] = rng.multinomial(100_000, law).tolist()
    planned = plan_next_round(survey, {collection.name: counts})
    near = known(planned)
    assert holds(near, cautious)
    assert holds(near, TRUTH)
    assert near.confidence == Fraction(99, 100)
    assert near.evidence == "100,000 reports and 100,000 reports"
    # Both sets hold at once with 99 %, so each of them with 99.5 %.
    each_set = [
        Prior.from_estimate(collection.find(level=level).mechanism.estimate(reports), "0.995")
        for level, numbers in zip(("low", "high"), counts.values(), strict=True)
        if (reports := [f"r{y + 1}" for y, n in enumerate(numbers) for _ in range(n)])
    ]
    assert near.lower == tuple(map(min, *(own.lower for own in each_set)))
    assert near.upper == tuple(map(max, *(own.upper for own in each_set)))
    half = plan_next_round(survey, {collection.name: {k: counts[k] for k in list(counts)[:1]}})
    assert half.learnt[0].why == "there are no reports with the level high"


def test_what_cannot_be_used_is_kept_with_a_sentence() -> None:
    survey = survey_of(FLU, SMOKES)
    sim = survey.simulate({"flu": TRUTH}, 4000, seed=1)
    planned = plan_next_round(survey, sim.counts)
    assert str(planned.learnt[1]) == (
        "smokes: kept as it was: LDP holds whatever the prior is, and needs none"
    )
    assert planned.survey["smokes"] == survey["smokes"]
    nothing = plan_next_round(survey, {})
    assert nothing.survey.questions == survey.questions
    assert nothing.remarks == ("nothing was learnt: the next round is as the last one was",)
    assert nothing.survey.name == "health-2"


def test_few_reports_say_nothing(first: Survey) -> None:
    (name,) = first.collections()
    (digest,) = first.collections()[name].mechanisms
    planned = plan_next_round(first, {name: {digest: [1, 0, 0]}})
    near = planned.survey["flu"].populations[0].context
    if near is not None:
        assert isinstance(near, Intervals)
        assert width(near) > Fraction(9, 10)


def test_a_joint_does_not_outlive_its_priors() -> None:
    prior = {"none": 7, "cold": 2, "flu": 1}
    rows = [[x, y, n * (2 if y == "no" else 1)] for x, n in prior.items() for y in ("no", "yes")]
    survey = survey_of(
        {**FLU, "prior": prior}, SMOKES, joint={"questions": ["flu", "smokes"], "counts": rows}
    )
    assert survey.check().passed
    planned = plan_next_round(survey, survey.simulate(people=4000, seed=2).counts)
    assert planned.survey.joint is None
    assert "the joint of the answers is left out" in planned.remarks[-1]
    kept = plan_next_round(replace(survey, questions=survey.questions), {})
    assert kept.survey.joint == survey.joint


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"other.flu": {}}, "a collection that the survey has not: 'other.flu'"),
        ({"health.flu": {"abc": [1, 2, 3]}}, "counts of another mechanism at health.flu: 'abc'"),
    ],
)
def test_counts_of_something_else_are_refused(
    first: Survey, counts: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        plan_next_round(first, counts)


def test_counts_of_another_width_are_refused(first: Survey) -> None:
    (name,) = first.collections()
    (digest,) = first.collections()[name].mechanisms
    with pytest.raises(InputError, match="2 counts of 3 outputs"):
        plan_next_round(first, {name: {digest: [1, 2]}})
    with pytest.raises(InputError, match="confidence"):
        plan_next_round(first, {name: {digest: [10, 2, 3]}}, "1")


def test_a_declared_drift_widens_the_sets(first: Survey) -> None:
    """Shares that drift by a factor of e^0.1 stay inside, and the guarantee holds under them."""
    counts = counts_of(first, 1)
    still = known(plan_next_round(first, counts))
    planned = plan_next_round(first, counts, drift="0.1")
    wide = known(planned)
    assert wide.evidence == "5,000 reports and a drift of at most 0.1"
    factor = Fraction(math.exp(0.1))
    for low, high, wide_low, wide_high in zip(
        still.lower, still.upper, wide.lower, wide.upper, strict=True
    ):
        assert wide_low <= low / factor
        assert min(high * factor, Fraction(1)) <= wide_high
        assert low / factor - wide_low < Fraction(2, 10**6)
    assert Survey.from_data(planned.survey.content()) == planned.survey
    moved = {"none": Fraction(69, 100), "cold": Fraction(21, 100), "flu": Fraction(10, 100)}
    assert all(TRUTH[x] / factor <= p <= TRUTH[x] * factor for x, p in moved.items())
    assert holds(wide, moved)
    (collection,) = planned.survey.collections().values()
    joint: enumeration.Joint = {(x,): p for x, p in moved.items()}
    falls, rises = enumeration.extremes(joint, [enumeration.rows_of(collection.default.mechanism)])
    assert math.log(max(falls, rises)) <= 1


def test_a_prior_that_was_wrong_is_told() -> None:
    """Those who answered were promised LIP under a prior that the reports rule out."""
    survey = survey_of({**FLU, "prior": {"none": 100, "cold": 200, "flu": 700}})
    planned = plan_next_round(survey, counts_of(survey, 1, 5000))
    (learnt,) = planned.learnt
    (collection,) = survey.collections().values()
    rows = enumeration.rows_of(collection.default.mechanism)
    joint: enumeration.Joint = {(x,): p for x, p in TRUTH.items()}
    truth = math.log(max(enumeration.extremes(joint, [rows])))
    told = re.search(r"lip\(1\) was promised, and LIP is between (\S+) and (\S+)$", learnt.wrong)
    assert told is not None
    assert 1 < float(told[1]) <= truth <= float(told[2])
    assert "the prior of the round was wrong" in str(learnt)
    right = survey_of({**FLU, "prior": {"none": 700, "cold": 200, "flu": 100}})
    (learnt,) = plan_next_round(right, counts_of(right, 1, 5000)).learnt
    assert learnt.wrong == ""


def test_the_true_leakage_is_enclosed_as_often_as_it_says() -> None:
    """At 90 %, 400 rounds: fewer than 335 hits have a chance below 1e-4 if the level is kept."""
    wrong = Prior.from_counts({"none": 5, "cold": 3, "flu": 2})
    made = ll.design(wrong, ll.LIP("1"), utility="frequencies")
    rows = enumeration.rows_of(made)
    law = [float(sum(TRUTH[str(x)] * row[y] for x, row in rows.items())) for y in range(4)]
    truth = max(enumeration.extremes({(x,): p for x, p in TRUTH.items()}, [rows]))
    hits, widths = 0, []
    for sample in np.random.default_rng(5).multinomial(3000, law, size=400).tolist():
        low, high = leakage_range(made, sample, Fraction(1, 10))
        assert high is not None
        hits += low <= truth <= high
        widths.append(float(high / low))
    assert hits >= 335
    assert max(widths) < 1.7
    nothing = leakage_range(made, [0, 0, 0, 0], Fraction(1, 10))
    assert nothing == (Fraction(1), enumeration.ldp_ratio([rows]))
