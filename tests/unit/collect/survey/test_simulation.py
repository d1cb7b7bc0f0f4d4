"""Simulated phones: they check, they draw the exact law, and they report once."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from liftlock.collect.survey import Survey
from liftlock.collect.survey.rounds import next_round
from liftlock.collect.survey.simulation import (
    Phone,
    Proofs,
    choose_mechanism,
    draw_shares,
    prove,
    simulate,
)
from liftlock.errors import FileError, InputError, LabelError, LiftlockError, NotCertified
from liftlock.sampling import SimulationBits
from tests.unit.collect.survey import enumeration

FLU: dict[str, Any] = {
    "name": "flu",
    "ask": "How are you today?",
    "values": ["none", "cold", "flu"],
    "prior": {"none": 700, "cold": 200, "flu": 100},
    "guarantee": "lip=1",
}
SMOKES: dict[str, Any] = {
    "name": "smokes",
    "ask": "Do you smoke?",
    "values": ["no", "yes"],
    "guarantee": "ldp=1",
}


@pytest.fixture(scope="module")
def survey() -> Survey:
    """Two questions, of which one has a prior."""
    return Survey.from_data({"survey": "health", "questions": [FLU, SMOKES]})


class Server:
    """What phones talk to: descriptions, and files by their digest; it counts what is fetched."""

    def __init__(self, survey: Survey) -> None:
        self.collections = survey.collections()
        self.files = {
            digest: each.file
            for collection in self.collections.values()
            for digest, each in collection.mechanisms.items()
        }
        self.fetched: Counter[str] = Counter()

    def fetch(self, digest: str) -> bytes:
        """Return a file."""
        self.fetched[digest] += 1
        return self.files[digest]

    def describe(self, name: str) -> Mapping[str, Any]:
        """Return a description as it comes over the wire."""
        told: dict[str, Any] = json.loads(json.dumps(self.collections[name].description()))
        return told


def test_a_phone_keeps_its_first_report_for_ever(survey: Survey) -> None:
    server = Server(survey)
    phone = Phone({"flu": "cold", "smokes": "yes"})
    first = phone.answer(server.describe("health.flu"), server.fetch)
    assert first is not None
    phone.answers = {"flu": "flu", "smokes": "yes"}
    assert phone.answer(server.describe("health.flu"), server.fetch) is first
    assert len(first.name) == 16
    assert first.wire == (first.name, first.output)
    other = phone.answer(server.describe("health.smokes"), server.fetch)
    assert other is not None
    # Nothing links the reports of one phone.
    assert other.name != first.name
    assert first.mechanism in server.files
    assert 0 <= first.output < 4


def test_reports_follow_the_exact_law(survey: Survey) -> None:
    """Chi-square of 4,000 phones that all have flu: a false alarm has a chance of 1e-6."""
    server = Server(survey)
    proofs, description = Proofs(), server.describe("health.flu")
    names, outputs = set(), Counter[int]()
    for number in range(4000):
        phone = Phone({"flu": "flu"}, bits=SimulationBits(f"law/{number}"), proofs=proofs)
        report = phone.answer(description, server.fetch)
        assert report is not None
        names.add(report.name)
        outputs[report.output] += 1
    assert len(names) == 4000
    assert sum(server.fetched.values()) == 1
    mechanism = survey.collections()["health.flu"].default.mechanism
    law = np.array([float(p) for p in enumeration.rows_of(mechanism)["flu"]])
    seen = np.array([outputs[y] for y in range(len(law))])
    assert stats.chisquare(seen, law * 4000).pvalue > 1e-6
    # The chance of an output that nothing else tells apart from the law of another answer.
    others = np.array([float(p) for p in enumeration.rows_of(mechanism)["none"]])
    assert stats.chisquare(seen, others * 4000).pvalue < 1e-6


def test_a_file_that_is_another_one_is_refused(survey: Survey) -> None:
    server = Server(survey)
    digest = str(server.describe("health.flu")["mechanism"])
    server.files[digest] = server.files[digest].replace(b"\n", b" \n", 1)
    with pytest.raises(FileError, match="do not answer"):
        Phone({"flu": "flu"}).answer(server.describe("health.flu"), server.fetch)


def test_a_file_that_does_not_keep_its_promise_is_refused(survey: Survey) -> None:
    """Under its own digest: the server may have made it, the phone proves it all the same."""
    (collection, *_) = survey.collections().values()
    told = json.loads(collection.default.file)
    told["certificate"]["budgets"]["epsilon"] = "1/2"
    file = json.dumps(told).encode()
    with pytest.raises(LiftlockError) as refused:
        prove(hashlib.sha256(file).hexdigest(), file)
    assert isinstance(refused.value, NotCertified | FileError)


def test_who_has_answered_does_not_answer_a_later_round(survey: Survey) -> None:
    server = Server(survey)
    old = Phone({"flu": "cold", "smokes": "yes"})
    old.answer(server.describe("health.flu"), server.fetch)
    again = next_round(survey, survey.simulate(people=4000, seed=1).counts)
    later = Server(again)
    description = later.describe("health-2.flu")
    assert description["earlier"] == ["health"]
    assert old.answer(description, later.fetch) is None
    assert Phone({"flu": "cold"}).answer(description, later.fetch) is not None
    # The other question it has not answered yet.
    assert old.answer(later.describe("health-2.smokes"), later.fetch) is not None
    fresh = Server(replace(again, repeat="fresh=2"))
    assert old.answer(fresh.describe("health-2.flu"), fresh.fetch) is not None


def test_rules_allow_as_many_rounds_as_they_say(survey: Survey) -> None:
    """Under memo the same mechanism gives the same output for the same answer, under a new name."""
    for rule, rounds in (("first", 1), ("fresh=2", 2), ("memo=3", 3)):
        phone = Phone({"flu": "cold"}, bits=SimulationBits(rule))
        sent = []
        names = ["health", "health-2", "health-3", "health-4"]
        for place, name in enumerate(names):
            again = replace(survey, name=name, repeat=rule, earlier=tuple(names[:place]))
            server = Server(again)
            report = phone.answer(server.describe(f"{name}.flu"), server.fetch)
            assert (report is not None) == (place < rounds)
            sent += [report] if report is not None else []
        assert len({report.name for report in sent}) == rounds
        if rule == "memo=3":
            assert len({report.output for report in sent}) == 1


def test_noise_is_fresh_in_each_round(survey: Survey) -> None:
    """Of 200 phones under fresh=2 some send two different outputs; the chance of none is 1e-20."""
    again = replace(survey, name="health-2", repeat="fresh=2", earlier=("health",))
    once = replace(survey, repeat="fresh=2")
    different, proofs = 0, Proofs()
    for number in range(200):
        phone = Phone({"flu": "cold"}, bits=SimulationBits(f"fresh/{number}"), proofs=proofs)
        reports = []
        for each in (once, again):
            server = Server(each)
            reports.append(phone.answer(server.describe(f"{each.name}.flu"), server.fetch))
        outputs = {report.output for report in reports if report is not None}
        different += len(outputs) == 2
    assert 40 < different < 200


def test_groups_and_levels_are_found() -> None:
    levels = {"low": "ldp=0.5", "high": "ldp=2"}
    question = {k: v for k, v in SMOKES.items() if k != "guarantee"} | {"levels": levels}
    grouped = {
        **{k: v for k, v in FLU.items() if k != "prior"},
        "groups": {"north": {"prior": FLU["prior"]}, "south": None},
    }
    survey = Survey.from_data({"survey": "health", "questions": [grouped, question]})
    server = Server(survey)
    chosen = server.describe("health.smokes")
    assert (
        choose_mechanism(chosen, level="high")
        == server.collections["health.smokes"].find(level="high").digest
    )
    south = server.collections["health.flu"].find(group="south")
    phone = Phone({"flu": "cold", "smokes": "no"}, group="south", level="low")
    report = phone.answer(server.describe("health.flu"), server.fetch)
    assert report is not None
    assert report.mechanism == south.digest
    with pytest.raises(InputError, match=r"no mechanism for this person at health\.flu: 'east'"):
        choose_mechanism(server.describe("health.flu"), group="east")


# --- rounds without a server ----------------------------------------------------------------------


def test_a_round_is_what_its_seed_says(survey: Survey) -> None:
    one, same, other = (simulate(survey, people=500, seed=seed) for seed in (1, 1, 2))
    assert one.counts == same.counts
    assert one.counts != other.counts
    assert all(
        sum(sum(numbers) for numbers in counts.values()) == 500 for counts in one.counts.values()
    )
    assert sum(one.truths["health.flu"].values()) == 500


def test_estimates_of_a_round_are_those_of_the_mechanism(survey: Survey) -> None:
    found = survey.simulate(people=5000, seed=3)
    (counts,) = found.counts["health.flu"].values()
    mechanism = survey.collections()["health.flu"].default.mechanism
    reports = [f"r{y + 1}" for y, number in enumerate(counts) for _ in range(number)]
    assert found.estimates()["health.flu"].estimate == mechanism.estimate(reports)


def test_intervals_hold_the_truth_of_simulated_rounds(survey: Survey) -> None:
    """120 rounds of 2,000 people at 95 %: fewer than 102 hits have a chance below 1e-5."""
    shares = {"none": Fraction(1, 2), "cold": Fraction(3, 10), "flu": Fraction(1, 5)}
    hits = 0
    for seed in range(120):
        found = survey.simulate({"flu": shares}, 2000, seed=seed)
        answer = found.estimates()["health.flu"].estimate["flu"]
        assert answer.low is not None
        assert answer.high is not None
        hits += answer.low <= found.truths["health.flu"]["flu"] <= answer.high
    assert hits >= 102


def test_margins_are_those_of_simulated_rounds(survey: Survey) -> None:
    """The largest error of all shares is within the margin in 95 % of 120 rounds (1e-5: 102)."""
    margin = next(m for m in survey.check().margins if m.question == "flu")
    assert margin.size is not None
    size = margin.size * (margin.people / 2000) ** 0.5
    prior = {"none": 0.7, "cold": 0.2, "flu": 0.1}
    hits = 0
    for seed in range(120):
        found = survey.simulate({"flu": prior}, 2000, seed=f"margin/{seed}")
        answers = found.estimates()["health.flu"].estimate.answers
        raw = [answer.value if answer.raw is None else answer.raw for answer in answers]
        errors = [
            abs(value / 2000 - prior[str(answer.name)])
            for value, answer in zip(raw, answers, strict=True)
        ]
        hits += max(errors) <= size
    assert 102 <= hits < 120


def test_people_have_the_answers_that_are_given(survey: Survey) -> None:
    answers = ["flu"] * 30 + ["none"] * 20
    found = survey.simulate({"flu": answers}, 50, seed=1)
    assert found.truths["health.flu"] == {"none": 20, "cold": 0, "flu": 30}
    assert found.shares("health.flu")["flu"] == 0.6
    with pytest.raises(InputError, match="50 answers of 51 people at question 'flu'"):
        survey.simulate({"flu": answers}, 51, seed=1)
    with pytest.raises(LabelError, match="not one of the values at question 'flu': 'fever'"):
        survey.simulate({"flu": ["fever"]}, 1, seed=1)
    with pytest.raises(InputError, match="a question that is not asked: 'age'"):
        survey.simulate({"age": []}, 1, seed=1)
    with pytest.raises(InputError, match="no people"):
        survey.simulate(people=0, seed=1)


def test_values_that_are_whole_numbers_are_values() -> None:
    hours = {"name": "hours", "ask": "Hours?", "values": [5, 3, 1], "guarantee": "ldp=1"}
    survey = Survey.from_data({"survey": "s", "questions": [hours | {"answer": "mean"}]})
    found = survey.simulate({"hours": np.array([1, 1, 3])}, 3, seed=1)
    assert found.truths["s.hours"] == {5: 0, 3: 1, 1: 2}


def test_a_joint_is_drawn_together() -> None:
    rows = [["none", "no", 3], ["cold", "no", 1], ["flu", "yes", 1]]
    survey = Survey.from_data(
        {
            "survey": "health",
            "questions": [FLU | {"prior": {"none": 3, "cold": 1, "flu": 1}}, SMOKES],
            "joint": {"questions": ["flu", "smokes"], "counts": rows},
        }
    )
    found = survey.simulate(people=3000, seed=9)
    assert found.truths["health.flu"]["flu"] == found.truths["health.smokes"]["yes"]
    # Whose answers are given are not drawn from it.
    given = survey.simulate({"flu": ["none"] * 3000}, 3000, seed=9)
    assert given.truths["health.flu"]["none"] == 3000


def test_shares_are_drawn_as_they_are() -> None:
    """The counts of 100,000 people are multinomial: a false alarm has a chance of 1e-6."""
    shares = [Fraction(1, 1000), Fraction(0), Fraction(2), Fraction(1, 2)]
    seen = np.bincount(draw_shares(shares, 100_000, "1"), minlength=4)
    assert seen[1] == 0
    law = np.array([float(s) for s in shares if s])
    assert stats.chisquare(seen[[0, 2, 3]], law / law.sum() * 100_000).pvalue > 1e-6
    with pytest.raises(InputError, match="no shares"):
        draw_shares([Fraction(0)], 3, "1")


def test_groups_are_shared_out_evenly() -> None:
    grouped = {
        **{k: v for k, v in FLU.items() if k != "prior"},
        "groups": {"north": {"prior": FLU["prior"]}, "south": None},
    }
    survey = Survey.from_data({"survey": "health", "questions": [grouped]})
    found = survey.simulate({"flu": {"south": {"flu": 1}}}, 1001, seed=1)
    collection = survey.collections()["health.flu"]
    south = found.counts["health.flu"][collection.find(group="south").digest]
    north = found.counts["health.flu"][collection.find(group="north").digest]
    assert (sum(north), sum(south)) == (501, 500)
    assert found.truths["health.flu"]["flu"] >= 500


def test_people_choose_one_level_each() -> None:
    question = {k: v for k, v in SMOKES.items() if k != "guarantee"}
    levels = {"low": "ldp=0.5", "middle": "ldp=1", "high": "ldp=2"}
    survey = Survey.from_data({"survey": "s", "questions": [question | {"levels": levels}]})
    found = survey.simulate({"smokes": {"yes": 1}}, 1001, seed=1)
    sizes = [sum(numbers) for numbers in found.counts["s.smokes"].values()]
    assert sizes == [334, 334, 333]
    assert found.truths["s.smokes"] == {"no": 0, "yes": 1001}
    estimate = found.estimates()["s.smokes"].estimate["yes"]
    assert estimate.high is not None
    assert estimate.high >= 1001 * 0.9
