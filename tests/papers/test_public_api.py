"""The papers are computed with what liftlock offers everybody, and with nothing else of it."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import liftlock_papers

HERE = Path(liftlock_papers.__file__).parent
FILES = sorted(
    [
        *HERE.glob("paper_*/*.py"),
        *HERE.glob("data/*.py"),
        *HERE.glob("formulas/*.py"),
        HERE / "setting.py",
    ]
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_only_public_names_are_imported(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                assert not name.name.startswith("liftlock."), name.name
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "liftlock":
            module = importlib.import_module(node.module or "")
            assert hasattr(module, "__path__"), f"{node.module} is not a package"
            for name in node.names:
                assert name.name in module.__all__, f"{node.module} does not offer {name.name}"
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            assert own or node.attr.startswith("__"), node.attr
