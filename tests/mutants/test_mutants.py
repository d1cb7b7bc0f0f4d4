"""The lists still speak of the code as it is, and changes are what they say."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from tests.mutants.__main__ import ROOT, Copy, checks_of, core
from tests.mutants.changes import Change, changes_of, replacement
from tests.mutants.lists import SOURCE, roundings, survivors

EVERY = core()


def shown(text: str) -> list[str]:
    return [change.shown for change in changes_of("m.py", text)]


@pytest.mark.parametrize("survivor", survivors(), ids=lambda each: f"{each.module}: {each.change}")
def test_every_survivor_is_still_a_change_of_the_code(survivor: object) -> None:
    assert any(survivor.matches(change) for change in (*EVERY, *roundings()))  # type: ignore[attr-defined]
    assert survivor.reason  # type: ignore[attr-defined]


@pytest.mark.parametrize("change", roundings(), ids=lambda each: f"{each.module}:{each.number}")
def test_every_rounding_is_still_there(change: Change) -> None:
    """A line that is gone or written otherwise is an error when the list is read."""
    text = (SOURCE / change.module).read_text(encoding="utf-8")
    assert ast.unparse(ast.parse(change.applied(text))) != ast.unparse(ast.parse(text))


def test_a_text_that_occurs_twice_is_no_place() -> None:
    with pytest.raises(ValueError, match="2 times"):
        replacement("m.py", "a = b\na = b\n", "a = b", "a = c")


def test_changes_of_the_core_are_python_and_change_something() -> None:
    for change in random.Random(5).sample(EVERY, 15):
        text = (SOURCE / change.module).read_text(encoding="utf-8")
        assert ast.unparse(ast.parse(change.applied(text))) != ast.unparse(ast.parse(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a // b", ["a // b -> (-(-a // b))"]),
        ("x = a and b", ["a and b -> (a or b)"]),
        ("x = not a", ["not a -> (a)"]),
        ("x = min(a, b)", ["min -> (max)"]),
        ("x = math.floor(a)", ["math.floor -> (math.ceil)"]),
        ("x = value.lower", ["value.lower -> (value.upper)"]),
        ("x = a if b else c", ["a if b else c -> (c if b else a)"]),
        ("x = [a for a in b if a]", ["[a for a in b if a] -> ([a for a in b])"]),
        ("x = 2", ["2 -> (1)", "2 -> (3)"]),
        ("x = 0.5", ["0.5 -> (1.0)"]),
        ("if a:\n    raise E(1 + 1)", ["a -> (not a)", "raise E(1 + 1) -> pass"]),
        ("warnings.append(a)", ["warnings.append(a) -> pass"]),
        ("x = f'{a + 1}'", []),
        ("assert a is not None", []),
        ("def f(a: int | None) -> A | B: ...", []),
        ("x = isinstance(a, A | B)", []),
        ("é = 'é'; x = a + b", ["a + b -> (a - b)"]),
    ],
)
def test_what_is_changed(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


def test_every_module_has_tests() -> None:
    for module in sorted({change.module for change in EVERY}):
        tests = checks_of(module)
        assert tests
        assert all((ROOT / test).exists() for test in tests), module


def test_a_change_is_made_in_a_copy_and_undone(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    change = next(each for each in EVERY if each.module == "exact/rounding.py")
    mine, theirs = SOURCE / change.module, copy.source / "liftlock" / change.module
    before, times = mine.read_text(encoding="utf-8"), set()
    for _ in range(2):
        with copy.changed(change):
            assert theirs.read_text(encoding="utf-8") == change.applied(before)
            times.add(int(theirs.stat().st_mtime))
        assert theirs.read_text(encoding="utf-8") == before
        times.add(int(theirs.stat().st_mtime))
    # What Python and Numba compiled is looked up by the time of the source.
    assert len(times) == 4
    assert mine.read_text(encoding="utf-8") == before
