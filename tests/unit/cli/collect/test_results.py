"""`liftlock collect estimate`, `close`, `next` and `erase` on a store that no server has."""

from __future__ import annotations

import io
import json
import operator
from pathlib import Path

import pytest

from liftlock.collect.store import open_store
from liftlock.collect.survey import Survey
from liftlock.model import Intervals
from tests.unit.cli.collect.conftest import Health
from tests.unit.cli.conftest import Run


def test_the_estimates_are_those_of_the_mechanisms(run: Run, health: Health) -> None:
    done = run("collect", "estimate", "health.yaml", "--json", "--level", "0.9")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    for name, collection in health.survey.collections().items():
        (digest,) = collection.mechanisms
        mechanism = collection.mechanisms[digest].mechanism
        numbers = health.counts[name][digest]
        labels = mechanism.table.outputs.labels
        reports = [
            label for label, often in zip(labels, numbers, strict=True) for _ in range(often)
        ]
        expected = mechanism.estimate(reports, level="0.9").to_data()
        assert told[name]["answers"] == json.loads(json.dumps(expected["answers"]))
    text = run("collect", "estimate", "health.yaml").out
    assert "health.flu" in text
    assert "3,000 reports" in text


def test_one_question_alone(run: Run, health: Health) -> None:
    told = json.loads(run("collect", "estimate", "health.yaml", "--question", "flu", "--json").out)
    assert told.keys() == {"health.flu", "notes"}
    done = run("collect", "estimate", "health.yaml", "--question", "age")
    assert done.code == 2
    assert "the questions are flu, smoking" in done.err


def test_too_few_reports_are_not_shown(run: Run, health: Health) -> None:
    text = Path("health.yaml").read_text(encoding="utf-8")
    Path("health.yaml").write_text(f"least: 5000\n{text}", encoding="utf-8")
    done = run("collect", "estimate", "health.yaml")
    assert (done.code, done.out.strip()) == (0, "")
    assert "note: health.flu: 3,000 reports, and 5,000 are the least; nothing is shown" in done.err


def test_without_a_store_nothing_is_made(run: Run, health: Health, tmp_path: Path) -> None:
    (tmp_path / "health.sqlite").unlink()
    for command in ("estimate", "verify", "close"):
        done = run("collect", command, "health.yaml")
        assert (done.code, done.made) == (2, frozenset())
        assert "no store at health.sqlite" in done.err


def test_a_store_that_is_in_use_says_what_to_do(run: Run, health: Health, tmp_path: Path) -> None:
    held = open_store(tmp_path / "health.sqlite")
    try:
        done = run("collect", "estimate", "health.yaml")
    finally:
        held.shutdown()
    assert (done.code, done.out) == (2, "")
    assert "in use by another process" in done.err
    assert "--server" in done.err
    assert run("collect", "estimate", "health.yaml").code == 0


def test_closing_asks_first_and_stays(
    run: Run, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    for answer in ("", "n\n"):  # nobody is there, or somebody says no
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        refused = run("collect", "close", "health.yaml")
        assert refused.code == 2
        assert refused.err.endswith("for good?'; answer y, or give --yes\n")
    done = run("collect", "close", "health.yaml", "--question", "flu", "--yes")
    assert (done.code, done.out) == (0, "health.flu is closed with 3,000 reports\n")
    store = open_store("health.sqlite")
    try:
        states = {name: record.state for name, record in store.collections().items()}
        told = [(entry.what, entry.collection) for entry in store.trail()]
    finally:
        store.shutdown()
    assert states == {"health.flu": "closed", "health.smoking": "open"}
    assert told == [("close", "health.flu")]


@pytest.mark.parametrize("suffix", ["yaml", "toml", "json"])
def test_the_next_round_assumes_a_set_of_priors(run: Run, health: Health, suffix: str) -> None:
    refused = run("collect", "next", "health.yaml", "-o", f"next.{suffix}")
    assert (refused.code, refused.made) == (2, frozenset())
    assert "still open (health.flu, health.smoking)" in refused.err
    run("collect", "close", "health.yaml", "--yes")
    done = run("collect", "next", "health.yaml", "-o", f"next.{suffix}", "--confidence", "0.95")
    assert (done.code, done.made) == (0, frozenset({f"next.{suffix}"}))
    made = Survey.read(f"next.{suffix}")
    assert made.name == "health-2"
    known = made["flu"].populations[0].context
    assert isinstance(known, Intervals)
    assert known.confidence == 0.95 or str(known.confidence) == "19/20"
    assert made["smoking"].populations[0].context is None
    wide = f"wide.{suffix}"
    run("collect", "next", "health.yaml", "-o", wide, "--confidence", "0.95", "--drift", "0.1")
    wider = Survey.read(wide)["flu"].populations[0].context
    assert isinstance(wider, Intervals)
    assert all(map(operator.lt, wider.lower, known.lower))
    assert all(map(operator.gt, wider.upper, known.upper))
    again = run("collect", "next", "health.yaml", "-o", f"next.{suffix}")
    assert again.code == 2
    assert "exists already" in again.err


def test_erasing_forgets(run: Run, health: Health) -> None:
    done = run("collect", "erase", "health.yaml", "--question", "smoking", "--yes")
    assert done.out == "health.smoking is erased, with 3,000 reports\n"
    assert run("collect", "erase", "health.yaml", "--question", "smoking", "--yes").out == (
        "health.smoking is not in the store\n"
    )
    told = json.loads(run("collect", "estimate", "health.yaml", "--json").out)
    assert told.keys() == {"health.flu", "notes"}
    assert told["notes"] == ["health.smoking: 0 reports; nothing is shown"]
