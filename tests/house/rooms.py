"""How large the rooms of the house are, and where facts are written that belong elsewhere."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

from liftlock import notions
from tests.house.tracer import SOURCE, room

ROOT = SOURCE.parents[1]

SOLVER = "_solver"
"""The room where mechanisms are solved."""
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*$")


def modules() -> dict[str, Path]:
    """Return the path of every module of the library, by its name."""
    return {
        path.relative_to(SOURCE).with_suffix("").as_posix(): path
        for path in sorted(SOURCE.rglob("*.py"))
    }


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_bytes().count(b"\n")


def sizes() -> dict[str, tuple[int, int]]:
    """Return the files and the lines of each room."""
    files: Counter[str] = Counter()
    length: Counter[str] = Counter()
    for name, path in modules().items():
        files[room(name)] += 1
        length[room(name)] += lines(path)
    return {name: (files[name], length[name]) for name in sorted(files)}


def layers() -> list[str]:
    """Return the layers of imports, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    found: list[str] = next(c["layers"] for c in contracts if c["id"] == "layers")
    return found


def notion_classes() -> set[str]:
    """Return the names of all classes of notions: those that can certify."""
    return {
        name
        for module in list(sys.modules.values())
        if module.__name__.startswith(notions.__name__)
        for name, found in vars(module).items()
        if isinstance(found, type) and hasattr(found, "certify")
    }


def asks_for(source: str, classes: set[str]) -> int:
    """Return how many `isinstance` and `match` cases of a module ask for one of these classes.

    A utility of the same name, such as `MutualInformation`, is none of them.
    """
    tree = ast.parse(source)
    classes = classes - {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "utility" in (node.module or "")
        for alias in node.names
    }
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            asked = node.args[1] if len(node.args) > 1 else node
            names = {each.id for each in ast.walk(asked) if isinstance(each, ast.Name)}
            names |= {each.attr for each in ast.walk(asked) if isinstance(each, ast.Attribute)}
            count += bool(names & classes)
        if isinstance(node, ast.MatchClass):
            count += ast.unparse(node.cls).rsplit(".", 1)[-1] in classes
    return count


def type_tests() -> dict[str, int]:
    """Return how often each module outside `notions/` asks which notion it has."""
    classes = notion_classes()
    counts = {
        name: asks_for(path.read_text(encoding="utf-8"), classes)
        for name, path in modules().items()
        if room(name) != "notions"
    }
    return {name: count for name, count in counts.items() if count}


def tuning(source: str) -> list[str]:
    """Return the constants of a module that are numbers, alone or as fields of `Limits`.

    Several that are assigned at once count each, unless they are codes 0, 1, 2 and so on. What is
    computed in the functions of a table is none, nor are the types of compiled code.
    """
    found: list[str] = []
    for node in ast.parse(source).body:
        fields = isinstance(node, ast.ClassDef) and node.name in ("Limits", "Tolerances")
        for each in node.body if fields and isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.Assign):
                target, value = each.targets[0], each.value
            elif isinstance(each, ast.AnnAssign) and each.value is not None:
                target, value = each.target, each.value
            else:
                continue
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            names = [ast.unparse(part) for part in targets]
            if _has_numbers(value) and not _are_codes(value, len(names)):
                found += [name for name in names if fields or CONSTANT.match(name)]
    return found


def _has_numbers(value: ast.expr) -> bool:
    parts = list(ast.walk(value))
    is_table = any(isinstance(part, ast.Lambda) for part in parts)
    is_type = any(isinstance(part, ast.Attribute) and part.attr == "Array" for part in parts)
    return not is_table and not is_type and any(_is_number(part) for part in parts)


def _are_codes(value: ast.expr, count: int) -> bool:
    return count > 1 and ast.unparse(value) == str(tuple(range(count)))


def _is_number(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    )


def solver_constants() -> dict[str, list[str]]:
    """Return the tuning constants of each module that solves."""
    found = {
        name: tuning(path.read_text(encoding="utf-8"))
        for name, path in modules().items()
        if room(name) == SOLVER
    }
    return {name: constants for name, constants in found.items() if constants}
