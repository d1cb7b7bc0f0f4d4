"""`liftlock collect serve` as a process of its own, and the commands that ask it."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import pytest

from liftlock.cli.collect import collect_command
from liftlock.collect import Settings
from tests.postgres_cluster import missing, shared_cluster
from tests.unit.cli.collect.conftest import Health
from tests.unit.cli.conftest import Outcome, Run

TOKEN = "an-owner-of-this-test"


@dataclass
class Server:
    """A server that runs, and what it printed."""

    process: subprocess.Popen[str]
    said: str

    def address(self, name: str) -> str:
        found = re.search(rf"^{name} +(\S+)$", self.said, re.MULTILINE)
        assert found is not None, self.said
        return found[1]

    def get(self, path: str) -> bytes:
        with urllib.request.urlopen(self.address("people").rstrip("/") + path, timeout=60) as found:
            content: bytes = found.read()
        return content

    def stop(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGTERM)
        rest, _ = self.process.communicate(timeout=60)
        return self.process.returncode, rest


def start(folder: Path, *options: str, **environment: str) -> Server:
    command = [sys.executable, "-m", "liftlock.collect", "serve", *options]
    process = subprocess.Popen(
        [*command, "--port", "0", "--admin-port", "0"],
        cwd=folder,
        env=clean_environment() | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "Ctrl-C" in line:
            return Server(process, said)
    process.wait(60)
    process.stdout.close()
    return Server(process, said)


def clean_environment() -> dict[str, str]:
    import os

    return {k: v for k, v in os.environ.items() if not k.startswith("LIFTLOCK_COLLECT_")}


@pytest.fixture
def server(health: Health, tmp_path: Path) -> Iterator[Server]:
    made = start(tmp_path, "health.yaml", "--admin-token", TOKEN)
    assert made.process.poll() is None, made.said
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.process.kill()
        made.process.communicate()


def test_it_prints_where_it_is_and_ends_when_told(health: Health, run: Run, tmp_path: Path) -> None:
    made = start(tmp_path, "health.yaml")
    try:
        for name, path in (
            ("people", "/"),
            ("questions", "/s/health"),
            ("results", "/s/health/results"),
        ):
            assert made.address(name).endswith(path)
            with urllib.request.urlopen(made.address(name), timeout=60) as page:
                assert b"<!doctype html>" in page.read().lower()
        assert re.search(r"^owner token +ll_\S{43} +\(only shown now\)$", made.said, re.MULTILINE)
        assert re.search(r"^store +health.sqlite$", made.said, re.MULTILINE)
    finally:
        code, rest = made.stop()
    assert (code, rest) == (0, "")
    assert run("collect", "verify", "health.yaml").out == "the store is sound\n"


def test_the_commands_ask_the_server_that_has_the_store(
    server: Server, run: Run, health: Health, tmp_path: Path
) -> None:
    there = ("--server", server.address("admin"), "--token", TOKEN)

    def ask(*arguments: str) -> Outcome:
        done = run("collect", *arguments, *there)
        assert (done.code, done.err) == (0, ""), done.err
        return done

    held = run("collect", "estimate", "health.yaml")
    assert (held.code, held.out) == (2, "")
    assert "in use by another process" in held.err
    told = json.loads(ask("estimate", "health.yaml", "--json").out)
    page = json.loads(server.get("/v1/collections/health.flu/estimate"))
    assert told["health.flu"]["answers"] == page["answers"]
    assert ask("verify", "health.yaml").out == "the store is sound\n"
    copied = ask("backup", "health.yaml").out.removeprefix("copy written to ").strip()
    with sqlite3.connect(tmp_path / copied) as copy:
        assert copy.execute("select sum(n) from counts").fetchone() == (6000,)
    copy.close()
    ann = ask("token", "add", "ann", "health.yaml", "--role", "auditor").out.strip()
    assert ask("token", "list", "health.yaml").out.split()[2:] == ["ann", "auditor"]
    for token, remedy in ((ann, "ask for a token of an owner"), ("ll_unknown", "--token")):
        no = run("collect", "close", "health.yaml", "--yes", *there[:2], "--token", token)
        assert (no.code, no.out) == (2, "")
        assert remedy in no.err
    ask("token", "revoke", "ann", "health.yaml")
    assert "are closed" not in ask("close", "health.yaml", "--question", "flu", "--yes").out
    states = {each["name"]: each["state"] for each in _collections(server)}
    assert states == {"health.flu": "closed", "health.smoking": "open"}
    ask("erase", "health.yaml", "--question", "smoking", "--yes")
    assert [each["name"] for each in _collections(server)] == ["health.flu"]
    assert server.stop() == (0, "")


def _collections(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(server.get("/v1/collections"))["collections"]
    return found


def test_the_token_may_come_from_the_environment(
    server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = ("collect", "verify", "health.yaml", "--server", server.address("admin"))
    without = run(*there)
    assert without.code == 2
    assert "LIFTLOCK_COLLECT_ADMIN_TOKEN" in without.err
    monkeypatch.setenv("LIFTLOCK_COLLECT_ADMIN_TOKEN", TOKEN)
    assert run(*there).out == "the store is sound\n"


def test_a_wrong_token_and_the_wrong_address_are_told_apart(server: Server, run: Run) -> None:
    ask = ("collect", "estimate", "health.yaml", "--server")
    token = run(*ask, server.address("admin"), "--token", "another")
    assert token.code == 2
    assert "the server does not know this token" in token.err
    address = run(*ask, server.address("people"), "--token", TOKEN)
    assert address.code == 2
    assert "the one that people answer at" in address.err


def test_revoking_an_unknown_token_names_it(server: Server, run: Run) -> None:
    there = ("--server", server.address("admin"), "--token", TOKEN)
    done = run("collect", "token", "revoke", "zoe", "health.yaml", *there)
    assert done.code == 2
    assert "no operator is named 'zoe'" in done.err


def test_a_second_server_on_the_store_is_refused(server: Server, tmp_path: Path) -> None:
    second = start(tmp_path, "health.yaml")
    assert second.process.returncode == 2
    assert second.said.count("\n") == 1
    assert "in use by another process" in second.said


def test_a_survey_that_is_refused_is_not_served(health: Health, tmp_path: Path) -> None:
    text = (tmp_path / "health.yaml").read_text(encoding="utf-8")
    (tmp_path / "health.yaml").write_text(f"total: lip=0.5\n{text}", encoding="utf-8")
    made = start(tmp_path, "health.yaml")
    assert made.process.returncode == 2
    assert made.said.startswith("liftlock: the survey health is refused")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["health.yaml", "--port", "many"], "port is not a whole number"),
        (["health.yaml", "--postgres", "mysql://x"], "postgresql://USER@HOST/DATABASE"),
        (["health.yaml", "--postgres", "postgresql://x", "--store", "y"], "give one of them"),
        ([], "neither a survey nor a store"),
        (["health.yaml", "--settings", "settings.toml"], "did you mean 'port'?"),
        (["nothing.yaml"], "nothing.yaml"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    run: Run, health: Health, arguments: list[str], said: str
) -> None:
    done = run("collect", "serve", *arguments, files={"settings.toml": "prot = 1"})
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert said in done.err


def test_the_next_start_serves_the_very_same_mechanisms(health: Health, tmp_path: Path) -> None:
    """Whatever a newer version would design: what is kept is proved again, and served."""
    folder = tmp_path / "health.mechanisms"
    first = start(tmp_path, "health.yaml")
    try:
        before = json.loads(first.get("/v1/collections/health.flu"))["mechanism"]
    finally:
        assert first.stop() == (0, "")
    kept = (folder / f"{before}.json").read_text(encoding="utf-8")
    text = json.dumps(json.loads(kept)).encode()  # as another version might write it
    digest = hashlib.sha256(text).hexdigest()
    (folder / f"{digest}.json").write_bytes(text)
    index = (folder / "index.json").read_text(encoding="utf-8")
    (folder / "index.json").write_text(index.replace(before, digest), encoding="utf-8")
    (tmp_path / "health.sqlite").unlink()
    second = start(tmp_path, "health.yaml")
    try:
        assert json.loads(second.get("/v1/collections/health.flu"))["mechanism"] == digest
        assert second.get(f"/v1/mechanisms/{digest}") == text
    finally:
        second.stop()


def test_unknown_variables_of_the_environment_are_refused(
    run: Run, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIFTLOCK_COLLECT_PROT", "8123")
    done = run("collect", "serve", "health.yaml")
    assert done.code == 2
    assert "the variable LIFTLOCK_COLLECT_PROT: 'prot'; did you mean 'port'?" in done.err


def test_every_setting_is_an_option() -> None:
    serve = collect_command.commands["serve"]
    options = {each.name for each in serve.params if isinstance(each, click.Option)}
    assert options >= {each.name for each in fields(Settings)} - {"surveys"}


def test_settings_come_from_a_file_the_environment_and_options(
    health: Health, tmp_path: Path
) -> None:
    (tmp_path / "one.sqlite").write_bytes(b"")
    (tmp_path / "settings.toml").write_text(
        'store = "one.sqlite"\nadmin_token = "of-the-file-1234567890"\n', encoding="utf-8"
    )
    made = start(
        tmp_path,
        *("health.yaml", "--settings", "settings.toml"),
        LIFTLOCK_COLLECT_STORE=str(tmp_path / "two.sqlite"),
    )
    assert made.process.poll() is None, made.said
    assert "owner token" not in made.said
    assert made.said.count("two.sqlite") == 1
    assert made.stop() == (0, "")


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_a_server_on_postgresql_and_commands_beside_it(
    run: Run, health: Health, tmp_path: Path
) -> None:
    """Several processes may have that store: commands need no admin address."""
    url = shared_cluster().create_schema()
    made = start(tmp_path, "health.yaml", "--postgres", url)
    assert made.process.poll() is None, made.said
    try:
        assert re.search(r"^store +postgresql://", made.said, re.MULTILINE)
        ((digest, numbers),) = health.counts["health.flu"].items()
        reports = [[f"{at:032x}", at % len(numbers)] for at in range(400)]
        body = {"batch": "ab" * 16, "mechanism": digest, "reports": reports}
        request = urllib.request.Request(
            made.address("people") + "v1/collections/health.flu/reports",
            data=json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer) == {"stored": 400, "rejected": []}
        beside = ("--store", url)
        told = json.loads(run("collect", "estimate", "health.yaml", "--json", *beside).out)
        assert told["health.flu"]["reports"] == 400
        assert run("collect", "verify", "health.yaml", *beside).out == "the store is sound\n"
        run("collect", "close", "health.yaml", "--question", "flu", "--yes", *beside)
        with pytest.raises(urllib.error.HTTPError) as closed:
            urllib.request.urlopen(request, timeout=60)
        assert json.load(closed.value)["type"] == "/problems/closed"
    finally:
        code, _ = made.stop()
    assert code == 0
