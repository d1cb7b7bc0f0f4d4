"""The server as a process: its two addresses, its end, and what is left of those who asked."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from liftlock.collect import wire
from tests.unit.collect.server.harness import REPORTS, TOKEN, Process, new_id, running

FLU_PATH = "v1/collections/health.flu"


def digest_of(process: Process) -> str:
    return str(httpx.get(f"{process.public}{FLU_PATH}").json()["mechanism"])


def test_two_addresses_in_one_process(tmp_path: Path, survey_file: Path) -> None:
    with running(tmp_path, survey_file) as process:
        assert httpx.get(f"{process.public}healthz").json() == {"alive": True}
        assert httpx.get(f"{process.public}v1/trail").status_code == 404
        assert httpx.get(f"{process.admin}v1/trail").status_code == 401
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{process.admin}v1/trail", headers=headers).json() == {"trail": []}
        assert process.stop() == 0
    assert TOKEN not in "".join(process.lines) + process.errors.read_text()


def test_a_second_process_on_the_same_file_is_refused(tmp_path: Path, survey_file: Path) -> None:
    with running(tmp_path, survey_file) as process:
        digest = digest_of(process)
        with running(tmp_path, survey_file) as second:
            assert second.public == ""
            assert second.stop() == 1
        body = wire.write_json(new_id(), digest, [(new_id(), 1)])
        headers = {"content-type": wire.JSON}
        found = httpx.post(process.public.rstrip("/") + REPORTS, content=body, headers=headers)
        assert found.json() == {"stored": 1, "rejected": []}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_what_was_answered_is_counted_after_any_end(
    tmp_path: Path, survey_file: Path, number: signal.Signals
) -> None:
    answered: list[str] = []
    others: set[int] = set()
    with running(tmp_path, survey_file) as process:
        digest = digest_of(process)
        url = process.public.rstrip("/") + REPORTS
        headers = {"content-type": wire.JSON}

        def send() -> None:
            with httpx.Client() as http:
                while True:
                    name = new_id()
                    body = wire.write_json(new_id(), digest, [(name, 1)])
                    try:
                        found = http.post(url, content=body, headers=headers)
                    except httpx.HTTPError:
                        return
                    if found.status_code == 200:
                        answered.append(name)
                    else:
                        others.add(found.status_code)

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(answered) < 100:
            time.sleep(0.01)
        status = process.stop(number)
        for thread in threads:
            thread.join()
    assert status == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    assert others <= {503}
    with running(tmp_path, survey_file) as process:
        first = httpx.get(f"{process.public}{FLU_PATH}/aggregate").json()["counts"][1]
        assert first >= len(answered)
        if number != signal.SIGKILL:
            assert first == len(answered)
        body = wire.write_json(new_id(), digest, [(name, 1) for name in answered[:1000]])
        url = process.public.rstrip("/") + REPORTS
        again = httpx.post(url, content=body, headers=headers)
        assert again.json()["stored"] == len(answered[:1000])
        assert httpx.get(f"{process.public}{FLU_PATH}/aggregate").json()["counts"][1] == first


def test_while_it_drains_others_are_told_to_take_over(tmp_path: Path, survey_file: Path) -> None:
    with running(tmp_path, survey_file, drain_seconds=5) as process:
        digest = digest_of(process)
        process.process.send_signal(signal.SIGTERM)
        while httpx.get(f"{process.public}readyz").status_code == 200:
            time.sleep(0.01)
        body = wire.write_json(new_id(), digest, [(new_id(), 1)])
        headers = {"content-type": wire.JSON}
        found = httpx.post(process.public.rstrip("/") + REPORTS, content=body, headers=headers)
        assert (found.status_code, found.json()["type"]) == (503, "/problems/busy")
        assert "retry-after" in found.headers
        assert process.process.wait(60) == 0


PLANTED = {
    "address": "203.0.113.77",
    "agent": "PlantedAgent/9.9",
    "cookie": "planted-cookie-value",
    "referer": "planted-referer.example",
    "query": "planted-query-value",
    "path": "planted-path-value",
    "answer": "planted true answer",
    "field": "planted-header-field",
    "token": "planted-bearer-token-value",
}


def plant(process: Process, digest: str) -> list[str]:
    """Ask for all sorts of things with planted values; return the ids of reports that count."""
    batch, good = "ba7c" * 8, [f"{at:032x}" for at in range(0xFEED0000, 0xFEED0020)]
    headers = {
        "x-forwarded-for": PLANTED["address"],
        "user-agent": PLANTED["agent"],
        "cookie": f"a={PLANTED['cookie']}",
        "referer": f"https://{PLANTED['referer']}/",
        "authorization": f"Bearer {PLANTED['token']}",
        "x-planted": PLANTED["field"],
    }
    media = {**headers, "content-type": wire.JSON}
    query = {"q": PLANTED["query"]}
    reports = process.public.rstrip("/") + REPORTS
    good_body = wire.write_json(batch, digest, [(name, 1) for name in good])
    bodies = [
        good_body,
        good_body.replace(b'"batch"', f'"answer":"{PLANTED["answer"]}","batch"'.encode()),
        PLANTED["answer"].encode(),
        good_body.replace(b",1]", b",99]"),
        b'{"batch":"' + PLANTED["answer"].encode(),
    ]
    with httpx.Client() as http:
        for body in bodies:
            http.post(reports, content=body, headers=media, params=query)
        http.post(reports, content=bodies[2], headers={**headers, "content-type": wire.BINARY})
        for base in (process.public, process.admin):
            for path in ("", PLANTED["path"], FLU_PATH, f"{FLU_PATH}/estimate", "v1/trail"):
                for method in ("GET", "PUT", "DELETE", "OPTIONS", "HEAD"):
                    http.request(method, base + path, headers=headers, params=query)
        garbage = httpx.URL(process.public)
        http.get(f"{garbage}%00{PLANTED['path']}", headers=headers)
    return good


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_nothing_of_who_asked_is_kept(tmp_path: Path, survey_file: Path) -> None:
    """The database, its journal and all logs are read byte by byte for what was planted."""
    folder = tmp_path / "kept"
    folder.mkdir()
    since = int(time.time()) - 60
    with running(folder, survey_file, proxies="127.0.0.1", requests_per_minute=100_000) as process:
        good = plant(process, digest_of(process))
        while_running = kept(folder)
        assert httpx.get(f"{process.public}{FLU_PATH}/aggregate").json()["counts"][1] == len(good)
        scraped = httpx.get(f"{process.admin}metrics").content
        lines = "".join(process.lines).encode()
        assert process.stop() == 0
    assert any(name.endswith("-wal") for name in while_running)
    places = {
        **while_running,
        **{f"{name} at the end": each for name, each in kept(folder).items()},
    }
    places |= {"metrics": scraped, "printed": lines}
    for name, content in places.items():
        for value in PLANTED.values():
            assert value.encode() not in content, (value, name)
            assert value.encode("utf-16-le") not in content, (value, name)
        for batch in (b"ba7c" * 8, bytes.fromhex("ba7c" * 8)):
            assert batch not in content, name
        if "log" in name or name in ("metrics", "printed"):
            assert not re.search(rb"[0-9]:[0-9]{2}", content.replace(b"127.0.0.1:", b"")), name
            assert b"127.0.0.1" not in content or name == "printed"
            assert not any(each.encode() in content for each in good)
    assert not stored_times(folder / "store.sqlite", since, int(time.time()) + 60)


def stored_times(path: Path, since: int, until: int) -> list[object]:
    """Return whatever is stored that could be a time of this test finer than a day."""
    database = sqlite3.connect(path)
    try:
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        values = [
            value
            for table in tables
            for row in database.execute(f"SELECT * FROM {table}")
            for value in row
        ]
    finally:
        database.close()
    spans = [(since * scale, until * scale) for scale in (1, 10**3, 10**6, 10**9)]
    return [
        value
        for value in values
        if (isinstance(value, int | float) and any(low < value < high for low, high in spans))
        or (isinstance(value, str) and re.search(r"[T ][0-9]{2}:[0-9]{2}", value))
    ]


def test_the_factory_serves_under_uvicorn_and_writes_no_addresses(
    tmp_path: Path, survey_file: Path
) -> None:
    environment = {
        **os.environ,
        "LIFTLOCK_COLLECT_SURVEYS": str(survey_file),
        "LIFTLOCK_COLLECT_STORE": str(tmp_path / "store.sqlite"),
    }
    command = [sys.executable, "-m", "uvicorn", "--factory", "liftlock.collect:app", "--port", "0"]
    log = tmp_path / "uvicorn.log"
    with log.open("w") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
        try:
            while not (found := re.search(r"http://127.0.0.1:\d+", log.read_text())):
                assert process.poll() is None, log.read_text()
                time.sleep(0.05)
            base = found.group()
            digest = httpx.get(f"{base}/{FLU_PATH}").json()["mechanism"]
            body = wire.write_json(new_id(), digest, [(new_id(), 2)])
            headers = {"content-type": wire.JSON}
            sent = httpx.post(base + REPORTS, content=body, headers=headers)
            assert sent.json() == {"stored": 1, "rejected": []}
            assert httpx.get(f"{base}/{FLU_PATH}/aggregate").json()["counts"] == [0, 0, 1, 0]
            process.terminate()
            process.wait(60)
        finally:
            process.kill()
            process.wait()
    assert "health.flu" not in log.read_text()
    assert "GET" not in log.read_text()
