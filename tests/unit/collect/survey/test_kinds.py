"""Every kind of question: checked, simulated, answered by phones, and asked again."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock.collect.survey import Survey
from liftlock.collect.survey.rounds import plan_next_round
from liftlock.collect.survey.simulation import Phone, Proofs, find_place, input_code
from liftlock.errors import InputError, LabelError
from liftlock.model import Prior
from liftlock.sampling import SimulationBits
from tests.unit.collect.survey import enumeration

AGE = {
    "name": "age",
    "ask": "How old are you?",
    "range": [0, 100],
    "bins": 8,
    "prior": "normal(45, 15)",
    "guarantee": "lip=1",
    "answer": "mean",
}
BANDS = {
    "name": "bands",
    "ask": "How old are you?",
    "range": [0, 100],
    "bins": 4,
    "guarantee": "lip=1",
    "answer": "histogram",
}
PLACE = {
    "name": "place",
    "ask": "Where are you?",
    "grid": {"x": [0, 10], "y": [0, 4], "columns": 2, "rows": 2},
    "guarantee": "lip=1",
}
SIGN = {
    "name": "sign",
    "ask": "What did you see?",
    "profiles": {"often": {"yes": 9, "no": 1}, "rarely": {"yes": 2, "no": 8}},
    "guarantee": "profile=1",
}
WEIGHTED = {
    "name": "trips",
    "ask": "How many trips?",
    "values": [0, 1, 2],
    "groups": {
        "north": {"prior": [1, 2, 3], "weight": 3},
        "south": {"prior": [3, 2, 1], "weight": 1},
    },
    "guarantee": "lip=1",
    "answer": "sum",
}
ALL: list[dict[str, Any]] = [AGE, BANDS, PLACE, SIGN, WEIGHTED]


@pytest.fixture(scope="module")
def survey() -> Survey:
    """All kinds of questions."""
    return Survey.from_data({"survey": "s", "people": 4000, "questions": ALL})


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    """A panel of 300 people with 15 different priors."""
    folder = tmp_path_factory.mktemp("panel")
    lines = [f"p{n},{60 + n % 15},{40 - n % 15}" for n in range(300)]
    (folder / "panel.csv").write_text("\n".join(["person,no,yes", *lines]), encoding="utf-8")
    data = {
        "survey": "s",
        "questions": [
            {
                "name": "smokes",
                "ask": "Do you smoke?",
                "values": ["no", "yes"],
                "panel": "panel.csv",
                "guarantee": "lip=1",
            }
        ],
    }
    return Survey.from_data(data, str(folder / "s.yaml"))


def test_every_kind_is_checked(survey: Survey) -> None:
    found = survey.check()
    assert found.passed
    margins = {margin.question: margin for margin in found.margins}
    assert all(margin.size is not None for margin in margins.values())
    assert margins["age"].rounding == 6.25
    assert "6.25 more at most for the bins" in str(margins["age"])
    assert margins["place"].rounding == 0
    text = str(found.consent).replace("\N{NO-BREAK SPACE}", " ")
    assert "Which of two joined profiles you have becomes more likely" in text
    assert "After the report, someone who knows only how common each answer is believes" in text
    assert found.budget is not None
    # Different groups, and no prior of somebody in a group of each: LDP alone.
    assert found.budget.ratios["lip"] == found.budget.ratios["ldp"]


EXACT = {"north": [0] * 100 + [1] * 200 + [2] * 300, "south": [0] * 300 + [1] * 200 + [2] * 100}
"""The trips of 600 people in each group, as their priors say: weighted, 3 x 800 + 400 in all."""


@pytest.mark.parametrize("question", ALL, ids=lambda question: str(question["name"]))
def test_margins_are_those_of_simulated_rounds(question: dict[str, Any]) -> None:
    """The error is within the margin in 95 % of 200 rounds: below 172 has a chance of 1e-5."""
    survey = Survey.from_data({"survey": "s", "people": 1200, "questions": [question]})
    (margin,) = survey.check().margins
    assert margin.size is not None
    (name,) = survey.collections()
    expected, scale = expected_of(survey)
    truths = {"trips": EXACT} if question is WEIGHTED else {}
    errors = []
    for seed in range(200):
        answers = survey.simulate(truths, seed=seed).estimates()[name].estimate.answers
        raw = [(a.name, a.value if a.raw is None else a.raw) for a in answers]
        errors.append(max(abs(value / scale - expected[label]) for label, value in raw))
    assert sum(error <= margin.size for error in errors) >= 172
    # And it is not wider than it has to be.
    assert max(errors) > margin.size / 1.6


def expected_of(survey: Survey) -> tuple[dict[Any, float], float]:
    """Return what is estimated of a population as the prior says, and what estimates count."""
    (question,) = survey.questions
    if question.answer.of == "sum":
        return {"sum": 2800.0}, 1.0
    if question.kind == "profile":
        return {"often": 0.5, "rarely": 0.5}, 1200.0
    context = question.populations[0].context
    prior = context if isinstance(context, Prior) else Prior.uniform(question.values.labels)
    if question.answer.of == "mean":
        points = question.values.coordinates or ()
        means = [float(p) * float(x) for p, x in zip(prior.fractions, points, strict=True)]
        return {"mean": math.fsum(means)}, 1.0
    shares = {label: float(p) for label, p in zip(prior.labels, prior.fractions, strict=True)}
    return shares, 1200.0


def test_phones_encode_answers_as_the_question_does(survey: Survey) -> None:
    rng = np.random.default_rng(1)
    described = {
        name: json.loads(json.dumps(collection.description()))
        for name, collection in survey.collections().items()
    }
    for question, answers in (
        ("age", [-5, 0, 12.4, 12.6, 99, 100, 250, *rng.uniform(-20, 120, 50).tolist()]),
        ("place", [(-1, 9), (0, 0), (5.1, 1.9), *rng.uniform(0, 10, (50, 2)).tolist()]),
        ("trips", [0, 1, 2]),
    ):
        collection = survey.collections()[f"s.{question}"]
        inputs = collection.default.mechanism.table.inputs
        for answer in answers:
            code = input_code(described[f"s.{question}"], collection.default.mechanism, answer)
            assert inputs.labels[code] == collection.question.encode(answer)
    sign = survey.collections()["s.sign"]
    labels = sign.default.mechanism.table.inputs.labels
    code = input_code(described["s.sign"], sign.default.mechanism, ("often", "yes"))
    assert labels[code] in ("yes", ("often", "yes"))
    with pytest.raises(LabelError, match="not one of the values"):
        input_code(described["s.sign"], sign.default.mechanism, ("often", "perhaps"))
    trips = survey.collections()["s.trips"]
    with pytest.raises(LabelError, match=r"not one of the values at s\.trips: 7"):
        input_code(described["s.trips"], trips.default.mechanism, 7)


def test_a_phone_answers_every_kind(survey: Survey) -> None:
    files = {
        digest: each.file
        for collection in survey.collections().values()
        for digest, each in collection.mechanisms.items()
    }
    answers = {"age": 44, "bands": 44, "place": (3, 3), "sign": ("often", "yes"), "trips": 2}
    phone = Phone(answers, group="south", bits=SimulationBits(1), proofs=Proofs())
    for collection in survey.collections().values():
        report = phone.answer(collection.description(), files.__getitem__)
        assert report is not None
        made = collection.mechanisms[report.mechanism]
        assert made.group in (None, "south")
        assert 0 <= report.output < made.outputs
    assert len({report.name for report in phone.kept.values()}) == 5


def test_answers_are_given_as_people_write_them(survey: Survey) -> None:
    age = survey["age"]
    assert find_place(age, 13) == 1
    assert find_place(age, "12.5 to 25") == 1
    found = survey.simulate({"age": [3, 13, 13, 99], "place": [[9, 3]] * 4}, 4, seed=1)
    assert list(found.truths["s.age"].values()) == [1, 2, 0, 0, 0, 0, 0, 1]
    assert found.truths["s.place"][(1, 1)] == 4
    often = survey.simulate({"sign": {"often": 1}}, 100, seed=1)
    assert often.truths["s.sign"] == {"often": 100, "rarely": 0}
    listed = survey.simulate({"sign": ["often", "rarely", "rarely"]}, 3, seed=1)
    assert listed.truths["s.sign"] == {"often": 1, "rarely": 2}


def test_what_a_round_teaches_of_every_kind(survey: Survey) -> None:
    planned = plan_next_round(survey, survey.simulate(seed=1).counts)
    told = {(each.question, each.group): each for each in planned.learnt}
    assert told["age", None].why == (
        "its reports determine the mean, and not the share of each value"
    )
    assert told["sign", None].why.startswith("its profiles are what is known")
    for key in (("bands", None), ("place", None), ("trips", "north"), ("trips", "south")):
        near = told[key].priors
        assert near is not None
        assert near.confidence == Fraction(99, 100)
    assert planned.survey["trips"].populations[0].weight == 3
    assert Survey.from_data(planned.survey.content()) == planned.survey
    assert planned.survey.check().passed


# --- panels ---------------------------------------------------------------------------------------


def test_everybody_of_a_panel_answers_with_the_own_mechanism(panel: Survey) -> None:
    (collection,) = panel.collections().values()
    found = panel.simulate(seed=1)
    sharing = Counter(collection.panel.values())
    for digest, counts in found.counts["s.smokes"].items():
        assert sum(counts) == sharing[digest]
    codes = {f"p{n}": "yes" if n < 100 else "no" for n in range(300)}
    given = panel.simulate({"smokes": codes}, seed=1)
    assert given.truths["s.smokes"] == {"no": 200, "yes": 100}
    estimate = given.estimates()["s.smokes"].estimate["yes"]
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low <= 100 <= estimate.high
    own = collection.find(person="p7")
    description = collection.description() | {"mechanism": own.digest}
    report = Phone({"smokes": "yes"}).answer(description, lambda digest: own.file)
    assert report is not None
    assert report.mechanism == own.digest
    with pytest.raises(InputError, match="no mechanism for this person"):
        Phone({"smokes": "yes"}).answer(collection.description(), lambda digest: own.file)


def test_a_panel_is_checked_at_its_worst_and_shows_no_prior(panel: Survey) -> None:
    found = panel.check()
    assert found.passed
    (margin,) = found.margins
    assert (margin.people, margin.groups) == (300, 1)
    (collection,) = panel.collections().values()
    assert found.budget is not None
    worst = Fraction(1)
    for each in collection.mechanisms.values():
        worst = max(worst, enumeration.ldp_ratio([enumeration.rows_of(each.mechanism)]))
    assert found.budget.ratios["ldp"] == worst
    text = str(found.consent).replace("\N{NO-BREAK SPACE}", " ")
    assert "What is known of each person differs; these are the worst cases of all." in text
    assert "For someone who knows only what the panel says about you: a belief in any" in text
    assert "After the report" not in text
    assert "Which table is yours: it is sent with the report" in text
    assert "If nobody else shares it, it names you" in text
    assert "numbers of reports by day and table" in text
    planned = plan_next_round(panel, panel.simulate(seed=2).counts)
    (learnt,) = planned.learnt
    assert learnt.why == "each person of the panel has a prior of their own"
    assert planned.survey.questions == panel.questions


def test_a_mechanism_from_a_file_is_kept(tmp_path: Path) -> None:
    prior = Prior.from_counts({"no": 7, "yes": 3})
    ll.design(prior, ll.LIP("1"), method="binary").save(tmp_path / "coin.json")
    question = {"name": "q", "ask": "?", "values": ["no", "yes"], "mechanism": "coin.json"}
    survey = Survey.from_data({"survey": "s", "questions": [question]}, str(tmp_path / "s.yaml"))
    assert survey.check().passed
    planned = plan_next_round(survey, survey.simulate(seed=1).counts)
    assert planned.learnt[0].why == "its mechanism is a file, which only a new design replaces"
