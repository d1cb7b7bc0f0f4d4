"""Facts live once: nobody outside `liftlock.notions` asks of which class a notion is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from liftlock.notions.registry import NOTIONS

ROOT = Path(__file__).parents[2]
CLASSES = {cls.__name__ for notion in NOTIONS for cls in notion.__mro__[:-1]} - {"Notion", "ABC"}
"""Notions, and what they share; whether something is a `Notion` at all may be asked."""
FILES = sorted(
    path
    for folder in ("src", "papers", "benchmarks", "docs/hooks")
    for path in (ROOT / folder).rglob("*.py")
    if "notions" not in path.relative_to(ROOT).parts
)


def asked(tree: ast.AST) -> Iterator[str]:
    """Yield the names of notions in the second argument of isinstance, and in match patterns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            inner = ast.walk(node.args[1])
        elif isinstance(node, ast.MatchClass):
            inner = ast.walk(node.cls)
        else:
            continue
        for part in inner:
            name = getattr(part, "id", None) or getattr(part, "attr", None)
            if name in CLASSES:
                yield f"line {getattr(node, 'lineno', 0)}: {name}"


def test_the_lint_sees_what_it_forbids() -> None:
    for text in (
        "isinstance(a, LIP)",
        "isinstance(a, LIP | ALIP)",
        "isinstance(a, (int, ll.LDP))",
        "match a:\n    case ApproximateLIP():\n        pass",
    ):
        assert list(asked(ast.parse(text)))
    assert not list(asked(ast.parse("isinstance(a, Notion)")))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_class_of_a_notion_is_asked_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    imported = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and "utility" in (node.module or "")
        for alias in node.names
    }
    found = [line for line in asked(ast.parse(text)) if line.split(": ")[1] not in imported]
    assert not found, f"ask the notion what it limits instead: {', '.join(found)}"
