"""What everybody may ask: descriptions, mechanisms, counts and estimates."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import logging
import random
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from liftlock import Aggregate, Mechanism
from liftlock.collect import wire
from liftlock.collect.server.service import differences
from liftlock.collect.survey import Survey
from tests.unit.collect.server.harness import FLU, REPORTS, World, new_id, serving, survey_of

FLU_PATH = "/v1/collections/health.flu"
COUNTS = (4, 1, 3, 9)


def fill(world: World, counts: tuple[int, ...] = COUNTS, collection: str = "health.flu") -> None:
    reports = [(new_id(), output) for output, number in enumerate(counts) for _ in range(number)]
    assert world.people.report(reports, collection=collection).status_code == 200


def test_the_description_says_what_people_agree_to(world: World) -> None:
    found = world.people.get(FLU_PATH)
    told = found.json()
    assert found.headers["cache-control"] == "no-cache"
    assert told["outputs"] == world.layout.outputs
    for key in ("ask", "labels", "guarantee", "repeat_rule", "opens", "closes", "least", "state"):
        assert key in told
    again = world.people.get(FLU_PATH, headers={"if-none-match": found.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == found.headers["etag"]
    world.operator("POST", f"{FLU_PATH}/close")
    after = world.people.get(FLU_PATH, headers={"if-none-match": found.headers["etag"]})
    assert (after.status_code, after.json()["state"]) == (200, "closed")


def test_a_mechanism_is_its_digest_whole_and_for_a_year(world: World, tmp_path: Path) -> None:
    digest = world.people.get(FLU_PATH).json()["mechanism"]
    path = f"/v1/mechanisms/{digest}"
    found = world.people.get(path)
    assert hashlib.sha256(found.content).hexdigest() == digest
    assert found.headers["cache-control"] == "public, max-age=31536000, immutable"
    (tmp_path / "m.json").write_bytes(found.content)
    assert len(Mechanism.load(tmp_path / "m.json").table.outputs) == world.layout.outputs
    part = world.people.get(path, headers={"range": "bytes=0-9"})
    assert (part.status_code, part.content) == (200, found.content)
    known = world.people.get(path, headers={"if-none-match": f'W/"{digest}", "x"'})
    assert known.status_code == 304
    for other in ("0" * 64, digest[:-1], digest.upper(), "x"):
        assert world.people.get(f"/v1/mechanisms/{other}").status_code == 404


@pytest.mark.parametrize("path", [FLU_PATH, "/v1/collections", "/healthz", "/openapi.json"])
def test_head_has_the_headers_of_get(world: World, path: str) -> None:
    get, head = world.people.get(path), world.people("HEAD", path)
    assert (head.status_code, head.content, head.headers) == (200, b"", get.headers)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (FLU_PATH, "GET, HEAD, OPTIONS"),
        (REPORTS, "OPTIONS, POST"),
        (f"{FLU_PATH}/estimate", "GET, HEAD, OPTIONS"),
        ("/healthz", "GET, HEAD, OPTIONS"),
    ],
)
def test_other_methods_are_told_the_right_ones(world: World, path: str, allowed: str) -> None:
    told = world.people("OPTIONS", path)
    assert (told.status_code, told.headers["allow"]) == (204, allowed)
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"} - {
        *allowed.split(", ")
    }:
        found = world.people(method, path)
        assert (found.status_code, found.headers["allow"]) == (405, allowed)
        assert method == "HEAD" or found.json()["type"] == "/problems/method-not-allowed"


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v2/collections", f"{FLU_PATH}/", "/../etc/passwd"]
)
def test_what_is_not_there_is_not_found(world: World, path: str) -> None:
    found = world.people.get(path)
    assert (found.status_code, found.json()["type"]) == (404, "/problems/not-found")


def test_counts_have_every_report_that_was_answered(world: World) -> None:
    assert world.people.counts() == [0, 0, 0, 0]
    for number in range(1, 20):
        world.people.report([(new_id(), 2)])
        told = world.people.get(f"{FLU_PATH}/aggregate").json()
        assert (told["counts"], told["reports"]) == ([0, 0, number, 0], number)
        assert told["mechanisms"] == {world.layout.mechanism: told["counts"]}
    assert "not of answers" in told["note"]


def test_many_who_ask_at_a_time_are_all_right(world: World) -> None:
    """Each asks right after its own report was answered, while others are being counted."""
    digest = world.layout.mechanism
    http = world.people.http
    answered = 0

    async def one() -> None:
        nonlocal answered
        body = wire.write_json(new_id(), digest, [(new_id(), 1)])
        headers = {"content-type": wire.JSON}
        await http.post(REPORTS, content=body, headers=headers)
        answered += 1
        before = answered
        found = (await http.get(f"{FLU_PATH}/aggregate")).json()
        assert found["counts"][1] >= before

    async def everyone() -> None:
        await asyncio.gather(*(one() for _ in range(100)))

    world.people.loop.run_until_complete(everyone())
    assert world.people.counts() == [0, 100, 0, 0]


@pytest.mark.parametrize("level", [None, "0.9", "0.99"])
@pytest.mark.parametrize("seed", range(3))
def test_the_estimate_is_that_of_the_mechanism_bit_for_bit(
    world: World, tmp_path: Path, level: str | None, seed: int
) -> None:
    drawn = random.Random(seed)
    counts = tuple(drawn.randrange(60) for _ in range(4))
    fill(world, counts)
    digest = world.layout.mechanism
    path = tmp_path / "mechanism.json"
    path.write_bytes(world.people.get(f"/v1/mechanisms/{digest}").content)
    mechanism = Mechanism.load(path)
    options: dict[str, Any] = {} if level is None else {"level": level}
    aggregate = Aggregate(mechanism.reported.fingerprint, counts, sum(counts))
    expected = mechanism.estimate(aggregate, **options).to_data()
    told = world.people.get(f"{FLU_PATH}/estimate", params=options).json()
    assert {key: told[key] for key in expected} == json.loads(json.dumps(expected))
    assert {*told} - {*expected} == {"collection", "revision"}


def test_an_estimate_needs_a_report(world: World) -> None:
    found = world.people.get(f"{FLU_PATH}/estimate")
    assert (found.status_code, found.json()["type"]) == (409, "/problems/too-few-reports")
    assert found.json()["least"] == 1


@pytest.mark.parametrize(
    "query", ["level=2", "level=0", "level=1", "level=x", "of=sum", "level=0.9&level=0.8", "%00=1"]
)
def test_other_questions_are_refused(world: World, query: str) -> None:
    fill(world)
    found = world.people.get(f"{FLU_PATH}/estimate?{query}")
    assert (found.status_code, found.json()["type"]) == (400, "/problems/malformed")


def test_too_few_reports_are_not_shown(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(least=10)) as world:
        fill(world, (3, 3, 3, 0))
        for part in ("estimate", "aggregate", "history?by=day"):
            found = world.people.get(f"{FLU_PATH}/{part}")
            assert (found.status_code, found.json()["least"]) == (409, 10)
        fill(world, (0, 0, 0, 1))
        for part in ("estimate", "aggregate", "history?by=day"):
            assert world.people.get(f"{FLU_PATH}/{part}").status_code == 200


def test_results_for_analysts_need_a_token(tmp_path: Path) -> None:
    with serving(tmp_path, survey_of(results="analysts")) as world:
        fill(world)
        made = {
            role: world.operator("POST", "/v1/operators", json={"name": role, "role": role}).json()
            for role in ("analyst", "auditor", "owner")
        }
        for part in ("estimate", "aggregate", "history"):
            path = f"{FLU_PATH}/{part}"
            found = world.people.get(path)
            assert found.status_code == 401
            assert found.headers["www-authenticate"].startswith("Bearer")
            for role, status in (("analyst", 200), ("auditor", 403), ("owner", 200)):
                headers = {"authorization": f"Bearer {made[role]['token']}"}
                assert world.people.get(path, headers=headers).status_code == status
        assert world.people.get(FLU_PATH).status_code == 200


def test_history_adds_up_to_the_counts(world: World) -> None:
    fill(world)
    fill(world)
    told = world.people.get(f"{FLU_PATH}/history?by=day").json()
    days = [day[world.layout.mechanism] for day in told["days"].values()]
    assert [sum(column) for column in zip(*days, strict=True)] == [2 * each for each in COUNTS]
    assert all(len(day) == len("2026-01-01") for day in told["days"])


def test_groups_and_levels_are_told_apart(tmp_path: Path) -> None:
    question = {
        "name": "flu",
        "ask": "How are you?",
        "values": ["none", "flu"],
        "levels": {"low": "ldp=0.5", "high": "ldp=2"},
    }
    survey = Survey.from_data({"survey": "health", "questions": [question]})
    with serving(tmp_path, survey) as world:
        told = world.people.get(FLU_PATH).json()
        digests = {each["level"]: each["digest"] for each in told["mechanisms"]}
        world.people.report([(new_id(), 0)] * 1, mechanism=digests["low"])
        world.people.report([(new_id(), 1), (new_id(), 1)], mechanism=digests["high"])
        found = world.people.get(f"{FLU_PATH}/aggregate").json()
        assert found["mechanisms"][digests["low"]] == [1, 0]
        assert found["mechanisms"][digests["high"]] == [0, 2]
        estimated = world.people.get(f"{FLU_PATH}/estimate")
        assert (estimated.status_code, estimated.json()["reports"]) == (200, 3)


@dataclass(frozen=True)
class Slow:
    """A collection whose estimates take until they are let go, and are counted."""

    collection: Any
    started: threading.Event
    let_go: threading.Event
    computed: list[int]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.collection, name)

    def estimate(self, counts: Any, **options: Any) -> Any:
        self.started.set()
        assert self.let_go.wait(60)
        self.computed.append(sum(map(sum, counts.values())))
        return self.collection.estimate(counts, **options)


def test_uploads_go_on_while_an_estimate_is_computed_and_each_is_computed_once(
    world: World,
) -> None:
    fill(world)
    served = world.service.served["health.flu"]
    slow = Slow(served.collection, threading.Event(), threading.Event(), [])
    served.collection = slow  # type: ignore[assignment]
    http = world.people.http
    digest = world.layout.mechanism

    async def estimate() -> Any:
        return await http.get(f"{FLU_PATH}/estimate")

    async def play() -> None:
        asked = [asyncio.create_task(estimate()) for _ in range(20)]
        while not slow.started.is_set():
            await asyncio.sleep(0)
        for _ in range(5):
            body = wire.write_json(new_id(), digest, [(new_id(), 0)])
            sent = await http.post(REPORTS, content=body, headers={"content-type": wire.JSON})
            assert sent.status_code == 200
        assert not any(task.done() for task in asked)
        slow.let_go.set()
        bodies = {(await task).content for task in asked}
        assert len(bodies) == 1

    world.people.loop.run_until_complete(play())
    assert slow.computed == [sum(COUNTS)]
    assert world.people.get(f"{FLU_PATH}/estimate").json()["reports"] == sum(COUNTS) + 5
    assert world.people.get(f"{FLU_PATH}/estimate").status_code == 200
    assert slow.computed == [sum(COUNTS), sum(COUNTS) + 5]


def test_estimates_that_wait_are_bounded(world: World) -> None:
    fill(world)
    served = world.service.served["health.flu"]
    slow = Slow(served.collection, threading.Event(), threading.Event(), [])
    served.collection = slow  # type: ignore[assignment]

    async def play() -> list[int]:
        asked = [
            asyncio.create_task(world.people.http.get(f"{FLU_PATH}/estimate?level=0.{at}"))
            for at in range(10, 40)
        ]
        done, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        assert {task.result().status_code for task in done} == {503}
        slow.let_go.set()
        return [(await task).status_code for task in asked]

    statuses = world.people.loop.run_until_complete(play())
    assert statuses.count(200) == len(slow.computed) == 8


def test_differences_are_named() -> None:
    before = survey_of().content()
    after = survey_of(least=5, title="Health").content()
    assert differences(before, after) == ["least", "title"]
    question = {**FLU["questions"][0], "ask": "Ill?"}
    assert differences(before, survey_of(questions=[question]).content()) == ["questions[0].ask"]


def test_answers_are_json_that_other_readers_read(world: World) -> None:
    fill(world)
    for part in ("", "/estimate", "/aggregate", "/history"):
        content = world.people.get(FLU_PATH + part).content
        assert json.loads(content) == msgspec.json.decode(content)


@dataclass(frozen=True)
class Broken:
    """A collection whose estimates fail, with words that nobody should read."""

    collection: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.collection, name)

    def estimate(self, counts: Any, **options: Any) -> Any:
        raise RuntimeError("words of a failure")


def test_a_failure_is_a_problem_too_and_its_words_stay_inside(world: World) -> None:
    fill(world)
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    log = logging.getLogger("liftlock.collect")
    served = world.service.served["health.flu"]
    served.collection = Broken(served.collection)  # type: ignore[assignment]
    log.addHandler(handler)
    try:
        found = world.people.get(f"{FLU_PATH}/estimate")
    finally:
        log.removeHandler(handler)
    assert (found.status_code, found.json()["type"]) == (500, "/problems/internal")
    assert "RuntimeError at" in written.getvalue()
    assert "words of a failure" not in written.getvalue() + found.text


def test_a_store_that_was_ended_is_busy(world: World) -> None:
    world.service.store.shutdown()
    for part in ("aggregate", "estimate", "history"):
        found = world.people.get(f"{FLU_PATH}/{part}")
        assert (found.status_code, found.json()["type"]) == (503, "/problems/busy")
    found = world.operator("POST", f"{FLU_PATH}/close")
    assert (found.status_code, found.json()["type"]) == (503, "/problems/busy")
