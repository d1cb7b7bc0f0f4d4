"""`liftlock collect new`: a file to begin with, in three languages, which replaces nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from liftlock.collect.survey import Survey
from tests.unit.cli.conftest import Run


@pytest.mark.parametrize("suffix", ["yaml", "yml", "toml", "json"])
def test_every_language_says_the_same(run: Run, suffix: str) -> None:
    assert run("collect", "new", "health.yaml").made == {"health.yaml"}
    done = run("collect", "new", f"other.{suffix}", "--name", "health")
    assert (done.code, done.err) == (0, "")
    assert f"liftlock collect check other.{suffix}" in done.out
    assert Survey.read(f"other.{suffix}").content() == Survey.read("health.yaml").content()


def test_the_yaml_has_comments_and_the_name_of_the_file(run: Run) -> None:
    run("collect", "new", "Our health, 2026.yaml")
    text = Path("Our health, 2026.yaml").read_text(encoding="utf-8")
    assert text.count("#") > 20
    assert Survey.read("Our health, 2026.yaml").name == "our-health-2026"


def test_what_is_written_passes_its_own_check(run: Run) -> None:
    run("collect", "new", "health.yaml")
    done = run("collect", "check", "health.yaml")
    assert (done.code, done.err) == (0, "")


def test_nothing_is_replaced(run: Run) -> None:
    done = run("collect", "new", "health.yaml", files={"health.yaml": "mine"})
    assert (done.code, done.out) == (2, "")
    assert "the file exists already at health.yaml" in done.err
    assert Path("health.yaml").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("arguments", [("health.txt",), ("health.yaml", "--name", "No Name")])
def test_what_cannot_be_a_survey_is_refused(run: Run, arguments: tuple[str, ...]) -> None:
    done = run("collect", "new", *arguments)
    assert (done.code, done.out, done.made) == (2, "", frozenset())
    assert done.err.count("\n") == 1
