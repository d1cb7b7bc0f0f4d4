"""The JSON schema of survey files allows what is read, and nothing else."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from liftlock.collect.survey import Survey
from liftlock.collect.survey.example import DEMO, new_survey
from liftlock.collect.survey.fields import Fields
from liftlock.errors import InputError
from tests.unit.collect.survey.test_collection import QUESTIONS

SCHEMA = json.loads(
    (Path(__file__).parents[4] / "docs" / "schemas" / "survey.schema.json").read_text()
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EVERY = {
    "survey": "all",
    "title": "All",
    "people": 5,
    "opens": "2026-01-01",
    "closes": "2026-02-01",
    "repeat": "fresh=2",
    "least": 3,
    "total": "lip=9",
    "results": "analysts",
    "tokens": "signed",
    "earlier": ["before"],
    "questions": [{"ask": "What?"} | each for each in QUESTIONS],
    "joint": {"questions": ["pet", "free"], "counts": [["no", "a", 1], ["yes", "b", "2.5"]]},
}


def changed(place: str, value: Any) -> dict[str, Any]:
    """Return the whole survey with another value in one place."""
    data = copy.deepcopy(EVERY)
    *outer, last = place.split(".")
    inner: Any = data
    for key in outer:
        inner = inner[int(key) if key.isdigit() else key]
    inner[last] = value
    return data


def test_the_schema_has_the_keys_that_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[str]] = defaultdict(set)
    finish = Fields.finish

    def listen(self: Fields, also: Any = ()) -> None:
        level = {0: "survey", 2: "question"}.get(len(self.place), str(self.place[2:3]))
        seen[level] |= set(self.taken)
        finish(self, also)

    monkeypatch.setattr(Fields, "finish", listen)
    Survey.from_data(EVERY)
    defined = SCHEMA["$defs"]
    assert seen["survey"] == set(SCHEMA["properties"])
    assert seen["question"] == set(defined["question"]["properties"])
    assert seen["('groups',)"] == set(defined["group"]["properties"])
    assert seen["('grid',)"] == set(defined["question"]["properties"]["grid"]["properties"])


@pytest.mark.parametrize(
    "data", [EVERY, yaml.safe_load(DEMO), Survey.from_data(EVERY).content()], ids=str
)
def test_what_is_read_is_allowed(data: Any) -> None:
    Survey.from_data(data)
    VALIDATOR.validate(data)


def test_a_new_survey_is_allowed() -> None:
    data = yaml.safe_load(new_survey("town"))
    VALIDATOR.validate(data)
    assert Survey.from_data(data).name == "town"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("survey", "Not A Name"),
        ("people", 0),
        ("people", "many"),
        ("least", -1),
        ("total", "lip"),
        ("results", "nobody"),
        ("tokens", 1),
        ("earlier", "before"),
        ("titel", "All"),
        ("questions", []),
        ("joint", {"questions": ["pet", "free"]}),
        ("joint.count", []),
        ("questions.0.ask", None),
        ("questions.0.values", ["one"]),
        ("questions.0.guarantee", None),
        ("questions.0.levels", {"a": "lip=1"}),
        ("questions.0.answer", "everything"),
        ("questions.0.prior", 3),
        ("questions.0.ball", {"radius": 1}),
        ("questions.2.levels", {"a": "ldp=1"}),
        ("questions.6.groups", {"north": None}),
        ("questions.6.groups.north", {"wieght": 3}),
        ("questions.8.range", [0]),
        ("questions.8.bins", 1),
        ("questions.8.grid", {"x": [0, 1], "y": [0, 1], "columns": 2, "rows": 2}),
        ("questions.9.grid.rows", 0),
        ("questions.10.profiles", {"one": {"salad": 1}}),
        ("questions.10.edges", [["vegan"]]),
        ("questions.0.extra", 1),
    ],
)
def test_what_the_schema_refuses_is_refused(place: str, value: Any) -> None:
    data = changed(place, value)
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(InputError):
        Survey.from_data(data)
