"""The operator's address: who may do what, and what is written down of it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from liftlock.collect.server.access import hash_token
from liftlock.collect.server.admin import ADMIN
from liftlock.collect.store import open_store
from tests.unit.collect.server.harness import FLU, World, new_id, serving, survey_of

FLU_PATH = "/v1/collections/health.flu"
GUARDED = [each for each in ADMIN if each.roles]


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def add(world: World, role: str) -> dict[str, str]:
    made = world.operator("POST", "/v1/operators", json={"name": role, "role": role})
    assert made.status_code == 201
    return bearer(made.json()["token"])


def key_of(found: Any) -> str:
    return str(found.json()["type"]).removeprefix("/problems/")


@pytest.mark.parametrize("endpoint", GUARDED, ids=lambda each: each.name)
def test_everything_needs_the_token_of_a_role(world: World, endpoint: Any) -> None:
    """Nobody, a wrong token, and every other role are refused before anything is read."""
    path = endpoint.path.format(collection="health.flu", survey="health", name="somebody")
    for headers in ({}, bearer("wrong"), {"authorization": "Basic eDp5"}, bearer("")):
        found = world.nobody(endpoint.method, path, headers=headers)
        assert (found.status_code, key_of(found)) == (401, "unauthorised")
        assert found.headers["www-authenticate"].startswith("Bearer")
    for role in {"analyst", "auditor"} - {*endpoint.roles}:
        found = world.nobody(endpoint.method, path, headers=add(world, role))
        assert (found.status_code, key_of(found)) == (403, "forbidden")
    assert sum(world.people.counts()) == 0
    assert world.people.get(FLU_PATH).json()["state"] == "open"


def test_a_survey_is_put_by_its_owner_and_can_be_put_again(world: World) -> None:
    told = {**FLU, "survey": "other"}
    for status in (201, 200):
        found = world.operator("PUT", "/v1/surveys/other", json=told)
        assert (found.status_code, found.json()["collections"]) == (status, ["other.flu"])
    assert world.people.report([(new_id(), 1)], collection="other.flu").json()["stored"] == 1
    changed = {**told, "least": 3}
    found = world.operator("PUT", "/v1/collections/other.flu", json=changed)
    assert (found.status_code, key_of(found)) == (409, "other-survey")
    assert "least" in found.json()["detail"]
    assert world.operator("PUT", "/v1/collections/other.flu", json=told).status_code == 200
    assert world.people.counts("other.flu") == [0, 1, 0, 0]


YAML = """
survey: other
questions:
  - name: q
    ask: Are you well?
    values: [yes, no]
    guarantee: ldp=1
