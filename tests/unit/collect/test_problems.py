from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from liftlock.collect.problems import KINDS, SCHEMA, Problem

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("key", KINDS)
def test_every_problem_is_one_of_rfc_9457(key: str) -> None:
    problem = Problem(key, "something", extension=1)
    told = json.loads(problem.body())
    jsonschema.validate(told, SCHEMA)
    assert told["type"] == f"/problems/{key}"
    assert told["status"] == problem.status >= 400
    assert told["extension"] == 1
    assert problem.headers()["content-type"] == "application/problem+json"
    assert re.fullmatch("[a-z-]+", key)


def test_every_problem_is_on_the_page_of_the_wire() -> None:
    page = (ROOT / "docs" / "collect" / "wire.md").read_text(encoding="utf-8")
    table = page.partition("## Problems")[2].partition("\n## ")[0]
    rows = [row.split("|") for row in table.splitlines() if row.startswith("| `")]
    told = {
        key: [int(status) for status in row[2].split(",")]
        for row in rows
        for key in re.findall("`([a-z-]+)`", row[1])
    }
    assert set(told) == set(KINDS)
    for key, statuses in told.items():
        assert KINDS[key].status in statuses, key


def test_those_who_are_to_come_again_are_told_when() -> None:
    later = {key for key in KINDS if "retry-after" in Problem(key).headers()}
    assert later == {"busy", "too-many-requests", "read-only", "disk-full"}
    assert Problem("busy", headers={"retry-after": "7"}).headers()["retry-after"] == "7"


def test_half_of_a_character_is_no_failure() -> None:
    assert json.loads(Problem("malformed", "\udcff").body())["detail"] == "?"
