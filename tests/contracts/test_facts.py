"""Facts live once: nobody outside `liftlock.notions` asks which notion it is, by class or name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from liftlock.notions.registry import TITLES
from tests.house.rooms import asks_for, notion_classes

ROOT = Path(__file__).parents[2]
CLASSES = notion_classes() - {"Notion"}
"""Notions, and what they share; whether something is a `Notion` at all may be asked."""
FILES = sorted(
    path
    for folder in ("src", "papers", "benchmarks", "docs/hooks")
    for path in (ROOT / folder).rglob("*.py")
    if "notions" not in path.relative_to(ROOT).parts
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_class_of_a_notion_is_asked_for(path: Path) -> None:
    count = asks_for(path.read_text(encoding="utf-8"), CLASSES)
    assert not count, "ask the notion what it limits (lift_limits, delta_limit, ...), not its class"


def compared_names(source: str) -> list[str]:
    """Return the names of notions that the name or key of something is compared with."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            texts = [
                each.value
                for side in sides
                for each in ast.walk(side)
                if isinstance(each, ast.Constant)
                and isinstance(each.value, str)
                and each.value in TITLES
            ]
            if any(isinstance(s, ast.Attribute) and s.attr in ("name", "key") for s in sides):
                found += texts
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_name_of_a_notion_is_asked_for(path: Path) -> None:
    names = compared_names(path.read_text(encoding="utf-8"))
    assert not names, "ask the notion what it limits (lift_limits, delta_limit, ...), not its name"


def test_names_are_found() -> None:
    assert compared_names('if notion.name == "lip": pass') == ["lip"]
    assert compared_names('if notion.key in ("ldp", "other"): pass') == ["ldp"]
    assert not compared_names('if form == "ldp" or utility.name == "mean": pass')
