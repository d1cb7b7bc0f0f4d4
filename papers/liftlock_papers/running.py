"""Compute a figure, or take it from what was computed before; write its points and its record.

A result is kept as `KEY.csv` and `KEY.json`. The second says what the points were made from: the
code of the computation, the library and the packages below it, the size of the run, and the
SHA-256 of the data. Points are used again only if all of it is the same, and they are as they were
written.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import liftlock
from liftlock import InputError
from liftlock._runtime.storage import write_atomically
from liftlock_papers.figure import Figure, Finding
from liftlock_papers.points import Points, from_csv, to_csv
from liftlock_papers.setting import Setting

_PACKAGE = "liftlock_papers"
_LOADED = {path: path.stat().st_mtime_ns for path in Path(__file__).parent.rglob("*.py")}
"""When the files of this package were written, as it is loaded."""
_PACKAGES = ("numpy", "scipy", "highspy", "numba", "scikit-learn")
_TELLING = ("cli", "report")
"""Parts of liftlock that show results and compute none."""
_NEEDED = ("code", "quick", "seconds", "liftlock")


class Lacking(InputError):
    """An optional package is not installed."""


@dataclass(frozen=True)
class Result:
    """A figure that was computed, or was taken from an earlier run."""

    figure: Figure
    points: Points
    record: Mapping[str, Any]
    """What it was made from."""
    kept: bool
    """Whether it is from an earlier run."""

    @property
    def seconds(self) -> float:
        """How long the computation took, whenever it was."""
        return float(self.record["seconds"])

    @property
    def quick(self) -> bool:
        """Whether the samples were small."""
        return bool(self.record["quick"])

    @property
    def notes(self) -> list[str]:
        """What the computation said about its data."""
        return [str(note) for note in self.record.get("notes", ())]

    @functools.cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What the points say about the paper's claims."""
        return self.figure.findings(self.points)


def run(
    figure: Figure, folder: str | os.PathLike[str], setting: Setting, *, again: bool = False
) -> Result:
    """Return the points of a figure, computed now unless the same were computed before."""
    folder = Path(folder)
    origin = origin_of(figure, setting)
    kept = None if again else read_result(figure, folder)
    if kept is not None and {name: kept.record.get(name) for name in origin} == origin:
        return kept
    start = time.perf_counter()
    setting.notes.clear()
    try:
        text = to_csv(figure.compute(setting))
    except ImportError as error:
        raise Lacking(
            f"{figure.key} needs {error.name}", remedy="pip install 'liftlock[plot,fit]'"
        ) from None
    seconds = round(time.perf_counter() - start, 1)
    record = {**origin, "notes": [*setting.notes], "points": _sum(text), "seconds": seconds}
    folder.mkdir(parents=True, exist_ok=True)
    # The record vouches for the points, so it is written when they are complete; and a picture of
    # others must not stand beside them, should the drawing be interrupted.
    place = folder / f"{figure.key}.json"
    for old in (place, folder / f"{figure.key}.svg", folder / f"{figure.key}.png"):
        old.unlink(missing_ok=True)
    write_atomically(folder / f"{figure.key}.csv", text)
    write_atomically(place, json.dumps(record, indent=1) + "\n")
    return Result(figure, from_csv(text), MappingProxyType(record), kept=False)


def read_result(figure: Figure, folder: str | os.PathLike[str]) -> Result | None:
    """Return what a folder holds of a figure, whatever it was made from; None if it is spoilt."""
    folder = Path(folder)
    try:
        record = json.loads((folder / f"{figure.key}.json").read_text(encoding="utf-8"))
        text = (folder / f"{figure.key}.csv").read_text(encoding="utf-8")
        if record["points"] != _sum(text) or record["figure"] != figure.key:
            return None
        if not all(name in record for name in _NEEDED):
            return None
        return Result(figure, from_csv(text), MappingProxyType(record), kept=True)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def origin_of(figure: Figure, setting: Setting) -> dict[str, Any]:
    """Return what the points of a figure depend on."""
    return {
        "figure": figure.key,
        "quick": setting.quick,
        "code": code_of(figure),
        "liftlock": liftlock.__version__,
        "library": _library(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "data": {
            name: total for key in figure.needs for name, total in setting.data.sums(key).items()
        },
    }


@functools.cache
def _library() -> str:
    """Return a fingerprint of liftlock itself: of all its modules that compute, as they are."""
    folder = Path(liftlock.__file__).parent
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        if name.parts[0] not in _TELLING:
            found.update(f"{name.as_posix()}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


@functools.cache
def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def code_of(figure: Figure) -> str:
    """Return a fingerprint of the code that computes a figure, without comments and layout.

    It covers the module of the computation and everything in this package that it imports. Code
    that was changed since it was loaded is refused: it is not what computes.
    """
    compute: Any = figure.compute
    while isinstance(compute, functools.partial):
        compute = compute.func
    names = sorted(_reached(compute.__module__))
    text = "\n".join(_tree(name) for name in names) + repr(_arguments(figure.compute))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _arguments(compute: Any) -> list[Any]:
    found: list[Any] = []
    while isinstance(compute, functools.partial):
        found.append((compute.args, sorted(compute.keywords.items())))
        compute = compute.func
    return [*found, compute.__qualname__]


def _reached(name: str) -> frozenset[str]:
    found, waiting = set[str](), [name]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imported(module)
    return frozenset(found)


@functools.cache
def _parsed(name: str) -> ast.Module:
    path = Path(str(importlib.import_module(name).__file__))
    if path.stat().st_mtime_ns != _LOADED.get(path, path.stat().st_mtime_ns):
        raise InputError(
            "this code was changed since it was loaded", where=path.name, remedy="start again"
        )
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _imported(name: str) -> tuple[str, ...]:
    """Return the modules of this package that a module imports, also those imported by name."""
    found = []
    for node in ast.walk(_parsed(name)):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            whole = node.module or ""
            parts = [f"{whole}.{each.name}" for each in node.names]
            inside = [part for part in parts if _is_module(part)]
            found += inside if len(inside) == len(parts) else [whole, *inside]
    return tuple(each for each in found if each.startswith(f"{_PACKAGE}."))


def _is_module(name: str) -> bool:
    if not name.startswith(f"{_PACKAGE}."):
        return False
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@functools.cache
def _tree(name: str) -> str:
    tree = _parsed(name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not _is_text(part)]
    return ast.dump(tree)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
