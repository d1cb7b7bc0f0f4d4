"""`liftlock designs`: the registry, as a list and one by one."""

from __future__ import annotations

import json

import pytest

from liftlock.designs import DESIGNS, designs_for
from tests.unit.cli.conftest import Run

PROFILE_DESIGNS = designs_for("profiles")
OTHERS = [key for key in DESIGNS if key not in PROFILE_DESIGNS]


def test_every_design_is_listed(run: Run) -> None:
    outcome = run("designs")
    assert (outcome.code, outcome.err) == (0, "")
    table, others = (part.splitlines() for part in outcome.out.split("\n\n")[:2])
    assert [line.split()[0] for line in table if line[:1].isalpha()] == ["method", *OTHERS]
    assert others[0] == "for graphs of profiles (liftlock design --profiles):"
    assert [line.split()[0] for line in others[1:] if line[:1].isalpha()] == [
        "method",
        *PROFILE_DESIGNS,
    ]


def test_published_formulas_are_marked(run: Run) -> None:
    lines = run("designs").out.splitlines()
    for key, entry in DESIGNS.items():
        (line,) = [line for line in lines if line.startswith(f"{key} ")]
        assert (line.split()[1] == "*") is not entry.keeps
    assert lines[-1].startswith("* published formula")


def test_json(run: Run) -> None:
    data = json.loads(run("designs", "--json").out)
    assert [entry["method"] for entry in data] == list(DESIGNS)
    for entry in data:
        assert entry["says"]
        assert entry["promises"]
        assert entry["source"]
        assert entry["notions"]
        assert entry["contexts"]
        assert "watch" not in entry["options"]
        assert all(entry["options"].values()), f"{entry['method']}: an option without a meaning"
    (optimal,) = [entry for entry in data if entry["method"] == "optimal"]
    assert optimal["uses_utility"] is True
    assert {"gap", "seconds"} <= set(optimal["options"])


@pytest.mark.parametrize("key", DESIGNS)
def test_one_in_full(run: Run, key: str) -> None:
    outcome = run("designs", key)
    assert outcome.code == 0
    joined = " ".join(outcome.out.split())
    entry = DESIGNS[key]
    for text in (
        entry.summary,
        entry.promises,
        entry.source,
        entry.needs,
        ", ".join(entry.notions),
    ):
        assert " ".join(text.split()) in joined
    assert ("NOT always kept" in joined) is not entry.keeps
    assert json.loads(run("designs", key, "--json").out)["method"] == key


def test_an_unknown_method(run: Run) -> None:
    outcome = run("designs", "magic")
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert line.startswith("liftlock: unknown method: 'magic'; use one of optimal")