"""
TOML = """
survey = "other"
[[questions]]
name = "q"
ask = "Are you well?"
values = ["yes", "no"]
guarantee = "ldp=1"
"""


@pytest.mark.parametrize(
    ("media", "body"), [("application/yaml", YAML), ("application/toml", TOML)]
)
def test_a_survey_is_put_in_each_language(world: World, media: str, body: str) -> None:
    headers = {"content-type": media}
    found = world.operator("PUT", "/v1/surveys/other", content=body, headers=headers)
    assert (found.status_code, found.json()["collections"]) == (201, ["other.q"])
    told = world.people.get("/v1/collections/other.q").json()
    assert told["labels"] == ["yes", "no"]


@pytest.mark.parametrize(
    ("path", "told", "status", "key"),
    [
        ("/v1/surveys/other", FLU, 422, "refused-survey"),
        ("/v1/collections/health.cold", FLU, 422, "refused-survey"),
        ("/v1/surveys/health", {**FLU, "questions": []}, 422, "refused-survey"),
        ("/v1/surveys/health", [], 422, "refused-survey"),
        ("/v1/surveys/health", {**FLU, "colour": 1}, 422, "refused-survey"),
    ],
)
def test_other_surveys_are_refused(
    world: World, path: str, told: Any, status: int, key: str
) -> None:
    before = world.people.get(FLU_PATH).content
    found = world.operator("PUT", path, json=told)
    assert (found.status_code, key_of(found)) == (status, key)
    assert world.people.get(FLU_PATH).content == before


@pytest.mark.parametrize(
    ("media", "content", "status", "key"),
    [
        ("application/json", b"{", 400, "malformed"),
        ("application/json", b"\xff", 400, "malformed"),
        ("application/yaml", b"a: [", 400, "malformed"),
        ("application/toml", b"==", 400, "malformed"),
        ("text/plain", b"{}", 415, "unsupported-media-type"),
        ("application/json", b" " * 4_000_001, 413, "too-large"),
    ],
)
def test_other_bodies_are_refused(
    world: World, media: str, content: bytes, status: int, key: str
) -> None:
    headers = {"content-type": media}
    found = world.operator("PUT", "/v1/surveys/health", content=content, headers=headers)
    assert (found.status_code, key_of(found)) == (status, key)


@pytest.mark.parametrize("name", ["/etc/passwd", "prior.csv", "../prior.csv"])
def test_a_survey_that_was_put_cannot_read_files_of_the_server(world: World, name: str) -> None:
    question = {**FLU["questions"][0], "prior": name}
    told = {"survey": "other", "questions": [question]}
    found = world.operator("PUT", "/v1/surveys/other", json=told)
    assert (found.status_code, key_of(found)) == (422, "refused-survey")
    assert "files are not read" in found.json()["detail"]


@pytest.mark.parametrize(
    "told",
    [
        {"mechanism": "/etc/passwd"},
        {"profiles": "/etc/passwd"},
        {"profiles": {"a": {"x": 1, "y": 2}, "b": {"x": 2, "y": 1}}, "edges": "/etc/passwd"},
    ],
)
def test_no_key_of_a_question_reads_files_of_the_server(world: World, told: dict[str, Any]) -> None:
    question = {"name": "q", "ask": "Well?", "guarantee": "profile=1", **told}
    found = world.operator(
        "PUT", "/v1/surveys/other", json={"survey": "other", "questions": [question]}
    )
    assert (found.status_code, key_of(found)) == (422, "refused-survey")
    assert "files are not read" in found.json()["detail"]


def test_edges_of_profiles_may_be_named_by_a_word(world: World) -> None:
    rows = {"a": {"x": 1, "y": 2}, "b": {"x": 2, "y": 1}}
    question = {"name": "q", "ask": "Well?", "guarantee": "profile=1", "profiles": rows}
    told = {"survey": "other", "questions": [{**question, "edges": "chain"}]}
    assert world.operator("PUT", "/v1/surveys/other", json=told).status_code == 201


def test_closing_and_erasing(world: World) -> None:
    digest = world.layout.mechanism
    world.people.report([(new_id(), 1)])
    for _ in range(2):
        assert world.operator("POST", f"{FLU_PATH}/close").json()["state"] == "closed"
    assert key_of(world.people.report([(new_id(), 1)])) == "closed"
    assert world.people.counts() == [0, 1, 0, 0]
    assert world.operator("DELETE", FLU_PATH).status_code == 204
    assert key_of(world.operator("DELETE", FLU_PATH)) == "unknown-collection"
    assert key_of(world.people.get(FLU_PATH)) == "unknown-collection"
    assert key_of(world.people.get(f"/v1/mechanisms/{digest}")) == "unknown-mechanism"


def test_exports_agree_with_the_counts(world: World) -> None:
    world.people.report([(new_id(), output) for output in (0, 2, 2, 3)])
    told = world.operator.get(f"{FLU_PATH}/export").json()
    assert told["mechanisms"][world.layout.mechanism] == world.people.counts()
    assert told["survey"] == survey_of().content()
    rows = world.operator.get(f"{FLU_PATH}/export?format=csv").text.splitlines()
    assert rows[0] == "collection,day,mechanism,output,reports"
    assert [int(row.rpartition(",")[2]) for row in rows[1:]] == world.people.counts()
    assert world.operator.get(f"{FLU_PATH}/export?format=xml").status_code == 400


def test_tokens_are_stored_hashed_and_can_be_revoked(tmp_path: Path) -> None:
    with serving(tmp_path) as world:
        analyst = add(world, "analyst")
        token = analyst["authorization"].removeprefix("Bearer ")
        assert world.nobody.get(f"{FLU_PATH}/export", headers=analyst).status_code == 200
        assert world.operator.get("/v1/operators").json() == {"operators": {"analyst": "analyst"}}
        assert world.service.store.find_token(hash_token(token)) == ("analyst", "analyst")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert token.encode() not in stored
    with serving(tmp_path) as world:
        assert world.nobody.get(f"{FLU_PATH}/export", headers=analyst).status_code == 200
        assert world.operator("DELETE", "/v1/operators/analyst").status_code == 204
        assert world.nobody.get(f"{FLU_PATH}/export", headers=analyst).status_code == 401
        assert key_of(world.operator("DELETE", "/v1/operators/analyst")) == "not-found"


@pytest.mark.parametrize(
    "told",
    [
        {"name": "a", "role": "king"},
        {"name": "", "role": "analyst"},
        {"name": "a\nb", "role": "analyst"},
        {"name": "a" * 101, "role": "analyst"},
        {"name": "a"},
        {"name": "a", "role": "analyst", "more": 1},
        [],
    ],
)
def test_other_operators_are_refused(world: World, told: Any) -> None:
    found = world.operator("POST", "/v1/operators", json=told)
    assert (found.status_code, key_of(found)) == (400, "malformed")
    assert world.operator.get("/v1/operators").json() == {"operators": {}}


def test_a_name_is_taken_once(world: World) -> None:
    add(world, "analyst")
    found = world.operator("POST", "/v1/operators", json={"name": "analyst", "role": "owner"})
    assert (found.status_code, key_of(found)) == (409, "name-taken")
    assert world.operator.get("/v1/operators").json() == {"operators": {"analyst": "analyst"}}


def test_nobody_is_called_what_cannot_be_revoked_or_told_apart(world: World) -> None:
    for name, key in ((".", "malformed"), ("..", "malformed"), ("operator", "name-taken")):
        told = {"name": name, "role": "analyst"}
        assert key_of(world.operator("POST", "/v1/operators", json=told)) == key
    assert world.operator.get("/v1/operators").json() == {"operators": {}}


def test_the_trail_says_who_did_what_on_which_day(world: World) -> None:
    owner, auditor = add(world, "owner"), add(world, "auditor")
    world.nobody("POST", f"{FLU_PATH}/close", headers=owner)
    lines = world.nobody.get("/v1/trail", headers=auditor).json()["trail"]
    assert [(line["who"], line["what"], line["collection"]) for line in lines] == [
        ("operator", "add owner owner", ""),
        ("operator", "add auditor auditor", ""),
        ("owner", "close", "health.flu"),
    ]
    assert {len(line["day"]) for line in lines} == {len("2026-01-01")}


def test_a_backup_is_a_store(tmp_path: Path) -> None:
    with serving(tmp_path, backups=str(tmp_path / "backups")) as world:
        world.people.report([(new_id(), 2)])
        names = [world.operator("POST", "/v1/backup").json()["backup"] for _ in range(2)]
    assert names == [f"store-2026-05-04-{number}.backup" for number in (1, 2)]
    copy = open_store(tmp_path / "backups" / names[1])
    try:
        assert copy.counts("health.flu").total == 1
        assert copy.verify() == []
    finally:
        copy.shutdown()


def test_the_key_of_write_tokens_is_for_nobody_else(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(tokens="signed")) as world:
        for number, status in ((1, 201), (0, 400), (10_001, 400), ("x", 400)):
            found = world.operator("POST", f"{FLU_PATH}/tokens", json={"number": number})
            assert found.status_code == status
    key = tmp_path / "store.sqlite.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32


def test_a_sound_store_is_said_to_be_sound(world: World) -> None:
    assert world.operator.get("/v1/verify").json() == {"sound": True, "wrong": []}


def test_metrics_count_and_name_nobody(world: World) -> None:
    world.people.report([(new_id(), 1), (new_id(), 9)])
    world.people.get("/nowhere-that-is-secret")
    found = world.nobody.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain")
    assert 'liftlock_reports_stored_total{collection="health.flu"} 1.0' in found.text
    assert 'liftlock_reports_rejected_total{collection="health.flu"} 1.0' in found.text
    assert 'liftlock_requests_total{endpoint="reports",status="200"} 1.0' in found.text
    assert "liftlock_report_seconds_count 1.0" in found.text
    assert "secret" not in found.text


def test_both_addresses_say_how_they_are(world: World) -> None:
    for client in (world.people, world.nobody):
        assert client.get("/healthz").json() == {"alive": True}
        assert client.get("/readyz").json()["ready"] is True
    assert world.people.get("/metrics").status_code == 404
    assert world.people.get("/v1/trail").status_code == 404


def test_json_of_any_size_in_small_bodies_is_refused(world: World) -> None:
    headers = {"content-type": "application/json"}
    found = world.operator("POST", "/v1/operators", content=b" " * 70_000, headers=headers)
    assert (found.status_code, key_of(found)) == (413, "too-large")
    nested = json.dumps({"name": "a", "role": "owner"}).replace("a", "[" * 1000, 1)
    found = world.operator("POST", "/v1/operators", content=nested, headers=headers)
    assert (found.status_code, key_of(found)) == (400, "malformed")
