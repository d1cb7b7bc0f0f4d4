"""The check: what it refuses, what it warns of, and what it prints."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import liftlock as ll
from liftlock.collect.survey import Survey
from liftlock.collect.survey.check import SurveyRefused, budget_of
from liftlock.collect.survey.repeat import RepeatRule
from liftlock.collect.survey.rounds import plan_next_round

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


def survey_of(*questions: dict[str, Any], **more: Any) -> Survey:
    """Return a survey named health."""
    return Survey.from_data({"survey": "health", "questions": list(questions), **more})


def test_a_survey_within_its_total_may_be_carried_out() -> None:
    found = survey_of(FLU, SMOKES, total="lip=2").check()
    assert found.passed
    assert found.require() is found
    assert [(name, outputs) for name, _, outputs, _ in found.mechanisms] == [
        ("health.flu", 4),
        ("health.smokes", 2),
    ]
    data = json.loads(json.dumps(found.content()))
    assert data["passed"]
    assert data["budget"]["nats"]["lip"]
    text = str(found).replace("\N{NO-BREAK SPACE}", " ")
    assert text.startswith("survey health: may be carried out\n")
    assert "all 2 answers of one person together: LIP at most 2 nats, LDP at most 3 nats" in text
    assert "The limit of this survey for one person is lip(2); it is kept." in text


def test_a_survey_beyond_its_total_is_refused_with_all_that_is_spent() -> None:
    found = survey_of(FLU, SMOKES, total="lip=1.5").check()
    assert not found.passed
    (refusal,) = found.refusals
    assert refusal.text.startswith(
        "all answers of one person may tell LIP 2 nats, more than the total lip(1.5) "
        "allows (flu: LIP 1, LDP 2; smokes: LDP 1; "
    )
    assert "multiply every budget by 0.75" in refusal.text
    assert "(flu: lip(0.75), smokes: ldp(0.75))" in refusal.text
    with pytest.raises(SurveyRefused, match="the survey health is refused: all answers") as error:
        found.require()
    assert error.value.check is found
    assert "it is kept" not in str(found)
    assert str(found).startswith("survey health: REFUSED")
    smaller = survey_of(
        FLU | {"guarantee": "lip=0.75"}, SMOKES | {"guarantee": "ldp=0.75"}, total="lip=1.5"
    )
    assert smaller.check().passed


def test_a_joint_may_keep_a_total_that_the_bound_does_not() -> None:
    """Independent answers leak less together than answers of which nothing is known."""
    two = FLU | {"name": "cough", "ask": "Do you cough?"}
    prior = FLU["prior"]
    rows = [[x, y, prior[x] * prior[y]] for x in prior for y in prior]
    joint = {"questions": ["flu", "cough"], "counts": rows}
    assert not survey_of(FLU, two, total="lip=2.2").check().passed
    found = survey_of(FLU, two, total="lip=2.2", joint=joint).check()
    assert found.passed
    assert found.budget is not None
    assert found.budget.exact
    # Lifts of independent answers multiply.
    alone = budget_of(survey_of(FLU))
    assert float(found.budget.nats["lip"]) == pytest.approx(2 * float(alone.nats["lip"]))
    assert "by the joint prior of the answers" in str(found)


def test_a_joint_that_contradicts_a_prior_is_refused() -> None:
    rows = [["none", "no", 1], ["cold", "yes", 1], ["flu", "no", 1]]
    found = survey_of(FLU, SMOKES, joint={"questions": ["flu", "smokes"], "counts": rows}).check()
    (refusal,) = found.refusals
    assert refusal.text.startswith("the joint and the prior of a question disagree at flu")
    assert found.consent is None


def test_levels_count_at_their_worst_and_by_choice() -> None:
    levels = {k: v for k, v in SMOKES.items() if k != "guarantee"}
    survey = survey_of(FLU, levels | {"levels": {"low": "ldp=0.5", "high": "ldp=2"}})
    found = survey.check()
    assert found.budget is not None
    worst, low, high = found.budget, found.choices["low"], found.choices["high"]
    assert worst.nats == high.nats
    assert float(low.nats["ldp"]) == pytest.approx(float(worst.nats["ldp"]) - 1.5, abs=1e-9)
    assert "who chooses low: all 2 answers of one person together" in str(found)
    assert [margin.level for margin in found.margins] == [None, "low", "high"]
    assert "The level of protection that you choose" in str(found.consent)
    assert 'For the level "high": whatever anyone believed before' in str(found.consent)
    assert (
        not survey_of(FLU, levels | {"levels": {"low": "ldp=0.5", "high": "ldp=2"}}, total="ldp=3")
        .check()
        .passed
    )


def test_groups_are_told_apart() -> None:
    grouped = {k: v for k, v in FLU.items() if k != "prior"} | {
        "groups": {"north": {"prior": FLU["prior"]}, "south": {"prior": [5, 3, 2]}}
    }
    found = survey_of(grouped, people=10_000).check()
    assert [who for _, who, _, _ in found.mechanisms] == ['the group "north"', 'the group "south"']
    (margin,) = found.margins
    assert margin.groups == 2
    alone = [
        survey_of(FLU | {"prior": prior}, people=10_000).check().margins[0].size
        for prior in (FLU["prior"], [5, 3, 2])
    ]
    assert margin.size is not None
    # The variances that one person of each adds are averaged, symbol by symbol.
    assert min(a or 0 for a in alone) <= margin.size <= max(a or 0 for a in alone)
    assert "The group that you belong to: it is sent with the report." in str(found.consent)


def test_rounds_are_accounted_for() -> None:
    survey = survey_of(SMOKES, repeat="fresh=3", total="ldp=3")
    found = survey.check()
    assert found.passed
    assert found.budget is not None
    told = found.budget.over_rounds["ldp"].upper
    assert told is not None
    assert 2.99 < told <= 3
    # An answer that never changes: three reports of randomised response, exactly.
    assert math.isclose(float(found.budget.never_changes["smokes"]), 3, abs_tol=1e-9)
    beyond = survey_of(SMOKES, repeat="fresh=4", total="ldp=3").check()
    assert "in 4 rounds may tell LDP 4 nats" in beyond.refusals[0].text
    assert "allow fewer rounds, or repeat: first" in beyond.refusals[0].text
    unlimited = survey_of(SMOKES, repeat="fresh=4").check()
    assert unlimited.passed
    assert any("no total limits what that tells" in each.text for each in unlimited.findings)
    memo = survey_of(SMOKES, repeat="memo=2").check()
    assert memo.passed
    assert any("notice a changed answer" in each.text for each in memo.findings)
    assert "If your answer changes" in str(memo.consent)
    assert not survey_of(SMOKES, repeat="memo=2", total="ldp=100").check().passed


def test_what_cannot_be_designed_is_refused_not_raised() -> None:
    survey = survey_of(FLU | {"prior": {"none": 1, "cold": 1, "flu": 0}})
    found = survey.check()
    assert not found.passed
    assert found.refusals[0].text


def test_a_report_that_is_nearly_the_answer_is_warned_of() -> None:
    """Profiles may stay alike while each food gives itself away."""
    foods = {
        "vegan": {"salad": 8, "soup": 2, "meat": 1},
        "other": {"salad": 2, "soup": 3, "meat": 6},
    }
    diet = {"name": "diet", "ask": "Food?", "profiles": foods, "guarantee": "profile=1"}
    found = survey_of(diet).check()
    assert [each.question for each in found.findings if "almost for certain" in each.text] == [
        "diet"
    ]
    loud = survey_of(FLU | {"prior": "none", "guarantee": "ldp=12"}).check()
    assert [each.question for each in loud.findings if "almost for certain" in each.text] == ["flu"]
    assert "an answer may be revealed almost for certain" in str(loud.consent)
    assert not any("almost for certain" in each.text for each in survey_of(FLU).check().findings)


def test_what_says_hardly_anything_is_warned_of() -> None:
    found = survey_of(FLU | {"guarantee": "lip=0.01"}, people=100).check()
    assert found.passed
    assert any("ask more people" in each.text for each in found.findings)
    late = survey_of(FLU, people=100, least=200).check()
    assert any("200 reports, and 100 people" in each.text for each in late.findings)
    assert any("forge" in each.text for each in late.findings)
    closed = survey_of(FLU, tokens="signed").check()
    assert "the number of the token that you were given" in str(closed.consent)
    assert not any("forge" in each.text for each in closed.findings)


def test_the_text_says_who_sees_what_and_until_when() -> None:
    survey = survey_of(
        FLU,
        title="Health of the town",
        results="analysts",
        least=50,
        opens="2026-11-01",
        closes="2026-11-30",
    )
    text = str(survey.check().consent).replace("\N{NO-BREAK SPACE}", " ")
    assert text.startswith("Health of the town")
    assert (
        "The analysts of this survey see the estimates for all people together, and how many "
        "reports of each kind came on each day, once there are 50 reports" in text
    )
    assert "The survey opens on 2026-11-01 and closes on 2026-11-30." in text
    assert RepeatRule.read("first").describe() in text
    assert "your network address and the time" in text
    assert '"flu": 3.67 % to 27.2 % (before: 10 %)' in text


def test_a_total_that_has_no_rule_is_refused() -> None:
    found = survey_of(FLU, total="mutual_information=1").check()
    assert "give the total as lip, alip or ldp" in found.refusals[0].text


def test_lip_after_a_round_is_kept_with_a_confidence() -> None:
    near = {"none": [0.65, 0.75], "cold": [0.15, 0.25], "flu": [0.07, 0.13]}
    learnt = {k: v for k, v in FLU.items() if k != "prior"} | {
        "intervals": near,
        "confidence": "0.99",
        "evidence": "20,000 reports",
    }
    found = survey_of(learnt, total="lip=1").check()
    assert found.passed
    text = str(found.consent).replace("\N{NO-BREAK SPACE}", " ")
    assert "it is kept with confidence 99 % over the evidence for the sets of priors" in text
    certain = survey_of(learnt, total="lip=2").check()
    assert "lip(2); it is kept." in str(certain.consent)
    assert isinstance(certain.budget and certain.budget.allows_for_certain(ll.LIP("2")), bool)


def test_every_key_of_the_json_is_documented() -> None:
    page = Path(__file__).parents[4] / "docs" / "collect" / "rounds.md"
    written = set(re.findall(r"`([a-z_]+)`", page.read_text(encoding="utf-8")))
    levels = {k: v for k, v in SMOKES.items() if k != "guarantee"}
    survey = survey_of(FLU, levels | {"levels": {"low": "ldp=0.5", "high": "ldp=2"}})
    planned = plan_next_round(survey, survey.simulate(people=3000, seed=1).counts)
    data = survey.check().content()
    free = {"flu", "smokes", "low", "high", "lip", "ldp", "eps_lower", "eps_upper"}
    told = planned.content()
    content = [each | {"priors": None} for each in told["learnt"]]
    assert _keys([data, told | {"survey": None, "learnt": content}]) - free - written <= {
        "lower",
        "upper",
    }


def _keys(data: Any) -> set[str]:
    if isinstance(data, list):
        return set().union(*map(_keys, data)) if data else set()
    if isinstance(data, dict):
        return set(data) | set().union(*map(_keys, data.values())) if data else set()
    return set()
