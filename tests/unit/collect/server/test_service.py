"""What is served after a start: the same as before, or a refusal that says what changed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from liftlock.collect import Settings
from liftlock.collect.server.service import ChangedSurvey, Service
from liftlock.collect.store import open_store
from liftlock.collect.survey import Survey
from liftlock.collect.survey.design import Workshop
from liftlock.errors import InputError, LiftlockError
from tests.unit.collect.server.harness import FLU, new_id, serving, survey_of


def changed(**fields: Any) -> Survey:
    return survey_of(questions=[{**FLU["questions"][0], **fields}])


def test_counts_go_on_after_a_new_start(tmp_path: Path) -> None:
    for number in range(1, 4):
        with serving(tmp_path) as world:
            world.people.report([(new_id(), 3)])
            assert world.people.counts() == [0, 0, 0, number]


@pytest.mark.parametrize(
    ("survey", "where"),
    [
        (changed(ask="How ill are you?"), "questions[0].ask"),
        (changed(guarantee="lip=2"), "questions[0].guarantee"),
        (survey_of(least=5), "least"),
        (survey_of(results="analysts"), "results"),
        (survey_of(repeat="fresh=2"), "repeat"),
        (survey_of(tokens="signed"), "tokens"),
    ],
)
def test_a_survey_changed_under_reports_is_refused(
    tmp_path: Path, survey: Survey, where: str
) -> None:
    with serving(tmp_path) as world:
        world.people.report([(new_id(), 0)])
    with pytest.raises(ChangedSurvey) as caught, serving(tmp_path, survey):
        pass
    assert where in str(caught.value)
    with serving(tmp_path) as world:
        assert world.people.counts() == [1, 0, 0, 0]


def test_a_survey_may_change_before_there_are_reports(tmp_path: Path) -> None:
    with serving(tmp_path):
        pass
    with serving(tmp_path, changed(ask="How ill are you?")) as world:
        told = world.people.get("/v1/collections/health.flu").json()
        assert told["ask"] == "How ill are you?"


def test_title_people_and_the_last_day_may_change(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(closes="2026-12-01")) as world:
        world.people.report([(new_id(), 0)])
    later = survey_of(closes="2027-01-01", title="Health", people=500)
    with serving(tmp_path, later) as world:
        told = world.people.get("/v1/collections/health.flu").json()
        assert told["closes"] == "2027-01-01"
        assert world.people.counts() == [1, 0, 0, 0]


def test_what_check_refuses_is_not_served(tmp_path: Path) -> None:
    one = FLU["questions"][0]
    survey = survey_of(questions=[one, {**one, "name": "again"}], total="lip=1")
    assert not survey.check().passed
    with pytest.raises(LiftlockError, match="refused"), serving(tmp_path, survey):
        pass


def test_surveys_that_were_put_before_are_served_from_the_store(tmp_path: Path) -> None:
    with serving(tmp_path) as world:
        world.people.report([(new_id(), 0)])
        world.operator("POST", "/v1/collections/health.flu/close")
    service = Service(Settings(store=str(tmp_path / "store.sqlite"))).open()
    try:
        served = service.served["health.flu"]
        assert served.state == "closed"
        assert served.survey.content() == survey_of().content()
    finally:
        service.shutdown()


def test_a_second_service_on_the_same_file_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path), pytest.raises(InputError), serving(tmp_path):
        pass


def test_other_servers_are_followed(tmp_path: Path) -> None:
    with serving(tmp_path) as world:
        service = world.service
        service.store.close("health.flu")
        service.refresh()
        assert world.people.get("/v1/collections/health.flu").json()["state"] == "closed"
        service.store.erase("health.flu")
        service.refresh()
        assert world.people.get("/v1/collections/health.flu").status_code == 404
        assert service.mechanisms == {}


def test_a_store_with_reports_of_other_mechanisms_is_refused(tmp_path: Path) -> None:
    content = survey_of().content()
    store = open_store(tmp_path / "store.sqlite")
    digest = hashlib.sha256(b"{}").hexdigest()
    store.register("health.flu", {digest: (3, b"{}")}, {"survey": content})
    store.shutdown()
    with pytest.raises(InputError, match="other mechanisms"):
        Service(Settings(store=str(tmp_path / "store.sqlite"))).open()


def test_files_of_the_survey_are_not_needed_again(tmp_path: Path) -> None:
    (tmp_path / "prior.csv").write_text("label,count\nnone,7\ncold,2\nflu,1\n")
    question = {**FLU["questions"][0], "prior": "prior.csv"}
    path = tmp_path / "health.json"
    path.write_text(json.dumps({**FLU, "questions": [question]}))
    with serving(tmp_path, Survey.read(path)) as world:
        before = world.people.get("/v1/collections/health.flu").content
    (tmp_path / "prior.csv").unlink()
    service = Service(Settings(store=str(tmp_path / "store.sqlite"))).open()
    try:
        told = service.served["health.flu"].told
        assert told["mechanism"] == json.loads(before)["mechanism"]
    finally:
        service.shutdown()


def test_a_new_start_designs_nothing_and_proves_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path) as world:
        world.people.report([(new_id(), 1)])
        before = world.people.get("/v1/collections/health.flu").json()["mechanism"]

    def fail(*_: Any) -> Any:
        raise AssertionError("designed again")

    monkeypatch.setattr(Workshop, "make", fail)
    with serving(tmp_path, survey_of(title="Health")) as world:
        assert world.people.get("/v1/collections/health.flu").json()["mechanism"] == before
        assert world.people.counts() == [0, 1, 0, 0]
        file = world.service.mechanisms[before]
    with pytest.raises(AssertionError, match="designed again"):
        changed(guarantee="lip=2").collections()
    service = Service(Settings(store=str(tmp_path / "store.sqlite"))).open()
    try:
        assert service.mechanisms == {before: file}
    finally:
        service.shutdown()


def test_what_is_known_of_each_person_of_a_panel_is_told_to_nobody(tmp_path: Path) -> None:
    (tmp_path / "panel.csv").write_text("person,yes,no\nann,0.2,0.8\nbo,0.5,0.5\ncy,0.2,0.8\n")
    path = tmp_path / "panel.json"
    question = {"name": "smokes", "ask": "Do you smoke?", "values": ["yes", "no"]}
    told = {**question, "panel": "panel.csv", "guarantee": "lip=1"}
    path.write_text(json.dumps({"survey": "panel", "questions": [told]}))
    survey = Survey.read(path)
    name = "panel.smokes"
    collection = survey.collections()[name]
    own = {person: collection.find(person=person).digest for person in ("ann", "bo", "cy")}
    assert own["ann"] == own["cy"] != own["bo"]
    with serving(tmp_path, survey) as world:
        for at, person in enumerate(own):
            found = world.people.report(
                [(new_id(), at % 2)], collection=name, mechanism=own[person]
            )
            assert found.json() == {"stored": 1, "rejected": []}
        wrong = world.people.report([(new_id(), 0)], collection=name, mechanism="0" * 64)
        parts = ("", "/aggregate", "/history", "/estimate")
        asked = [world.people.get(f"/v1/collections/{name}{part}") for part in parts]
        assert [each.status_code for each in (wrong, *asked)] == [409, 200, 200, 200, 200]
        for each in (wrong, *asked):
            assert not any(digest in each.text for digest in own.values()), each.text
        aggregate = asked[1].json()
        assert (aggregate["counts"], aggregate["reports"]) == (None, 3)
        headers = {"authorization": f"Bearer {world.service.admin_token}"}
        known = world.people.get(f"/v1/collections/{name}/aggregate", headers=headers).json()
        assert known["mechanisms"] == {own["ann"]: [2, 0], own["bo"]: [0, 1]}


def test_two_surveys_of_one_name_are_refused(tmp_path: Path) -> None:
    surveys = survey_of(), survey_of(title="Another")
    with pytest.raises(InputError, match="two surveys of one name"), serving(tmp_path, *surveys):
        pass
    assert not (tmp_path / "store.sqlite").exists()


def test_a_question_more_is_a_change(tmp_path: Path) -> None:
    with serving(tmp_path) as world:
        world.people.report([(new_id(), 0)])
    more = survey_of(questions=[*FLU["questions"], {**FLU["questions"][0], "name": "again"}])
    with pytest.raises(ChangedSurvey, match="questions"), serving(tmp_path, more):
        pass


def test_a_question_that_was_answered_cannot_be_left_out_for_another(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(total="lip=1")) as world:
        world.people.report([(new_id(), 0)])
    other = [{**FLU["questions"][0], "name": "other"}]
    with (
        pytest.raises(ChangedSurvey, match=r"health\.flu"),
        serving(tmp_path, survey_of(questions=other, total="lip=1")),
    ):
        pass
    with serving(tmp_path, survey_of(total="lip=1")) as world:
        assert world.people.report([(new_id(), 0)]).status_code == 200
        assert world.people.counts() == [2, 0, 0, 0]


def test_a_question_that_is_asked_no_more_is_not_served(tmp_path: Path) -> None:
    other = [{**FLU["questions"][0], "name": "other"}]
    with serving(tmp_path):
        pass
    with serving(tmp_path, survey_of(questions=other)) as world:
        assert list(world.service.served) == ["health.other"]
        assert world.people.get("/v1/collections/health.flu").status_code == 404
        told = {"survey": "health", "questions": FLU["questions"]}
        assert world.operator("PUT", "/v1/surveys/health", json=told).status_code == 201
        assert list(world.service.served) == ["health.flu"]
        refused = {**told, "questions": other, "total": "lip=0.1"}
        assert world.operator("PUT", "/v1/surveys/health", json=refused).status_code == 422
        assert world.people.report([(new_id(), 0)]).json()["stored"] == 1


def test_a_panel_is_served_with_its_file_and_keeps_no_other_from_it(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("person,no,yes\na,60,40\nb,30,70\n")
    asked = {"name": "q", "ask": "?", "values": ["no", "yes"], "guarantee": "lip=1"}
    told = {"survey": "panel", "questions": [{**asked, "panel": "people.csv"}]}
    survey = Survey.from_data(told, str(tmp_path / "survey.json"))
    with serving(tmp_path, survey) as world:
        table = world.service.served["panel.q"].collection.panel["a"]
        reports = [(new_id(), 0)]
        world.people.report(reports, collection="panel.q", mechanism=table)
    with serving(tmp_path) as world:
        assert list(world.service.served) == ["health.flu"]
        assert world.people.report([(new_id(), 0)]).status_code == 200
    with serving(tmp_path, Survey.from_data(told, str(tmp_path / "survey.json"))) as world:
        told_now = world.people.get("/v1/collections/panel.q/aggregate").json()
        assert told_now["reports"] == 1
