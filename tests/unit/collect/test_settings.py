from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from liftlock.collect import Settings
from liftlock.errors import FileError, InputError


def test_later_sources_prevail(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('port = 1\nhost = "::1"\nmost_waiting = 3\n')
    environment = {"LIFTLOCK_COLLECT_PORT": "2", "LIFTLOCK_COLLECT_MOST_WAITING": "4"}
    found = Settings.read(file, environment, most_waiting=5)
    assert (found.host, found.port, found.most_waiting) == ("::1", 2, 5)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.toml", 'surveys = ["a.yaml"]\nstore = "b.sqlite"\n'),
        ("s.yaml", "surveys: a.yaml\nstore: b.sqlite\n"),
        ("s.json", '{"surveys": ["a.yaml"], "store": "b.sqlite"}'),
    ],
)
def test_paths_in_a_file_are_beside_it(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = Settings.read(environment={"LIFTLOCK_COLLECT_CONFIG": str(tmp_path / name)})
    assert found.surveys == (tmp_path / "a.yaml",)
    assert found.store == str(tmp_path / "b.sqlite")


def test_a_url_is_no_path(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('store = "postgresql://localhost/reports"\n')
    found = Settings.read(tmp_path / "s.toml", {})
    assert found.place == "postgresql://localhost/reports"
    assert found.shared


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"prot": 1}, "unknown setting: 'prot'; did you mean 'port'?"),
        ({"port": "eighty"}, "port is not a whole number: 'eighty'"),
        ({"port": True}, "port is not a whole number"),
        ({"port": 1.5}, "port is not a whole number"),
        ({"port": 70_000}, "port too large"),
        ({"body_seconds": "nan"}, "body_seconds too small"),
        ({"body_seconds": -1}, "body_seconds too small"),
        ({"most_connections": 0}, "most_connections too small"),
        ({"origins": "example.org"}, "not an origin: 'example.org'"),
        ({"origins": [1]}, "origins is not a list"),
        ({"store": 1}, "store is not text"),
        ({"admin_token": "short"}, "admin_token too short"),
    ],
)
def test_wrong_settings_are_refused(data: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        Settings.from_data(data)


def test_a_token_is_not_told_in_its_refusal() -> None:
    with pytest.raises(InputError) as caught:
        Settings.from_data({"admin_token": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_unknown_variables_are_refused() -> None:
    with pytest.raises(InputError, match="variable LIFTLOCK_COLLECT_PORTS: 'ports'"):
        Settings.read(environment={"LIFTLOCK_COLLECT_PORTS": "1"})


def test_an_unknown_setting_is_refused_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("prot = 1\n")
    with pytest.raises(InputError, match=r"unknown setting at .*s\.toml: 'prot'; did you mean"):
        Settings.read(path, {})


@pytest.mark.parametrize(("name", "text"), [("s.ini", "a"), ("s.toml", "=="), ("s.json", "[1]")])
def test_files_of_another_form_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError):
        Settings.read(tmp_path / name, {})


def test_the_environment_can_say_every_setting() -> None:
    told = {"origins": "https://a.example, https://b.example", "surveys": "a.yaml,b.yaml"}
    for each in fields(Settings):
        value = getattr(Settings(), each.name)
        text = told.get(each.name, "x" * 20 if isinstance(value, str) else str(value))
        variable = f"LIFTLOCK_COLLECT_{each.name.upper()}"
        found = getattr(Settings.read(environment={variable: text}), each.name)
        assert type(found) is type(value)
    assert Settings.from_data(told).origins == ("https://a.example", "https://b.example")
    assert Settings.from_data(told).surveys == (Path("a.yaml"), Path("b.yaml"))


def test_neither_survey_nor_store() -> None:
    with pytest.raises(InputError, match="neither a survey nor a store"):
        _ = Settings().place
    assert Settings(surveys=(Path("x/health.yaml"),)).place == "x/health.sqlite"
