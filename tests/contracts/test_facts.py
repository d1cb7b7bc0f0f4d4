"""Facts live once: nobody outside `liftlock.notions` asks of which class a notion is."""

from __future__ import annotations

from pathlib import Path

import pytest

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
