"""What encodings write fits the JSON Schemas, and what they would not write does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

from liftlock import Prior, audit, design
from liftlock.notions import LDP, LIP

FOLDER = Path(__file__).parents[4] / "docs" / "schemas"
STORE: Registry[Any] = Registry().with_resources(
    (path.name, Resource.from_contents(json.loads(path.read_text(encoding="utf-8"))))
    for path in FOLDER.glob("*.schema.json")
)


def valid(data: Any, name: str) -> bool:
    schema = STORE.contents(f"{name}.schema.json")
    return bool(jsonschema.Draft202012Validator(schema, registry=STORE).is_valid(data))


@pytest.mark.parametrize("method", ["oue", "sue", "hashing", "k-rr"])
def test_files(method: str) -> None:
    # A table has a cell for every pair of symbols, and each is looked at nine times.
    prior = Prior.uniform(range(9 if method == "k-rr" else 70))
    mechanism = design(prior, LDP("1"), utility="histogram", method=method)
    data = json.loads(json.dumps(mechanism.to_data()))
    assert valid(data, "mechanism")
    assert valid(data["channel"], "channel")
    found = audit(mechanism.channel, prior).to_data() | {"checks": [], "notes": []}
    assert valid(json.loads(json.dumps(found)), "audit")
    for key in data["channel"]:
        if key != "bits" or method != "k-rr":
            short = {name: value for name, value in data["channel"].items() if name != key}
            assert not valid(short, "channel"), key
    assert not valid({**data["channel"], "surprise": 1}, "channel")
    assert not valid({**data["channel"], "form": "magic"}, "channel")


def test_certificate_of_a_lift_notion() -> None:
    prior = Prior.uniform(range(70))
    mechanism = design(prior, LIP("1"), utility="histogram", method="hashing")
    assert valid(json.loads(json.dumps(mechanism.certificate.to_data())), "certificate")
