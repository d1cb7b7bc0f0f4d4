"""`liftlock collect backup`, `verify` and `token` on a store that no server has."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

from liftlock.collect.store import open_store
from tests.unit.cli.collect.conftest import Health
from tests.unit.cli.collect.worlds import fill
from tests.unit.cli.conftest import Run


def test_a_backup_has_everything_and_replaces_nothing(run: Run, health: Health) -> None:
    before = run("collect", "estimate", "health.yaml", "--json").out
    done = run("collect", "backup", "health.yaml", "-o", "copy.sqlite")
    assert (done.code, done.out) == (0, "copy written to copy.sqlite\n")
    assert done.made == {"copy.sqlite"}
    copied = run("collect", "estimate", "health.yaml", "--json", "--store", "copy.sqlite")
    assert copied.out == before
    again = run("collect", "backup", "health.yaml", "-o", "copy.sqlite")
    assert again.code == 2
    assert "exists already" in again.err


def test_a_store_that_was_tampered_with_is_not_sound(run: Run, health: Health) -> None:
    sound = run("collect", "verify", "health.yaml")
    assert (sound.code, sound.out) == (0, "the store is sound\n")
    connection = sqlite3.connect("health.sqlite")
    with connection:
        connection.execute("update counts set n = n + 1 where output = 0")
    connection.close()
    done = run("collect", "verify", "health.yaml")
    assert done.code == 1
    assert done.out != "the store is sound\n"
    assert json.loads(run("collect", "verify", "health.yaml", "--json").out)["wrong"]


def test_tokens_are_shown_once_and_stored_hashed(run: Run, health: Health) -> None:
    token = run("collect", "token", "add", "ann", "health.yaml").out.strip()
    assert run("collect", "token", "list", "health.yaml").out.split() == [
        *("name", "role"),
        *("ann", "analyst"),
    ]
    store = open_store("health.sqlite")
    try:
        assert store.find_token(hashlib.sha256(token.encode()).hexdigest()) == ("ann", "analyst")
    finally:
        store.shutdown()
    assert token.encode() not in Path("health.sqlite").read_bytes()
    run("collect", "token", "revoke", "ann", "health.yaml")
    assert json.loads(run("collect", "token", "list", "health.yaml", "--json").out) == {}


def test_write_tokens_need_a_survey_that_asks_for_them(run: Run, health: Health) -> None:
    asked = ("collect", "token", "issue", "health.yaml", "--number", "3", "-o", "tokens.csv")
    refused = run(*asked)
    assert (refused.code, refused.made) == (2, frozenset())
    assert "tokens: signed" in refused.err
    text = Path("health.yaml").read_text(encoding="utf-8")
    Path("health.yaml").write_text(f"tokens: signed\n{text}", encoding="utf-8")
    done = run(*asked, "--question", "flu")
    assert (done.code, done.out) == (0, "3 tokens written to tokens.csv\n")
    lines = [line.split(",") for line in Path("tokens.csv").read_text().splitlines()]
    assert lines[0] == ["question", "id", "tag"]
    assert {name for name, _, _ in lines[1:]} == {"health.flu"}
    assert len({name for _, name, _ in lines[1:]}) == 3


def test_reports_that_two_servers_counted_are_found(
    run: Run, health: Health, tmp_path: Path
) -> None:
    """South counted one in two of the reports that the other server has."""
    half = {
        name: {digest: [number // 2 for number in numbers] for digest, numbers in counts.items()}
        for name, counts in health.counts.items()
    }
    fill(tmp_path / "south.sqlite", health.survey, half)
    done = run("collect", "verify", "health.yaml", "--apart-from", "south.sqlite", "--json")
    assert done.code == 1
    told = json.loads(done.out)
    assert told["wrong"] == []
    assert {each["collection"]: each["ids"] for each in told["shared"]} == {
        name: sum(map(sum, counts.values())) for name, counts in half.items()
    }
    fill(tmp_path / "apart.sqlite", health.survey, {})
    apart = run("collect", "verify", "health.yaml", "--apart-from", "apart.sqlite")
    assert (apart.code, apart.out.count("0 reports are also counted in apart.sqlite")) == (0, 2)
