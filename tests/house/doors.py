"""Through which doors the tests come in: what a package offers is imported from the package.

Solver, kernels and exact arithmetic are tested from inside; the errors have a module of their own.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

from tests.house.rooms import ROOT

INSIDE = ("liftlock._solver", "liftlock.exact")
OWN_DOORS = ("liftlock.errors", "liftlock.sklearn", "liftlock.model.profile_examples")
"""Modules that people import by name, as the pages show."""


def files() -> list[Path]:
    """Return every module of the tests."""
    return sorted((ROOT / "tests").rglob("*.py"))


def imports(source: str) -> Iterator[tuple[int, str, str]]:
    """Return the line, the module and the name of all that a source takes from the library."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "liftlock":
            for alias in node.names:
                yield node.lineno, str(node.module), alias.name


def tested_from_inside(module: str) -> bool:
    """Whether tests may take what they like from a module."""
    return module.startswith(INSIDE) or "kernels" in module or module in OWN_DOORS


def door(module: str, name: str) -> str | None:
    """Return the nearest package that offers what stands in a module; None if none does."""
    thing = getattr(importlib.import_module(module), name, None)
    while module and not tested_from_inside(module):
        package = importlib.import_module(module)
        if name in getattr(package, "__all__", ()) and getattr(package, name) is thing:
            return module
        module = module.rpartition(".")[0]
    return None


def side_doors(source: str) -> list[str]:
    """Return what a test takes from inside though a package offers it, or though it is private."""
    found = []
    for line, module, name in imports(source):
        private = name.startswith("_") and not name.startswith("__")
        if private and not tested_from_inside(module):
            found.append(f"line {line}: {name} is private to {module}")
        if (package := door(module, name)) not in (None, module):
            found.append(f"line {line}: import {name} from {package}, not from {module}")
    return found


def taken_from_inside() -> dict[str, list[str]]:
    """Return what tests take from modules behind a door, by module: their package offers it not."""
    found: dict[str, list[str]] = {}
    for path in files():
        for _, module, name in imports(path.read_text(encoding="utf-8")):
            if tested_from_inside(module) or hasattr(importlib.import_module(module), "__path__"):
                continue
            found.setdefault(module, []).append(name)
    return found
