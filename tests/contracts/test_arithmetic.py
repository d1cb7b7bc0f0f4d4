"""What decides about a mechanism is computed in a way that has one result on every machine.

Products by BLAS, numpy's and the C library's `log` and `exp`, and sorts that are not stable have
other digits, or another order, on another CPU: `liftlock.exact.reproducible` has what to use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

SOURCE = ROOT / "src" / "liftlock"
ROOMS = ("_solver", "designs", "notions", "utility", "model/continuous")
SOLVERS = (SOURCE / "exact/linear_programme.py",)
"""What decides about mechanisms in a room that computes exactly otherwise."""
NUMPY = {"dot", "vdot", "inner", "matmul", "tensordot", "einsum", "linalg"}
NUMPY |= {"log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "power", "geomspace", "logspace"}
MATH = {"log", "log1p", "exp", "expm1", "pow"}

_PROPOSED = "proposes a point, whose last digits are cut off; the bound is computed from it by dot"
REASONS = {
    **{("_solver/frequencies.py", kind): _PROPOSED for kind in ("@", "np.linalg", "np.log")},
    ("_solver/enumeration.py", "@"): "whole numbers: exact in any order",
    (
        "exact/linear_programme.py",
        "@",
    ): "sparse: added up in the order in which entries are stored",
    ("_solver/kernels/branch.py", "argsort"): "compiled: numba's own sort",
    ("_solver/reductions.py", "np.log2"): "rounded to a whole number",
    ("_solver/channel_programme.py", "np.log2"): "rounded to a whole number",
    ("notions/likelihood.py", "@"): "rules candidates out with room to spare; fractions decide",
    ("notions/user_lifts.py", "@"): "rules candidates out with room to spare; fractions decide",
    ("notions/per_output.py", "@"): "rules candidates out with room to spare; fractions decide",
    ("notions/information.py", "np.log"): "a number for people; witnesses are exact",
    ("notions/information.py", "np.exp"): "a number for people",
    ("notions/per_output.py", "np.log"): "rules candidates out with room to spare",
    ("notions/per_output.py", "np.exp"): "rules candidates out with room to spare",
    ("notions/approximate.py", "np.exp"): "where a curve is drawn",
    ("model/continuous/fit.py", "np.log"): "compares fits by digits that differ much",
    ("model/continuous/fit.py", "math.log"): "compares fits by digits that differ much",
}


def offences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return the lines and the kinds of arithmetic that depend on the machine."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield node.lineno, "@"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "np" and node.attr in NUMPY:
                yield node.lineno, f"np.{node.attr}"
            if node.value.id == "math" and node.attr in MATH:
                yield node.lineno, f"math.{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module == "math":
            for name in {alias.name for alias in node.names} & MATH:
                yield node.lineno, f"math.{name}"
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("argsort", "argpartition")
            and not any(word.arg == "kind" for word in node.keywords)
        ):
            yield node.lineno, node.func.attr


def modules() -> list[Path]:
    return sorted([*SOLVERS, *(path for room in ROOMS for path in (SOURCE / room).rglob("*.py"))])


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_computes_the_same_on_every_machine(path: Path) -> None:
    name = str(path.relative_to(SOURCE))
    found = [
        f"{name}:{line}: {kind}"
        for line, kind in offences(ast.parse(path.read_text(encoding="utf-8")))
        if (name, kind) not in REASONS
    ]
    assert not found, "use liftlock.exact.reproducible, or give a reason here"


def test_every_reason_is_still_needed() -> None:
    used = {
        (str(path.relative_to(SOURCE)), kind)
        for path in modules()
        for _, kind in offences(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert set(REASONS) <= used


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("a @ b", "@"),
        ("a @= b", "@"),
        ("np.einsum('i,i', a, b)", "np.einsum"),
        ("np.linalg.solve(a, b)", "np.linalg"),
        ("np.log(a)", "np.log"),
        ("math.exp(a)", "math.exp"),
        ("from math import log, sqrt", "math.log"),
        ("np.argsort(a)", "argsort"),
    ],
)
def test_the_lint_finds(code: str, kind: str) -> None:
    assert [found for _, found in offences(ast.parse(code))] == [kind]


@pytest.mark.parametrize(("library", "door"), [("highspy", "exact/linear_programme.py")])
def test_a_library_has_one_door(library: str, door: str) -> None:
    users = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if f"import {library}" in path.read_text(encoding="utf-8")
    }
    assert users == {door}
