"""What is public is public on purpose, and can be imported."""

from __future__ import annotations

import importlib
import json

from tests.golden.public_names import STORED, names


def test_public_names_are_those_that_are_stored() -> None:
    assert names() == json.loads(STORED.read_text(encoding="utf-8"))


def test_every_public_name_exists() -> None:
    for package, listed in names().items():
        module = importlib.import_module(package)
        assert len(set(listed)) == len(listed), package
        assert [name for name in listed if not hasattr(module, name)] == [], package
