"""Uploads: what is stored, what is refused, and that a refusal counts nothing."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from liftlock.collect import app, wire
from liftlock.collect.survey import Survey
from tests.unit.collect.server.harness import REPORTS, Client, World, new_id, serving, survey_of

TYPE = {"content-type": "application/json"}


def key_of(response: Any) -> str:
    told = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert told["status"] == response.status_code
    return str(told["type"]).removeprefix("/problems/")


def test_reports_are_counted_in_both_forms(world: World) -> None:
    one, two = [(new_id(), 0), (new_id(), 2)], [(new_id(), 2), (new_id(), 3), (new_id(), 2)]
    assert world.people.report(one).json() == {"stored": 2, "rejected": []}
    body = wire.write_binary(new_id(), world.layout, two)
    headers = {"content-type": wire.BINARY}
    found = world.people("POST", REPORTS, content=body, headers=headers)
    assert (found.status_code, found.json()) == (200, {"stored": 3, "rejected": []})
    assert world.people.counts() == [1, 0, 3, 1]


def test_a_repeated_report_is_a_success_and_counts_once(world: World) -> None:
    reports = [(new_id(), 1), (new_id(), 2)]
    for _ in range(3):
        assert world.people.report(reports).json() == {"stored": 2, "rejected": []}
    assert world.people.report([(reports[0][0], 3)]).json() == {"stored": 1, "rejected": []}
    assert world.people.counts() == [0, 1, 1, 0]


def test_only_reports_without_such_an_output_are_rejected(world: World) -> None:
    bad = [(new_id(), 4), (new_id(), -1)]
    found = world.people.report([bad[0], (new_id(), 1), bad[1]])
    assert found.status_code == 200
    assert found.json() == {
        "stored": 1,
        "rejected": [{"id": name, "type": "/problems/output-out-of-range"} for name, _ in bad],
    }
    assert world.people.report(bad).json()["stored"] == 0
    assert world.people.counts() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("content", "headers", "status", "key"),
    [
        (b"{}", TYPE, 400, "malformed"),
        (b"{}", {}, 415, "unsupported-media-type"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported-media-type"),
        (b"{}", {**TYPE, "content-encoding": "gzip"}, 415, "unsupported-media-type"),
        (b"x" * 300_000, TYPE, 413, "too-large"),
        (b"x", {**TYPE, "content-length": "-1"}, 400, "malformed"),
        (b"x", {**TYPE, "content-length": "9" * 5000}, 413, "too-large"),
        (b"x", {"content-type": wire.BINARY}, 400, "malformed"),
    ],
)
def test_other_bodies_are_refused(
    world: World, content: bytes, headers: dict[str, str], status: int, key: str
) -> None:
    found = world.people("POST", REPORTS, content=content, headers=headers)
    assert (found.status_code, key_of(found)) == (status, key)
    assert sum(world.people.counts()) == 0


def test_reports_of_another_mechanism_are_told_the_right_one(world: World) -> None:
    found = world.people.report([(new_id(), 0)], mechanism="0" * 64)
    assert (found.status_code, key_of(found)) == (409, "other-mechanism")
    assert found.json()["mechanism"] == world.layout.mechanism
    assert sum(world.people.counts()) == 0


def test_too_many_reports_are_refused_together(world: World) -> None:
    thousand = [(new_id(), 0) for _ in range(1000)]
    found = world.people.report([*thousand, (new_id(), 0)])
    assert (found.status_code, key_of(found), found.json()["most"]) == (413, "too-many", 1000)
    assert world.people.report(thousand).json()["stored"] == 1000
    assert world.people.counts() == [1000, 0, 0, 0]


def test_there_is_no_such_collection(world: World) -> None:
    for path in ("/v1/collections/health.cold/reports", "/v1/collections//reports"):
        found = world.people("POST", path, content=b"{}", headers=TYPE)
        assert (found.status_code, key_of(found)) == (404, "unknown-collection")


@pytest.mark.parametrize(
    ("today", "key"), [("2026-05-01", "not-open-yet"), ("2026-05-06", "closed")]
)
def test_reports_come_while_it_is_open(tmp_path: Path, today: str, key: str) -> None:
    survey = survey_of(opens="2026-05-02", closes="2026-05-05")
    with serving(tmp_path, survey, today=date.fromisoformat(today)) as world:
        digest = world.layout.mechanism
        found = world.people.report([(new_id(), 0)], mechanism=digest)
        assert (found.status_code, key_of(found)) == (409, key)
        assert found.json()["closes" if key == "closed" else "opens"].startswith("2026-05-0")
        assert world.people.get("/v1/collections/health.flu").json()["state"] == key
        world.service.today = lambda: date(2026, 5, 5)
        assert world.people.report([(new_id(), 0)], mechanism=digest).status_code == 200


def test_questions_and_addresses_may_have_any_letters(tmp_path: Path) -> None:
    question = {"name": "lage", "ask": "Wie geht’s?", "values": ["gut", "schlecht 😷", "größer"]}
    told = {**question, "guarantee": "ldp=1"}
    with serving(tmp_path, Survey.from_data({"survey": "befund", "questions": [told]})) as world:
        found = world.people.get("/v1/collections/befund.lage").json()
        assert (found["ask"], found["labels"]) == (question["ask"], question["values"])
        for name in ("größe.lage", "befund.%00", "%2e%2e%2f", "😷" * 100, "a" * 5000):
            path = f"/v1/collections/{name}"
            for asked in (world.people.get(path), world.people("POST", f"{path}/reports")):
                assert asked.status_code == 404
                assert key_of(asked) in ("unknown-collection", "not-found")


def test_a_page_of_another_site_may_send_if_it_is_listed(tmp_path: Path) -> None:
    with serving(tmp_path, origins=["https://a.example"]) as world:
        asked = {
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type",
        }
        for origin, allowed in (("https://a.example", True), ("https://b.example", False)):
            headers = {"origin": origin}
            before = world.people("OPTIONS", REPORTS, headers={**headers, **asked})
            assert before.status_code == 204
            sent = world.people("POST", REPORTS, content=b"{}", headers={**headers, **TYPE})
            read = world.people.get("/v1/collections/health.flu", headers=headers)
            for found in (before, sent, read):
                told = found.headers.get("access-control-allow-origin")
                assert told == (origin if allowed else None)
                assert found.headers["vary"] == "origin"
            methods = before.headers.get("access-control-allow-methods", "")
            assert ("POST" in methods) == allowed
        assert world.people.get("/v1/collections/health.flu").headers["vary"] == "origin"
    with serving(tmp_path, origins=["*"]) as world:
        found = world.people.get("/v1/collections/health.flu")
        assert found.headers["access-control-allow-origin"] == "*"
    with serving(tmp_path) as world:
        found = world.people.get(
            "/v1/collections/health.flu", headers={"origin": "https://a.example"}
        )
        assert "access-control-allow-origin" not in found.headers


def test_one_address_has_a_limit_and_this_machine_has_none(tmp_path: Path) -> None:
    with serving(tmp_path, requests_per_minute=3) as world:
        digest = world.layout.mechanism

        def statuses(address: str) -> list[int]:
            return [ask(world, body_of(digest), client=(address, 1))[0]["status"] for _ in range(5)]

        assert statuses("203.0.113.7") == [200, 200, 200, 429, 429]
        assert statuses("203.0.113.8") == [200, 200, 200, 429, 429]
        assert statuses("2001:db8::1") == [200, 200, 200, 429, 429]
        assert statuses("2001:db8::2") == [429] * 5
        assert statuses("127.0.0.1") == [200] * 5
        asked = Client(world.public, client="203.0.113.9")
        try:
            path = "/v1/collections/health.flu/aggregate"
            assert [asked.get(path).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
        finally:
            asked.close()
        assert sum(world.people.counts()) == 14


def body_of(digest: str, number: int = 1) -> bytes:
    return wire.write_json(new_id(), digest, [(new_id(), 0) for _ in range(number)])


def ask(
    world: World, *parts: bytes, client: tuple[str, int] = ("127.0.0.1", 1), hang: bool = False
) -> list[Any]:
    """POST a body in parts, and return the messages of the answer."""
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    if not hang:
        waiting[-1]["more_body"] = False
    messages: list[Any] = []

    async def receive() -> Any:
        if waiting:
            return waiting.pop(0)
        return await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": REPORTS,
        "headers": [(b"content-type", b"application/json")],
        "client": client,
        "query_string": b"",
    }
    world.people.loop.run_until_complete(world.public(scope, receive, send))
    return messages


def test_a_body_may_come_in_parts(world: World) -> None:
    body = body_of(world.layout.mechanism, 5)
    start, end = ask(world, body[:1], b"", body[1:50], body[50:])
    assert (start["status"], json.loads(end["body"])["stored"]) == (200, 5)


def test_parts_without_end_are_refused_when_they_are_too_much(world: World) -> None:
    start, end = ask(world, *[b" " * 100_000] * 10, hang=True)
    assert (start["status"], json.loads(end["body"])["type"]) == (413, "/problems/too-large")


def test_a_body_that_never_ends_is_given_up(tmp_path: Path) -> None:
    with serving(tmp_path, body_seconds=0.05) as world:
        start, end = ask(world, b"{", hang=True)
        assert (start["status"], json.loads(end["body"])["type"]) == (408, "/problems/too-slow")


def test_a_client_that_went_away_counts_nothing(world: World) -> None:
    async def receive() -> Any:
        return {"type": "http.disconnect"}

    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": REPORTS, "headers": headers}
    world.people.loop.run_until_complete(world.public(scope, receive, send))
    assert messages[0]["status"] == 400
    assert sum(world.people.counts()) == 0


def test_at_the_end_others_are_told_to_take_over(world: World) -> None:
    digest = world.layout.mechanism
    world.service.draining = True
    found = world.people.report([(new_id(), 0)], mechanism=digest)
    assert (found.status_code, key_of(found)) == (503, "busy")
    assert int(found.headers["retry-after"]) >= 1
    assert world.people.get("/readyz").status_code == 503
    assert world.people.get("/healthz").status_code == 200


def test_when_too_many_wait_the_next_are_told_so(tmp_path: Path) -> None:
    with serving(tmp_path, most_waiting=4) as world:
        digest = world.layout.mechanism

        async def many() -> list[int]:
            sent = [
                world.people.http.post(REPORTS, content=body_of(digest), headers=TYPE)
                for _ in range(50)
            ]
            return [found.status_code for found in await asyncio.gather(*sent)]

        statuses = world.people.loop.run_until_complete(many())
        assert set(statuses) == {200, 503}
        assert sum(world.people.counts()) == statuses.count(200) >= 4


def test_a_store_that_was_ended_is_busy_and_not_a_failure(world: World) -> None:
    digest = world.layout.mechanism
    world.service.store.shutdown()
    found = world.people.report([(new_id(), 0)], mechanism=digest)
    assert (found.status_code, key_of(found)) == (503, "busy")


def test_signed_reports_need_their_tokens(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(tokens="signed"), survey_of(survey="other")) as world:
        path = "/v1/collections/health.flu/tokens"
        made = world.operator("POST", path, json={"number": 3}).json()["tokens"]
        names, tags = [each["id"] for each in made], [each["tag"] for each in made]
        reports = [(name, 1) for name in names]
        swapped = [tags[0], tags[2], tags[1]]
        found = world.people.report(reports, tokens=swapped).json()
        assert found["stored"] == 1
        assert found["rejected"] == [
            {"id": name, "type": "/problems/token-not-valid"} for name in names[1:]
        ]
        assert key_of(world.people.report(reports)) == "token-not-valid"
        assert world.people.report([(new_id(), 1)], tokens=[tags[0]]).json()["stored"] == 0
        rows = b"".join(
            bytes.fromhex(each["id"]) + b"\x02" + bytes.fromhex(each["tag"]) for each in made
        )
        body = bytes(16) + bytes.fromhex(world.layout.mechanism) + rows
        headers = {"content-type": wire.BINARY}
        found = world.people("POST", REPORTS, content=body, headers=headers).json()
        assert found == {"stored": 3, "rejected": []}
        assert world.people.counts() == [0, 1, 2, 0]
        elsewhere = "/v1/collections/other.flu/tokens"
        assert key_of(world.operator("POST", elsewhere, json={})) == "refused-survey"
    with serving(tmp_path, survey_of(tokens="signed"), survey_of(survey="other")) as world:
        found = world.people.report([(names[0], 3)], tokens=[tags[0]]).json()
        assert found["stored"] == 1
        assert world.people.counts() == [0, 1, 2, 0]


def test_open_collections_say_that_they_can_be_stuffed(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(), survey_of(survey="sure", tokens="signed")) as world:
        told = {
            name: world.people.get(f"/v1/collections/{name}").json()["stuffing"]
            for name in ("health.flu", "sure.flu")
        }
        assert "can be forged" in told["health.flu"]
        assert "token" in told["sure.flu"]


def test_the_factory_opens_and_shuts_down_with_the_server(
    tmp_path: Path, survey_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIFTLOCK_COLLECT_SURVEYS", str(survey_file))
    monkeypatch.setenv("LIFTLOCK_COLLECT_STORE", str(tmp_path / "store.sqlite"))
    application = app()
    told = live(application)
    assert [each["type"] for each in told] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    monkeypatch.setenv("LIFTLOCK_COLLECT_SURVEYS", str(tmp_path / "missing.json"))
    (failed,) = live(app())
    assert failed["type"] == "lifespan.startup.failed"
    assert "missing.json" in failed["message"]


def live(application: Any) -> list[Any]:
    """Start and stop an application."""
    messages: list[Any] = []
    told = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> Any:
        return told.pop(0)

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(application({"type": "lifespan"}, receive, send))
    return messages
